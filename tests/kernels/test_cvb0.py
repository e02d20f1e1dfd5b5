# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of collapsed variational inference equal their NumPy twins."""

import numpy as np
import pytest
from kernels.blocks import SIZES, all_close, close, make_block
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma

from discan.kernels import cvb0
from discan.kernels.twins import cvb0 as twins

STRIDES = pytest.mark.parametrize("stride", [1.0, 1.7])


def inverse_totals(block, K, dtype=np.float64):
    """1 / N_gk of a small corpus, where one token matters."""
    totals = np.random.default_rng(1).uniform(0.0, 6.0, (len(block.gamma_totals), K))
    return (1 / (block.gamma_totals[:, None] + totals)).astype(dtype)


def arguments(block, loadings, inverse):
    return (
        *block.head, block.levels, *block.table[:2], loadings, block.groups, block.gamma,
        block.gamma_totals, inverse,
    )  # fmt: skip


def run(block, loadings, inverse, *options, collect=True):
    score_shape = block.table[0][block.levels] + block.score_shape
    score_shape = score_shape.astype(loadings.dtype)
    before = score_shape.copy()
    counts, objective = np.zeros_like(loadings), np.zeros(block.n_documents)
    cvb0.expect_others(
        *arguments(block, loadings, inverse), score_shape, counts, objective, *options, collect
    )
    return (score_shape, counts, objective), before


@SIZES
@STRIDES
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("n_inner", [1, 4])
@pytest.mark.parametrize("new", [False, True], ids=["fitted", "new"])
def test_expect_others(K, dtype, n_inner, stride, new):
    block = make_block(K, dtype=dtype)
    inverse = np.zeros((3, K)) if new else inverse_totals(block, K)
    options = (stride, n_inner, 1e-9)
    got, before = run(block, block.loadings, inverse, *options)
    twin = twins.expect_others(*arguments(block, block.loadings, inverse), before, *options)
    all_close(got, twin)
    # all counts are assigned, and a document without words has its prior scores
    indptr, words, counts = block.head
    total = np.bincount(words[4:], weights=counts[4:], minlength=block.n_words)
    close(got[1].sum(axis=1), total)
    lengths = np.add.reduceat(np.append(counts, 0), indptr[:-1]) * (np.diff(indptr) > 0)
    close((got[0] - block.table[0][block.levels]).sum(axis=1), lengths)
    assert_array_equal(got[0][0], block.table[0][block.levels[0]])


@SIZES
@STRIDES
def test_in_single_precision(K, stride):
    """Sums of a few dozen terms: single precision has an error of 6e-8 per term."""
    block = make_block(K)
    loadings, inverse = block.loadings.astype(np.float32), inverse_totals(block, K, np.float32)
    got, before = run(block, loadings, inverse, stride, 2, 0.0)
    assert got[0].dtype == got[1].dtype == np.float32
    twin = twins.expect_others(
        *arguments(block, loadings.astype(float), inverse.astype(float)), before.astype(float),
        stride, 2, 0.0,
    )  # fmt: skip
    all_close(got, twin, rtol=2e-5, atol=1e-5)


@SIZES
def test_it_stops_when_converged_and_counts_only_if_asked(K):
    block = make_block(K)
    inverse = np.zeros((3, K))
    options = (1.0, 500, 1e-6)
    got, before = run(block, block.loadings, inverse, *options)
    twin = twins.expect_others(*arguments(block, block.loadings, inverse), before, *options)
    all_close(got, twin)
    without, _ = run(block, block.loadings, inverse, *options, collect=False)
    close(without[0], got[0])
    assert not without[1].any()


def test_an_impossible_word_gives_minus_infinity():
    block = make_block(3)
    word = block.head[1][block.head[0][1]]
    loadings = block.loadings.copy()
    loadings[word] = 0.0
    got, before = run(block, loadings, np.zeros((3, 3)), 1.0, 1, 0.0)
    twin = twins.expect_others(*arguments(block, loadings, np.zeros((3, 3))), before, 1.0, 1, 0.0)
    assert got[2][1] == twin[2][1] == -np.inf
    close(got[0], twin[0])
    assert not got[1][word].any()


@SIZES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_and_loadings_are_renewed(K, dtype):
    rng, block = np.random.default_rng(2), make_block(K)
    new, counts = rng.gamma(0.5, size=(2, block.n_words, K)).astype(dtype)
    rtol = 1e-6 if dtype == np.float32 else 1e-13
    for factor, way, least in ((1.0, 1.7, 0.3), (8.0, 0.25, 0.0)):
        options = (new, factor, way, least, block.groups, 2, 9)
        mine, totals = counts.copy(), np.zeros((3, K))
        cvb0.renew_counts(*options, mine, totals)
        twin, twin_totals = twins.renew_counts(*options, counts)
        assert_allclose(mine, twin, rtol=rtol, atol=1e-6 if dtype == np.float32 else 0)
        assert_allclose(totals, twin_totals, rtol=rtol, atol=1e-5 if dtype == np.float32 else 1e-13)
        inverse = (1 / (1 + totals)).astype(dtype)
        loadings = np.full_like(counts, -1)
        rows = (mine, block.gamma, block.groups, inverse, 2, 9)
        cvb0.renew_loadings(*rows, loadings)
        assert_allclose(loadings[2:9], twins.renew_loadings(*rows), rtol=rtol)
        assert np.all(np.delete(loadings, np.s_[2:9], axis=0) == -1)


def test_tables_of_expected_counts():
    counts = np.array([[0.0, 1e-9, 2e-5, 0.3], [1.0, 7.0, 300.0, 1e-120]])
    concentration = np.array([[0.1, 2.0, 1e-3, 5.0], [0.2, 0.3, 4.0, 1.0]])
    levels = np.array([1, 0], dtype=np.int32)
    got = np.empty(counts.shape)
    cvb0.count_tables(counts, levels, concentration, got)
    twin = twins.count_tables(counts, levels, concentration)
    assert_allclose(got, twin, rtol=1e-9, atol=1e-99)
    # a rare token has one table if it occurs; for many tokens the formula of the mean holds
    assert_allclose(got[0, :3], counts[0, :3], rtol=1e-4, atol=1e-99)
    a, c = concentration[0, 2], counts[1, 2]
    assert_allclose(got[1, 2], a * (digamma(c + a) - digamma(a)), rtol=1e-12)
