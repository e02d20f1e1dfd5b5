# SPDX-License-Identifier: BSD-3-Clause
"""Quality of components beside prediction: do starts agree, do their words belong together.

These two functions are the only place of this package that matches components and measures
coherence.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from discan.data.corpus import Corpus, Layout
from discan.typing import Array

__all__ = ["coherence", "kept_components", "stability"]

TOP_WORDS = 10  # of a component, for coherence
KEPT_WORDS = 200  # of a component, if there are more than MANY_WORDS
MANY_WORDS = 2000


def kept_components(components: Array) -> sparse.csr_array:
    """Return components (K, J) as a sparse table: of many words, only the likeliest."""
    n_components, n_words = components.shape
    if n_words <= MANY_WORDS:
        return sparse.csr_array(components)
    words = np.argpartition(components, -KEPT_WORDS, axis=1)[:, -KEPT_WORDS:]
    words.sort(axis=1)
    values = np.take_along_axis(components, words, axis=1).ravel()
    indptr = np.arange(n_components + 1) * KEPT_WORDS
    return sparse.csr_array((values, words.ravel(), indptr), shape=components.shape)


def stability(a: sparse.csr_array, b: sparse.csr_array, layout: Layout) -> float:
    """Mean similarity of the components of two fits, matched one to one, at most 1.

    Components are compared by the cosine of their loadings; of votes, answers and alleles after
    the mean over components is taken off, because most answers are the same in all components. The
    assignment makes the mean as large as possible.
    """
    first, second = (np.asarray(x.toarray()) for x in _same_columns(a, b))
    if layout.n_groups > 1 and len(first) > 1:
        first, second = (x - x.mean(axis=0) for x in (first, second))
    similarities = _unit(first) @ _unit(second).T
    rows, columns = linear_sum_assignment(similarities, maximize=True)
    return float(np.clip(similarities[rows, columns], 0.0, 1.0).mean())


def coherence(components: Array, corpus: Corpus) -> float:
    """Mean NPMI of the ten likeliest words of each component, by documents of the corpus.

    NPMI of two words is log(p_ab / (p_a p_b)) / -log p_ab, from -1 (never together) to 1 (always),
    where p is the share of documents, one document added to each count. NaN for grouped columns,
    whose words exclude each other.
    """
    if corpus.n_groups > 1 or corpus.n_words < 2:
        return float("nan")
    n_top = min(TOP_WORDS, corpus.n_words)
    top = np.argpartition(components, -n_top, axis=1)[:, -n_top:]
    words, place = np.unique(top, return_inverse=True)
    counts = corpus.to_csr()[:, words]
    present = sparse.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), counts.shape)
    together = (present.T @ present).toarray()
    total = corpus.n_documents + 1.0
    place = place.reshape(top.shape)
    pairs = np.triu_indices(n_top, 1)
    a, b = place[:, pairs[0]], place[:, pairs[1]]
    p_a, p_b = ((together[x, x] + 1.0) / total for x in (a, b))
    p_ab = (together[a, b] + 1.0) / total
    # words that are in every document say nothing
    npmi = np.log(p_ab / (p_a * p_b)) / np.maximum(-np.log(p_ab), 1e-12)
    return float(np.where(p_ab < 1.0, np.clip(npmi, -1.0, 1.0), 0.0).mean())


def _same_columns(*tables: sparse.csr_array) -> list[sparse.csr_array]:
    """Drop the columns that no table uses."""
    used = np.unique(np.concatenate([table.indices for table in tables]))
    return [table[:, used] for table in tables]


def _unit(rows: Array) -> Array:
    """Rows of length 1; a row of zeros stays."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300))
