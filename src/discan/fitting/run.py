# SPDX-License-Identifier: BSD-3-Clause
"""The one loop: rounds, convergence, draws, callbacks, and a clean stop."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from discan.algorithms import MAP, Algorithm
from discan.algorithms.anchor_words import from_words
from discan.algorithms.base import Clock, Params, Plan, Start, Stats
from discan.algorithms.sampling import Sampler
from discan.algorithms.starts import first_pass, from_components, from_documents
from discan.data.corpus import Block, Corpus
from discan.engines import Engine, Threads
from discan.errors import InputError, LimitError
from discan.fitting.document_draws import Averages
from discan.fitting.infer import infer
from discan.fitting.progress import progress_bar
from discan.fitting.result import Documents, Fit, KnownDocuments, KnownLoadings, Loadings, Trace
from discan.models import LoadingsPrior, Model
from discan.models.hyperparameters import Hyperprior
from discan.typing import Array

__all__ = ["Run", "fit"]

log = logging.getLogger("discan")

# Cycles of MAP that a start by MAP takes, after a first pass.
START_CYCLES = 10

Callback = Callable[["Run"], Any]
Checkpoint = Callable[["Run", bool], None]


class Run:
    """A fit under way: it can be stopped after any cycle and taken up again with the same bits.

    Parameters
    ----------
    corpus : Corpus
    model, algorithm : Model, Algorithm
        The model with its hyperparameters set (``Model.prepare``).
    prior : LoadingsPrior
    learn : names of the hyperparameters to learn
    hyperprior : Hyperprior, optional
        Their priors for the samplers; the model's own by default.
    init : {"auto", "random", "documents", "words", "map"} or (K, J) array
        Where to start; "auto" leaves it to the algorithm.
    seed : int
        Names all random streams.
    """

    def __init__(
        self,
        corpus: Corpus,
        model: Model,
        algorithm: Algorithm,
        prior: LoadingsPrior,
        *,
        learn: Sequence[str] = (),
        hyperprior: Hyperprior | None = None,
        init: Any = "auto",
        seed: int = 0,
        engine: Engine | None = None,
    ) -> None:
        names = frozenset(learn)
        _check_cell(corpus, model, algorithm, names, hyperprior)
        _check_memory(algorithm.bytes_needed(corpus, len(model.alpha)))
        self.algorithm = algorithm
        self.engine = engine or Threads(1)
        self.seed = np.uint64(seed)
        self.corpus = corpus
        training = algorithm.training_documents(corpus, self.seed)
        self.training = corpus if training is None else corpus.select(training)
        self.rounds = algorithm.rounds(self.training, len(model.alpha))
        self.cycle = 0
        self.trace = Trace()
        self.averages: Averages | None = None
        self._rooms: list[Array | None] = []  # sums of lanes, to be made again in the same memory
        self.reason = "not begun"
        self.converged = False

        clock = Clock(self.seed, -1)
        flat_model, flat_prior = algorithm.prepare(model, prior)
        params = Params(flat_model, flat_prior, names, hyperprior or model.hyperprior)
        start = _start(self.training, model, algorithm, prior, init, seed, self.engine)
        params = algorithm.init_params(params, self.training, start, clock)
        if training is not None:
            rest = np.setdiff1d(np.arange(corpus.n_documents), training)
            params = algorithm.watch(params, corpus.select(rest))
        self._table = params.model.score_table(self.training.exposure_levels)
        blocks = self.blocks
        states = algorithm.init_states(params, self._table, blocks, start, clock, self.engine)
        self.states = {block.index: state for block, state in zip(blocks, states, strict=True)}
        self.params = algorithm.join(params, self.training, states, clock)

    @property
    def blocks(self) -> list[Block]:
        """All blocks of a cycle, in order."""
        return [block for blocks in self.rounds for block in blocks]

    def advance(
        self,
        max_iter: int | None = None,
        tol: float = 0.0,
        callback: Callback | None = None,
        progress: bool | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Go on until converged, stopped, or ``max_iter`` cycles are done in all.

        With a checkpoint the run is written down every so often and when it stops; it then also
        stops for SIGTERM, which is passed on once all is written.
        """
        plan = self.algorithm.plan(max_iter)
        limit = tol if not plan.thin else None
        over = self._stop(limit)
        if over:  # it was over when it was taken up
            self.reason = over
            return
        self.reason = f"all {plan.n_cycles} cycles done"
        signals = [signal.SIGINT] if checkpoint is None else [signal.SIGINT, signal.SIGTERM]
        with deferred(signals) as asked, progress_bar(plan.n_cycles, progress) as show:
            while self.cycle < plan.n_cycles:
                self._cycle()
                if plan.thin and self._is_draw(plan.burn_in, plan.thin):
                    self._draw(plan)
                show(self)
                stop = self._stop(limit)
                if callback is not None and callback(self):
                    stop = stop or "stopped by the callback"
                if asked():
                    stop = stop or "interrupted"
                    log.warning("interrupted after cycle %d; what there is is kept", self.cycle)
                if checkpoint is not None:
                    checkpoint(self, bool(stop) or self.cycle >= plan.n_cycles)
                if stop:
                    self.reason = stop
                    break
        self._rooms = []
        self.converged = self.converged or (plan.thin > 0 and self.cycle >= plan.n_cycles)

    def refresh(self) -> None:
        """Recompute what follows from the parameters, after they were set from outside."""
        self._table = self.params.model.score_table(self.training.exposure_levels)

    def result(self) -> Fit:
        """Report what there is."""
        algorithm = self.algorithm
        params, variance, draws = self.params, None, None
        documents: Documents
        tables: Loadings
        if isinstance(algorithm, Sampler):
            averages = self.averages
            if averages is None:  # it is still burning in: the state is the only draw
                averages = Averages(self.training, self.blocks, params, keep_draws=False)
                self._add_to(averages, algorithm)
            params = averages.inference_params(params)
            tables = averages.loadings
            documents, draws = averages.documents, averages.draws
        else:
            loadings = algorithm.mean_loadings(params)
            if params.loading_shape is not None:
                counts = params.loading_shape - params.prior.gamma[:, None]
                variance = np.maximum(params.prior.mean_square(counts) - loadings**2, 0.0)
            tables = KnownLoadings(loadings, variance)
            if self.training is self.corpus:
                documents = self._read(point=variance is None)
            else:
                folded_in = infer(algorithm, params, self.corpus, self.engine, self.seed)
                counts, scores, _, absent = folded_in
                documents = KnownDocuments(counts, scores, None, absent)
        # inference takes the loadings alone
        params = replace(params, loading_shape=None, loading_counts=None, totals=None)
        return Fit(
            algorithm=algorithm,
            params=params,
            layout=self.corpus.layout,
            tables=tables,
            documents=documents,
            trace=self.trace,
            reason=self.reason,
            converged=self.converged,
            n_cycles=self.cycle,
            settings={
                "model": self.params.model.name,
                "algorithm": algorithm.name,
                "seed": int(self.seed),
                **algorithm.settings(self.training),
            },
            draws=draws,
        )

    def start(self) -> Start:
        """Take this run's state as the start of another; only for algorithms by expectation."""
        counts = np.asarray(self.params.loading_counts)
        scores = np.empty((self.training.n_documents, self.params.n_components), counts.dtype)

        def take(block: Block) -> None:
            scores[block.start : block.stop] = self.algorithm.start_scores(
                self.params, self._table, block, self.states[block.index]
            )

        self.engine.run(take, self.blocks)
        return Start(counts, scores)

    # ---- one cycle ----

    def _cycle(self) -> None:
        began = time.perf_counter()
        algorithm, before = self.algorithm, self.params
        clock = Clock(self.seed, self.cycle)
        total = Stats()
        for blocks in self.rounds:
            for _ in range(algorithm.n_visits()):  # the last one counts
                stats = self._round(blocks, clock)
                if algorithm.overshot(self.params, stats):
                    self.params = algorithm.retreat(self.params)
                    stats = self._round(blocks, clock)
                share = stats.n_documents / self.training.n_documents
                self.params = algorithm.update(self.params, stats, share, clock, self.engine)
                if stats.loading_sums is not self.params.loading_counts:
                    self._rooms.append(stats.loading_sums)
            total += Stats(
                stats.objective, stats.log_likelihood, stats.n_documents, scores=stats.scores
            )
            del stats  # its counts or moves, before the next round makes its own
        objective = algorithm.objective(before, self.params, total, self.training, self.engine)
        self.params = algorithm.finish(self.params, total, clock)
        if self.params.model is not before.model:
            self.refresh()
        self.cycle += 1
        seconds = time.perf_counter() - began
        past = self.trace.last("seconds") if len(self.trace) else 0.0
        rate = float(self.training.n_tokens) / max(seconds, 1e-9)
        self.trace.add(self.cycle, objective, total.log_likelihood, past + seconds, rate)

    def _round(self, blocks: Sequence[Block], clock: Clock) -> Stats:
        """Visit blocks in lanes; each lane in order, the lanes on any threads, summed in order."""
        n_lanes = min(len(blocks), self.algorithm.n_lanes(self.training, self.params.n_components))
        self.algorithm.begin_round(self.params, self._table, self.engine)

        def rehearse(block: Block) -> None:
            state = self.states[block.index]
            self.algorithm.rehearse(self.params, self._table, block, state)

        ahead = n_lanes < min(len(blocks), self.engine.n_workers)
        if ahead:  # else a block is better gone over at once, while it is in the cache
            self.engine.run(rehearse, blocks)

        # dealt out beforehand: lanes on several threads must not take from one heap
        rooms = [*self._rooms, *[None] * n_lanes]

        def lane(index: int) -> Stats:
            stats = Stats(room=rooms[index])
            for block in blocks[index::n_lanes]:
                if not ahead:
                    rehearse(block)
                self.algorithm.step(
                    self.params, self._table, block, self.states[block.index], clock, stats
                )
            return stats

        lanes = self.engine.run(lane, range(n_lanes))
        self._rooms = [other.loading_sums for other in lanes[1:]]
        return Stats.merged(lanes, self.engine)

    def _stop(self, tol: float | None) -> str | None:
        """Say why the fit is over, if it is."""
        own = self.algorithm.finished(self.params)
        if own:
            self.converged = True
            return own
        if tol is None or self.algorithm.stops_itself or len(self.trace) < 2:
            return None
        objective = self.trace["objective"][-2:]
        change = abs(objective[1] - objective[0]) / max(float(self.training.n_tokens), 1.0)
        if change <= tol:
            self.converged = True
            return f"the objective changed by {change:.2g} nats a token, at most tol={tol:g}"
        return None

    # ---- draws ----

    def _is_draw(self, burn_in: int, thin: int) -> bool:
        return self.cycle > burn_in and (self.cycle - burn_in) % thin == 0

    def _draw(self, plan: Plan) -> None:
        assert isinstance(self.algorithm, Sampler)
        if self.averages is None or self.algorithm.forgets(self.cycle, plan):
            self.averages = Averages(
                self.training, self.blocks, self.params, self.algorithm.keep_draws
            )
        self._add_to(self.averages, self.algorithm)

    def _add_to(self, averages: Averages, algorithm: Sampler) -> None:
        def add(block: Block) -> None:
            counts = algorithm.component_counts(self.params, block, self.states[block.index])
            averages.add_block(block, self._table, counts)

        averages.begin(self.params)
        self.engine.run(add, self.blocks)
        averages.end(algorithm, self.params)

    def _read(self, point: bool) -> KnownDocuments:
        """Gather what the states say of the documents."""
        shape = (self.training.n_documents, self.params.n_components)
        counts, scores = np.empty(shape), np.empty(shape)
        spread = None if point else np.empty(shape)
        # models without absence need no room to say so
        absence = bool((self._table.present < 1.0).any())
        absent = np.empty(shape) if absence else np.broadcast_to(0.0, shape)

        def read(block: Block) -> None:
            rows = slice(block.start, block.stop)
            posterior = self.algorithm.read(
                self.params, self._table, block, self.states[block.index]
            )
            counts[rows], scores[rows] = posterior.component_counts, posterior.scores
            if spread is not None:
                variance = posterior.squares - posterior.scores**2
                spread[rows] = np.sqrt(np.maximum(variance, 0.0))
            if absence:
                absent[rows] = posterior.absent

        self.engine.run(read, self.blocks)
        return KnownDocuments(counts, scores, spread, absent)


def fit(
    corpus: Corpus,
    model: Model,
    algorithm: Algorithm,
    prior: LoadingsPrior,
    *,
    max_iter: int | None = None,
    tol: float = 1e-5,
    callback: Callback | None = None,
    progress: bool | None = False,
    **options: Any,
) -> Fit:
    """Fit in one call: ``Run(...)``, ``advance``, ``result``."""
    run = Run(corpus, model, algorithm, prior, **options)
    run.advance(max_iter, tol, callback, progress)
    return run.result()


def _check_cell(
    corpus: Corpus,
    model: Model,
    algorithm: Algorithm,
    learn: frozenset[str],
    hyperprior: Hyperprior | None,
) -> None:
    """Refuse what makes no sense, with a sentence."""
    known = {*model.hyperparameters, "gamma"}
    if not learn <= known:
        raise InputError(
            f"learn={sorted(learn - known)}: the {model.name} model has {sorted(known)}"
        )
    refusal = algorithm.refusal(model, learn)
    if refusal:
        raise InputError(refusal)
    algorithm.check(corpus)
    if hyperprior is not None and not algorithm.whole_counts:
        raise InputError("hyperprior is for the samplers; the other algorithms learn without")


def _check_memory(needed: int) -> None:
    """Refuse what this machine cannot hold before anything is made."""
    if not hasattr(os, "sysconf"):
        return
    present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > present:
        raise LimitError(
            f"this fit needs about {needed / 2**30:.1f} GiB and the machine has "
            f"{present / 2**30:.1f} GiB; use fewer components, or fewer documents or words"
        )


def _start(
    corpus: Corpus,
    model: Model,
    algorithm: Algorithm,
    prior: LoadingsPrior,
    init: Any,
    seed: int,
    engine: Engine,
) -> Start:
    """Turn ``init`` into expected counts and scores."""

    def by(options: Algorithm, init: Any, n_cycles: int) -> Start:
        run = Run(corpus, model.relaxed(), options, prior, init=init, seed=seed, engine=engine)
        run.advance(n_cycles, progress=False)
        if run.reason == "interrupted":
            raise KeyboardInterrupt
        return run.start()

    n_components = len(model.alpha)
    if isinstance(init, Start):
        return init
    if not isinstance(init, str):
        return from_components(init, prior, corpus, n_components)
    if init == "auto":
        init = algorithm.default_init(model)
    if init == "random":
        return Start()
    if init == "documents":
        words = from_documents(corpus, n_components, seed, algorithm.documents_a_component)
        return by(first_pass(corpus, algorithm), words, 1)
    if init == "words":
        return from_words(corpus, n_components, seed)
    if init == "map":
        return by(MAP(), "documents", START_CYCLES)
    raise InputError(
        f"init={init!r}; use 'auto', 'random', 'documents', 'words', 'map' or a (K, J) array of "
        "components"
    )


@contextmanager
def deferred(signals: Sequence[signal.Signals]) -> Any:
    """Let the first signal wait for the end of the cycle; a second one stops at once.

    SIGINT (Ctrl-C) is taken as a wish to keep what there is; other signals are sent again at the
    end, to whoever handles them.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(signum: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(signum)

    before = {number: signal.signal(number, note) for number in signals}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received and received[0] != signal.SIGINT:
            os.kill(os.getpid(), received[0])
