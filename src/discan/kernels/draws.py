# SPDX-License-Identifier: BSD-3-Clause
"""Draws of gamma variables, one at a time in logs or a row at a time.

A sweep of the direct sampler draws a gamma variable for every score and every loading. Most have a
shape far below one, which takes a logarithm and an exponential. For rows both are plain arithmetic
without branches, so that the compiler makes vector code of them.
"""

import math

import numpy as np

from .compile import part
from .random import normal, uniform, uniforms

__all__ = ["gammas", "log_beta", "log_gamma_draw"]

_INVERSE_E = math.exp(-1.0)
_CERTAIN = 1e-17  # for x below this exp(-x) is above every uniform number

_LOWEST = -708.0  # exponentials of less than this are set to zero: no number is denormal
_LOG_2 = 0.6931471805598903, 5.497923018708371e-14  # high part, of few bits, and low part
_PER_LOG_2 = 1.0 / math.log(2.0)
_ROOT_2 = math.sqrt(2.0)
_ROUND = 1.5 * 2.0**52  # adding this rounds a number, which is then in the lowest bits
_WHOLE = 2.0**52
_WHOLE_BITS = np.uint64((1023 + 52) << 52)
_ONE_BITS = np.uint64(1023 << 52)
_FRACTION_BITS = np.uint64(2**52 - 1)


@part(forceinline=False)  # long, and kernels call it in several places
def log_gamma_draw(stream, shape):
    """Draw the logarithm of a Gamma(shape, 1) variable."""
    if shape < 1.0:
        return _below_one(stream, shape, _place(stream, shape))[1]
    return math.log(_above_one(stream, shape))


@part()
def log_beta(stream, a, b):
    """Draw the logarithm of a Beta(a, b) variable from two gammas."""
    x = log_gamma_draw(stream, a)
    y = log_gamma_draw(stream, b)
    top = max(x, y)
    return x - top - math.log(math.exp(x - top) + math.exp(y - top))


@part()
def gammas(stream, shape, out_draws, out_logs, index, scratch):
    """Draw Gamma(shape_k, 1) for all k; a shape of zero gives zero.

    Where a draw is zero, and only there, ``out_logs`` (K,) holds its logarithm. Shapes below one
    are drawn first, then the others. ``index`` (K,) and ``scratch`` (6, K) are buffers.
    """
    n_components = shape.shape[0]
    small_shape, place, chance = scratch[0], scratch[1], scratch[2]
    draws, logs, margin = scratch[3], scratch[4], scratch[5]
    n_small = n_large = np.int64(0)  # a literal would be a type of its own
    for k in range(n_components):  # small shapes from the front, the others from the back
        index[n_small] = k
        index[n_components - 1 - n_large] = k
        small_shape[n_small] = shape[k]
        n_small += (shape[k] > 0.0) & (shape[k] < 1.0)
        n_large += shape[k] >= 1.0
        out_draws[k] = 0.0
        out_logs[k] = -np.inf
    uniforms(stream, n_small, place)
    uniforms(stream, n_small, chance)
    _powers(small_shape, n_small, place, chance, draws, logs, margin)
    for n in range(n_small):
        k = index[n]
        out_draws[k] = draws[n]
        out_logs[k] = logs[n]
        if margin[n] < 0.0 and (place[n] > 1.0 or chance[n] > math.exp(-draws[n])):
            if place[n] <= 1.0:
                place[n] = _place(stream, shape[k])
            out_draws[k], out_logs[k] = _below_one(stream, shape[k], place[n])
    for n in range(n_large):
        k = index[n_components - 1 - n]
        out_draws[k] = _above_one(stream, shape[k])


@part()
def _above_one(stream, shape):
    """Draw Gamma(shape, 1), shape >= 1, from a normal (Marsaglia & Tsang, 2000)."""
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
            return d * v
        if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@part()
def _below_one(stream, shape, place):
    """Draw Gamma(shape, 1), shape < 1, and its logarithm (Ahrens & Dieter, 1974).

    The envelope is x^(a - 1) up to 1 and exp(-x) beyond, of masses 1 / a and 1 / e. ``place``,
    uniform below 1 + a / e, chooses: up to 1 it gives the power x = place^(1 / a), which is kept
    with probability exp(-x); else x is 1 and an exponential, kept with probability x^(a - 1).
    """
    while True:
        if place <= 1.0:
            log_x = math.log(place) / shape
            x = math.exp(log_x) if log_x > _LOWEST else 0.0
            if _keeps(stream, x):
                return x, log_x
        else:
            x = 1.0 - math.log(uniform(stream))
            u = uniform(stream)
            log_x = math.log(x)
            if u * x <= 1.0 or math.log(u) <= (shape - 1.0) * log_x:
                return x, log_x
        place = _place(stream, shape)


@part()
def _place(stream, shape):
    return uniform(stream) * (1.0 + shape * _INVERSE_E)


@part()
def _keeps(stream, x):
    """Return True with probability exp(-x)."""
    if x < _CERTAIN:
        return True
    u = uniform(stream)
    return u <= 1.0 - x or u <= math.exp(-x)


@part(fastmath={"contract"})
def _powers(shape, n, place, chance, out_draws, out_logs, out_margin):
    """Turn uniform numbers into places of ``_below_one``, their powers, and the powers' logarithms.

    A power x whose margin is not negative is surely kept: its chance is below 1 - x < exp(-x).
    """
    for m in range(n):
        place[m] *= 1.0 + shape[m] * _INVERSE_E
        out_logs[m] = _log(place[m]) / shape[m]
        out_draws[m] = _exp(out_logs[m])
        out_margin[m] = 1.0 - out_draws[m] - chance[m] if place[m] <= 1.0 else -1.0


@part(fastmath={"contract"})
def _log(x):
    """Logarithm of a normal positive number: 2 artanh s, s = (m - 1) / (m + 1), m near one."""
    bits = _bits(x)
    exponent = _float((bits >> np.uint64(52)) | _WHOLE_BITS) - (_WHOLE + 1023.0)
    m = _float((bits & _FRACTION_BITS) | _ONE_BITS)
    upper = m > _ROOT_2
    m = 0.5 * m if upper else m
    exponent = exponent + 1.0 if upper else exponent
    s = (m - 1.0) / (m + 1.0)
    r = s * s
    series = 1 / 15 + r * (1 / 17 + r * (1 / 19 + r * (1 / 21)))
    series = 1 / 7 + r * (1 / 9 + r * (1 / 11 + r * (1 / 13 + r * series)))
    series = r * (1 / 3 + r * (1 / 5 + r * series))
    return exponent * _LOG_2[0] + (exponent * _LOG_2[1] + (2.0 * s * series + 2.0 * s))


@part(fastmath={"contract"})
def _exp(x):
    """Exponential of a number below 700: 2^n times the series of exp r, |r| <= log(2) / 2."""
    inside = max(x, _LOWEST)
    shifted = inside * _PER_LOG_2 + _ROUND
    n = shifted - _ROUND
    r = (inside - n * _LOG_2[0]) - n * _LOG_2[1]
    series = 1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600)))
    series = 1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * (1 / 40320 + r * series)))
    series = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * series))))
    power = _float((_bits(shifted) << np.uint64(52)) + _ONE_BITS)
    return series * power if x > _LOWEST else 0.0


@part()
def _bits(x):
    return np.float64(x).view(np.uint64)


@part()
def _float(bits):
    return np.uint64(bits).view(np.float64)
