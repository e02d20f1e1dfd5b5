# SPDX-License-Identifier: BSD-3-Clause
"""A visit as plain data, and the work on one of its lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Clock, Params, Start, States
from discan.algorithms.statistics import Stats
from discan.data.blocks import Block, BlockRef
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.fitting.states import DiskStates
from discan.typing import Array

__all__ = [
    "MemoryStates", "Visit", "begin_steps", "first_states", "without_names", "without_tables",
    "work",
]  # fmt: skip


@dataclass
class MemoryStates:
    """States of all blocks, kept in memory."""

    states: dict[int, Any] = field(default_factory=dict)

    def get(self, block: BlockRef) -> Any:
        """Return the state of a block."""
        return self.states[block.index]

    def put(self, block: BlockRef, state: Any) -> None:
        """Keep the state of a block."""
        self.states[block.index] = state


@dataclass(frozen=True)
class Visit:
    """One pass over the blocks of a round.

    Lane n of N visits blocks n, n + N, n + 2N, ... in this order. Lanes touch nothing in common, so
    they may run anywhere; their statistics are merged in the order of the lanes.
    """

    algorithm: Algorithm
    params: Params
    corpus: Corpus
    states: States
    blocks: Sequence[BlockRef]
    n_lanes: int
    clock: Clock
    begun: bool = False  # whether ``begin_steps`` has run
    seen: Callable[[int], None] | None = None  # is told how many documents a step has seen

    def lane(self, number: int) -> Iterator[Block]:
        """Iterate over the documents of a lane's blocks; the next state is fetched meanwhile."""
        blocks = self.blocks[number :: self.n_lanes]
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            if following is not None and isinstance(self.states, DiskStates):
                self.states.ahead(following)
            yield self.corpus.read(block)


def begin_steps(visit: Visit, engine: Engine) -> None:
    """Begin the steps of all blocks at once, for threads that have no lane to work on."""

    def begin(block: BlockRef) -> None:
        visit.algorithm.begin_step(visit.params, visit.corpus.read(block), visit.states.get(block))

    engine.run(begin, visit.blocks)


def work(visit: Visit, lane: int, buffer: Array | None = None) -> Stats:
    """Run the steps of one lane and return its finished statistics."""
    stats = Stats(buffer=buffer)
    for block in visit.lane(lane):
        state = visit.states.get(block)
        if not visit.begun:
            visit.algorithm.begin_step(visit.params, block, state)
        visit.algorithm.step(visit.params, block, state, visit.clock, stats)
        visit.states.put(block, state)
        if visit.seen is not None:
            visit.seen(block.stop - block.start)
    return stats.finished()


def first_states(visit: Visit, start: Start, lane: int) -> Stats:
    """Make the first states of one lane and return the statistics that they add."""
    stats = Stats()
    for block in visit.lane(lane):
        state = visit.algorithm.init_state(visit.params, block, start, visit.clock, stats)
        visit.states.put(block, state)
    return stats.finished()


def without_tables(params: Params) -> Params:
    """Return parameters that keep the type of the loadings, but not the tables themselves."""
    loadings = params.loadings
    if loadings is not None:
        loadings = np.empty((0, params.n_components), loadings.dtype)
    few = without_names(params)
    return replace(few, loadings=loadings, loading_shape=None, loading_counts=None, totals=None)


def without_names(params: Params) -> Params:
    """Return parameters without the names of words, which steps do not need."""
    layout = replace(params.prior.layout, word_names=None, group_names=None)
    return replace(params, prior=replace(params.prior, layout=layout))
