# SPDX-License-Identifier: BSD-3-Clause
"""The one loop: rounds, convergence, draws, callbacks, and a clean stop."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Clock, Params, Start, States, without_priors
from discan.algorithms.footprint import used_pairs
from discan.algorithms.levels import Levels, of_levels
from discan.algorithms.schedule import Schedule
from discan.algorithms.statistics import Stats
from discan.data.blocks import BlockRef
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import InputError, LimitError
from discan.fitting.convergence import chain_rise
from discan.fitting.draws import DrawAverages
from discan.fitting.hidden_groups import usual_totals
from discan.fitting.interrupts import deferred
from discan.fitting.lanes import FirstState, LaneJob
from discan.fitting.naming import Given
from discan.fitting.posterior import (
    KnownDocuments,
    KnownLoadings,
    StoredDocuments,
    reorder,
    size_order,
)
from discan.fitting.progress import progress_bar
from discan.fitting.result import Fit
from discan.fitting.states import DiskStates
from discan.fitting.trace import Trace
from discan.fitting.visit import MemoryStates, Visit, begin_steps
from discan.models import LoadingsPrior, Model
from discan.models.hyperparameters import Hyperprior
from discan.typing import Array

__all__ = ["Run", "Task", "without_tables"]

log = logging.getLogger("discan")

MOST_LEVELS = 2**16  # of the exposures of documents on disk
SHOW_SECONDS = 0.2  # from one look at the progress inside a cycle to the next

Callback = Callable[["Run"], Any]
Checkpoint = Callable[["Run", bool], None]


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be fitted, and how.

    Attributes
    ----------
    corpus : Corpus
    model, algorithm : Model, Algorithm
        The model with its hyperparameters set (``Model.prepare``).
    prior : LoadingsPrior
    learn : frozenset of str
        Hyperparameters to learn.
    hyperprior : Hyperprior, optional
        Their priors for the samplers; the model's own by default.
    seed : int
        Names all random streams.
    names : (K,) tuple of str and None
        Names of the components that are known beforehand; () if none is.
    about : dict
        What else the settings of the result record.
    """

    corpus: Corpus
    model: Model
    algorithm: Algorithm
    prior: LoadingsPrior
    learn: frozenset[str] = frozenset()
    hyperprior: Hyperprior | None = None
    seed: int = 0
    names: Given = ()
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the algorithm in the form that suits the levels of the model."""
        object.__setattr__(self, "algorithm", of_levels(self.algorithm, self.model))

    def check(self) -> None:
        """Refuse what cannot be fitted; a run that was begun was accepted then."""
        model, algorithm = self.model, self.algorithm
        known = {*model.hyperparameters, "gamma"}
        if not self.learn <= known:
            raise InputError(
                f"{{}}: the {model.name} model has {', '.join(sorted(known))}",
                argument="learn", value=sorted(map(str, self.learn - known)),
            )  # fmt: skip
        refusal = algorithm.refusal(model, self.learn, self.corpus)
        if self.hyperprior is not None:
            refusal = refusal or model.hyperprior_refusal(self.hyperprior)
        if refusal is not None:
            raise refusal
        n_levels = len(self.corpus.exposure_levels) if self.corpus.on_disk else 0
        if n_levels > MOST_LEVELS:  # each has a row of K numbers in the tables of the model
            raise LimitError(
                f"the documents have {n_levels:,} distinct total exposures, above {MOST_LEVELS:,}",
                remedy="round them before the data are converted",
            )
        if self.corpus.on_disk and getattr(algorithm, "keep_draws", False):
            raise InputError(
                "draws of all documents of a corpus folder are too many to be kept",
                use={"keep_draws": False},
            )
        if self.prior.seeds is not None and not algorithm.uses_prior:
            raise InputError(
                f"{algorithm.name} has no priors, so seeds and fixed components would do nothing",
                use={"algorithm": ("map", "variational", "collapsed")},
            )

    def plan(self) -> Schedule:
        """Return the schedule."""
        n_components = len(self.model.alpha)
        schedule = self.algorithm.plan(self.corpus, n_components, np.uint64(self.seed))
        if self.hyperprior is not None and not schedule.thin:
            raise InputError("hyperprior applies only to the samplers; leave it out")
        return schedule

    def needed_bytes(self, schedule: Schedule, n_workers: int) -> int:
        """Estimate the memory of the fit, its start aside, on so many threads."""
        n_components = len(self.model.alpha)
        needed = float(schedule.needs(n_workers))
        scores = 0 if schedule.corpus.on_disk else n_components * schedule.corpus.n_documents
        learns = bool(self.learn & set(self.model.hyperparameters))
        absence = self.model.can_be_absent(self.learn)
        if schedule.thin and (learns or absence) and not schedule.corpus.on_disk:
            # one more sum, or moments of the scores that do not follow from the counts
            n_draws = schedule.cycles // schedule.thin
            pairs = used_pairs(schedule.corpus.lengths, n_components, n_draws)
            needed += (24 if learns else 4) * pairs
        # once as drawn, and once with the largest component first
        needed += 2.0 * self.draws_bytes(schedule)
        if not schedule.thin and absence:
            needed += 24 * scores  # probabilities of absence, and counts that they damp
        return int(needed)

    def draws_bytes(self, schedule: Schedule) -> float:
        """Memory of the draws that are kept."""
        if not schedule.keep_draws:
            return 0.0
        corpus = schedule.corpus
        each = 8.0 * len(self.model.alpha) * (corpus.n_documents + corpus.n_words)
        return each * (schedule.cycles - schedule.burn_in) / schedule.thin

    def first_params(self, schedule: Schedule) -> Params:
        """Return parameters without loadings; algorithms without priors get flat ones."""
        model, prior = self.model, self.prior
        if not self.algorithm.uses_prior:
            model, prior = without_priors(model, prior)
        hyperprior = self.hyperprior or model.hyperprior
        levels = schedule.corpus.exposure_levels
        return Params.of(model, prior, levels, learn=self.learn, hyperprior=hyperprior)


@dataclass(eq=False, repr=False)
class Run:
    """A fit under way: it can be stopped after any cycle and continued with the same bits.

    ``Run.begin`` starts one; ``checkpoint.restored`` continues one that was written to disk.
    """

    task: Task
    schedule: Schedule
    params: Params
    states: States
    engine: Engine
    cycle: int = 0
    trace: Trace = field(default_factory=Trace)
    draws: DrawAverages | None = None
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
            seen = _Seen(self, show)
            while self.cycle < schedule.cycles:
                self.advance_one(seen)
                if schedule.is_draw(self.cycle):
                    self._draw(schedule.forgets(self.cycle))
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

    # ---- draws and results ----

    @property
    def loadings(self) -> Array:
        """Loadings if the run ended here, (J, K): over the draws so far, if there are any."""
        if self.draws is not None:
            return self.draws.loadings.mean
        if self.schedule.thin:
            return self.params.prior.mean(np.asarray(self.params.loading_counts))
        return self.params.mean_loadings

    def _draw(self, forget: bool) -> None:
        """Add the present state to the averages over draws."""
        if self.draws is None or forget:
            self.draws = DrawAverages(self.schedule, self.params)
        self._add_to(self.draws)

    def _add_to(self, draws: DrawAverages) -> None:
        def add(block: BlockRef) -> None:
            read, state = self.training.read(block), self.states.get(block)
            draws.add_block(read, self.params.table, state.counts(read, self.params.n_components))
            if isinstance(self.algorithm, Levels):
                posterior = self.algorithm.read(self.params, read, state)
                parents = self.algorithm.read_parents(self.params, read, state)
                draws.add_scores(read, posterior, parents)

        draws.begin(self.params)
        if not self.on_disk:  # documents are averaged only in memory
            self.engine.run(add, self.schedule.blocks)
        draws.end(self.params)

    def result(self, by_size: bool = False) -> Fit:
        """Return the results so far as a value; if asked for, with the largest component first.

        The run itself keeps its order.
        """
        if self.schedule.thin:
            fit = self._sampled()
            return fit.by_size() if by_size else fit
        params, variance = self.params, None
        loadings = params.mean_loadings
        if params.loading_shape is not None:
            counts = params.loading_shape - params.prior.gamma[:, None]
            variance = np.maximum(params.prior.mean_square(counts) - loadings**2, 0.0)
        fit = self._fit(params, KnownLoadings(loadings, variance))
        documents: Any
        if self.on_disk:
            documents = StoredDocuments.of(self.training, self._totals())
        elif self.schedule.held_out is None:
            documents = self._read(point=variance is None)
        else:
            counts, scores, _, absent = fit.infer(self.task.corpus, self.engine)
            documents = KnownDocuments(counts, scores, None, absent)
        if by_size:
            order = size_order(documents.totals)
            # these tables are new, so they are changed in place: copies would double the memory
            for table in (loadings, variance):
                reorder(table, order)
            documents = documents.reorder(order)
            names = tuple(fit.given_names[k] for k in order) if fit.given_names else ()
            fit = replace(fit, params=fit.params.permuted(order), given_names=names)
        return replace(fit, documents=documents)

    def _sampled(self) -> Fit:
        """Return the averages over draws; during burn-in, the state is the only draw."""
        draws = self.draws
        if draws is None:
            draws = DrawAverages(replace(self.schedule, keep_draws=False), self.params)
            self._add_to(draws)
        fit = self._fit(draws.inference_params(self.params), draws.loadings)
        record = None if self.draws is None else draws.record
        return replace(fit, documents=draws.documents, draws=draws.kept, record=record)

    def _fit(self, params: Params, loadings: Any) -> Fit:
        # inference takes the loadings alone
        params = replace(params, loading_shape=None, loading_counts=None, totals=None, memory=None)
        return Fit(
            algorithm=self.algorithm,
            params=params,
            layout=self.task.corpus.layout,
            loadings=loadings,
            trace=self.trace,
            reason=self.reason,
            converged=self.converged,
            n_cycles=self.cycle,
            settings={
                "model": self.params.model.name,
                "algorithm": self.algorithm.name,
                "seed": int(self.task.seed),
                "learnt": sorted(self.params.learn),
                "tokens": self.task.corpus.n_tokens,
                **self.task.about,
                **self.schedule.record,
                **self._chain(),
            },
            **self.task.corpus.about,
            group_totals=usual_totals(self.task.corpus),
            given_names=self.task.names,
        )

    def _chain(self) -> dict[str, int]:
        """Return which cycles of a chain gave draws, and how many of the last are averaged."""
        schedule = self.limited or self.schedule
        if not schedule.thin:
            return {}
        averaged = {} if self.draws is None else {"draws": self.draws.n_draws}
        return {"burn_in": schedule.burn_in, "thin": schedule.thin, **averaged}

    def _read(self, point: bool) -> KnownDocuments:
        """Gather the posterior means of the documents from the states."""
        shape = (self.training.n_documents, self.params.n_components)
        counts, scores = np.empty(shape), np.empty(shape)
        sd = None if point else np.empty(shape)
        # models without absence need no memory to say so
        absence = bool((self.params.table.present < 1.0).any())
        absent = np.empty(shape) if absence else np.broadcast_to(0.0, shape)

        def read(block: BlockRef) -> None:
            rows = slice(block.start, block.stop)
            whole = self.training.read(block)
            posterior = self.algorithm.read(self.params, whole, self.states.get(block))
            counts[rows], scores[rows] = posterior.component_counts, posterior.scores
            if sd is not None:
                variance = posterior.squares - posterior.scores**2
                sd[rows] = np.sqrt(np.maximum(variance, 0.0))
            if absence:
                absent[rows] = posterior.absent

        self.engine.run(read, self.schedule.blocks)
        return KnownDocuments(counts, scores, sd, absent)

    def _totals(self) -> Array:
        """Tokens of each component, (K,), added up document by document as in memory."""
        totals = np.zeros((1, self.params.n_components))
        for block in sorted(self.schedule.blocks, key=lambda block: block.start):
            whole = self.training.read(block)
            posterior = self.algorithm.read(self.params, whole, self.states.get(block))
            totals = np.vstack([totals, posterior.component_counts]).sum(axis=0, keepdims=True)
        return np.asarray(totals[0])


class _Seen:
    """Tells a progress bar how far a cycle is."""

    def __init__(self, run: Run, show: Callable[[Run, float], None]) -> None:
        self.run, self.show, self.lock = run, show, threading.Lock()
        self.cycle, self.n_documents, self.said = -1, 0, time.monotonic()
        self.all = run.schedule.visits * run.training.n_documents

    def __call__(self, n_documents: int) -> None:
        """Add documents that were seen, from any thread."""
        with self.lock:
            if self.cycle != self.run.cycle:
                self.cycle, self.n_documents = self.run.cycle, 0
            self.n_documents += n_documents
            if time.monotonic() - self.said < SHOW_SECONDS:
                return
            self.said = time.monotonic()
            # a repeated pass sees documents again
            self.show(self.run, self.cycle + min(self.n_documents / self.all, 0.999))


def without_tables(params: Params) -> Params:
    """Return parameters that keep the type of the loadings, but not the tables themselves."""
    loadings = params.loadings
    if loadings is not None:
        loadings = np.empty((0, params.n_components), loadings.dtype)
    return replace(params, loadings=loadings, loading_shape=None, loading_counts=None, totals=None)
