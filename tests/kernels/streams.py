# SPDX-License-Identifier: BSD-3-Clause
"""Random streams, and comparisons of samples with distributions, for the tests of draws."""

import numpy as np
from entries import with_entries

import discan.kernels.random

kernels = with_entries(discan.kernels.random)

P_VALUE = 1e-4


def open_stream(seed=1, purpose=kernels.SWEEP, cycle=0, unit=0):
    stream = np.empty(2, dtype=np.uint64)
    kernels.open_stream(stream, np.uint64(seed), purpose, cycle, unit)
    return stream


def sample(draw, n, stream, *args):
    return np.array([draw(stream, *args) for _ in range(n)])


def within(sample, mean, variance, n_errors=5.0):
    """Mean and variance of a sample agree with the exact ones."""
    n = len(sample)
    assert abs(sample.mean() - mean) < n_errors * np.sqrt(variance / n)
    square = (sample - mean) ** 2
    assert abs(square.mean() - variance) < n_errors * square.std() / np.sqrt(n)
