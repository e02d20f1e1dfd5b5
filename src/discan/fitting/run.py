# SPDX-License-Identifier: BSD-3-Clause
"""The one loop: rounds, convergence, draws, callbacks, and a clean stop."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Clock, Params, Start, States
from discan.algorithms.levels import Levels
from discan.algorithms.schedule import Schedule
from discan.algorithms.statistics import Stats
from discan.data.blocks import BlockRef
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.fitting.convergence import chain_rise
from discan.fitting.draws import DrawAverages
from discan.fitting.interrupts import deferred
from discan.fitting.lanes import FirstState, LaneJob
from discan.fitting.outcome import outcome
from discan.fitting.progress import Seen, progress_bar
from discan.fitting.result import Fit
from discan.fitting.states import DiskStates
from discan.fitting.task import Task
from discan.fitting.trace import Trace
from discan.fitting.visit import MemoryStates, Visit, begin_steps, without_tables
from discan.typing import Array

__all__ = ["Run"]

log = logging.getLogger("discan")

Callback = Callable[["Run"], Any]
Checkpoint = Callable[["Run", bool], None]


@dataclass(eq=False, repr=False)
class Run:
    """A fit under way: it can be stopped after any cycle and continued with the same bits.

    ``Run.begin`` starts one; ``restoring.restored`` continues one that was written to disk.
    """

    task: Task
    schedule: Schedule
    params: Params
    states: States
    engine: Engine
    cycle: int = 0
    trace: Trace = field(default_factory=Trace)
    draws: DrawAverages | None = None
    later: DrawAverages | None = None  # over the draws that stay when early ones are dropped
    reason: str = "not begun"
    over: str | None = None  # why the algorithm ended the fit, if it did
    converged: bool = False
    limited: Schedule | None = None  # the schedule with the cycles of the last ``advance``
    _buffers: list[Array] = field(default_factory=list)  # memory of lanes, to be reused

    @classmethod
    def begin(
        cls,
        task: Task,
        schedule: Schedule,
        start: Start,
        engine: Engine,
        states: DiskStates | None = None,
    ) -> Run:
        """Make the first parameters and states, in memory or in files."""
        algorithm, clock = task.algorithm, Clock(np.uint64(task.seed), -1)
        params = task.first_params(schedule)
        if start.model is not None:
            params = params.with_model(start.model)
        if start.prior is not None:
            params = replace(params, prior=start.prior)
        params = algorithm.init(params, schedule, start, clock)
        blocks, corpus = schedule.blocks, schedule.corpus
        if states is not None and schedule.first_lanes is None:
            # first states add to no sums, so each is made when its block is first visited
            few = without_tables(params)
            none = MemoryStates()
            visit = Visit(algorithm, few, corpus, none, (), 1, clock)
            states.first = FirstState(visit, Start(None, start.scores))
            return cls(task, schedule, params, states, engine)
        lanes = min(len(blocks), schedule.first_lanes or len(blocks))
        kept = MemoryStates() if states is None else states
        visit = Visit(algorithm, params, corpus, kept, blocks, lanes, clock)
        stats = LaneJob(visit, schedule.first_lanes is not None, start=start).total(engine)
        if stats.loading_sums is not None:
            params = algorithm.update(params, stats, 1.0, clock, engine)
        return cls(task, schedule, params, visit.states, engine)

    def __repr__(self) -> str:
        """Describe the run in one line."""
        return f"<Run: {self.algorithm.name}, {self.cycle} cycles>"

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm."""
        return self.task.algorithm

    @property
    def monotone(self) -> bool:
        """Whether the objective never falls from cycle to cycle."""
        return self.algorithm.monotone

    @property
    def on_disk(self) -> bool:
        """Whether documents and their states are in files."""
        return isinstance(self.states, DiskStates)

    @property
    def training(self) -> Corpus:
        """The documents to learn from."""
        return self.schedule.corpus

    def advance(
        self,
        max_iter: int | None = None,
        tol: float = 0.0,
        callback: Callback | None = None,
        progress: bool | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Continue until converged, stopped, or ``max_iter`` cycles are done in all.

        With a checkpoint the run is written to disk every so often and when it stops; it then also
        stops for SIGTERM, which is passed on once all is written.
        """
        schedule = self.limited = self.schedule.limited(max_iter)
        over = self._stop(tol)
        if over:  # it had ended before it was continued
            self.reason = over
            return
        self.reason = f"all {schedule.cycles} cycles done"
        signals = [signal.SIGINT] if checkpoint is None else [signal.SIGINT, signal.SIGTERM]
        with deferred(signals) as asked, progress_bar(schedule.cycles, progress) as show:
            seen = Seen(self, show)
            while self.cycle < schedule.cycles:
                self.advance_one(seen)
                if schedule.is_draw(self.cycle):
                    self._draw(schedule)
                show(self, self.cycle)
                stop = self._stop(tol)
                if callback is not None and callback(self):
                    stop = stop or "stopped by the callback"
                if asked():
                    stop = stop or "interrupted"
                    log.warning(
                        "interrupted after cycle %d; the results so far are kept", self.cycle
                    )
                if checkpoint is not None:
                    checkpoint(self, bool(stop) or self.cycle >= schedule.cycles)
                if stop:
                    self.reason = stop
                    break
        self._buffers = []
        if schedule.thin and not self.converged:  # a chain that has not settled before its end
            rise = chain_rise(self.trace["objective"], schedule.burn_in, self.training.n_tokens)
            self.converged = self.cycle >= schedule.cycles and rise == 0.0

    def advance_one(self, seen: Callable[[int], None] | None = None) -> None:
        """Run one cycle; ``seen`` is told how many documents each step has seen."""
        began = time.perf_counter()
        before, clock = self.params, Clock(np.uint64(self.task.seed), self.cycle)
        total = Stats()
        for blocks in self.schedule.rounds:
            for _ in range(self.schedule.visits):  # the last one counts
                stats = self._visit(blocks, clock, seen)
            total.add(stats.without_counts())
            del stats  # its counts or moves, before the next round makes its own
        ended = self.algorithm.finish(before, self.params, total, clock, self.schedule, self.engine)
        self.params, self.over = ended.params, ended.reason
        self.cycle += 1
        if isinstance(self.states, DiskStates):
            self.states.end_cycle()
        seconds = time.perf_counter() - began
        past = self.trace.last("seconds") if len(self.trace) else 0.0
        rate = float(self.training.n_tokens) / max(seconds, 1e-9)
        self.trace.add(self.cycle, ended.objective, total.log_likelihood, past + seconds, rate)

    def _visit(
        self, blocks: Sequence[BlockRef], clock: Clock, seen: Callable[[int], None] | None
    ) -> Stats:
        """Visit the blocks of a round and update the parameters; again if that is asked for."""
        algorithm, engine = self.algorithm, self.engine
        for _ in range(3):
            self.params = algorithm.prepare(self.params, clock, engine)
            n_lanes = min(len(blocks), self.schedule.lanes)
            spare = n_lanes < engine.n_workers and not self.on_disk
            visit = Visit(
                algorithm, self.params, self.training, self.states, blocks, n_lanes, clock, spare,
                seen,
            )  # fmt: skip
            if spare:
                begin_steps(visit, engine)
            stats = LaneJob(visit, self.schedule.sums, self._buffers).total(engine)
            of = self.schedule.total_documents or self.training.n_documents
            fraction = stats.n_documents / of
            self.params = algorithm.update(self.params, stats, fraction, clock, engine)
            sums = stats.loading_sums
            if sums is not None and sums is not self.params.loading_counts:
                self._buffers.append(sums)
            if not self.params.repeat:
                break
        return stats

    def _stop(self, tol: float) -> str | None:
        """Return why the fit is over, if it is."""
        if self.over:
            self.converged = True
            return self.over
        if self.schedule.thin:
            return self._settled()
        if self.schedule.held_out is not None or len(self.trace) < 2:
            return None
        objective = self.trace["objective"][-2:]
        if not np.isfinite(objective).all():  # a word is impossible
            return None
        change = abs(objective[1] - objective[0]) / max(float(self.training.n_tokens), 1.0)
        if change <= tol:
            self.converged = True
            return f"the objective changed by {change:.2g} nats per token, at most tol={tol:g}"
        return None

    def _settled(self) -> str | None:
        """Return why a chain is over, if its objective rises no more."""
        n_draws = 0 if self.draws is None else self.draws.n_draws
        rise = self.schedule.settled(self.trace["objective"], n_draws)
        if rise is None:
            return None
        self.converged = True
        return f"the chain's last rise was {max(rise, 0.0):.1g} nats per token"

    # ---- draws ----

    @property
    def loadings(self) -> Array:
        """Loadings if the run ended here, (J, K): over the draws so far, if there are any."""
        if self.draws is not None:
            return self.draws.loadings.mean
        if self.schedule.thin:
            return self.params.prior.mean(np.asarray(self.params.loading_counts))
        return self.params.mean_loadings

    def _draw(self, schedule: Schedule) -> None:
        """Add the present state to the averages over draws, early ones being dropped in time.

        Sums cannot be taken apart, so the draws that will stay are summed by themselves.
        """
        if schedule.forgets(self.cycle):
            self.draws = self.later or self.draws
            again = schedule.forgets_again(self.cycle)
            self.later = DrawAverages(self.schedule, self.params) if again else None
        if self.draws is None:
            self.draws = DrawAverages(self.schedule, self.params)
        self.add_to([self.draws] if self.later is None else [self.draws, self.later])

    def add_to(self, averages: Sequence[DrawAverages]) -> None:
        """Add the present state to averages."""

        def add(block: BlockRef) -> None:
            read, state = self.training.read(block), self.states.get(block)
            counts = state.counts(read, self.params.n_components)
            for draws in averages:
                draws.add_block(read, self.params.table, counts)
            if isinstance(self.algorithm, Levels):
                posterior = self.algorithm.read(self.params, read, state)
                parents = self.algorithm.read_parents(self.params, read, state)
                for draws in averages:
                    draws.add_scores(read, posterior, parents)

        for draws in averages:
            draws.begin(self.params)
        if not self.on_disk:  # documents are averaged only in memory
            self.engine.run(add, self.schedule.blocks)
        for draws in averages:
            draws.end(self.params)

    def result(self, by_size: bool = False) -> Fit:
        """Return the results so far as a value; if asked for, with the largest component first.

        The run itself keeps its order.
        """
        return outcome(self, by_size)
