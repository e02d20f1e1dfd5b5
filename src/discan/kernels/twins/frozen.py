# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the blocked collapsed sampler."""

import numpy as np

from .collapsed import document_counts
from .common import document_weight, each_token, log_factor
from .streams import SWEEP, Stream

__all__ = [
    "GLANCE",
    "LANES",
    "draw_component",
    "draw_listed",
    "frozen_sweep",
    "glance",
    "index_words",
    "listed_sweep",
    "lowest",
    "move_counts",
    "move_totals",
]

GLANCE = 64  # numbers that are looked at together
LANES = 16  # places that are added up side by side


def frozen_sweep(
    indptr, words, counts, levels, shape, rate, present, group_of_word, gamma, gamma_totals,
    totals, loading_counts, assignments, seed, cycle, first_document, listed=False,
):  # fmt: skip
    """Redraw every token with the counts of words as they were (spec 4.6).

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
            weights, spread = with_it * loading_counts[j], with_it * gamma[j]
            new = draw_listed(weights, spread, components[j], old, own, at)
        else:
            new = draw_component(with_it * (gamma[j] + loading_counts[j]), old, own, at)
        z[token] = new
        c[i, new] += 1
        if new != old:
            moves.append((j, old, new))
    factors = log_factor(c, shape[levels], rate[levels], present[levels])
    return z, np.array(moves, dtype=np.int64).reshape(-1, 3).T, factors


def listed_sweep(*arguments):
    """Redraw every token as ``frozen_sweep`` does, by lists of the words' components."""
    return frozen_sweep(*arguments, listed=True)


def draw_component(weights, old, own, at):
    """Draw k by weights; ``old``, whose weight is ``own`` instead, comes first."""
    order = [k for k in _by_lanes(weights) if k != old]
    return [old, *order][_draw(at, [own, *weights[order]])]


def draw_listed(weights, spread, components, old, own, at):
    """Draw k by weights of listed components and, after them, by what is spread over all."""
    listed = [components[place] for place in _by_lanes(components)]
    listed = [k for k in listed if k != old]
    others = [k for k in range(len(weights)) if k != old]
    return [old, *listed, *others][_draw(at, [own, *weights[listed], *spread[others]])]


def _draw(at, weights):
    """Find where a share ``at`` of all weights falls."""
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends[:-1], at * ends[-1], side="right"))


def _by_lanes(weights):
    """Give the places in the order in which they are drawn from: lane after lane of sixteen."""
    return sorted(range(len(weights)), key=lambda place: (place % LANES, place))


def glance(numbers, start):
    """Tell which of 64 numbers from ``start`` on are not 0, by the bits of a number."""
    return sum(1 << n for n in np.flatnonzero(numbers.ravel()[start : start + GLANCE]).tolist())


def lowest(bits):
    """Give the number of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1


def index_words(loading_counts, totals, group_of_word, gamma_totals):
    """Give each word's components with tokens, their counts and their shares n_jk / N_k."""
    components = [np.flatnonzero(row) for row in loading_counts]
    counts = [row[k] for row, k in zip(loading_counts, components, strict=True)]
    norms = (gamma_totals[:, None] + totals)[group_of_word]
    shares = [n / norm[k] for n, norm, k in zip(counts, norms, components, strict=True)]
    return components, counts, shares


def move_counts(moved_words, moved_from, moved_to, first, last, loading_counts):
    """Apply the moves of words first .. last - 1; return the loading counts."""
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
