# SPDX-License-Identifier: BSD-3-Clause
"""Variational Bayes: a bound on the evidence that rises from cycle to cycle (theory 4.2-4.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import digamma

from discan.algorithms.base import ALGORITHMS, Clock, Params, levels_refusal
from discan.algorithms.expectation import Expectation
from discan.algorithms.footprint import Tables
from discan.algorithms.log_prior import log_prior
from discan.algorithms.schedule import Schedule
from discan.algorithms.score_states import ScoreState
from discan.algorithms.statistics import Stats
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import DiscanError, InputError
from discan.kernels.variational import (
    geometric_mean_loadings,
    loading_penalty,
)
from discan.models import Model
from discan.models.hyperparameters import ExpectedScores
from discan.typing import Array
from discan.validation import one_of

__all__ = ["Variational"]

DIRICHLET = Tables(visit=5, online=3, params=3, result=48, kept=16, extra=8)


@ALGORITHMS.register
@dataclass(frozen=True)
class Variational(Expectation):
    """Mean-field variational Bayes; structured spike-and-slab where scores may be zero.

    Parameters
    ----------
    loadings : {"dirichlet", "point"}
        A Dirichlet posterior of the loadings, or a point estimate (MAP in the log basis).
    online, batch_entries, delay, decay, visits, inner, fold_in_tolerance
        As for ``MAP``.
    """

    loadings: str = "dirichlet"

    name = "variational"
    short = "vb"
    summary = "variational Bayes"
    geometric_mean = True

    def __post_init__(self) -> None:
        """Check the options."""
        one_of("loadings", self.loadings, ("dirichlet", "point"))
        super().__post_init__()

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Refuse to count components, and to learn gamma with point loadings, without a density."""
        if refusal := self.learning_refusal(model, learn):
            return refusal
        if "gamma" in learn and self.loadings == "point":
            return InputError(
                "gamma cannot be learnt with point loadings", use={"loadings": "dirichlet"}
            )
        return levels_refusal(self, model)

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """Start with a few cycles of MAP, because random starts end in poor optima."""
        schedule = super().plan(corpus, n_components, seed)
        return schedule if self.online else replace(schedule, start="map")

    @property
    def tables_held(self) -> Tables:  # type: ignore[override]
        """Numbers of tables, for the estimate of memory."""
        return Tables() if self.loadings == "point" else DIRICHLET

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:
        """Let documents read the means of the loadings in the first cycle of an online fit.

        Geometric means are nearly zero where counts are small, as all counts are at first. They
        would separate words from components for ever.
        """
        if self.online and clock.cycle <= 0:
            mean = params.prior.mean(np.asarray(params.loading_counts))
            params = replace(params, loadings=mean)
        return super().prepare(params, clock, engine)

    def with_counts(self, params: Params, counts: Array) -> Params:
        """Set q(Theta), or the point loadings, from expected counts."""
        if self.loadings == "point":
            return super().with_counts(params, counts)
        shape = params.prior.gamma[:, None] + counts
        weights = np.empty_like(shape)
        layout = params.prior.layout
        geometric_mean_loadings(shape, layout.group_of_word, layout.group_sums(shape), weights)
        return replace(params, loadings=weights, loading_shape=shape, loading_counts=counts)

    def score_sums(self, params: Params, block: Block, state: ScoreState) -> Any:
        """Sum E[log l] and E[l] over documents, weighted by presence."""
        rows = params.table.rows(block.levels)
        a = state.score_shape
        present = np.ones_like(a) if state.absent is None else 1.0 - state.absent
        # logarithms of the few rows of the table, not of a row per document
        log_rate = np.log(params.table.rate)
        log_scores = digamma(a) - (log_rate if len(log_rate) == 1 else log_rate[block.levels])
        if params.model.normalised:
            log_scores -= digamma(a.sum(axis=1, keepdims=True))
        model, tables = params.model, (present * log_scores, present * a / rows.rate, present)
        if model.n_classes == 1:
            log_sums, sums, here = (table.sum(axis=0) for table in tables)
            return model.sums_of([ExpectedScores(log_sums, sums, here, len(a))])
        classes = model.class_of_level(params.exposure_levels)[block.levels]
        order = np.argsort(classes, kind="stable")
        n_documents = np.bincount(classes, minlength=model.n_classes)
        ends = np.append(0, np.cumsum(n_documents))
        by_class = np.zeros((3, model.n_classes, params.n_components))
        seen = np.flatnonzero(n_documents)
        for total, table in zip(by_class, tables, strict=True):
            total[seen] = np.add.reduceat(table[order], ends[seen], axis=0)
        parts = zip(*by_class, n_documents.tolist(), strict=True)
        return model.sums_of([ExpectedScores(*part) for part in parts])

    def objective(self, before: Params, stats: Stats, corpus: Corpus) -> float:
        """Return the lower bound on log p(W); with point loadings, plus sum gamma log theta."""
        model = before.model
        constants = model.total_log_constant(corpus) + model.total_log_bag(corpus)
        return stats.objective + constants + _loading_term(before)

    def learnt(self, params: Params, stats: Stats) -> Params:
        """Make the M-steps of the hyperparameters (theory 5.1)."""
        if stats.scores is not None:
            params = params.with_model(params.model.maximise(params.learn, stats.scores))
        if "gamma" in params.learn:
            assert params.loadings is not None
            params = replace(params, prior=params.prior.maximise(np.log(params.loadings)))
        return params


def _loading_term(params: Params) -> float:
    """Return the part of the objective that the loadings add."""
    prior = params.prior
    if params.loading_shape is None:
        return log_prior(np.asarray(params.loadings), prior)
    layout, seeds = prior.layout, prior.seeds
    totals = layout.group_sums(params.loading_shape)
    term = float(
        loading_penalty(
            params.loading_shape, layout.group_of_word, totals, prior.gamma, prior.totals
        )
    )
    if seeds is None:
        return term
    # of a prior with parameters gamma + s; the loadings are exp E[log theta]
    return term - prior.log_seeds + seeds.weighted(np.log(np.asarray(params.loadings)))
