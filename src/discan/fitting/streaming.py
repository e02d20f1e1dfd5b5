# SPDX-License-Identifier: BSD-3-Clause
"""A fit to a stream: batches of documents, of which each is seen once and then forgotten."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discan.algorithms.base import Algorithm, Start
from discan.algorithms.cvb0 import CollapsedVariational
from discan.algorithms.online import OnlineOptions
from discan.algorithms.variational import Variational
from discan.engines import Engine
from discan.errors import InputError
from discan.fitting.memory import check_memory, enough_memory
from discan.fitting.result import Fit
from discan.fitting.run import Run
from discan.fitting.starting import begin
from discan.fitting.task import Task
from discan.fitting.trace import Trace
from discan.models import LoadingsPrior, Model
from discan.typing import Array

__all__ = ["Stream", "begin_stream", "streaming"]

ONLINE = ("cvb0", "map", "ml", "variational")


@dataclass(frozen=True, eq=False)
class Stream:
    """What is remembered of the batches so far; a batch makes a new one.

    Attributes
    ----------
    model, prior : Model, LoadingsPrior
        With hyperparameters that stay.
    counts : (J, K) array
        Expected counts of all ``total`` documents.
    batches, documents : int
        Number of batches and documents seen.
    total : int
        Number of documents that the counts stand for.
    trace : Trace
        One row per batch, each with the batch's own objective.
    """

    model: Model
    prior: LoadingsPrior
    counts: Array
    batches: int = 0
    documents: int = 0
    total: int = 1
    trace: Trace = field(default_factory=Trace)

    def after(self, task: Task, total: int | None, engine: Engine) -> tuple[Stream, Fit]:
        """Learn from the next batch; return what is remembered then, and the result so far.

        Parameters
        ----------
        task : Task
            With the batch, the model and the prior of this stream, and an online algorithm.
        total : int, optional
            Number of documents of the whole stream; by default, those seen so far.
        """
        corpus: Any = task.corpus
        algorithm: Any = task.algorithm
        seen = self.documents + corpus.n_documents
        total = total or seen
        # the whole batch is one round
        whole = replace(task, algorithm=replace(algorithm, batch_entries=max(1, corpus.n_entries)))
        whole.check()
        schedule = replace(whole.plan(), total_documents=total)
        needed = whole.needed_bytes(schedule, engine.n_workers)
        check_memory(needed)
        with enough_memory("this batch", needed):
            run = Run.begin(whole, schedule, Start(self.counts * (total / self.total)), engine)
            memory: Any = run.params.memory
            # weights go by the number of batches, each visited several times
            memory = replace(memory, updates=self.batches * algorithm.visits)
            run.params = replace(run.params, memory=memory)
            run.cycle = self.documents // total  # passes over the whole stream
            run.advance_one()
            counts = np.asarray(run.params.loading_counts)
            stream = replace(
                self, counts=counts, batches=self.batches + 1, documents=seen, total=total,
                trace=self._traced(run.trace),
            )  # fmt: skip
            return stream, stream._fit(run.result(), task)

    def _traced(self, new: Trace) -> Trace:
        """Return the record with the row of another batch."""
        rows = self.trace.table()
        row = np.asarray(new.table()[-1])
        row[Trace.columns.index("cycle")] = self.batches + 1
        row[Trace.columns.index("seconds")] += self.trace.last("seconds") if len(rows) else 0.0
        return Trace.of(np.vstack([rows, row]))

    def _fit(self, result: Fit, task: Task) -> Fit:
        """Return the result of a batch as that of the stream; its documents are the batch's."""
        return replace(
            result,
            algorithm=task.algorithm,
            trace=self.trace,
            n_cycles=self.batches,
            reason=f"{self.batches} batches seen",
            settings={**result.settings, "batches": self.batches, "documents": self.documents},
        )


def begin_stream(
    task: Task, init: Any, engine: Engine, batches: int = 0, documents: int = 0
) -> Stream:
    """Begin before the first batch, from a start that is made of it.

    With numbers of batches and documents, the start weighs as much as these.
    """
    task.check()
    if task.plan().held_out is not None:
        raise InputError(
            "tau='auto' holds documents out, so it needs all of them at once",
            use={"tau": 1.0},
        )
    run = begin(task, init, engine)
    return Stream(
        task.model, task.prior, np.asarray(run.params.loading_counts), batches, documents,
        task.corpus.n_documents,
    )  # fmt: skip


def streaming(choice: Algorithm | None, model: Model) -> Algorithm:
    """Return the online form of an algorithm; None leaves the choice to us."""
    if choice is None:
        choice = CollapsedVariational()
        if choice.refusal(model, frozenset()) is not None:
            choice = Variational()
    if not isinstance(choice, OnlineOptions):
        raise InputError(
            f"partial_fit cannot continue {choice.name}: a sampler draws the components of all "
            "tokens again and again, so it needs all documents",
            use={"algorithm": ONLINE},
        )
    online: Any = replace(choice, online=True)
    return online  # type: ignore[no-any-return]
