# SPDX-License-Identifier: BSD-3-Clause
"""Begin a run: turn ``init`` into a start, perhaps by another run, and make the first states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discan.algorithms import MAP
from discan.algorithms.anchor_words import from_words
from discan.algorithms.base import Start
from discan.algorithms.expectation import Expectation
from discan.algorithms.schedule import Schedule
from discan.algorithms.starts import first_pass, from_components, from_documents
from discan.data.corpus import Block
from discan.engines import Engine, Threads
from discan.errors import InputError
from discan.fitting.run import Run, Task

__all__ = ["STARTS", "begin"]

# Cycles of MAP that a start by MAP takes, after a first pass.
START_CYCLES = 10


def begin(task: Task, init: Any = "auto", engine: Engine | None = None) -> Run:
    """Begin a run.

    Parameters
    ----------
    task : Task
    init : {"auto", "random", "documents", "words", "map"}, (K, J) array or Start
        Where to start; "auto" leaves it to the algorithm.
    engine : Engine, optional
    """
    engine = engine or Threads(1)
    task.check()
    schedule = task.plan()
    start = _start(replace(task, corpus=schedule.corpus), schedule, init, engine)
    return Run.begin(task, schedule, start, engine)


def _start(task: Task, schedule: Schedule, init: Any, engine: Engine) -> Start:
    """Turn ``init`` into expected counts and scores."""
    if isinstance(init, Start):
        return init
    if not isinstance(init, str):
        return from_components(init, task.prior, task.corpus, len(task.model.alpha))
    name = schedule.start if init == "auto" else init
    if name not in STARTS:
        raise InputError(
            "{} is not known", argument="init", value=init, use={"init": ("auto", *STARTS)}
        )
    return STARTS[name](task, schedule, engine)


def _random(task: Task, schedule: Schedule, engine: Engine) -> Start:
    """Leave the start to chance."""
    return Start()


def _documents(task: Task, schedule: Schedule, engine: Engine) -> Start:
    """Start from the words of a few documents per component, and one pass over all documents."""
    most = task.algorithm.documents_per_component
    words = from_documents(task.corpus, len(task.model.alpha), task.seed, most)
    return _by(task, first_pass(schedule), words, 1, engine)


def _words(task: Task, schedule: Schedule, engine: Engine) -> Start:
    """Start from one anchor word per component."""
    return from_words(task.corpus, len(task.model.alpha), task.seed)


def _map(task: Task, schedule: Schedule, engine: Engine) -> Start:
    """Start from documents with ten cycles of MAP."""
    return _by(task, MAP(), "documents", START_CYCLES, engine)


STARTS = {"random": _random, "documents": _documents, "words": _words, "map": _map}


def _by(task: Task, algorithm: Expectation, init: Any, n_cycles: int, engine: Engine) -> Start:
    """Start from the end of another run."""
    first = replace(
        task, model=task.model.relaxed(), algorithm=algorithm, learn=frozenset(), hyperprior=None
    )
    run = begin(first, init, engine)
    run.advance(n_cycles, progress=False)
    if run.reason == "interrupted":
        raise KeyboardInterrupt
    counts = np.asarray(run.params.loading_counts)
    scores = np.empty((task.corpus.n_documents, run.params.n_components), counts.dtype)

    def take(block: Block) -> None:
        state = run.states.get(block)
        scores[block.start : block.stop] = algorithm.start_scores(run.params, block, state)

    engine.run(take, run.schedule.blocks)
    return Start(counts, scores)
