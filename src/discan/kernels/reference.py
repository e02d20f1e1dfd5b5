# SPDX-License-Identifier: BSD-3-Clause
"""What every kernel computes, in plain NumPy: slow, short, and the specification of the loops.

A twin takes the kernel's arguments without the ``out_*`` ones, and returns new arrays instead of
writing to any. Where a kernel draws, its twin draws the same numbers in the same order.
"""

import itertools
import math
from functools import cache
from itertools import pairwise

import numpy as np
from numpy import exp, log
from scipy.special import digamma, gammaln, softmax, xlogy
from scipy.special import gammaln as log_gamma

__all__ = [
    "Stream",
    "add_counts",
    "add_neighbours",
    "assign",
    "augment_loadings",
    "augment_scores",
    "average_loadings",
    "average_used",
    "chib",
    "collapsed_sweep",
    "count_tables",
    "count_tokens",
    "digamma",
    "document_counts",
    "draw_component",
    "draw_listed",
    "draw_loadings",
    "draw_log_loadings",
    "exp",
    "exp_digamma",
    "expect",
    "expect_conditional",
    "expect_others",
    "fold_in",
    "frozen_sweep",
    "gibbs_split",
    "gibbs_sweep",
    "glance",
    "index_words",
    "listed_sweep",
    "loading_geometry",
    "loading_penalty",
    "log",
    "log_factor",
    "log_gamma",
    "log_loadings",
    "log_peaks",
    "log_rising",
    "lowest",
    "move_counts",
    "move_totals",
    "renew_counts",
    "renew_loadings",
    "settle",
    "union_sizes",
]

SWEEP, START, AUGMENT, LOADINGS, EVIDENCE, FOLD_IN, POOL = range(1, 8)

FLOOR = 1e-150  # of variational weights
TINY = 1e-300  # of products of a loading and a score
KEPT = 0.3  # of a plain step, at least, after a long stride
FEW_LEVELS = 16  # of exposure: up to so many, scores are drawn by level and not by document
GLANCE = 64  # numbers that are looked at together
LANES = 16  # places that are added up side by side
MANY = 2  # a count above so many times K is split by binomials, not token by token


# ------------------------------------------------------------------------------- random numbers

_WORD = 2**64 - 1
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def _mix(value):
    value &= _WORD
    value = ((value ^ (value >> 30)) * _MIX_1) & _WORD
    value = ((value ^ (value >> 27)) * _MIX_2) & _WORD
    return value ^ (value >> 31)


class Stream:
    """The random numbers of one (seed, purpose, cycle, unit), on Python's whole numbers."""

    def __init__(self, seed, purpose, cycle, unit):
        """Start at a position, with an odd increment, that are hashes of the name."""
        key = _mix(int(seed) + _GOLDEN)
        key = _mix(key ^ (int(purpose) * _MIX_1))
        key = _mix(key + int(cycle) * _GOLDEN)
        key = _mix(key ^ ((int(unit) + _GOLDEN) * _MIX_2))
        self.position = key
        self.increment = _mix(key + _GOLDEN) | 1
        if (self.increment ^ (self.increment >> 1)).bit_count() < 24:
            self.increment ^= 0xAAAAAAAAAAAAAAAA

    def uniform(self):
        """Draw one of the 2^52 midpoints of equal parts of (0, 1)."""
        self.position = (self.position + self.increment) & _WORD
        return ((_mix(self.position) >> 12) + 0.5) / 2**52

    def uniforms(self, n):
        """Draw n of them."""
        return [self.uniform() for _ in range(n)]

    def normal(self):
        """Draw a standard normal, by a point in one of 256 layers of equal area under its curve."""
        edges = _ziggurat()
        while True:
            across = self.uniform()
            bits = _mix(self.position)
            layer, sign = bits % 256, -1 if bits & 256 else 1
            x = across * edges[layer]
            if x < edges[layer + 1]:
                return sign * x
            if layer == 0:
                return sign * self._normal_beyond(edges[1])
            low, high = (float(np.exp(-0.5 * edges[n] ** 2)) for n in (layer, layer + 1))
            if low + self.uniform() * (high - low) < math.exp(-0.5 * x * x):
                return sign * x

    def _normal_beyond(self, edge):
        """Draw a normal above an edge: exponential, accepted with probability exp(-x^2 / 2)."""
        while True:
            x = -math.log(self.uniform()) / edge
            if -2 * math.log(self.uniform()) > x * x:
                return edge + x

    def log_gamma(self, shape):
        """Draw log G(shape)."""
        if shape < 1:
            return self._log_gamma_below_one(shape, self._place(shape))
        return self._log_gamma_above_one(shape)

    def log_gammas(self, shapes):
        """Draw log G(shape) for a row of shapes (K,), the small ones first; -inf for shape 0."""
        logs = np.full(len(shapes), -np.inf)
        small = np.flatnonzero((shapes > 0) & (shapes < 1))
        places = [self._place(shape) for shape in shapes[small]]
        chances = self.uniforms(len(small))
        for k, place, chance in zip(small, places, chances, strict=True):
            logs[k] = math.log(place) / shapes[k]
            if place > 1:
                logs[k] = self._log_gamma_below_one(shapes[k], place)
            elif chance > math.exp(-math.exp(logs[k])):
                logs[k] = self._log_gamma_below_one(shapes[k], self._place(shapes[k]))
        for k in np.flatnonzero(shapes >= 1):
            logs[k] = self._log_gamma_above_one(shapes[k])
        return logs

    def gammas(self, shapes):
        """Draw G(shape) for a row of shapes; what would be denormal is zero."""
        return _exp_or_zero(self.log_gammas(shapes))

    def _place(self, shape):
        return self.uniform() * (1 + shape * math.exp(-1))

    def _log_gamma_below_one(self, shape, place):
        """Draw below x^(a - 1) for x <= 1 or exp(-x) beyond, then thin to x^(a - 1) exp(-x)."""
        while True:
            if place <= 1:
                log_x = math.log(place) / shape
                x = math.exp(log_x)
                if x < 1e-17 or self.uniform() <= math.exp(-x):
                    return log_x
            else:
                x = 1 - math.log(self.uniform())
                if math.log(self.uniform()) <= (shape - 1) * math.log(x):
                    return math.log(x)
            place = self._place(shape)

    def _log_gamma_above_one(self, shape):
        d = shape - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = self.normal()
            if 1 + c * x <= 0:
                continue
            v = (1 + c * x) * (1 + c * x) * (1 + c * x)
            u = self.uniform()
            squeezed = u < 1 - 0.0331 * x * x * x * x
            if squeezed or math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v)):
                return math.log(d * v)

    def log_beta(self, a, b):
        """Draw the logarithm of a Beta(a, b) variable from two gammas."""
        x, y = self.log_gamma(a), self.log_gamma(b)
        return x - np.logaddexp(x, y)

    def binomial(self, n, p):
        """Draw Binomial(n, p), by inversion if few successes (or failures) are expected."""
        if p > 0.5:
            return n - self.binomial(n, 1 - p)
        if n <= 0 or p <= 0:
            return 0
        if n * p < 10:
            return self._binomial_by_inversion(n, p)
        return self._binomial_by_rejection(n, p)

    def _binomial_by_inversion(self, n, p):
        """Find the first k whose distribution function reaches u."""
        probability = math.exp(n * math.log1p(-p))
        u, k = self.uniform(), 0
        while u > probability and k < n:
            u -= probability
            k += 1
            probability *= p / (1 - p) * (n - k + 1) / k
        return k

    def _binomial_by_rejection(self, n, p):
        """Accept k with probability proportional to p(k) / envelope (Hormann, 1993)."""
        spread = math.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * p
        mode = math.floor((n + 1) * p)

        def log_mass(k):
            return k * math.log(p / (1 - p)) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

        while True:
            u, v = self.uniform() - 0.5, self.uniform()
            us = 0.5 - abs(u)
            k = math.floor((2 * a / us + b) * u + n * p + 0.5)
            if not 0 <= k <= n:
                continue
            if us >= 0.07 and v <= 0.92 - 4.2 / b:
                return k
            height = v * (2.83 + 5.1 / b) * spread / (a / (us * us) + b)
            if math.log(height) <= log_mass(k) - log_mass(mode):
                return k

    def multinomial(self, n, weights, total):
        """Draw how n falls over ``weights`` (K,), by conditional binomials."""
        draws = np.zeros(len(weights), dtype=np.int64)
        left = total
        for k, weight in enumerate(weights):
            if n == 0:
                break
            if left <= weight or k == len(weights) - 1:
                draws[k] = n if weight > 0 else 0
            else:
                draws[k] = self.binomial(n, weight / left)
            n -= int(draws[k])
            left -= weight
        draws[np.argmax(weights)] += n  # only if rounding ran out of weight
        return draws

    def tables(self, n, concentration):
        """Draw the number of occupied tables after n customers of a Chinese restaurant."""
        seats = range(1, int(n))
        return min(int(n), 1) + sum(
            self.uniform() * (concentration + s) < concentration for s in seats
        )

    def choose(self, weights, total):
        """Draw an index in proportion to ``weights`` (K,), never one of weight zero."""
        k = np.searchsorted(np.cumsum(weights), self.uniform() * total, side="right")
        return min(int(k), int(np.flatnonzero(weights)[-1]))


@cache
def _ziggurat():
    """Right edges of 256 layers of equal area under exp(-x^2 / 2), the lowest with the tail."""
    last = 3.6541528853610088
    height = math.exp(-0.5 * last**2)
    area = last * height + math.sqrt(0.5 * math.pi) * math.erfc(last / math.sqrt(2))
    edges = [area / height, last]
    while len(edges) < 256:
        x = edges[-1]
        edges.append(math.sqrt(-2 * math.log(area / x + math.exp(-0.5 * x**2))))
    return [*edges, 0.0]


def _exp_or_zero(logs):
    """Exponentials to the last bit; zero where they would be denormal."""
    return np.array([math.exp(x) if x > -708 else 0.0 for x in logs])


# ---------------------------------------------------------------------------- special functions


def exp_digamma(x):
    """Geometric mean of a Gamma(x, 1) variable."""
    return np.exp(digamma(x))


def log_rising(a, n):
    """Log Gamma(a + n) - log Gamma(a)."""
    return gammaln(a + n) - gammaln(a)


def log_factor(component_counts, shape, rate, present):
    """Give log F(c) up to the model's constant, for counts (..., K)."""
    a = component_counts + shape
    terms = gammaln(a) - a * np.log(rate)
    return (terms - np.where(component_counts == 0, np.log(present), 0.0)).sum(axis=-1)


# ----------------------------------------------------------------------- expected counts


def _documents(indptr, *arrays):
    """Yield the number of each document and its part of each array."""
    for i, (start, stop) in enumerate(pairwise(indptr)):
        yield i, *(array[start:stop] for array in arrays)


def expect(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    geometric_mean, power, n_inner, tolerance,
):  # fmt: skip
    """Update the scores and split every count in expectation (spec 4.1, 4.2).

    Returns the new score_shape (I, K), expected loading counts (J, K) and objective (I,). The
    kernel gives the counts divided by the weights.
    """
    score_shape = score_shape.copy()
    loading_counts = np.zeros(weights.shape)
    objective = np.zeros(len(score_shape))
    for i, w, n in _documents(indptr, words, counts):
        alpha, b, a = shape[levels[i]], rate[levels[i]], score_shape[i]
        converged = False
        for _ in range(n_inner):
            split, objective[i] = _expected_split(weights[w], n, alpha, b, a, geometric_mean, power)
            new = alpha + split.sum(axis=0)
            change = np.abs(new - a).sum()
            a[:] = new
            if converged:
                break
            converged = change <= tolerance * new.sum()
        np.add.at(loading_counts, w, split)
    return score_shape, loading_counts, objective


def _expected_split(weights, n, alpha, b, a, geometric_mean, power):
    """Split counts n (W,) by weights (W, K); return also the objective of this step."""
    scores = np.maximum(exp_digamma(a) / b, FLOOR) if geometric_mean else a / b
    joint = weights * scores**power
    norm = joint.sum(axis=1, keepdims=True)
    split = np.divide(n[:, None] * joint, norm, out=np.zeros(joint.shape), where=norm > 0)
    objective = xlogy(n, norm[:, 0]).sum() / power
    if geometric_mean:
        c = split.sum(axis=0)
        objective += (gammaln(alpha + c) - (alpha + c) * np.log(b) - c * np.log(scores)).sum()
    else:
        objective += xlogy(alpha, scores).sum()
    return split, objective


def settle(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    geometric_mean, n_steps, tolerance,
):  # fmt: skip
    """Bring scores to the fixed point of ``expect``; components at rest are left out of most steps.

    Returns the new score_shape (I, K).
    """
    score_shape = score_shape.astype(float)
    for i, w, n in _documents(indptr, words, counts):
        alpha, b, a, T = shape[levels[i]], rate[levels[i]], score_shape[i], weights[w].astype(float)
        n_full, n_few, left = 3, 6, n_steps
        while left > 0:
            for _ in range(min(n_full, left)):
                change = _settling_step(T, n, alpha, b, a, 0.0, geometric_mean)
                left -= 1
            if change <= tolerance or left == 0:
                break
            active = _moving(a, alpha, geometric_mean, tolerance)
            rest = T[:, ~active] @ _mean_scores(a[~active], b[~active], geometric_mean)
            part = a[active]
            given = T[:, active], n, alpha[active], b[active], part, rest, geometric_mean
            left -= _settle_active(*given, min(n_few, left), tolerance)
            a[active] = part
            n_full, n_few = 1, 2 * n_few
    return score_shape


def _settling_step(T, n, alpha, b, a, rest, geometric_mean):
    """Move a, in place, by one step; return the share of its total that this moved."""
    scores = _mean_scores(a, b, geometric_mean)
    norm = T @ scores + rest
    shares = np.divide(n, norm, out=np.zeros(norm.shape), where=norm > 0)
    new = alpha + scores * (shares @ T)
    change = np.abs(new - a).sum() / max(new.sum(), FLOOR)
    a[:] = new
    return change


def _mean_scores(a, b, geometric_mean):
    return np.maximum(exp_digamma(a) / b, FLOOR) if geometric_mean else a / b


def _moving(a, alpha, geometric_mean, tolerance):
    """Components whose count would follow a change of its a, and is not lost in the tolerance."""
    count = a - alpha
    bend = 1.0 + 1.0 / a if geometric_mean else 1.0
    return (count * bend > 0.05 * a) & (count * len(a) > tolerance * a.sum())


def _settle_active(T, n, alpha, b, a, rest, geometric_mean, n_steps, tolerance):
    """Steps, in place, with a stride before every third; return how many."""
    change, path = 1.0, []
    for step in range(n_steps):
        path = [a.copy()] if step % 3 == 0 else [*path, a.copy()]
        if len(path) == 3 and change < 0.01:
            first, bend = path[1] - path[0], path[2] - 2 * path[1] + path[0]
            squares, bends = first @ first, bend @ bend
            stride = max(1.0, np.sqrt(squares / bends)) if squares < 1e6 * bends else 1000.0
            a[:] = path[0] + stride * (2 * first + stride * bend)
            a[:] = np.maximum(a, alpha + 0.1 * (path[2] - alpha))
        last, change = change, _settling_step(T, n, alpha, b, a, rest, geometric_mean)
        if change <= tolerance:
            return step + 1
        if len(path) == 3 and change > last:
            a[:], change = path[2], last
    return n_steps


def expect_conditional(
    indptr, words, counts, levels, shape, rate, present, log_weights, score_shape, damping,
    n_inner, tolerance,
):  # fmt: skip
    """Structured variational step for scores that may be exactly zero (spec 4.3).

    Returns score_shape, absent and damping (I, K), loading counts (J, K) and objective (I,).
    """
    score_shape, damping, absent = score_shape.copy(), damping.copy(), np.zeros(damping.shape)
    loading_counts = np.zeros(log_weights.shape)
    objective = np.zeros(len(score_shape))
    with np.errstate(divide="ignore"):
        logit_spikes = np.log1p(-present) - np.log(present)
    for i, w, n in _documents(indptr, words, counts):
        alpha, b, logit_spike = shape[levels[i]], rate[levels[i]], logit_spikes[levels[i]]
        a, T = score_shape[i], log_weights[w]
        possible = (T > -np.inf).any(axis=1)
        T, m = T[possible], n[possible]
        shares = softmax(T + digamma(a) - np.log(b) - damping[i], axis=1)
        bound = -np.inf
        for step in range(n_inner):
            a, eta, push = _conditional_scores(m, shares, alpha, b, a, logit_spike)
            for t in range(len(m)):
                shares[t] = _conditional_shares(t, m, shares, T[t], eta, push)
            a, eta, push = _conditional_scores(m, shares, alpha, b, a, logit_spike)
            none, c = np.exp(m @ _log_not(shares)), m @ shares
            previous, bound = bound, _entropy(shares, T, m)
            bound += ((c + alpha - a) * eta + gammaln(a) - a * np.log(b) + push * none).sum()
            if step > 0 and bound - previous <= tolerance * (1 + abs(bound)):
                break
        score_shape[i], absent[i], damping[i] = a, -np.expm1(-push) * none, push * none
        objective[i] = bound if possible.all() else -np.inf
        np.add.at(loading_counts, w[possible], m[:, None] * shares)
    return score_shape, absent, damping, loading_counts, objective


def expect_others(
    indptr, words, counts, levels, shape, rate, loadings, group_of_word, gamma, gamma_totals,
    inverse_totals, score_shape, stride, n_inner, tolerance,
):  # fmt: skip
    """Split every count by what all other tokens say (collapsed variational inference).

    Returns the new score_shape (I, K), expected loading counts (J, K) and objective (I,).
    """
    score_shape = score_shape.copy()
    loading_counts = np.zeros(loadings.shape)
    objective = np.zeros(len(score_shape))
    for i, w, n in _documents(indptr, words, counts):
        alpha, b, a = shape[levels[i]], rate[levels[i]], score_shape[i]
        given = loadings[w], gamma[w, None], gamma_totals[group_of_word[w], None]
        converged = False
        for _ in range(n_inner):
            split, objective[i] = _split_by_others(
                *given, inverse_totals[group_of_word[w]], n, alpha, b, a
            )
            c, before = split.sum(axis=0), a - alpha
            change = np.abs(c - before).sum()
            ahead = np.maximum(before + stride * (c - before), KEPT * c) if stride > 1 else c
            a[:] = alpha + ahead * (c.sum() / ahead.sum() if ahead.sum() > 0 else 1)
            if converged:
                break
            converged = change <= tolerance * c.sum()
        np.add.at(loading_counts, w, split)
    return score_shape, loading_counts, objective


def add_neighbours(indptr, words, counts, columns, signs, company, totals):
    """Add what stands beside each word of the documents; return the company (J, M), totals (J,)."""
    company, totals = company.copy(), totals.copy()
    for _, w, n in _documents(indptr, words, counts):
        beside = n[None, :] * (1 - np.eye(len(w)))  # of each word, all the others
        share = n / n.sum()
        for j, row, part in zip(w, beside, share, strict=True):
            np.add.at(company[j], columns[w], part * signs[w] * row)
            totals[j] += part * row.sum()
    return company, totals


def _split_by_others(theta, gamma, gamma_total, inverse_total, n, alpha, b, a):
    """Split counts n (W,) of words with loadings (W, K); return also the objective."""
    joint = theta * a / b
    norm = joint.sum(axis=1, keepdims=True)
    token = np.minimum(n, 1)[:, None]  # a fraction of a token speaks for itself less
    own = np.divide(token * joint, norm, out=np.zeros(joint.shape), where=norm > 0)
    scores = np.maximum(a - own, alpha) / b
    theta = np.maximum(theta - own * inverse_total, gamma * inverse_total)
    theta = theta / np.maximum(1 - own * inverse_total, gamma_total * inverse_total)
    joint = scores * theta
    chance = joint.sum(axis=1, keepdims=True)
    possible = norm > 0
    split = np.divide(n[:, None] * joint, chance, out=np.zeros(joint.shape), where=possible)
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(possible, chance, 0) / scores.sum(axis=1, keepdims=True))
    return split, (n * logs[:, 0]).sum()


def renew_counts(new, factor, way, least, group_of_word, first, last, counts):
    """Counts (J, K) moved towards the new ones, and what the moved ones add to the totals."""
    counts, rows = counts.copy(), slice(first, last)
    goal = factor * new[rows]
    counts[rows] = np.maximum(counts[rows] + way * (goal - counts[rows]), least * goal)
    totals = np.zeros((group_of_word.max() + 1, counts.shape[1]))
    np.add.at(totals, group_of_word[rows], counts[rows])
    return counts, totals


def renew_loadings(counts, gamma, group_of_word, inverse_totals, first, last):
    """Loadings (last - first, K) of some words."""
    rows = slice(first, last)
    return (gamma[rows, None] + counts[rows]) * inverse_totals[group_of_word[rows]]


def count_tables(counts, levels, concentration):
    """Expected number of tables of expected counts (I, K)."""
    a, c = concentration[levels], np.maximum(counts, 1e-100)
    some = -np.expm1(-c)
    return some * a * (digamma(c / some + a) - digamma(a))


def _log_not(shares):
    return np.log1p(-np.minimum(shares, 1 - 1e-15))


def _entropy(shares, logits, n):
    """sum_jk n_j N_jk (logit_jk - log N_jk), nothing where N_jk = 0."""
    terms = shares * np.where(shares > 0, logits, 0) - xlogy(shares, shares)
    return (np.reshape(n, (-1, 1)) * terms).sum()


def _conditional_scores(n, shares, alpha, b, a, logit_spike):
    """Best slab a and spike r of each component, in turns; return a, eta and D = -log(1 - r)."""

    def best_push(a):
        slab = (alpha - a) * digamma(a) + gammaln(a) - gammaln(alpha)
        return np.logaddexp(0, logit_spike - slab)

    c, log_none = n @ shares, n @ _log_not(shares)
    push = best_push(a)
    for _ in range(3):
        present = np.exp(-push) + np.expm1(-push) * np.expm1(log_none)  # 1 - r S
        a = alpha + c / present
        push = best_push(a)
    return a, digamma(a) - np.log(b), push


def _conditional_shares(t, n, shares, T, eta, push):
    """Move the shares of word t: the stationary equation, or the first half-way step that gains."""
    old, others = shares[t], np.delete(np.arange(len(n)), t)
    log_others = n[others] @ _log_not(shares[others])  # log P(no token of another word)

    def part_of_bound(N):
        return _entropy(N, T + eta, n[t]) + (push * np.exp(log_others + n[t] * _log_not(N))).sum()

    new = softmax(T + eta - push * np.exp(log_others + (n[t] - 1) * _log_not(old)))
    for attempt in range(40):
        trial = old + (new - old) * 0.5**attempt
        if part_of_bound(trial) >= part_of_bound(old):
            return trial
    return old


def loading_geometry(loading_shape, group_of_word, totals):
    """Give exp E[log theta_jk] (J, K) under Dirichlet loadings."""
    return np.maximum(np.exp(digamma(loading_shape) - digamma(totals)[group_of_word]), FLOOR)


def loading_penalty(loading_shape, group_of_word, totals, gamma, gamma_totals):
    """-KL(q(Theta) || prior) of Dirichlet loadings (spec 4.4)."""
    prior, prior_totals = gamma[:, None], gamma_totals[:, None]
    log_theta = digamma(loading_shape) - digamma(totals)[group_of_word]
    cells = gammaln(loading_shape) - gammaln(prior) + (prior - loading_shape) * log_theta
    return cells.sum() + (gammaln(prior_totals) - gammaln(totals)).sum()


def log_peaks(loadings, gamma):
    """Sum of gamma_j log(theta_jk), the log prior of point loadings in the log basis."""
    return (gamma[:, None] * np.log(np.maximum(loadings, 1e-300))).sum()


# ------------------------------------------------------------------------------- direct Gibbs


def gibbs_sweep(
    indptr, words, counts, levels, shape, rate, present, loadings, component_counts,
    seed, cycle, first_document,
):  # fmt: skip
    """Draw the scores given counts, then the split of each count (spec 4.5).

    Returns component_counts and scores (I, K), loading counts (J, K), log fit and log factor (I,).
    """
    new_counts = np.zeros_like(component_counts)
    scores = np.zeros(component_counts.shape)
    loading_counts = np.zeros(loadings.shape, dtype=np.int64)
    log_fit = np.zeros(len(scores))
    for i, w, n in _documents(indptr, words, counts):
        stream = Stream(seed, SWEEP, cycle, first_document + i)
        a, b, p = (x[levels[i]] for x in (shape, rate, present))
        asked = (component_counts[i] == 0) & (p < 1)
        absent = [ask and stream.uniform() >= p_k for ask, p_k in zip(asked, p, strict=True)]
        log_gamma = stream.log_gammas(np.where(absent, 0.0, component_counts[i] + a))
        log_score = log_gamma - np.log(b)
        scores[i] = _exp_or_zero(log_gamma) / b
        for j, count in zip(w, n, strict=True):
            draws, log_mean = _split(stream, count, loadings[j], scores[i], log_score)
            new_counts[i] += draws
            loading_counts[j] += draws
            log_fit[i] += count * log_mean
    table = shape[levels], rate[levels], present[levels]
    return new_counts, scores, loading_counts, log_fit, log_factor(new_counts, *table)


def gibbs_split(indptr, words, counts, loadings, scores, seed, first_document):
    """Split every count by given loadings and scores; return counts (I, K) and (J, K)."""
    component_counts = np.zeros(scores.shape, dtype=np.int64)
    loading_counts = np.zeros(loadings.shape, dtype=np.int64)
    for i, w, n in _documents(indptr, words, counts):
        stream = Stream(seed, START, 0, first_document + i)
        for j, count in zip(w, n, strict=True):
            log_score = np.log(np.where(scores[i] > 0, scores[i], TINY))
            draws, _ = _split(stream, count, loadings[j], scores[i], log_score)
            component_counts[i] += draws
            loading_counts[j] += draws
    return component_counts, loading_counts


def _split(stream, count, row, scores, log_score):
    """Split one count over components in proportion to theta_jk l_k; return also log sum_k."""
    row, top = row.astype(float), 0.0
    weights = row * scores
    if not TINY < weights.sum() < np.inf:
        logits = np.log(np.maximum(row, TINY)) + log_score
        top = logits.max()
        weights = np.exp(logits - top)
    total = np.cumsum(weights)[-1]  # left to right
    if count > MANY * len(row):
        draws = stream.multinomial(int(count), weights, total)
    else:
        components = np.arange(len(row))
        by_lanes = np.lexsort((components, components % 8))
        tokens = [by_lanes[stream.choose(weights[by_lanes], total)] for _ in range(count)]
        draws = np.bincount(tokens, minlength=len(row)).astype(np.int64)
    return draws, math.log(total) + top


def draw_loadings(loading_counts, gamma, group_of_word, seed, cycle):
    """Draw Gamma(gamma_j + n_jk, 1), (J, K); give also the largest of each group, (G, K)."""
    logs = draw_log_loadings(loading_counts, gamma, seed, cycle)
    draws = np.array([_exp_or_zero(row) for row in logs])
    groups = range(group_of_word.max() + 1)
    return draws, np.array([draws[group_of_word == g].max(axis=0) for g in groups])


def draw_log_loadings(loading_counts, gamma, seed, cycle):
    """Draw log Gamma(gamma_j + n_jk, 1), (J, K)."""
    streams = [Stream(seed, LOADINGS, cycle, j) for j in range(len(gamma))]
    shapes = gamma[:, None] + loading_counts
    return np.array([s.log_gammas(row) for s, row in zip(streams, shapes, strict=True)])


def augment_scores(component_counts, levels, shape, rate, present, seed, cycle, first_document):
    """Draw presence, tables, scores and log u of every document (spec 5.3).

    Returns sums of tables (K,), presences (T, K) by level, scores (K,) and log u (1,).
    """
    n_documents, n_components = component_counts.shape
    tables, scores = np.zeros(n_components, dtype=np.int64), np.zeros(n_components)
    active, log_beta = np.zeros(shape.shape, dtype=np.int64), np.zeros(1)
    pool = np.zeros(shape.shape)
    for i in range(n_documents):
        stream, level, c = (
            Stream(seed, AUGMENT, cycle, first_document + i),
            levels[i],
            component_counts[i],
        )
        for k in range(n_components):
            a, p = shape[level, k], present[level, k]
            if c[k] == 0 and p < 1 and stream.uniform() >= p:
                continue
            active[level, k] += 1
            tables[k] += stream.tables(c[k], a)
            if len(shape) <= FEW_LEVELS:
                pool[level, k] += c[k] + a
            else:
                scores[k] += math.exp(stream.log_gamma(c[k] + a)) / rate[level, k]
        if c.sum() > 0:
            log_beta += stream.log_beta(np.cumsum(shape[level])[-1], float(c.sum()))
    stream = Stream(seed, POOL, cycle, first_document)
    for level, k in zip(*np.nonzero(pool), strict=True):  # sums of scores of equal rate
        scores[k] += math.exp(stream.log_gamma(pool[level, k])) / rate[level, k]
    return tables, active, scores, log_beta


def augment_loadings(loading_counts, totals, gamma, gamma_totals, seed, cycle):
    """Draw tables of every word (J,) and log u of every group (G,), summed over components."""
    n_words, n_groups = len(gamma), len(gamma_totals)
    tables, log_beta = np.zeros(n_words, dtype=np.int64), np.zeros(n_groups)
    for j in range(n_words):
        stream = Stream(seed, AUGMENT, cycle, -1 - j)
        tables[j] = sum(stream.tables(n, gamma[j]) for n in loading_counts[j])
    for g in range(n_groups):
        stream = Stream(seed, AUGMENT, cycle, -1 - n_words - g)
        log_beta[g] = sum(stream.log_beta(gamma_totals[g], float(n)) for n in totals[g] if n > 0)
    return tables, log_beta


def log_loadings(loading_counts, group_totals, gamma, gamma_totals):
    """Sum of log D_gk: the words given their components, loadings integrated out (spec 2.4)."""
    cells = log_rising(gamma[:, None], loading_counts)
    return cells.sum() - log_rising(gamma_totals[:, None], group_totals).sum()


# ---------------------------------------------------------------------------- collapsed Gibbs


def _document_weight(c, shape, rate, present):
    """Weight of one more token on each component, scores integrated out."""
    return (c + shape) / rate * np.where(c == 0, present, 1.0)


def _tokens(indptr, *arrays, counts):
    """Document of each token, and the arrays (one entry a stored count) repeated for each token."""
    documents = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    stored = slice(indptr[0], indptr[-1])
    n = counts[stored]
    return np.repeat(documents, n), *(np.repeat(array[stored], n) for array in arrays)


def collapsed_sweep(
    indptr, words, counts, levels, shape, rate, present,
    group_of_word, gamma, gamma_totals, totals, loading_counts, assignments,
    seed, cycle, first_document,
):  # fmt: skip
    """Redraw the component of every token given all others (spec 4.6).

    Returns loading counts (J, K), totals (G, K), assignments and the log factor (I,).
    """
    n, m, z = loading_counts.copy(), totals.copy(), assignments.copy()
    c = document_counts(indptr, counts, assignments, loading_counts.shape[1])
    streams = [Stream(seed, SWEEP, cycle, first_document + i) for i in range(len(c))]
    for token, (i, j) in enumerate(zip(*_tokens(indptr, words, counts=counts), strict=True)):
        g, level, old = group_of_word[j], levels[i], z[token]
        c[i, old] -= 1
        n[j, old] -= 1
        m[g, old] -= 1
        weights = _document_weight(c[i], shape[level], rate[level], present[level])
        weights *= (gamma[j] + n[j]) / (gamma_totals[g] + m[g])
        new = z[token] = streams[i].choose(weights, weights.sum())
        c[i, new] += 1
        n[j, new] += 1
        m[g, new] += 1
    return n, m, z, log_factor(c, shape[levels], rate[levels], present[levels])


def assign(indptr, words, counts, loadings, scores, seed, first_document):
    """Draw a component for every token by given loadings and scores."""
    streams = [Stream(seed, START, 0, first_document + i) for i in range(len(indptr) - 1)]
    result = []
    for i, j in zip(*_tokens(indptr, words, counts=counts), strict=True):
        weights = loadings[j] * scores[i]
        weights = weights if weights.sum() > 0 else np.ones_like(weights)
        result.append(streams[i].choose(weights, weights.sum()))
    return np.array(result, dtype=np.int64)


def count_tokens(indptr, words, counts, assignments, n_words, n_components):
    """Count the tokens of each word and component, (J, K)."""
    _, tokens = _tokens(indptr, words, counts=counts)
    result = np.zeros((n_words, n_components), dtype=np.int64)
    np.add.at(result, (tokens, assignments), 1)
    return result


def index_words(loading_counts, totals, group_of_word, gamma_totals):
    """Give each word's components with tokens, their counts and their shares n_jk / N_k."""
    components = [np.flatnonzero(row) for row in loading_counts]
    counts = [row[k] for row, k in zip(loading_counts, components, strict=True)]
    norms = (gamma_totals[:, None] + totals)[group_of_word]
    shares = [n / norm[k] for n, norm, k in zip(counts, norms, components, strict=True)]
    return components, counts, shares


def _by_lanes(weights):
    """Give the places in the order in which they are drawn from: lane after lane of sixteen."""
    return sorted(range(len(weights)), key=lambda place: (place % LANES, place))


def _draw(at, weights):
    """Find where a share ``at`` of all weights falls."""
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends[:-1], at * ends[-1], side="right"))


def draw_component(weights, old, own, at):
    """Draw k by weights; ``old``, whose weight is ``own`` instead, comes first."""
    order = [k for k in _by_lanes(weights) if k != old]
    return [old, *order][_draw(at, [own, *weights[order]])]


def glance(numbers, start):
    """Tell which of 64 numbers from ``start`` on are not 0, by the bits of a number."""
    return sum(1 << n for n in np.flatnonzero(numbers.ravel()[start : start + GLANCE]).tolist())


def lowest(bits):
    """Give the number of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1


def draw_listed(weights, spread, components, old, own, at):
    """Draw k by weights of listed components and, after them, by what is spread over all."""
    listed = [components[place] for place in _by_lanes(components)]
    listed = [k for k in listed if k != old]
    others = [k for k in range(len(weights)) if k != old]
    return [old, *listed, *others][_draw(at, [own, *weights[listed], *spread[others]])]


def frozen_sweep(
    indptr, words, counts, levels, shape, rate, present, group_of_word, gamma, gamma_totals,
    totals, loading_counts, assignments, seed, cycle, first_document, listed=False,
):  # fmt: skip
    """Redraw every token with the counts of words as they were (spec 4.6).

    Returns assignments, the moves (words, from, to) and the log factor (I,).
    """
    z, moves = assignments.copy(), []
    c = document_counts(indptr, counts, assignments, loading_counts.shape[1])
    norm = gamma_totals[:, None] + totals
    components, _, _ = index_words(loading_counts, totals, group_of_word, gamma_totals)
    streams = [Stream(seed, SWEEP, cycle, first_document + i) for i in range(len(c))]
    for token, (i, j) in enumerate(zip(*_tokens(indptr, words, counts=counts), strict=True)):
        g, level, old = group_of_word[j], levels[i], z[token]
        with_it = _document_weight(c[i], shape[level], rate[level], present[level]) / norm[g]
        c[i, old] -= 1
        after = _document_weight(c[i], shape[level], rate[level], present[level])[old]
        own = after * (gamma[j] + loading_counts[j, old] - 1) / (norm[g, old] - 1)
        at = streams[i].uniform()
        if listed:
            weights, spread = with_it * loading_counts[j], with_it * gamma[j]
            new = draw_listed(weights, spread, components[j], old, own, at)
        else:
            new = draw_component(with_it * (gamma[j] + loading_counts[j]), old, own, at)
        z[token] = new
        c[i, new] += 1
        if new != old:
            moves.append((j, old, new))
    factors = log_factor(c, shape[levels], rate[levels], present[levels])
    return z, np.array(moves, dtype=np.int64).reshape(-1, 3).T, factors


def listed_sweep(*arguments):
    """Redraw every token as ``frozen_sweep`` does, by lists of the words' components."""
    return frozen_sweep(*arguments, listed=True)


def move_counts(moved_words, moved_from, moved_to, first, last, loading_counts):
    """Apply the moves of words first .. last - 1; return the loading counts."""
    inside = (moved_words >= first) & (moved_words < last)
    loading_counts = loading_counts.copy()
    np.add.at(loading_counts, (moved_words[inside], moved_from[inside]), -1)
    np.add.at(loading_counts, (moved_words[inside], moved_to[inside]), 1)
    return loading_counts


def move_totals(moved_words, moved_from, moved_to, group_of_word, totals):
    """Apply moves to the totals of the groups; return them."""
    totals = totals.copy()
    np.add.at(totals, (group_of_word[moved_words], moved_from), -1)
    np.add.at(totals, (group_of_word[moved_words], moved_to), 1)
    return totals


def document_counts(indptr, counts, assignments, n_components):
    """Count the tokens of each document and component, (I, K)."""
    (documents,) = _tokens(indptr, counts=counts)
    result = np.zeros((len(indptr) - 1, n_components), dtype=np.int64)
    np.add.at(result, (documents, assignments), 1)
    return result


# ----------------------------------------------------------------- one document, fixed loadings


class _Document:
    """The tokens of one document, their components and the conditionals of a Gibbs sampler."""

    def __init__(self, stream, words, counts, shape, rate, present, loadings):
        """Place the tokens one after the other, each given those before it."""
        possible = (loadings[words] > 0).any(axis=1)
        self.impossible = not possible.all()
        self.stream, self.table = stream, (shape, rate, present)
        self.rows = loadings[np.repeat(words[possible], counts[possible])]
        self.n_tokens, self.n_components = self.rows.shape
        self.c = np.zeros(self.n_components, dtype=np.int64)
        self.z = np.zeros(self.n_tokens, dtype=np.int64)
        for t in range(self.n_tokens):
            self._put(t, stream.choose(*self._weights(t)))

    def _weights(self, t):
        weights = _document_weight(self.c, *self.table) * self.rows[t]
        return weights, weights.sum()

    def _put(self, t, k):
        self.z[t] = k
        self.c[k] += 1

    def set(self, z):
        """Replace the state."""
        self.z = z.copy()
        self.c = np.bincount(z, minlength=self.n_components)

    def sweep(self, order=1):
        """Redraw every token in turn, forwards (1) or backwards (-1); return its conditionals."""
        conditionals = np.zeros(self.rows.shape)
        for t in range(self.n_tokens)[::order]:
            self.c[self.z[t]] -= 1
            weights, total = self._weights(t)
            conditionals[t] = weights / total
            self._put(t, self.stream.choose(weights, total))
        return conditionals

    def climb(self):
        """Put every token where it is most probable; false when none moved."""
        before = self.z.copy()
        for t in range(self.n_tokens):
            self.c[self.z[t]] -= 1
            self._put(t, np.argmax(self._weights(t)[0]))
        return (before != self.z).any()

    def log_transition(self, goal):
        """Log probability that a forward sweep writes ``goal``; the state is left as it is."""
        z, result = self.z, 0.0
        self.set(z)
        for t in range(self.n_tokens):
            self.c[self.z[t]] -= 1
            weights, total = self._weights(t)
            result += math.log(weights[goal[t]] / total)
            self._put(t, goal[t])
        self.set(z)
        return result

    def log_joint(self):
        """Log p(tokens, components), scores integrated out, up to the model's constant."""
        chosen = self.rows[np.arange(self.n_tokens), self.z]
        return log_factor(self.c, *self.table) + np.log(chosen).sum()


def _content(words, counts):
    """Hash a document's words and counts."""
    result = 0xCBF29CE484222325
    for pair in zip(words, counts, strict=True):
        for value in pair:
            result = ((result ^ int(value)) * 0x100000001B3) & _WORD
        result ^= result >> 29
    return result


def fold_in(indptr, words, counts, levels, shape, rate, present, loadings, burn_in, work, seed):
    """Posterior means of c and of 1(c = 0) given the loadings, by Gibbs, (I, K) each."""
    means = np.zeros((len(indptr) - 1, loadings.shape[1]))
    empty = np.zeros_like(means)
    for i, w, n in _documents(indptr, words, counts):
        stream = Stream(seed, FOLD_IN, 0, _content(w, n))
        document = _Document(
            stream, w, n, shape[levels[i]], rate[levels[i]], present[levels[i]], loadings
        )
        n_draws = min(max(work // max(document.n_tokens, 1), 100), 10_000)
        for _ in range(burn_in):
            document.sweep()
        for _ in range(n_draws):
            means[i] += document.sweep().sum(axis=0) / n_draws
            empty[i] += (document.c == 0) / n_draws
    return means, empty


def chib(indptr, words, counts, levels, shape, rate, present, loadings, work, seed):
    """Estimate log p of each document (I,), up to the model's constant (spec 6.1).

    p(x, z*) over the mean probability that a sweep from z writes z*, along a chain of states z that
    runs both ways from a backward sweep of z*.
    """
    result = np.full(len(indptr) - 1, -np.inf)
    for i, w, n in _documents(indptr, words, counts):
        stream = Stream(seed, EVIDENCE, 0, _content(w, n))
        document = _Document(
            stream, w, n, shape[levels[i]], rate[levels[i]], present[levels[i]], loadings
        )
        if document.impossible:
            continue
        for _ in range(20):
            document.sweep()
        for _ in range(20):
            if not document.climb():
                break
        goal, log_joint = document.z.copy(), document.log_joint()
        work_per_sweep = max(document.n_tokens * document.n_components, 1)
        n_sweeps = min(max(work // work_per_sweep, 100), 20_000)
        place = int(stream.uniform() * n_sweeps)
        document.sweep(-1)
        first = document.z.copy()
        transitions = [document.log_transition(goal)]
        for order, n_steps in ((1, n_sweeps - 1 - place), (-1, place)):
            document.set(first)
            for _ in range(n_steps):
                document.sweep(order)
                transitions.append(document.log_transition(goal))
        result[i] = log_joint - (np.logaddexp.reduce(transitions) - math.log(n_sweeps))
    return result


def enumerate_counts(indptr, words, counts, levels, shape, rate, present, loadings):
    """Exact log p (I,), E[c] (I, K) and P(c = 0) (I, K) by summing over all assignments."""
    n_documents, n_components = len(indptr) - 1, loadings.shape[1]
    log_probability = np.zeros(n_documents)
    means, empty = np.zeros((2, n_documents, n_components))
    for i, w, n in _documents(indptr, words, counts):
        known = loadings[w].any(axis=1)
        tokens = np.repeat(w[known], n[known].astype(int))
        ways = np.array(list(itertools.product(range(n_components), repeat=len(tokens))), dtype=int)
        c = (ways[:, :, None] == np.arange(n_components)).sum(axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(loadings[tokens, ways]).sum(axis=1)
        logs = logs + log_factor(c, shape[levels[i]], rate[levels[i]], present[levels[i]])
        log_probability[i] = np.logaddexp.reduce(logs) if known.all() else -np.inf
        shares = np.exp(logs - np.logaddexp.reduce(logs))
        means[i], empty[i] = shares @ c, shares @ (c == 0)
    return log_probability, means, empty


# ---------------------------------------------------------------------------- averages of draws


def union_sizes(component_counts, indptr, components):
    """Offsets (n + 1,) of the entries once the components of a draw have joined the others."""
    used = _entries(indptr, components, component_counts.shape) | (component_counts > 0)
    return np.concatenate(([0], np.cumsum(used.sum(axis=1))))


def add_counts(
    component_counts, levels, shape, rate, present, total, components, indptr, sums, moments
):
    """Add a draw to sparse sums; return components, sums and moments of all entries."""
    c = component_counts.astype(np.int64)
    before = _entries(indptr, components, c.shape)
    used = before | (c > 0)
    a, r, p = shape[levels], rate[levels], present[levels]
    q = r**2
    if len(total):
        r, q = r * total[:, None], q * (total * (total + 1.0))[:, None]
    excess = (
        (c + a) / r - p * a / r,
        (c + a) * (c + a + 1.0) / q - p * a * (a + 1.0) / q,
        1.0 - p,
    )

    def added(past, draw):
        dense = np.zeros(c.shape, dtype=past.dtype)
        dense[before] = past
        return (dense + np.where(c > 0, draw, 0).astype(past.dtype))[used]

    new_sums = [added(row, draw) for row, draw in zip(sums, (c, c * c, c > 0), strict=False)]
    new_moments = [added(row, draw) for row, draw in zip(moments, excess, strict=False)]
    n_entries = used.sum()
    return (
        np.nonzero(used)[1],
        np.array(new_sums, dtype=sums.dtype).reshape(-1, n_entries),
        np.array(new_moments).reshape(-1, n_entries),
    )


def average_loadings(
    loading_counts, totals, group_of_word, gamma, gamma_totals, n_draws, mean, variance
):
    """Add a draw to running means and variances of the loadings; both are returned."""
    t = (gamma_totals[:, None] + totals)[group_of_word]
    x = (gamma[:, None] + loading_counts) / t
    new = mean + (x - mean) / n_draws
    square = (x - mean) * (x - new) + x * (1.0 - x) / (t + 1.0)
    spread = variance + (square - variance) / n_draws
    return new.astype(mean.dtype), spread.astype(variance.dtype)


def average_used(
    loading_counts, totals, group_of_word, gamma, gamma_totals, n_draws, relative, unused,
    components, indptr, moments,
):  # fmt: skip
    """Add a draw to means and variances of used loadings; return components and moments of all."""
    before = _entries(indptr, components, loading_counts.shape)
    used = before | (loading_counts > 0)
    mean, variance, first, second = unused[:, group_of_word]
    r = relative[:, None]
    past = [r * mean, r * (np.maximum(first - r * second, 0.0) + r * variance)]
    for dense, entries in zip(past, moments, strict=True):
        dense[before] = entries
    now = average_loadings(
        loading_counts, totals, group_of_word, gamma, gamma_totals, n_draws, *past
    )
    return np.nonzero(used)[1], np.array([dense[used] for dense in now]).astype(moments.dtype)


def _entries(indptr, components, shape):
    """Where there are entries, as a dense mask."""
    mask = np.zeros(shape, dtype=bool)
    mask[np.repeat(np.arange(shape[0]), np.diff(indptr)), components] = True
    return mask
