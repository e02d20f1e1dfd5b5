# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of scores at their fixed point equals its twin, and many plain steps."""

from types import SimpleNamespace

import numpy as np
import pytest
from kernels.blocks import SIZES, close, make_block, run_expect
from numpy.testing import assert_array_equal

from discan.kernels import active_set
from discan.kernels.twins import active_set as twins


def run_solve_scores(block, weights, *options):
    score_shape = block.score_shape.astype(weights.dtype)
    active_set.solve_scores(
        *block.head, block.levels, *block.table[:2], weights, score_shape, *options
    )
    return score_shape


@SIZES
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("geometric_mean", [True, False])
@pytest.mark.parametrize("n_steps", [1, 4, 9, 30, 3000])
def test_solve_scores(K, dtype, geometric_mean, n_steps):
    block = make_block(K, dtype=dtype)
    arguments = (*block.head, block.levels, *block.table[:2], block.loadings, block.score_shape)
    options = (geometric_mean, n_steps, 1e-11)
    got = run_solve_scores(block, block.loadings, *options)
    close(got, twins.solve_scores(*arguments, *options), rtol=1e-8, atol=1e-9)
    if n_steps == 3000:
        plain = run_expect(block, block.loadings, geometric_mean, 1.0, 20_000, 1e-13)[0]
        close(got, plain, rtol=1e-7, atol=1e-8)


def sparse_block(K, alpha, seed=0):
    """Documents of few components, most of them inactive; longer than one vector."""
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
def test_solve_scores_equals_many_plain_steps(K, geometric_mean, alpha):
    block = sparse_block(K, alpha)
    got = run_solve_scores(block, block.loadings, geometric_mean, 10_000, 1e-9)
    arguments = (*block.head, block.levels, *block.table[:2], block.loadings, block.score_shape)
    twin = twins.solve_scores(*arguments, geometric_mean, 10_000, 1e-9)
    totals = got.sum(axis=1)
    assert np.abs(got - twin).sum(axis=1).max() < 1e-6 * totals.max()
    # one more step hardly moves it, and its objective is that of many plain steps
    block.score_shape, begun = got, block.score_shape
    moved, _, objective = run_expect(block, block.loadings, geometric_mean, 1.0, 1, 0.0)
    assert (np.abs(moved - got).sum(axis=1) <= 2e-9 * totals).all()
    block.score_shape = begun
    plain = run_expect(block, block.loadings, geometric_mean, 1.0, 20_000, 1e-12)[2]
    close(objective, plain, rtol=1e-6)
    # few steps update all components: as many plain steps would not have converged
    early = run_expect(block, block.loadings, geometric_mean, 1.0, 10, 0.0)[0]
    assert (np.abs(early - got).sum(axis=1) > 1e-6 * totals).any()


def test_solve_scores_of_weights_in_single_precision():
    block = sparse_block(20, 0.1)
    weights = block.loadings.astype(np.float32)
    got = run_solve_scores(block, weights, False, 10_000, 1e-9)
    assert got.dtype == np.float32
    assert_array_equal(
        got, run_solve_scores(block, weights.astype(float), False, 10_000, 1e-9).astype("f")
    )


@pytest.mark.parametrize("geometric_mean", [True, False])
def test_solve_scores_with_an_impossible_word(geometric_mean):
    block = make_block(20)
    weights = block.loadings.copy()
    weights[block.head[1][block.head[0][2]]] = 0.0
    arguments = (*block.head, block.levels, *block.table[:2], weights, block.score_shape)
    options = (geometric_mean, 2000, 1e-11)
    close(
        run_solve_scores(block, weights, *options),
        twins.solve_scores(*arguments, *options),
        rtol=1e-8,
    )
