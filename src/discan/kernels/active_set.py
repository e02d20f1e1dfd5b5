# SPDX-License-Identifier: BSD-3-Clause
"""Scores of documents given the loadings, settled: most steps look at few components only."""

import math

import numpy as np

from .compile import REORDER, kernel, part
from .simd.memory import copy, prefetch_row, work_rows
from .special import exp_digamma

__all__ = ["solve_scores"]

# Scores below this are held up to it, so that no word loses all its components to underflow.
_FLOOR = 1e-150
# A component rests if a change of its score comes back, a step later, as less than this share.
_AT_REST = 0.05
_FIRST_STEPS = 3  # with all components, before the first choice of those that move
_FEW_STEPS = 6  # with these before the next choice, twice as many before the one after
# Strides begin when a step moves less than this, lest they lead to another optimum.
_NEAR = 0.01
_LONGEST = 1000.0  # stride, in steps
_LEAST = 0.1  # of a component's count that a stride leaves
_ABREAST = 4  # components whose sums are made together
_LANES = 16  # loops over a multiple of this have no rest that is not vector code


@kernel()
def solve_scores(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    geometric_mean, n_steps, tolerance,
):  # fmt: skip
    """Bring the scores of each document to the fixed point of the steps of ``expect``.

    Same as twins.active_set.solve_scores. A step with all components is that of ``expect``, without power:

        R_jk = weights_jk s_k / Z_j,   score_shape_k <- shape_k + sum_j w_j R_jk.

    Between two of these, only components that do not rest are updated, the others add a constant
    to Z_j. That is coordinate ascent too, of a small table that stays in the cache. A document is
    settled when a step with all components moves at most ``tolerance`` of its total. All is done
    in double precision.
    """
    n_components = weights.shape[1]
    longest = 1
    for i in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    room, length = _padded(n_components, _LANES), _padded(longest, _LANES)
    rows = work_rows(11, room, np.float64)
    rows[:] = 1.0
    a, scores, added, prior, inverse_rate = rows[1], rows[2], rows[3], rows[4], rows[5]
    active_a, active_prior, active_rate, path = rows[6], rows[7], rows[8], rows[9:12]
    active = np.empty(n_components, dtype=np.int64)
    of_words = work_rows(3, length, np.float64)
    tokens, rest, shares = of_words[1], of_words[2], of_words[3]
    columns = np.empty((room, length))
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
        n_full, n_few, steps_left = _FIRST_STEPS, _FEW_STEPS, n_steps
        while steps_left > 0:
            change = 1.0
            for _ in range(min(n_full, steps_left)):
                _set_scores(a, inverse_rate, n_components, geometric_mean, scores)
                _sum_shares(document, tokens, weights, scores, added)
                change = _move(a, prior, scores, added, n_components)
                steps_left -= 1
            if change <= tolerance or steps_left == 0:
                break
            _set_scores(a, inverse_rate, n_components, geometric_mean, scores)
            n_active = _choose(a, prior, n_components, geometric_mean, tolerance, active)
            for m in range(n_active):
                k = active[m]
                active_a[m], active_prior[m], active_rate[m] = a[k], prior[k], inverse_rate[k]
                scores[k] = 0.0
            _gather(document, weights, scores, active, n_active, n_words, rest, columns)
            steps_left -= _settle_active(
                columns, n_active, n_words, tokens, rest, active_prior, active_rate, active_a,
                scores, shares, added, path, geometric_mean, min(n_few, steps_left), tolerance,
            )  # fmt: skip
            for m in range(n_active):
                a[active[m]] = active_a[m]
            n_full, n_few = 1, 2 * n_few
        for k in range(n_components):
            score_shape[i, k] = a[k]


@part()
def _settle_active(
    columns, n_active, n_words, tokens, rest, prior, inverse_rate, a,
    scores, shares, added, path, geometric_mean, n_steps, tolerance,
):  # fmt: skip
    """Make steps with the active components until they settle; return how many.

    Every third begins a stride ahead of the last two (SQUAREM), if that shortens the step.
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
                _stride(begun, old, new, prior, n_active, a)
        _set_scores(a, inverse_rate, n_lanes, geometric_mean, scores)
        _sum_columns(columns, n_active, n_words, tokens, rest, scores, shares, added)
        last_change = change
        change = _move(a, prior, scores, added, n_active)
        if change <= tolerance:
            return step + 1
        if turn == 2 and change > last_change:
            copy(new, n_active, a)
            change = last_change
    return n_steps


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
def _sum_shares(document, tokens, weights, scores, out_added):
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
            share = tokens[t] / norm
            for k in range(n_components):
                out_added[k] += share * weights[j, k]


@part(fastmath=REORDER)
def _move(a, prior, scores, added, n):
    """Set a_k to prior_k + s_k added_k; return the share of the total that this moved."""
    change = 0.0
    total = 0.0
    for k in range(n):
        new = prior[k] + scores[k] * added[k]
        change += abs(new - a[k])
        total += new
        a[k] = new
    return change / max(total, _FLOOR)


@part()
def _choose(a, prior, n, geometric_mean, tolerance, out_active):
    """List the components that do not rest; return their number.

    The derivative of a component's count c by its own a is at most c / a, or c psi'(a), which is
    below c (1 / a + 1 / a^2). What is lost in the tolerance rests, too.
    """
    total = 0.0
    for k in range(n):
        total += a[k]
    n_active = 0
    for k in range(n):
        count = a[k] - prior[k]
        bend = 1.0 + 1.0 / a[k] if geometric_mean else 1.0
        if count * bend > _AT_REST * a[k] and count * n > tolerance * total:
            out_active[n_active] = k
            n_active += 1
    return n_active


@part(fastmath=REORDER)
def _gather(document, weights, resting_scores, active, n_active, n_words, out_rest, out_columns):
    """Copy the weights of active components, a row for each; sum up what the others add to Z_j.

    Rows and words are filled up with zeros, to ``n_words`` and a multiple of ``_ABREAST``.
    """
    for t in range(document.shape[0]):
        j = document[t]
        rest = 0.0
        for k in range(weights.shape[1]):
            rest += weights[j, k] * resting_scores[k]
        out_rest[t] = rest
        for m in range(n_active):
            out_columns[m, t] = weights[j, active[m]]
    for m in range(_padded(n_active, _ABREAST)):
        for t in range(document.shape[0] if m < n_active else 0, n_words):
            out_columns[m, t] = 0.0


@part(fastmath=REORDER)
def _sum_columns(columns, n_active, n_words, tokens, rest, scores, shares, out_added):
    """Do what ``_sum_shares`` does, for active components and all words at once."""
    for t in range(n_words):
        shares[t] = rest[t]
    for m in range(0, n_active, _ABREAST):
        s0, s1, s2, s3 = scores[m], scores[m + 1], scores[m + 2], scores[m + 3]
        for t in range(n_words):
            shares[t] += (
                columns[m, t] * s0
                + columns[m + 1, t] * s1
                + columns[m + 2, t] * s2
                + columns[m + 3, t] * s3
            )
    for t in range(n_words):
        shares[t] = tokens[t] / shares[t] if shares[t] > 0.0 else 0.0
    for m in range(0, n_active, _ABREAST):
        sum0 = sum1 = sum2 = sum3 = 0.0
        for t in range(n_words):
            sum0 += columns[m, t] * shares[t]
            sum1 += columns[m + 1, t] * shares[t]
            sum2 += columns[m + 2, t] * shares[t]
            sum3 += columns[m + 3, t] * shares[t]
        out_added[m], out_added[m + 1], out_added[m + 2], out_added[m + 3] = sum0, sum1, sum2, sum3


@part(fastmath=REORDER)
def _stride(begun, old, new, prior, n, out_a):
    """Look ahead of two steps: begun + 2 r first + r^2 bend, r = |first| / |bend|."""
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
