# SPDX-License-Identifier: BSD-3-Clause
"""The kernels for one document under fixed loadings equal their twins."""

import numpy as np
from kernels.blocks import SEED, SIZES, SPIKES, close, make_block

from discan.kernels import evidence
from discan.kernels.twins import evidence as twins


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


@SIZES
@SPIKES
def test_chib(K, spike):
    block = make_block(K, spike, largest=2, big=False)
    arguments = (*block.head, block.levels, *block.table, block.loadings)
    got = np.empty(block.n_documents)
    rest = (np.arange(20, 20 + block.n_documents), SEED, 1)
    evidence.chib(*arguments, got, *rest)
    close(got, twins.chib(*arguments, *rest))
    block.loadings[block.head[1][block.head[0][2]]] = 0.0
    evidence.chib(*arguments, got, *rest)
    assert got[2] == -np.inf
    close(got, twins.chib(*arguments, *rest))


def test_a_document_gets_the_same_answer_anywhere():
    block = make_block(3, 0.3, largest=2, big=False)
    table = tuple(x[:1] for x in block.table)
    levels = np.zeros(block.n_documents, dtype=np.int32)
    together = np.empty(block.n_documents)
    n_sweeps = np.full(block.n_documents, 30)
    evidence.chib(*block.head, levels, *table, block.loadings, together, n_sweeps, SEED, 0)
    indptr = block.head[0]
    for i in range(block.n_documents):
        alone = np.empty(1)
        evidence.chib(
            indptr[i : i + 2], *block.head[1:], levels[:1], *table, block.loadings, alone,
            n_sweeps[:1], SEED, 0,
        )  # fmt: skip
        assert alone[0] == together[i]
