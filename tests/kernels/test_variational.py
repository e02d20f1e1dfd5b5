# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of expected counts equal their twins, and assign all counts."""

import numpy as np
import pytest
from kernels.blocks import SIZES, SPIKES, all_close, close, make_block, run_expect
from numpy.testing import assert_allclose, assert_array_equal

from discan.kernels import variational
from discan.kernels.twins import variational as twins


@SIZES
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("geometric_mean", [True, False])
@pytest.mark.parametrize("n_inner", [1, 4])
def test_expect(K, dtype, geometric_mean, n_inner):
    block = make_block(K, dtype=dtype)
    weights = block.loadings
    arguments = (*block.head, block.levels, *block.table[:2], weights, block.score_shape)
    options = (geometric_mean, 1.0, n_inner, 1e-9)
    got = run_expect(block, weights, *options)
    all_close(got, twins.expect(*arguments, *options))
    # all counts are assigned, and a document without words has its prior scores
    total = np.zeros(block.n_words)
    inside = slice(block.head[0][0], block.head[0][-1])
    np.add.at(total, block.head[1][inside], block.head[2][inside])
    close(got[1].sum(axis=1), total)
    assert_array_equal(got[0][0], block.table[0][block.levels[0]])


@SIZES
@pytest.mark.parametrize("n_inner", [1, 4])
def test_expect_in_single_precision(K, n_inner):
    """Sums of a few dozen terms: single precision has an error of 6e-8 per term."""
    block = make_block(K)
    weights = block.loadings.astype(np.float32)
    arguments = (*block.head, block.levels, *block.table[:2], weights, block.score_shape)
    options = (False, 1.0, n_inner, 0.0)
    got = run_expect(block, weights, *options)
    assert got[0].dtype == got[1].dtype == np.float32
    all_close(got, twins.expect(*arguments, *options), rtol=2e-5, atol=1e-6)


def test_expect_takes_logs_of_products_of_norms():
    """Many single tokens with tiny, tame and huge norms: the logarithm of their product."""
    rng = np.random.default_rng(0)
    weights = 10.0 ** rng.uniform(-280, 280, (400, 1))
    indptr, words = np.array([0, 400]), np.arange(400, dtype=np.int32)
    counts = np.ones(400, dtype=np.int32)
    one, objective = np.ones((1, 1)), np.zeros(1)
    variational.expect(
        indptr, words, counts, np.zeros(1, dtype=np.int32), np.zeros((1, 1)), one, weights,
        one.copy(), np.zeros((400, 1)), objective, False, 1.0, 1, 0.0, True,
    )  # fmt: skip
    assert_allclose(objective[0], np.log(weights).sum(), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weighted_log_loadings(dtype):
    rng = np.random.default_rng(0)
    loadings = rng.dirichlet(np.full(50, 0.02), size=7).T.astype(dtype)
    gamma = rng.uniform(0.01, 2.0, 50)
    close(
        variational.weighted_log_loadings(loadings, gamma),
        twins.weighted_log_loadings(loadings.astype(float), gamma),
    )


@pytest.mark.parametrize("power", [0.5, 0.9])
@pytest.mark.parametrize("flat", [True, False])
def test_expect_tempered(power, flat):
    block = make_block(3)
    if flat:
        block.table = (np.zeros_like(block.table[0]), *block.table[1:])
    weights = block.loadings**power
    arguments = (*block.head, block.levels, *block.table[:2], weights, block.score_shape)
    options = (False, power, 3, 0.0)
    all_close(run_expect(block, weights, *options), twins.expect(*arguments, *options))


@SIZES
def test_expect_stops_when_converged(K):
    block = make_block(K)
    arguments = (*block.head, block.levels, *block.table[:2], block.loadings, block.score_shape)
    options = (True, 1.0, 300, 1e-6)
    got = run_expect(block, block.loadings, *options)
    all_close(got, twins.expect(*arguments, *options), rtol=1e-8)
    without = run_expect(block, block.loadings, *options, collect=False)
    close(without[0], got[0])
    close(without[2], got[2])
    assert not without[1].any()


@pytest.mark.parametrize("geometric_mean", [True, False])
def test_expect_with_an_impossible_word(geometric_mean):
    block = make_block(3)
    word = block.head[1][block.head[0][2]]
    weights = block.loadings.copy()
    weights[word] = 0.0
    arguments = (*block.head, block.levels, *block.table[:2], weights, block.score_shape)
    options = (geometric_mean, 1.0, 2, 0.0)
    got = run_expect(block, weights, *options)
    all_close(got, twins.expect(*arguments, *options))
    assert got[2][2] == -np.inf
    assert not got[1][word].any()


def run_conditional(block, log_weights, damping, n_inner, tolerance, collect=True):
    score_shape, damping = block.score_shape.copy(), damping.copy()
    absent, loading_counts = np.zeros(damping.shape), np.zeros(log_weights.shape)
    objective, expected = np.zeros(block.n_documents), np.empty(damping.shape)
    variational.expect_conditional(
        *block.head, block.levels, *block.table, log_weights, score_shape, absent, damping,
        expected, loading_counts, objective, n_inner, tolerance, collect,
    )  # fmt: skip
    if collect and np.isfinite(objective).all():
        close(expected.sum(axis=0), loading_counts.sum(axis=0))
    return score_shape, absent, damping, loading_counts, objective


@SIZES
@SPIKES
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("n_inner", [1, 2])
def test_expect_conditional(K, spike, dtype, n_inner):
    block = make_block(K, spike, dtype, big=False)
    log_weights = np.log(block.loadings)
    damping = block.rng.uniform(0.0, 1.0, block.score_shape.shape) * (spike > 0)
    arguments = (*block.head, block.levels, *block.table, log_weights, block.score_shape, damping)
    got = run_conditional(block, log_weights, damping, n_inner, -1.0)
    all_close(got, twins.expect_conditional(*arguments, n_inner, -1.0))


@SIZES
@SPIKES
def test_expect_conditional_at_convergence(K, spike):
    """Where the bound is flat, halvings may differ by rounding: compare the bound itself."""
    block = make_block(K, spike)
    log_weights, damping = np.log(block.loadings), np.zeros(block.score_shape.shape)
    arguments = (*block.head, block.levels, *block.table, log_weights, block.score_shape, damping)
    got = run_conditional(block, log_weights, damping, 200, 1e-12)
    twin = twins.expect_conditional(*arguments, 200, 1e-12)
    close(got[4], twin[4], rtol=1e-8)
    without = run_conditional(block, log_weights, damping, 200, 1e-12, collect=False)
    close(without[4], got[4])
    assert not without[3].any()
    if spike == 0.0:
        plain = run_expect(block, block.loadings, True, 1.0, 2000, 1e-13)
        close(got[4], plain[2], rtol=1e-8)
        assert not got[1].any()
        assert not got[2].any()


def test_expect_conditional_bound_rises():
    block = make_block(4, 0.5)
    log_weights, damping = np.log(block.loadings), np.zeros(block.score_shape.shape)
    bounds = [run_conditional(block, log_weights, damping, n, -1.0)[4] for n in range(1, 12)]
    assert (np.diff(bounds, axis=0) >= -1e-9).all()


@SPIKES
def test_expect_conditional_with_an_impossible_word(spike):
    block = make_block(3, spike, big=False)
    word = block.head[1][block.head[0][2]]
    log_weights = np.log(block.loadings)
    log_weights[word] = -np.inf
    damping = np.zeros(block.score_shape.shape)
    arguments = (*block.head, block.levels, *block.table, log_weights, block.score_shape, damping)
    got = run_conditional(block, log_weights, damping, 2, -1.0)
    all_close(got, twins.expect_conditional(*arguments, 2, -1.0))
    assert got[4][2] == -np.inf
    assert all(np.isfinite(x).all() for x in got[:4])


@SIZES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_geometric_mean_loadings_and_penalty(K, dtype):
    block = make_block(K)
    shape = block.gamma[:, None] + block.rng.gamma(0.5, 20.0, block.loadings.shape)
    totals = block.indicator @ shape
    weights = np.empty(shape.shape, dtype=dtype)
    variational.geometric_mean_loadings(shape, block.groups, totals, weights)
    rtol = 1e-10 if dtype == np.float64 else 1e-6
    close(weights, twins.geometric_mean_loadings(shape, block.groups, totals), rtol)
    arguments = (shape, block.groups, totals, block.gamma, block.gamma_totals)
    close(variational.loading_penalty(*arguments), twins.loading_penalty(*arguments))


def test_geometric_mean_loadings_never_underflows():
    shape = np.array([[1e-3], [5.0]])
    totals, groups = shape.sum(axis=0, keepdims=True), np.zeros(2, dtype=np.int32)
    weights = np.empty((2, 1))
    variational.geometric_mean_loadings(shape, groups, totals, weights)
    assert weights[0, 0] == twins.FLOOR
    close(weights, twins.geometric_mean_loadings(shape, groups, totals))
