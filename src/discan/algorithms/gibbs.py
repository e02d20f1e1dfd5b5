# SPDX-License-Identifier: BSD-3-Clause
"""Direct Gibbs sampling of scores, splits and loadings (spec 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.algorithms.base import ALGORITHMS, Clock, Params, Posterior, Start, Stats
from discan.algorithms.sampling import Sampler
from discan.data.corpus import Block, Corpus
from discan.engines import Engine
from discan.kernels.gibbs import draw_loadings, draw_log_loadings, split, sweep
from discan.models import ScoreTable
from discan.typing import Array

__all__ = ["Gibbs"]

SMALL = 1e-8  # a largest draw above this leaves room for loadings down to 1e-300
# From this many loadings on, they are kept in single precision: half as much to read for each word.
# What is too small for it, below 1e-38, no word is drawn by: it has tokens, so a larger one, too.
SINGLE_FROM = 2**17
# Entries for each word that another partial sum of J x K counts is worth its cost for.
ENTRIES_A_LANE = 10


@dataclass
class SplitState:
    """Counts (n, K) and drawn scores (n, K) of a block's documents."""

    component_counts: Array
    scores: Array


@ALGORITHMS.register
@dataclass(frozen=True)
class Gibbs(Sampler):
    """Direct Gibbs: documents are independent given the loadings, so any threads give one chain."""

    name = "gibbs"
    short = "direct"
    summary = "Gibbs sampling, with uncertainty"

    def n_lanes(self, corpus: Corpus, n_components: int) -> int:
        """As many partial sums as the work on the entries makes up for."""
        worth = corpus.n_entries // (ENTRIES_A_LANE * corpus.n_words)
        return max(1, min(worth, super().n_lanes(corpus, n_components)))

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Loadings of the start; all alike if none are given, then tokens fall at random."""
        shape = (corpus.n_words, params.n_components)
        counts = start.loading_counts
        loadings = np.ones(shape) if counts is None else params.prior.mean(counts)
        loadings = loadings.astype(_precision(loadings), copy=False)
        notes = {"exposure_levels": corpus.exposure_levels}
        fits = corpus.n_tokens < 2**31
        counts = np.zeros(shape, dtype=np.int32 if fits else np.int64)
        return replace(params, loadings=loadings, loading_counts=counts, notes=notes)

    def init_state(
        self, params: Params, table: ScoreTable, block: Block, start: Start, clock: Clock
    ) -> SplitState:
        """Split every count by the loadings and scores of the start; add to the first counts."""
        shape = (block.stop - block.start, params.n_components)
        scores = np.ones(shape) if start.scores is None else start.scores[block.start : block.stop]
        component_counts = np.zeros(shape, dtype=np.int64)
        split(
            block.indptr, block.words, block.counts, params.loadings, scores, component_counts,
            params.loading_counts, clock.seed, block.start,
        )  # fmt: skip
        return SplitState(component_counts, scores.copy())

    def init_states(
        self, params: Params, table: ScoreTable, blocks: Sequence[Block], start: Start,
        clock: Clock, engine: Engine,
    ) -> list[Any]:  # fmt: skip
        """One after the other: they add to the same counts."""
        return [self.init_state(params, table, block, start, clock) for block in blocks]

    def join(
        self, params: Params, corpus: Corpus, states: Sequence[SplitState], clock: Clock
    ) -> Params:
        """Draw the first loadings given the first splits."""
        return self._draw(self._with_counts(params, np.asarray(params.loading_counts)), clock)

    def step(
        self, params: Params, table: ScoreTable, block: Block, state: SplitState, clock: Clock,
        lane: Stats,
    ) -> None:  # fmt: skip
        """Draw scores and splits of the block's documents."""
        sums = lane.sums_like(np.asarray(params.loading_counts))
        log_fit, log_factor = np.empty((2, block.stop - block.start))
        sweep(
            block.indptr, block.words, block.counts, block.levels, *table, params.loadings,
            state.component_counts, state.scores, sums, log_fit, log_factor,
            *clock, block.start,
        )  # fmt: skip
        lengths = state.component_counts.sum(axis=1)
        exposure = params.notes["exposure_levels"][block.levels]
        log_fit += params.model.log_total(state.scores.sum(axis=1), lengths, exposure)
        lane.objective += float(log_factor.sum())
        lane.log_likelihood += float(log_fit.sum())
        lane.n_documents += block.stop - block.start
        self.augment(params, table, block, state.component_counts, clock, lane)

    def update(
        self, params: Params, stats: Stats, share: float, clock: Clock, engine: Engine
    ) -> Params:
        """Take over the counts; the loadings are drawn after the hyperparameters."""
        assert stats.loading_sums is not None
        return self._with_counts(params, stats.loading_sums)

    def finish(self, params: Params, stats: Stats, clock: Clock) -> Params:
        """Draw the hyperparameters with the loadings integrated out, then the loadings."""
        return self._draw(super().finish(params, stats, clock), clock)

    def read(self, params: Params, table: ScoreTable, block: Block, state: SplitState) -> Posterior:
        """Counts and the conditional means of the scores given them."""
        rows = table.rows(block.levels)
        counts = state.component_counts
        return Posterior(counts, *params.model.moments(counts, rows))

    def _with_counts(self, params: Params, counts: Array) -> Params:
        totals = params.prior.layout.group_sums(counts)
        return replace(params, loading_counts=counts, totals=totals)

    def _draw(self, params: Params, clock: Clock) -> Params:
        """Draw theta given the counts."""
        counts, prior = params.loading_counts, params.prior
        assert counts is not None
        groups = prior.layout.group_of_word
        draws = np.empty(counts.shape, _precision(counts))
        tops = np.empty((prior.layout.n_groups, counts.shape[1]))
        # cycle + 1: the draw before the first sweep has a stream of its own
        draw_loadings(counts, prior.gamma, groups, draws, tops, clock.seed, clock.cycle + 1)
        if tops.min() < SMALL:  # all of a group may be too small for anything but logs
            draws = draws.astype(np.float64)
            draw_log_loadings(counts, prior.gamma, draws, clock.seed, clock.cycle + 1)
            tops[:] = -np.inf
            np.maximum.at(tops, groups, draws)
            draws = np.exp(draws - tops[groups])
        return replace(params, loadings=prior.normalise(draws, out=draws))


def _precision(loadings: Array) -> Any:
    return np.float32 if loadings.size >= SINGLE_FROM else np.float64
