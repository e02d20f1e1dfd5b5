# SPDX-License-Identifier: BSD-3-Clause
"""Special functions for the kernels.

They have no branches and call no library, so that loops over them become SIMD code. They are
several times faster than the C library's functions, and right to a few units in the last place.
"""

import math

import numpy as np

from .compile import kernel, part

__all__ = ["digamma", "exp", "exp_digamma", "log", "log_gamma", "log_rising"]

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_HALF_LOG_2PI = 0.9189385332046727
_LARGEST = 1e50  # beyond, the product of the recurrence would overflow


@kernel(inline="always")
def exp(x):
    """Exponential of x, which is clipped to [-700, 700]."""
    x = min(max(x, -700.0), 700.0)
    n = np.floor(x * _LOG2_E + 0.5)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    # Taylor's series on |r| <= log(2) / 2
    p = 1 / 39916800 + r * (1 / 479001600)
    p = 1 / 362880 + r * (1 / 3628800 + r * p)
    p = 1 / 5040 + r * (1 / 40320 + r * p)
    p = 1 / 120 + r * (1 / 720 + r * p)
    p = 1 / 6 + r * (1 / 24 + r * p)
    p = 1.0 + r * (1.0 + r * (0.5 + r * p))
    power = np.int64(np.int32(n) + np.int32(1023)) << np.int64(52)
    return p * np.int64(power).view(np.float64)


@kernel(inline="always")
def log(x):
    """Logarithm of a normal number x > 0."""
    bits = np.float64(x).view(np.int64)
    # bring the mantissa to [sqrt(1/2), sqrt(2)): the offset is the distance from sqrt(1/2) to 1
    offset = bits - np.int64(0x3FE6A09E667F3BCD)
    exponent = np.float64(np.int32(offset >> np.int64(52)))
    mantissa = np.int64(bits - (offset & np.int64(-0x10000000000000))).view(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    p = 1 / 19 + z * (1 / 21 + z * (1 / 23))
    p = 1 / 13 + z * (1 / 15 + z * (1 / 17 + z * p))
    p = 1 / 7 + z * (1 / 9 + z * (1 / 11 + z * p))
    p = 1 / 3 + z * (1 / 5 + z * p)
    return exponent * _LN2_HIGH + (2.0 * s + (2.0 * s * z * p + exponent * _LN2_LOW))


@kernel(inline="always")
def _reciprocals(x):
    """1/x + 1/(x+1) + ... + 1/(x+5) as one fraction: with q = x (x + 5) the factors pair up."""
    q = x * (x + 5.0)
    return (2.0 * x + 5.0) * (24.0 + q * (20.0 + 3.0 * q)) / (q * (q + 4.0) * (q + 6.0))


@kernel(inline="always")
def _digamma_tail(y):
    """log(y) - digamma(y) for y >= 6, by the asymptotic series."""
    r = 1.0 / y
    s = r * r
    series = s * (1 / 132 - s * (691 / 32760 - s * (1 / 12)))
    return 0.5 * r + s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - series))))


@kernel(inline="always")
def digamma(x):
    """Derivative of log Gamma at x > 0: the recurrence to x + 6, then the asymptotic series."""
    x = min(x, _LARGEST)
    y = x + 6.0
    return log(y) - _digamma_tail(y) - _reciprocals(x)


@kernel(inline="always")
def exp_digamma(x):
    """Geometric mean exp(digamma(x)) of a Gamma(x, 1) variable."""
    x = min(x, _LARGEST)
    y = x + 6.0
    return y * exp(-_digamma_tail(y) - _reciprocals(x))


@kernel(inline="always")
def log_gamma(x):
    """Log Gamma(x) for x > 0: the recurrence to x + 6, then Stirling's series."""
    x = min(x, _LARGEST)
    q = x * (x + 5.0)
    y = x + 6.0
    r = 1.0 / y
    s = r * r
    series = s * (1 / 1188 - s * (691 / 360360 - s * (1 / 156 - s * (3617 / 122400))))
    series = r * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - series))))
    return (y - 0.5) * log(y) - y + _HALF_LOG_2PI + series - log(q * (q + 4.0) * (q + 6.0))


@part()
def log_rising(a, n):
    """Log of the rising factorial, log Gamma(a + n) - log Gamma(a), for integers n >= 0.

    For small n it is one logarithm of a product, which is faster and more exact.
    """
    if n == 0:
        return 0.0
    if n <= 16 and a < 1e6:
        product = a
        for s in range(1, n):
            product *= a + s
        return math.log(product)
    return math.lgamma(a + n) - math.lgamma(a)
