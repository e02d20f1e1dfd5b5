# SPDX-License-Identifier: BSD-3-Clause
"""What several twins share: special functions, and documents and tokens one by one."""

from itertools import pairwise

import numpy as np
from scipy.special import digamma, gammaln

__all__ = [
    "FLOOR",
    "document_weight",
    "each_document",
    "each_token",
    "exp_digamma",
    "log_factor",
    "log_rising",
]

FLOOR = 1e-150  # of variational weights


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


def each_document(indptr, *arrays):
    """Yield the number of each document and its part of each array."""
    for i, (start, stop) in enumerate(pairwise(indptr)):
        yield i, *(array[start:stop] for array in arrays)


def each_token(indptr, *arrays, counts):
    """Document of each token, and the arrays (one entry a stored count) repeated for each token."""
    documents = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    stored = slice(indptr[0], indptr[-1])
    n = counts[stored]
    return np.repeat(documents, n), *(np.repeat(array[stored], n) for array in arrays)


def document_weight(c, shape, rate, present):
    """Weight of one more token on each component, scores integrated out."""
    return (c + shape) / rate * np.where(c == 0, present, 1.0)
