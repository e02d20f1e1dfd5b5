# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of two levels equal their twins, and keep their counts."""

import numpy as np
import pytest
from kernels.blocks import CYCLE, FIRST, SEED, SIZES, close, make_block
from numpy.testing import assert_array_equal

from discan.kernels import levels
from discan.kernels.twins import levels as twins

PARENTS = pytest.mark.parametrize("R", [1, 3])


def two_levels(K, R, n=7):
    """Parents (R, K), their hyperparameters, scores (n, R) and counts."""
    rng = np.random.default_rng([K, R])
    parents = rng.gamma(0.6, size=(R, K)) + 1e-6
    parents /= parents.sum(axis=1, keepdims=True)
    alpha, beta = rng.uniform(0.2, 1.5, (2, R))
    return parents, alpha, beta, rng


@SIZES
@PARENTS
def test_draw_parents(K, R):
    _, alpha, beta, rng = two_levels(K, R)
    counts, exposures = rng.poisson(2.0, (7, R)), rng.uniform(0, 2, 7)
    got = np.empty((7, R))
    levels.draw_parents(counts, exposures, alpha, beta, got, SEED, CYCLE, FIRST)
    close(got, twins.draw_parents(counts, exposures, alpha, beta, SEED, CYCLE, FIRST))


@SIZES
@PARENTS
def test_mix_parents(K, R):
    parents, *_, rng = two_levels(K, R)
    scores, got = rng.gamma(1.0, size=(7, R)), np.empty((7, K))
    levels.mix_parents(scores, parents, got)
    close(got, twins.mix_parents(scores, parents))


@SIZES
@PARENTS
def test_split_tables(K, R):
    parents, alpha, _, rng = two_levels(K, R)
    scores = rng.gamma(1.0, size=(7, R)) + 1e-3
    shape, counts = scores @ parents, rng.poisson(3.0, (7, K))
    counts[2], counts[4, 0] = 0, 500
    got = (
        np.full((7, R), 9), np.zeros((K, R), dtype=np.int64), np.zeros(R, dtype=np.int64),
        np.empty(7), np.empty(7),
    )  # fmt: skip
    levels.split_tables(counts, shape, parents, scores, alpha, *got, SEED, CYCLE, FIRST)
    twin = twins.split_tables(counts, shape, parents, scores, alpha, SEED, CYCLE, FIRST)
    for mine, other in zip(got[:3], twin[:3], strict=True):
        assert_array_equal(mine, other)
    close(got[3], twin[3])
    close(got[4], twin[4])
    assert_array_equal(got[0].sum(axis=0), got[1].sum(axis=0))
    assert (got[1].sum(axis=1) <= counts.sum(axis=0)).all()
    assert not got[0][2].any()
    assert got[3][2] == 0.0


@SIZES
@PARENTS
@pytest.mark.parametrize("drawn", [False, True])
def test_fold_in(K, R, drawn):
    parents, alpha, beta, rng = two_levels(K, R)
    block = make_block(K, big=False)
    loadings = block.loadings.copy()
    loadings[3] = 0.0  # a word that no component has
    rate, exposures = rng.uniform(0.5, 2.0, (2, 7))
    arguments = (*block.head, rate, exposures, drawn, loadings, parents, alpha, beta)
    got = np.zeros((7, K)), np.zeros((7, K)), np.zeros((7, R))
    levels.fold_in_levels(*arguments, *got, 3, 5, SEED)
    for mine, twin in zip(got, twins.fold_in_levels(*arguments, 3, 5, SEED), strict=True):
        close(mine, twin)
    if drawn:
        close(got[1].sum(axis=1), 1.0)
