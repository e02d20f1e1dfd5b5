# SPDX-License-Identifier: BSD-3-Clause
"""A table of counts, and the numbers that follow: sizes, sums, exposures, log factorials."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln, xlogy

from discan.data.blocks import BLOCK_ENTRIES, cuts
from discan.data.layout import Layout
from discan.errors import InputError
from discan.typing import Array

__all__ = ["Counts", "check_exposures"]

FEW_COUNTS = 2**10


class Counts:
    """A table of counts in canonical form; ``Corpus`` describes the arrays."""

    indptr: Array
    words: Array
    counts: Array
    layout: Layout
    exposures: Array | None
    classes: Array | None = None  # (I,) int32: number of each document's class, 0 if unknown

    # ---- sizes ----

    @property
    def n_documents(self) -> int:
        """Number of documents, I."""
        return int(self.indptr.size - 1)

    @property
    def n_words(self) -> int:
        """Number of different words, J."""
        return self.layout.n_words

    @property
    def word_names(self) -> tuple[str, ...] | None:
        """Names of the words, (J,); None if they have none."""
        return self.layout.word_names

    @property
    def group_names(self) -> tuple[str, ...] | None:
        """Names of the groups, (G,); None if they have none."""
        return self.layout.group_names

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of words, (I, J)."""
        return self.n_documents, self.n_words

    @property
    def n_groups(self) -> int:
        """Number of groups of words, G."""
        return self.layout.n_groups

    @property
    def n_entries(self) -> int:
        """Number of non-zero counts."""
        return int(self.words.size)

    @cached_property
    def n_tokens(self) -> int | float:
        """Sum of all counts, exact when they are whole numbers."""
        if self.integral:
            return int(self.counts.sum(dtype=np.int64))
        return float(self.counts.sum())

    @property
    def count_type(self) -> Any:
        """Type of the counts: int32 or float64."""
        return self.counts.dtype

    @cached_property
    def integral(self) -> bool:
        """Whether every count is a whole number."""
        return self.counts.dtype.kind == "i" or bool((np.rint(self.counts) == self.counts).all())

    @cached_property
    def word_totals(self) -> Array:
        """Sum of each word's counts, (J,) float64; summed in pieces to save memory."""
        totals = np.zeros(self.n_words)
        for start in range(0, self.n_entries, BLOCK_ENTRIES):
            piece = slice(start, start + BLOCK_ENTRIES)
            totals += np.bincount(self.words[piece], self.counts[piece], self.n_words)
        return totals

    @cached_property
    def lengths(self) -> Array:
        """Sum of each document's counts, (I,) float64."""
        return self._row_sums(lambda counts: counts)

    @cached_property
    def length_table(self) -> tuple[Array, Array]:
        """Distinct lengths of documents, ascending, and how many documents have each."""
        return np.unique(self.lengths, return_counts=True)

    @cached_property
    def class_length_table(self) -> tuple[Array, Array]:
        """Distinct pairs of a class and a length (n, 2), ascending, and how many documents each."""
        classes = np.zeros(self.n_documents) if self.classes is None else self.classes
        pairs = np.column_stack([classes, self.lengths])
        return np.unique(pairs, axis=0, return_counts=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the data, names aside."""
        result = hashlib.sha256()
        for part in (self.indptr, self.words, self.counts, self.layout.group_of_word):
            result.update(np.ascontiguousarray(part).data)
        if self.exposures is not None:
            result.update(np.ascontiguousarray(self.exposures).data)
        return result.hexdigest()

    # ---- exposures ----

    @property
    def has_exposures(self) -> bool:
        """Whether documents have exposures of their own."""
        return self.exposures is not None

    @cached_property
    def total_exposures(self) -> Array:
        """Sum of each document's exposures, (I,) float64; the number of groups by default."""
        if self.exposures is None:
            return np.full(self.n_documents, float(self.n_groups))
        return np.asarray(self.exposures.sum(axis=1))

    @cached_property
    def exposure_levels(self) -> Array:
        """Distinct values of `total_exposures`, ascending, (T,) float64.

        If documents have classes, these are pairs of an exposure and a class, (T, 2).
        """
        if self.classes is None:
            return np.unique(self.total_exposures)
        return np.unique(np.column_stack([self.total_exposures, self.classes]), axis=0)

    @cached_property
    def levels(self) -> Array:
        """Index of each document's total exposure in `exposure_levels`, (I,) int32."""
        if self.classes is not None:
            pairs = np.column_stack([self.total_exposures, self.classes])
            found = np.unique(pairs, axis=0, return_inverse=True)[1]
            return found.ravel().astype(np.int32)
        return np.searchsorted(self.exposure_levels, self.total_exposures).astype(np.int32)

    @property
    def known_exposures(self) -> Array:
        """Exposures written out, a new (I, G) float64 array."""
        if self.exposures is None:
            return np.ones((self.n_documents, self.n_groups))
        return self.exposures.copy()

    # ---- constants of the likelihood ----

    @cached_property
    def group_lengths(self) -> Any:
        """Sum of each document's counts inside each group, sparse (I, G) float64."""
        values = self.counts.astype(np.float64)
        return sparse.csr_array(self._shared_csr(values) @ self.layout.indicator)

    @cached_property
    def log_count_factorials(self) -> Array:
        """Sum over words of log w_ij!, (I,) float64."""
        return self._row_sums(_log_factorials)

    @cached_property
    def log_group_factorials(self) -> Array:
        """Sum over groups of log L_ig!, (I,) float64."""
        return self._sum_over_groups(lambda lengths, _: gammaln(lengths + 1.0))

    @cached_property
    def log_exposure_powers(self) -> Array:
        """Sum over groups of L_ig log e_ig, (I,) float64, where 0 log 0 = 0."""
        if self.exposures is None:
            return np.zeros(self.n_documents)
        return self._sum_over_groups(xlogy)

    # ---- inside ----

    @property
    def pair_of_entry(self) -> Array:
        """Number of each entry's (document, group) pair, document G + group, (n_entries,) int64."""
        documents = np.repeat(np.arange(self.n_documents), np.diff(self.indptr))
        return documents * self.n_groups + self.layout.group_of_word[self.words]

    def _shared_csr(self, values: Array) -> Any:
        shape = (self.n_documents, self.n_words)
        return sparse.csr_array((values, self.words, self.indptr), shape=shape)

    def _row_sums(self, function: Callable[[Array], Array]) -> Array:
        """Sum a function of the counts over each document; in pieces, to save memory."""
        sums = np.zeros(self.n_documents)
        n_entries = np.diff(self.indptr)
        for start, stop in pairwise(cuts(self.indptr, BLOCK_ENTRIES)):
            rows = np.repeat(np.arange(stop - start), n_entries[start:stop])
            values = function(self.counts[self.indptr[start] : self.indptr[stop]])
            sums[start:stop] = np.bincount(rows, values, stop - start)
        return sums

    def _sum_over_groups(self, function: Any) -> Array:
        if self.n_groups == 1:
            exposures = None if self.exposures is None else self.exposures[:, 0]
            return np.asarray(function(self.lengths, exposures))
        lengths = self.group_lengths.tocoo()
        rows, groups = lengths.coords
        exposures = None if self.exposures is None else self.exposures[rows, groups]
        values = function(lengths.data, exposures)
        return np.bincount(rows, weights=values, minlength=self.n_documents)


def _log_factorials(counts: Array) -> Array:
    """Logs of w! (n,), by a table if counts are small whole numbers."""
    if counts.dtype.kind == "i" and counts.size > FEW_COUNTS and counts.max() < FEW_COUNTS:
        return np.asarray(gammaln(np.arange(FEW_COUNTS) + 1.0)[counts])
    return np.asarray(gammaln(counts.astype(np.float64) + 1.0))


def check_exposures(table: Counts) -> None:
    """Refuse a positive count where the document was not exposed to the group."""
    if table.exposures is None or table.exposures.all():
        return
    lengths = table.group_lengths.tocoo()
    rows, groups = lengths.coords
    bad = table.exposures[rows, groups] == 0
    if bad.any():
        n = int(np.argmax(bad))
        raise InputError(
            f"document {rows[n]} holds {lengths.data[n]:g} counts in group {groups[n]} but its "
            "exposure there is 0; raise the exposure or remove the counts"
        )
