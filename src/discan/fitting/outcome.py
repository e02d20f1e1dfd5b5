# SPDX-License-Identifier: BSD-3-Clause
"""What a run has found so far, as a value: loadings, documents, settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Params, States
from discan.algorithms.schedule import Schedule
from discan.data.blocks import BlockRef
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.fitting.draws import DrawAverages
from discan.fitting.hidden_groups import usual_totals
from discan.fitting.posterior import (
    KnownDocuments,
    KnownLoadings,
    StoredDocuments,
    reorder,
    size_order,
)
from discan.fitting.result import Fit
from discan.fitting.task import Task
from discan.fitting.trace import Trace
from discan.typing import Array

__all__ = ["Ended", "outcome"]


class Ended(Protocol):
    """What is asked of a run that has stopped, for now or for good; see ``fitting.run.Run``."""

    task: Task
    schedule: Schedule
    limited: Schedule | None
    params: Params
    states: States
    engine: Engine
    trace: Trace
    draws: DrawAverages | None
    cycle: int
    reason: str
    converged: bool

    @property
    def algorithm(self) -> Algorithm: ...  # noqa: D102
    @property
    def training(self) -> Corpus: ...  # noqa: D102
    @property
    def on_disk(self) -> bool: ...  # noqa: D102
    def add_to(self, averages: Sequence[DrawAverages]) -> None:
        """Add the present state to averages."""
        ...


def outcome(run: Ended, by_size: bool = False) -> Fit:
    """Return the results so far as a value; if asked for, with the largest component first.

    The run itself keeps its order.
    """
    if run.schedule.thin:
        fit = _sampled(run)
        return fit.by_size() if by_size else fit
    params, variance = run.params, None
    loadings = params.mean_loadings
    if params.loading_shape is not None:
        counts = params.loading_shape - params.prior.gamma[:, None]
        variance = np.maximum(params.prior.mean_square(counts) - loadings**2, 0.0)
    fit = _fit(run, params, KnownLoadings(loadings, variance))
    documents: Any
    if run.on_disk:
        documents = StoredDocuments.of(run.training, _totals(run))
    elif run.schedule.held_out is None:
        documents = _read(run, point=variance is None)
    else:
        counts, scores, _, absent = fit.infer(run.task.corpus, run.engine)
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


def _sampled(run: Ended) -> Fit:
    """Return the averages over draws; during burn-in, the state is the only draw."""
    draws = run.draws
    if draws is None:
        draws = DrawAverages(replace(run.schedule, keep_draws=False), run.params)
        run.add_to([draws])
    fit = _fit(run, draws.inference_params(run.params), draws.loadings)
    record = None if run.draws is None else draws.record
    return replace(fit, documents=draws.documents, draws=draws.kept, record=record)


def _fit(run: Ended, params: Params, loadings: Any) -> Fit:
    # inference takes the loadings alone
    params = replace(params, loading_shape=None, loading_counts=None, totals=None, memory=None)
    return Fit(
        algorithm=run.algorithm,
        params=params,
        layout=run.task.corpus.layout,
        loadings=loadings,
        trace=run.trace,
        reason=run.reason,
        converged=run.converged,
        n_cycles=run.cycle,
        settings={
            "model": run.params.model.name,
            "algorithm": run.algorithm.name,
            "seed": int(run.task.seed),
            "learnt": sorted(run.params.learn),
            "tokens": run.task.corpus.n_tokens,
            **run.task.about,
            **run.schedule.record,
            **_chain(run),
        },
        **run.task.corpus.about,
        group_totals=usual_totals(run.task.corpus),
        given_names=run.task.names,
    )


def _chain(run: Ended) -> dict[str, int]:
    """Return which cycles of a chain gave draws, and how many of the last are averaged."""
    schedule = run.limited or run.schedule
    if not schedule.thin:
        return {}
    averaged = {} if run.draws is None else {"draws": run.draws.n_draws}
    return {"burn_in": schedule.burn_in, "thin": schedule.thin, **averaged}


def _read(run: Ended, point: bool) -> KnownDocuments:
    """Gather the posterior means of the documents from the states."""
    shape = (run.training.n_documents, run.params.n_components)
    counts, scores = np.empty(shape), np.empty(shape)
    sd = None if point else np.empty(shape)
    # models without absence need no memory to say so
    absence = bool((run.params.table.present < 1.0).any())
    absent = np.empty(shape) if absence else np.broadcast_to(0.0, shape)

    def read(block: BlockRef) -> None:
        rows = slice(block.start, block.stop)
        whole = run.training.read(block)
        posterior = run.algorithm.read(run.params, whole, run.states.get(block))
        counts[rows], scores[rows] = posterior.component_counts, posterior.scores
        if sd is not None:
            variance = posterior.squares - posterior.scores**2
            sd[rows] = np.sqrt(np.maximum(variance, 0.0))
        if absence:
            absent[rows] = posterior.absent

    run.engine.run(read, run.schedule.blocks)
    return KnownDocuments(counts, scores, sd, absent)


def _totals(run: Ended) -> Array:
    """Tokens of each component, (K,), added up document by document as in memory."""
    totals = np.zeros((1, run.params.n_components))
    for block in sorted(run.schedule.blocks, key=lambda block: block.start):
        whole = run.training.read(block)
        posterior = run.algorithm.read(run.params, whole, run.states.get(block))
        totals = np.vstack([totals, posterior.component_counts]).sum(axis=0, keepdims=True)
    return np.asarray(totals[0])
