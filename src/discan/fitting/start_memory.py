# SPDX-License-Identifier: BSD-3-Clause
"""Memory that the starts of a fit need, estimated before they begin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discan.algorithms.anchor_words import sketch_width, suits
from discan.algorithms.base import Algorithm
from discan.algorithms.collapsed import Collapsed
from discan.algorithms.corners import krylov_width
from discan.algorithms.em import EM
from discan.algorithms.footprint import SCORED, Sizes
from discan.algorithms.schedule import Schedule
from discan.algorithms.starts import first_pass
from discan.data.corpus import Corpus
from discan.fitting.task import Task

__all__ = ["BYTES", "SURPLUS", "begins_with_too_many", "is_small"]

# Components of a chain whose components are then joined, in terms of those that are wanted.
SURPLUS = 1.4
# Up to this many tokens, the flat chain of a start begins with too many components.
FLAT_TOKENS = 500_000


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


def _merged_bytes(task: Task, schedule: Schedule, n_workers: int, times: float = 1.0) -> float:
    """The start of MAP and a chain, whose tokens are listed; of a folder also all documents.

    It may have more components than are wanted.
    """
    corpus, needed = schedule.corpus, times * _map_bytes(task, schedule, n_workers)
    if not corpus.on_disk:
        return _chain_bytes(task, schedule, n_workers, times) + TOKEN * float(corpus.n_tokens)
    scores = 8.0 * times * len(task.model.alpha) * corpus.n_documents
    return needed + 8.0 * corpus.n_entries + TOKEN * float(corpus.n_tokens) + 4 * scores


def _joined_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """A chain with too many components, whose tokens are listed; with seeds the start of MAP."""
    if task.prior.seeds is not None:
        return _map_bytes(task, schedule, n_workers)
    return _merged_bytes(task, schedule, n_workers, SURPLUS)


def _chain_bytes(task: Task, schedule: Schedule, n_workers: int, times: float = 1) -> float:
    """A start by MAP, then a collapsed chain, and the counts that are read at the end.

    It may have several times as many components.
    """
    corpus, n_components = schedule.corpus, round(times * len(task.model.alpha))
    chain = Collapsed().plan(corpus, n_components, np.uint64(task.seed))
    read = 8.0 * n_components * (corpus.n_words + 3.0 * corpus.n_documents)
    return max(times * _map_bytes(task, schedule, n_workers), chain.bytes + read)


def _flat_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """A chain with twice as many components, or one with as many as are wanted.

    Few documents of a folder are loaded for it, so they are loaded here, too, and counted.
    """
    corpus: Any = schedule.corpus
    if corpus.on_disk and is_small(corpus):
        loaded = corpus.loaded()
        data = 8.0 * float(corpus.n_entries + corpus.n_documents)
        task, schedule = replace(task, corpus=loaded), replace(schedule, corpus=loaded)
        return data + _flat_bytes(task, schedule, n_workers)
    if not begins_with_too_many(task):
        return _chain_bytes(task, schedule, n_workers)
    return _chain_bytes(task, schedule, n_workers, 2) + TOKEN * float(schedule.corpus.n_tokens)


def begins_with_too_many(task: Task) -> bool:
    """Whether the flat chain of a start begins with twice as many components as are wanted.

    Seeds have components of their own, and large data would take too long.
    """
    return task.prior.seeds is None and is_small(task.corpus)


def is_small(corpus: Corpus) -> bool:
    """Whether a flat chain may look at all tokens at once; those of a folder are loaded for it."""
    return corpus.n_tokens <= FLAT_TOKENS


TOKEN = 56  # bytes of a token while components are merged: lists, and what is sorted
COPY = 18  # bytes of a non-zero count of the documents that a start copies
BYTES = {
    "documents": _documents_bytes, "map": _map_bytes, "words": _words_bytes,
    "corners": _corners_bytes, "joined": _joined_bytes, "merged": _merged_bytes,
    "flat": _flat_bytes,
}  # fmt: skip
