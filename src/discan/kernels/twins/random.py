# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the random streams, on Python's integers, and of the draws made from them."""

import math
from functools import cache

import numpy as np

__all__ = [
    "ANNEAL", "AUGMENT", "EVIDENCE", "FOLD_IN", "LOADINGS", "PARENTS", "PARTICLES", "POOL", "START",
    "SWEEP", "TABLES",
    "WORD", "Stream", "exp_or_zero",
]  # fmt: skip

(
    SWEEP, START, AUGMENT, LOADINGS, EVIDENCE, FOLD_IN, POOL, PARTICLES, ANNEAL, PARENTS, TABLES,
) = range(1, 12)  # fmt: skip

WORD = 2**64 - 1  # mask of 64 bits
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def _mix(value):
    value &= WORD
    value = ((value ^ (value >> 30)) * _MIX_1) & WORD
    value = ((value ^ (value >> 27)) * _MIX_2) & WORD
    return value ^ (value >> 31)


class Stream:
    """The random numbers of one (seed, purpose, cycle, unit)."""

    def __init__(self, seed, purpose, cycle, unit):
        """Hash the arguments to a position and an odd increment."""
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
        self.position = (self.position + self.increment) & WORD
        return ((_mix(self.position) >> 12) + 0.5) / 2**52

    def uniforms(self, n):
        """Draw n uniform numbers."""
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

    def log_gamma_draw(self, shape):
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
        """Draw G(shape) for a row of shapes; denormal numbers are set to zero."""
        return exp_or_zero(self.log_gammas(shapes))

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
        x, y = self.log_gamma_draw(a), self.log_gamma_draw(b)
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
        deviation = math.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * deviation
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
            height = v * (2.83 + 5.1 / b) * deviation / (a / (us * us) + b)
            if math.log(height) <= log_mass(k) - log_mass(mode):
                return k

    def multinomial(self, n, weights, total):
        """Draw Multinomial(n, weights / total) by conditional binomials; ``weights`` is (K,)."""
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
        draws[np.argmax(weights)] += n  # not 0 only if rounding used up the weight
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


def exp_or_zero(logs):
    """Exponentials, exact to the last bit; zero where they would be denormal."""
    return np.array([math.exp(x) if x > -708 else 0.0 for x in logs])
