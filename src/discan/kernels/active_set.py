# SPDX-License-Identifier: BSD-3-Clause
"""Iterate scores given the loadings to their fixed point; most steps update few components."""

import math

import numpy as np

from .compile import REORDER, kernel, part
from .simd.memory import copy, prefetch_row, work_rows
from .special import exp_digamma

__all__ = ["solve_scores"]

# Smaller scores are set to this, so that no word loses all its components to underflow.
_FLOOR = 1e-150
# A component is inactive if the derivative of its update is below this.
_INACTIVE = 0.05
# Without a prior, a score below this part of the mean that falls to this part vanishes: it is
# multiplied by the third number.
_SMALL, _FALLING, _VANISHING = 0.1, 0.9, 1e-4
# One that grows by more than this factor is not done. The likelihood is concave, so its maximum is
# higher by at most this factor less 1, per token.
_GROWING = 1.0 + 1e-5
_FIRST_STEPS = 3  # with all components, before the first choice of the active ones
_FEW_STEPS = 6  # with the active ones before the next choice; twice as many before the one after
# Extrapolation begins when a step moves less than this, so that it leads to no other optimum.
_NEAR = 0.01
_LONGEST = 1000.0  # extrapolation, in steps
_LEAST = 0.1  # fraction of a component's count that an extrapolation leaves
# Newton's steps are for at most so many active components, and leave this fraction of a count.
_MOST_NEWTON = 256
_LEAST_NEWTON = 0.01
_REVERSED = 0.5  # a step leads too far if its slope is reversed by more than this fraction
_RIDGE = 1e-6  # of the curvature, which is 1 at most; components may be alike
_TOGETHER = 4  # components whose sums are computed together
_LANES = 16  # loops over a multiple of this are vector code throughout

_work_rows = kernel()(work_rows)  # allocated in the kernel, which is the first to know the sizes


@kernel()
def solve_scores(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    geometric_mean, n_steps, tolerance,
):  # fmt: skip
    """Iterate the scores of each document to the fixed point of the steps of ``expect``.

    Same as twins.active_set.solve_scores. A step with all components is that of ``expect`` with
    power 1 (theory 4.1, 4.2):

        R_jk = weights_jk s_k / Z_j,   score_shape_k <- shape_k + sum_j w_j R_jk.

    Between two such steps only the active components are updated; the inactive ones add a constant
    to Z_j. This is coordinate ascent, too, and its few weights stay in the cache. A document is
    done when a step with all components moves at most the fraction ``tolerance`` of its total, and
    no score without a prior grows. With few active components the steps are those of Newton's
    method, if scores are means. The arithmetic is in double precision.
    """
    n_components = weights.shape[1]
    longest = 1
    for i in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    width, length = _padded(n_components, _LANES), _padded(longest, _LANES)
    rows = _work_rows(11, width, np.float64)
    rows[:] = 1.0
    a, scores, added, prior, inverse_rate = rows[1], rows[2], rows[3], rows[4], rows[5]
    active_a, active_prior, active_rate, path = rows[6], rows[7], rows[8], rows[9:12]
    active = np.empty(n_components, dtype=np.int64)
    of_words = _work_rows(3, length, np.float64)
    tokens, rest, ratios = of_words[1], of_words[2], of_words[3]
    columns = np.empty((width, length))
    side = min(_MOST_NEWTON, n_components)
    curvature = np.empty((side, side))
    for i in range(indptr.shape[0] - 1):
        document = words[indptr[i] : indptr[i + 1]]
        for t in range(document.shape[0]):
            prefetch_row(weights, document[t])
            tokens[t] = counts[indptr[i] + t]
        n_words = _padded(document.shape[0], _LANES)
        for t in range(document.shape[0], n_words):
            tokens[t] = 0.0
            rest[t] = 1.0
        for k in range(n_components):
            a[k] = score_shape[i, k]
            prior[k] = shape[levels[i], k]
            inverse_rate[k] = 1.0 / rate[levels[i], k]
        free = not geometric_mean
        for k in range(n_components):
            free = free and prior[k] == 0.0
        n_full, n_few, steps_left = _FIRST_STEPS, _FEW_STEPS, n_steps
        while steps_left > 0:
            change = 1.0
            for _ in range(min(n_full, steps_left)):
                _set_scores(a, inverse_rate, n_components, geometric_mean, scores)
                _sum_ratios(document, tokens, weights, scores, added)
                change = _move(a, prior, scores, added, n_components)
                steps_left -= 1
            if steps_left == 0:
                break
            if change <= tolerance:
                if not (free and _grows(a, scores, inverse_rate, n_components)):
                    break
            n_active = _choose(
                a, prior, scores, inverse_rate, n_components, geometric_mean, free, tolerance,
                active,
            )  # fmt: skip
            _set_scores(a, inverse_rate, n_components, geometric_mean, scores)
            for m in range(n_active):
                k = active[m]
                active_a[m], active_prior[m], active_rate[m] = a[k], prior[k], inverse_rate[k]
                scores[k] = 0.0
            _gather(document, weights, scores, active, n_active, n_words, rest, columns)
            if not free or n_active > _MOST_NEWTON:
                steps_left -= _iterate_active(
                    columns, n_active, n_words, tokens, rest, active_prior, active_rate, active_a,
                    scores, ratios, added, path, geometric_mean, min(n_few, steps_left), tolerance,
                )  # fmt: skip
            else:
                steps_left -= _iterate_newton(
                    columns, n_active, n_words, tokens, rest, active_prior, active_rate, active_a,
                    scores, ratios, added, path, curvature, min(n_few, steps_left), tolerance,
                )  # fmt: skip
            for m in range(n_active):
                a[active[m]] = active_a[m]
            n_full, n_few = 1, 2 * n_few
        for k in range(n_components):
            score_shape[i, k] = a[k]


@part()
def _iterate_active(
    columns, n_active, n_words, tokens, rest, prior, inverse_rate, a,
    scores, ratios, added, path, geometric_mean, n_steps, tolerance,
):  # fmt: skip
    """Make steps with the active components until they converge; return how many.

    Every third step starts at an extrapolation of the last two (SQUAREM), which is undone if it
    does not shorten the step.
    """
    n_lanes = _padded(n_active, _LANES)
    begun, old, new = path[0], path[1], path[2]
    change = last_change = 1.0
    for step in range(n_steps):
        turn = step % 3
        if turn == 0:
            copy(a, n_active, begun)
        elif turn == 1:
            copy(a, n_active, old)
        else:
            copy(a, n_active, new)
            if change < _NEAR:
                _extrapolate(begun, old, new, prior, n_active, a)
        _set_scores(a, inverse_rate, n_lanes, geometric_mean, scores)
        _sum_columns(columns, n_active, n_words, tokens, rest, scores, ratios, added)
        last_change = change
        change = _move(a, prior, scores, added, n_active)
        if change <= tolerance:
            return step + 1
        if turn == 2 and change > last_change:
            copy(new, n_active, a)
            change = last_change
    return n_steps


@part()
def _iterate_newton(
    columns, n_active, n_words, tokens, rest, prior, inverse_rate, a,
    scores, ratios, added, path, curvature, n_steps, tolerance,
):  # fmt: skip
    """Make steps by Newton's method with the active components; return how many.

    There is no prior, and scores are means, so the objective is concave in them. If a step leads
    too far, so that the slope along it is reversed, the next begins where the slope should be zero.
    """
    n_lanes = _padded(n_active, _LANES)
    begun, before, move = path[0], path[1], path[2]
    rise = 0.0  # along the last step, where it began; 0 is no step
    for step in range(n_steps):
        copy(a, n_active, begun)
        _set_scores(a, inverse_rate, n_lanes, False, scores)
        _sum_columns(columns, n_active, n_words, tokens, rest, scores, ratios, added)
        change = _move(a, prior, scores, added, n_active)
        if change <= tolerance:
            return step + 1
        if rise > 0.0:
            slope = 0.0
            for m in range(n_active):
                slope += (a[m] / begun[m] - 1.0) * (begun[m] - before[m])
            if slope < -_REVERSED * rise:
                for m in range(n_active):
                    a[m] = before[m] + rise / (rise - slope) * (begun[m] - before[m])
                rise = 0.0
                continue
        rise = 0.0
        if change < _NEAR and step + 1 < n_steps:
            _curve(
                columns, n_active, n_words, tokens, ratios, inverse_rate, begun, a, curvature, move
            )
            _solve(curvature, n_active, move)
            for m in range(n_active):
                root, slope = math.sqrt(begun[m]), a[m] / begun[m] - 1.0
                # a small score grows by as much as the slope of the score, not of its root, tells
                ahead = max(root + move[m], 0.0) ** 2
                if move[m] > 0.0:
                    ahead = begun[m] + 2.0 * root * move[m]
                a[m] = max(ahead, _LEAST_NEWTON * a[m])
                rise += slope * (a[m] - begun[m])
            copy(begun, n_active, before)
    return n_steps


@part(fastmath=REORDER)
def _curve(
    columns, n_active, n_words, tokens, ratios, inverse_rate, a, plain, out_curvature, out_slope
):
    """Slope and curvature of the objective in the roots of ``a``, divided by 4 (theory 4.1).

    ``plain`` is the result of EM. Only the lower triangle of the curvature is written.
    """
    for t in range(n_words):
        ratios[t] = ratios[t] * ratios[t] / tokens[t] if tokens[t] > 0.0 else 0.0
    for m in range(n_active):
        for n in range(m + 1):
            total = 0.0
            for t in range(n_words):
                total += columns[m, t] * columns[n, t] * ratios[t]
            rates = inverse_rate[m] * inverse_rate[n]
            out_curvature[m, n] = math.sqrt(a[m] * a[n]) * rates * total
        slope = plain[m] / a[m] - 1.0
        out_curvature[m, m] += max(-0.5 * slope, 0.0) + _RIDGE
        out_slope[m] = 0.5 * math.sqrt(a[m]) * slope


@part(fastmath=REORDER)
def _solve(matrix, n, vector):
    """Replace a vector (n,) by the solution of matrix x = vector, by Cholesky's method.

    ``matrix`` is positive definite; its lower triangle is used, and lost.
    """
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i, j]
            for m in range(j):
                total -= matrix[i, m] * matrix[j, m]
            matrix[i, j] = math.sqrt(max(total, _RIDGE)) if i == j else total / matrix[j, j]
    for i in range(n):
        for j in range(i):
            vector[i] -= matrix[i, j] * vector[j]
        vector[i] /= matrix[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            vector[i] -= matrix[j, i] * vector[j]
        vector[i] /= matrix[i, i]


@part()
def _set_scores(a, inverse_rate, n, geometric_mean, out_scores):
    """Mean or geometric mean of Gamma(a, rate)."""
    if geometric_mean:
        for k in range(n):
            out_scores[k] = max(exp_digamma(a[k]) * inverse_rate[k], _FLOOR)
    else:
        for k in range(n):
            out_scores[k] = a[k] * inverse_rate[k]


@part(fastmath=REORDER)
def _sum_ratios(document, tokens, weights, scores, out_added):
    """Sum w_j weights_jk / Z_j over the words of a document."""
    n_components = weights.shape[1]
    for k in range(n_components):
        out_added[k] = 0.0
    for t in range(document.shape[0]):
        j = document[t]
        norm = 0.0
        for k in range(n_components):
            norm += weights[j, k] * scores[k]
        if norm > 0.0:  # else the word is impossible under every component
            ratio = tokens[t] / norm
            for k in range(n_components):
                out_added[k] += ratio * weights[j, k]


@part(fastmath=REORDER)
def _move(a, prior, scores, added, n):
    """Set a_k to prior_k + s_k added_k; return the moved fraction of the total."""
    change = 0.0
    total = 0.0
    for k in range(n):
        new = prior[k] + scores[k] * added[k]
        change += abs(new - a[k])
        total += new
        a[k] = new
    return change / max(total, _FLOOR)


@part()
def _grows(a, scores, inverse_rate, n):
    """Whether the last step, from ``scores``, let a score without a prior grow, however small."""
    for k in range(n):
        if a[k] > _GROWING * (scores[k] / inverse_rate[k]):
            return True
    return False


@part()
def _choose(a, prior, scores, inverse_rate, n, geometric_mean, free, tolerance, out_active):
    """List the active components; return how many.

    Without a prior (``free``), a small score that the last step, from ``scores``, made clearly
    smaller most likely goes to zero: it is made much smaller, and is inactive. If that was wrong it
    grows again.

    The derivative of a component's count c by its own a is at most c / a, or c psi'(a), which is
    below c (1 / a + 1 / a^2). Components below the tolerance are inactive, too.
    """
    total = 0.0
    for k in range(n):
        total += a[k]
    n_active = 0
    for k in range(n):
        growing = False
        if free:
            before = scores[k] / inverse_rate[k]
            if a[k] * n < _SMALL * total and a[k] < _FALLING * before:
                a[k] *= _VANISHING
                continue
            growing = a[k] > _GROWING * before
        count = a[k] - prior[k]
        bend = 1.0 + 1.0 / a[k] if geometric_mean else 1.0
        if growing or (count * bend > _INACTIVE * a[k] and count * n > tolerance * total):
            out_active[n_active] = k
            n_active += 1
    return n_active


@part(fastmath=REORDER)
def _gather(document, weights, inactive_scores, active, n_active, n_words, out_rest, out_columns):
    """Copy the weights of active components, a row for each; sum what the others add to Z_j.

    Rows and words are padded with zeros, to a multiple of ``_TOGETHER`` and to ``n_words``.
    """
    for t in range(document.shape[0]):
        j = document[t]
        rest = 0.0
        for k in range(weights.shape[1]):
            rest += weights[j, k] * inactive_scores[k]
        out_rest[t] = rest
        for m in range(n_active):
            out_columns[m, t] = weights[j, active[m]]
    for m in range(_padded(n_active, _TOGETHER)):
        for t in range(document.shape[0] if m < n_active else 0, n_words):
            out_columns[m, t] = 0.0


@part(fastmath=REORDER)
def _sum_columns(columns, n_active, n_words, tokens, rest, scores, ratios, out_added):
    """Compute the sums of ``_sum_ratios`` for active components and all words at once."""
    for t in range(n_words):
        ratios[t] = rest[t]
    for m in range(0, n_active, _TOGETHER):
        s0, s1, s2, s3 = scores[m], scores[m + 1], scores[m + 2], scores[m + 3]
        for t in range(n_words):
            ratios[t] += (
                columns[m, t] * s0
                + columns[m + 1, t] * s1
                + columns[m + 2, t] * s2
                + columns[m + 3, t] * s3
            )
    for t in range(n_words):
        ratios[t] = tokens[t] / ratios[t] if ratios[t] > 0.0 else 0.0
    for m in range(0, n_active, _TOGETHER):
        sum0 = sum1 = sum2 = sum3 = 0.0
        for t in range(n_words):
            sum0 += columns[m, t] * ratios[t]
            sum1 += columns[m + 1, t] * ratios[t]
            sum2 += columns[m + 2, t] * ratios[t]
            sum3 += columns[m + 3, t] * ratios[t]
        out_added[m], out_added[m + 1], out_added[m + 2], out_added[m + 3] = sum0, sum1, sum2, sum3


@part(fastmath=REORDER)
def _extrapolate(begun, old, new, prior, n, out_a):
    """Extrapolate two steps: begun + 2 r first + r^2 bend, r = |first| / |bend|."""
    squares = 0.0
    bends = 0.0
    for m in range(n):
        first = old[m] - begun[m]
        bend = new[m] - old[m] - first
        squares += first * first
        bends += bend * bend
    stride = _LONGEST
    if squares < bends * _LONGEST * _LONGEST:
        stride = max(1.0, math.sqrt(squares / bends))
    for m in range(n):
        first = old[m] - begun[m]
        bend = new[m] - old[m] - first
        ahead = begun[m] + stride * (2.0 * first + stride * bend)
        out_a[m] = max(ahead, prior[m] + _LEAST * (new[m] - prior[m]))


@part()
def _padded(n, multiple):
    return (n + multiple - 1) // multiple * multiple
