# SPDX-License-Identifier: BSD-3-Clause
"""The unbiased estimates of a document's probability equal their twins, and are unbiased."""

import numpy as np
import pytest
from kernels.blocks import SEED, SIZES, SPIKES, close, make_block

from discan.kernels import enumeration, particles
from discan.kernels.twins import particles as twins

LADDER = np.linspace(0.0, 1.0, 6) ** 2
METHODS = pytest.mark.parametrize(
    ("name", "options"), [("left_to_right", (5, 4)), ("anneal_documents", (LADDER,))]
)


@METHODS
@SIZES
@SPIKES
def test_twins(name, options, K, spike):
    block = make_block(K, spike, largest=2, big=False)
    arguments = (*block.head, block.levels, *block.table, block.loadings)
    got = np.empty(block.n_documents)
    for some_zero in (False, True):
        if some_zero:  # a component without a word, and a word without components
            block.loadings[1, 0] = 0.0 if K > 1 else block.loadings[1, 0]
            block.loadings[block.head[1][block.head[0][2]]] = 0.0
        getattr(particles, name)(*arguments, got, *options, SEED, 1)
        close(got, getattr(twins, name)(*arguments, *options, SEED, 1))
    assert got[2] == -np.inf


@METHODS
@SPIKES
def test_unbiased(name, options, spike):
    """The mean over runs of the estimate divided by the exact value is 1."""
    K, n_runs = 3, 4000
    block = make_block(K, spike, largest=2, big=False)
    block.loadings[3, 0] = block.loadings[4, 2] = 0.0  # some components lack some words
    arguments = (*block.head, block.levels, *block.table, block.loadings)
    exact, logs = np.empty(block.n_documents), np.empty((n_runs, block.n_documents))
    enumeration.enumerate_counts(*arguments, exact, *np.zeros((2, block.n_documents, K)))
    for run in range(n_runs):
        getattr(particles, name)(*arguments, logs[run], *options, SEED, run)
    ratios = np.exp(logs - exact)
    error = ratios.std(axis=0) / np.sqrt(n_runs)
    assert np.all(error < 0.2)
    assert np.all(np.abs(ratios.mean(axis=0) - 1) <= 4 * error + 1e-9)
    others = ratios.std(axis=0) > 0
    assert others.sum() >= 4


@METHODS
def test_a_document_gets_the_same_answer_anywhere(name, options):
    block = make_block(3, 0.3, largest=2, big=False)
    table = tuple(x[:1] for x in block.table)
    levels = np.zeros(block.n_documents, dtype=np.int32)
    together, alone = np.empty(block.n_documents), np.empty(1)
    rest = (*options, SEED, 2)
    getattr(particles, name)(*block.head, levels, *table, block.loadings, together, *rest)
    for i in range(block.n_documents):
        head = (block.head[0][i : i + 2], *block.head[1:])
        getattr(particles, name)(*head, levels[:1], *table, block.loadings, alone, *rest)
        assert alone[0] == together[i]
