# SPDX-License-Identifier: BSD-3-Clause
"""A start from words that stand for a component each, found in one pass over the documents."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from discan.algorithms.base import Start
from discan.algorithms.starts import from_documents
from discan.data.corpus import Corpus
from discan.kernels.co_occurrence import add_co_occurrences
from discan.typing import Array

__all__ = ["from_words"]

# For each component: words that may stand for one, and columns that companies are kept in; with
# many components there are fewer for each, lest the tables outgrow the loadings.
CANDIDATES, MOST_CANDIDATES = 20, 4096
COLUMNS, MOST_COLUMNS, LEAST_COLUMNS = 8, 1024, 2
# Steps to the mixture of anchors that is nearest to a word, and their size.
STEPS = 10
STEP = 8.0
# Share of a start from documents that is mixed in: components without an anchor of their own, as
# when there are more of them than words, differ by it.
DOCUMENTS = 0.1
WORDS_AT_A_TIME = 4096


def from_words(corpus: Corpus, n_components: int, seed: int) -> Start:
    """Start each component from the words that keep the company of its anchor word.

    A word that belongs to one component only keeps the company of that component, and that of all
    other words is a mixture of such companies (Arora et al., 2013). So the anchors are those that
    stand farthest out, and a word's place among them says how it is shared out. Documents of many
    components, which a start from documents takes long to unravel, are no harder than others.
    """
    company = _company(corpus, n_components, seed)
    n_candidates = _between(n_components, CANDIDATES, MOST_CANDIDATES, 1)
    frequent = np.argsort(-corpus.word_totals, kind="stable")[:n_candidates]
    counts = from_documents(corpus, n_components, seed).loading_counts
    assert counts is not None
    counts *= DOCUMENTS
    with threadpool_limits(1, "blas"):  # products of matrices must not depend on the threads
        anchors = company[frequent[_corners(company[frequent], n_components)]]
        for first in range(0, len(company), WORDS_AT_A_TIME):
            words = slice(first, first + WORDS_AT_A_TIME)
            shares = _mixtures(company[words], anchors)
            counts[words] += (1.0 - DOCUMENTS) * corpus.word_totals[words, None] * shares
    return Start(counts)


def _between(n_components: int, each: int, most: int, least: int) -> int:
    """So many for each component, but no more than ``most`` unless ``least`` for each ask it."""
    return max(min(each * n_components, most), least * n_components)


def _company(corpus: Corpus, n_components: int, seed: int) -> Array:
    """Frequencies of the words beside each word, less those beside any word, in few columns.

    The most frequent words have a column each; others share theirs, with random signs so that
    distances stay what they are on average (a count sketch).
    """
    n_words = corpus.n_words
    width = min(n_words, _between(n_components, COLUMNS, MOST_COLUMNS, LEAST_COLUMNS))
    rank = np.empty(n_words, np.int64)
    rank[np.argsort(-corpus.word_totals, kind="stable")] = np.arange(n_words)
    rng = np.random.Generator(np.random.Philox(key=int(seed)))
    signs = rng.choice([-1.0, 1.0], n_words)
    company, totals = np.zeros((n_words, width), np.float32), np.zeros(n_words)
    add_co_occurrences(
        corpus.indptr, corpus.words, corpus.counts, rank % width, signs, company, totals
    )
    mean = company.sum(axis=0, dtype=np.float64) / max(totals.sum(), 1e-300)
    known = totals > 0.0  # the others are always alone: nothing sets them apart
    company[known] /= totals[known, None]
    company[known] -= mean
    return company


def _corners(rows: Array, n: int) -> Array:
    """Choose n rows, each the farthest from the flat through those before."""
    chosen = np.empty(n, np.int64)
    chosen[0] = np.einsum("ij,ij->i", rows, rows).argmax()
    rows = rows - rows[chosen[0]]  # distances are from the first corner, not from the middle
    squares = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
    axes = np.zeros((n, rows.shape[1]), rows.dtype)
    for k in range(1, n):
        chosen[k] = squares.argmax()
        axis = rows[chosen[k]].copy()
        for _ in range(2):  # what rounding leaves the first time is gone after the second
            axis -= (axes[:k] @ axis) @ axes[:k]
        length = np.sqrt(axis @ axis)
        if length > 0.0:
            axes[k] = axis / length
            squares = np.maximum(squares - (rows @ axes[k]).astype(np.float64) ** 2, 0.0)
        squares[chosen[k]] = 0.0
    return chosen


def _mixtures(rows: Array, anchors: Array) -> Array:
    """Weights (n, K), at least 0 and of sum 1, by which the anchors come near to each row.

    Steps of exponentiated gradient on the squared distance, from equal weights.
    """
    products, goals = anchors @ anchors.T, rows @ anchors.T
    step = STEP / max(float(np.diag(products).max()), 1e-30)
    logs = np.zeros_like(goals)
    weights = np.full_like(goals, 1.0 / len(anchors))
    for _ in range(STEPS):
        logs -= step * (weights @ products - goals)
        logs -= logs.max(axis=1, keepdims=True)
        np.exp(logs, out=weights)
        weights /= weights.sum(axis=1, keepdims=True)
    return weights
