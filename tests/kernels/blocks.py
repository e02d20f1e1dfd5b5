# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of documents as the kernels read them, for all tests of kernels."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discan.kernels import collapsed, variational

SIZES = pytest.mark.parametrize("K", [1, 3, 20])
SPIKES = pytest.mark.parametrize("spike", [0.0, 0.4])
SEED = np.uint64(2**63 + 11)
CYCLE, FIRST = 5, 100


def close(got, expected, rtol=1e-10, atol=1e-10):
    """Compare to ten digits; the absolute tolerance is the error of the kernels' digamma."""
    assert_allclose(got, expected, rtol=rtol, atol=atol)


def all_close(got, expected, **tolerances):
    """Compare all arrays of two tuples."""
    for mine, twin in zip(got, expected, strict=True):
        close(mine, twin, **tolerances)


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


def run_expect(block, weights, *options, collect=True):
    score_shape = block.score_shape.astype(weights.dtype)
    score_sums, objective = np.zeros_like(weights), np.zeros(block.n_documents)
    variational.expect(
        *block.head, block.levels, *block.table[:2], weights, score_shape,
        score_sums, objective, *options, collect,
    )  # fmt: skip
    return score_shape, score_sums * weights, objective


def start_chain(block, dtype=np.int32):
    """Assignments, loading counts and group totals of a new chain."""
    K = block.loadings.shape[1]
    assignments = np.empty(block.n_tokens, dtype=dtype)
    collapsed.assign(*block.head, block.loadings, block.scores, assignments, SEED, FIRST)
    counts = np.zeros((block.n_words, K), dtype=np.int32)
    collapsed.count_tokens(*block.head, assignments, counts)
    return assignments, counts, (block.indicator @ counts).astype(np.int64)
