# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of the blocked collapsed sampler equal their twins, and keep their counts."""

import numpy as np
import pytest
from kernels.blocks import CYCLE, FIRST, SEED, SPIKES, close, make_block, start_chain
from numpy.testing import assert_allclose, assert_array_equal

from discan.algorithms.word_index import WordIndex
from discan.kernels import blocked
from discan.kernels.twins import blocked as twins
from discan.kernels.twins.collapsed import count_tokens, document_counts
from discan.kernels.twins.gibbs import log_factor as log_factor_twin

FORMS = pytest.mark.parametrize("listed", [False, True])


def run_blocked(block, assignments, counts, totals, listed, cycle=CYCLE, seed=SEED, first=FIRST):
    """Redraw in place; return the moves (3, M) and log F (I,)."""
    words = (block.groups, block.gamma, block.gamma_totals)
    index = WordIndex.of(counts, listed)
    if listed:
        list_words(block, counts, totals, index)
    moves = np.full((3, len(assignments) + 1), -1)
    log_factor = np.empty(len(block.levels))
    redraw = blocked.sweep_by_lists if listed else blocked.sweep_by_rows
    n_moved = redraw(
        *block.head, block.levels, *block.table, *words, totals, counts, *index.read, assignments,
        *moves, log_factor, seed, cycle, first,
    )  # fmt: skip
    return moves[:, :n_moved], log_factor


def list_words(block, counts, totals, index):
    """List words in two pieces."""
    middle = block.n_words // 2
    for piece in ((0, middle), (middle, block.n_words)):
        blocked.index_words(
            counts, *piece, totals, block.groups, block.gamma_totals, index.touched,
            *index.read[:3], index.counts, index.fractions,
        )  # fmt: skip


def one_group(block):
    """Put all words into one group."""
    block.groups = np.zeros_like(block.groups)
    block.gamma_totals = np.array([block.gamma.sum()])
    block.indicator = np.ones((1, block.n_words))
    return block


@pytest.mark.parametrize("K", [1, 3, 20, 100])
@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
def test_index_words(K, dtype):
    """Lists of all words, then of touched words; new norms change all fractions."""
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
            assert_allclose(index.fractions[start:stop], twin[2][j], rtol=1e-6)
            padding = slice(stop, start + -(-(stop - start) // 16) * 16)
            assert not index.components[padding].any()
            assert not index.fractions[padding].any()


@pytest.mark.parametrize("K", [1, 3, 20, 100])
@SPIKES
@FORMS
@pytest.mark.parametrize("groups", [False, True])
def test_blocked_sweep(K, spike, listed, groups):
    block = make_block(K, spike, largest=6, big=False)
    block = block if groups else one_group(block)
    assignments, counts, totals = start_chain(block)
    counts = counts.astype(np.uint16 if groups else np.int32)
    redraw = twins.sweep_by_lists if listed else twins.sweep_by_rows
    for cycle in range(5):
        before = counts.copy()
        twin = redraw(
            *block.head, block.levels, *block.table, block.groups, block.gamma,
            block.gamma_totals, totals, counts, assignments, SEED, cycle, FIRST,
        )  # fmt: skip
        moves, log_factor = run_blocked(block, assignments, counts, totals, listed, cycle)
        assert_array_equal(counts, before)
        assert_array_equal(assignments, twin[0])
        # two documents take turns, so that moves are in another order
        assert sorted(moves.T.tolist()) == sorted(twin[1].T.tolist())
        close(log_factor, twin[2])
        touched = np.zeros(block.n_words, dtype=bool)
        half = block.n_words // 2
        twin = twins.move_counts(*moves, half, block.n_words, counts)
        blocked.move_counts(*moves, half, block.n_words, counts, touched)
        assert_array_equal(counts, twin)
        blocked.move_counts(*moves, 0, half, counts, touched)
        assert_array_equal(np.flatnonzero(touched), np.unique(moves[0]))
        twin = twins.move_totals(*moves, block.groups, totals)
        blocked.move_totals(*moves, block.groups, totals)
        assert_array_equal(totals, twin)
        recount = count_tokens(*block.head, assignments, *block.loadings.shape)
        assert_array_equal(counts, recount)
        assert_array_equal(totals, block.indicator @ recount)


@SPIKES
@FORMS
@pytest.mark.parametrize("groups", [False, True])
def test_blocked_sweep_has_the_law_of_the_exact_conditionals(spike, listed, groups):
    """The first token of every document is drawn given all other tokens."""
    K, n = 5, 4000
    block = make_block(K, spike, largest=3, big=False)
    block = block if groups else one_group(block)
    start, counts, totals = start_chain(block)
    c = document_counts(block.head[0], block.head[2], start, K)
    ends = np.cumsum(c.sum(axis=1))
    firsts = [(i, end - c[i].sum()) for i, end in enumerate(ends) if c[i].sum()]
    seen = np.zeros((len(firsts), K))
    for seed in range(n):
        after = start.copy()
        run_blocked(block, after, counts, totals, listed, seed=np.uint64(seed))
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
        deviation = np.sqrt(n * np.maximum(chance * (1 - chance), 1 / n))
        assert np.abs((seen[row] - n * chance) / deviation).max() < 5.0


@pytest.mark.parametrize("K", [3, 20, 100])
@pytest.mark.parametrize("most", [2**16 - 1, 2**16, 2**19])
def test_blocked_sweep_of_words_with_many_tokens(K, most):
    """Counts of more than 16 bits are read in two parts."""
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
        twin = twins.sweep_by_rows(
            *block.head, block.levels, *block.table, block.groups, block.gamma,
            block.gamma_totals, totals, counts, assignments, SEED, cycle, FIRST,
        )  # fmt: skip
        moves, _ = run_blocked(block, assignments, counts, totals, False, cycle)
        assert moves.shape[1] > 0
        assert_array_equal(assignments, twin[0])


@pytest.mark.parametrize("K", [3, 40])
@FORMS
def test_blocked_sweep_of_long_documents(K, listed):
    """Weights are right after thousands of moves; log F is exact for all counts."""
    block = make_block(K)
    assignments, counts, totals = start_chain(block, np.uint16)
    for cycle in range(3):
        twin = (twins.sweep_by_lists if listed else twins.sweep_by_rows)(
            *block.head, block.levels, *block.table, block.groups, block.gamma,
            block.gamma_totals, totals, counts, assignments, SEED, cycle, FIRST,
        )  # fmt: skip
        _, log_factor = run_blocked(block, assignments, counts, totals, listed, cycle)
        # single precision changes one draw in a million, and the draws after it
        assert (assignments == twin[0]).mean() > 0.9
        c = document_counts(block.head[0], block.head[2], assignments, K)
        close(log_factor, log_factor_twin(c, *(x[block.levels] for x in block.table)))


@FORMS
def test_blocked_documents_are_independent(listed):
    """A document's moves do not depend on other documents of the block."""
    block = make_block(4)
    assignments, counts, totals = start_chain(block)
    together = assignments.copy()
    run_blocked(block, together, counts, totals, listed)
    indptr, words, n = block.head
    levels, token = block.levels, 0
    for i in range(block.n_documents):
        length = int(n[indptr[i] : indptr[i + 1]].sum())
        alone = assignments[token : token + length].copy()
        block.head, block.levels = (indptr[i : i + 2], words, n), levels[i : i + 1]
        run_blocked(block, alone, counts, totals, listed, first=FIRST + i)
        assert_array_equal(alone, together[token : token + length])
        token += length
