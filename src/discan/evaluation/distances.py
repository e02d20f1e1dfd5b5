# SPDX-License-Identifier: BSD-3-Clause
"""Distances between components, each a distribution over the words of every group."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from discan.data.layout import Layout
from discan.typing import Array
from discan.validation import one_of

__all__ = ["MEASURES", "distances"]

MEASURES = ("hellinger", "jensen-shannon")


def distances(
    first: Array,
    second: Array,
    layout: Layout | None = None,
    weights: Array | None = None,
    measure: str = "hellinger",
) -> Array:
    """Distance of every component of one fit from every component of another, (K, L).

    The distance lies between 0 (equal) and 1 (no word in common). "hellinger" is the square root of
    ``1 - sum_j sqrt(p_j q_j)``. "jensen-shannon" is the square root of the Jensen-Shannon
    divergence in bits. With several groups of words, what is under the root is averaged over the
    groups, so the distance stays a metric.

    Parameters
    ----------
    first, second : (K, J) and (L, J) arrays
        Rows sum to one inside each group.
    layout : Layout, optional
        Groups of the words; without it there is one group.
    weights : (G,) array, optional
        Weights of the groups, e.g. their numbers of tokens; equal by default.
    measure : {"hellinger", "jensen-shannon"}
    """
    one_of("measure", measure, MEASURES)
    share = _word_weights(first.shape[1], layout, weights)
    if measure == "hellinger":
        overlap = (np.sqrt(first) * share) @ np.sqrt(second).T
        return np.asarray(np.sqrt(np.clip(1.0 - overlap, 0.0, 1.0)))
    divergence = np.empty((len(first), len(second)))
    for row, p in zip(divergence, first, strict=True):
        middle = (p + second) / 2.0
        of_first = xlogy(p, p) - xlogy(p, middle)
        of_second = xlogy(second, second) - xlogy(second, middle)
        row[:] = (of_first + of_second) @ share / (2.0 * np.log(2.0))
    return np.asarray(np.sqrt(np.clip(divergence, 0.0, 1.0)))


def _word_weights(n_words: int, layout: Layout | None, weights: Array | None) -> Array:
    """Weight of each word, that of its group; the weights of the groups sum to one, (J,)."""
    if layout is None or layout.n_groups == 1:
        return np.ones(n_words)
    given = np.ones(layout.n_groups) if weights is None else np.asarray(weights, dtype=float)
    if not given.sum() > 0:
        given = np.ones(layout.n_groups)
    return np.asarray((given / given.sum())[layout.group_of_word])
