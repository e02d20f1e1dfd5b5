# SPDX-License-Identifier: BSD-3-Clause
"""Fits of an estimator: begun, continued or resumed, with one chain or several."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from discan.data.corpus import Corpus
from discan.data.locks import locked
from discan.data.rules import Rule, faults_of, taken
from discan.engines import Engine
from discan.engines.dask import Dask
from discan.engines.threads import Threads, n_threads
from discan.errors import InputError
from discan.estimators.callbacks import TakesCallbacks, with_callbacks
from discan.estimators.classes import read_classes
from discan.estimators.counting import is_auto, remark_on_count, remark_on_limit, upper_limit
from discan.estimators.input import read_corpus, read_seed, weighted
from discan.estimators.remarks import remark_on_data, remark_on_fit
from discan.estimators.saving import settings_header
from discan.estimators.streaming import Streams
from discan.estimators.tasks import (
    init_of,
    keeps_order,
    limits_of,
    n_chains_of,
    settings_of,
    task_of,
)
from discan.evaluation.chains import chain_seeds, chains_bytes, gathered, run_chains
from discan.fitting.checkpoint import RunFolder
from discan.fitting.estimates import Estimate
from discan.fitting.hidden_groups import usual_totals
from discan.fitting.memory import check_memory, enough_memory
from discan.fitting.restoring import restored
from discan.fitting.result import Fit
from discan.fitting.run import Run
from discan.fitting.starting import begin, needed_bytes
from discan.fitting.trimming import trimmed
from discan.models import MODELS
from discan.validation import whole

__all__ = ["Fits"]


class Fits(TakesCallbacks, Streams):
    """The fits of an estimator, whose arguments say how; a fit ends a stream."""

    max_components: Any
    warm_start: Any
    progress: Any
    checkpoint_every: Any
    engine: Any

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a table of counts.

        Parameters
        ----------
        X : (I, J) array, sparse matrix, data frame, Corpus, AnnData, MuData or path
            A data frame with columns that are not numeric is a table of answers: one column per
            question, missing values allowed (pandas, polars, Arrow, DuckDB). Modalities of a MuData
            are groups. A path names a corpus folder, whose documents are read block by block, or
            a corpus file; ``discan convert`` writes both.
        y : ignored
            Part of scikit-learn's interface.
        sample_weight : (I,) array, optional
            Weights of the documents: the counts of a document are multiplied by its weight, as if
            each of its tokens had been seen that many times. For models of amounts ("gp", "cgp")
            the exposures are multiplied too, so that the amounts stay. This makes one longer
            document, not several equal ones: the two are the same only for maximum likelihood. A
            weight of 0 leaves a document out of the fit, but not out of ``scores_``, where it gets
            the prior mean. The samplers need weights that make whole counts.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        plain = read_corpus(self, X, self.groups, reset=True)
        limit = upper_limit(plain, self.n_components, self.max_components)
        if is_auto(self.n_components):
            remark_on_limit(limit, self.max_components)
        remark_on_data(plain, limit)
        corpus = weighted(plain, sample_weight, MODELS.find(self.model).normalised)
        corpus, classes = read_classes(corpus, self.class_of_document)
        # a document's usual number of tokens is that without weights
        totals = {} if corpus is plain else {"group_totals": usual_totals(plain)}
        limits_of(self)
        with self._engine() as engine, self._run_folder() as folder:
            seed = read_seed(self.random_state)
            if folder is not None:
                header, arrays = settings_header(self, seed, corpus.layout)
                folder.begin(header, arrays | totals, corpus)
            if n_chains_of(self) > 1:
                return self._fit_chains(corpus, classes, seed, engine, folder, totals)
            run = self._last_run_of(corpus)
            if run is None:
                place = None if folder is None else folder.place
                run = begin(task_of(self, corpus, classes, seed), init_of(self), engine, place)
            return self._finish(run, corpus, engine, folder, totals)

    def estimate(self, X: Any) -> Estimate:
        """Estimate the memory, disk and time that a fit to X would take, without fitting.

        Parameters
        ----------
        X : (I, J) counts
            As for ``fit``.

        Returns
        -------
        Estimate
            ``memory`` and ``disk`` in bytes, ``seconds`` per cycle, ``cycles``; ``lines`` say it in
            words.
        """
        corpus = read_corpus(self, X, self.groups, reset=False)
        corpus, classes = read_classes(corpus, self.class_of_document)
        task = task_of(self, corpus, classes, read_seed(self.random_state))
        task.check()
        schedule = task.plan().limited(limits_of(self)[0])
        n_workers = n_threads(self.n_jobs)
        needed = needed_bytes(task, schedule, init_of(self), n_workers)
        return Estimate.of(task, schedule, init_of(self), needed, n_workers)

    def resume(self) -> Self:
        """Finish the run of the folder ``checkpoint``, which was begun with these settings.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._engine() as engine, self._run_folder() as folder:
            if folder is None:
                raise InputError("there is no run to resume: checkpoint names no folder")
            corpus = read_corpus(self, folder.corpus(), self.groups, reset=True)
            corpus, classes = read_classes(corpus, self.class_of_document)
            seed, kept = read_seed(self.random_state), folder.settings()[1]
            rule = Rule(("G",), "f8", low=0, optional=True)
            with faults_of(folder.path / "settings.discan"):
                totals = taken({"group_totals": rule}, kept, {"G": corpus.n_groups})
            if n_chains_of(self) > 1:
                return self._fit_chains(corpus, classes, seed, engine, folder, totals)
            task = task_of(self, corpus, classes, seed)
            if folder.has_state:
                run = restored(folder, task, engine)
            else:
                run = begin(task, init_of(self), engine, folder.place)
            return self._finish(run, corpus, engine, folder, totals)

    def _finish(
        self, run: Run, corpus: Corpus, engine: Engine, folder: RunFolder | None,
        changes: dict[str, Any],
    ) -> Self:  # fmt: skip
        """Advance a run to its end and take its result, with changes of some properties."""
        run.engine = engine
        with enough_memory("this fit", run.task.needed_bytes(run.schedule, engine.n_workers)):
            max_iter, tol = limits_of(self)
            n_cycles = max_iter or run.schedule.cycles
            with self._cycle_tasks(run, corpus, n_cycles) as after:
                run.advance(max_iter, tol, after, self.progress, folder)
            result = run.result(by_size=not keeps_order(self))
        self._take(replace(result, **changes))
        run.engine = Threads(1)
        keep = (self.warm_start or run.reason == "interrupted") and not run.on_disk
        self._last = (run, self._key(corpus)) if keep else None
        return self

    def _fit_chains(
        self, corpus: Corpus, classes: tuple[str, ...], seed: int, shared: Engine,
        folder: RunFolder | None, changes: dict[str, Any],
    ) -> Self:  # fmt: skip
        """Run several chains, or continue them, and take the best one as the result."""
        if self._has_callbacks:
            raise InputError("scikit-learn's callbacks follow one chain", use={"n_chains": 1})
        seeds = chain_seeds(seed, n_chains_of(self))
        folders = [None if folder is None else folder.of_chain(n) for n in range(len(seeds))]
        tasks = [task_of(self, corpus, classes, each) for each in seeds]
        threads = n_threads(self.n_jobs)
        needed = chains_bytes(tasks[0], init_of(self), len(seeds), threads)
        remedy = "use fewer chains, or fewer at once (n_jobs), or fewer components"
        check_memory(needed, "this fit of several chains", remedy)
        calls = threading.Lock()

        def start(n: int, engine: Engine) -> Run:
            own = folders[n]
            if own is not None and own.has_state:
                return restored(own, tasks[n], engine)
            return begin(tasks[n], init_of(self), engine, None if own is None else own.place)

        def advance(n: int, run: Run, asked: Callable[[Run], Any], progress: bool | None) -> None:
            def after(run: Run) -> bool:
                with calls:  # one at a time, as with one chain
                    stop = self.callback is not None and self.callback(run)
                return bool(stop) or asked(run)

            run.advance(*limits_of(self), after, progress, folders[n])

        with enough_memory("this fit of several chains", needed):
            one_by_one = shared if corpus.on_disk else None
            fits = run_chains(start, len(seeds), threads, advance, self.progress, one_by_one)
            fits = [replace(fit, **changes) for fit in fits]
            with self._threads() as engine:
                self._take(gathered(fits, corpus, keeps_order(self), engine))
        self._last = None
        return self

    def _take(self, fit: Fit) -> None:
        """Keep the result, and say what is remarkable about it."""
        self._stream = None
        if is_auto(self.n_components):
            self.fit_ = trimmed(fit)
            remark_on_count(self.fit_)
            return
        self.fit_ = fit
        remark_on_fit(fit)

    def _last_run_of(self, corpus: Corpus) -> Run | None:
        """Return the last run, if a warm start asks for it and nothing has changed."""
        last = getattr(self, "_last", None)
        if self.warm_start and last is not None and last[1] == self._key(corpus):
            run: Run = last[0]
            return run
        return None

    def _key(self, corpus: Corpus) -> tuple[str, str]:
        """Name the data and the settings of a fit, to see whether another is the same."""
        free = ("max_iter", "tol", "n_jobs", "warm_start", "callback", "progress", "engine")
        return corpus.digest, settings_of(self, free)

    @contextmanager
    def _run_folder(self) -> Iterator[RunFolder | None]:
        """Lock the run folder for this process, if there is one."""
        if self.checkpoint is None:
            yield None
            return
        path = Path(self.checkpoint)
        every = whole("checkpoint_every", self.checkpoint_every, 1)
        with locked(path):
            yield RunFolder(path, every)

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """Return where a fit runs: the engine that was given, or threads made for it."""
        if self.engine is None:
            with self._threads() as threads:
                yield threads
            return
        if not isinstance(self.engine, Dask):
            raise InputError("{}; give discan.Dask(client)", argument="engine", value=self.engine)
        with enough_memory("this"):
            yield self.engine

    def __getstate__(self) -> Any:
        """Leave a run that could be continued out of pickles and copies."""
        state = dict(super().__getstate__())
        state.pop("_last", None)
        return state
