# SPDX-License-Identifier: BSD-3-Clause
"""Direct Gibbs sampling: draw the scores, split every count, draw the loadings."""

import math

import numpy as np

from .compile import kernel, part
from .draws import gammas, log_beta, log_gamma_draw
from .random import (
    AUGMENT,
    LOADINGS,
    POOL,
    START,
    SWEEP,
    multinomial,
    open_stream,
    tables,
    uniform,
)
from .simd.memory import copy_tail, prefetch, prefetch_row
from .simd.weighted_sums import (
    LANES,
    find_component,
    heaviest_component,
    sum_buffers,
    sum_given_weights,
    sum_weights,
)
from .special import log_rising

__all__ = [
    "augment_loadings",
    "augment_scores",
    "draw_loadings",
    "draw_log_loadings",
    "draw_scores",
    "log_factor",
    "split",
    "sweep",
]

_AHEAD = 4  # entries between the current one and the one whose row is prefetched
_MANY = 2  # a count above this times K is split by conditional binomials, not token by token
_WAITING = 1024  # drawn tokens that are counted together
_TINY = 1e-300
_LOG_TINY = math.log(_TINY)
_TAME = 1e-120  # a product of two numbers above this cannot underflow


def sweep(
    indptr, words, counts, levels, shape, rate, present, loadings, component_counts, scores,
    out_loading_counts, out_log_fit, out_log_factor, seed, cycle, first_document,
):  # fmt: skip
    """Draw scores given counts, then the split of each count given scores, for a block.

    Same as twins.gibbs.sweep (theory 4.5). A component without words is present with probability
    present_k. The score of a present component is Gamma(c_k + shape_k, rate_k). ``out_log_fit``
    gets sum_j w_j log sum_k theta_jk l_k, ``out_log_factor`` log F(c) up to the model's constant.
    """
    sweep_or_split(
        indptr, words, counts, levels, shape, rate, present, loadings, component_counts, scores,
        out_loading_counts, out_log_fit, out_log_factor, seed, SWEEP, cycle, first_document,
        *_buffers(loadings),
    )  # fmt: skip


def split(
    indptr, words, counts, loadings, scores, component_counts,
    out_loading_counts, seed, first_document,
):  # fmt: skip
    """Split every count by given loadings and scores, to start a chain.

    Same as twins.gibbs.split.
    """
    n_documents = len(indptr) - 1
    levels, one = np.zeros(n_documents, dtype=np.int32), np.ones((1, loadings.shape[1]))
    not_needed = np.empty((2, n_documents))
    sweep_or_split(
        indptr, words, counts, levels, one, one, one, loadings, component_counts, scores,
        out_loading_counts, *not_needed, seed, START, np.int64(0), first_document,
        *_buffers(loadings),
    )  # fmt: skip


def _buffers(loadings):
    """Allocate buffers for ``gammas`` and for ``_split_document``.

    In NumPy, because allocations in a kernel are compiled for each type and number of dimensions.
    """
    n_components = loadings.shape[1]
    score, ends, through = sum_buffers(n_components)
    shapes, log_score, weights = np.empty((3, n_components))
    index, draws = np.empty((2, n_components), dtype=np.int64)
    return (
        score, log_score, np.empty(2, dtype=np.uint64), np.empty((4, n_components)),
        (shapes, index, np.empty((6, n_components))),
        (*copy_tail(loadings, LANES), ends, through, weights, draws,
         np.empty((_WAITING, 2), dtype=np.int64)),
    )  # fmt: skip


@kernel()
def sweep_or_split(
    indptr, words, counts, levels, shape, rate, present, loadings, component_counts, scores,
    out_loading_counts, out_log_fit, out_log_factor, seed, purpose, cycle, first_document,
    score, log_score, stream, log_terms, for_gammas, for_splits,
):  # fmt: skip
    """Compute ``sweep`` or, if the purpose is START, ``split``: one kernel is faster to compile."""
    n_components = loadings.shape[1]
    drawn_shape, index, scratch = for_gammas
    known = np.int64(-1)
    for i in range(indptr.shape[0] - 1):
        level = np.int64(levels[i])
        open_stream(stream, seed, purpose, cycle, first_document + i)
        if purpose == START:
            for k in range(n_components):
                score[k], log_score[k] = scores[i, k], _LOG_TINY
        else:
            for k in range(n_components):
                c = component_counts[i, k]
                absent = present[level, k] < 1.0 and c == 0 and uniform(stream) >= present[level, k]
                drawn_shape[k] = 0.0 if absent else c + shape[level, k]
            gammas(stream, drawn_shape, score, log_score, index, scratch)
            for k in range(n_components):
                if score[k] == 0.0:
                    log_score[k] -= math.log(rate[level, k])
            for k in range(n_components):  # a loop of its own, to be vector code
                score[k] /= rate[level, k]
                scores[i, k] = score[k]
        for k in range(n_components):
            component_counts[i, k] = 0
        out_log_fit[i] = _split_document(
            stream, indptr, words, counts, loadings, i, score, log_score, component_counts,
            out_loading_counts, for_splits,
        )  # fmt: skip
        if level != known:
            _set_log_terms(shape, rate, present, level, known, log_terms)
            known = level
        log_factor = 0.0
        n_used = 0
        for k in range(n_components):
            used = component_counts[i, k] > 0
            log_factor += log_terms[1, k] if used else log_terms[0, k]
            index[n_used] = k
            n_used += used
        for n in range(n_used):
            k, c = index[n], component_counts[i, index[n]]
            log_factor += log_rising(shape[level, k], c) - c * log_terms[2, k]
        out_log_factor[i] = log_factor


@part()
def _split_document(
    stream, indptr, words, counts, loadings, i, score, log_score, component_counts,
    out_loading_counts, buffers,
):  # fmt: skip
    """Split the counts of document i in proportion to theta_jk l_k; return its log fit.

    ``log_score`` is used where a score is zero. Nothing branches on the component of a token, and
    tokens are counted many at a time: otherwise the processor would wait for each draw.
    """
    tail, tail_start, ends, through, weights, draws, waiting = buffers
    n_components = loadings.shape[1]
    log_fit = 0.0
    product = 1.0  # of the sums of single tokens: one logarithm for many
    n_waiting = np.int64(0)
    for t in range(indptr[i], indptr[i + 1]):
        j = words[t]
        if t + _AHEAD < indptr[-1]:
            prefetch_row(loadings, words[t + _AHEAD])
        total = sum_weights(loadings, np.int64(j), tail, tail_start, score, ends, through)
        plain = _TINY < total < np.inf
        if counts[t] == 1 and _TAME < total < 1.0 / _TAME:
            product *= total
            if not _TAME < product < 1.0 / _TAME:
                log_fit += math.log(product)
                product = 1.0
        elif plain:
            log_fit += counts[t] * math.log(total)
        else:
            shift = _weigh_in_logs(loadings, j, score, log_score, weights)
            total = sum_given_weights(weights, ends, through)
            log_fit += counts[t] * (math.log(total) + shift)
        if counts[t] > _MANY * n_components:
            if plain:
                for k in range(n_components):
                    weights[k] = loadings[j, k] * score[k]
            _split_large(stream, np.int64(counts[t]), weights, draws)
            for k in range(n_components):
                component_counts[i, k] += draws[k]
                out_loading_counts[j, k] += draws[k]
            continue
        for _ in range(counts[t]):
            k = find_component(uniform(stream) * total, through, ends)
            if k >= n_components or ends[LANES + k] <= ends[k]:
                k = heaviest_component(ends, n_components)
            prefetch(out_loading_counts, np.int64(j) * n_components + k)
            waiting[n_waiting, 0] = j
            waiting[n_waiting, 1] = k
            n_waiting += 1
            if n_waiting == _WAITING:
                _count(waiting, n_waiting, component_counts[i], out_loading_counts)
                n_waiting = np.int64(0)
    _count(waiting, n_waiting, component_counts[i], out_loading_counts)
    return log_fit + math.log(product)


@part()
def _weigh_in_logs(loadings, j, score, log_score, out_weights):
    """Weights of a word whose products underflow or overflow, up to a factor; return its log."""
    n_components = loadings.shape[1]
    best = -np.inf
    for k in range(n_components):
        log_k = math.log(score[k]) if score[k] > 0.0 else log_score[k]
        out_weights[k] = math.log(max(np.float64(loadings[j, k]), _TINY)) + log_k
        best = max(best, out_weights[k])
    for k in range(n_components):
        out_weights[k] = math.exp(out_weights[k] - best)
    return best


@part()
def _split_large(stream, count, weights, out_draws):
    """Split by conditional binomials; the total is summed in the order of their use."""
    total = 0.0
    for k in range(weights.shape[0]):
        total += weights[k]
    multinomial(stream, count, weights, total, out_draws)


@part()
def _count(tokens, n, out_component_counts, out_loading_counts):
    for m in range(n):
        out_component_counts[tokens[m, 1]] += 1
        out_loading_counts[tokens[m, 0], tokens[m, 1]] += 1


@part()
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


@part()
def _set_log_terms(shape, rate, present, level, known, out_log_terms):
    """Set the terms of log F of one exposure level.

    Row 1 is log Gamma(shape_k) - shape_k log rate_k, for components with words; row 0 is row 1 less
    log present_k, for components without; row 2 is log rate_k, subtracted once per word. Row 3
    holds log Gamma(shape_k) of the level ``known``, if that is not negative.
    """
    for k in range(shape.shape[1]):
        a = shape[level, k]
        if known < 0 or a != shape[known, k]:  # most levels differ only in the rate
            out_log_terms[3, k] = math.lgamma(a)
        out_log_terms[2, k] = math.log(rate[level, k])
        out_log_terms[1, k] = out_log_terms[3, k] - a * out_log_terms[2, k]
        out_log_terms[0, k] = out_log_terms[1, k] - math.log(present[level, k])


@kernel()
def draw_loadings(loading_counts, gamma, group_of_word, out_draws, out_tops, seed, cycle):
    """Draw Gamma(gamma_j + n_jk, 1); normalised per group they are Dirichlet loadings.

    Same as twins.gibbs.draw_loadings. ``out_tops`` (G, K) gets the largest draw of each group.
    """
    n_components = loading_counts.shape[1]
    shape = np.empty(n_components)
    draws = np.empty(n_components)
    logs = np.empty(n_components)
    index = np.empty(n_components, dtype=np.int64)
    scratch = np.empty((6, n_components))
    stream = np.empty(2, dtype=np.uint64)
    for g in range(out_tops.shape[0]):
        for k in range(n_components):
            out_tops[g, k] = 0.0
    for j in range(loading_counts.shape[0]):
        g = group_of_word[j]
        open_stream(stream, seed, LOADINGS, cycle, j)
        for k in range(n_components):
            shape[k] = gamma[j] + loading_counts[j, k]
        gammas(stream, shape, draws, logs, index, scratch)
        for k in range(n_components):
            out_draws[j, k] = draws[k]
            out_tops[g, k] = max(out_tops[g, k], draws[k])


@kernel()
def draw_log_loadings(loading_counts, gamma, out_log_draws, seed, cycle):
    """Logarithms of the draws of ``draw_loadings``. Same as twins.gibbs.draw_log_loadings."""
    n_components = loading_counts.shape[1]
    shape = np.empty(n_components)
    draws = np.empty(n_components)
    logs = np.empty(n_components)
    index = np.empty(n_components, dtype=np.int64)
    scratch = np.empty((6, n_components))
    stream = np.empty(2, dtype=np.uint64)
    for j in range(loading_counts.shape[0]):
        open_stream(stream, seed, LOADINGS, cycle, j)
        for k in range(n_components):
            shape[k] = gamma[j] + loading_counts[j, k]
        gammas(stream, shape, draws, logs, index, scratch)
        for k in range(n_components):
            out_log_draws[j, k] = math.log(draws[k]) if draws[k] > 0.0 else logs[k]


@kernel(lambda *arguments: (np.empty(2, dtype=np.uint64),))
def augment_scores(
    component_counts, levels, class_of_level, shape, present,
    out_tables, out_active, out_shapes, out_log_beta, seed, cycle, first_document, stream,
):  # fmt: skip
    """Draw the auxiliary variables that make the hyperparameter moves exact (theory 5.3).

    Same as twins.gibbs.augment_scores. Per document and component: presence s_k and, if present,
    tables CRT(c_k, shape_k). Per document: log u, u ~ Beta(sum shape, L). Sums are added to
    ``out_tables`` (C, K) by class, ``out_active`` (T, K) by level, and ``out_log_beta`` (C,).
    ``out_shapes`` (T, K) sums c_k + shape_k of present components, for ``draw_scores``.
    """
    n_components = shape.shape[1]
    for i in range(component_counts.shape[0]):
        level = levels[i]
        own = class_of_level[level]
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
            out_tables[own, k] += tables(stream, c, shape[level, k])
            out_shapes[level, k] += c + shape[level, k]
        if length > 0:
            out_log_beta[own] += log_beta(stream, concentration, float(length))


@kernel(lambda *arguments: (np.empty(2, dtype=np.uint64),))
def draw_scores(shapes, rate, class_of_level, out_scores, seed, cycle, stream):
    """Draw the sums over documents of present scores Gamma(c_k + shape_k, rate_k), by class.

    Same as twins.gibbs.draw_scores. Scores of equal rate sum to a Gamma, so there is one draw per
    level and component, from the sums of the shapes, (T, K). Sums are added to ``out_scores``
    (C, K).
    """
    open_stream(stream, seed, POOL, cycle, np.int64(0))
    for level in range(shapes.shape[0]):
        for k in range(shapes.shape[1]):
            if shapes[level, k] > 0.0:
                log_score = log_gamma_draw(stream, shapes[level, k])
                out_scores[class_of_level[level], k] += math.exp(log_score) / rate[level, k]


@kernel(lambda *arguments: (np.empty(2, dtype=np.uint64),))
def augment_loadings(
    loading_counts, totals, gamma, gamma_totals, out_tables, out_log_beta, seed, cycle, stream
):
    """Draw tables of every word and log u of every group and component, for moves of gamma.

    Same as twins.gibbs.augment_loadings. ``out_tables`` (J,) sums CRT(n_jk, gamma_j) over k;
    ``out_log_beta`` (G,) sums log u_gk, u ~ Beta(Gamma_g, n_gk), over k.
    """
    n_words, n_components = loading_counts.shape
    for j in range(n_words):
        open_stream(stream, seed, AUGMENT, cycle, np.int64(-1 - j))
        for k in range(n_components):
            out_tables[j] += tables(stream, np.int64(loading_counts[j, k]), gamma[j])
    for g in range(totals.shape[0]):
        open_stream(stream, seed, AUGMENT, cycle, np.int64(-1 - n_words - g))
        for k in range(n_components):
            if totals[g, k] > 0:
                out_log_beta[g] += log_beta(stream, gamma_totals[g], float(totals[g, k]))
