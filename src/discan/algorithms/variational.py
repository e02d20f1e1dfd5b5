# SPDX-License-Identifier: BSD-3-Clause
"""Variational Bayes: a bound on the evidence, raised cycle by cycle (spec 4.2-4.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import digamma

from discan.algorithms.base import ALGORITHMS, Clock, Params, Start, Stats
from discan.algorithms.expectation import Expectation, ScoreState
from discan.data.corpus import Block, Corpus
from discan.engines import Engine
from discan.kernels.variational import loading_geometry, loading_penalty, log_peaks
from discan.models import Model, ScoreTable
from discan.models.hyperparameters import ExpectedScores
from discan.typing import Array
from discan.validation import one_of

__all__ = ["Variational"]


@ALGORITHMS.register
@dataclass(frozen=True)
class Variational(Expectation):
    """Mean-field variational Bayes; structured spike-and-slab where scores may be zero.

    Parameters
    ----------
    loadings : {"dirichlet", "point"}
        A Dirichlet posterior of the loadings, or a point estimate (MAP in the log basis).
    online, batch_entries, delay, decay, visits, inner
        As for every algorithm by expectation.
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

    def refusal(self, model: Model, learn: frozenset[str]) -> str | None:
        """Point loadings have no prior density to learn gamma from."""
        if "gamma" in learn and self.loadings == "point":
            return "gamma cannot be learnt with point loadings; use loadings='dirichlet'"
        return None

    def default_init(self, model: Model) -> str:
        """A few cycles of MAP lead away from the poor optima that random starts end in."""
        return super().default_init(model) if self.online else "map"

    def with_counts(self, params: Params, counts: Array) -> Params:
        """Set q(Theta), or the point loadings, from expected counts."""
        if self.loadings == "point":
            return super().with_counts(params, counts)
        shape = params.prior.gamma[:, None] + counts
        weights = np.empty_like(shape)
        layout = params.prior.layout
        loading_geometry(shape, layout.group_of_word, layout.group_sums(shape), weights)
        return replace(params, loadings=weights, loading_shape=shape, loading_counts=counts)

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Begin an online fit with means."""
        return self._opened(super().init_params(params, corpus, start, clock), clock)

    def update(
        self, params: Params, stats: Stats, share: float, clock: Clock, engine: Engine
    ) -> Params:
        """As every algorithm by expectation, but the first online cycle goes by means."""
        return self._opened(super().update(params, stats, share, clock, engine), clock)

    def _opened(self, params: Params, clock: Clock) -> Params:
        """Let documents read the means of the loadings as long as an online fit knows little.

        Geometric means are nearly nil where counts are few, as all are at first: they would part
        words from components for good that the first batches happen not to bring together.
        """
        if not self.online or clock.cycle > 0:
            return params
        return replace(params, loadings=params.prior.mean(np.asarray(params.loading_counts)))

    def score_sums(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState
    ) -> ExpectedScores:
        """Sum E[log l] and E[l] over documents, weighted by presence."""
        rows = table.rows(block.levels)
        a = state.score_shape
        present = np.ones_like(a) if state.absent is None else 1.0 - state.absent
        log_scores = digamma(a) - np.log(rows.rate)
        if params.model.normalised:
            log_scores -= digamma(a.sum(axis=1, keepdims=True))
        return ExpectedScores(
            (present * log_scores).sum(axis=0),
            (present * a / rows.rate).sum(axis=0),
            present.sum(axis=0),
            len(a),
        )

    def finish(self, params: Params, stats: Stats, clock: Clock) -> Params:
        """M-steps (spec 5.1)."""
        if self.online and clock.cycle == 0:
            params = self.with_counts(params, np.asarray(params.loading_counts))
        if isinstance(stats.scores, ExpectedScores):
            params = replace(params, model=params.model.maximise(params.learn, stats.scores))
        if "gamma" in params.learn:
            assert params.loadings is not None
            params = replace(params, prior=params.prior.maximise(np.log(params.loadings)))
        return params

    def objective(
        self, before: Params, after: Params, stats: Stats, corpus: Corpus, engine: Engine
    ) -> float:
        """Lower bound on log p(W); with point loadings, plus sum gamma log theta."""
        model = before.model
        constants = model.log_constant(corpus.lengths) + model.log_bag(corpus)
        return stats.objective + float(constants.sum()) + self._loading_term(before)

    def mean_loadings(self, params: Params) -> Array:
        """Mean of q(Theta), or the point loadings."""
        if params.loading_shape is None:
            return super().mean_loadings(params)
        return params.prior.normalise(params.loading_shape)

    def _loading_term(self, params: Params) -> float:
        prior = params.prior
        if params.loading_shape is None:
            return float(log_peaks(params.loadings, prior.gamma))
        layout = prior.layout
        totals = layout.group_sums(params.loading_shape)
        return float(
            loading_penalty(
                params.loading_shape, layout.group_of_word, totals, prior.gamma, prior.totals
            )
        )
