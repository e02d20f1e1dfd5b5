# SPDX-License-Identifier: BSD-3-Clause
"""Blocked collapsed Gibbs sampling: word counts are fixed, so documents are independent.

The arrays that the blocks of a round read do not change during the round. Each block lists its
moves, which are applied after the round: the draws are the same on any number of threads.

The weight of component k for a token of word j is d_k (gamma_j + n_jk) / N_k, where d_k is the
weight of k given the document's other tokens. A sweep reads either all n_jk, a row of counts, or
the n_jk that are not zero, a list made before the round: most words have tokens in few components.

A draw has a long latency, because each of its instructions needs the result of the one before. So
two documents, in two slots, take turns, and the processor computes the next draw of one document
while it waits for that of the other. It can do so only if no store has an address that is not known
yet: the two weights that a draw changes are stored during the next draw of the slot. A processor
looks ahead by some hundred instructions, so a draw should have few: words and random numbers are
prepared beforehand, and the values that one draw passes to the next stay in registers.
"""

import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from .compile import REORDER, kernel, part
from .random import SWEEP, open_stream, to_uniform
from .simd.memory import aligned, copy_tail, prefetch
from .simd.nonzeros import list_nonzeros
from .simd.weighted_draws import LANES, count_at, draw_component, draw_listed, high_start

__all__ = [
    "index_words",
    "move_counts",
    "move_totals",
    "round_tables",
    "sweep_by_lists",
    "sweep_by_rows",
]

# Columns of a slot: its document; its first token, the end of its tokens and its next token; the
# two components whose weights have changed; where its level begins in the arrays of the score
# table; the group of words of its sum of d_k / N_k.
_DOCUMENT, _START, _END, _TOKEN, _LOST, _GAINED, _LEVEL, _GROUP = range(8)

_AHEAD = 8  # tokens between the current one and the one whose counts are prefetched
_MOVES, _MOVES_AHEAD = 512, 8  # moves that are selected together; distance of the prefetched one
_COUNTS_PER_LINE = 32  # of 16 bits in a cache line
_CHUNK = 64  # components that are summed together
_SMALL, _LARGE = 1e-150, 1e150  # a product between these can take another factor


def round_tables(shape, rate, present, gamma_totals, totals, loading_counts):
    """Prepare the arrays that all blocks of a round read; those for draws in single precision.

    The weights d_k = (c_k + shape) scale, or empty if c_k = 0, are given by shape, scale and empty,
    (T K,) each. Norms are 1 / N_k, 1 / (N_k - 1) and N_k, (G width,) each, zeros beyond K. Then
    follow log F(0) of each level, (T,), up to the model's constant; the counts in two halves; and
    the tail that is read beyond the last row of counts.
    """
    n_groups, n_components = totals.shape
    width = -(-n_components // LANES) * LANES
    # a power of two per level brings the weights into the range of single precision, exactly
    scale = 2.0 ** np.round(np.log2(rate.min(axis=1, keepdims=True)))
    weights = shape, scale / rate, shape * present * (scale / rate)
    norm = gamma_totals[:, None] + totals
    norms = aligned((3, n_groups, width), np.float32)
    norms[:, :, :n_components] = 1.0 / norm, 1.0 / np.maximum(norm - 1.0, 1e-30), norm
    nothing = (gammaln(shape) - shape * np.log(rate) - np.log(present)).sum(axis=1)
    low, highs, high_first = _halves(loading_counts, width)
    return (
        *(part.astype(np.float32).reshape(-1) for part in weights),
        *norms.reshape(3, -1), nothing, low.reshape(-1), highs, high_first, *copy_tail(low, LANES),
    )  # fmt: skip


def _halves(loading_counts, width):
    """Split counts into their lowest 16 bits and their high parts, which few words have.

    So half as many bytes are read. Words without high parts use the same row of zeros.

    Returns
    -------
    low : (J, K) array of uint16
    highs : (n width,) array of float32, or None if the counts have 16 bits
    high_first : (J,) array of uint32, or None
        Where the high parts of each word's counts begin.
    """
    if loading_counts.itemsize <= 2:
        return loading_counts, None, None
    many = np.flatnonzero(loading_counts.max(axis=1, initial=0) >= 2**16)
    highs = aligned((1 + len(many), width), np.float32)
    highs[1:, : loading_counts.shape[1]] = loading_counts[many] & ~0xFFFF
    high_first = np.zeros(len(loading_counts), dtype=np.uint32)
    high_first[many] = width * np.arange(1, 1 + len(many))
    return loading_counts.astype(np.uint16), highs.reshape(-1), high_first


def sweep_by_rows(*arguments: Any, given: Any = None) -> int:
    """Redraw the component of every token of a block; return the number of moves.

    Same as twins.blocked.sweep_by_rows (theory 4.6). Token (i, j) gets k with probability
    proportional to

        (c_k + shape_k) / rate_k * [present_k if c_k = 0] * (gamma_j + n_jk) / (Gamma_g + n_gk),

    where all counts are without the token, and n_jk and n_gk otherwise as before the round.
    ``given`` are the ``round_tables``, if they were already computed.
    """
    return _prepared(by_rows, *arguments, given=given)


def sweep_by_lists(*arguments: Any, given: Any = None) -> int:
    """Redraw every token as ``sweep_by_rows`` does, from lists of the words' components.

    Same as twins.blocked.sweep_by_lists. With the lists of ``index_words``, d_k n_jk / N_k is
    summed over the list of the word. The sum of gamma_j d_k / N_k over all components is updated
    with every move.
    """
    return _prepared(by_lists, *arguments, given=given)


def _prepared(
    sweep, indptr, words, counts, levels, shape, rate, present, group_of_word, gamma, gamma_totals,
    totals, loading_counts, list_first, list_length, list_components, list_fractions, assignments,
    *others, given,
):  # fmt: skip
    """Compute the tables and allocate buffers in NumPy, where no allocation is compiled."""
    if given is None:
        given = round_tables(shape, rate, present, gamma_totals, totals, loading_counts)
    n_tokens, n_components = len(assignments), shape.shape[1]
    floats = aligned((4, -(-n_components // LANES) * LANES), np.float32)
    buffers = (
        np.empty(len(indptr), dtype=np.int64),  # the first token of each document
        np.empty(n_tokens + _AHEAD, dtype=np.int32),  # words of tokens, and padding to look ahead
        np.empty(n_tokens, dtype=np.float32),  # uniform numbers
        floats[:2],  # d_k of the document in each slot
        np.zeros((2, 2), dtype=np.float32),  # weights that are not yet stored
        np.zeros(2),  # sums of d_k / N_k
        floats[2:],  # running sums of a draw
        np.zeros((2, _GROUP + 1), dtype=np.int64),  # the slots
        np.zeros(n_components, dtype=np.int32),  # tokens of each component, for one document
        np.empty(2, dtype=np.uint64),  # a stream
    )
    return sweep(
        indptr, words, counts, levels, shape, rate, present, group_of_word, gamma, given,
        list_first, list_length, list_components, list_fractions, assignments, *others, buffers,
    )  # fmt: skip


def _sweep(listed):
    """Compile one of two kernels, by lists or by rows, without the code of the other."""

    @kernel(fastmath=REORDER)
    def sweep(
        indptr, words, counts, levels, shape, rate, present, group_of_word, gamma, tables,
        list_first, list_length, list_components, list_fractions, assignments, out_moved_words,
        out_moved_from, out_moved_to, out_log_factor, seed, cycle, first_document, buffers,
    ):  # fmt: skip
        (
            shapes, scales, empties, inverse, without, norm, nothing, flat, highs, high_first, tail,
            tail_start,
        ) = tables  # fmt: skip
        first_token, token_words, at, weight, late, rest_sums, ends, slots, held, stream = buffers
        _spell_out(indptr, words, counts, first_token, token_words)
        slots[0, _DOCUMENT] = slots[1, _DOCUMENT] = -1
        given = (
            token_words, at, assignments, group_of_word, gamma, shapes, scales, empties, inverse,
            without, norm, held.shape[0], flat, highs, high_first, tail, tail_start, list_first,
            list_length, list_components, list_fractions, weight, ends, out_moved_words,
            out_moved_from, out_moved_to,
        )  # fmt: skip
        # not literals: functions are compiled again for each literal argument
        one, other = np.int64(0), np.int64(1)
        next_document, n_moved = np.int64(0), np.int64(0)
        while True:
            for s in range(2):
                while slots[s, _TOKEN] == slots[s, _END]:
                    if slots[s, _DOCUMENT] >= 0:
                        i = slots[s, _DOCUMENT]
                        out_log_factor[i] = nothing[levels[i]] + _close(
                            s, slots, weight, late, levels, assignments, shape, rate, present,
                            empties, held,
                        )  # fmt: skip
                    if next_document == levels.shape[0]:
                        slots[s, _DOCUMENT] = -1
                        break
                    open_stream(stream, seed, SWEEP, cycle, first_document + next_document)
                    _open(
                        s, slots, weight, late, next_document, first_token, levels, assignments,
                        shapes, scales, empties, held, stream, at,
                    )  # fmt: skip
                    next_document += 1
            n_first, n_second = slots[0, _END] - slots[0, _TOKEN], slots[1, _END] - slots[1, _TOKEN]
            if n_first + n_second == 0:
                return n_moved
            n_both = n_first if n_first < n_second else n_second
            first, second = _take(one, slots, late, rest_sums), _take(other, slots, late, rest_sums)
            for _ in range(n_both):
                first, n_moved = _redraw(listed, one, first, n_moved, given)
                second, n_moved = _redraw(listed, other, second, n_moved, given)
            _put(one, first, slots, late, rest_sums)
            _put(other, second, slots, late, rest_sums)
            if n_both == 0:  # one document is left
                s = np.int64(n_first == 0)
                alone = _take(s, slots, late, rest_sums)
                for _ in range(n_first + n_second):
                    alone, n_moved = _redraw(listed, s, alone, n_moved, given)
                _put(s, alone, slots, late, rest_sums)

    return sweep


# ---- one token ----


@part()
def _take(s, slots, late, rest_sums):
    """Load from a slot the values that change from token to token, into registers."""
    return (
        np.uint64(slots[s, _TOKEN]), np.uint64(slots[s, _LOST]), np.uint64(slots[s, _GAINED]),
        late[s, 0], late[s, 1], np.uint64(slots[s, _LEVEL]), slots[s, _GROUP], rest_sums[s],
    )  # fmt: skip


@part()
def _put(s, state, slots, late, rest_sums):
    """Store the values of ``_take``."""
    token, lost, gained, late[s, 0], late[s, 1], _, slots[s, _GROUP], rest_sums[s] = state
    slots[s, _TOKEN], slots[s, _LOST], slots[s, _GAINED] = token, lost, gained


@part(fastmath=REORDER)
def _redraw(listed, s, state, n_moved, given):
    """Redraw the next token of a slot; return the new values of ``_take`` and the number of moves.

    ``listed`` is None to read rows, and not False, because Numba leaves out code behind a test for
    None. Indices are unsigned: a signed index is tested for being negative at every use, which
    takes a tenth of the time.
    """
    (
        token_words, at, assignments, group_of_word, gamma, shapes, scales, empties, inverse,
        without, norm, n_components, flat, highs, high_first, tail, tail_start, list_first,
        list_length, list_components, list_fractions, weight, ends, out_moved_words, out_moved_from,
        out_moved_to,
    ) = given  # fmt: skip
    x, lost, gained, late_lost, late_gained, of_level, group, rest_sum = state
    late, late_weights = (lost, gained), (late_lost, late_gained)
    width = weight.shape[1]
    j, ahead = np.uint64(token_words[x]), np.uint64(token_words[x + np.uint64(_AHEAD)])
    prior, g = np.float32(gamma[j]), np.int64(group_of_word[j])
    prefetch(gamma, ahead)
    prefetch(group_of_word, ahead)
    of_group = np.uint64(g) * np.uint64(width)
    old = np.uint64(assignments[x])
    before = weight[s, old]
    before = late_lost if old == lost else before
    before = late_gained if old == gained else before
    after = _one_less(
        before, shapes[of_level + old], scales[of_level + old], empties[of_level + old]
    )
    if listed is not None:
        first, to_come = np.uint64(list_first[j]), np.uint64(list_first[ahead])
        prefetch(list_components, to_come)
        prefetch(list_fractions, to_come)
        prefetch(list_fractions, to_come + np.uint64(LANES))
        if g != group:
            weight[s, lost], weight[s, gained] = late_weights
            group = g
            rest_sum = _dot(s, weight, of_group, inverse)
        rest = prior * np.float32(rest_sum - np.float64(before * inverse[of_group + old]))
        length = np.int64(list_length[j])
        place, beyond = draw_listed(
            s, weight, list_components, list_fractions, first, (length + LANES - 1) // LANES, old,
            after * without[of_group + old], norm[of_group + old], prior, rest, at[x], late,
            late_weights, ends,
        )  # fmt: skip
        weight[s, lost], weight[s, gained] = late_weights
        if beyond < np.float32(0.0):
            new = np.uint64(list_components[first + np.uint64(max(min(place, length - 1), 0))])
            new = new if place >= 0 else old
        else:
            new = _draw_rest(s, weight, of_group, inverse, old, beyond / prior)
    else:
        offset, to_come = j * np.uint64(n_components), ahead * np.uint64(n_components)
        for line in range(0, n_components, _COUNTS_PER_LINE):
            prefetch(flat, to_come + np.uint64(line))
        high = high_start(high_first, j)
        count = count_at(flat, offset + old, highs, np.uint64(high) + old)
        own = prior + count - np.float32(1.0)
        own *= after * without[of_group + old]
        new = draw_component(
            s, weight, inverse, of_group, flat, offset, highs, high, tail, tail_start, prior,
            width // LANES, old, own, at[x], late, late_weights, ends,
        )  # fmt: skip
        new = np.uint64(min(new, n_components - 1))
    alone = weight[s, new]  # without the token
    alone = after if new == old else alone
    joined = _one_more(
        alone, shapes[of_level + new], scales[of_level + new], empties[of_level + new]
    )
    if listed is not None:
        rest_sum += np.float64((after - before) * inverse[of_group + old])
        rest_sum += np.float64((joined - alone) * inverse[of_group + new])
    # stored without a branch; the next move overwrites it if this is not a move
    m = np.uint64(n_moved)
    out_moved_words[m], out_moved_from[m], out_moved_to[m] = j, old, new
    assignments[x] = new
    state = x + np.uint64(1), old, new, after, joined, of_level, group, rest_sum
    return state, n_moved + np.int64(new != old)


@part()
def _spell_out(indptr, words, counts, out_first_token, out_token_words):
    """List the first token of each document and the word of every token."""
    x = np.int64(0)
    for i in range(indptr.shape[0] - 1):
        out_first_token[i] = x
        for t in range(indptr[i], indptr[i + 1]):
            out_token_words[x] = out_token_words[x + 1] = words[t]  # few have more than two tokens
            for more in range(2, counts[t]):
                out_token_words[x + more] = words[t]
            x += counts[t]
    out_first_token[indptr.shape[0] - 1] = x
    for ahead in range(_AHEAD):
        out_token_words[x + ahead] = 0


# ---- weights of a document ----


@part()
def _one_less(weight, shape, scale, empty):
    """Weight of a component that loses a token; its weight with one token is (1 + shape) scale."""
    less = weight - scale
    return empty if weight < (np.float32(1.5) + shape) * scale else less


@part()
def _one_more(weight, shape, scale, empty):
    """Weight of a component that gains a token."""
    more, first = weight + scale, (np.float32(1.0) + shape) * scale
    return first if weight == empty else more


@part()
def _open(
    s, slots, weight, late, document, first_token, levels, assignments, shapes, scales, empties,
    held, stream, out_uniforms,
):  # fmt: skip
    """Put a document into a slot, and draw the random numbers for its tokens."""
    n_components = held.shape[0]
    level = levels[document]
    if slots[s, _DOCUMENT] < 0 or levels[slots[s, _DOCUMENT]] != level:
        for k in range(n_components):
            weight[s, k] = empties[level * n_components + k]
    start, end = first_token[document], first_token[document + 1]
    slots[s, _DOCUMENT], slots[s, _LEVEL] = document, level * n_components
    slots[s, _START], slots[s, _TOKEN], slots[s, _END] = start, start, end
    for x in range(start, end):
        k = np.uint64(assignments[x])
        at = np.uint64(level * n_components) + k
        held[k] += 1  # the last token of a component sets the weight for all of them
        weight[s, k] = (np.float32(held[k]) + shapes[at]) * scales[at]
    for x in range(start, end):
        held[np.uint64(assignments[x])] = 0
    # no weight has changed yet, and there is no sum of d_k / N_k
    slots[s, _LOST], slots[s, _GAINED], slots[s, _GROUP] = 0, 0, -1
    late[s, 0] = late[s, 1] = weight[s, 0]
    for x in range(start, end):
        out_uniforms[x] = to_uniform(stream[0] + np.uint64(x - start + 1) * stream[1])


@part()
def _close(
    s, slots, weight, late, levels, assignments, shape, rate, present, empties, held
):  # fmt: skip
    """Clear a slot; return log F(c) - log F(0) of its document, one factor for each token."""
    weight[s, slots[s, _LOST]], weight[s, slots[s, _GAINED]] = late[s, 0], late[s, 1]
    level = levels[slots[s, _DOCUMENT]]
    result = 0.0
    product = 1.0
    for x in range(slots[s, _START], slots[s, _END]):
        k = np.uint64(assignments[x])
        factor = (shape[level, k] + held[k]) / rate[level, k]
        first = factor * present[level, k]
        product *= factor if held[k] > 0 else first
        held[k] += 1
        if not _SMALL < product < _LARGE:
            result += math.log(product)
            product = 1.0
    for x in range(slots[s, _START], slots[s, _END]):
        k = np.uint64(assignments[x])
        held[k] = 0
        weight[s, k] = empties[np.uint64(slots[s, _LEVEL]) + k]
    return result + math.log(product)


@part(fastmath=REORDER)
def _dot(s, weight, first, inverse):
    """Sum of d_k / N_k."""
    total = 0.0
    for k in range(np.uint64(weight.shape[1])):
        total += np.float64(weight[s, k] * inverse[first + k])
    return total


@part(fastmath=REORDER)
def _draw_rest(s, weight, first, inverse, old, left):
    """Find where the sum of d_k / N_k, except that of ``old``, exceeds ``left``."""
    n_components = np.uint64(weight.shape[1])
    own = weight[s, old]
    weight[s, old] = np.float32(0.0)
    at = np.uint64(0)
    while at + np.uint64(_CHUNK) < n_components:
        total = np.float32(0.0)
        for k in range(at, at + np.uint64(_CHUNK)):
            total += weight[s, k] * inverse[first + k]
        if left < total:
            break
        left -= total
        at += np.uint64(_CHUNK)
    found = at
    for k in range(at, n_components):
        if inverse[first + k] > 0.0:  # the row has more places than there are components
            found = k
        left -= weight[s, k] * inverse[first + k]
        if left < np.float32(0.0):
            break
    weight[s, old] = own
    return found


# ---- between rounds ----


def _inverse_norms(loading_counts, first, last, totals, group_of_word, gamma_totals, *others):
    """1 / N_k, (G K,)."""
    return ((1.0 / (gamma_totals[:, None] + totals)).astype(np.float32).reshape(-1),)


@kernel(_inverse_norms)
def index_words(
    loading_counts, first, last, totals, group_of_word, gamma_totals, touched,
    list_first, out_length, out_components, out_counts, out_fractions, inverse,
):  # fmt: skip
    """List the components in which words ``first`` to ``last - 1`` have tokens, and n_jk / N_k.

    Same as twins.blocked.index_words. The list of word j begins at ``list_first[j]``. It is padded
    with fractions of 0 to a multiple of 16 places, and needs memory for one place more. Only the
    lists of touched words are made again, but new norms change all fractions.
    """
    n_components = totals.shape[1]
    for j in range(first, last):
        start = list_first[j]
        if touched[j]:
            touched[j] = False
            row = loading_counts[j]
            out_length[j] = list_nonzeros(row, start, out_components)
            for at in range(np.uint64(start), np.uint64(start + out_length[j])):
                out_counts[at] = row[np.uint64(out_components[at])]
            for at in range(start + out_length[j], start + -(-out_length[j] // LANES) * LANES):
                out_components[at] = 0
                out_counts[at] = 0
                out_fractions[at] = 0.0
        g = group_of_word[j]
        of_group = np.uint64(g * n_components)
        for at in range(np.uint64(start), np.uint64(start + out_length[j])):
            inverse_norm = inverse[of_group + np.uint64(out_components[at])]
            out_fractions[at] = np.float32(out_counts[at]) * inverse_norm


@kernel(lambda *arguments: (np.empty(_MOVES, dtype=np.int64),))
def move_counts(
    moved_words, moved_from, moved_to, first, last, loading_counts, out_touched, picked
):
    """Apply the moves of words ``first`` to ``last - 1``; mark these words as touched.

    Same as twins.blocked.move_counts.
    """
    n_components = np.uint64(loading_counts.shape[1])
    flat = loading_counts.reshape(-1)
    for start in range(0, moved_words.shape[0], _MOVES):
        n = _pick(moved_words, start, first, last, picked)
        for at in range(n):
            m = np.uint64(picked[at])
            to_come = np.uint64(picked[at + _MOVES_AHEAD if at + _MOVES_AHEAD < n else n - 1])
            row = np.uint64(moved_words[to_come]) * n_components
            prefetch(flat, row + np.uint64(moved_from[to_come]))
            prefetch(flat, row + np.uint64(moved_to[to_come]))
            row = np.uint64(moved_words[m]) * n_components
            flat[row + np.uint64(moved_from[m])] -= 1
            flat[row + np.uint64(moved_to[m])] += 1
            out_touched[np.uint64(moved_words[m])] = True


@part()
def _pick(moved_words, start, first, last, out_picked):
    """Select the moves of these words, without a branch, which would often be mispredicted."""
    n = np.uint64(0)
    stop = start + _MOVES if start + _MOVES < moved_words.shape[0] else moved_words.shape[0]
    for m in range(start, stop):
        out_picked[n] = m  # overwritten if the word is not one of these
        n += np.uint64((moved_words[m] >= first) & (moved_words[m] < last))
    return np.int64(n)


@kernel()
def move_totals(moved_words, moved_from, moved_to, group_of_word, totals):
    """Apply moves to the totals of the groups. Same as twins.blocked.move_totals."""
    for m in range(moved_words.shape[0]):
        g = group_of_word[moved_words[m]]
        totals[g, moved_from[m]] -= 1
        totals[g, moved_to[m]] += 1


by_rows, by_lists = _sweep(listed=None), _sweep(listed=True)
