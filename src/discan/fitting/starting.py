# SPDX-License-Identifier: BSD-3-Clause
"""Begin a run: turn ``init`` into a start, perhaps by another run, and make the first states."""

from __future__ import annotations

import logging
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discan.algorithms.anchor_words import from_words, suits
from discan.algorithms.base import Algorithm, Start
from discan.algorithms.collapsed import MOST_TOKENS, Collapsed
from discan.algorithms.corners import from_corners
from discan.algorithms.em import EM
from discan.algorithms.expectation import Expectation
from discan.algorithms.schedule import Schedule
from discan.algorithms.starts import (
    first_pass,
    from_components,
    from_documents,
    matched,
    with_seeds,
)
from discan.data.blocks import BlockRef
from discan.data.corpus import Corpus
from discan.data.drafts import storage_errors
from discan.data.folders.corpus import FolderCorpus
from discan.data.nouns import counted
from discan.engines import Engine, Threads
from discan.errors import InputError
from discan.fitting.estimates import check_disk
from discan.fitting.interrupts import deferred
from discan.fitting.memory import check_memory, enough_memory
from discan.fitting.run import Run
from discan.fitting.start_memory import BYTES, SURPLUS, begins_with_too_many, is_small
from discan.fitting.start_scores import RunScores
from discan.fitting.start_tokens import dissolved, joined, reduced, tables_for_parents
from discan.fitting.states import DiskStates
from discan.fitting.task import Task
from discan.models import DirichletMultinomial, LoadingsPrior
from discan.models.levels import TwoLevels

log = logging.getLogger("discan")

__all__ = ["STARTS", "begin", "needed_bytes"]

# Sweeps before components are merged, least and most, and the tokens that they may draw in between:
# components of a chain that has not settled look alike. And how often that is done at most.
MERGE_SWEEPS, MERGE_DRAWS, MERGE_ROUNDS = (50, 150), 5_000_000, 8
# A start whose components are joined: the chain before.
TOO_MANY = Collapsed(burn_in=8, learn_every=3, smooth=30)
# Chains of a start have streams of random numbers of their own: this changes the seed of each.
ROUND_SEED = 0x9E3779B97F4A7C15
# What to do if there is too little memory for documents on disk.
FEWER = "use fewer components, or convert the data with fewer words (max_words)"
# Cycles of MAP that a start by MAP takes, after a first pass.
START_CYCLES = 10
# Least number of documents per component that it starts from, and their number in all. With fewer,
# components differ more; with too few in all, they are far from what most documents hold.
MAP_DOCUMENTS, MAP_DOCUMENTS_IN_ALL = 3, 300


def begin(
    task: Task,
    init: Any = "auto",
    engine: Engine | None = None,
    place: Path | None = None,
    durable: bool = True,
) -> Run:
    """Begin a run.

    Parameters
    ----------
    task : Task
    init : str, (K, J) array or Start
        "auto", one of ``STARTS``, where to start, or a partial that makes a Start; "auto" leaves it
        to the algorithm.
    engine : Engine, optional
    place : Path, optional
        Run folder, for the states of documents that are in a folder themselves. Without it they
        are in a temporary folder.
    durable : bool
        Whether the states in a run folder must last; those of a start need not.
    """
    engine = engine or Threads(1)
    task.check()
    schedule = task.plan()
    needed = needed_bytes(task, schedule, init, engine.n_workers)
    if durable:  # a start was checked with the fit that it is for
        check_memory(needed, **({"remedy": FEWER} if schedule.corpus.on_disk else {}))
    if schedule.corpus.on_disk:
        if place is not None:
            with storage_errors(place):
                place.mkdir(parents=True, exist_ok=True)
        check_disk(task, schedule, place)
        if durable and place is not None:
            DiskStates.clear(place)
    with enough_memory("this fit", needed):
        start = _start(replace(task, corpus=schedule.corpus), schedule, init, engine, place)
        if not schedule.corpus.on_disk:
            return Run.begin(task, schedule, start, engine)
        states = DiskStates.of(schedule.state_type, place, durable and place is not None)
        if isinstance(start.scores, RunScores) and isinstance(start.scores.states, DiskStates):
            states.lend(start.scores.states)
        return Run.begin(task, schedule, start, engine, states)


def needed_bytes(task: Task, schedule: Schedule, init: Any, n_workers: int) -> int:
    """Estimate the memory of a fit and of its start; the start ends before the fit begins."""
    name = (schedule.start if init == "auto" else init) if isinstance(init, str) else "random"
    start = BYTES[name](task, schedule, n_workers) if name in BYTES else 0.0
    return max(task.needed_bytes(schedule, n_workers), int(start))


def _start(task: Task, schedule: Schedule, init: Any, engine: Engine, place: Path | None) -> Start:
    """Turn ``init`` into expected counts and scores."""
    if isinstance(init, partial):
        init = init()
    if isinstance(init, Start):
        return init
    if not isinstance(init, str):
        return from_components(init, task.prior, task.corpus, len(task.model.alpha))
    name = schedule.start if init == "auto" else init
    if name not in STARTS:
        raise InputError(
            "{} is not known", argument="init", value=init, use={"init": ("auto", *STARTS)}
        )
    return STARTS[name](task, schedule, engine, place)


def _random(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Start:
    """Leave the start to chance."""
    return Start()


def _documents(
    task: Task, schedule: Schedule, engine: Engine, place: Path | None, most: int | None = None
) -> Start:
    """Start from the words of a few documents per component, and one pass over all documents."""
    most = most or task.algorithm.documents_per_component
    seeds = task.prior.seeds
    words = from_documents(task.corpus, len(task.model.alpha), task.seed, most, seeds)
    return _by(task, first_pass(schedule), words, 1, engine, place)


def _words(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Start:
    """Start from one anchor word per component."""
    start = from_words(task.corpus, len(task.model.alpha), task.seed)
    return with_seeds(start, task.prior, task.corpus)


def _corners(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Start:
    """Start from the documents that are farthest apart; from documents if these are too few."""
    if task.corpus.n_documents <= len(task.model.alpha):
        return _documents(task, schedule, engine, place)
    corpus = task.corpus
    if isinstance(corpus, FolderCorpus):  # principal components need all documents at once
        corpus = corpus.loaded()
    return matched(from_corners(corpus, len(task.model.alpha), task.seed), task.prior)


def _map(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Start:
    """Start from words or documents with ten cycles of MAP."""
    n_components = len(task.model.alpha)
    first: Any = "words"
    if not suits(task.corpus, n_components):
        each = max(MAP_DOCUMENTS, MAP_DOCUMENTS_IN_ALL // n_components)
        each = min(each, Algorithm.documents_per_component)
        # made later, because its scores of all documents are not needed for long
        first = partial(_documents, task, replace(schedule, first_pass=None), engine, place, each)
    return _by(task, EM(), first, START_CYCLES, engine, place)


def _merged(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Start:
    """Start from ten cycles of MAP, and dissolve the components that the others explain as well.

    Sweeps of a chain come before each attempt. Components with seeds stay.
    """
    if isinstance(task.corpus, FolderCorpus):  # merging looks at all tokens of a component
        task, engine = replace(task, corpus=task.corpus.loaded()), engine.local
    start: Start | None = _map(task, schedule, engine, place)
    rng = np.random.Generator(np.random.Philox(key=int(task.seed)))
    for turn in range(MERGE_ROUNDS):
        chain = replace(task, algorithm=Collapsed(), seed=_seed_of(task, turn))
        run = begin(chain, start, engine)
        start = None  # tables of all documents and words
        _sweep(run, _affordable(task.corpus))
        start, done = dissolved(run, rng)
        if done:
            break
    assert start is not None
    return start


def _joined(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Start:
    """Start from a chain with too many components, and join those that are most alike.

    A chain with as many components as are wanted may have two of them in one and another in two,
    and hardly ever changes that. With too many, most of them are in one or several by themselves.
    The chain is that of the Dirichlet-multinomial, which the other models are given the lengths of
    the documents. Components with seeds stay, so then nothing is joined.
    """
    if task.prior.seeds is not None:
        return _map(task, schedule, engine, place)
    if isinstance(task.corpus, FolderCorpus):  # joining looks at all tokens of a component
        task, engine = replace(task, corpus=task.corpus.loaded()), engine.local
    wanted = len(task.model.alpha)
    n = round(SURPLUS * wanted)
    model = DirichletMultinomial(alpha=np.resize(task.model.alpha, n) * (wanted / n))
    first = replace(
        task, model=model, algorithm=TOO_MANY, learn=task.learn & {*model.hyperparameters, "gamma"},
        hyperprior=None, names=(), corpus=task.corpus.with_classes(None), seed=_seed_of(task, 0),
    )  # fmt: skip
    run = begin(first, _map(first, schedule, engine, place), engine, durable=False)
    _sweep(run, TOO_MANY.smooth)
    return joined(run, wanted)


def _flat(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Start:
    """Start from a collapsed chain of the model with one level; parents from one of their own.

    The tables that components send up to parents are the words of the parents. Each component of a
    document sends about log(1 + count) of them. A chain of too many tokens is left out.
    """
    if not isinstance(task.model, TwoLevels):
        raise InputError(
            "{} is for components with parents", argument="init", value="flat", use={"init": "map"}
        )
    if task.corpus.n_tokens > MOST_TOKENS:
        return _map(task, schedule, engine, place)
    if isinstance(task.corpus, FolderCorpus) and is_small(task.corpus):
        # merging looks at all tokens of a component; and a short exact sweep needs no cluster
        loaded = replace(task, corpus=task.corpus.loaded())
        run = _flat_chain(loaded, schedule, engine.local, place)
    else:
        run = _flat_chain(task, schedule, engine, place)
    tables = Corpus(tables_for_parents(run))
    flat = DirichletMultinomial().prepare(task.model.n_parents, tables)
    learn = frozenset({"alpha", "gamma"})
    above = Task(
        tables, flat, Collapsed(), LoadingsPrior.of(None, tables.layout), learn, seed=task.seed
    )
    found = _flat_chain(above, schedule, engine.local, place).params
    parents = found.prior.mean(np.asarray(found.loading_counts, dtype=np.float64))
    model: Any = replace(task.model, parents=parents)
    loadings = task.prior.without_seeds(np.asarray(run.params.loading_counts, dtype=np.float64))
    scores = RunScores.of(run, Collapsed(), np.float64)
    return Start(loadings, scores, model.with_mean(), run.params.prior)


def _flat_chain(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Run:
    """Run a collapsed chain of components without parents, given the lengths of the documents.

    Amounts with one rate for all components are, given the lengths, the Dirichlet-multinomial of
    the same shapes; so this is the flat chain of both models with parents.

    A chain with as many components as are wanted may have two of them in one and another in two.
    So it begins with twice as many, if that can be afforded, and the pairs that lose the least are
    joined: half of what is too much at a time.
    """
    corpus, wanted = task.corpus, len(task.model.alpha)
    flat = DirichletMultinomial(alpha=task.model.alpha)
    learn = task.learn & {*flat.hyperparameters, "gamma"}
    sweeps, rounds = 2 * _affordable(corpus), 1
    if begins_with_too_many(task):
        sweeps, rounds = _affordable(corpus), MERGE_ROUNDS
        flat = replace(flat, alpha=0.5 * np.resize(flat.alpha, 2 * wanted))
    first = replace(
        task, model=flat, algorithm=Collapsed(), learn=learn, hyperprior=None, names=()
    )  # fmt: skip
    start: Start | None = _map(first, schedule, engine, place)
    rng = np.random.Generator(np.random.Philox(key=int(task.seed)))
    for left in reversed(range(rounds)):
        chain = replace(first, seed=_seed_of(task, left))
        run = begin(chain, start, engine, place, durable=False)
        start = None  # tables of all documents and words
        _sweep(run, sweeps)
        if run.params.n_components == wanted:
            break
        start, fitted = reduced(run, wanted, rng, last=left <= 1)
        first = replace(first, model=fitted)
    return run


def _sweep(run: Run, n_sweeps: int) -> None:
    """Make the sweeps of a chain of a start, whose draws are not averaged."""
    with deferred([signal.SIGINT]) as asked:
        for _ in range(n_sweeps):
            run.advance_one()
            if asked():
                raise KeyboardInterrupt


def _seed_of(task: Task, turn: int) -> int:
    """Seed of one of the chains of a start."""
    return int(task.seed) ^ (ROUND_SEED * (turn + 1) % 2**64)


def _affordable(corpus: Corpus) -> int:
    """Sweeps before components are merged."""
    return int(np.clip(MERGE_DRAWS // max(int(corpus.n_tokens), 1), *MERGE_SWEEPS))


STARTS = {
    "random": _random, "documents": _documents, "words": _words, "corners": _corners, "map": _map,
    "joined": _joined, "merged": _merged, "flat": _flat,
}  # fmt: skip


def _by(
    task: Task, algorithm: Expectation, init: Any, n_cycles: int, engine: Engine,
    place: Path | None,
) -> Start:  # fmt: skip
    """Start from the end of another run."""
    first = replace(
        task,
        model=task.model.relaxed(),
        algorithm=algorithm,
        learn=frozenset(),
        hyperprior=None,
        corpus=task.corpus.with_classes(None),
    )
    if task.corpus.on_disk:
        log.info("start: %s by %s", counted(n_cycles, "cycle"), algorithm.name)
    run = begin(first, init, engine, place, durable=False)
    run.advance(n_cycles, progress=False)
    if run.reason == "interrupted":
        raise KeyboardInterrupt
    counts = task.prior.without_seeds(np.asarray(run.params.loading_counts))
    if isinstance(run.states, DiskStates):
        return Start(counts, RunScores.of(run, algorithm, counts.dtype))
    scores = np.empty((task.corpus.n_documents, run.params.n_components), counts.dtype)

    def take(block: BlockRef) -> None:
        read, state = run.training.read(block), run.states.get(block)
        scores[block.start : block.stop] = algorithm.start_scores(run.params, read, state)

    engine.run(take, run.schedule.blocks)
    return Start(counts, scores)
