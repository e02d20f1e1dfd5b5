# SPDX-License-Identifier: BSD-3-Clause
"""Exact answers for short documents: sums over all assignments of tokens to components."""

import math

import numpy as np

from .compile import kernel, part
from .gibbs import log_rising

__all__ = ["enumerate_counts"]


@kernel()
def enumerate_counts(
    indptr, words, counts, levels, shape, rate, present, loadings,
    out_log_probability, out_component_counts, out_empty,
):  # fmt: skip
    """Exact log probability, E[c] and P(c = 0) of each document, loadings fixed.

    Same as twins.enumeration.enumerate_counts. The weight of component counts c is F(c) times the
    sum of prod_t theta_{x_t, z_t} over the assignments z that give these counts, built up token by
    token in an array of (L + 1)^(K - 1) elements: the last count follows from the others. The log
    probability is up to the model's constant. A word that no component has makes it -inf, and is
    left out of the other outputs.
    """
    n_components = loadings.shape[1]
    last = n_components - 1
    c = np.empty(n_components, dtype=np.int64)
    strides = np.zeros(n_components, dtype=np.int64)  # a token of the last one moves no count
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        n_tokens = 0
        for t in range(indptr[i], indptr[i + 1]):
            n_tokens += counts[t]
        size = 1
        for k in range(last):
            strides[k] = size
            size *= n_tokens + 1
        log_terms = np.empty((n_components, n_tokens + 1))  # of log F
        for k in range(n_components):
            a, log_rate = shape[level, k], math.log(rate[level, k])
            for n in range(n_tokens + 1):
                log_terms[k, n] = math.lgamma(a) + log_rising(a, n) - (n + a) * log_rate
            log_terms[k, 0] -= math.log(present[level, k])
        weight, grown = np.zeros(size), np.zeros(size)
        weight[0] = 1.0
        log_scale = 0.0
        n_possible = 0
        for t in range(indptr[i], indptr[i + 1]):
            row = loadings[words[t]]
            top = row.max()
            if top <= 0.0:
                continue
            log_scale += counts[t] * math.log(top)
            n_possible += counts[t]
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
                _decode(s, n_tokens + 1, n_possible, c)
                weight[s] = math.log(weight[s])
                for k in range(n_components):
                    weight[s] += log_terms[k, c[k]]
                best = max(best, weight[s])
            else:
                weight[s] = -np.inf
        total = 0.0
        for s in range(size):
            if weight[s] == -np.inf:
                continue
            chance = math.exp(weight[s] - best)
            total += chance
            _decode(s, n_tokens + 1, n_possible, c)
            for k in range(n_components):
                out_component_counts[i, k] += chance * c[k]
                if c[k] == 0:
                    out_empty[i, k] += chance
        out_log_probability[i] = best + math.log(total) + log_scale
        if n_possible < n_tokens:
            out_log_probability[i] = -np.inf
        for k in range(n_components):
            out_component_counts[i, k] /= total
            out_empty[i, k] /= total


@part()
def _decode(state, radix, n_tokens, out_c):
    """Set all counts; the last one is what the others leave of the tokens."""
    last = out_c.shape[0] - 1
    out_c[last] = n_tokens
    for k in range(last):
        out_c[k] = state % radix
        state //= radix
        out_c[last] -= out_c[k]
