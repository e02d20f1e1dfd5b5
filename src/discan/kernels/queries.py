# SPDX-License-Identifier: BSD-3-Clause
"""Probability of a query given many documents, token by token, in one pass over their shares."""

import math

import numpy as np

from .compile import REORDER, kernel, part
from .simd.memory import work_rows

__all__ = ["tokens_in_turn"]

_TAME = 1e-150  # a product of two numbers above this cannot underflow


def _row(*arguments):
    loadings = arguments[5]
    return (work_rows(1, loadings.shape[1], loadings.dtype),)


@kernel(_row)
def tokens_in_turn(
    values, components, rest, background, inverse_weight, loadings, own, out_logs, rows
):
    """Log probability of the tokens of a query in each document, (I,).

    Same as twins.queries.tokens_in_turn. Token t has probability x_t + sum_k y_tk m_k; ``own``
    (I, T) has x and ``loadings`` (T, K) has y. The proportions m are Dirichlet with mean mu and
    weight A, ``inverse_weight`` being 1 / A (I,). After each token,

        r = (sum_k y_k mu_k) / (x + sum_k y_k mu_k),   s = r / (1 + A),
        mu_k <- mu_k (1 - s + s y_k / sum_k y_k mu_k),   A <- A + r.

    The first mean of document i is row i of ``values``; or, if ``components`` (I, L) is not empty,
    ``rest`` times ``background`` (K,), and row i of ``values`` (I, L) at these components. Work is
    in the precision of ``loadings``; probabilities and weights are in double precision.
    """
    n_tokens, n_components = loadings.shape
    real = loadings.dtype.type
    mean = rows[1, :n_components]
    listed = components.shape[1]
    for i in range(out_logs.shape[0]):
        if listed > 0:
            for k in range(n_components):
                mean[k] = rest[i] * background[k]
            for n in range(listed):
                mean[components[i, n]] += values[i, n]
        else:
            for k in range(n_components):
                mean[k] = values[i, k]
        inverse = inverse_weight[i]
        logs, product = 0.0, 1.0  # of single tokens: one logarithm for many
        by_components = float(_first(mean, loadings))
        for t in range(n_tokens):
            chance = own[i, t] + by_components
            if not chance > 0.0:
                logs = -np.inf
                break
            if not _TAME < chance < 1.0 / _TAME:
                logs += math.log(chance)
            else:
                product *= chance
                if not _TAME < product < 1.0 / _TAME:
                    logs += math.log(product)
                    product = 1.0
            drawn = by_components / chance
            step = drawn * inverse / (1.0 + inverse)
            change = step / by_components if by_components > 0.0 else 0.0
            if t + 1 < n_tokens:
                by_components = float(_next(mean, loadings, t, real(change), real(1.0 - step)))
            inverse = inverse / (1.0 + inverse * drawn)
        out_logs[i] = logs + math.log(product)


@part(fastmath=REORDER)
def _first(mean, loadings):
    """Return the probability of the first token."""
    total = loadings.dtype.type(0.0)
    for k in range(mean.shape[0]):
        total += mean[k] * loadings[0, k]
    return total


@part(fastmath=REORDER)
def _next(mean, loadings, t, change, kept):
    """Bring the mean up to date after token t, and return the probability of the next one."""
    total = loadings.dtype.type(0.0)
    for k in range(mean.shape[0]):
        mean[k] *= change * loadings[t, k] + kept
        total += mean[k] * loadings[t + 1, k]
    return total
