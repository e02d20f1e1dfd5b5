# SPDX-License-Identifier: BSD-3-Clause
"""Counter-based random streams and the draws made from them.

A stream is named by (seed, purpose, cycle, unit), where the unit is a document or a word. Nothing
else enters it, so a draw never depends on which thread made it or on what was drawn before it
elsewhere. The generator is SplitMix64 with an increment of its own per stream (Steele, Lea & Flood,
2014): the n-th number is ``mix(position + n * increment)``.
"""

import math

import numpy as np

from .compile import kernel

__all__ = [
    "AUGMENT",
    "EVIDENCE",
    "FOLD_IN",
    "LOADINGS",
    "START",
    "SWEEP",
    "binomial",
    "log_gamma_draw",
    "multinomial",
    "normal",
    "open_stream",
    "tables",
    "uniform",
]

# What a stream is for; two purposes never share numbers.
SWEEP, START, AUGMENT, LOADINGS, EVIDENCE, FOLD_IN = range(1, 7)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ALTERNATING = np.uint64(0xAAAAAAAAAAAAAAAA)
_TO_UNIT = 1.0 / 4503599627370496.0  # 2 ** -52: one bit fewer, or adding 1/2 rounds up to 1


@kernel()
def _mix(value):
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


@kernel()
def _bits(value):
    n_bits = 0
    while value != np.uint64(0):
        value &= value - np.uint64(1)
        n_bits += 1
    return n_bits


@kernel()
def open_stream(stream, seed, purpose, cycle, unit):
    """Point ``stream`` (2,) uint64 at the start of the stream of this name."""
    key = _mix(np.uint64(seed) + _GOLDEN)
    key = _mix(key ^ (np.uint64(purpose) * _MIX_1))
    key = _mix(key + np.uint64(cycle) * _GOLDEN)
    key = _mix(key ^ (np.uint64(unit) + _GOLDEN) * _MIX_2)
    increment = _mix(key + _GOLDEN) | np.uint64(1)
    if _bits(increment ^ (increment >> np.uint64(1))) < 24:  # too regular to mix well
        increment ^= _ALTERNATING
    stream[0] = key
    stream[1] = increment


@kernel()
def uniform(stream):
    """Draw a number strictly between 0 and 1."""
    stream[0] += stream[1]
    return (np.float64(_mix(stream[0]) >> np.uint64(12)) + 0.5) * _TO_UNIT


@kernel()
def normal(stream):
    """Draw a standard normal (polar method)."""
    while True:
        x = 2.0 * uniform(stream) - 1.0
        y = 2.0 * uniform(stream) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


@kernel()
def log_gamma_draw(stream, shape):
    """Draw the logarithm of a Gamma(shape, 1) variable (Marsaglia & Tsang, 2000).

    Small shapes underflow, so the draw stays in logs: log G(a) = log G(a + 1) + log(U) / a.
    """
    boost = 0.0
    if shape < 1.0:
        boost = math.log(uniform(stream)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(stream)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(stream)
        if u < 1.0 - 0.0331 * x * x * x * x:
            return math.log(d * v) + boost
        if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return math.log(d * v) + boost


@kernel()
def binomial(stream, n, p):
    """Draw the number of successes among n trials, exactly, in bounded time for any n."""
    if p > 0.5:
        return n - _binomial_half(stream, n, 1.0 - p)
    return _binomial_half(stream, n, p)


@kernel()
def _binomial_half(stream, n, p):
    """Draw for p <= 1/2: inversion when the mean is small, else transformed rejection (BTRS)."""
    if n <= 0 or p <= 0.0:
        return 0
    odds = p / (1.0 - p)
    if n * p < 10.0:
        probability = math.exp(n * math.log1p(-p))
        u = uniform(stream)
        k = 0
        while u > probability and k < n:
            u -= probability
            k += 1
            probability *= odds * (n - k + 1) / k
        return k
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    mode = math.floor((n + 1) * p)
    peak = math.lgamma(mode + 1.0) + math.lgamma(n - mode + 1.0)
    while True:
        u = uniform(stream) - 0.5
        v = uniform(stream)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + c)
        if k < 0 or k > n:
            continue
        if us >= 0.07 and v <= 0.92 - 4.2 / b:
            return int(k)
        v = math.log(v * (2.83 + 5.1 / b) * spread / (a / (us * us) + b))
        log_ratio = peak - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
        if v <= log_ratio + (k - mode) * math.log(odds):
            return int(k)


@kernel()
def multinomial(stream, n, weights, total, out_draws):
    """Draw how n falls over ``weights`` (K,), which sum to ``total``, by conditional binomials."""
    n_components = weights.shape[0]
    for k in range(n_components):
        out_draws[k] = 0
    left = total
    for k in range(n_components):
        if n == 0:
            return
        if left <= weights[k] or k == n_components - 1:
            draw = n if weights[k] > 0.0 else 0
        else:
            draw = binomial(stream, n, weights[k] / left)
        out_draws[k] = draw
        n -= draw
        left -= weights[k]
    if n > 0:  # rounding ran out of weight before the last possible component
        best = 0
        for k in range(n_components):
            if weights[k] > weights[best]:
                best = k
        out_draws[best] += n


@kernel()
def tables(stream, n, concentration):
    """Draw CRT(n, a): successes of independent Bernoulli(a / (a + s)), s = 0..n-1."""
    if n <= 0:
        return 0
    n_tables = 1
    for s in range(1, n):
        if uniform(stream) * (concentration + s) < concentration:
            n_tables += 1
    return n_tables
