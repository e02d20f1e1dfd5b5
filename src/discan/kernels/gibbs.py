# SPDX-License-Identifier: BSD-3-Clause
"""Direct Gibbs sampling: draw the scores, split every count, draw the loadings."""

import math

import numpy as np

from .compile import kernel
from .random import (
    AUGMENT,
    LOADINGS,
    START,
    SWEEP,
    log_gamma_draw,
    multinomial,
    open_stream,
    tables,
    uniform,
)
from .special import log_rising

__all__ = ["augment_loadings", "augment_scores", "draw_loadings", "log_loadings", "split", "sweep"]

# Counts up to this are split one token at a time, larger ones by conditional binomials.
_FEW = 16
_TINY = 1e-300


@kernel()
def sweep(
    indptr, words, counts, levels, shape, rate, present, loadings, component_counts, scores,
    out_loading_counts, out_log_fit, out_log_factor, seed, cycle, first_document,
):  # fmt: skip
    """Draw scores given counts, then the split of each count given scores, for a block.

    Same as reference.gibbs_sweep. A component without words is present with probability
    present_k,
    else its score is Gamma(c_k + shape_k, rate_k). ``out_log_fit`` gets sum_j w_j log sum_k
    theta_jk l_k, ``out_log_factor`` the document's log F(c) up to the model's constant.
    """
    n_components = loadings.shape[1]
    log_score = np.empty(n_components)
    relative = np.empty(n_components)
    weights = np.empty(n_components)
    draws = np.empty(n_components, dtype=np.int64)
    stream = np.empty(2, dtype=np.uint64)
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        open_stream(stream, seed, SWEEP, cycle, first_document + i)
        top = -np.inf
        for k in range(n_components):
            c = component_counts[i, k]
            if c == 0 and present[level, k] < 1.0 and uniform(stream) >= present[level, k]:
                log_score[k] = -np.inf
            else:
                log_score[k] = log_gamma_draw(stream, c + shape[level, k])
                log_score[k] -= math.log(rate[level, k])
            top = max(top, log_score[k])
        for k in range(n_components):
            scores[i, k] = math.exp(log_score[k])
            relative[k] = math.exp(log_score[k] - top) if top > -np.inf else 0.0
            component_counts[i, k] = 0
        log_fit = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            total, shift = _weigh(loadings[words[t]], relative, log_score, top, weights)
            log_fit += counts[t] * (math.log(total) + shift)
            _split_count(stream, counts[t], weights, total, draws)
            for k in range(n_components):
                if draws[k] > 0:
                    component_counts[i, k] += draws[k]
                    out_loading_counts[words[t], k] += draws[k]
        out_log_fit[i] = log_fit
        out_log_factor[i] = log_factor(
            component_counts[i], shape[level], rate[level], present[level]
        )


@kernel()
def split(
    indptr, words, counts, loadings, scores, component_counts,
    out_loading_counts, seed, first_document,
):  # fmt: skip
    """Split every count by given loadings and scores: where a chain starts.

    Same as reference.gibbs_split.
    """
    n_components = loadings.shape[1]
    weights = np.empty(n_components)
    log_score = np.empty(n_components)
    draws = np.empty(n_components, dtype=np.int64)
    stream = np.empty(2, dtype=np.uint64)
    for i in range(indptr.shape[0] - 1):
        open_stream(stream, seed, START, 0, first_document + i)
        for k in range(n_components):
            log_score[k] = math.log(max(scores[i, k], _TINY))
            component_counts[i, k] = 0
        for t in range(indptr[i], indptr[i + 1]):
            total, _ = _weigh(loadings[words[t]], scores[i], log_score, 0.0, weights)
            _split_count(stream, counts[t], weights, total, draws)
            for k in range(n_components):
                component_counts[i, k] += draws[k]
                out_loading_counts[words[t], k] += draws[k]


@kernel()
def _weigh(row, scores, log_score, top, weights):
    """Weights of one word over the components; in logs where the product underflows.

    Returns their sum and the logarithm of the factor that was taken out of them.
    """
    total = 0.0
    for k in range(row.shape[0]):
        weights[k] = row[k] * scores[k]
        total += weights[k]
    if total > _TINY:
        return total, top
    best = -np.inf
    for k in range(row.shape[0]):
        weights[k] = math.log(max(row[k], _TINY)) + log_score[k]
        best = max(best, weights[k])
    total = 0.0
    for k in range(row.shape[0]):
        weights[k] = math.exp(weights[k] - best)
        total += weights[k]
    return total, best


@kernel()
def _split_count(stream, count, weights, total, out_draws):
    if count > _FEW:
        multinomial(stream, np.int64(count), weights, total, out_draws)
        return
    n_components = weights.shape[0]
    for k in range(n_components):
        out_draws[k] = 0
    for _ in range(count):
        left = uniform(stream) * total
        k = 0
        while k < n_components - 1:
            left -= weights[k]
            if left < 0.0:
                break
            k += 1
        while weights[k] <= 0.0 and k > 0:  # rounding walked past the last possible component
            k -= 1
        out_draws[k] += 1


@kernel()
def log_factor(component_counts, shape, rate, present):
    """Log F(c) of one document up to the model's constant.

    sum_k log Gamma(c_k + shape_k) - (c_k + shape_k) log rate_k - 1(c_k = 0) log present_k.
    """
    result = 0.0
    for k in range(component_counts.shape[0]):
        c = component_counts[k]
        result += math.lgamma(shape[k]) + log_rising(shape[k], c)
        result -= (c + shape[k]) * math.log(rate[k])
        if c == 0:
            result -= math.log(present[k])
    return result


@kernel()
def draw_loadings(loading_counts, gamma, out_log_draws, seed, cycle):
    """Draw log Gamma(gamma_j + n_jk, 1); normalised per group they are Dirichlet loadings.

    Same as reference.draw_loadings.
    """
    stream = np.empty(2, dtype=np.uint64)
    for j in range(loading_counts.shape[0]):
        open_stream(stream, seed, LOADINGS, cycle, j)
        for k in range(loading_counts.shape[1]):
            out_log_draws[j, k] = log_gamma_draw(stream, gamma[j] + loading_counts[j, k])


@kernel()
def augment_scores(
    component_counts, levels, shape, rate, present,
    out_tables, out_active, out_scores, out_log_beta, seed, cycle, first_document,
):  # fmt: skip
    """Draw the auxiliary variables that make the hyperparameter moves exact (spec 5.3).

    Same as reference.augment_scores. Per document and component: presence s_k, tables
    CRT(c_k, shape_k) and a score Gamma(c_k + shape_k, rate_k) if present; per document
    log u, u ~ Beta(sum shape, L). Sums go to ``out_tables`` (K,), ``out_active`` (T, K) by exposure
    level, ``out_scores`` (K,), ``out_log_beta`` (1,).
    """
    n_components = component_counts.shape[1]
    stream = np.empty(2, dtype=np.uint64)
    for i in range(component_counts.shape[0]):
        level = levels[i]
        open_stream(stream, seed, AUGMENT, cycle, first_document + i)
        length = 0
        concentration = 0.0
        for k in range(n_components):
            c = component_counts[i, k]
            length += c
            concentration += shape[level, k]
            if c == 0 and present[level, k] < 1.0 and uniform(stream) >= present[level, k]:
                continue
            out_active[level, k] += 1
            out_tables[k] += tables(stream, c, shape[level, k])
            log_score = log_gamma_draw(stream, c + shape[level, k])
            out_scores[k] += math.exp(log_score) / rate[level, k]
        if length > 0:
            x = log_gamma_draw(stream, concentration)
            y = log_gamma_draw(stream, float(length))
            top = max(x, y)
            out_log_beta[0] += x - top - math.log(math.exp(x - top) + math.exp(y - top))


@kernel()
def augment_loadings(
    loading_counts, totals, gamma, gamma_totals, out_tables, out_log_beta, seed, cycle
):
    """Tables of every word and log u of every group and component, for moves of gamma.

    Same as reference.augment_loadings. ``out_tables`` (J,) sums CRT(n_jk, gamma_j) over k;
    ``out_log_beta`` (G,) sums log u_gk, u ~ Beta(Gamma_g, n_gk), over k.
    """
    n_words, n_components = loading_counts.shape
    stream = np.empty(2, dtype=np.uint64)
    for j in range(n_words):
        open_stream(stream, seed, AUGMENT, cycle, -1 - j)
        for k in range(n_components):
            out_tables[j] += tables(stream, loading_counts[j, k], gamma[j])
    for g in range(totals.shape[0]):
        open_stream(stream, seed, AUGMENT, cycle, -1 - n_words - g)
        for k in range(n_components):
            if totals[g, k] > 0:
                x = log_gamma_draw(stream, gamma_totals[g])
                y = log_gamma_draw(stream, float(totals[g, k]))
                top = max(x, y)
                out_log_beta[g] += x - top - math.log(math.exp(x - top) + math.exp(y - top))


@kernel()
def log_loadings(loading_counts, group_totals, gamma, gamma_totals):
    """Log D, the probability of the words given their components, loadings integrated out.

    Same as reference.log_loadings. Spec 2.4: sum_gk log D_gk.
    """
    n_words, n_components = loading_counts.shape
    result = 0.0
    for g in range(group_totals.shape[0]):
        for k in range(n_components):
            result -= log_rising(gamma_totals[g], group_totals[g, k])
    for j in range(n_words):
        row = 0.0
        for k in range(n_components):
            row += log_rising(gamma[j], loading_counts[j, k])
        result += row
    return result
