# SPDX-License-Identifier: BSD-3-Clause
"""Exact answers for short documents: sums over all assignments of tokens to components."""

import math

import numpy as np

from .compile import kernel
from .gibbs import log_factor

__all__ = ["enumerate_counts"]


@kernel()
def enumerate_counts(
    indptr, words, counts, levels, shape, rate, present, loadings,
    out_log_probability, out_component_counts, out_empty,
):  # fmt: skip
    """Exact log probability, E[c] and P(c = 0) of each document, loadings fixed.

    Same as twins.enumeration.enumerate_counts. The weight of component counts c is F(c) times the
    sum of prod_t theta_{x_t, z_t} over the assignments z that give these counts, built up token by
    token in an array of (L + 1)^K elements. The log probability is up to the model's constant. A
    word that no component has makes it -inf, and is left out of the other outputs.
    """
    n_components = loadings.shape[1]
    c = np.empty(n_components, dtype=np.int64)
    strides = np.empty(n_components, dtype=np.int64)
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        n_tokens = 0
        for t in range(indptr[i], indptr[i + 1]):
            n_tokens += counts[t]
        size = 1
        for k in range(n_components):
            strides[k] = size
            size *= n_tokens + 1
        weight, grown = np.zeros(size), np.zeros(size)
        weight[0] = 1.0
        log_scale = 0.0
        possible = True
        for t in range(indptr[i], indptr[i + 1]):
            row = loadings[words[t]]
            top = row.max()
            if top <= 0.0:
                possible = False
                continue
            log_scale += counts[t] * math.log(top)
            for _ in range(counts[t]):
                grown[:] = 0.0
                for s in range(size):
                    if weight[s] > 0.0:
                        for k in range(n_components):
                            if row[k] > 0.0:
                                grown[s + strides[k]] += weight[s] * row[k] / top
                weight, grown = grown, weight
        best = -np.inf
        for s in range(size):
            if weight[s] > 0.0:
                _decode(s, n_tokens + 1, c)
                weight[s] = math.log(weight[s])
                weight[s] += log_factor(c, shape[level], rate[level], present[level])
                best = max(best, weight[s])
            else:
                weight[s] = -np.inf
        total = 0.0
        for s in range(size):
            if weight[s] == -np.inf:
                continue
            chance = math.exp(weight[s] - best)
            total += chance
            _decode(s, n_tokens + 1, c)
            for k in range(n_components):
                out_component_counts[i, k] += chance * c[k]
                if c[k] == 0:
                    out_empty[i, k] += chance
        out_log_probability[i] = best + math.log(total) + log_scale if possible else -np.inf
        for k in range(n_components):
            out_component_counts[i, k] /= total
            out_empty[i, k] /= total


@kernel()
def _decode(state, radix, out_c):
    for k in range(out_c.shape[0]):
        out_c[k] = state % radix
        state //= radix
