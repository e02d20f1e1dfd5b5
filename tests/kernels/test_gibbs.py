# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of direct Gibbs sampling equal their twins, and keep their counts."""

from itertools import pairwise

import numpy as np
import pytest
from entries import entry
from kernels.blocks import CYCLE, FIRST, SEED, SIZES, SPIKES, close, make_block
from numpy.testing import assert_array_equal

from discan.kernels import gibbs, objective
from discan.kernels.twins import gibbs as twins
from discan.kernels.twins.objective import log_loadings


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
    twin = twins.sweep(*arguments, SEED, CYCLE, FIRST)
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
        twin = twins.sweep(indptr, words, n, levels, *table, loadings, start, seed, 0, 0)
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
    twin = twins.split(*block.head, block.loadings, block.scores, SEED, FIRST)
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
    expected = twins.split(indptr, words, counts, loadings, scores, SEED, FIRST)
    for mine, twin in zip(got, expected, strict=True):
        assert_array_equal(mine, twin)


def test_gibbs_split_of_long_documents():
    """Tokens are counted many at a time; none is lost."""
    K, J = 70, 12
    rng = np.random.default_rng(3)
    loadings, scores = rng.gamma(0.3, size=(J, K)), rng.gamma(0.3, size=(2, K))
    loadings[:, 60:] = 0.0  # the last chunk of components is impossible
    indptr, words = np.array([0, J, 2 * J]), np.tile(np.arange(J, dtype=np.int32), 2)
    counts = np.repeat([2 * K, 2 * K + 1], J).astype(np.int32)  # token by token; by binomials
    got = np.zeros((2, K), dtype=np.int64), np.zeros((J, K), dtype=np.int32)
    gibbs.split(indptr, words, counts, loadings, scores, *got, SEED, FIRST)
    twin = twins.split(indptr, words, counts, loadings, scores, SEED, FIRST)
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
def test_augment_scores(K, spike):
    block = make_block(K, spike)
    counts, _ = start_counts(block)
    shape, _, present = block.table
    given = (counts, block.levels, np.arange(3) % 2, shape, present)
    out = np.zeros((2, K)), np.zeros((3, K)), np.zeros((3, K)), np.zeros(2)
    gibbs.augment_scores(*given, *out, SEED, CYCLE, FIRST)
    twin = twins.augment_scores(*given, SEED, CYCLE, FIRST)
    assert_array_equal(out[0], twin[0])
    assert_array_equal(out[1], twin[1])
    close(out[2], twin[2])
    close(out[3], twin[3])
    assert (out[2] > 0).sum() > K


@SIZES
def test_draw_scores(K):
    """A class sums over its levels; a level without documents has no scores."""
    rng = np.random.default_rng(2)
    shapes, rate = rng.gamma(2.0, 20.0, (3, K)), rng.gamma(2.0, size=(3, K))
    shapes[1] = 0.0
    got, classes = np.zeros((2, K)), np.array([0, 0, 1])
    gibbs.draw_scores(shapes, rate, classes, got, SEED, CYCLE)
    close(got, twins.draw_scores(shapes, rate, classes, SEED, CYCLE))
    assert (got > 0).all()


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
    close(objective.log_loadings(*arguments), log_loadings(*arguments))
