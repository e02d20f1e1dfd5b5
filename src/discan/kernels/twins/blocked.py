# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the blocked collapsed sampler."""

import numpy as np

from .collapsed import document_counts, document_weight
from .documents import each_token
from .gibbs import log_factor
from .random import SWEEP, Stream
from .simd.weighted_draws import draw_component, draw_listed

__all__ = ["index_words", "move_counts", "move_totals", "sweep_by_lists", "sweep_by_rows"]


def sweep_by_rows(
    indptr, words, counts, levels, shape, rate, present, group_of_word, gamma, gamma_totals,
    totals, loading_counts, assignments, seed, cycle, first_document, listed=False,
):  # fmt: skip
    """Redraw every token given the word counts before the round (theory 4.6).

    Returns assignments, the moves (words, from, to) and the log factor (I,).
    """
    z, moves = assignments.copy(), []
    c = document_counts(indptr, counts, assignments, loading_counts.shape[1])
    norm = gamma_totals[:, None] + totals
    components, _, _ = index_words(loading_counts, totals, group_of_word, gamma_totals)
    streams = [Stream(seed, SWEEP, cycle, first_document + i) for i in range(len(c))]
    for token, (i, j) in enumerate(zip(*each_token(indptr, words, counts=counts), strict=True)):
        g, level, old = group_of_word[j], levels[i], z[token]
        with_it = document_weight(c[i], shape[level], rate[level], present[level]) / norm[g]
        c[i, old] -= 1
        after = document_weight(c[i], shape[level], rate[level], present[level])[old]
        own = after * (gamma[j] + loading_counts[j, old] - 1) / (norm[g, old] - 1)
        at = streams[i].uniform()
        if listed:
            weights, rest = with_it * loading_counts[j], with_it * gamma[j]
            new = draw_listed(weights, rest, components[j], old, own, at)
        else:
            new = draw_component(with_it * (gamma[j] + loading_counts[j]), old, own, at)
        z[token] = new
        c[i, new] += 1
        if new != old:
            moves.append((j, old, new))
    factors = log_factor(c, shape[levels], rate[levels], present[levels])
    return z, np.array(moves, dtype=np.int64).reshape(-1, 3).T, factors


def sweep_by_lists(*arguments):
    """Redraw every token as ``sweep_by_rows`` does, from lists of the words' components."""
    return sweep_by_rows(*arguments, listed=True)


def index_words(loading_counts, totals, group_of_word, gamma_totals):
    """Components with tokens of each word, their counts and their fractions n_jk / N_k."""
    components = [np.flatnonzero(row) for row in loading_counts]
    counts = [row[k] for row, k in zip(loading_counts, components, strict=True)]
    norms = (gamma_totals[:, None] + totals)[group_of_word]
    fractions = [n / norm[k] for n, norm, k in zip(counts, norms, components, strict=True)]
    return components, counts, fractions


def move_counts(moved_words, moved_from, moved_to, first, last, loading_counts):
    """Apply the moves of words ``first`` to ``last - 1``; return the loading counts."""
    inside = (moved_words >= first) & (moved_words < last)
    loading_counts = loading_counts.copy()
    np.add.at(loading_counts, (moved_words[inside], moved_from[inside]), -1)
    np.add.at(loading_counts, (moved_words[inside], moved_to[inside]), 1)
    return loading_counts


def move_totals(moved_words, moved_from, moved_to, group_of_word, totals):
    """Apply moves to the totals of the groups; return them."""
    totals = totals.copy()
    np.add.at(totals, (group_of_word[moved_words], moved_from), -1)
    np.add.at(totals, (group_of_word[moved_words], moved_to), 1)
    return totals
