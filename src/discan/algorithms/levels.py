# SPDX-License-Identifier: BSD-3-Clause
"""Direct Gibbs sampling of components that have parents (theory 13.2)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from discan.algorithms.base import Algorithm, Clock, Cycle, Params, Posterior, Start
from discan.algorithms.gibbs import Gibbs, SplitState, drawn_loadings, loading_sums
from discan.algorithms.sampling import check_tokens
from discan.algorithms.schedule import Schedule
from discan.algorithms.statistics import Stats
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.data.rules import MOST, stored
from discan.engines import Engine
from discan.kernels.gibbs import augment_loadings, sweep
from discan.kernels.levels import draw_parents, fold_in_levels, mix_parents, split_tables
from discan.models import Model
from discan.models.levels import LevelSums, TwoLevels
from discan.typing import Array

__all__ = ["LevelState", "Levels", "ParentCounts", "of_levels"]

# The parents' loadings have streams of their own: this changes the seed of those of the components.
PARENT_SEED = np.uint64(0x5BD1E995A4C93B17)
FOLD_IN_SWEEPS = {"fast": (25, 75), "gibbs": (50, 400)}  # before the first draw, and draws
UNIT = 2**30
LEAST = 1e-150  # of the parents' loadings, so that their products with scores do not underflow


@dataclass
class LevelState(SplitState):
    """State of a block's documents: counts and scores of components and of parents.

    parent_counts (n, R): tables of each parent; parent_scores (n, R): scores that the counts were
    drawn with; parent_exposures (n,): the drawn -log u.
    """

    parent_counts: Array = stored("n", None, low=0, high=2**62)
    parent_scores: Array = stored("n", None, low=0, high=MOST)
    parent_exposures: Array = stored("n", low=0, high=MOST)

    def problem(self, params: Params) -> str | None:
        """Say what is wrong with sizes that a file gave."""
        wanted = params.model.values()["parents"].shape
        if params.memory.counts.shape != wanted or self.parent_counts.shape[1] != wanted[1]:
            return "the number of parents is not that of the model"
        return None


@dataclass(frozen=True)
class ParentCounts:
    """Sums over documents.

    counts (K, R): tables of each component and parent; shares (R,): shares of the parents' scores,
    in units of 1 / `UNIT`, so that they add up to the same number in any order. Runs of version 1.0
    do not have the shares.
    """

    counts: Array = stored("K", None, types="i8", low=0, high=2**62)
    shares: Array | None = stored(None, types="i8", low=0, high=2**62, default=None)


@dataclass(frozen=True)
class Levels(Gibbs):
    """Direct Gibbs as it is for components with parents; ``of_levels`` makes it of ``Gibbs``.

    The options are the same. ``fold_in`` tells how long the chain of a new document is: 100 sweeps
    if "fast", 450 if "gibbs". Components start from a short collapsed chain without parents, and
    parents from another one, whose words are the components. Parents of given components start at
    random.
    """

    levels = (2,)

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """As direct Gibbs, with a state of both levels."""
        schedule = super().plan(corpus, n_components, seed)
        # parents are fewer than components, and scores are summed over draws in full
        more = 32 * n_components * corpus.n_documents
        if corpus.on_disk:  # where they are not summed; drawn exposures of all documents are joined
            more = 16 * corpus.n_documents
        return replace(
            schedule,
            bytes=schedule.bytes + more,
            visit_bytes=(schedule.visit_bytes or schedule.bytes) + more,
            block_bytes=5 * schedule.block_bytes,  # shapes and a score table per document
            state_type=LevelState,
            memory_type=ParentCounts,
            start="flat",
        )

    # ---- start ----

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Take the components of the start, and its parents; without these, parents at random."""
        model = two_levels(params.model)
        shape, parents = model.parents.shape, model.parents
        if start.model is None:
            rng = np.random.Generator(np.random.Philox(key=int(clock.seed), counter=[0, 0, 1, 0]))
            parents = rng.dirichlet(np.ones(shape[0]), shape[1]).T
        parents = np.maximum(parents, LEAST)
        params = super().init(params, schedule, start, clock)
        memory = ParentCounts(np.zeros(shape, dtype=np.int64), np.zeros(shape[1], dtype=np.int64))
        return replace(params, memory=memory).with_model(replace(model, parents=parents))

    def init_state(
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> LevelState:
        """Split every count as direct Gibbs does, then the tables of all documents alike."""
        first = super().init_state(params, block, start, clock, lane)
        model = two_levels(params.model)
        shape = (len(first.scores), len(model.parent_alpha))
        scores = np.tile(model.parent_alpha / model.parent_beta, (shape[0], 1))
        state = LevelState(
            first.component_counts, first.scores, np.zeros(shape, dtype=np.int64), scores,
            np.empty(shape[0]),
        )  # fmt: skip
        # a negative cycle of NumPy's type wraps around in compiled and in plain code alike
        first_clock = Clock(clock.seed, np.int64(clock.cycle))  # type: ignore[arg-type]
        _send_up(model, state, _shapes(model, scores), first_clock, block, lane)
        return state

    # ---- a visit ----

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:
        """Draw the loadings of components and of parents given the counts."""
        params = super().prepare(params, clock, engine)
        model = two_levels(params.model)
        drawn = drawn_loadings(params.memory.counts, model.parents_prior, _other(clock))
        parents = np.maximum(drawn.astype(np.float64, copy=False), LEAST)
        return params.with_model(replace(model, parents=parents).with_mean())

    def step(
        self, params: Params, block: Block, state: SplitState, clock: Clock, lane: Stats
    ) -> None:
        """Draw the parents' scores, the scores, the splits and the tables of the documents."""
        assert isinstance(state, LevelState)
        model = two_levels(params.model)
        n = block.stop - block.start
        exposure = params.exposure_levels[block.levels]
        draw_parents(
            state.parent_counts, model.parent_exposures(exposure, state.parent_exposures),
            model.parent_alpha, model.parent_beta, state.parent_scores, *clock, block.start,
        )  # fmt: skip
        shape = _shapes(model, state.parent_scores)
        log_fit, not_needed = np.empty((2, n))
        # every document has a row of its own in the score table
        sweep(
            block.indptr, block.words, block.counts, np.arange(n, dtype=np.int32),
            *model.document_table(shape, exposure), params.loadings, state.component_counts,
            state.scores, loading_sums(params, lane), log_fit, not_needed, *clock, block.start,
        )  # fmt: skip
        log_factor, tables = _send_up(model, state, shape, clock, block, lane)
        totals, lengths = shape.sum(axis=1), state.component_counts.sum(axis=1)
        log_fit += model.log_total(state.scores.sum(axis=1), lengths, exposure)
        log_factor += model.log_document_constant(totals, lengths, exposure)
        lane.objective += float(log_factor.sum())
        lane.log_likelihood += float(log_fit.sum())
        lane.n_documents += n
        if params.learns_scores and self.moves(clock):
            levels = np.bincount(block.levels, minlength=len(params.exposure_levels))
            lane.add_scores(
                LevelSums(
                    tables, levels[:, None], state.parent_scores.sum(axis=0), 0.0, n,
                    params.exposure_levels, state.parent_exposures.copy(),
                    float(state.scores.sum()), np.zeros(params.n_components), np.zeros(1),
                )
            )  # fmt: skip

    def update(
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        """Keep the counts of both levels; the next visit draws loadings from them."""
        params = super().update(params, stats, fraction, clock, engine)
        sums = np.asarray(stats.products)
        return replace(params, memory=ParentCounts(sums[:-1].copy(), sums[-1].copy()))

    def finish(
        self, before: Params, params: Params, stats: Stats, clock: Clock, schedule: Schedule,
        engine: Engine,
    ) -> Cycle:  # fmt: skip
        """Report log p(W, z) given the parents' scores, and draw the hyperparameters."""
        if isinstance(stats.scores, LevelSums):
            prior, counts = two_levels(params.model).parents_prior, params.memory.counts
            tables, log_beta = np.zeros(len(counts), dtype=np.int64), np.zeros(1)
            augment_loadings(
                counts, counts.sum(axis=0, keepdims=True), prior.gamma, prior.totals,
                tables, log_beta, *_other(clock),
            )  # fmt: skip
            sums = replace(stats.scores, loading_tables=tables, loading_log_beta=log_beta)
            stats = replace(stats, scores=sums)
        return super().finish(before, params, stats, clock, schedule, engine)

    # ---- answers ----

    def read(self, params: Params, block: Block, state: Any) -> Posterior:
        """Return the counts and the conditional means of the scores given them."""
        model = two_levels(params.model)
        shape = _shapes(model, state.parent_scores)
        rows = model.document_table(shape, params.exposure_levels[block.levels])
        counts = state.component_counts
        return Posterior(counts, *model.moments(counts, rows))

    def read_parents(self, params: Params, block: Block, state: LevelState) -> Array:
        """Conditional means of the parents' scores given their tables, (n, R)."""
        model = two_levels(params.model)
        exposure = model.parent_exposures(
            params.exposure_levels[block.levels], state.parent_exposures
        )
        rate = model.parent_beta + exposure[:, None]
        return np.asarray((state.parent_counts + model.parent_alpha) / rate)

    def infer(self, params: Params, block: Block, seed: np.uint64) -> Posterior:
        """Sample a document's tokens and tables, loadings fixed."""
        return self.infer_levels(params, block, seed)[0]

    def infer_levels(
        self, params: Params, block: Block, seed: np.uint64
    ) -> tuple[Posterior, Array]:
        """Posterior means of new documents, and of their parents' scores (n, R)."""
        check_tokens(block, {})
        model = two_levels(params.model)
        n, exposure = block.stop - block.start, params.exposure_levels[block.levels]
        rate = model.document_table(np.ones((n, 1)), exposure).rate[:, 0]
        counts, scores = np.zeros((2, n, params.n_components))
        parent_scores = np.zeros((n, len(model.parent_alpha)))
        burn_in, n_draws = FOLD_IN_SWEEPS[self.fold_in]
        fold_in_levels(
            block.indptr, block.words, block.counts, rate,
            model.parent_exposures(exposure, np.zeros(n)), model.normalised, params.loadings,
            np.ascontiguousarray(model.parents.T), model.parent_alpha, model.parent_beta,
            counts, scores, parent_scores, burn_in, n_draws, seed,
        )  # fmt: skip
        empty = counts.sum(axis=1) == 0.0
        if empty.any():
            scores[empty], parent_scores[empty] = model.empty_means(exposure[empty])
        unknown = np.full_like(scores, np.nan)
        return Posterior(counts, scores, unknown, np.zeros_like(scores)), parent_scores


def of_levels(algorithm: Algorithm, model: Model) -> Algorithm:
    """Return the algorithm in the form that suits the levels of a model."""
    kind = Levels if model.levels > 1 else Gibbs
    if not isinstance(algorithm, Gibbs) or type(algorithm) is kind:
        return algorithm
    options = {field.name: getattr(algorithm, field.name) for field in fields(algorithm)}
    return kind(**options)


def two_levels(model: Model) -> TwoLevels:
    """Return the model; another has been refused."""
    assert isinstance(model, TwoLevels)
    return model


def _other(clock: Clock) -> Clock:
    """Return the name of the streams of the parents' loadings."""
    return Clock(clock.seed ^ PARENT_SEED, clock.cycle)


def _shapes(model: TwoLevels, parent_scores: Array) -> Array:
    """Shapes of the scores of each document, (n, K)."""
    shape = np.empty((len(parent_scores), len(model.parents)))
    mix_parents(parent_scores, np.ascontiguousarray(model.parents.T), shape)
    return shape


def _send_up(
    model: TwoLevels, state: LevelState, shape: Array, clock: Clock, block: Block, lane: Stats
) -> tuple[Array, Array]:
    """Draw the tables of the documents; return the log factor (n,) and the parents' tables (R,)."""
    counts = np.zeros(model.parents.shape, dtype=np.int64)
    tables, log_factor = np.zeros(counts.shape[1], dtype=np.int64), np.empty(len(shape))
    split_tables(
        state.component_counts, shape, np.ascontiguousarray(model.parents.T), state.parent_scores,
        model.parent_alpha, state.parent_counts, counts, tables, state.parent_exposures,
        log_factor, *clock, block.start,
    )  # fmt: skip
    totals = np.maximum(state.parent_scores.sum(axis=1, keepdims=True), LEAST)
    shares = np.rint(UNIT * (state.parent_scores / totals).sum(axis=0)).astype(np.int64)
    lane.add_products(np.vstack([counts, shares]))
    return log_factor, tables
