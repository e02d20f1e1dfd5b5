# SPDX-License-Identifier: BSD-3-Clause
"""Scores at the end of one run, for another to start from: made when a block asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from discan.algorithms.base import Params, States
from discan.data.blocks import Block, BlockRef
from discan.data.corpus import Corpus
from discan.fitting.run import Run
from discan.fitting.visit import without_tables
from discan.typing import Array

__all__ = ["RunScores", "in_order"]


class Scored(Protocol):
    """An algorithm whose states tell the scores that another fit may start from."""

    def start_scores(self, params: Params, block: Block, state: Any) -> Array:
        """Scores of the block's documents, (n, K), any scale."""
        ...


@dataclass(frozen=True)
class RunScores:
    """Scores at the end of a run, made from its states.

    Attributes
    ----------
    algorithm, params, corpus, states
        Of that run; the parameters without tables of loadings.
    blocks : its blocks in the order of the documents, and starts (B,): their first documents
    dtype : type of the scores
    """

    algorithm: Scored
    params: Params
    corpus: Corpus
    states: States
    blocks: Sequence[BlockRef]
    starts: Array
    dtype: Any

    @classmethod
    def of(cls, run: Run, algorithm: Scored, dtype: Any) -> RunScores:
        """Take the states of a run that has ended."""
        blocks = in_order(run)
        starts = np.array([block.start for block in blocks])
        params = replace(without_tables(run.params), memory=None)
        return cls(algorithm, params, run.training, run.states, blocks, starts, dtype)

    def __call__(self, block: BlockRef) -> Array:
        """Return the scores of a block's documents, (n, K)."""
        scores = np.empty((block.stop - block.start, self.params.n_components), self.dtype)
        first = int(np.searchsorted(self.starts, block.start, side="right")) - 1
        last = int(np.searchsorted(self.starts, block.stop, side="left"))
        for other in self.blocks[first:last]:
            state = self.states.get(other)
            found = self.algorithm.start_scores(self.params, self.corpus.read(other), state)
            low, high = max(block.start, other.start), min(block.stop, other.stop)
            rows = slice(low - block.start, high - block.start)
            scores[rows] = found[low - other.start : high - other.start]
        return scores


def in_order(run: Run) -> list[BlockRef]:
    """Blocks of a run, in the order of the documents."""
    return sorted(run.schedule.blocks, key=lambda block: block.start)
