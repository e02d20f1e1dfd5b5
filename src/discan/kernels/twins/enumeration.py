# SPDX-License-Identifier: BSD-3-Clause
"""Twin of the exact sums over all assignments."""

import itertools

import numpy as np

from .documents import each_document
from .gibbs import log_factor

__all__ = ["enumerate_counts"]


def enumerate_counts(indptr, words, counts, levels, shape, rate, present, loadings):
    """Exact log p (I,), E[c] (I, K) and P(c = 0) (I, K) by summing over all assignments."""
    n_documents, n_components = len(indptr) - 1, loadings.shape[1]
    log_probability = np.zeros(n_documents)
    means, empty = np.zeros((2, n_documents, n_components))
    for i, w, n in each_document(indptr, words, counts):
        known = loadings[w].any(axis=1)
        tokens = np.repeat(w[known], n[known].astype(int))
        ways = np.array(list(itertools.product(range(n_components), repeat=len(tokens))), dtype=int)
        c = (ways[:, :, None] == np.arange(n_components)).sum(axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(loadings[tokens, ways]).sum(axis=1)
        logs = logs + log_factor(c, shape[levels[i]], rate[levels[i]], present[levels[i]])
        log_probability[i] = np.logaddexp.reduce(logs) if known.all() else -np.inf
        chances = np.exp(logs - np.logaddexp.reduce(logs))
        means[i], empty[i] = chances @ c, chances @ (c == 0)
    return log_probability, means, empty
