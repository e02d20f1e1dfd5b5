# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the special functions."""

import numpy as np
from numpy import exp, log
from scipy.special import digamma
from scipy.special import gammaln as log_gamma

__all__ = ["digamma", "exp", "exp_digamma", "log", "log_gamma", "log_rising"]


def exp_digamma(x):
    """Geometric mean of a Gamma(x, 1) variable."""
    return np.exp(digamma(x))


def log_rising(a, n):
    """Log Gamma(a + n) - log Gamma(a)."""
    return log_gamma(a + n) - log_gamma(a)
