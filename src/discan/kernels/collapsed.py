# SPDX-License-Identifier: BSD-3-Clause
"""Exact collapsed Gibbs sampling: scores and loadings are integrated out."""

import numpy as np

from .compile import REORDER, kernel, part
from .gibbs import log_factor
from .random import START, SWEEP, open_stream, uniform
from .simd.memory import fill

__all__ = ["assign", "count_tokens", "document_counts", "sweep"]

_CHUNK = 16  # components that are summed and searched together


@kernel(fastmath=REORDER)
def sweep(
    indptr, words, counts, levels, shape, rate, present,
    group_of_word, gamma, gamma_totals, totals, loading_counts, assignments,
    out_log_factor, seed, cycle, first_document,
):  # fmt: skip
    """Redraw the component of every token of a block given all others: the exact sweep.

    Same as twins.collapsed.sweep (theory 4.6). Token (i, j) gets k with probability proportional to

        (c_k + shape_k) / rate_k * [present_k if c_k = 0] * (gamma_j + n_jk) / (Gamma_g + n_gk),

    where all counts are up to date and without the token.
    """
    n_components = loading_counts.shape[1]
    n_chunks = (n_components + _CHUNK - 1) // _CHUNK
    component_counts = np.empty(n_components, dtype=np.int64)
    document_weight = np.empty(n_components)
    weights = np.empty(n_components)
    ends = np.empty(n_chunks)
    inverse = np.empty(totals.shape)
    for g in range(totals.shape[0]):
        for k in range(n_components):
            inverse[g, k] = 1.0 / (gamma_totals[g] + totals[g, k])
    stream = np.empty(2, dtype=np.uint64)
    token = 0
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        open_stream(stream, seed, SWEEP, cycle, first_document + i)
        start = token
        fill(component_counts, np.int64(0))
        for t in range(indptr[i], indptr[i + 1]):
            for _ in range(counts[t]):
                component_counts[assignments[token]] += 1
                token += 1
        for k in range(n_components):
            document_weight[k] = _document_weight(
                component_counts[k], shape[level, k], rate[level, k], present[level, k]
            )
        token = start
        for t in range(indptr[i], indptr[i + 1]):
            j = words[t]
            g = group_of_word[j]
            row, group_inverse, prior = loading_counts[j], inverse[g], gamma[j]
            for _ in range(counts[t]):
                old = np.int64(assignments[token])
                component_counts[old] -= 1
                document_weight[old] = _document_weight(
                    component_counts[old], shape[level, old], rate[level, old], present[level, old]
                )
                # without the token itself
                row[old] -= 1
                totals[g, old] -= 1
                inverse[g, old] = 1.0 / (gamma_totals[g] + totals[g, old])
                for k in range(n_components):
                    weights[k] = document_weight[k] * (prior + row[k]) * group_inverse[k]
                total = 0.0
                for chunk in range(n_chunks):
                    low = chunk * _CHUNK
                    part = 0.0
                    for k in range(low, min(low + _CHUNK, n_components)):
                        part += weights[k]
                    total += part
                    ends[chunk] = total
                left = uniform(stream) * total
                chunk = 0
                while chunk < n_chunks - 1 and left >= ends[chunk]:
                    chunk += 1
                if chunk > 0:
                    left -= ends[chunk - 1]
                new = chunk * _CHUNK
                high = min(new + _CHUNK, n_components) - 1
                left -= weights[new]
                while left >= 0.0 and new < high:
                    new += 1
                    left -= weights[new]
                component_counts[new] += 1
                document_weight[new] = _document_weight(
                    component_counts[new], shape[level, new], rate[level, new], present[level, new]
                )
                row[new] += 1
                totals[g, new] += 1
                inverse[g, new] = 1.0 / (gamma_totals[g] + totals[g, new])
                assignments[token] = new
                token += 1
        out_log_factor[i] = log_factor(component_counts, shape[level], rate[level], present[level])


@part()
def _document_weight(count, shape, rate, present):
    weight = (count + shape) / rate
    return weight * present if count == 0 else weight


def _weights_and_stream(indptr, words, counts, loadings, *others):
    return np.empty(loadings.shape[1]), np.empty(2, dtype=np.uint64)


@kernel(_weights_and_stream)
def assign(
    indptr, words, counts, loadings, scores, assignments, seed, first_document, weights, stream
):
    """Draw a component for every token by given loadings and scores, to start a chain.

    Same as twins.collapsed.assign.
    """
    n_components = loadings.shape[1]
    token = 0
    for i in range(indptr.shape[0] - 1):
        open_stream(stream, seed, START, np.int64(0), first_document + i)
        for t in range(indptr[i], indptr[i + 1]):
            row = loadings[words[t]]
            total = 0.0
            for k in range(n_components):
                weights[k] = row[k] * scores[i, k]
                total += weights[k]
            for _ in range(counts[t]):
                left = uniform(stream)
                if total > 0.0:
                    left *= total
                    k = 0
                    left -= weights[0]
                    while left >= 0.0 and k < n_components - 1:
                        k += 1
                        left -= weights[k]
                else:  # the word is impossible under every component: draw any
                    k = min(int(left * n_components), n_components - 1)
                assignments[token] = k
                token += 1


@kernel()
def count_tokens(indptr, words, counts, assignments, out_loading_counts):
    """Count the tokens of each word and component. Same as twins.collapsed.count_tokens."""
    token = 0
    for t in range(indptr[0], indptr[-1]):
        for _ in range(counts[t]):
            out_loading_counts[words[t], assignments[token]] += 1
            token += 1


@kernel()
def document_counts(indptr, counts, assignments, out_component_counts):
    """Count the tokens of each document and component.

    Same as twins.collapsed.document_counts.
    """
    token = 0
    for i in range(indptr.shape[0] - 1):
        for t in range(indptr[i], indptr[i + 1]):
            for _ in range(counts[t]):
                out_component_counts[i, assignments[token]] += 1
                token += 1
