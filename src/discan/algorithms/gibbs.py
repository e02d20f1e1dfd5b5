# SPDX-License-Identifier: BSD-3-Clause
"""Direct Gibbs sampling of scores, splits and loadings (theory 4.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discan.algorithms.base import ALGORITHMS, Clock, Params, Start
from discan.algorithms.footprint import Sizes, averages, estimated
from discan.algorithms.sampling import Sampler, even_loadings
from discan.algorithms.schedule import MAX_LANES, Schedule
from discan.algorithms.statistics import Stats
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.data.rules import stored
from discan.engines import Engine
from discan.kernels.gibbs import draw_loadings, draw_log_loadings, split, sweep
from discan.models import LoadingsPrior
from discan.typing import Array

__all__ = ["Gibbs", "SplitState", "drawn_loadings", "loading_sums"]

SMALL = 1e-8  # a largest draw above this allows loadings down to 1e-300
# From this many loadings on, they are kept in single precision, which halves the bytes to read per
# word. A loading too small for it, below 1e-38, is never drawn: a larger one has the word's tokens.
SINGLE_FROM = 2**17
# Entries per word from which on another partial sum of J x K counts pays.
ENTRIES_PER_LANE = 10


@dataclass
class SplitState:
    """Counts (n, K) and drawn scores (n, K) of a block's documents."""

    component_counts: Array = stored("n", "K", low=0)
    scores: Array = stored("n", "K", low=0)

    def counts(self, block: Block, n_components: int) -> Array:
        """Component counts of the block's documents in the present draw, (n, K)."""
        return self.component_counts


@ALGORITHMS.register
@dataclass(frozen=True)
class Gibbs(Sampler):
    """Direct Gibbs: documents are independent given the loadings, so any threads give one chain.

    Parameters
    ----------
    burn_in : int, default=200
        Sweeps before the first draw.
    n_draws : int, default=100
        Draws that are averaged.
    thin : int, default=1
        Sweeps from one draw to the next.
    keep_draws : bool, default=False
        Keep the component counts, loadings and hyperparameters of every draw.
    forget : bool, default=False
        Drop the draws of the first half of the chain so far, whenever the number of sweeps has
        doubled since draws were last dropped, first after twice ``burn_in``. So the answer at any
        time comes from the last half to three quarters of the chain.
    learn_every : int, default=1
        Sweeps from one move of the hyperparameters to the next; during the burn-in there is one
        after every sweep.
    smooth : int, default=0
        Sweeps at the beginning in which gamma, if it is learnt, is kept at a quarter of its first
        default or above. Smooth components change more easily, so the chain finds good ones sooner
        (theory 4.10). These sweeps belong to the start.
    settle : float, default=0.0
        End the chain early, when log p(W, z) rises no more than this from one quarter of its sweeps
        to the next, in nats per token; 0 makes all sweeps. Small corpora get at least as many
        sweeps as take two or three seconds.
    fold_in : {"fast", "gibbs"}, default="fast"
        How new documents get their component counts, given the components. "fast" splits each token
        by the expected counts of all others, as collapsed variational inference does. "gibbs" draws
        each token at least 150 times: exact in the limit, and about a hundred times slower. It pays
        where P(l = 0) of single documents must be exact. Short documents are always summed exactly.
    """

    name = "gibbs"
    short = "direct"
    summary = "Gibbs sampling, with uncertainty"
    levels: ClassVar[tuple[int, ...]] = (1, 2)  # see ``algorithms.levels``

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """One round of all blocks, and as many partial sums as the work pays for."""
        worth = corpus.n_entries // (ENTRIES_PER_LANE * corpus.n_words)
        lanes = max(1, min(worth, MAX_LANES))
        return Schedule(
            corpus,
            [corpus.blocks],
            lanes=lanes,
            first_lanes=lanes,
            **self._memory(corpus, n_components, lanes),
            state_type=SplitState,
            state_bytes=16 * n_components * corpus.n_documents,
            **self.chain(corpus),
        )

    def _memory(self, corpus: Corpus, n_components: int, lanes: int) -> dict[str, Any]:
        """Estimate the memory: counts, loadings before and after, scores, and the averages."""
        sizes = Sizes.of(corpus, n_components, [corpus.blocks], lanes)
        loadings, sums = sizes.loadings, sizes.sums
        real = 4 if loadings >= SINGLE_FROM else 8
        count = 4 if corpus.n_tokens < 2**31 else 8
        first = max(8 + real % 8, real + count * sums)
        begin = sizes.phase(first * loadings, 16, 8)
        drawn = averages(corpus, n_components, self.n_draws)
        tables = 2 * real + count * (1 + sums)
        visits = sizes.phase(tables * loadings + self.n_averages * sum(drawn), 16, 8)
        found = estimated(sizes, [begin, visits])
        return found | {"kept_bytes": drawn, "lane_bytes": count * loadings}

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Take the loadings of the start; without one, all are equal and tokens fall at random."""
        corpus = schedule.corpus
        counts = start.loading_counts
        if counts is None:
            loadings = even_loadings(params.prior, corpus, params.n_components)
        else:
            loadings = params.prior.mean_given_data(counts)
        loadings = loadings.astype(_precision(loadings), copy=False)
        fits = corpus.n_tokens < 2**31
        none = np.zeros((0, params.n_components), dtype=np.int32 if fits else np.int64)
        return replace(params, loadings=loadings, loading_counts=none)

    def init_state(
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> SplitState:
        """Split every count by the loadings and scores of the start."""
        shape = (block.stop - block.start, params.n_components)
        given = start.scores_of(block)
        scores = np.ones(shape) if given is None else given
        component_counts = np.zeros(shape, dtype=np.int64)
        split(
            block.indptr, block.words, block.counts, params.loadings, scores, component_counts,
            loading_sums(params, lane), clock.seed, block.start,
        )  # fmt: skip
        return SplitState(component_counts, scores.copy())

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:
        """Draw the loadings given the counts."""
        counts = params.loading_counts
        assert counts is not None
        return replace(params, loadings=drawn_loadings(counts, params.prior, clock))

    def step(
        self, params: Params, block: Block, state: SplitState, clock: Clock, lane: Stats
    ) -> None:
        """Draw scores and splits of the block's documents."""
        log_fit, log_factor = np.empty((2, block.stop - block.start))
        sweep(
            block.indptr, block.words, block.counts, block.levels, *params.table, params.loadings,
            state.component_counts, state.scores, loading_sums(params, lane), log_fit, log_factor,
            *clock, block.start,
        )  # fmt: skip
        lengths = state.component_counts.sum(axis=1)
        exposure = params.model.exposure_of_level(params.exposure_levels)[block.levels]
        log_fit += params.model.log_total(state.scores.sum(axis=1), lengths, exposure)
        lane.objective += float(log_factor.sum())
        lane.log_likelihood += float(log_fit.sum())
        lane.n_documents += block.stop - block.start
        if params.learns_scores and self.moves(clock):
            self.augment(params, block, state.component_counts, clock, lane)

    def update(
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        """Keep the counts; the next visit draws loadings from them."""
        counts = stats.loading_sums
        assert counts is not None
        params.prior.add_seeds(counts)
        totals = params.prior.layout.group_sums(counts)
        return replace(params, loading_counts=counts, totals=totals)


def drawn_loadings(counts: Array, prior: LoadingsPrior, clock: Clock) -> Array:
    """Draw Dirichlet loadings given the counts (J, K)."""
    groups = prior.layout.group_of_word
    draws = np.empty(counts.shape, _precision(counts))
    tops = np.empty((prior.layout.n_groups, counts.shape[1]))
    draw_loadings(counts, prior.gamma, groups, draws, tops, *clock)
    if tops.min() < SMALL:  # all of a group may be too small for anything but logs
        draws = draws.astype(np.float64)
        draw_log_loadings(counts, prior.gamma, draws, *clock)
        tops[:] = -np.inf
        np.maximum.at(tops, groups, draws)
        draws = np.exp(draws - tops[groups])
    return prior.normalise(draws, out=draws)


def loading_sums(params: Params, lane: Stats) -> Array:
    """Return the lane's loading counts, of the type of those so far."""
    shape = np.asarray(params.loadings).shape
    return lane.sums(shape, np.asarray(params.loading_counts).dtype)


def _precision(loadings: Array) -> Any:
    return np.float32 if loadings.size >= SINGLE_FROM else np.float64
