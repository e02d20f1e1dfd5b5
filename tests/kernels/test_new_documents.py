# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of new documents equals its twin, other kernels, and exact sums where it must."""

import numpy as np
import pytest
from kernels.blocks import SIZES, SPIKES, close, make_block
from numpy.testing import assert_allclose, assert_array_equal

from discan.kernels import cvb0, enumeration, new_documents
from discan.kernels.twins import new_documents as twins

STRIDES = pytest.mark.parametrize("stride", [1.0, 1.8])


def arguments(block, loadings=None):
    return (
        *block.head,
        block.levels,
        *block.table,
        block.loadings if loadings is None else loadings,
    )


def run(block, *options, loadings=None, dtype=np.float64, n_rows=20, head=None):
    given = arguments(block, loadings)
    K = given[-1].shape[1]
    n_documents = len(given[0]) - 1
    counts, empty = np.full((2, n_documents, K), np.nan)
    rows = np.full((n_rows, -(-K // 16) * 16), np.nan, dtype)
    new_documents.split_new(*given, rows, counts, empty, *options)
    return counts, empty


@SIZES
@SPIKES
@STRIDES
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("n_steps", [1, 4, 300])
def test_split_new(K, spike, stride, dtype, n_steps):
    block = make_block(K, spike, dtype=dtype)
    options = (stride, n_steps, 1e-7)
    counts, empty = run(block, *options)
    twin_counts, twin_empty = twins.split_new(*arguments(block), *options)
    close(counts, twin_counts, rtol=1e-8, atol=1e-8)
    close(empty, twin_empty, rtol=1e-8, atol=1e-8)
    indptr, _, n = block.head
    lengths = np.add.reduceat(np.append(n, 0), indptr[:-1]) * (np.diff(indptr) > 0)
    close(counts.sum(axis=1), lengths)
    assert_array_equal(empty[0], 1.0)
    assert (empty == 1.0).all() == (spike == 0.0 or lengths.sum() == 0)


@SIZES
@SPIKES
def test_in_single_precision(K, spike):
    block = make_block(K, spike)
    counts, empty = run(block, 1.8, 5, 0.0, dtype=np.float32)
    twin_counts, twin_empty = twins.split_new(*arguments(block), 1.8, 5, 0.0)
    assert_allclose(counts, twin_counts, rtol=1e-3, atol=1e-3)
    assert_allclose(empty, twin_empty, rtol=1e-2, atol=1e-3)


@SPIKES
def test_long_documents_are_copied_in_every_step(spike):
    block = make_block(20, spike)
    options = (1.8, 50, 1e-6)
    for dtype in (np.float32, np.float64):
        whole = run(block, *options, dtype=dtype)
        for mine, other in zip(run(block, *options, dtype=dtype, n_rows=2), whole, strict=True):
            assert_array_equal(mine, other)


@SIZES
@STRIDES
def test_without_absence_it_is_the_step_of_the_fit(K, stride):
    block = make_block(K, 0.0)
    counts, _ = run(block, stride, 5, 0.0)
    indptr, _, n = block.head
    lengths = np.add.reduceat(np.append(n, 0), indptr[:-1]) * (np.diff(indptr) > 0)
    prior = block.table[0][block.levels]
    shape = prior + lengths[:, None] / K
    cvb0.expect_others(
        *block.head, block.levels, *block.table[:2], block.loadings, block.groups, block.gamma,
        block.gamma_totals, np.zeros((3, K)), shape, np.empty((0, 0)), np.empty(block.n_documents),
        stride, 5, 0.0, False,
    )  # fmt: skip
    close(prior + counts, shape)


@SPIKES
def test_an_impossible_word_is_left_out(spike):
    block = make_block(3, spike)
    loadings = block.loadings.copy()
    indptr, words, n = block.head
    loadings[words[indptr[2]]] = 0.0
    counts, empty = run(block, 1.8, 60, 1e-7, loadings=loadings)
    twin = twins.split_new(*arguments(block, loadings), 1.8, 60, 1e-7)
    close(counts, twin[0], rtol=1e-7, atol=1e-7)
    close(empty, twin[1], rtol=1e-7, atol=1e-7)
    close(counts[2].sum(), n[indptr[2] + 1 : indptr[3]].sum())


@pytest.mark.parametrize("K", [1, 2, 3])
@SPIKES
def test_it_is_close_to_exact_sums(K, spike):
    """Short documents are the hardest: each token is a large part of all."""
    shares, chances = [], []
    for seed in range(40):
        block = make_block(K, spike, largest=1, big=False, seed=seed)
        counts, empty = run(block, 1.8, 1000, 1e-4)
        logs, means, none = np.empty(block.n_documents), *np.zeros((2, block.n_documents, K))
        enumeration.enumerate_counts(*arguments(block), logs, means, none)
        shares.append(np.abs(counts - means) / np.maximum(means.sum(axis=1, keepdims=True), 1.0))
        chances.append(np.abs(empty - none) * (1.0 - block.table[2][block.levels]))
    print(K, spike, np.mean(shares), np.max(shares), np.mean(chances), np.max(chances))
    assert np.mean(shares) < 0.02
    assert np.max(shares) < 0.35
    if spike:
        assert np.mean(chances) < 0.02
        assert np.max(chances) < 0.35
