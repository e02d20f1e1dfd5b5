# SPDX-License-Identifier: BSD-3-Clause
"""A visit as plain data, and the work on one of its lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discan.algorithms import Algorithm
from discan.algorithms.base import Clock, Params, Start, States, Stats
from discan.data.corpus import Block
from discan.typing import Array

__all__ = ["MemoryStates", "Visit", "first_states", "work"]


@dataclass
class MemoryStates:
    """States of all blocks, kept in memory."""

    states: dict[int, Any] = field(default_factory=dict)

    def get(self, block: Block) -> Any:
        """Return the state of a block."""
        return self.states[block.index]

    def put(self, block: Block, state: Any) -> None:
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
    states: States
    blocks: Sequence[Block]
    n_lanes: int
    clock: Clock


def work(visit: Visit, lane: int, buffer: Array | None = None) -> Stats:
    """Run the steps of one lane and return its finished statistics."""
    stats = Stats(buffer=buffer)
    for block in visit.blocks[lane :: visit.n_lanes]:
        state = visit.states.get(block)
        visit.algorithm.step(visit.params, block, state, visit.clock, stats)
        visit.states.put(block, state)
    return stats.finished()


def first_states(visit: Visit, start: Start, lane: int) -> Stats:
    """Make the first states of one lane and return the statistics that they add."""
    stats = Stats()
    for block in visit.blocks[lane :: visit.n_lanes]:
        state = visit.algorithm.init_state(visit.params, block, start, visit.clock, stats)
        visit.states.put(block, state)
    return stats.finished()
