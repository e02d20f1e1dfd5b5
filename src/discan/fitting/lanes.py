# SPDX-License-Identifier: BSD-3-Clause
"""The lanes of a visit as a job of an engine: in this process, or as plain data in another one."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discan.algorithms.base import Start
from discan.algorithms.statistics import Stats
from discan.data.blocks import BlockRef
from discan.engines import Engine
from discan.errors import InputError
from discan.fitting.states import DiskStates, StateStep
from discan.fitting.visit import Visit, first_states, without_names, work
from discan.typing import Array

__all__ = ["FirstState", "LaneJob"]

PARCELS = "parcels"  # folder for what goes to other processes and comes back

Answer = list[tuple[Stats, list[tuple[StateStep, bytes]]]]


@dataclass(frozen=True, eq=False)
class FirstState:
    """Makes the first state of a block, if that adds to no sums.

    Attributes
    ----------
    visit : Visit
        Algorithm, parameters without tables, corpus and clock of the start.
    start : Start
    """

    visit: Visit
    start: Start

    def __call__(self, block: BlockRef) -> Any:
        """Return the state."""
        visit = self.visit
        whole = visit.corpus.read(block)
        return visit.algorithm.init_state(visit.params, whole, self.start, visit.clock, Stats())


@dataclass(frozen=True, eq=False)
class LaneJob:
    """The work of a visit on its lanes.

    Attributes
    ----------
    visit : Visit
    large : bool
        Whether a lane has J x K sums.
    buffers : list of arrays
        Memory for sums in this process; a lane takes one of them, if there is one left.
    start : Start, optional
        If first states are made, where they start.
    """

    visit: Visit
    large: bool = True
    buffers: list[Array] = field(default_factory=list)
    start: Start | None = None

    @property
    def folder(self) -> str:
        """A folder beside the states; the documents must be on disk."""
        states = self.visit.states
        if not isinstance(states, DiskStates):
            return ""
        folder = states.folder / PARCELS
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    def __call__(self, lane: int) -> Stats:
        """Work on a lane."""
        if self.start is not None:
            return first_states(self.visit, self.start, lane)
        buffer = None
        with contextlib.suppress(IndexError):  # other threads take from the same list
            buffer = self.buffers.pop()
        return work(self.visit, lane, buffer)

    def total(self, engine: Engine) -> Stats:
        """Run all lanes; return the sum of their statistics, added up in order as lanes end."""
        total = Stats()

        def fold(lane: Stats) -> None:
            total.add(lane)
            if lane.loading_sums is not None and lane.loading_sums is not total.loading_sums:
                self.buffers.append(lane.loading_sums)

        engine.visit(self, range(self.visit.n_lanes), fold)
        return total

    def remote(self) -> RemoteLanes:
        """Return the same work for another process."""
        visit, states = self.visit, self.visit.states
        assert isinstance(states, DiskStates)
        if getattr(visit.params.memory, "live", False):
            raise InputError(
                "the exact schedule of the collapsed sampler is sequential, so it cannot run on "
                "the workers of a cluster",
                use={"schedule": "blocked"},
            )
        steps = {block.index: states.step_of(block) for block in visit.blocks}
        params, algorithm = without_names(visit.params), visit.algorithm
        if not algorithm.whole_counts:  # steps of the others read the loadings
            params = replace(params, loading_counts=None, loading_shape=None)
        start = self.start and Start(None, self.start.scores, components=self.start.components)
        elsewhere = WorkerStates(states.kind, steps, states.first)
        return RemoteLanes(replace(visit, states=elsewhere, params=params, seen=None), start)

    def received(self, answer: Answer) -> list[Stats]:
        """Take the states that were written elsewhere; return the statistics."""
        states = self.visit.states
        assert isinstance(states, DiskStates)
        for stats, written in answer:
            for step, digest in written:
                states.stepped(step, digest)
            if self.visit.seen is not None:
                self.visit.seen(stats.n_documents)
        return [stats for stats, _ in answer]


@dataclass(eq=False)
class WorkerStates:
    """States of some blocks in another process: each is read from one file, written to another."""

    kind: Any
    steps: dict[int, StateStep]
    first: Any = None
    written: dict[int, bytes] = field(default_factory=dict)

    def get(self, block: BlockRef) -> Any:
        """Read the state of a block, or make the first one."""
        step = self.steps[block.index]
        return self.first(block) if step.source is None else step.read(self.kind)

    def ahead(self, block: BlockRef) -> None:
        """Leave it to the system to fetch files; those of others may be on another machine."""

    def put(self, block: BlockRef, state: Any) -> None:
        """Write the next state of a block."""
        step = self.steps[block.index]
        Path(step.target).parent.mkdir(parents=True, exist_ok=True)
        self.written[block.index] = step.write(state)


@dataclass(frozen=True, eq=False)
class RemoteLanes:
    """The work of a visit on lanes in another process."""

    visit: Visit
    start: Start | None = None

    def __call__(self, lanes: Sequence[int]) -> Answer:
        """Work on lanes; return statistics of each and the states that were written."""
        return [self._done(lane) for lane in lanes]

    def _done(self, lane: int) -> tuple[Stats, list[tuple[StateStep, bytes]]]:
        shared: Any = self.visit.states
        states = replace(shared, written={})  # threads may share the visit
        visit = replace(self.visit, states=states)
        job = LaneJob(visit, start=self.start)
        stats = job(lane)
        return stats, [(states.steps[index], digest) for index, digest in states.written.items()]
