# SPDX-License-Identifier: BSD-3-Clause
"""Evaluate components of any tool in the same way: held-out perplexity by document completion.

Each token of a held-out document belongs to an observed or a scored half. The proportions come from
the observed half by MAP steps in the log basis, m_k <- (alpha_k + sum_j w_j R_jk) / (A + L), with A
the sum of alpha and the components fixed; then the scored half is evaluated. The fold-in may favour
components fitted by MAP: check a small difference with ``estimator.score`` of another algorithm.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from scipy import sparse

__all__ = ["arrays", "divergence", "halves", "perplexity", "smoothed", "unigram", "vector"]

FLOOR = 1e-9  # share of a uniform distribution mixed in, so that no word is impossible


def perplexity(components: Any, counts: Any, alpha: Any, seed: int = 0, steps: int = 60) -> float:
    """Return the perplexity per token of held-out documents.

    Parameters
    ----------
    components : (K, J) array
        Non-negative, on any scale.
    counts : (I, J) sparse matrix
        Held-out documents, whole counts.
    alpha : float or (K,) array
        Dirichlet parameter of the fold-in.
    """
    observed, scored = halves(counts, seed)
    loadings, alphas = smoothed(components, counts), vector(alpha, components)
    total = _log_likelihood(loadings, *arrays(observed), *arrays(scored), alphas, steps)
    return float(np.exp(-total / scored.sum()))


def smoothed(components: Any, counts: Any) -> Any:
    """Check components (K, J) and return distributions over words in which none is 0, (J, K)."""
    rows = np.asarray(components, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != counts.shape[1]:
        raise ValueError(f"components have shape {rows.shape}; expected (K, {counts.shape[1]})")
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise ValueError("components must be finite and at least 0")
    totals = rows.sum(axis=1, keepdims=True)
    rows = np.where(totals > 0, rows / np.where(totals > 0, totals, 1.0), 1.0 / rows.shape[1])
    return np.ascontiguousarray(((1.0 - FLOOR) * rows + FLOOR / rows.shape[1]).T)


def vector(alpha: Any, components: Any) -> Any:
    """Return alpha as one number per component, (K,)."""
    return np.array(np.broadcast_to(np.asarray(alpha, dtype=np.float64), len(components)))


def unigram(train: Any, counts: Any) -> float:
    """Return the perplexity of one component, the smoothed word frequencies of ``train``."""
    return perplexity(np.asarray(train.sum(axis=0)).reshape(1, -1) + 0.01, counts, alpha=1.0)


def divergence(scores: Any, components: Any, counts: Any) -> float:
    """Return the Kullback-Leibler divergence per token of counts (I, J) from scores x components.

    It is the sum of x log(x / y) - x + y over all cells, where y is the product.
    """
    rows = np.asarray(scores, dtype=np.float64)
    columns = np.ascontiguousarray(np.asarray(components, dtype=np.float64).T)
    total = _divergence(rows, columns, *arrays(sparse.csr_array(counts)))
    total += float(rows.sum(axis=0) @ columns.sum(axis=0)) - counts.sum()
    return float(total / counts.sum())


def halves(counts: Any, seed: int) -> tuple[Any, Any]:
    """Split the tokens of each document at random into an observed and a scored half."""
    whole = sparse.csr_array(counts).astype(np.int64)
    kept = np.random.default_rng(seed).binomial(whole.data, 0.5)
    observed, scored = whole.copy(), whole.copy()
    observed.data, scored.data = kept, whole.data - kept
    observed.eliminate_zeros()
    scored.eliminate_zeros()
    return observed, scored


def arrays(matrix: Any) -> tuple[Any, Any, Any]:
    """Return indptr, indices and data of a sparse matrix, for a kernel."""
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(float),
    )


@numba.njit(fastmath=True, cache=True)
def _log_likelihood(loadings, optr, owords, ocounts, sptr, swords, scounts, alpha, steps):  # type: ignore[no-untyped-def]
    n_components = loadings.shape[1]
    total, gained, concentration = 0.0, np.empty(n_components), alpha.sum()
    for i in range(optr.shape[0] - 1):
        length = ocounts[optr[i] : optr[i + 1]].sum()
        proportions = np.full(n_components, 1.0 / n_components)
        for _ in range(steps):
            gained[:] = 0.0
            for t in range(optr[i], optr[i + 1]):
                row = loadings[owords[t]]
                share = ocounts[t] / np.dot(proportions, row)
                for k in range(n_components):
                    gained[k] += share * row[k]
            for k in range(n_components):
                proportions[k] = (alpha[k] + proportions[k] * gained[k]) / (concentration + length)
        for t in range(sptr[i], sptr[i + 1]):
            total += scounts[t] * np.log(np.dot(proportions, loadings[swords[t]]))
    return total


@numba.njit(fastmath=True, cache=True)
def _divergence(scores, loadings, indptr, words, counts):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(indptr.shape[0] - 1):
        for t in range(indptr[i], indptr[i + 1]):
            product = np.dot(scores[i], loadings[words[t]])
            total += counts[t] * np.log(counts[t] / max(product, 1e-300))
    return total
