# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the draws of two levels."""

import numpy as np
from scipy.special import gammaln

from .documents import each_document
from .evidence import content
from .random import FOLD_IN, PARENTS, TABLES, Stream

__all__ = ["draw_parents", "fold_in_levels", "mix_parents", "split_tables"]

_LEAST = 1e-150


def draw_parents(parent_counts, exposures, alpha, beta, seed, cycle, first_document):
    """Draw h_r ~ Gamma(alpha_r + y_r, beta_r + e) of every document, (n, R)."""
    streams = (Stream(seed, PARENTS, cycle, first_document + i) for i in range(len(exposures)))
    rows = zip(streams, parent_counts, exposures, strict=True)
    return np.array([_draw_scores(stream, y, e, alpha, beta) for stream, y, e in rows])


def mix_parents(parent_scores, parents):
    """Shapes s_k = sum_r Phi_kr h_r of every document, (n, K); ``parents`` is (R, K)."""
    return parent_scores @ parents


def split_tables(
    component_counts, shape, parents, parent_scores, alpha, seed, cycle, first_document
):
    """Draw tables t_k ~ CRT(c_k, s_k), and split them over the parents by Phi_kr h_r.

    Returns parent counts (n, R), loading counts (K, R), tables (R,), exposures (n,), log factor
    (n,).
    """
    n_documents, n_parents = parent_scores.shape
    parent_counts = np.zeros((n_documents, n_parents), dtype=np.int64)
    loading_counts = np.zeros(parents.T.shape, dtype=np.int64)
    tables, exposures = np.zeros(n_parents, dtype=np.int64), np.zeros(n_documents)
    for i, c in enumerate(component_counts):
        stream = Stream(seed, TABLES, cycle, first_document + i)
        for k, r in _tables(stream, c, shape[i], parents, parent_scores[i]):
            parent_counts[i, r] += 1
            loading_counts[k, r] += 1
        tables += [stream.tables(*pair) for pair in zip(parent_counts[i], alpha, strict=True)]
        if c.sum() > 0:
            exposures[i] = -stream.log_beta(np.cumsum(shape[i])[-1], float(c.sum()))
    log_factor = (gammaln(component_counts + shape) - gammaln(shape)).sum(axis=1)
    return parent_counts, loading_counts, tables, exposures, log_factor


def fold_in_levels(
    indptr, words, counts, rate, exposures, drawn, loadings, parents, alpha, beta,
    burn_in, n_draws, seed,
):  # fmt: skip
    """Posterior means of c (n, K), scores (n, K) and parents' scores (n, R) of new documents."""
    n_components = loadings.shape[1]
    means = np.zeros((len(indptr) - 1, n_components))
    scores, parent_scores = np.zeros_like(means), np.zeros((len(means), len(parents)))
    for i, w, n in each_document(indptr, words, counts):
        stream = Stream(seed, FOLD_IN, 0, content(w, n))
        possible = (loadings[w] > 0).any(axis=1)
        rows = loadings[np.repeat(w[possible], n[possible])]
        h = alpha / beta
        shape, c = h @ parents, np.zeros(n_components, dtype=np.int64)
        z = np.zeros(len(rows), dtype=np.int64)
        for sweep in range(-1, burn_in + n_draws):
            expected = np.zeros(n_components)
            for t, row in enumerate(rows):
                c[z[t]] -= sweep >= 0
                weights = (c + shape) * row
                expected += weights / weights.sum()
                z[t] = stream.choose(weights, weights.sum())
                c[z[t]] += 1
            if sweep < 0:
                continue
            y = np.bincount(
                [r for _, r in _tables(stream, c, shape, parents, h)], minlength=len(parents)
            )
            exposure = exposures[i]
            if drawn:
                exposure = -stream.log_beta(shape.sum(), float(len(rows))) if len(rows) else 0.0
            if sweep >= burn_in:
                means[i] += expected / n_draws
                divisor = len(rows) + shape.sum() if drawn else rate[i]
                scores[i] += (c + shape) / divisor / n_draws
                parent_scores[i] += (alpha + y) / (beta + exposure) / n_draws
            h = _draw_scores(stream, y, exposure, alpha, beta)
            shape = h @ parents
    return means, scores, parent_scores


def _draw_scores(stream, counts, exposure, alpha, beta):
    return np.maximum(stream.gammas(alpha + counts) / (beta + exposure), _LEAST)


def _tables(stream, c, shape, parents, parent_scores):
    """Component and parent of every table of a document."""
    found = []
    for k in np.flatnonzero(c):
        weights = parents[:, k] * parent_scores
        total = np.cumsum(weights)[-1]
        found += [(k, stream.choose(weights, total)) for _ in range(stream.tables(c[k], shape[k]))]
    return found
