# SPDX-License-Identifier: BSD-3-Clause
"""What maximum likelihood, MAP and variational share: expected splits, kept as score shapes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.algorithms.base import Algorithm, Clock, Params, Posterior, Start, Stats
from discan.data.corpus import Block, Corpus
from discan.kernels.variational import expect, expect_conditional
from discan.models import ScoreTable
from discan.typing import Array

__all__ = ["Expectation", "ScoreState"]

# A fold-in stops when a step moves less than this share of a document's words.
FOLD_IN_TOLERANCE = 1e-7
FOLD_IN_STEPS = 1000


@dataclass
class ScoreState:
    """q of a block's documents: Gamma(score_shape, rate) or absent, each array (n, K)."""

    score_shape: Array
    absent: Array
    damping: Array
    component_counts: Array | None = None  # kept only where they do not follow from the shape


class Expectation(Algorithm):
    """Base of the deterministic algorithms; subclasses choose the link and the loadings."""

    geometric_mean = False
    tolerance = FOLD_IN_TOLERANCE

    def inner_steps(self) -> int:
        """Steps on a document each time it is visited."""
        return 1

    def power(self, params: Params) -> float:
        """Exponent of the responsibilities; below 1 for tempering."""
        return 1.0

    # ---- a cycle ----

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Start from given expected counts, or from word totals shaken up at random."""
        counts = start.loading_counts
        if counts is None:
            rng = np.random.Generator(np.random.Philox(key=int(clock.seed)))
            totals = np.bincount(corpus.words, weights=corpus.counts, minlength=corpus.n_words)
            noise = rng.standard_exponential((corpus.n_words, params.n_components))
            counts = totals[:, None] / params.n_components * noise
        return self.with_counts(params, counts)

    def init_state(
        self, params: Params, table: ScoreTable, block: Block, start: Start, clock: Clock
    ) -> ScoreState:
        """Spread each document evenly over the components, or by the given scores."""
        return _even_state(table, block, start.scores)

    def step(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState, clock: Clock,
        lane: Stats,
    ) -> None:  # fmt: skip
        """Update the scores; collect expected loading counts and sums of scores."""
        if lane.loading_counts is None:
            lane.loading_counts = np.zeros_like(params.loadings)
        objective = self._run(params, table, block, state, lane.loading_counts)
        lane.objective += float(objective.sum())
        lane.n_documents += block.stop - block.start
        if params.learns_scores:
            sums = self.score_sums(params, table, block, state)
            lane.scores = sums if lane.scores is None else lane.scores + sums

    def update(self, params: Params, stats: Stats, share: float, clock: Clock) -> Params:
        """Set the loadings from the expected counts."""
        assert stats.loading_counts is not None
        return self.with_counts(params, stats.loading_counts)

    def with_counts(self, params: Params, counts: Array) -> Params:
        """Return the parameters with point loadings theta proportional to gamma + counts."""
        loadings = params.prior.mean(counts)
        return replace(params, loadings=loadings, loading_counts=counts)

    @abstractmethod
    def score_sums(self, params: Params, table: ScoreTable, block: Block, state: ScoreState) -> Any:
        """Sum over the block's documents what ``finish`` needs of their scores."""

    # ---- answers ----

    def read(self, params: Params, table: ScoreTable, block: Block, state: ScoreState) -> Posterior:
        """Expected counts and scores under q."""
        rows = table.rows(block.levels)
        counts = state.component_counts
        if counts is None:
            counts = state.score_shape - rows.shape
        return Posterior(
            np.maximum(counts, 0.0),
            *params.model.moments_of(state.score_shape, rows, state.absent),
        )

    def infer(self, params: Params, table: ScoreTable, block: Block, seed: np.uint64) -> Posterior:
        """Fixed-point steps on each document to its own convergence, from an even start."""
        state = _even_state(table, block, None)
        self._run(params, table, block, state, None)
        return self.read(params, table, block, state)

    def document_objective(self, params: Params, table: ScoreTable, block: Block) -> Array:
        """Objective of new documents at convergence, up to the model's constant, (n,)."""
        return self._run(params, table, block, _even_state(table, block, None), None)

    def mean_loadings(self, params: Params) -> Array:
        """Point loadings are their own estimate."""
        return params.prior.normalise(np.asarray(params.loadings))

    def _run(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState,
        loading_counts: Array | None,
    ) -> Array:  # fmt: skip
        """Call the kernel: once over with statistics, or to convergence without."""
        collect = loading_counts is not None
        objective = np.empty(block.stop - block.start)
        out = loading_counts if loading_counts is not None else np.empty((0, table.shape.shape[1]))
        steps = self.inner_steps() if collect else FOLD_IN_STEPS
        head = (block.indptr, block.words, block.counts, block.levels)
        if (table.present < 1.0).any():
            assert params.loadings is not None
            expect_conditional(
                *head, *table, np.log(np.maximum(params.loadings, 1e-300)),
                state.score_shape, state.absent, state.damping, state.component_counts,
                out, objective, 5 if collect else FOLD_IN_STEPS, 1e-9, collect,
            )  # fmt: skip
        else:
            expect(
                *head, table.shape, table.rate, params.loadings, state.score_shape, out, objective,
                self.geometric_mean, self.power(params), steps, self.tolerance, collect,
            )  # fmt: skip
        return objective


def _even_state(table: ScoreTable, block: Block, scores: Array | None) -> ScoreState:
    rows = table.rows(block.levels)
    n_components = table.shape.shape[1]
    lengths = np.add.reduceat(
        np.append(block.counts[block.indptr[0] : block.indptr[-1]], 0).astype(np.float64),
        block.indptr[:-1] - block.indptr[0],
    )
    lengths[np.diff(block.indptr) == 0] = 0.0
    shares: Array = np.full((len(lengths), n_components), 1.0 / n_components)
    if scores is not None:
        chosen = scores[block.start : block.stop] + 1e-12
        shares = chosen / chosen.sum(axis=1, keepdims=True)
    shape = rows.shape + lengths[:, None] * shares
    counts = np.zeros_like(shape) if (table.present < 1.0).any() else None
    return ScoreState(shape, np.zeros_like(shape), np.zeros_like(shape), counts)
