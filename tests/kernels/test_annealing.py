# SPDX-License-Identifier: BSD-3-Clause
"""The chain at a ladder of temperatures equals its twin."""

import numpy as np
import pytest
from kernels.blocks import SEED, SIZES, SPIKES, close, make_block

from discan.kernels import annealing
from discan.kernels.twins import annealing as twins

LADDER = np.array([0.0, 0.3, 1.0])


@SIZES
@SPIKES
@pytest.mark.parametrize("urn", [True, False], ids=["urn", "independent"])
def test_anneal(K, spike, urn):
    block = make_block(K, spike, largest=2, big=False)
    head = (*block.head, block.levels)
    z = np.empty(block.n_tokens, dtype=np.uint16)
    n, totals = np.zeros((block.n_words, K), np.int32), np.zeros((3, K), np.int64)
    annealing.draw_components(*head, block.table[0], block.groups, z, n, totals, SEED, 2)
    expected = twins.draw_components(*head, block.table[0], SEED, 2)
    np.testing.assert_array_equal(z, expected)
    np.testing.assert_array_equal(totals, block.indicator @ n)
    base = (block.loadings[:0], block.scores[:0]) if urn else (block.loadings, block.scores)
    prior = (block.groups, block.gamma, block.gamma_totals, *base)
    energies = np.empty((3, 2))
    annealing.anneal(*head, *block.table, *prior, z, n, totals, LADDER, energies, SEED, 2, 7)
    state, twin = twins.anneal(*head, *block.table, *prior, expected, LADDER, 2, SEED, 2, 7)
    np.testing.assert_array_equal(z, state)
    close(energies, twin)
    np.testing.assert_array_equal(totals, block.indicator @ n)
    assert n.sum() == block.n_tokens


def test_it_can_be_interrupted():
    """Two calls make the same sweeps as one."""
    block = make_block(3, 0.3, largest=2, big=False)
    head, ends = (*block.head, block.levels), []
    for pieces in ([LADDER], [LADDER[:1], LADDER[1:]]):
        z = np.empty(block.n_tokens, dtype=np.uint16)
        n, totals = np.zeros((block.n_words, 3), np.int32), np.zeros((3, 3), np.int64)
        annealing.draw_components(*head, block.table[0], block.groups, z, n, totals, SEED, 0)
        number, energies = 0, []
        for piece in pieces:
            found = np.empty((len(piece), 4))
            base = (block.loadings[:0], block.scores[:0])
            prior = (block.groups, block.gamma, block.gamma_totals, *base)
            annealing.anneal(
                *head, *block.table, *prior, z, n, totals, piece, found, SEED, 0, number
            )
            number += found.size
            energies.append(found)
        ends.append((z, np.concatenate(energies)))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    close(ends[0][1], ends[1][1])
