# SPDX-License-Identifier: BSD-3-Clause
"""Quality of components beside prediction: do starts agree, do their words belong together."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.evaluation.coherence import coherence
from discan.evaluation.matching import match_components
from discan.evaluation.quality import first_words
from discan.fitting.result import Fit
from discan.typing import Array

__all__ = ["kept_components", "mean_coherence", "similarity"]

KEPT_WORDS = 200  # of a component, if there are more than MANY_WORDS in one group
MANY_WORDS = 2000


def kept_components(components: Array, n_groups: int) -> sparse.csr_array:
    """Return components (K, J) as a sparse table, so that many fits can be kept.

    If there are many words, each component keeps the likeliest, and one more column has the sum of
    the others, so that rows sum to 1. Similarities are then slightly inexact.
    """
    n_components, n_words = components.shape
    if n_groups > 1 or n_words <= MANY_WORDS:
        return sparse.csr_array(components)
    words = np.argpartition(components, -KEPT_WORDS, axis=1)[:, -KEPT_WORDS:]
    words.sort(axis=1)
    values = np.take_along_axis(components, words, axis=1)
    others = np.maximum(1.0 - values.sum(axis=1, keepdims=True), 0.0)
    words = np.hstack([words, np.full((n_components, 1), n_words)])
    indptr = np.arange(n_components + 1) * (KEPT_WORDS + 1)
    parts = (np.hstack([values, others]).ravel(), words.ravel(), indptr)
    return sparse.csr_array(parts, shape=(n_components, n_words + 1))


def similarity(a: sparse.csr_array, b: sparse.csr_array, layout: Layout) -> float:
    """Mean similarity of the components of two fits, matched one to one, from 0 to 1.

    It is 1 minus the Hellinger distance; see ``evaluation.matching``.
    """
    if layout.n_groups > 1:
        return match_components(a.toarray(), b.toarray(), layout).similarity
    used = np.unique(np.concatenate([a.indices, b.indices]))
    return match_components(a[:, used].toarray(), b[:, used].toarray()).similarity


def mean_coherence(fit: Fit, corpus: Corpus) -> float:
    """Mean NPMI of the first ten words of each component, by documents of the corpus."""
    return float(coherence(corpus, first_words(fit)).mean())
