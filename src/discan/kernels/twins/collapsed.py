# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the exact collapsed sampler."""

import numpy as np

from .documents import each_token
from .gibbs import log_factor
from .random import START, SWEEP, Stream

__all__ = ["assign", "count_tokens", "document_counts", "document_weight", "sweep"]


def sweep(
    indptr, words, counts, levels, shape, rate, present,
    group_of_word, gamma, gamma_totals, totals, loading_counts, assignments,
    seed, cycle, first_document,
):  # fmt: skip
    """Redraw the component of every token given all others (theory 4.6).

    Returns loading counts (J, K), totals (G, K), assignments and the log factor (I,).
    """
    n, m, z = loading_counts.copy(), totals.copy(), assignments.copy()
    c = document_counts(indptr, counts, assignments, loading_counts.shape[1])
    streams = [Stream(seed, SWEEP, cycle, first_document + i) for i in range(len(c))]
    for token, (i, j) in enumerate(zip(*each_token(indptr, words, counts=counts), strict=True)):
        g, level, old = group_of_word[j], levels[i], z[token]
        c[i, old] -= 1
        n[j, old] -= 1
        m[g, old] -= 1
        weights = document_weight(c[i], shape[level], rate[level], present[level])
        weights *= (gamma[j] + n[j]) / (gamma_totals[g] + m[g])
        new = z[token] = streams[i].choose(weights, weights.sum())
        c[i, new] += 1
        n[j, new] += 1
        m[g, new] += 1
    return n, m, z, log_factor(c, shape[levels], rate[levels], present[levels])


def assign(indptr, words, counts, loadings, scores, seed, first_document):
    """Draw a component for every token by given loadings and scores."""
    streams = [Stream(seed, START, 0, first_document + i) for i in range(len(indptr) - 1)]
    result = []
    for i, j in zip(*each_token(indptr, words, counts=counts), strict=True):
        weights = loadings[j] * scores[i]
        weights = weights if weights.sum() > 0 else np.ones_like(weights)
        result.append(streams[i].choose(weights, weights.sum()))
    return np.array(result, dtype=np.int64)


def count_tokens(indptr, words, counts, assignments, n_words, n_components):
    """Count the tokens of each word and component, (J, K)."""
    _, tokens = each_token(indptr, words, counts=counts)
    result = np.zeros((n_words, n_components), dtype=np.int64)
    np.add.at(result, (tokens, assignments), 1)
    return result


def document_counts(indptr, counts, assignments, n_components):
    """Count the tokens of each document and component, (I, K)."""
    (documents,) = each_token(indptr, counts=counts)
    result = np.zeros((len(indptr) - 1, n_components), dtype=np.int64)
    np.add.at(result, (documents, assignments), 1)
    return result


def document_weight(c, shape, rate, present):
    """Weight of one more token on each component, scores integrated out."""
    return (c + shape) / rate * np.where(c == 0, present, 1.0)
