# SPDX-License-Identifier: BSD-3-Clause
"""A start from one anchor word per component, found in one pass over the documents."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from discan.algorithms.base import Start
from discan.algorithms.corners import farthest
from discan.algorithms.starts import from_documents
from discan.data.corpus import Corpus
from discan.kernels.co_occurrence import add_co_occurrences
from discan.typing import Array

__all__ = ["from_words", "sketch_width", "suits"]

# Per component: candidates for its anchor word, and columns of the co-occurrence table. With many
# components there are fewer of both, so that the table stays smaller than the loadings.
CANDIDATES, MOST_CANDIDATES = 20, 4096
COLUMNS, MOST_COLUMNS, LEAST_COLUMNS = 8, 1024, 2
# Steps to the mixture of anchors that is nearest to a word, and their size.
STEPS = 10
STEP = 8.0
# Weight of a start from documents, which is mixed in. By it components without an anchor of their
# own differ, for instance if there are more components than words.
DOCUMENTS = 0.1
WORDS_AT_A_TIME = 4096
LONG = 100.0  # tokens of a document that mixes components
MANY = 50  # words per component; with fewer, anchors are words that say little
MOST_BYTES = 2**28  # of the table of words that occur together


def from_words(corpus: Corpus, n_components: int, seed: int) -> Start:
    """Start each component from the words that occur together with its anchor word.

    An anchor word belongs to one component only, and occurs with words of that component. The
    co-occurrences of all other words are mixtures of those of anchor words (Arora et al., 2013). So
    the anchors are the extreme points, and the place of a word among them gives its weights.
    Documents that mix many components are no harder than others, while a start from documents is
    slow there.
    """
    neighbours = _neighbours(corpus, n_components, seed)
    n_candidates = _between(n_components, CANDIDATES, MOST_CANDIDATES, 1)
    frequent = np.argsort(-corpus.word_totals, kind="stable")[:n_candidates]
    counts = from_documents(corpus, n_components, seed).loading_counts
    assert counts is not None
    counts *= DOCUMENTS
    with threadpool_limits(1, "blas"):  # products of matrices must not depend on the threads
        anchors = neighbours[frequent[farthest(neighbours[frequent], n_components)]]
        for first in range(0, len(neighbours), WORDS_AT_A_TIME):
            words = slice(first, first + WORDS_AT_A_TIME)
            weights = _mixtures(neighbours[words], anchors)
            counts[words] += (1.0 - DOCUMENTS) * corpus.word_totals[words, None] * weights
    return Start(counts)


def suits(corpus: Corpus, n_components: int) -> bool:
    """Whether a start from words is better than one from documents before cycles of MAP.

    It is for long texts, which mix components; the words of a short text mostly belong to one. So
    there must be one group, with many words per component, and long documents on average. The
    table of words that occur together must not be large.
    """
    n_words = corpus.n_words
    size = 4 * n_words * sketch_width(n_words, n_components)
    return (
        corpus.n_groups == 1
        and n_words >= MANY * n_components
        and float(corpus.n_tokens) >= LONG * corpus.n_documents
        and size <= MOST_BYTES
    )


def sketch_width(n_words: int, n_components: int) -> int:
    """Return the number of columns of the table of words that occur together."""
    return min(n_words, _between(n_components, COLUMNS, MOST_COLUMNS, LEAST_COLUMNS))


def _between(n_components: int, each: int, most: int, least: int) -> int:
    """Return ``each`` per component, at most ``most``, but at least ``least`` per component."""
    return max(min(each * n_components, most), least * n_components)


def _neighbours(corpus: Corpus, n_components: int, seed: int) -> Array:
    """Return how often words occur beside each word, less the mean over words, in few columns.

    The most frequent words have a column each. The others share columns, with random signs, so that
    distances keep their expected values (a count sketch).
    """
    n_words = corpus.n_words
    width = sketch_width(n_words, n_components)
    rank = np.empty(n_words, np.int64)
    rank[np.argsort(-corpus.word_totals, kind="stable")] = np.arange(n_words)
    rng = np.random.Generator(np.random.Philox(key=int(seed)))
    signs = rng.choice([-1.0, 1.0], n_words)
    neighbours, totals = np.zeros((n_words, width), np.float32), np.zeros(n_words)
    for part in corpus.parts():
        add_co_occurrences(
            part.indptr, part.words, part.counts, rank % width, signs, neighbours, totals
        )
    mean = neighbours.sum(axis=0, dtype=np.float64) / max(totals.sum(), 1e-300)
    known = totals > 0.0  # the other words are always alone in their documents
    neighbours[known] /= totals[known, None]
    neighbours[known] -= mean
    return neighbours


def _mixtures(rows: Array, anchors: Array) -> Array:
    """Return weights (n, K) of the mixture of anchors nearest to each row; each row sums to 1.

    They are found by exponentiated gradient steps on the squared distance, from equal weights.
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
