# SPDX-License-Identifier: BSD-3-Clause
"""Begin a run: turn ``init`` into a start, perhaps by another run, and make the first states."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discan.algorithms.anchor_words import from_words, sketch_width, suits
from discan.algorithms.base import Algorithm, Params, Start
from discan.algorithms.collapsed import Collapsed
from discan.algorithms.corners import from_corners, krylov_width
from discan.algorithms.em import EM
from discan.algorithms.expectation import Expectation
from discan.algorithms.footprint import SCORED, Sizes
from discan.algorithms.merging import Tokens
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
from discan.fitting.memory import check_memory, enough_memory
from discan.fitting.run import Run
from discan.fitting.states import DiskStates
from discan.fitting.task import Task
from discan.fitting.visit import without_tables
from discan.typing import Array

log = logging.getLogger("discan")

__all__ = ["STARTS", "begin", "needed_bytes"]

# Sweeps before components are merged, and how often that is done at most.
MERGE_SWEEPS, MERGE_ROUNDS = 20, 8
# Sum of alpha of the components that are empty at the start.
SPARE_ALPHA = 1e-3
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
    init : {"auto", "random", "documents", "words", "corners", "map"}, (K, J) array or Start
        Where to start; "auto" leaves it to the algorithm.
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
        if isinstance(start.scores, _Scores):
            states.lend(start.scores.states)
        return Run.begin(task, schedule, start, engine, states)


def needed_bytes(task: Task, schedule: Schedule, init: Any, n_workers: int) -> int:
    """Estimate the memory of a fit and of its start; the start ends before the fit begins."""
    name = (schedule.start if init == "auto" else init) if isinstance(init, str) else "random"
    start = _BYTES[name](task, schedule, n_workers) if name in _BYTES else 0.0
    return max(task.needed_bytes(schedule, n_workers), int(start))


def _start(task: Task, schedule: Schedule, init: Any, engine: Engine, place: Path | None) -> Start:
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
        first = _documents(task, replace(schedule, first_pass=None), engine, place, each)
    return _by(task, EM(), first, START_CYCLES, engine, place)


def _merged(task: Task, schedule: Schedule, engine: Engine, place: Path | None) -> Start:
    """Start from ten cycles of MAP, and dissolve the components that the others explain as well.

    A few sweeps of a chain come before each attempt.
    """
    if isinstance(task.corpus, FolderCorpus):  # merging looks at all tokens of a component
        task = replace(task, corpus=task.corpus.loaded())
    if task.prior.seeds is not None:
        raise InputError(
            "components with seeds cannot be merged", use={"n_components": ..., "init": "map"}
        )
    start = _map(task, schedule, engine, place)
    rng = np.random.Generator(np.random.Philox(key=int(task.seed)))
    for _ in range(MERGE_ROUNDS):
        run = begin(replace(task, algorithm=Collapsed()), start, engine)
        for _ in range(MERGE_SWEEPS):
            run.advance_one()
        tokens = _tokens(run)
        before = int((tokens.loading_counts.sum(axis=0) > 0).sum())
        done = tokens.merge() + tokens.dissolve(rng)
        counts = tokens.loading_counts
        log.debug("%d components of %d are joined with others", done, before)
        spare = SPARE_ALPHA / len(tokens.alpha)
        alpha = np.where(counts.sum(axis=0) > 0, tokens.alpha, spare)
        model: Any = replace(run.params.model, alpha=alpha)  # type: ignore[type-var]
        start = Start(counts, tokens.component_counts, model, run.params.prior)
        if not done:
            break
    return start


def _tokens(run: Run) -> Tokens:
    """Return the tokens of a collapsed chain."""
    corpus, n_components = run.training, run.params.n_components
    blocks = sorted(run.schedule.blocks, key=lambda block: block.start)
    states = [run.states.get(block) for block in blocks]
    rows = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
    return Tokens(
        np.repeat(rows, corpus.counts),
        np.repeat(corpus.words, corpus.counts),
        np.concatenate([state.assignments for state in states]).astype(np.int64),
        np.asarray(run.params.loading_counts).astype(np.float64),
        np.concatenate(
            [s.counts(b, n_components) for b, s in zip(blocks, states, strict=True)]
        ).astype(np.float64),
        np.array(run.params.model.alpha),
        run.params.prior,
    )


STARTS = {
    "random": _random, "documents": _documents, "words": _words, "corners": _corners, "map": _map,
    "merged": _merged,
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
        return Start(counts, _Scores.of(run, algorithm, counts.dtype))
    scores = np.empty((task.corpus.n_documents, run.params.n_components), counts.dtype)

    def take(block: BlockRef) -> None:
        read, state = run.training.read(block), run.states.get(block)
        scores[block.start : block.stop] = algorithm.start_scores(run.params, read, state)

    engine.run(take, run.schedule.blocks)
    return Start(counts, scores)


@dataclass(frozen=True)
class _Scores:
    """Scores at the end of another run, made from its states when a block asks for them.

    Attributes
    ----------
    algorithm, params, corpus, states
        Of that run; the parameters without tables of loadings.
    blocks : its blocks in the order of the documents, and starts (B,): their first documents
    dtype : type of the scores
    """

    algorithm: Expectation
    params: Params
    corpus: Corpus
    states: DiskStates
    blocks: Sequence[BlockRef]
    starts: Array
    dtype: Any

    @classmethod
    def of(cls, run: Run, algorithm: Expectation, dtype: Any) -> _Scores:
        """Take the states of a run that has ended."""
        assert isinstance(run.states, DiskStates)
        blocks = sorted(run.schedule.blocks, key=lambda block: block.start)
        starts = np.array([block.start for block in blocks])
        params = without_tables(run.params)
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


# ---- memory ----


def _in_memory(corpus: Corpus) -> int:
    """Number of documents whose scores are held in memory."""
    return 0 if corpus.on_disk else corpus.n_documents


def _copied_bytes(task: Task, corpus: Corpus, each: int) -> float:
    """Expected counts of a start from documents, and a copy of its documents."""
    n_components = len(task.model.alpha)
    each = max(1, min(each, corpus.n_documents // n_components))
    drawn = corpus.n_entries * min(1.0, each * n_components / corpus.n_documents)
    return 8.0 * n_components * corpus.n_words + COPY * drawn


def _documents_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """A start from the words of documents, and the pass over all documents."""
    corpus, n_components = schedule.corpus, len(task.model.alpha)
    first = first_pass(schedule).plan(corpus, n_components, np.uint64(task.seed))
    scores = 4.0 * n_components * _in_memory(corpus)
    visits = first.visits_need(n_workers) + scores
    copied = _copied_bytes(task, corpus, task.algorithm.documents_per_component)
    return max(copied, 8.0 * n_components * corpus.n_words + visits)


def _map_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """The start of MAP, then its cycles, and the scores that are read at the end."""
    corpus, n_components = schedule.corpus, len(task.model.alpha)
    own = EM().plan(corpus, n_components, np.uint64(task.seed))
    other = replace(schedule, first_pass=None)
    cycles = float(own.visits_need(n_workers))
    sizes = Sizes.of(corpus, n_components, own.rounds, own.lanes)
    # with a state that is read from disk
    read = sizes.phase(12 * sizes.loadings, 20 if corpus.on_disk else 12, SCORED)
    if suits(corpus, n_components):
        first = _words_bytes(task, schedule, n_workers)
    else:
        first = _documents_bytes(replace(task, algorithm=EM()), other, n_workers)
    return max(first, cycles, sum(read))


def _words_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """The table of words that occur together, with a copy of it or with a start from documents."""
    corpus, n_components = schedule.corpus, len(task.model.alpha)
    table = 4.0 * corpus.n_words * sketch_width(corpus.n_words, n_components)
    copied = _copied_bytes(task, corpus, Algorithm.documents_per_component)
    return table + max(table + 8.0 * n_components * corpus.n_words, copied)


def _corners_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """Shares of all words, what leads to them, and the search for principal components."""
    corpus, n_components = schedule.corpus, len(task.model.alpha)
    if corpus.n_documents <= n_components:
        return _documents_bytes(task, schedule, n_workers)
    loaded = 8.0 * (corpus.n_entries + corpus.n_documents) if corpus.on_disk else 0.0
    columns = min(krylov_width(n_components, corpus.n_documents), corpus.n_documents)
    of_documents, of_words = (8.0 * n * columns for n in (corpus.n_documents, corpus.n_words))
    # orthogonal axes of all documents, then their singular vectors in the space of words
    search = max(4.1 * of_documents, 3.0 * of_words + 2.0 * of_documents)
    return loaded + max(78.0 * corpus.n_entries, 16.0 * corpus.n_entries + search)


def _merged_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """The start of MAP; of a folder also all documents, their tokens and their scores."""
    corpus, needed = schedule.corpus, _map_bytes(task, schedule, n_workers)
    if not corpus.on_disk:
        return needed
    scores = 8.0 * len(task.model.alpha) * corpus.n_documents
    return needed + 8.0 * corpus.n_entries + TOKEN * float(corpus.n_tokens) + 4 * scores


TOKEN = 40  # bytes of a token while components are merged
COPY = 18  # bytes of a non-zero count of the documents that a start copies
_BYTES = {
    "documents": _documents_bytes, "map": _map_bytes, "words": _words_bytes,
    "corners": _corners_bytes, "merged": _merged_bytes,
}  # fmt: skip
