# SPDX-License-Identifier: BSD-3-Clause
"""Hold a checked table of counts: documents by words, and the words in groups."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import gammaln, xlogy

from discan.data.intake import (
    offsets,
    read_exposures,
    read_groups,
    read_names,
    read_table,
    tightest,
)
from discan.data.left_out import NOTHING
from discan.data.metadata import read_metadata, select_metadata
from discan.data.notebook import corpus_html
from discan.data.nouns import Nouns, counted
from discan.errors import InputError
from discan.typing import Array

__all__ = ["BLOCK_ENTRIES", "Block", "BlockRef", "Corpus", "Layout", "read_selection"]

BLOCK_ENTRIES = 2**16
"""Non-zeros in a block, about; it fixes the numbering of blocks, hence the answer's bits."""
FEW_COUNTS = 2**10


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a table: words, and the group each one belongs to.

    Attributes
    ----------
    n_words, n_groups : int
        J and G.
    group_of_word : (J,) int32 array
        Number of the group that owns each word.
    word_names, group_names : tuple of str or None
    """

    n_words: int
    group_of_word: Array
    n_groups: int
    word_names: tuple[str, ...] | None = None
    group_names: tuple[str, ...] | None = None

    @cached_property
    def group_sizes(self) -> Array:
        """Number of words of each group, (G,) int64."""
        return np.bincount(self.group_of_word, minlength=self.n_groups).astype(np.int64)

    @cached_property
    def indicator(self) -> Any:
        """Sparse (J, G) table with a one where the group owns the word."""
        rows = np.arange(self.n_words + 1)
        ones = np.ones(self.n_words)
        shape = (self.n_words, self.n_groups)
        return sparse.csr_array((ones, self.group_of_word, rows), shape=shape)

    def group_sums(self, matrix: Array) -> Array:
        """Sum the rows of a (J, K) matrix inside each group.

        Returns
        -------
        (G, K) array, int64 for whole-number types and float64 otherwise.
        """
        dtype = np.dtype(np.int64 if matrix.dtype.kind in "biu" else np.float64)
        if self.n_groups == 1:
            return np.asarray(matrix.sum(axis=0, keepdims=True, dtype=dtype))
        order, starts = self._by_group
        rows = matrix if order is None else matrix[order]
        return np.asarray(np.add.reduceat(rows, starts, axis=0, dtype=dtype))

    @cached_property
    def _by_group(self) -> tuple[Array | None, Array]:
        """Order that sorts words by group (None if sorted), and where each group begins."""
        groups = self.group_of_word
        sorted_already = bool((groups[1:] >= groups[:-1]).all())
        order = None if sorted_already else np.argsort(groups, kind="stable")
        return order, offsets(self.group_sizes)[:-1]


@dataclass(frozen=True, eq=False)
class BlockRef:
    """Where a run of whole documents is; ``Corpus.read`` returns the documents themselves.

    Attributes
    ----------
    index : int
        Number of the block in its corpus.
    start, stop : int
        Documents `start .. stop - 1`.
    token_start, token_stop : int
        The block's tokens in the numbering of all tokens; both 0 when counts are fractional.
    """

    index: int
    start: int
    stop: int
    token_start: int
    token_stop: int


@dataclass(frozen=True, eq=False)
class Block(BlockRef):
    """A run of whole documents: the unit of work.

    Attributes
    ----------
    indptr : (stop - start + 1,) int64 array
        Offsets into `words` and `counts`; the first need not be 0.
    words, counts : arrays
        Those of the whole corpus, if it is in memory; else those of the block.
    levels : (stop - start,) int32 array
        Index of each document's total exposure in `Corpus.exposure_levels`.
    """

    indptr: Array
    words: Array
    counts: Array
    levels: Array


class Corpus:
    """A table of non-negative counts, documents by words, checked and in canonical form.

    The same table gives the same arrays, bit for bit, in whatever form it is passed. The caller's
    data are neither changed nor shared.

    Parameters
    ----------
    counts : (I, J) SciPy sparse matrix or array, NumPy array, nested list or data frame
        Column names of a frame become `word_names`, and its index `document_names`.
    groups : (J,) array-like, optional
        Group of each word: whole numbers 0 .. G-1, or labels, then numbered in order of first
        appearance. Without it all words are one group.
    exposures : (I, G) array-like, optional
        How much of each group each document was exposed to; 0 means not observed.
        With one group (I,) will do. Without it, every exposure is 1.
    document_names, word_names, group_names : sequence of str, optional
    metadata : mapping of str to (I,) array-like, or data frame, optional
        Columns that describe the documents, e.g. party, date or author; they are not counted.
    nouns : Nouns, optional
        What documents, words and components are called.
    reading : dict, optional
        How the data were read: the format and its options.
    left_out : (n,) uint32 array, optional
        Checksums of words that were left out when the data were read, as too rare or too frequent.

    Attributes
    ----------
    indptr : (I + 1,) int64 array
    words : (n_entries,) int32 array
        Ascending inside each document.
    counts : (n_entries,) array
        int32 when every count is a whole number that fits, else float64. Never zero.
    layout : Layout
    exposures : (I, G) float64 array or None
    document_names : tuple of str or None
    metadata : dict of str to (I,) array
        float64, NaN if missing; or objects of type str, None if missing.
    nouns : Nouns
    reading : dict
    left_out : (n,) uint32 array
    """

    indptr: Array
    words: Array
    counts: Array
    layout: Layout
    exposures: Array | None
    document_names: tuple[str, ...] | None
    metadata: dict[str, Array]
    nouns: Nouns
    reading: dict[str, Any]
    left_out: Array
    on_disk: ClassVar[bool] = False  # whether documents are read block by block
    classes: Array | None = None  # (I,) int32: number of each document's class, 0 if unknown

    def __init__(
        self,
        counts: Any,
        groups: Any = None,
        exposures: Any = None,
        document_names: Iterable[Any] | None = None,
        word_names: Iterable[Any] | None = None,
        group_names: Iterable[Any] | None = None,
        metadata: Any = None,
        nouns: Nouns | None = None,
        reading: dict[str, Any] | None = None,
        left_out: Array | None = None,
    ) -> None:
        table = read_table(counts)
        if document_names is None:
            document_names = table.document_names
        if word_names is None:
            word_names = table.word_names
        n_documents = table.indptr.size - 1
        codes, n_groups, labels = read_groups(groups, table.n_words)
        self.indptr = table.indptr
        self.words = table.words
        self.counts = tightest(table.values)
        self.layout = Layout(
            n_words=table.n_words,
            group_of_word=codes,
            n_groups=n_groups,
            word_names=read_names(word_names, table.n_words, "word"),
            group_names=read_names(
                labels if group_names is None else group_names, n_groups, "group"
            ),
        )
        self.exposures = read_exposures(exposures, n_documents, n_groups)
        self.document_names = read_names(document_names, n_documents, "document")
        self.metadata = read_metadata(metadata, n_documents)
        self.nouns = nouns or Nouns()
        self.reading = dict(reading or {})
        self.left_out = NOTHING if left_out is None else np.asarray(left_out, dtype=np.uint32)
        _check_unexposed(self)

    @classmethod
    def of(cls, x: Any, groups: Any = None) -> Corpus:
        """Return `x` itself when it is a corpus, else make one of it."""
        if not isinstance(x, Corpus):
            return cls(x, groups=groups)
        if groups is not None:
            codes, _, _ = read_groups(groups, x.n_words)
            if not np.array_equal(codes, x.layout.group_of_word):
                raise InputError(
                    "groups differ from those of the Corpus; leave groups out, or make the Corpus "
                    "with the groups you want"
                )
        return x

    @classmethod
    def assemble(
        cls,
        indptr: Array,
        words: Array,
        counts: Array,
        layout: Layout,
        exposures: Array | None = None,
        document_names: tuple[str, ...] | None = None,
        metadata: dict[str, Array] | None = None,
        nouns: Nouns | None = None,
        reading: dict[str, Any] | None = None,
        left_out: Array | None = None,
    ) -> Corpus:
        """Make a corpus of canonical arrays, which are neither checked nor copied."""
        corpus = cls.__new__(cls)
        corpus.indptr = indptr
        corpus.words = words
        corpus.counts = counts
        corpus.layout = layout
        corpus.exposures = exposures
        corpus.document_names = document_names
        corpus.metadata = metadata or {}
        corpus.nouns = nouns or Nouns()
        corpus.reading = reading or {}
        corpus.left_out = NOTHING if left_out is None else left_out
        return corpus

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

    def with_classes(self, classes: Array | None) -> Corpus:
        """Return the same documents with classes (I,), numbered from 1; None takes them away."""
        if classes is None and self.classes is None:
            return self
        corpus = self.described()
        corpus.classes = None if classes is None else np.asarray(classes, dtype=np.int32)
        return corpus

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

    # ---- sums over all documents, in a fixed order wherever the documents are ----

    def sum_by_length(self, function: Callable[[Array], Array]) -> float:
        """Sum a function of the documents' lengths (n,) over all documents."""
        lengths, n_documents = self.length_table
        return float((n_documents * function(lengths)).sum())

    def sum_over(self, function: Callable[[Corpus], Array], name: str) -> float:
        """Sum a function of documents (n,) over all documents, block by block.

        The sum is remembered by its ``name``.
        """
        if name not in self._sums:
            total = 0.0
            for part in self.parts():
                total += float(np.sum(function(part)))
            self._sums[name] = total
        return self._sums[name]

    @cached_property
    def _sums(self) -> dict[str, float]:
        return {}

    @property
    def exposure_sum(self) -> float:
        """Sum of all exposures."""
        if not self.has_exposures:
            return float(self.n_documents * self.n_groups)
        return self.sum_over(lambda part: part.total_exposures, "exposures")

    def parts(self) -> Iterator[Corpus]:
        """Iterate over the documents of each block, a corpus each; nothing is copied."""
        for block in self.blocks:
            rows = slice(block.start, block.stop)
            first, last = self.indptr[block.start], self.indptr[block.stop]
            part = Corpus.assemble(
                self.indptr[block.start : block.stop + 1] - first,
                self.words[first:last],
                self.counts[first:last],
                self.layout,
                None if self.exposures is None else self.exposures[rows],
            )
            part.classes = None if self.classes is None else self.classes[rows]
            yield part

    # ---- parts ----

    def read(self, block: BlockRef) -> Block:
        """Return the documents of a block; those in memory are at hand."""
        assert isinstance(block, Block)
        return block

    @property
    def pair_of_entry(self) -> Array:
        """Number of each entry's (document, group) pair, document G + group, (n_entries,) int64."""
        documents = np.repeat(np.arange(self.n_documents), np.diff(self.indptr))
        return documents * self.n_groups + self.layout.group_of_word[self.words]

    @cached_property
    def blocks(self) -> Sequence[Any]:
        """Runs of whole documents of about `BLOCK_ENTRIES` non-zeros, for any number of threads."""
        return self.blocks_of(BLOCK_ENTRIES)

    def blocks_of(self, n_entries: int) -> Sequence[Any]:
        """Cut the corpus into runs of whole documents of about `n_entries` non-zeros each."""
        blocks: list[Block] = []
        start = token_start = 0
        while start < self.n_documents:
            limit = self.indptr[start] + n_entries
            stop = max(start + 1, int(np.searchsorted(self.indptr, limit, side="right")) - 1)
            entries = slice(self.indptr[start], self.indptr[stop])
            token_stop = token_start
            if self.integral:
                token_stop += int(self.counts[entries].sum(dtype=np.int64))
            blocks.append(
                Block(
                    index=len(blocks),
                    start=start,
                    stop=stop,
                    indptr=self.indptr[start : stop + 1],
                    words=self.words,
                    counts=self.counts,
                    levels=self.levels[start:stop],
                    token_start=token_start,
                    token_stop=token_stop,
                )
            )
            start, token_start = stop, token_stop
        return tuple(blocks)

    @property
    def about(self) -> dict[str, Any]:
        """What is known besides the counts, as arguments: names, metadata, nouns, reading, ..."""
        names = ("document_names", "metadata", "nouns", "reading", "left_out")
        return {name: getattr(self, name) for name in names}

    def described(self, **changes: Any) -> Corpus:
        """Return the same counts with other names of documents, metadata, nouns or reading."""
        if "metadata" in changes:
            changes["metadata"] = read_metadata(changes["metadata"], self.n_documents)
        parts = (self.indptr, self.words, self.counts, self.layout, self.exposures)
        corpus = Corpus.assemble(*parts, **{**self.about, **changes})
        corpus.classes = self.classes
        return corpus

    def documents(self, start: int, stop: int) -> Corpus:
        """Return documents ``start .. stop - 1`` with their names and metadata."""
        return self.select(slice(start, stop))

    def select(self, documents: Any) -> Corpus:
        """Return the corpus of some documents, in the order given.

        Parameters
        ----------
        documents : slice, (I,) boolean mask, or array-like of document numbers
        """
        chosen = read_selection(documents, self.n_documents)
        lengths = np.diff(self.indptr)[chosen]
        indptr = offsets(lengths)
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[chosen] - indptr[:-1], lengths)
        names = self.document_names
        about = {
            **self.about,
            "document_names": None if names is None else tuple(names[i] for i in chosen),
            "metadata": select_metadata(self.metadata, chosen),
        }
        corpus = Corpus.assemble(
            indptr=indptr,
            words=self.words[entries],
            counts=tightest(self.counts[entries]),
            layout=self.layout,
            exposures=None if self.exposures is None else self.exposures[chosen],
            **about,
        )
        corpus.classes = None if self.classes is None else self.classes[chosen]
        return corpus

    def with_counts(self, counts: Array, exposures: Array | None = None) -> Corpus:
        """Return the same documents with other counts in the same entries; zeros are dropped."""
        kept = counts != 0
        corpus = Corpus.assemble(
            indptr=offsets(kept)[self.indptr],
            words=self.words[kept],
            counts=tightest(counts[kept]),
            layout=self.layout,
            exposures=exposures,
            **self.about,
        )
        corpus.classes = self.classes
        return corpus

    def __getitem__(self, documents: Any) -> Corpus:
        """Return the corpus of some documents, as `select` does; of one, if given its number.

        ``corpus[rows, ...]`` and ``corpus[rows, :]`` are the same, so that cross-validation can
        index a corpus like an array.
        """
        if isinstance(documents, tuple) and len(documents) == 2:
            documents, words = documents
            if words is not ... and words != slice(None):
                raise InputError("a corpus is indexed by documents alone; use to_csr() for words")
        if isinstance(documents, int | np.integer) and not isinstance(documents, bool):
            if not -self.n_documents <= documents < self.n_documents:
                raise IndexError(f"document {documents} is outside 0 .. {self.n_documents - 1}")
            documents = [documents]
        return self.select(documents)

    __iter__ = None  # NumPy would take a corpus for a sequence of sequences without end

    def to_csr(self) -> Any:
        """Return the counts as a new SciPy CSR array."""
        return self._shared_csr(self.counts).copy()

    def __len__(self) -> int:
        """Return the number of documents."""
        return self.n_documents

    @property
    def description(self) -> str:
        """The size of the corpus in one line."""
        tokens = f"{self.n_tokens:,}" if self.integral else f"{self.n_tokens:,.6g}"
        share = 100.0 * self.n_entries / (self.n_documents * self.n_words)
        parts = [
            f"{counted(self.n_documents, self.nouns.document)} x "
            f"{counted(self.n_words, self.nouns.word)}",
            f"{tokens} tokens in {self.n_entries:,} non-zeros ({share:.3g} %)",
        ]
        if self.n_groups > 1:
            parts.append(f"{self.n_groups:,} groups")
        if self.has_exposures:
            parts.append("exposures")
        return ", ".join(parts)

    def __repr__(self) -> str:
        """Describe the corpus in one line."""
        return f"<Corpus: {self.description}>"

    def _repr_html_(self) -> str:
        """Show the corpus in a notebook."""
        return corpus_html(self)

    def _shared_csr(self, values: Array) -> Any:
        shape = (self.n_documents, self.n_words)
        return sparse.csr_array((values, self.words, self.indptr), shape=shape)

    def _row_sums(self, function: Callable[[Array], Array]) -> Array:
        """Sum a function of the counts over each document; in pieces, to save memory."""
        sums = np.zeros(self.n_documents)
        documents = np.diff(self.indptr)
        start = 0
        while start < self.n_documents:
            limit = self.indptr[start] + BLOCK_ENTRIES
            stop = max(start + 1, int(np.searchsorted(self.indptr, limit, side="right")) - 1)
            rows = np.repeat(np.arange(stop - start), documents[start:stop])
            values = function(self.counts[self.indptr[start] : self.indptr[stop]])
            sums[start:stop] = np.bincount(rows, values, stop - start)
            start = stop
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


def _check_unexposed(corpus: Corpus) -> None:
    """Refuse a positive count where the document was not exposed to the group."""
    if corpus.exposures is None or corpus.exposures.all():
        return
    lengths = corpus.group_lengths.tocoo()
    rows, groups = lengths.coords
    bad = corpus.exposures[rows, groups] == 0
    if bad.any():
        n = int(np.argmax(bad))
        raise InputError(
            f"document {rows[n]} holds {lengths.data[n]:g} counts in group {groups[n]} but its "
            "exposure there is 0; raise the exposure or remove the counts"
        )


def read_selection(documents: Any, n_documents: int) -> Array:
    """Return numbers of documents (n,) given by a slice, a mask or a list of numbers."""
    if isinstance(documents, slice):
        chosen = np.arange(n_documents)[documents]
    else:
        chosen = np.asarray(documents)
        if chosen.dtype.kind == "b":
            if chosen.shape != (n_documents,):
                raise InputError(f"mask has shape {chosen.shape}, expected ({n_documents},)")
            chosen = np.flatnonzero(chosen)
    if chosen.size == 0:
        raise InputError("no documents selected; select at least one")
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError("select documents by a slice, a mask or a list of whole numbers")
    chosen = chosen.astype(np.int64)
    outside = (chosen < -n_documents) | (chosen >= n_documents)
    if outside.any():
        raise InputError(f"document {chosen[np.argmax(outside)]} is outside 0 .. {n_documents - 1}")
    return chosen % n_documents
