# SPDX-License-Identifier: BSD-3-Clause
"""What an explorer shows, read once: the components, the documents, their texts and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.metadata import EXCERPT, read_metadata
from discan.data.periods import periods
from discan.errors import InputError
from discan.evaluation.quality import Quality, quality
from discan.fitting.result import needed_fit
from discan.plot.component_map import distances, scaling
from discan.plot.inputs import labels
from discan.plot.ordering import MISSING, as_text, is_label
from discan.plot.subjects import Components
from discan.reporting.facts import Facts, aligned, gather
from discan.typing import Array

__all__ = ["Column", "Material", "read_material"]

MANY = 100  # components: above it the Hellinger distance, a matrix product, is used
MOST_ENTRIES = 8192  # of a block


@dataclass(frozen=True, eq=False)
class Column:
    """A column that puts documents into groups: labels, or periods of time.

    Attributes
    ----------
    name : str
    values : (G,) list of str
    code : (I,) whole numbers
        Group of each document, -1 if it has none.
    is_time : bool
    """

    name: str
    values: list[str]
    code: Array
    is_time: bool = False

    def moments(self, shares: Array) -> tuple[Array, Array, Array]:
        """Return sizes (G,), means and standard errors of shares (I, K) in each group, (G, K)."""
        known = self.code >= 0
        code, rows = self.code[known], shares[known]
        sizes = np.bincount(code, minlength=len(self.values))
        total, square = np.zeros((2, len(self.values), shares.shape[1]))
        for g in np.flatnonzero(sizes):
            part = rows[code == g]
            total[g], square[g] = part.sum(axis=0), np.square(part).sum(axis=0)
        n = np.maximum(sizes, 1)[:, None]
        means = total / n
        variances = np.maximum(square / n - np.square(means), 0.0) * n / np.maximum(n - 1, 1)
        return sizes, means, np.sqrt(variances / n)


@dataclass(frozen=True, eq=False)
class Material:
    """All that a page can show; a page with less space shows a part of it.

    Attributes
    ----------
    facts : Facts
    texts : (I,) list of str or None
    columns : list of Column
    others : dict of str to (I,) list of str
        Columns that describe documents one by one.
    deviations, absent : (I, K) arrays or None
        Standard deviations of the shares, and P(absent); components in the order of ``facts``.
    places : (I, 2) array or None
        Where the documents are on a map that was given.
    """

    facts: Facts
    texts: list[str] | None
    columns: list[Column]
    others: dict[str, list[str]]
    deviations: Array | None
    absent: Array | None
    places: Array | None = None

    @property
    def components(self) -> Components:
        """The components, sorted by size."""
        return self.facts.components

    @property
    def shares(self) -> Array:
        """Shares of the components in the documents, (I, K)."""
        return self.facts.documents.shares

    @cached_property
    def lengths(self) -> Array:
        """Number of tokens of each document, (I,)."""
        if self.facts.corpus is not None:
            return self.facts.corpus.lengths
        return np.asarray(self.facts.amounts.sum(axis=1))

    @property
    def distance(self) -> str:
        """Name of the distance between components."""
        return "Jensen-Shannon" if len(self.components.names) <= MANY else "Hellinger"

    @cached_property
    def apart(self) -> Array:
        """Distances between components, (K, K), from 0 to 1."""
        result = distances(self.components, self.distance.lower())
        np.fill_diagonal(result, 0.0)  # beyond rounding
        return result

    @cached_property
    def quality(self) -> list[Quality] | None:
        """Quality of each component; None if the components were given."""
        facts = self.facts
        if facts.fit.documents is None:
            return None
        found = quality(facts.fit, None if self.components.grouped else facts.corpus)
        return [found[k] for k in self.components.parts]

    @cached_property
    def plane(self) -> tuple[Array, float]:
        """Places of the components on a plane (K, 2), and the part of the distances it keeps."""
        return scaling(self.apart)

    @cached_property
    def chances(self) -> Array | None:
        """Probability of each entry of the data given the shares of its document, (n_entries,)."""
        corpus = self.facts.corpus
        if corpus is None:
            return None
        loadings = np.ascontiguousarray(self.components.loadings.T)
        rows = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
        result = np.empty(corpus.n_entries)
        for start in range(0, corpus.n_entries, MOST_ENTRIES):
            piece = slice(start, start + MOST_ENTRIES)
            words, shares = loadings[corpus.words[piece]], self.shares[rows[piece]]
            result[piece] = np.einsum("nk,nk->n", words, shares)
        return result

    @cached_property
    def likelihoods(self) -> Array | None:
        """Log-likelihood per token of each document given its shares, (I,); NaN if it is empty."""
        corpus, chances = self.facts.corpus, self.chances
        if corpus is None or chances is None:
            return None
        logs = np.log(np.maximum(chances, 1e-300)) * corpus.counts
        rows = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
        totals = np.bincount(rows, logs, corpus.n_documents)
        empty = np.full(corpus.n_documents, np.nan)
        known = corpus.lengths > 0
        return np.asarray(np.divide(totals, corpus.lengths, out=empty, where=known))


def read_material(
    source: Any,
    data: Any = None,
    texts: Any = None,
    documents: Any = None,
    asked: Sequence[str] = (),
    places: Any = None,
    n_jobs: int | None = None,
) -> Material:
    """Read what a page is about; the arguments are those of ``explore``."""
    fit = needed_fit(source, "an explorer needs")
    corpus = None if data is None else aligned(fit, data)
    same = corpus is not None and fit.documents is not None and _same(fit, corpus)
    own = corpus is None or same
    facts = replace(gather(source, None if own else corpus, (), n_jobs), new=not own)
    n = facts.n_documents
    metadata = dict(facts.documents.metadata)
    if same and corpus is not None:
        metadata |= corpus.metadata
        facts = replace(facts, corpus=corpus)
    metadata |= read_metadata(documents, n)
    for name in asked:
        if name not in metadata:
            use = {"labels": tuple(metadata)}
            raise InputError("{} is not a column", argument="labels", value=name, use=use)
    excerpts = metadata.pop(EXCERPT, None)
    if texts is not None:
        texts = labels("texts", texts, n, facts.documents.nouns.documents)
    elif excerpts is not None:
        texts = ["" if text is None else str(text) for text in excerpts]
    columns = _columns(metadata, asked)
    known = {column.name for column in columns}
    facts = replace(facts, documents=replace(facts.documents, metadata=metadata))
    order = facts.components.parts
    with_sd = own and fit.documents is not None and fit.params.model.normalised
    deviations = fit.scores_sd if with_sd else None
    absent = fit.absent if own and fit.documents is not None else None
    return Material(
        facts, texts, columns,
        {name: as_text(c) for name, c in metadata.items() if name not in known},
        None if deviations is None else deviations[:, order],
        None if absent is None else absent[:, order],
        None if places is None else _places(places, n),
    )  # fmt: skip


def _same(fit: Any, corpus: Corpus) -> bool:
    """Tell whether data are those of the fit: the same names, and tokens in every document."""
    if fit.document_names != corpus.document_names and fit.document_names is not None:
        return False
    totals = np.asarray(fit.component_counts.sum(axis=1))
    alike = totals.shape == corpus.lengths.shape
    return alike and bool(np.allclose(totals, corpus.lengths, rtol=1e-3, atol=1e-3))


def _columns(metadata: dict[str, Array], asked: Sequence[str]) -> list[Column]:
    """Return labels, those asked for first, and times."""
    result = []
    for name in [*asked, *(name for name in metadata if name not in asked)]:
        column = metadata[name]
        times = periods(column) if column.dtype == object else None
        if times is not None and len(times.names) > 1:
            result.append(Column(name, times.names, times.number, is_time=True))
        elif name in asked or is_label(column):
            texts = as_text(column)
            values = sorted(set(texts) - {MISSING})
            number = {value: n for n, value in enumerate(values)}
            code = np.array([number.get(text, -1) for text in texts], dtype=np.int64)
            result.append(Column(name, values, code))
    return result


def _places(given: Any, n: int) -> Array:
    places = np.asarray(given, dtype=np.float64)
    if places.shape != (n, 2) or not np.isfinite(places).all():
        raise InputError(f"places must be finite numbers of shape ({n}, 2)")
    return places
