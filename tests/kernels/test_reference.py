# SPDX-License-Identifier: BSD-3-Clause
"""Every compiled kernel equals its NumPy twin, and keeps its counts."""

from itertools import pairwise
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from entries import entry
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma

from discan.algorithms.collapsed import WordIndex
from discan.kernels import (
    averages,
    collapsed,
    cvb0,
    draws,
    enumeration,
    evidence,
    frozen,
    gibbs,
    objective,
    random,
    settling,
    special,
    twins,
    variational,
)
from discan.kernels.simd import lanes

SIZES = pytest.mark.parametrize("K", [1, 3, 20])
SPIKES = pytest.mark.parametrize("spike", [0.0, 0.4])
SEED = np.uint64(2**63 + 11)
CYCLE, FIRST = 5, 100


def close(got, expected, rtol=1e-10, atol=1e-10):
    """Equal to ten digits; the absolute part is the error of the kernels' digamma."""
    assert_allclose(got, expected, rtol=rtol, atol=atol)


def make_block(K, spike=0.3, dtype=np.int32, seed=0, largest=4, big=True):
    """Seven documents, two of them empty, in three groups of words at three exposure levels.

    The block starts in the middle of longer arrays, as blocks of a corpus do. With ``big`` some
    counts are large enough to be split by binomials.
    """
    rng = np.random.default_rng([seed, K])
    n_documents, J, G, T = 7, 12, 3, 3
    size = (n_documents, J)
    W = rng.integers(1, largest + 1, size) * (rng.random(size) < 0.5)
    if big:
        W[1, 3], W[2, 5], W[2, 6], W[4, 0] = 17, 90, 3000, 16
    W[0] = W[4, 1:] = 0
    W[5] = 0
    rows, words = np.nonzero(W)
    counts = W[rows, words].astype(dtype)
    if dtype == np.float64:
        counts *= rng.uniform(0.3, 1.7, len(counts))
    indptr = 4 + np.searchsorted(rows, np.arange(n_documents + 1))
    groups = np.concatenate([np.arange(G), rng.integers(0, G, J - G)]).astype(np.int32)
    indicator = np.eye(G)[groups].T
    gamma = rng.uniform(0.2, 1.5, J)
    loadings = rng.gamma(np.broadcast_to(gamma[:, None], (J, K))) + 1e-9
    loadings /= (indicator @ loadings)[groups]
    padding = np.zeros(4, dtype=int)
    return SimpleNamespace(
        n_documents=n_documents,
        n_words=J,
        head=(
            indptr.astype(np.int64),
            np.concatenate([padding, words]).astype(np.int32),
            np.concatenate([padding + 9, counts]).astype(dtype),
        ),
        levels=rng.integers(0, T, n_documents).astype(np.int32),
        table=(
            rng.uniform(0.1, 2.0, (T, K)),
            rng.uniform(0.5, 4.0, (T, K)),
            1 - np.full((T, K), spike) * rng.uniform(0.5, 1.5, (T, K)),
        ),
        groups=groups,
        indicator=indicator,
        gamma=gamma,
        gamma_totals=indicator @ gamma,
        loadings=loadings,
        scores=rng.gamma(1.0, size=(n_documents, K)) + 1e-3,
        score_shape=rng.uniform(0.1, 3.0, (n_documents, K)),
        n_tokens=int(counts.sum()),
        rng=rng,
    )


# ---------------------------------------------------------------------------- special functions


def test_digamma():
    x = np.concatenate([np.geomspace(1e-8, 1e8, 2000), np.linspace(0.01, 12, 500)])
    got = np.array([special.digamma(value) for value in x])
    assert_allclose(got, digamma(x), rtol=1e-13, atol=2e-11)
    close([special.exp_digamma(v) for v in x[x > 0.01]], twins.exp_digamma(x[x > 0.01]))


def test_log_and_log_gamma():
    x = np.concatenate((np.logspace(-12, 12, 400), np.linspace(0.5, 3.0, 100)))
    for name in ("log", "log_gamma"):
        got = np.array([getattr(special, name)(value) for value in x])
        assert_allclose(got, getattr(twins, name)(x), rtol=1e-13, atol=2e-14)


def test_exp():
    x = np.concatenate((np.linspace(-699.0, 699.0, 1001), np.linspace(-1.0, 1.0, 100)))
    assert_allclose([special.exp(value) for value in x], twins.exp(x), rtol=4e-16)


@pytest.mark.parametrize("a", [1e-8, 0.3, 5.0, 9.9e5, 1e6, 1e7])
def test_log_rising(a):
    log_rising = entry(special.log_rising)
    for n in (0, 1, 2, 15, 16, 17, 18, 1000):
        expected = np.log(a + np.arange(n)).sum()
        assert_allclose(log_rising(a, n), expected, rtol=1e-10, atol=2e-7 * (a >= 1e6))
        assert_allclose(twins.log_rising(a, n), expected, rtol=1e-7, atol=1e-6 * (a > 1e5))


# ------------------------------------------------------------------------------ expected counts


def run_expect(block, weights, *options, collect=True):
    score_shape = block.score_shape.astype(weights.dtype)
    score_sums, objective = np.zeros_like(weights), np.zeros(block.n_documents)
    variational.expect(
        *block.head, block.levels, *block.table[:2], weights, score_shape,
        score_sums, objective, *options, collect,
    )  # fmt: skip
    return score_shape, score_sums * weights, objective


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
    for mine, twin in zip(got, twins.expect(*arguments, *options), strict=True):
        close(mine, twin)
    # every count is given out, and a document without words goes back to its prior
    total = np.zeros(block.n_words)
    inside = slice(block.head[0][0], block.head[0][-1])
    np.add.at(total, block.head[1][inside], block.head[2][inside])
    close(got[1].sum(axis=1), total)
    assert_array_equal(got[0][0], block.table[0][block.levels[0]])


@SIZES
@pytest.mark.parametrize("n_inner", [1, 4])
def test_expect_in_single_precision(K, n_inner):
    """Sums of a few dozen terms: single precision is 6e-8 a term."""
    block = make_block(K)
    weights = block.loadings.astype(np.float32)
    arguments = (*block.head, block.levels, *block.table[:2], weights, block.score_shape)
    options = (False, 1.0, n_inner, 0.0)
    got = run_expect(block, weights, *options)
    assert got[0].dtype == got[1].dtype == np.float32
    for mine, twin in zip(got, twins.expect(*arguments, *options), strict=True):
        assert_allclose(mine, twin, rtol=2e-5, atol=1e-6)


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
def test_log_peaks(dtype):
    rng = np.random.default_rng(0)
    loadings = rng.dirichlet(np.full(50, 0.02), size=7).T.astype(dtype)
    gamma = rng.uniform(0.01, 2.0, 50)
    close(variational.log_peaks(loadings, gamma), twins.log_peaks(loadings.astype(float), gamma))


@pytest.mark.parametrize("power", [0.5, 0.9])
@pytest.mark.parametrize("flat", [True, False])
def test_expect_tempered(power, flat):
    block = make_block(3)
    if flat:
        block.table = (np.zeros_like(block.table[0]), *block.table[1:])
    weights = block.loadings**power
    arguments = (*block.head, block.levels, *block.table[:2], weights, block.score_shape)
    options = (False, power, 3, 0.0)
    for mine, twin in zip(
        run_expect(block, weights, *options), twins.expect(*arguments, *options), strict=True
    ):
        close(mine, twin)


@SIZES
def test_expect_stops_when_converged(K):
    block = make_block(K)
    arguments = (*block.head, block.levels, *block.table[:2], block.loadings, block.score_shape)
    options = (True, 1.0, 300, 1e-6)
    got = run_expect(block, block.loadings, *options)
    for mine, twin in zip(got, twins.expect(*arguments, *options), strict=True):
        close(mine, twin, rtol=1e-8)
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
    for mine, twin in zip(got, twins.expect(*arguments, *options), strict=True):
        close(mine, twin)
    assert got[2][2] == -np.inf
    assert not got[1][word].any()


def run_settle(block, weights, *options):
    score_shape = block.score_shape.astype(weights.dtype)
    settling.settle(*block.head, block.levels, *block.table[:2], weights, score_shape, *options)
    return score_shape


@SIZES
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("geometric_mean", [True, False])
@pytest.mark.parametrize("n_steps", [1, 4, 9, 30, 3000])
def test_settle(K, dtype, geometric_mean, n_steps):
    block = make_block(K, dtype=dtype)
    arguments = (*block.head, block.levels, *block.table[:2], block.loadings, block.score_shape)
    options = (geometric_mean, n_steps, 1e-11)
    got = run_settle(block, block.loadings, *options)
    close(got, twins.settle(*arguments, *options), rtol=1e-8, atol=1e-9)
    if n_steps == 3000:
        plain = run_expect(block, block.loadings, geometric_mean, 1.0, 20_000, 1e-13)[0]
        close(got, plain, rtol=1e-7, atol=1e-8)


def sparse_block(K, alpha, seed=0):
    """Documents of few components, most of which rest; long enough for more than one lane."""
    rng = np.random.default_rng([seed, K])
    J, n_documents = 90, 40
    loadings = rng.dirichlet(np.full(J, 0.05), size=K).T + 1e-6
    chosen = rng.dirichlet(np.full(K, 0.05), size=n_documents)
    W = rng.poisson(chosen @ loadings.T * rng.integers(5, 400, (n_documents, 1)))
    rows, words = np.nonzero(W)
    lengths = W.sum(axis=1, keepdims=True)
    return SimpleNamespace(
        n_documents=n_documents,
        head=(
            np.searchsorted(rows, np.arange(n_documents + 1)),
            words.astype(np.int32),
            W[rows, words].astype(np.int32),
        ),
        levels=np.zeros(n_documents, dtype=np.int32),
        table=(np.full((1, K), alpha), np.ones((1, K))),
        loadings=loadings,
        score_shape=np.broadcast_to(alpha + lengths / K, (n_documents, K)).copy(),
    )


@pytest.mark.parametrize(
    ("geometric_mean", "alpha"), [(True, 0.1), (True, 1.0), (False, 0.1), (False, 0.0)]
)
@pytest.mark.parametrize("K", [16, 70])
def test_settle_is_where_plain_steps_lead(K, geometric_mean, alpha):
    block = sparse_block(K, alpha)
    got = run_settle(block, block.loadings, geometric_mean, 10_000, 1e-9)
    arguments = (*block.head, block.levels, *block.table[:2], block.loadings, block.score_shape)
    twin = twins.settle(*arguments, geometric_mean, 10_000, 1e-9)
    totals = got.sum(axis=1)
    assert np.abs(got - twin).sum(axis=1).max() < 1e-6 * totals.max()
    # one more step hardly moves it, and its objective is that of plain steps that go on for long
    block.score_shape, begun = got, block.score_shape
    moved, _, objective = run_expect(block, block.loadings, geometric_mean, 1.0, 1, 0.0)
    assert (np.abs(moved - got).sum(axis=1) <= 2e-9 * totals).all()
    block.score_shape = begun
    plain = run_expect(block, block.loadings, geometric_mean, 1.0, 20_000, 1e-12)[2]
    close(objective, plain, rtol=1e-6)
    # few steps look at all components: with as many plain ones it would not have settled
    early = run_expect(block, block.loadings, geometric_mean, 1.0, 10, 0.0)[0]
    assert (np.abs(early - got).sum(axis=1) > 1e-6 * totals).any()


def test_settle_takes_single_precision_for_what_it_is():
    block = sparse_block(20, 0.1)
    weights = block.loadings.astype(np.float32)
    got = run_settle(block, weights, False, 10_000, 1e-9)
    assert got.dtype == np.float32
    assert_array_equal(
        got, run_settle(block, weights.astype(float), False, 10_000, 1e-9).astype("f")
    )


@pytest.mark.parametrize("geometric_mean", [True, False])
def test_settle_with_an_impossible_word(geometric_mean):
    block = make_block(20)
    weights = block.loadings.copy()
    weights[block.head[1][block.head[0][2]]] = 0.0
    arguments = (*block.head, block.levels, *block.table[:2], weights, block.score_shape)
    options = (geometric_mean, 2000, 1e-11)
    close(run_settle(block, weights, *options), twins.settle(*arguments, *options), rtol=1e-8)


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
    for mine, twin in zip(got, twins.expect_conditional(*arguments, n_inner, -1.0), strict=True):
        close(mine, twin)


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
    for mine, twin in zip(got, twins.expect_conditional(*arguments, 2, -1.0), strict=True):
        close(mine, twin)
    assert got[4][2] == -np.inf
    assert all(np.isfinite(x).all() for x in got[:4])


@SIZES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_loading_geometry_and_penalty(K, dtype):
    block = make_block(K)
    shape = block.gamma[:, None] + block.rng.gamma(0.5, 20.0, block.loadings.shape)
    totals = block.indicator @ shape
    weights = np.empty(shape.shape, dtype=dtype)
    variational.loading_geometry(shape, block.groups, totals, weights)
    rtol = 1e-10 if dtype == np.float64 else 1e-6
    close(weights, twins.loading_geometry(shape, block.groups, totals), rtol)
    arguments = (shape, block.groups, totals, block.gamma, block.gamma_totals)
    close(variational.loading_penalty(*arguments), twins.loading_penalty(*arguments))


def test_loading_geometry_never_underflows():
    shape = np.array([[1e-3], [5.0]])
    totals, groups = shape.sum(axis=0, keepdims=True), np.zeros(2, dtype=np.int32)
    weights = np.empty((2, 1))
    variational.loading_geometry(shape, groups, totals, weights)
    assert weights[0, 0] == twins.FLOOR
    close(weights, twins.loading_geometry(shape, groups, totals))


# -------------------------------------------------------------------------------- direct Gibbs


def run_gibbs(block, loadings, component_counts):
    component_counts = component_counts.copy()
    scores = np.empty(component_counts.shape)
    loading_counts = np.zeros(loadings.shape, dtype=np.int64)
    log_fit, log_factor = np.empty(block.n_documents), np.empty(block.n_documents)
    gibbs.sweep(
        *block.head, block.levels, *block.table, loadings, component_counts, scores,
        loading_counts, log_fit, log_factor, SEED, CYCLE, FIRST,
    )  # fmt: skip
    return component_counts, scores, loading_counts, log_fit, log_factor


def start_counts(block):
    """Component counts that are consistent with the data."""
    component_counts = np.zeros(block.scores.shape, dtype=np.int64)
    loading_counts = np.zeros(block.loadings.shape, dtype=np.int64)
    gibbs.split(
        *block.head, block.loadings, block.scores, component_counts, loading_counts, SEED, FIRST
    )
    return component_counts, loading_counts


@SIZES
@SPIKES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gibbs_sweep(K, spike, dtype):
    block = make_block(K, spike)
    loadings = block.loadings.astype(dtype)
    loadings[2, 0] = 0.0
    counts, _ = start_counts(block)
    got = run_gibbs(block, loadings, counts)
    arguments = (*block.head, block.levels, *block.table, loadings, counts)
    twin = twins.gibbs_sweep(*arguments, SEED, CYCLE, FIRST)
    assert_array_equal(got[0], twin[0])
    assert_array_equal(got[2], twin[2])
    close(got[1], twin[1], atol=0.0)
    close(got[3], twin[3])
    close(got[4], twin[4])
    lengths = [block.head[2][a:b].sum() for a, b in pairwise(block.head[0])]
    assert_array_equal(got[0].sum(axis=1), lengths)
    assert_array_equal(got[0].sum(axis=0), got[2].sum(axis=0))
    assert not got[0][got[1] == 0].any()


def test_gibbs_sweep_in_logs():
    """Products of loadings and scores that underflow are split, and scored, in logs."""
    indptr, words = np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    n, levels = np.array([4, 40], dtype=np.int32), np.zeros(1, dtype=np.int32)
    table = np.array([[0.05, 0.05, 0.5]]), np.ones((1, 3)), np.ones((1, 3))
    loadings = np.array([[1e-290, 2e-290, 0.0], [1e-295, 0.0, 0.0], [1.0, 1.0, 1.0]])
    start = np.array([[0, 0, 44]])
    n_in_logs = 0
    for seed in np.arange(60, dtype=np.uint64):
        counts, scores = start.copy(), np.empty((1, 3))
        loading_counts, (log_fit, log_factor) = np.zeros((3, 3), dtype=np.int64), np.empty((2, 1))
        gibbs.sweep(
            indptr, words, n, levels, *table, loadings, counts, scores,
            loading_counts, log_fit, log_factor, seed, 0, 0,
        )  # fmt: skip
        twin = twins.gibbs_sweep(indptr, words, n, levels, *table, loadings, start, seed, 0, 0)
        assert_array_equal(loading_counts, twin[2])
        close(scores, twin[1], atol=0.0)
        close(log_fit, twin[3])
        possible = loadings[:2] / 1e-300 @ scores[0] > 1.0
        n_in_logs += not possible.all()
        floored = np.where(possible[:, None], loadings[:2], np.maximum(loadings[:2], 1e-300))
        close(log_fit[0], n @ (np.log(floored / 1e-300 @ scores[0]) + np.log(1e-300)))
    assert n_in_logs > 10


@SIZES
def test_gibbs_split(K):
    block = make_block(K)
    block.scores[3, 0] = 0.0
    component_counts, loading_counts = start_counts(block)
    twin = twins.gibbs_split(*block.head, block.loadings, block.scores, SEED, FIRST)
    assert_array_equal(component_counts, twin[0])
    assert_array_equal(loading_counts, twin[1])
    assert loading_counts.sum() == block.n_tokens


@SIZES
def test_gibbs_split_of_single_tokens_in_logs(K):
    """Products of loadings and scores are all zero, between words whose products are not."""
    rng = np.random.default_rng(K)
    loadings = rng.gamma(0.5, size=(8, K)) + 1e-3
    loadings[::2] *= 1e-200
    scores = (rng.gamma(0.5, size=(30, K)) + 1e-3) * 1e-150
    indptr, words = np.arange(31) * 8, np.tile(np.arange(8, dtype=np.int32), 30)
    counts = rng.integers(1, 3, len(words)).astype(np.int32)
    assert not (loadings[0] * scores).any()
    got = np.zeros((30, K), dtype=np.int64), np.zeros((8, K), dtype=np.int64)
    gibbs.split(indptr, words, counts, loadings, scores, *got, SEED, FIRST)
    expected = twins.gibbs_split(indptr, words, counts, loadings, scores, SEED, FIRST)
    for mine, twin in zip(got, expected, strict=True):
        assert_array_equal(mine, twin)


def test_gibbs_split_of_long_documents():
    """Tokens are counted a heap at a time; no heap is lost, full or not."""
    K, J = 70, 12
    rng = np.random.default_rng(3)
    loadings, scores = rng.gamma(0.3, size=(J, K)), rng.gamma(0.3, size=(2, K))
    loadings[:, 60:] = 0.0  # the last chunk of components is impossible
    indptr, words = np.array([0, J, 2 * J]), np.tile(np.arange(J, dtype=np.int32), 2)
    counts = np.repeat([2 * K, 2 * K + 1], J).astype(np.int32)  # token by token; by binomials
    got = np.zeros((2, K), dtype=np.int64), np.zeros((J, K), dtype=np.int32)
    gibbs.split(indptr, words, counts, loadings, scores, *got, SEED, FIRST)
    twin = twins.gibbs_split(indptr, words, counts, loadings, scores, SEED, FIRST)
    assert_array_equal(got[0], twin[0])
    assert_array_equal(got[1], twin[1])
    assert_array_equal(got[1].sum(axis=1), 4 * K + 1)


@SIZES
@SPIKES
def test_log_factor(K, spike):
    block = make_block(K, spike)
    counts, _ = start_counts(block)
    rows = [x[block.levels] for x in block.table]
    log_factor = entry(gibbs.log_factor)
    got = [log_factor(counts[i], *(x[i] for x in rows)) for i in range(block.n_documents)]
    close(got, twins.log_factor(counts, *rows))


@SIZES
def test_draw_loadings(K):
    block = make_block(K)
    _, counts = start_counts(block)
    gamma = block.gamma * np.where(np.arange(block.n_words) < 6, 1.0, 1e-3)
    got, tops, logs = np.empty(counts.shape), np.empty((3, K)), np.empty(counts.shape)
    gibbs.draw_loadings(counts, gamma, block.groups, got, tops, SEED, CYCLE)
    gibbs.draw_log_loadings(counts, gamma, logs, SEED, CYCLE)
    expected = twins.draw_loadings(counts, gamma, block.groups, SEED, CYCLE)
    close(got, expected[0], atol=0.0)
    close(tops, expected[1], atol=0.0)
    close(logs, twins.draw_log_loadings(counts, gamma, SEED, CYCLE))
    assert (got == 0).any()


@SIZES
@SPIKES
@pytest.mark.parametrize("copies", [1, 6])
def test_augment_scores(K, spike, copies):
    """Scores are drawn by level if there are few levels, else by document."""
    block = make_block(K, spike)
    counts, _ = start_counts(block)
    table = [np.tile(part, (copies, 1)) for part in block.table]
    assert (len(table[0]) <= twins.FEW_LEVELS) == (copies == 1)
    out = np.zeros(K), np.zeros((3 * copies, K)), np.zeros(K), np.zeros(1)
    gibbs.augment_scores(counts, block.levels, *table, *out, SEED, CYCLE, FIRST)
    twin = twins.augment_scores(counts, block.levels, *table, SEED, CYCLE, FIRST)
    assert_array_equal(out[0], twin[0])
    assert_array_equal(out[1], twin[1])
    close(out[2], twin[2])
    close(out[3], twin[3])


@SIZES
def test_augment_loadings(K):
    block = make_block(K)
    _, counts = start_counts(block)
    counts[:2] = 0
    totals = (block.indicator @ counts).astype(np.int64)
    tables, log_beta = np.zeros(block.n_words), np.zeros(3)
    arguments = (counts, totals, block.gamma, block.gamma_totals)
    gibbs.augment_loadings(*arguments, tables, log_beta, SEED, CYCLE)
    twin = twins.augment_loadings(*arguments, SEED, CYCLE)
    assert_array_equal(tables, twin[0])
    close(log_beta, twin[1])
    close(objective.log_loadings(*arguments), twins.log_loadings(*arguments))


# ----------------------------------------------------------------------------- collapsed Gibbs


def start_chain(block, dtype=np.int32):
    """Assignments, loading counts and group totals of a new chain."""
    K = block.loadings.shape[1]
    assignments = np.empty(block.n_tokens, dtype=dtype)
    collapsed.assign(*block.head, block.loadings, block.scores, assignments, SEED, FIRST)
    counts = np.zeros((block.n_words, K), dtype=np.int32)
    collapsed.count_tokens(*block.head, assignments, counts)
    return assignments, counts, (block.indicator @ counts).astype(np.int64)


def run_collapsed(block, assignments, counts, totals, cycle=CYCLE):
    """Sweep in place; return log F (I,)."""
    log_factor = np.empty(block.n_documents)
    collapsed.sweep(
        *block.head, block.levels, *block.table, block.groups, block.gamma, block.gamma_totals,
        totals, counts, assignments, log_factor, SEED, cycle, FIRST,
    )  # fmt: skip
    return log_factor


def run_frozen(block, assignments, counts, totals, listed, cycle=CYCLE, seed=SEED, first=FIRST):
    """Redraw in place; return the moves (3, M) and log F (I,)."""
    words = (block.groups, block.gamma, block.gamma_totals)
    index = WordIndex.of(counts, listed)
    if listed:
        list_words(block, counts, totals, index)
    moves = np.full((3, len(assignments) + 1), -1)
    log_factor = np.empty(len(block.levels))
    redraw = frozen.listed_sweep if listed else frozen.frozen_sweep
    n_moved = redraw(
        *block.head, block.levels, *block.table, *words, totals, counts, *index.read, assignments,
        *moves, log_factor, seed, cycle, first,
    )  # fmt: skip
    return moves[:, :n_moved], log_factor


def list_words(block, counts, totals, index):
    """List words in two pieces."""
    middle = block.n_words // 2
    for piece in ((0, middle), (middle, block.n_words)):
        frozen.index_words(
            counts, *piece, totals, block.groups, block.gamma_totals, index.touched,
            *index.read[:3], index.counts, index.shares,
        )  # fmt: skip


@SIZES
def test_assign_and_count(K):
    block = make_block(K, big=False)
    block.loadings[block.head[1][-1]] = 0.0  # an impossible word goes anywhere
    assignments, counts, _ = start_chain(block)
    arguments = (*block.head, block.loadings, block.scores)
    assert_array_equal(assignments, twins.assign(*arguments, SEED, FIRST))
    expected = twins.count_tokens(*block.head, assignments, *block.loadings.shape)
    assert_array_equal(counts, expected)
    got = np.zeros((block.n_documents, K), dtype=np.int64)
    collapsed.document_counts(block.head[0], block.head[2], assignments, got)
    expected = twins.document_counts(block.head[0], block.head[2], assignments, K)
    assert_array_equal(got, expected)


@SIZES
@SPIKES
def test_collapsed_sweep(K, spike):
    block = make_block(K, spike, largest=6, big=False)
    assignments, counts, totals = start_chain(block)
    twin = twins.collapsed_sweep(
        *block.head, block.levels, *block.table, block.groups, block.gamma, block.gamma_totals,
        totals, counts, assignments, SEED, CYCLE, FIRST,
    )  # fmt: skip
    log_factor = run_collapsed(block, assignments, counts, totals)
    assert_array_equal(counts, twin[0])
    assert_array_equal(totals, twin[1])
    assert_array_equal(assignments, twin[2])
    close(log_factor, twin[3])


@pytest.mark.parametrize("K", [1, 3, 20, 100])
@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
def test_index_words(K, dtype):
    """Lists of all words, then of those that were touched; other norms change all shares."""
    block = make_block(K, largest=6, big=False)
    _, counts, totals = start_chain(block)
    counts = counts.astype(dtype)
    index = WordIndex.of(counts, listed=True)
    for turn in range(3):
        if turn == 1:
            counts[0] = np.roll(counts[0], 1)
            index.touched[0] = True
        elif turn == 2:
            counts[:, 0] = 0
            index.touched[:] = True
        totals = totals + 1
        list_words(block, counts, totals, index)
        assert not index.touched.any()
        twin = twins.index_words(counts, totals, block.groups, block.gamma_totals)
        for j in range(block.n_words):
            start = index.first[j]
            stop = start + index.length[j]
            assert_array_equal(index.components[start:stop], twin[0][j])
            assert_array_equal(index.counts[start:stop], twin[1][j])
            assert_allclose(index.shares[start:stop], twin[2][j], rtol=1e-6)
            padding = slice(stop, start + -(-(stop - start) // 16) * 16)
            assert not index.components[padding].any()
            assert not index.shares[padding].any()


@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
def test_glance(dtype):
    """Bits tell which counts are not zero; the lowest comes first."""

    @numba.njit
    def places(numbers, start):
        bits, found = lanes.glance(numbers, start), []
        first = bits
        while bits != 0:
            found.append(lanes.lowest(bits))
            bits &= bits - np.uint64(1)
        return first, found

    rng = np.random.default_rng(0)
    for rate in (0.01, 0.2, 5.0):
        numbers = rng.poisson(rate, (3, 60)).astype(dtype)
        numbers[1, 20] = 1
        for start in (0, 7, 3 * 60 - twins.GLANCE):
            bits, found = places(numbers, start)
            assert bits == twins.glance(numbers, start)
            assert found[0] == twins.lowest(int(bits))
            expected = np.flatnonzero(numbers.ravel()[start : start + twins.GLANCE])
            assert_array_equal(found, expected)


def one_group(block):
    """Put all words into one group."""
    block.groups = np.zeros_like(block.groups)
    block.gamma_totals = np.array([block.gamma.sum()])
    block.indicator = np.ones((1, block.n_words))
    return block


FORMS = pytest.mark.parametrize("listed", [False, True])


@pytest.mark.parametrize("K", [1, 3, 20, 100])
@SPIKES
@FORMS
@pytest.mark.parametrize("groups", [False, True])
def test_frozen_sweep(K, spike, listed, groups):
    block = make_block(K, spike, largest=6, big=False)
    block = block if groups else one_group(block)
    assignments, counts, totals = start_chain(block)
    counts = counts.astype(np.uint16 if groups else np.int32)
    redraw = twins.listed_sweep if listed else twins.frozen_sweep
    for cycle in range(5):
        before = counts.copy()
        twin = redraw(
            *block.head, block.levels, *block.table, block.groups, block.gamma,
            block.gamma_totals, totals, counts, assignments, SEED, cycle, FIRST,
        )  # fmt: skip
        moves, log_factor = run_frozen(block, assignments, counts, totals, listed, cycle)
        assert_array_equal(counts, before)
        assert_array_equal(assignments, twin[0])
        # two documents take turns, so that moves come in another order
        assert sorted(moves.T.tolist()) == sorted(twin[1].T.tolist())
        close(log_factor, twin[2])
        touched = np.zeros(block.n_words, dtype=bool)
        half = block.n_words // 2
        twin = twins.move_counts(*moves, half, block.n_words, counts)
        frozen.move_counts(*moves, half, block.n_words, counts, touched)
        assert_array_equal(counts, twin)
        frozen.move_counts(*moves, 0, half, counts, touched)
        assert_array_equal(np.flatnonzero(touched), np.unique(moves[0]))
        twin = twins.move_totals(*moves, block.groups, totals)
        frozen.move_totals(*moves, block.groups, totals)
        assert_array_equal(totals, twin)
        recount = twins.count_tokens(*block.head, assignments, *block.loadings.shape)
        assert_array_equal(counts, recount)
        assert_array_equal(totals, block.indicator @ recount)


@SPIKES
@FORMS
@pytest.mark.parametrize("groups", [False, True])
def test_frozen_sweep_has_the_law_of_the_exact_conditionals(spike, listed, groups):
    """The first token of every document is drawn by what all others say, own token apart."""
    K, n = 5, 4000
    block = make_block(K, spike, largest=3, big=False)
    block = block if groups else one_group(block)
    start, counts, totals = start_chain(block)
    c = twins.document_counts(block.head[0], block.head[2], start, K)
    ends = np.cumsum(c.sum(axis=1))
    firsts = [(i, end - c[i].sum()) for i, end in enumerate(ends) if c[i].sum()]
    seen = np.zeros((len(firsts), K))
    for seed in range(n):
        after = start.copy()
        run_frozen(block, after, counts, totals, listed, seed=np.uint64(seed))
        for row, (_, token) in enumerate(firsts):
            seen[row, after[token]] += 1
    for row, (i, token) in enumerate(firsts):
        j, old, level = block.head[1][block.head[0][i]], start[token], block.levels[i]
        g, others, shape = block.groups[j], c[i].copy(), [part[level] for part in block.table]
        others[old] -= 1
        own = np.eye(K, dtype=int)[old]
        chance = (others + shape[0]) / shape[1] * np.where(others == 0, shape[2], 1.0)
        chance *= (block.gamma[j] + counts[j] - own) / (block.gamma_totals[g] + totals[g] - own)
        chance /= chance.sum()
        spread = np.sqrt(n * np.maximum(chance * (1 - chance), 1 / n))
        assert np.abs((seen[row] - n * chance) / spread).max() < 5.0


@pytest.mark.parametrize("K", [3, 20, 100])
@pytest.mark.parametrize("most", [2**16 - 1, 2**16, 2**19])
def test_frozen_sweep_of_words_with_many_tokens(K, most):
    """Counts that 16 bits do not hold are read in two parts."""
    block = make_block(K, largest=6, big=False)
    assignments, counts, totals = start_chain(block)
    rng = np.random.default_rng(K)
    elsewhere = rng.integers(0, most, size=counts.shape, endpoint=True, dtype=np.int32)
    elsewhere[1::3] = rng.integers(0, 5, size=elsewhere[1::3].shape)  # few tokens beside many
    elsewhere[0, 0], elsewhere[-1, -1] = most, most
    elsewhere -= counts * (elsewhere >= counts)
    counts += elsewhere
    totals += block.indicator.astype(np.int64) @ elsewhere
    assert counts.max() == most
    for cycle in range(3):
        twin = twins.frozen_sweep(
            *block.head, block.levels, *block.table, block.groups, block.gamma,
            block.gamma_totals, totals, counts, assignments, SEED, cycle, FIRST,
        )  # fmt: skip
        moves, _ = run_frozen(block, assignments, counts, totals, False, cycle)
        assert moves.shape[1] > 0
        assert_array_equal(assignments, twin[0])


@pytest.mark.parametrize("K", [3, 40])
@FORMS
def test_frozen_sweep_of_long_documents(K, listed):
    """Weights follow thousands of moves; log F is exact whatever the counts."""
    block = make_block(K)
    assignments, counts, totals = start_chain(block, np.uint16)
    for cycle in range(3):
        twin = (twins.listed_sweep if listed else twins.frozen_sweep)(
            *block.head, block.levels, *block.table, block.groups, block.gamma,
            block.gamma_totals, totals, counts, assignments, SEED, cycle, FIRST,
        )  # fmt: skip
        _, log_factor = run_frozen(block, assignments, counts, totals, listed, cycle)
        # rounding of single precision sends one draw in a million elsewhere, and those after it
        assert (assignments == twin[0]).mean() > 0.9
        c = twins.document_counts(block.head[0], block.head[2], assignments, K)
        close(log_factor, twins.log_factor(c, *(x[block.levels] for x in block.table)))


@SIZES
@SPIKES
def test_collapsed_counts_stay_true(K, spike):
    block = make_block(K, spike)
    assignments, counts, totals = start_chain(block, np.uint8)
    for cycle in range(30):
        log_factor = run_collapsed(block, assignments, counts, totals, cycle)
        recount = twins.count_tokens(*block.head, assignments, *counts.shape)
        assert_array_equal(counts, recount)
        assert_array_equal(totals, block.indicator @ recount)
        c = twins.document_counts(block.head[0], block.head[2], assignments, K)
        close(log_factor, twins.log_factor(c, *(x[block.levels] for x in block.table)))


@FORMS
def test_frozen_documents_are_independent(listed):
    """A document's moves do not depend on the documents before it or beside it."""
    block = make_block(4)
    assignments, counts, totals = start_chain(block)
    together = assignments.copy()
    run_frozen(block, together, counts, totals, listed)
    indptr, words, n = block.head
    levels, token = block.levels, 0
    for i in range(block.n_documents):
        length = int(n[indptr[i] : indptr[i + 1]].sum())
        alone = assignments[token : token + length].copy()
        block.head, block.levels = (indptr[i : i + 2], words, n), levels[i : i + 1]
        run_frozen(block, alone, counts, totals, listed, first=FIRST + i)
        assert_array_equal(alone, together[token : token + length])
        token += length


# ------------------------------------------------------------------ one document, fixed loadings


@SIZES
@SPIKES
def test_fold_in(K, spike):
    block = make_block(K, spike, largest=2, big=False)
    block.loadings[block.head[1][block.head[0][2]]] = 0.0  # impossible words are left out
    arguments = (*block.head, block.levels, *block.table, block.loadings)
    means, empty = np.zeros((2, block.n_documents, K))
    evidence.fold_in(*arguments, means, empty, 3, 400, SEED)
    twin = twins.fold_in(*arguments, 3, 400, SEED)
    close(means, twin[0])
    close(empty, twin[1])


@pytest.mark.parametrize("K", [1, 2, 3])
@SPIKES
def test_enumerate_counts(K, spike):
    block = make_block(K, spike, largest=1, big=False)
    words = block.head[1].copy()
    loadings = block.loadings.copy()
    loadings[words[block.head[0][1]]] = 0.0  # a word that no component has
    loadings[words[-1], 0] *= K == 1
    arguments = (*block.head, block.levels, *block.table, loadings)
    n = len(block.head[0]) - 1
    logs, means, empty = np.empty(n), np.zeros((n, K)), np.zeros((n, K))
    enumeration.enumerate_counts(*arguments, logs, means, empty)
    for mine, twin in zip((logs, means, empty), twins.enumerate_counts(*arguments), strict=True):
        close(mine, twin)


@SIZES
@SPIKES
def test_chib(K, spike):
    block = make_block(K, spike, largest=2, big=False)
    arguments = (*block.head, block.levels, *block.table, block.loadings)
    got = np.empty(block.n_documents)
    evidence.chib(*arguments, got, 300, SEED)
    close(got, twins.chib(*arguments, 300, SEED))
    block.loadings[block.head[1][block.head[0][2]]] = 0.0
    evidence.chib(*arguments, got, 300, SEED)
    assert got[2] == -np.inf
    close(got, twins.chib(*arguments, 300, SEED))


def test_a_document_gets_the_same_answer_anywhere():
    block = make_block(3, 0.3, largest=2, big=False)
    table = tuple(x[:1] for x in block.table)
    levels = np.zeros(block.n_documents, dtype=np.int32)
    together = np.empty(block.n_documents)
    evidence.chib(*block.head, levels, *table, block.loadings, together, 300, SEED)
    indptr = block.head[0]
    for i in range(block.n_documents):
        alone = np.empty(1)
        evidence.chib(
            indptr[i : i + 2], *block.head[1:], levels[:1], *table, block.loadings, alone, 300, SEED
        )
        assert alone[0] == together[i]


def test_parts_refuse_to_be_called_from_python():
    with pytest.raises(TypeError, match="log_rising is a part of kernels"):
        special.log_rising(1.0, 2)


def test_every_public_kernel_has_a_twin():
    renamed = {
        "log_gamma_draw": "log_gamma",
        "count_at": None,  # parts of reading a row of counts, as sweeps of many tokens do
        "high_start": None,
        "sweep": None,
        "split": "gibbs_split",
        "open_stream": None,
        "round_tables": None,  # NumPy itself
        "to_uniform": "uniform",
    }
    for module in (
        cvb0,
        random,
        draws,
        special,
        variational,
        gibbs,
        collapsed,
        frozen,
        lanes,
        objective,
        evidence,
    ):
        for name in module.__all__:
            if name.isupper():
                assert getattr(twins, name) == getattr(module, name)
                continue
            twin = renamed.get(name, name)
            home = twins.Stream if module in (random, draws) else twins
            assert twin is None or hasattr(home, twin), name


# ---------------------------------------------------------------------------- averages of draws


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
        averages.union_sizes(counts, indptr, components, out_indptr)
        assert_array_equal(out_indptr, twins.union_sizes(counts, indptr, components))
        size = out_indptr[-1]
        out = (
            np.empty(size, dtype=np.uint16), out_indptr,
            np.empty((rows[0], size), dtype=dtype), np.empty((rows[1], size)),
        )  # fmt: skip
        arguments = (counts, levels, shape, rate, present, total, components, indptr, sums, moments)
        averages.add_counts(*arguments, *out)
        twin = twins.add_counts(*arguments)
        assert_array_equal(out[0], twin[0])
        assert_array_equal(out[2], twin[1])
        close(out[3], twin[2])
        components, indptr, sums, moments = out


@SIZES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_average_loadings(K, dtype):
    block = make_block(K)
    mean, spread = np.zeros((2, block.n_words, K), dtype=dtype)
    expected = mean, spread
    for n_draws in (1, 2, 3):
        rng = np.random.default_rng(n_draws)
        counts = rng.poisson(2.0, (block.n_words, K)).astype(np.int32)
        totals = (block.indicator @ counts).astype(np.int64)
        given = (counts, totals, block.groups, block.gamma, block.gamma_totals, n_draws)
        expected = twins.average_loadings(*given, *expected)
        averages.average_loadings(*given, mean, spread)
    assert (mean.dtype, spread.dtype) == (expected[0].dtype, expected[1].dtype) == (dtype, dtype)
    near = {} if dtype == np.float64 else {"rtol": 3e-7}  # a last digit of single precision
    close(mean, expected[0], **near)
    close(spread, expected[1], **near)


@SIZES
def test_average_used(K):
    """As all loadings are averaged, where words were drawn, and as said elsewhere."""
    block = make_block(K)
    n_words, relative = block.n_words, block.gamma / block.gamma[0]
    mean, spread = np.zeros((2, n_words, K))
    unused = np.zeros((4, len(block.gamma_totals), K))
    indptr = np.zeros(n_words + 1, dtype=np.int64)
    components, moments = np.zeros(0, dtype=np.uint16), np.zeros((2, 0), dtype=np.float32)
    past = []
    for n_draws in (1, 2, 3):
        rng = np.random.default_rng(n_draws)
        counts = rng.poisson(0.4, (n_words, K)).astype(np.uint16)
        totals = (block.indicator @ counts).astype(np.int64)
        given = (counts, totals, block.groups, block.gamma, block.gamma_totals, n_draws)
        averages.average_loadings(*given, mean, spread)
        out_indptr = np.empty_like(indptr)
        averages.union_sizes(counts, indptr, components, out_indptr)
        size = out_indptr[-1]
        out = np.empty(size, np.uint16), out_indptr, np.empty((2, size), np.float32)
        before = (*given, relative, unused, components, indptr, moments)
        averages.average_used(*before, *out)
        twin = twins.average_used(*before)
        assert_array_equal(out[0], twin[0])
        assert_allclose(out[2], twin[1], rtol=3e-7)
        components, indptr, moments = out
        rows = np.repeat(np.arange(n_words), np.diff(indptr))
        assert_allclose(moments[0], mean[rows, components], rtol=1e-6)
        assert_allclose(moments[1], spread[rows, components], rtol=1e-6, atol=1e-9)
        t = block.gamma_totals[:, None] + totals
        past.append((block.gamma[0] / t, t))
        y, t = (np.array(column) for column in zip(*past, strict=True))
        unused = np.array([y, (y - y.mean(axis=0)) ** 2, y / (t + 1), y**2 / (t + 1)]).mean(axis=1)


@SIZES
@pytest.mark.parametrize("alike", [True, False])
def test_log_loadings(K, alike):
    rng = np.random.default_rng(K)
    counts = rng.poisson(rng.choice([0.1, 3.0, 300.0], (9, K))).astype(np.int32)
    gamma = np.full(9, 0.3) if alike else rng.uniform(0.01, 2.0, 9)
    groups = np.arange(9) % 2
    totals = np.array([counts[groups == g].sum(axis=0) for g in range(2)], dtype=np.int64)
    arguments = (counts, totals, gamma, np.bincount(groups, weights=gamma))
    close(objective.log_loadings(*arguments), twins.log_loadings(*arguments))
