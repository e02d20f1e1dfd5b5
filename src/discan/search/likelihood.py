# SPDX-License-Identifier: BSD-3-Clause
"""Probability of a query given a document, averaged over the posterior of its proportions.

Token t of the query has probability ``x_t + sum_k y_tk m_k`` in a document with proportions m. Here
``x_t`` is the part of the document's own words and ``y_t`` the loadings, both weighted. The
posterior of m is Dirichlet with mean mu and weight A. For a set B of tokens, write
``k(B) = sum_k mu_k prod_{t in B} y_tk``. Then (theory 7)

    N(S) = sum over B in S with the first of S:  (|B| - 1)! k(B) A^(1 - |B|) N(S - B),   N({}) = 1
    E[prod_{t in S} y_t m] = N(S) / prod_{i < |S|} (1 + i / A)
    p(query | document) = sum_S  E[prod_{t in S} y_t m]  prod_{t not in S} x_t.

The sums have 2^T and 3^T terms, so longer queries are taken token by token: the mean and the weight
of the Dirichlet are brought up to date after each token. That is exact for two tokens.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from discan.kernels.queries import tokens_in_turn
from discan.search.shares import Shares
from discan.typing import Array

__all__ = ["EXACT", "exact", "log_probability", "one_by_one"]

EXACT = 5
"""Tokens of a query whose probability is summed exactly."""


def log_probability(
    shares: Shares, inverse_weight: Array, loadings: Array, own: Array, rows: slice
) -> Array:
    """Log probability of a query given each of some documents, (n,).

    Parameters
    ----------
    shares : Shares
    inverse_weight : (I,) array
        1 / A; 0 takes the shares as known exactly.
    loadings : (T, K) array
        ``y``; its type, single or double precision, is that of the work.
    own : (n, T) array
        ``x``.
    rows : slice
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.maximum(loadings.max(axis=1), own.max(axis=0, initial=0.0))
        scale[~(scale > 0)] = 1.0
        # scaled, so that products stay within the range of single precision
        scaled, own = (loadings.T / scale).astype(loadings.dtype), own / scale
        if len(loadings) <= EXACT:
            found = np.log(exact(shares, inverse_weight, scaled, own, rows))
        else:
            found = one_by_one(shares, inverse_weight, scaled, own, rows)
        return np.asarray(found + np.log(scale.astype(np.float64)).sum())


def exact(shares: Shares, inverse_weight: Array, loadings: Array, own: Array, rows: slice) -> Array:
    """Probability by the sum over sets of tokens, (n,)."""
    n_tokens = loadings.shape[1]
    n_sets = 2**n_tokens
    products = np.ones((len(loadings), n_sets), dtype=loadings.dtype)
    for chosen in range(1, n_sets):
        first = (chosen & -chosen).bit_length() - 1
        products[:, chosen] = products[:, chosen & (chosen - 1)] * loadings[:, first]
    inverse = inverse_weight[rows].astype(np.float64)
    means = shares.times(rows, products[:, 1:]).T.astype(np.float64)
    powers = inverse ** np.arange(n_tokens)[:, None]
    rising = np.cumprod(1.0 + inverse * np.arange(n_tokens)[:, None], axis=0)
    moments = [np.ones(len(inverse))]
    result = np.zeros(len(inverse))
    mixes = bool(own.any())
    for chosen in range(n_sets):
        if chosen:
            moments.append(_moment(chosen, means, powers, moments))
        if not mixes and chosen < n_sets - 1:
            continue  # only the set of all tokens counts
        size = chosen.bit_count()
        term = moments[chosen] / rising[size - 1] if size else moments[chosen]
        for t in range(n_tokens):
            if not chosen >> t & 1:
                term = term * own[:, t]
        result += term
    return result


def one_by_one(
    shares: Shares, inverse_weight: Array, loadings: Array, own: Array, rows: slice
) -> Array:
    """Log probability token by token, (n,)."""
    found = np.empty(len(own))
    tokens_in_turn(
        *shares.parts(rows, loadings.dtype), inverse_weight[rows].astype(np.float64),
        np.ascontiguousarray(loadings.T), np.ascontiguousarray(own, dtype=np.float64), found,
    )  # fmt: skip
    return found


def _moment(chosen: int, means: Array, powers: Array, moments: list[Array]) -> Array:
    """N(S) of a set of tokens, given those of its subsets."""
    first = chosen & -chosen
    others = chosen ^ first
    result = np.zeros(means.shape[1])
    part = others
    while True:  # all subsets of the others
        block = part | first
        size = block.bit_count()
        term = means[block - 1] * moments[chosen ^ block]
        if size > 1:
            term = term * powers[size - 1] * float(factorial(size - 1))
        result += term
        if not part:
            return result
        part = (part - 1) & others
