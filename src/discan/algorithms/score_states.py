# SPDX-License-Identifier: BSD-3-Clause
"""The state of a block in deterministic algorithms: the shapes of its documents' scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discan.algorithms.base import Params
from discan.data.blocks import Block
from discan.data.rules import MOST, stored
from discan.typing import Array

__all__ = ["ScoreState", "block_lengths", "even_state"]


@dataclass
class ScoreState:
    """q of a block's documents: Gamma(score_shape, rate) or absent, each array (n, K).

    Absence, damping and counts are kept only where scores can be absent.
    """

    score_shape: Array = stored("n", "K", low=0, high=MOST)
    absent: Array | None = stored("n", "K", low=0, high=1, default=None)
    damping: Array | None = stored("n", "K", low=0, high=MOST, default=None)
    component_counts: Array | None = stored("n", "K", low=0, high=MOST, default=None)

    def problem(self, params: Params) -> str | None:
        """Why there can be no such state: with a prior, no component is without a score."""
        if (params.table.shape > 0.0).all() and not (self.score_shape > 0.0).all():
            return "a score is 0"
        return None


def even_state(params: Params, block: Block, scores: Array | None = None) -> ScoreState:
    """Split each document evenly over the components, or by the given scores (n, K)."""
    rows = params.table.rows(block.levels)
    n_components = params.n_components
    lengths = block_lengths(block)
    proportions: Array = np.full((len(lengths), n_components), 1.0 / n_components)
    if scores is not None:
        totals = scores.sum(axis=1, keepdims=True, dtype=np.float64)
        chosen = scores / np.where(totals > 0.0, totals, 1.0) + 1e-12  # scores may have any scale
        proportions = chosen / chosen.sum(axis=1, keepdims=True)
    shape = rows.shape + lengths[:, None] * proportions
    if params.can_be_absent:
        return ScoreState(shape, *np.zeros((3, *shape.shape)))
    assert params.loadings is not None
    return ScoreState(shape.astype(params.loadings.dtype))


def block_lengths(block: Block) -> Array:
    """Sum of the counts of each of the block's documents, (n,)."""
    lengths = np.add.reduceat(
        np.append(block.counts[block.indptr[0] : block.indptr[-1]], 0).astype(np.float64),
        block.indptr[:-1] - block.indptr[0],
    )
    lengths[np.diff(block.indptr) == 0] = 0.0
    return np.asarray(lengths)
