# SPDX-License-Identifier: BSD-3-Clause
"""Special functions for the kernels."""

import math

from .compile import kernel

__all__ = ["digamma", "exp_digamma", "log_rising"]


@kernel()
def digamma(x):
    """Derivative of log Gamma at x > 0: recurrence up to 6, then the asymptotic series."""
    result = 0.0
    while x < 6.0:
        result -= 1.0 / x
        x += 1.0
    r = 1.0 / x
    s = r * r
    series = s * (1 / 132 - s * (691 / 32760))
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - series))))
    return result + math.log(x) - 0.5 * r - series


@kernel()
def exp_digamma(x):
    """Geometric mean exp(digamma(x)) of a Gamma(x, 1) variable."""
    return math.exp(digamma(x))


@kernel()
def log_rising(a, n):
    """Log of the rising factorial, log Gamma(a + n) - log Gamma(a), for whole n >= 0.

    One logarithm of a product when n is small, which is faster and more exact.
    """
    if n == 0:
        return 0.0
    if n <= 16 and a < 1e6:
        product = a
        for s in range(1, n):
            product *= a + s
        return math.log(product)
    return math.lgamma(a + n) - math.lgamma(a)
