# SPDX-License-Identifier: BSD-3-Clause
"""Expected component counts given all other tokens: collapsed variational inference."""

import math

import numpy as np

from .compile import REORDER, kernel, part
from .simd.memory import prefetch_row_behind, work_rows
from .special import digamma, exp

__all__ = ["KEPT", "count_tables", "expect_others", "renew_counts", "renew_loadings"]

_TAME = 1e-120  # a product of two numbers above this cannot underflow
_AHEAD = 4  # entries between the current one and the one whose rows are prefetched
_RAREST = 1e-100  # smaller counts are set to this
_RARE = 1e-4  # for smaller c the series of 1 - exp(-c) is more exact
KEPT = 0.3  # a long step leaves at least this fraction of the counts that a plain step gives


def _rows(*arguments):
    loadings = arguments[6]
    return (work_rows(6, loadings.shape[1], loadings.dtype),)


@kernel(_rows, fastmath=REORDER)
def expect_others(
    indptr, words, counts, levels, shape, rate, loadings, group_of_word, gamma, gamma_totals,
    inverse_totals, score_shape, out_loading_counts, out_objective, stride, n_inner, tolerance,
    collect, rows,
):  # fmt: skip
    """Split the counts of a block of documents, each token given all other tokens.

    Same as twins.cvb0.expect_others. With s_k = score_shape_k / rate_k, N_k = 1 / inverse_totals_gk
    and the probability p_k, proportional to s_k theta_jk, that a token of word j is of component k,
    the responsibilities are

        R_jk ~ (s_k - p_k / rate_k) (theta_jk N_k - p_k) / (N_k - p_k):

    the scores and the loadings without the token, but at least those of no token at all. Then
    score_shape_k <- shape_k + sum_j w_j R_jk, or ``stride`` times that step. The loadings do not
    depend on new documents, whose ``inverse_totals`` are therefore 0.

    ``out_objective`` gets sum_j w_j log p(j | the other tokens) of each document. If ``collect``,
    the last inner step adds w_j R_jk to ``out_loading_counts``.
    """
    n_components = loadings.shape[1]
    real = loadings.dtype.type
    scores, scale, empty = rows[1], rows[2], rows[3]
    weights, added, prior = rows[4], rows[5], rows[6]
    last_entry = indptr[-1]
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        for k in range(n_components):
            scale[k] = 1.0 / rate[level, k]
            empty[k] = shape[level, k] / rate[level, k]  # score of a component without tokens
            prior[k] = shape[level, k]
        steps_left = n_inner
        while steps_left > 0:
            last = steps_left == 1
            for k in range(n_components):
                added[k] = 0.0
            for k in range(n_components):
                scores[k] = score_shape[i, k] * scale[k]
            log_fit = 0.0
            product = 1.0  # of the probabilities of single tokens: one logarithm for many
            for t in range(indptr[i], indptr[i + 1]):
                j = words[t]
                g = group_of_word[j]
                ahead = t + _AHEAD
                if ahead < last_entry:
                    if steps_left == n_inner:  # later steps find the rows in the cache
                        prefetch_row_behind(loadings, words[ahead])
                    if last and collect:
                        prefetch_row_behind(out_loading_counts, words[ahead])
                norm = real(0.0)
                for k in range(n_components):
                    weights[k] = scores[k] * loadings[j, k]
                    norm += weights[k]
                if norm <= 0.0:  # the word is impossible under every component
                    log_fit = -np.inf
                    continue
                token = _quotient(min(real(counts[t]), real(1.0)), norm)
                low, lowest = real(gamma[j]), real(gamma_totals[g])
                norm = real(0.0)
                others = real(0.0)
                for k in range(n_components):
                    own = weights[k] * token
                    lost = own * inverse_totals[g, k]
                    score = max(scores[k] - own * scale[k], empty[k])
                    loading = max(loadings[j, k] - lost, low * inverse_totals[g, k])
                    total = max(real(1.0) - lost, lowest * inverse_totals[g, k])
                    weights[k] = score * loading / total
                    norm += weights[k]
                    others += score
                if last:
                    chance = np.float64(norm) / np.float64(others)
                    if counts[t] == 1 and _TAME < chance < 1.0 / _TAME:
                        product *= chance
                        if not _TAME < product < 1.0 / _TAME:
                            log_fit += math.log(product)
                            product = 1.0
                    else:
                        log_fit += counts[t] * math.log(chance)
                ratio = real(counts[t]) / norm
                if last and collect:
                    for k in range(n_components):
                        part = ratio * weights[k]
                        added[k] += part
                        out_loading_counts[j, k] += part
                else:
                    for k in range(n_components):
                        added[k] += ratio * weights[k]
            change, total_counts = real(0.0), real(0.0)
            for k in range(n_components):
                change += abs(added[k] + prior[k] - score_shape[i, k])
                total_counts += added[k]
            if stride > 1.0:
                _stride(added, score_shape[i], prior, real(stride), total_counts)
            for k in range(n_components):
                score_shape[i, k] = prior[k] + added[k]
            if last:
                out_objective[i] = log_fit + math.log(product)
            steps_left -= 1
            if steps_left > 1 and change <= tolerance * total_counts:
                steps_left = 1  # one more step records the answer


@part()
def _quotient(a, b):
    """Divide before a loop that uses the quotient.

    Where sums may be re-ordered, the compiler moves a plain division to its only use: into the
    loop.
    """
    return a / b


@part(fastmath=REORDER)
def _stride(added, score_shape, prior, stride, total):
    """Multiply a plain step by ``stride``, and keep the total."""
    real = added.dtype.type
    reached = real(0.0)
    for k in range(score_shape.shape[0]):
        before = score_shape[k] - prior[k]
        added[k] = max(before + stride * (added[k] - before), real(KEPT) * added[k])
        reached += added[k]
    factor = total / reached if reached > 0.0 else stride
    for k in range(score_shape.shape[0]):
        added[k] *= factor


@kernel()
def renew_counts(new, factor, way, least, group_of_word, first, last, counts, out_totals):
    """Move the counts of words ``first`` to ``last`` - 1 towards new ones, and add to the totals.

    Same as twins.cvb0.renew_counts. The goal is factor new_jk. The counts move by ``way`` times
    their distance from the goal, but to at least ``least`` times the goal.
    """
    real = counts.dtype.type
    factor, way, least = real(factor), real(way), real(least)
    for j in range(first, last):
        g = group_of_word[j]
        for k in range(counts.shape[1]):
            goal = factor * new[j, k]
            counts[j, k] = max(counts[j, k] + way * (goal - counts[j, k]), least * goal)
            out_totals[g, k] += counts[j, k]


@kernel()
def renew_loadings(counts, gamma, group_of_word, inverse_totals, first, last, out_loadings):
    """Set (gamma_j + n_jk) / N_gk for words ``first`` to ``last`` - 1.

    Same as twins.cvb0.renew_loadings.
    """
    real = counts.dtype.type
    for j in range(first, last):
        g, prior = group_of_word[j], real(gamma[j])
        for k in range(counts.shape[1]):
            out_loadings[j, k] = (prior + counts[j, k]) * inverse_totals[g, k]


@kernel(fastmath=REORDER)
def count_tables(counts, levels, concentration, out_tables):
    """Expected number of tables E[CRT(c, a)] of every expected count c; the row's level gives a.

    Same as twins.cvb0.count_tables. A count with a small expectation is 0 or 1, not a fraction:
    with P = P(c > 0) = 1 - exp(-c), as for a Poisson count, and the mean c / P of counts above 0,

        E[CRT] = P a (psi(c / P + a) - psi(a)).
    """
    for i in range(counts.shape[0]):
        level = levels[i]
        for k in range(counts.shape[1]):
            a, c = concentration[level, k], max(np.float64(counts[i, k]), _RAREST)
            some = 1.0 - exp(-c)
            some = some if c > _RARE else c * (1.0 - c * (0.5 - c / 6.0))
            out_tables[i, k] = some * a * (digamma(c / some + a) - digamma(a))
