# SPDX-License-Identifier: BSD-3-Clause
"""Memory that the starts of a fit need, estimated before they begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discan.algorithms.anchor_words import sketch_width, suits
from discan.algorithms.base import Algorithm
from discan.algorithms.collapsed import MOST_TOKENS, Collapsed
from discan.algorithms.corners import krylov_width
from discan.algorithms.em import EM
from discan.algorithms.footprint import SCORED, Sizes
from discan.algorithms.schedule import Schedule
from discan.algorithms.starts import first_pass
from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.fitting.task import Task
from discan.models import DirichletMultinomial
from discan.models.levels import TwoLevels

__all__ = ["BYTES", "SURPLUS", "begins_with_too_many", "is_small", "with_tables"]

# Components of a chain whose components are then joined, in terms of those that are wanted.
SURPLUS = 1.4
# Up to this many tokens, the flat chain of a start begins with too many components. Of tables that
# parents start from, there are fewer: documents that are taken may send up more than others.
FLAT_TOKENS, TABLES_PART = 500_000, 0.8


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
    real = own.lane_bytes // sizes.loadings
    # with a state that is read from disk
    per_score = 16 + real if corpus.on_disk else 2 * real
    read = sizes.phase(3 * real * sizes.loadings, per_score, SCORED)
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
    """The start of MAP, and a chain whose tokens are listed; a folder is loaded for it."""
    task, schedule, data = _loaded(task, schedule)
    corpus, n_components = schedule.corpus, len(task.model.alpha)
    start = 8.0 * n_components * (corpus.n_documents + corpus.n_words)
    size = (corpus.n_documents, corpus.n_words, n_components, float(corpus.n_tokens))
    merging = _left_bytes(corpus, n_components) + _merging_bytes(*size, start)
    return data + max(_map_bytes(task, schedule, n_workers), merging)


def _joined_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """The same with more components than are wanted; with seeds, the start of MAP."""
    if task.prior.seeds is not None:
        return _map_bytes(task, schedule, n_workers)
    alpha = np.ones(round(SURPLUS * len(task.model.alpha)))
    many = replace(task, model=DirichletMultinomial(alpha=alpha))
    return _merged_bytes(many, schedule, n_workers)


def _flat_bytes(task: Task, schedule: Schedule, n_workers: int) -> float:
    """A chain with twice as many components, or one with as many as are wanted; one of parents.

    Few documents of a folder are loaded for it.
    """
    model = task.model
    if not isinstance(model, TwoLevels):
        return 0.0  # such a start is refused
    if task.corpus.n_tokens > MOST_TOKENS:
        return _map_bytes(task, schedule, n_workers)
    data, n_components = 0.0, len(model.alpha)
    if small := is_small(schedule.corpus):
        task, schedule, data = _loaded(task, schedule)
    corpus, times = schedule.corpus, 2 if begins_with_too_many(task) else 1
    first = replace(task, model=DirichletMultinomial(alpha=np.ones(times * n_components)))
    needed = [_map_bytes(first, schedule, n_workers)]
    left = _left_bytes(corpus, n_components)
    if times > 1:
        start = 12.0 * n_components * corpus.n_words
        size = (corpus.n_documents, corpus.n_words, 2 * n_components, float(corpus.n_tokens))
        needed.append(left + _merging_bytes(*size, start))
    elif not small:
        chain = Collapsed(n_draws=1).plan(corpus, n_components, np.uint64(task.seed))
        needed.append(chain.visits_need(n_workers) - sum(chain.kept_bytes or ()))
    return data + max(*needed, left + _parents_bytes(corpus, model))


def _loaded(task: Task, schedule: Schedule) -> tuple[Task, Schedule, float]:
    """Return the same with the documents as they are in memory, and what loading them takes."""
    corpus = schedule.corpus
    if not isinstance(corpus, FolderCorpus):
        return task, schedule, 0.0
    sizes = _ToBeLoaded(corpus.path)
    sizes.classes = corpus.classes
    data = 8.0 * float(corpus.n_entries + corpus.n_documents)
    return replace(task, corpus=sizes), replace(schedule, corpus=sizes), data


def _left_bytes(corpus: Corpus, n_components: int) -> float:
    """What a chain holds at its end: counts of words, and the component of every token."""
    counts = 4.0 * n_components * corpus.n_words
    return counts if corpus.on_disk else counts + 2.0 * float(corpus.n_tokens)


def _merging_bytes(
    n_documents: int, n_words: int, n_components: int, n_tokens: float, start: float
) -> float:
    """The tokens of a chain and its counts, and then the start of the next one."""
    counts = 8.0 * n_components * (n_documents + n_words)
    return counts + max(TOKEN * n_tokens + CHUNKS, MERGED_TOKEN * n_tokens + start)


def _parents_bytes(corpus: Corpus, model: TwoLevels) -> float:
    """Tables of documents, and the chain whose words they are."""
    n_components, length = len(model.alpha), float(corpus.n_tokens) / max(corpus.n_documents, 1)
    # at most one per token; those of a document are the most if its tokens are spread evenly
    each = min(length, n_components * (2.0 * float(np.log1p(length / n_components)) + 0.5))
    n = with_tables(corpus.n_documents, int(each * corpus.n_documents))
    merging = _merging_bytes(n, n_components, 2 * model.n_parents, each * n, 0.0)
    return TABLE * each * n + merging


def with_tables(n_documents: int, n_tables: int) -> int:
    """Number of documents whose tables parents start from, if all send up so many."""
    most = int(TABLES_PART * FLAT_TOKENS)
    return n_documents if n_tables <= most else max(1, n_documents * most // n_tables)


class _ToBeLoaded(FolderCorpus):
    """Sizes of a folder that a start loads."""

    on_disk = False


def begins_with_too_many(task: Task) -> bool:
    """Whether the flat chain of a start begins with twice as many components as are wanted.

    Seeds have components of their own, and large data would take too long.
    """
    return task.prior.seeds is None and is_small(task.corpus)


def is_small(corpus: Corpus) -> bool:
    """Whether a flat chain may look at all tokens at once; those of a folder are loaded for it."""
    return corpus.n_tokens <= FLAT_TOKENS


TOKEN = 27  # bytes of a token while components are merged: lists, and what is sorted
MERGED_TOKEN = 16  # the same once they are merged
CHUNKS = 1.2e6  # bytes of temporary tables meanwhile
TABLE = 8  # bytes of the tables of a document and component
COPY = 18  # bytes of a non-zero count of the documents that a start copies
BYTES = {
    "documents": _documents_bytes, "map": _map_bytes, "words": _words_bytes,
    "corners": _corners_bytes, "joined": _joined_bytes, "merged": _merged_bytes,
    "flat": _flat_bytes,
}  # fmt: skip
