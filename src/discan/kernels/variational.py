# SPDX-License-Identifier: BSD-3-Clause
"""Expected component counts: the steps of maximum likelihood, MAP and variational inference."""

import math

import numpy as np

from .compile import REORDER, kernel, part
from .simd.memory import fill, prefetch_row, work_rows
from .special import digamma, exp_digamma, log, log_gamma

__all__ = [
    "expect",
    "expect_conditional",
    "geometric_mean_loadings",
    "loading_penalty",
    "weighted_log_loadings",
]

# Smaller weights are set to this, so that no word loses all its components to underflow.
_FLOOR = 1e-150
_TAME = 1e-120  # a product of two numbers above this cannot underflow
_AHEAD = 4  # entries between the current one and the one whose rows are prefetched
_ALMOST_ONE = 1.0 - 1e-15


def expect(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    out_score_sums, out_objective, geometric_mean, power, n_inner, tolerance, collect,
):  # fmt: skip
    """Update the scores of a block of documents and sum its expected loading counts.

    Same as twins.variational.expect (theory 4.1, 4.2). Per document and inner step, with
    s_k = score_shape_k / rate_k (``geometric_mean``: exp(digamma(score_shape_k)) / rate_k instead)
    and the responsibilities R_jk:

        R_jk = weights_jk s_k^power / Z_j,   score_shape_k <- shape_k + sum_j w_j R_jk.

    ``out_objective`` gets the document's part of the objective up to the model's constant. If
    ``collect``, the last inner step adds w_j s_k^power / Z_j to ``out_score_sums``. These sums are
    the expected counts w_j R_jk divided by the loadings (``weights``); the caller multiplies each
    lane's sums by the loadings. The arithmetic is in the precision of ``weights``.
    """
    step = expect_by_geometric_mean if geometric_mean else expect_by_mean
    step(
        indptr, words, counts, levels, shape, rate, weights, score_shape, out_score_sums,
        out_objective, power, n_inner, tolerance, collect,
    )  # fmt: skip


def _rows(*arguments):
    weights = arguments[6]
    return (work_rows(2, weights.shape[1], weights.dtype),)


def _expect(geometric_mean):
    """Compile one of two kernels, by the mean or the geometric mean, without code of the other."""

    @kernel(_rows, fastmath=REORDER)
    def expect(
        indptr, words, counts, levels, shape, rate, weights, score_shape, out_score_sums,
        out_objective, power, n_inner, tolerance, collect, rows,
    ):  # fmt: skip
        n_components = weights.shape[1]
        scores, added = rows[1, :n_components], rows[2, :n_components]
        real = weights.dtype.type
        last_entry = indptr[-1]
        for i in range(indptr.shape[0] - 1):
            level = levels[i]
            steps_left = n_inner
            while steps_left > 0:
                last = steps_left == 1
                fill(added, 0.0)
                if geometric_mean:
                    for k in range(n_components):
                        scores[k] = max(exp_digamma(score_shape[i, k]) / rate[level, k], _FLOOR)
                else:
                    for k in range(n_components):
                        scores[k] = score_shape[i, k] / rate[level, k]
                prior_term = 0.0
                if last and not geometric_mean:
                    prior_term = _weighted_logs(shape, level, scores)
                if power != 1.0:
                    for k in range(n_components):
                        scores[k] = scores[k] ** power
                log_fit = 0.0
                product = 1.0  # of the norms of single tokens: one logarithm for many
                for t in range(indptr[i], indptr[i + 1]):
                    j = words[t]
                    ahead = t + _AHEAD
                    if ahead < last_entry:
                        if steps_left == n_inner:  # later steps find the rows in the cache
                            prefetch_row(weights, words[ahead])
                        if last and collect:
                            prefetch_row(out_score_sums, words[ahead])
                    norm = real(0.0)
                    for k in range(n_components):
                        norm += weights[j, k] * scores[k]
                    if norm <= 0.0:  # the word is impossible under every component
                        log_fit = -np.inf
                        continue
                    ratio = real(counts[t]) / norm
                    if last:
                        if counts[t] == 1 and _TAME < norm < 1.0 / _TAME:
                            product *= norm
                            if not _TAME < product < 1.0 / _TAME:
                                log_fit += math.log(product)
                                product = 1.0
                        else:
                            log_fit += counts[t] * math.log(norm)
                    if last and collect:
                        for k in range(n_components):
                            added[k] += ratio * weights[j, k]
                            out_score_sums[j, k] += ratio * scores[k]
                    else:
                        for k in range(n_components):
                            added[k] += ratio * weights[j, k]
                if last:
                    log_fit += math.log(product)
                change = 0.0
                total = 0.0
                for k in range(n_components):
                    added[k] = added[k] * scores[k]
                    a = shape[level, k] + added[k]
                    change += abs(a - score_shape[i, k])
                    total += a
                if last and geometric_mean:
                    for k in range(n_components):
                        a = shape[level, k] + added[k]
                        prior_term += (
                            log_gamma(a) - a * log(rate[level, k]) - added[k] * log(scores[k])
                        )
                for k in range(n_components):
                    score_shape[i, k] = shape[level, k] + added[k]
                if last:
                    out_objective[i] = log_fit / power + prior_term
                steps_left -= 1
                if steps_left > 1 and change <= tolerance * total:
                    steps_left = 1  # one more step records the answer

    return expect


expect_by_mean, expect_by_geometric_mean = _expect(False), _expect(True)


@part()
def _weighted_logs(shape, level, scores):
    """Sum of shape_k log(score_k), with one logarithm for a run of equal shapes."""
    result, product, run_shape = 0.0, 1.0, 0.0
    for k in range(scores.shape[0]):
        a, score = shape[level, k], np.float64(scores[k])
        if a <= 0.0:
            continue
        tame = _TAME < score < 1.0 / _TAME
        if a != run_shape or not tame or not _TAME < product < 1.0 / _TAME:
            result += run_shape * math.log(product)
            product, run_shape = 1.0, a
        if tame:
            product *= score
        else:
            result += a * math.log(score)
    return result + run_shape * math.log(product)


@kernel()
def expect_conditional(
    indptr, words, counts, levels, shape, rate, present, log_weights, score_shape, absent, damping,
    out_component_counts, out_loading_counts, out_objective, n_inner, tolerance, collect,
):  # fmt: skip
    """Structured variational step for scores that may be exactly zero (theory 4.3).

    Same as twins.variational.expect_conditional. ``absent`` holds P_q(l_k = 0), ``damping`` the
    penalty D_k S_k for giving an absent component its first word. Together with ``score_shape``
    they are enough to start again near the last answer without storing the responsibilities of
    every word. If ``collect``, the expected counts w_j R_jk are added to ``out_loading_counts``.
    """
    n_components = log_weights.shape[1]
    longest = 1
    for i in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    responsibilities = np.empty((longest, n_components))
    log_nots = np.empty((longest, n_components))  # log(1 - R_jk)
    eta = np.empty(n_components)
    log_none = np.empty(n_components)  # log S_k, S_k = P_q(c_k = 0)
    expected = np.empty(n_components)
    push = np.empty(n_components)  # D_k = -log(1 - r_k)
    logit_spike = np.empty(n_components)
    new = np.empty(n_components)
    trial = np.empty(n_components)
    for i in range(indptr.shape[0] - 1):
        first, n_words = indptr[i], indptr[i + 1] - indptr[i]
        level = levels[i]
        for k in range(n_components):
            p = present[level, k]
            logit_spike[k] = math.log1p(-p) - math.log(p) if p < 1.0 else -np.inf
            eta[k] = digamma(score_shape[i, k]) - math.log(rate[level, k])
        possible = True
        for t in range(n_words):
            row = log_weights[words[first + t]]
            for k in range(n_components):
                new[k] = row[k] + eta[k] - damping[i, k]
            possible &= _softmax(new)
            for k in range(n_components):
                responsibilities[t, k] = new[k]
                log_nots[t, k] = _log_not(new[k])
        _tally(responsibilities, log_nots, counts, first, n_words, log_none, expected)
        bound = -np.inf
        for step in range(n_inner):
            _update_scores(
                score_shape[i], shape[level], rate[level], logit_spike,
                log_none, expected, eta, push,
            )  # fmt: skip
            for t in range(n_words):
                _update_word(
                    responsibilities[t], log_nots[t], counts[first + t], log_weights[words[first +
                    t]], eta, push, log_none, expected, new, trial,
                )  # fmt: skip
            _tally(responsibilities, log_nots, counts, first, n_words, log_none, expected)
            _update_scores(
                score_shape[i], shape[level], rate[level], logit_spike,
                log_none, expected, eta, push,
            )  # fmt: skip
            previous = bound
            bound = 0.0
            for t in range(n_words):
                row = log_weights[words[first + t]]
                for k in range(n_components):
                    if responsibilities[t, k] > 0.0:
                        gain = row[k] - math.log(responsibilities[t, k])
                        bound += counts[first + t] * responsibilities[t, k] * gain
            for k in range(n_components):
                a, log_rate = score_shape[i, k], math.log(rate[level, k])
                bound += (expected[k] + shape[level, k] - a) * eta[k]
                bound += math.lgamma(a) - a * log_rate + push[k] * math.exp(log_none[k])
            if step > 0 and bound - previous <= tolerance * (1.0 + abs(bound)):
                break
        out_objective[i] = bound if possible else -np.inf
        for k in range(n_components):
            absent[i, k] = -math.expm1(-push[k]) * math.exp(log_none[k])
            damping[i, k] = push[k] * math.exp(log_none[k])
            out_component_counts[i, k] = expected[k]
        if collect:
            for t in range(n_words):
                out = out_loading_counts[words[first + t]]
                for k in range(n_components):
                    out[k] += counts[first + t] * responsibilities[t, k]


@kernel()
def _softmax(logits):
    """Exponentiate and normalise in place; zeros, and False, if all logits are -inf."""
    top = logits[0]
    for k in range(1, logits.shape[0]):
        top = max(top, logits[k])
    if top == -np.inf:
        fill(logits, 0.0)
        return False
    total = 0.0
    for k in range(logits.shape[0]):
        logits[k] = math.exp(logits[k] - top)
        total += logits[k]
    for k in range(logits.shape[0]):
        logits[k] /= total
    return True


@part()
def _log_not(chance):
    """log(1 - chance), finite for a chance of one."""
    return math.log1p(-min(chance, _ALMOST_ONE))


@part()
def _tally(responsibilities, log_nots, counts, first, n_words, log_none, expected):
    for k in range(expected.shape[0]):
        log_none[k] = 0.0
        expected[k] = 0.0
    for t in range(n_words):
        for k in range(expected.shape[0]):
            log_none[k] += counts[first + t] * log_nots[t, k]
            expected[k] += counts[first + t] * responsibilities[t, k]


@part()
def _update_scores(score_shape, shape, rate, logit_spike, log_none, expected, eta, push):
    """Update the slab (a_k) and the spike (r_k) in turn, each exactly given the other."""
    for k in range(expected.shape[0]):
        log_rate = math.log(rate[k])
        push[k] = _best_push(score_shape[k], shape[k], logit_spike[k])
        for _ in range(3):
            # 1 - r S = (1 - r) + r (1 - S) with 1 - r = exp(-D): exact when r and S are near one
            present = math.exp(-push[k]) + math.expm1(-push[k]) * math.expm1(log_none[k])
            score_shape[k] = shape[k]
            if expected[k] > 0.0:
                score_shape[k] += expected[k] / present
            push[k] = _best_push(score_shape[k], shape[k], logit_spike[k])
        eta[k] = digamma(score_shape[k]) - log_rate


@part()
def _best_push(a, alpha, logit_spike):
    """D = log(1 + exp(logit rho - A)) at the best r given the slab's shape a."""
    if logit_spike == -np.inf:
        return 0.0
    slab = (alpha - a) * digamma(a) + math.lgamma(a) - math.lgamma(alpha)
    x = logit_spike - slab
    return x + math.log1p(math.exp(-x)) if x > 0.0 else math.log1p(math.exp(x))


@part()
def _update_word(current, log_not, count, row, eta, push, log_none, expected, new, trial):
    """Update one word's responsibilities; if its count is above one, without lowering the bound.

    Most components surely have other words, and no penalty applies to them.
    """
    n_components = current.shape[0]
    pressure = 0.0
    for k in range(n_components):
        others = log_none[k] - log_not[k]  # log P(no other token has the component)
        pushed = push[k] * math.exp(others) if others > -50.0 else 0.0
        new[k] = row[k] + eta[k] - pushed
        pressure = max(pressure, pushed)
    if not _softmax(new):
        return
    for k in range(n_components):
        trial[k] = new[k]
    if count > 1 and pressure > 1e-12:
        fraction = 1.0
        for _ in range(40):
            gain = 0.0
            for k in range(n_components):
                trial[k] = current[k] + fraction * (new[k] - current[k])
                gain += count * (_entropy_term(trial[k], row[k] + eta[k])
                                 - _entropy_term(current[k], row[k] + eta[k]))  # fmt: skip
                if push[k] > 0.0:
                    moved = count * (_log_not(trial[k]) - log_not[k])
                    gain += push[k] * math.exp(log_none[k]) * math.expm1(moved)
            if gain >= 0.0:
                break
            fraction *= 0.5
        if gain < 0.0:
            return
    for k in range(n_components):
        moved = _log_not(trial[k])
        log_none[k] += count * (moved - log_not[k])
        expected[k] += count * (trial[k] - current[k])
        current[k] = trial[k]
        log_not[k] = moved


@part()
def _entropy_term(chance, logit):
    return chance * (logit - math.log(chance)) if chance > 0.0 else 0.0


@kernel()
def geometric_mean_loadings(loading_shape, group_of_word, totals, out_weights):
    """Exp E[log theta_jk] of Dirichlet loadings: exp(psi(lambda_jk) - psi(sum of the group)).

    Same as twins.variational.geometric_mean_loadings.
    """
    n_groups, n_components = totals.shape
    inverse = np.empty((n_groups, n_components))
    for g in range(n_groups):
        for k in range(n_components):
            inverse[g, k] = 1.0 / exp_digamma(totals[g, k])
    for j in range(loading_shape.shape[0]):
        g = group_of_word[j]
        for k in range(n_components):
            out_weights[j, k] = max(exp_digamma(loading_shape[j, k]) * inverse[g, k], _FLOOR)


@kernel(fastmath=REORDER)
def loading_penalty(loading_shape, group_of_word, totals, gamma, gamma_totals):
    """-KL(q(Theta) || prior) of Dirichlet loadings (theory 4.4).

    Same as twins.variational.loading_penalty.
    """
    n_groups, n_components = totals.shape
    group_part = np.empty((n_groups, n_components))
    result = 0.0
    for g in range(n_groups):
        for k in range(n_components):
            group_part[g, k] = digamma(totals[g, k])
            result += math.lgamma(gamma_totals[g]) - math.lgamma(totals[g, k])
    for j in range(loading_shape.shape[0]):
        g = group_of_word[j]
        row = -n_components * math.lgamma(gamma[j])
        for k in range(n_components):
            a = loading_shape[j, k]
            row += log_gamma(a) + (gamma[j] - a) * (digamma(a) - group_part[g, k])
        result += row
    return result


@kernel()
def weighted_log_loadings(loadings, gamma):
    """Sum of gamma_j log(theta_jk), the log prior of point loadings up to a constant.

    Same as twins.variational.weighted_log_loadings. One logarithm is taken of a product of several.
    """
    result = 0.0
    for j in range(loadings.shape[0]):
        row, product = 0.0, 1.0
        for k in range(loadings.shape[1]):
            loading = max(np.float64(loadings[j, k]), 1e-300)
            if loading < _TAME:
                row += math.log(loading)
                continue
            product *= loading
            if product < _TAME:
                row += math.log(product)
                product = 1.0
        result += gamma[j] * (row + math.log(product))
    return result
