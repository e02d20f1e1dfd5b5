# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed Gibbs with the word counts held still: documents are independent, draws are sparse.

The weight of component k for a token of word j is d_k phi_jk, where phi_jk is the loading given the
counts of the round and d_k what the document's other tokens say of k. Most d_k are those of an
empty component, e_k, and most words have tokens in few components, so the weights are summed over
the shorter of two lists:

    by document: sum over its components of (d_k - e_k) phi_jk, and sum_k e_k phi_jk, known before;
    by word: sum over its components of d_k n_jk / N_k, and gamma_j times sum_k d_k / N_k, kept up
        to date (for words of the group with the most tokens; else there would be many such sums).

The token itself is taken out by scaling d_k of its component.
"""

import math

import numpy as np

from .compile import REORDER, kernel
from .memory import prefetch
from .random import SWEEP, open_stream, uniform
from .special import log_rising

__all__ = ["frozen_sweep", "index_words", "move_counts", "move_totals"]

# An entry of a word's list is next to the last one; an entry of a row by document can be anywhere.
_WORD_LIST = 2
_AHEAD = 2  # entries from the one at hand to the one that is fetched


@kernel(fastmath=REORDER)
def index_words(
    loading_counts, totals, group_of_word, gamma, gamma_totals, empty, first, last,
    out_phi, out_first, out_length, out_components, out_shares, out_sums,
):  # fmt: skip
    """List the components of words ``first`` to ``last - 1`` and the sums of their weights.

    Same as reference.index_words. phi_jk = (gamma_j + n_jk) / (Gamma_g + n_gk); the list of word j
    is at ``out_first[j]``, its shares are n_jk / (Gamma_g + n_gk), and ``out_sums[level, j]`` is
    sum_k empty[level, k] phi_jk. A word's list may hold as many entries as the word has tokens, or
    K; the caller says where each begins.
    """
    n_components = loading_counts.shape[1]
    inverse = np.empty(totals.shape, dtype=np.float32)
    for g in range(totals.shape[0]):
        for k in range(n_components):
            inverse[g, k] = 1.0 / (gamma_totals[g] + totals[g, k])
    for j in range(first, last):
        g = group_of_word[j]
        prior = np.float32(gamma[j])
        for k in range(n_components):
            out_phi[j, k] = (prior + np.float32(loading_counts[j, k])) * inverse[g, k]
        at = out_first[j]
        for k in range(n_components):
            if loading_counts[j, k] > 0:
                out_components[at] = k
                out_shares[at] = np.float32(loading_counts[j, k]) * inverse[g, k]
                at += 1
        out_length[j] = at - out_first[j]
        for level in range(empty.shape[0]):
            total = np.float32(0.0)
            for k in range(n_components):
                total += empty[level, k] * out_phi[j, k]
            out_sums[level, j] = total


@kernel(fastmath=REORDER)
def frozen_sweep(
    indptr, words, counts, levels, shape, rate, present, empty, group_of_word, gamma, gamma_totals,
    totals, phi, list_first, list_length, list_components, list_shares, sums, assignments,
    out_moved_words, out_moved_from, out_moved_to, out_log_factor, seed, cycle, first_document,
):  # fmt: skip
    """Redraw the component of every token of a block; the number of moves is returned.

    Same as reference.frozen_sweep, and in distribution as collapsed.sweep that is not live.
    """
    n_components = shape.shape[1]
    main = np.argmax(totals.sum(axis=1))  # the group with the most tokens
    pseudo = shape.astype(np.float32)
    scale = (1.0 / rate).astype(np.float32)
    inverse = (1.0 / (gamma_totals.reshape(-1, 1) + totals)).astype(np.float32)
    weight = empty[0].copy()  # d_k
    weight_level = 0  # whose empty components are in it
    empty_spread = (empty * inverse[main]).sum(axis=1)
    flat_phi = phi.reshape(-1)
    place = np.full(n_components, -1, dtype=np.int32)  # of a component in the document's list
    members = np.empty(n_components, dtype=np.int32)  # the document's list, in no order
    held = np.empty(n_components, dtype=np.int32)
    excess = np.empty(n_components, dtype=np.float32)  # d_k - e_k
    ends = np.empty(n_components, dtype=np.float32)
    stream = np.empty(2, dtype=np.uint64)
    nothing = _empty_terms(shape, rate, present)
    last_entry = indptr[-1]
    n_moved = 0
    token = 0
    for i in range(indptr.shape[0] - 1):
        level = levels[i]
        open_stream(stream, seed, SWEEP, cycle, first_document + i)
        # the document's list of components
        n_members = 0
        start = token
        for t in range(indptr[i], indptr[i + 1]):
            for _ in range(counts[t]):
                k = np.int64(assignments[token])
                if place[k] < 0:
                    place[k] = n_members
                    members[n_members] = k
                    held[n_members] = 0
                    n_members += 1
                held[place[k]] += 1
                token += 1
        if level != weight_level:
            weight[:] = empty[level]
            weight_level = level
        spread = np.float64(empty_spread[level])  # sum_k d_k / N_k
        for m in range(n_members):
            k = members[m]
            weight[k] = (np.float32(held[m]) + pseudo[level, k]) * scale[level, k]
            excess[m] = weight[k] - empty[level, k]
            spread += excess[m] * inverse[main, k]
        token = start
        for t in range(indptr[i], indptr[i + 1]):
            j = words[t]
            g = group_of_word[j]
            prior = np.float32(gamma[j])
            first, length = list_first[j], list_length[j]
            if t + _AHEAD < last_entry:
                prefetch(list_shares, list_first[words[t + _AHEAD]])
                prefetch(list_components, list_first[words[t + _AHEAD]])
                if token + _AHEAD < assignments.shape[0]:  # right if those entries are ones
                    guess = np.int64(assignments[token + _AHEAD])
                    prefetch(flat_phi, np.int64(words[t + _AHEAD]) * n_components + guess)
            for _ in range(counts[t]):
                old = np.int64(assignments[token])
                at_old = place[old]
                left_over = held[at_old] - 1
                before = weight[old]
                after = empty[level, old]
                if left_over > 0:
                    after = (np.float32(left_over) + pseudo[level, old]) * scale[level, old]
                # phi without the token, as a part of phi: (n - 1) / (N - 1) for n / N
                others = np.rint(phi[j, old] / inverse[g, old] - prior) - np.float32(1.0)
                kept = (prior + others) / (phi[j, old] / inverse[g, old] - phi[j, old])
                by_word = g == main and length <= _WORD_LIST * n_members
                mass = np.float32(0.0)
                if by_word:
                    weight[old] = after * kept
                    for x in range(length):
                        component = np.int64(list_components[first + x])
                        mass += list_shares[first + x] * weight[component]
                        ends[x] = mass
                    rest = prior * np.float32(spread + (weight[old] - before) * inverse[main, old])
                else:
                    own = excess[at_old]
                    excess[at_old] = (after - empty[level, old]) * kept
                    for m in range(n_members):
                        mass += excess[m] * phi[j, members[m]]
                        ends[m] = mass
                    excess[at_old] = own
                    # the token's component apart, all others by rejection
                    alone = empty[level, old] * phi[j, old]
                    rest = max(sums[level, j] - alone, np.float32(0.0)) + alone * kept
                left = np.float32(uniform(stream)) * (mass + rest)
                if left < mass:
                    n_listed = length if by_word else n_members
                    at = 0
                    for x in range(n_listed):
                        at += left >= ends[x]
                    at = min(at, n_listed - 1)
                    new = np.int64(list_components[first + at] if by_word else members[at])
                elif by_word:
                    new = _spread_draw(weight, inverse[main], (left - mass) / prior)
                elif left - mass < alone * kept:
                    new = old
                else:
                    new = old
                    while new == old:
                        new = _empty_draw(
                            empty, level, phi, j, np.float32(uniform(stream)) * sums[level, j]
                        )
                weight[old] = before
                if new != old:
                    weight[old] = after
                    spread += (after - before) * inverse[main, old]
                    held[at_old] = left_over
                    excess[at_old] = after - empty[level, old]
                    if left_over == 0:
                        n_members -= 1
                        moved = members[n_members]
                        members[at_old] = moved
                        held[at_old] = held[n_members]
                        excess[at_old] = excess[n_members]
                        place[moved] = at_old
                        place[old] = -1
                    at_new = place[new]
                    if at_new < 0:
                        at_new = n_members
                        place[new] = at_new
                        members[at_new] = new
                        held[at_new] = 0
                        n_members += 1
                    held[at_new] += 1
                    before = weight[new]
                    weight[new] = np.float32(held[at_new]) + pseudo[level, new]
                    weight[new] *= scale[level, new]
                    spread += (weight[new] - before) * inverse[main, new]
                    excess[at_new] = weight[new] - empty[level, new]
                    out_moved_words[n_moved] = j
                    out_moved_from[n_moved] = old
                    out_moved_to[n_moved] = new
                    n_moved += 1
                    assignments[token] = new
                token += 1
        result = nothing[level]
        for m in range(n_members):
            k = members[m]
            place[k] = -1
            weight[k] = empty[level, k]
            result += log_rising(shape[level, k], held[m]) - held[m] * math.log(rate[level, k])
            result += math.log(present[level, k])
        out_log_factor[i] = result
    return n_moved


@kernel()
def _empty_terms(shape, rate, present):
    """Log F(0) of each level, up to the model's constant, (T,)."""
    result = np.zeros(shape.shape[0])
    for level in range(shape.shape[0]):
        for k in range(shape.shape[1]):
            result[level] += math.lgamma(shape[level, k])
            result[level] -= shape[level, k] * math.log(rate[level, k])
            result[level] -= math.log(present[level, k])
    return result


@kernel()
def _spread_draw(weight, inverse, left):
    """Find the component where the sum of d_k / N_k passes ``left``."""
    last = weight.shape[0] - 1
    for k in range(last):
        left -= weight[k] * inverse[k]
        if left < 0.0:
            return k
    return last


@kernel()
def _empty_draw(empty, level, phi, j, left):
    """Find the component where the sum of e_k phi_jk passes ``left``."""
    last = phi.shape[1] - 1
    for k in range(last):
        left -= empty[level, k] * phi[j, k]
        if left < 0.0:
            return k
    return last


@kernel()
def move_counts(moved_words, moved_from, moved_to, first, last, loading_counts):
    """Apply those of the moves that are of words ``first`` to ``last - 1``.

    Same as reference.move_counts.
    """
    for m in range(moved_words.shape[0]):
        j = moved_words[m]
        if first <= j < last:
            loading_counts[j, moved_from[m]] -= 1
            loading_counts[j, moved_to[m]] += 1


@kernel()
def move_totals(moved_words, moved_from, moved_to, group_of_word, totals):
    """Apply moves to the totals of the groups. Same as reference.move_totals."""
    for m in range(moved_words.shape[0]):
        g = group_of_word[moved_words[m]]
        totals[g, moved_from[m]] -= 1
        totals[g, moved_to[m]] += 1
