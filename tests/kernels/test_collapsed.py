# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of the exact collapsed sampler equal their twins, and keep their counts."""

import numpy as np
from kernels.blocks import CYCLE, FIRST, SEED, SIZES, SPIKES, close, make_block, start_chain
from numpy.testing import assert_array_equal

from discan.kernels import collapsed
from discan.kernels.twins import collapsed as twins
from discan.kernels.twins.gibbs import log_factor as log_factor_twin


def run_collapsed(block, assignments, counts, totals, cycle=CYCLE):
    """Sweep in place; return log F (I,)."""
    log_factor = np.empty(block.n_documents)
    collapsed.sweep(
        *block.head, block.levels, *block.table, block.groups, block.gamma, block.gamma_totals,
        totals, counts, assignments, log_factor, SEED, cycle, FIRST,
    )  # fmt: skip
    return log_factor


@SIZES
def test_assign_and_count(K):
    block = make_block(K, big=False)
    block.loadings[block.head[1][-1]] = 0.0  # an impossible word gets any component
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
    twin = twins.sweep(
        *block.head, block.levels, *block.table, block.groups, block.gamma, block.gamma_totals,
        totals, counts, assignments, SEED, CYCLE, FIRST,
    )  # fmt: skip
    log_factor = run_collapsed(block, assignments, counts, totals)
    assert_array_equal(counts, twin[0])
    assert_array_equal(totals, twin[1])
    assert_array_equal(assignments, twin[2])
    close(log_factor, twin[3])


@SIZES
@SPIKES
def test_collapsed_counts_stay_right(K, spike):
    block = make_block(K, spike)
    assignments, counts, totals = start_chain(block, np.uint8)
    for cycle in range(30):
        log_factor = run_collapsed(block, assignments, counts, totals, cycle)
        recount = twins.count_tokens(*block.head, assignments, *counts.shape)
        assert_array_equal(counts, recount)
        assert_array_equal(totals, block.indicator @ recount)
        c = twins.document_counts(block.head[0], block.head[2], assignments, K)
        close(log_factor, log_factor_twin(c, *(x[block.levels] for x in block.table)))
