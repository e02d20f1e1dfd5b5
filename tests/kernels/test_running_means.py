# SPDX-License-Identifier: BSD-3-Clause
"""The kernels that average draws equal their twins."""

import numpy as np
import pytest
from kernels.blocks import SIZES, close, make_block
from numpy.testing import assert_allclose, assert_array_equal

from discan.kernels import running_means
from discan.kernels.twins import running_means as twins


@SIZES
@pytest.mark.parametrize("dtype", [np.uint32, np.float64])
@pytest.mark.parametrize("rows", [(2, 0), (3, 0), (2, 3)])
@pytest.mark.parametrize("normalised", [False, True])
def test_add_counts(K, dtype, rows, normalised):
    rng = np.random.default_rng(K)
    n = 7
    shape, rate, present = (rng.uniform(0.2, 0.9, (3, K)) for _ in range(3))
    levels = rng.integers(0, 3, n).astype(np.int32)
    indptr = np.zeros(n + 1, dtype=np.int64)
    components = np.zeros(0, dtype=np.uint16)
    sums, moments = np.zeros((rows[0], 0), dtype=dtype), np.zeros((rows[1], 0))
    for _ in range(3):
        counts = rng.poisson(0.5, (n, K)).astype(np.int64)
        counts[2] = 0
        total = counts.sum(axis=1) + 1.5 if normalised else np.zeros(0)
        out_indptr = np.empty_like(indptr)
        running_means.union_sizes(counts > 0, indptr, components, out_indptr)
        assert_array_equal(out_indptr, twins.union_sizes(counts > 0, indptr, components))
        size = out_indptr[-1]
        out = (
            np.empty(size, dtype=np.uint16), out_indptr,
            np.empty((rows[0], size), dtype=dtype), np.empty((rows[1], size)),
        )  # fmt: skip
        arguments = (counts, levels, shape, rate, present, total, components, indptr, sums, moments)
        running_means.add_counts(*arguments, *out)
        twin = twins.add_counts(*arguments)
        assert_array_equal(out[0], twin[0])
        assert_array_equal(out[2], twin[1])
        close(out[3], twin[2])
        components, indptr, sums, moments = out


@SIZES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_average_loadings(K, dtype):
    block = make_block(K)
    mean, variance = np.zeros((2, block.n_words, K), dtype=dtype)
    expected = mean, variance
    for n_draws in (1, 2, 3):
        rng = np.random.default_rng(n_draws)
        counts = rng.poisson(2.0, (block.n_words, K)).astype(np.int32)
        totals = (block.indicator @ counts).astype(np.int64)
        given = (counts, totals, block.groups, block.gamma, block.gamma_totals, n_draws)
        expected = twins.average_loadings(*given, *expected)
        running_means.average_loadings(*given, mean, variance)
    assert (mean.dtype, variance.dtype) == (expected[0].dtype, expected[1].dtype) == (dtype, dtype)
    near = {} if dtype == np.float64 else {"rtol": 3e-7}  # the last digit of single precision
    close(mean, expected[0], **near)
    close(variance, expected[1], **near)


@SIZES
def test_average_used(K):
    """Entries equal the averages of all loadings, also if their word was not drawn at first."""
    block = make_block(K)
    n_words, relative = block.n_words, block.gamma / block.gamma[0]
    mean, variance = np.zeros((2, n_words, K))
    unused = np.zeros((4, len(block.gamma_totals), K))
    indptr = np.zeros(n_words + 1, dtype=np.int64)
    components, moments = np.zeros(0, dtype=np.uint16), np.zeros((2, 0), dtype=np.float32)
    past = []
    for n_draws in (1, 2, 3):
        rng = np.random.default_rng(n_draws)
        counts = rng.poisson(0.4, (n_words, K)).astype(np.uint16)
        totals = (block.indicator @ counts).astype(np.int64)
        given = (counts, totals, block.groups, block.gamma, block.gamma_totals, n_draws)
        running_means.average_loadings(*given, mean, variance)
        out_indptr = np.empty_like(indptr)
        running_means.union_sizes(counts > 0, indptr, components, out_indptr)
        size = out_indptr[-1]
        out = np.empty(size, np.uint16), out_indptr, np.empty((2, size), np.float32)
        before = (*given, relative, unused, components, indptr, moments)
        running_means.average_used(*before, *out)
        twin = twins.average_used(*before)
        assert_array_equal(out[0], twin[0])
        assert_allclose(out[2], twin[1], rtol=3e-7)
        components, indptr, moments = out
        rows = np.repeat(np.arange(n_words), np.diff(indptr))
        assert_allclose(moments[0], mean[rows, components], rtol=1e-6)
        assert_allclose(moments[1], variance[rows, components], rtol=1e-6, atol=1e-9)
        t = block.gamma_totals[:, None] + totals
        past.append((block.gamma[0] / t, t))
        y, t = (np.array(column) for column in zip(*past, strict=True))
        unused = np.array([y, (y - y.mean(axis=0)) ** 2, y / (t + 1), y**2 / (t + 1)]).mean(axis=1)
