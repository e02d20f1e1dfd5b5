# SPDX-License-Identifier: BSD-3-Clause
"""Counter-based random streams and the draws made from them.

A stream depends only on (seed, purpose, cycle, unit), where the unit is a document or a word. So a
draw never depends on its thread or on draws from other streams. The generator is SplitMix64 with
one increment per stream (Steele, Lea & Flood, 2014): the n-th number is
``mix(position + n * increment)``. The twins are the methods of ``twins.random.Stream``.
"""

import math

import numpy as np

from .compile import part

__all__ = [
    "ANNEAL", "AUGMENT", "EVIDENCE", "FOLD_IN", "LOADINGS", "PARENTS", "PARTICLES", "POOL", "START",
    "SWEEP", "TABLES",
    "binomial", "multinomial", "normal", "open_stream", "tables", "to_uniform", "uniform",
    "uniforms",
]  # fmt: skip

# Purposes of streams. They are NumPy integers and not literals, because functions are compiled
# again for each literal argument.
(
    SWEEP, START, AUGMENT, LOADINGS, EVIDENCE, FOLD_IN, POOL, PARTICLES, ANNEAL, PARENTS, TABLES,
) = np.arange(1, 12)  # fmt: skip

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ALTERNATING = np.uint64(0xAAAAAAAAAAAAAAAA)
_TO_UNIT = 1.0 / 4503599627370496.0  # 2 ** -52: one bit fewer, or adding 1/2 rounds up to 1

# The ziggurat: layer n extends from 0 to edge n, and from height n to height n + 1. Layer 0, which
# has the tail, is as wide as a rectangle of its area. All layers have the same area.
_LAST_EDGE = 3.6541528853610088


def _ziggurat():
    edges = np.zeros(257)
    edges[1] = _LAST_EDGE
    base = math.exp(-0.5 * _LAST_EDGE**2)
    area = _LAST_EDGE * base + math.sqrt(0.5 * math.pi) * math.erfc(_LAST_EDGE / math.sqrt(2.0))
    edges[0] = area / base
    for n in range(1, 255):
        edges[n + 1] = math.sqrt(-2.0 * math.log(area / edges[n] + math.exp(-0.5 * edges[n] ** 2)))
    return edges, np.exp(-0.5 * edges**2)


_EDGES, _HEIGHTS = _ziggurat()


@part()
def _mix(value):
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


@part()
def _bits(value):
    n_bits = 0
    while value != np.uint64(0):
        value &= value - np.uint64(1)
        n_bits += 1
    return n_bits


@part()
def open_stream(stream, seed, purpose, cycle, unit):
    """Set ``stream`` (2,) uint64 to the start of this stream."""
    key = _mix(np.uint64(seed) + _GOLDEN)
    key = _mix(key ^ (np.uint64(purpose) * _MIX_1))
    key = _mix(key + np.uint64(cycle) * _GOLDEN)
    key = _mix(key ^ (np.uint64(unit) + _GOLDEN) * _MIX_2)
    increment = _mix(key + _GOLDEN) | np.uint64(1)
    if _bits(increment ^ (increment >> np.uint64(1))) < 24:  # too regular to mix well
        increment ^= _ALTERNATING
    stream[0] = key
    stream[1] = increment


@part()
def uniform(stream):
    """Draw a number strictly between 0 and 1."""
    stream[0] += stream[1]
    return to_uniform(stream[0])


@part()
def to_uniform(position):
    """Turn a position of a stream into its number strictly between 0 and 1."""
    return _unit(_mix(position))


@part()
def uniforms(stream, n, out):
    """Draw the same n numbers as n calls of ``uniform``."""
    position, increment = stream[0], stream[1]
    for m in range(n):
        out[m] = to_uniform(position + np.uint64(m + 1) * increment)
    stream[0] = position + np.uint64(n) * increment


@part()
def _unit(bits):
    """Midpoint of one of 2^52 equal parts of (0, 1); int64 is the type fastest converted."""
    return (np.float64(np.int64(bits >> np.uint64(12))) + 0.5) * _TO_UNIT


@part()
def normal(stream):
    """Draw a standard normal (ziggurat of Marsaglia & Tsang, 2000, with 256 layers).

    The upper bits choose a point across a layer, the lowest bits the layer and the sign. Nearly all
    points are surely under the curve; the others are in a wedge at the edge, or in the tail.
    """
    while True:
        stream[0] += stream[1]
        bits = _mix(stream[0])
        layer = np.int64(bits & np.uint64(255))
        x = _unit(bits) * _EDGES[layer]
        if x >= _EDGES[layer + 1]:
            if layer == 0:
                x = _beyond(stream)
            else:
                height = _HEIGHTS[layer + 1] - _HEIGHTS[layer]
                if _HEIGHTS[layer] + uniform(stream) * height >= math.exp(-0.5 * x * x):
                    continue
        return -x if bits & np.uint64(256) else x


@part()
def _beyond(stream):
    """Draw from the tail of the normal beyond the last edge."""
    while True:
        x = -math.log(uniform(stream)) / _LAST_EDGE
        if -2.0 * math.log(uniform(stream)) > x * x:
            return _LAST_EDGE + x


@part()
def binomial(stream, n, p):
    """Draw the number of successes among n trials, exactly, in bounded time for any n."""
    if p > 0.5:
        return n - _binomial_half(stream, n, 1.0 - p)
    return _binomial_half(stream, n, p)


@part()
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
    deviation = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
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
        v = math.log(v * (2.83 + 5.1 / b) * deviation / (a / (us * us) + b))
        log_ratio = peak - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
        if v <= log_ratio + (k - mode) * math.log(odds):
            return int(k)


@part()
def multinomial(stream, n, weights, total, out_draws):
    """Draw Multinomial(n, weights / total) by conditional binomials; ``weights`` is (K,)."""
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
    if n > 0:  # rounding used up the weight before the last component
        best = 0
        for k in range(n_components):
            if weights[k] > weights[best]:
                best = k
        out_draws[best] += n


@part()
def tables(stream, n, concentration):
    """Draw CRT(n, a): successes of independent Bernoulli(a / (a + s)), s = 0..n-1."""
    if n <= 0:
        return 0
    n_tables = 1
    for s in range(1, n):
        if uniform(stream) * (concentration + s) < concentration:
            n_tables += 1
    return n_tables
