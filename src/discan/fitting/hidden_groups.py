# SPDX-License-Identifier: BSD-3-Clause
"""Predict groups that are hidden or empty: a label, a vote, an allele, tags."""

from __future__ import annotations

import logging
from collections.abc import Callable
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.errors import InputError, shown
from discan.models import Model
from discan.models.base import proportions
from discan.typing import Array
from discan.validation import vector

__all__ = [
    "Filled", "checked_totals", "columns_of", "fill", "find_group", "hide_group", "like", "predict",
    "usual_totals",
]  # fmt: skip

log = logging.getLogger("discan")

_CELLS_AT_ONCE = 2**22
_NAMES_SHOWN = 6


class Filled(NamedTuple):
    """Expected counts of the empty groups: where they stand, and what they are.

    Attributes
    ----------
    documents, words : (n,) int arrays
        By document, then by word.
    values : (n,) array
    """

    documents: Array
    words: Array
    values: Array


def find_group(layout: Layout, group: Any) -> int:
    """Return the number of a group given by number or name."""
    names = layout.group_names
    if isinstance(group, str) and names is not None and group in names:
        if names.count(group) > 1:
            raise InputError(f"several groups are called {shown(group)}; give the group's number")
        return names.index(group)
    whole = hasattr(group, "__index__") and not isinstance(group, (bool, np.bool_))
    if whole and 0 <= int(group) < layout.n_groups:
        return int(group)
    known = "0" if layout.n_groups == 1 else f"0 to {layout.n_groups - 1}"
    if names is not None:
        first = ", ".join(
            repr(shorten(name, 40, placeholder="...")) for name in names[:_NAMES_SHOWN]
        )
        known += f", called {first}" + (", ..." if len(names) > _NAMES_SHOWN else "")
    raise InputError(f"there is no group {shown(group)}; the groups are {known}")


def columns_of(layout: Layout, group: int) -> Array:
    """Columns of a group, ascending, (J_g,)."""
    return np.flatnonzero(layout.group_of_word == group)


def hide_group(corpus: Corpus, group: int) -> Corpus:
    """Return the corpus without the counts of a group, as if it had been seen to be empty.

    It was seen at the exposure that each document has there, and at 1 where that is 0.
    """
    hidden = corpus.layout.group_of_word[corpus.words] == group
    exposures = corpus.exposures
    if exposures is not None:
        exposures = exposures.copy()
        exposures[exposures[:, group] == 0, group] = 1.0
    return corpus.with_counts(np.where(hidden, 0, corpus.counts), exposures)


def predict(scores: Array, loadings: Array) -> Array:
    """Distribution of one token of a group given the rest of the document (theory 7).

    Exactly one token of the group, seen at exposure e, is word y with probability

        P(y | w)  ∝  E[ (Theta l)_y exp(-e sum_k l_k) | w ]  ∝  sum_k theta_yk E[l_k | w, e],

    where the last mean is that of a document whose group was seen at exposure e and found empty:
    its likelihood has the same factor exp(-e sum_k l_k). For proportions e plays no part.

    Parameters
    ----------
    scores : (I, K) array
        Mean scores of the documents, the group hidden by `hide_group`.
    loadings : (J_g, K) array
        Of the group's words.

    Returns
    -------
    (I, J_g) array, rows sum to 1
    """
    # no matrix product: its bits would depend on the number of documents
    chances = np.einsum("ik,jk->ij", proportions(scores), loadings, optimize=False)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def usual_totals(corpus: Corpus) -> Array:
    """Mean count of each group in the documents that have it, 1 if none has, (G,)."""
    if corpus.n_groups == 1:
        lengths, n_documents = corpus.length_table
        n_having = int(n_documents[lengths > 0].sum())
        return np.array([corpus.n_tokens / n_having if n_having else 1.0])
    sums, having = np.zeros(corpus.n_groups), np.zeros(corpus.n_groups, dtype=np.int64)
    for part in corpus.parts():
        found = part.group_lengths
        sums += np.bincount(found.indices, weights=found.data, minlength=corpus.n_groups)
        having += np.bincount(found.indices, minlength=corpus.n_groups)
    return np.where(having > 0, sums / np.maximum(having, 1), 1.0)


def fill(
    corpus: Corpus, normalised: bool, totals: Array, loadings: Array,
    scores_of: Callable[[Corpus], Array], quiet: bool = False,
) -> Filled:  # fmt: skip
    """Expected counts of every word of every empty group: sum_k E[l_k | w] theta_jk.

    Empty is a group without counts for a model of proportions, whose counts are then expected to
    add up to ``totals`` (G,); and one of exposure 0 for the others, expected at exposure 1.

    Parameters
    ----------
    scores_of : callable
        Mean scores (n, K) of the documents of a corpus.
    quiet : bool
        Whether to say nothing if no group is empty.
    """
    documents, groups = _empty_pairs(corpus, normalised)
    if documents.size == 0:
        reason = _why_nothing(corpus, normalised)
        if reason and not quiet:
            log.warning("nothing is filled in: %s", reason)
        return Filled(documents, documents, np.zeros(0))
    chosen, rows = np.unique(documents, return_inverse=True)
    scores = scores_of(corpus.select(chosen))
    layout = corpus.layout
    order = np.argsort(layout.group_of_word, kind="stable")
    ends = np.cumsum(layout.group_sizes)
    sizes = layout.group_sizes[groups]
    starts = ends[groups] - sizes
    # the n-th word of a pair, for all pairs in a row
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    words = order[np.repeat(starts, sizes) + within]
    rows, weights = np.repeat(rows, sizes), np.repeat(totals[groups], sizes)
    values = np.empty(words.size)
    step = max(1, _CELLS_AT_ONCE // loadings.shape[1])
    for start in range(0, words.size, step):
        part = slice(start, start + step)
        values[part] = np.einsum("nk,nk->n", scores[rows[part]], loadings[words[part]])
    if normalised:
        values *= weights
    documents = chosen[rows]
    by_word = np.lexsort((words, documents))
    return Filled(documents[by_word], words[by_word], values[by_word])


def checked_totals(model: Model, totals: Any, layout: Layout) -> Array:
    """Check the sums of filled groups that a user gave: one number, or one per group, (G,)."""
    if not model.normalised:
        raise InputError(f"the {model.name} model expects amounts of its own; leave out totals")
    wanted = "a finite number, at least 0"
    given = vector("totals", totals, layout.n_groups, "groups", wanted, 0.0, np.inf)
    return np.broadcast_to(given, (layout.n_groups,))


def _why_nothing(corpus: Corpus, normalised: bool) -> str | None:
    """Return why no group was found empty, if that may be a mistake; None for complete data."""
    if not normalised and corpus.exposures is None:
        return (
            "under this model a group without counts was observed to be empty; one that was not "
            "observed has an exposure of 0"
        )
    if normalised and corpus.n_groups == 1:
        return "all words are in one group, and no document is empty"
    return None


def like(given: Any, corpus: Corpus, filled: Filled) -> Any:
    """Return the counts with those filled in, in the form they were given in."""
    counts = corpus.to_csr().astype(np.float64)
    if filled.values.size:
        coordinates = (filled.documents, filled.words)
        counts = sparse.csr_array(
            counts + sparse.coo_array((filled.values, coordinates), shape=counts.shape)
        )
    if isinstance(given, Corpus) or sparse.issparse(given):
        return counts
    if not hasattr(type(given), "columns"):
        return counts.toarray()
    if hasattr(given, "iloc"):
        import pandas

        return pandas.DataFrame(counts.toarray(), index=given.index, columns=given.columns)
    return type(given)(counts.toarray(), schema=list(given.columns))


def _empty_pairs(corpus: Corpus, normalised: bool) -> tuple[Array, Array]:
    """Documents and groups of all empty pairs, in that order."""
    if not normalised:
        if corpus.exposures is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        documents, groups = np.nonzero(corpus.exposures == 0)
        return documents, groups
    lengths = corpus.group_lengths
    if lengths.nnz == corpus.n_documents * corpus.n_groups:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    # a run of documents at a time: few bytes, however many documents and groups
    step = max(1, _CELLS_AT_ONCE // corpus.n_groups)
    found: list[tuple[Array, Array]] = []
    for start in range(0, corpus.n_documents, step):
        part = lengths[start : start + step]
        empty = np.ones(part.shape, dtype=bool)
        empty[np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)), part.indices] = False
        documents, groups = np.nonzero(empty)
        found.append((documents + start, groups))
    documents, groups = (np.concatenate(column) for column in zip(*found, strict=True))
    return documents, groups
