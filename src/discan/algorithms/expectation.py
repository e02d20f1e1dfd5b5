# SPDX-License-Identifier: BSD-3-Clause
"""Base of the deterministic algorithms: expected splits of counts, kept as score shapes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma

from discan.algorithms.base import Algorithm, Clock, Cycle, Params, Posterior, Start
from discan.algorithms.footprint import Sizes, Tables
from discan.algorithms.online import Blend, OnlineOptions, even_batch
from discan.algorithms.refusals import process_refusal
from discan.algorithms.schedule import MAX_LANES, Schedule, most_cycles
from discan.algorithms.score_states import ScoreState, even_state
from discan.algorithms.statistics import Stats
from discan.data.blocks import BLOCK_ENTRIES, Block, BlockRef
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import DiscanError, InputError
from discan.kernels.active_set import solve_scores
from discan.kernels.variational import expect, expect_conditional
from discan.models import LoadingsPrior, Model
from discan.models.hyperparameters import FLAT, AugmentedScores, Mode, expected_tables
from discan.typing import Array

__all__ = ["FOLD_IN_STEPS", "FOLD_IN_TOLERANCE", "Expectation"]

# A fold-in by plain steps stops when a step moves less than this fraction of a document's words.
FOLD_IN_TOLERANCE = 1e-7
FOLD_IN_STEPS = 1000
# Steps that leave inactive components out, and extrapolate, are for bounds and all but old files.
SETTLE_TOLERANCE = 1e-9
SETTLE_STEPS = 10_000
# Version 0.1 made plain steps if there were fewer components.
FORMERLY_SETTLE_FROM = 16
# From this many products of a count and a component on, point estimates use single precision.
SINGLE_FROM = 10_000_000
# Scores divided by rates further from 1 could be too large or too small for it.
SINGLE_RATE = 1e12
# In single precision, sums over the entries of longer documents would lose several digits.
SINGLE_ENTRIES = 4096
WORDS_AT_ONCE = 4096
# Number of batches of an online fit, if each has enough documents.
BATCHES = 16
DOCUMENTS_PER_BATCH = 100
# A batch is put together from this many places of the corpus, so that its order does not matter.
PLACES = 16


@dataclass(frozen=True)
class Expectation(OnlineOptions, Algorithm):
    """Base of the deterministic algorithms; subclasses choose the link and the loadings."""

    memory_type: ClassVar[Any] = Blend
    geometric_mean: ClassVar[bool] = False
    # visited entries per word from which on another partial sum of J x K numbers pays
    entries_per_lane: ClassVar[int] = 10
    tables_held: ClassVar[Tables] = Tables()

    @property
    def monotone(self) -> bool:
        """Whether the objective never falls: online, each batch has its own."""
        return not self.online

    # ---- before a fit ----

    def learning_refusal(self, model: Model, learn: frozenset[str]) -> DiscanError | None:
        """Refuse models and hyperparameters that expected counts would get wrong."""
        if refusal := process_refusal(self.name, model):
            return refusal
        wrong = sorted(learn & self.cannot_learn)
        if not wrong:
            return None
        return InputError(
            f"{self.name} cannot learn {' and '.join(wrong)}: it spreads each token over several "
            "components, so alpha would come out several times too large",
            use={"algorithm": ("collapsed", "gibbs", "variational")},
        )

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """One round of all blocks, or a round per batch."""
        lanes = self._lanes(corpus)
        rounds = self._batches(corpus) if self.online else [corpus.blocks]
        return Schedule(
            corpus,
            rounds,
            lanes=lanes,
            **self.tables_held.memory(
                Sizes.of(corpus, n_components, rounds, lanes),
                self.real(corpus, n_components),
                self.online,
            ),
            start="words" if self.online else "documents",
            visits=self.visits if self.online else 1,
            cycles=most_cycles(corpus),
            state_bytes=np.dtype(self.real(corpus, n_components)).itemsize
            * n_components
            * corpus.n_documents,
            state_type=ScoreState,
            memory_type=self.memory_type,
        )

    def real(self, corpus: Corpus, n_components: int) -> Any:
        """Type of loadings and scores for usual rates."""
        large = corpus.n_entries * n_components >= SINGLE_FROM
        short = corpus.n_entries <= SINGLE_ENTRIES * corpus.n_documents
        return np.float32 if large and short and not self.geometric_mean else np.float64

    def _batches(self, corpus: Corpus) -> list[Sequence[BlockRef]]:
        """Batches of documents, each taken from all over the corpus."""
        entries = self._entries(corpus)
        pieces = corpus.blocks_of(max(1, min(entries // PLACES, BLOCK_ENTRIES)))
        n_batches = min(len(pieces), max(1, round(corpus.n_entries / entries)))
        return [pieces[start::n_batches] for start in range(n_batches)]

    def _entries(self, corpus: Corpus) -> int:
        """Non-zeros in a batch."""
        if self.batch_entries is not None:
            return self.batch_entries
        return even_batch(corpus, BATCHES, DOCUMENTS_PER_BATCH)

    def _lanes(self, corpus: Corpus) -> int:
        """Number of partial sums that the work on a round's entries pays for."""
        entries = corpus.n_entries
        if self.online:
            entries = min(self._entries(corpus), entries)
        visited = entries * (1 + self._inner_steps()) // 2
        worth = visited // (self.entries_per_lane * corpus.n_words)
        lanes = max(1, min(worth, MAX_LANES))
        return int(2 ** (lanes.bit_length() - 1))  # few threads share a power of two evenly

    def _inner_steps(self) -> int:
        """Steps per visit: one if the documents are seen again soon, more when online."""
        if self.inner is not None:
            return self.inner
        return 2 if self.online else 1

    # ---- start ----

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Start from the given expected counts, or from word totals times random noise."""
        counts, corpus = start.loading_counts, schedule.corpus
        if counts is None:
            rng = np.random.Generator(np.random.Philox(key=int(clock.seed)))
            noise = rng.standard_exponential((corpus.n_words, params.n_components))
            counts = corpus.word_totals[:, None] / params.n_components * noise
        params = replace(params, memory=self.memory_type())
        counts = counts.astype(self.precision(corpus, params))
        return self.with_counts(params, params.prior.add_seeds(counts))

    def precision(self, corpus: Corpus, params: Params) -> Any:
        """Type of loadings and scores. Geometric means can be too small for single precision."""
        rate = params.table.rate
        usual = bool(((rate >= 1.0 / SINGLE_RATE) & (rate <= SINGLE_RATE)).all())
        return self.real(corpus, params.n_components) if usual else np.float64

    def init_state(
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> ScoreState:
        """Split each document evenly over the components, or by the given scores."""
        return even_state(params, block, start.scores_of(block))

    def start_scores(self, params: Params, block: Block, state: ScoreState) -> Array:
        """Scores of the block's documents for another fit to start from, (n, K), any scale."""
        return self.read(params, block, state).scores

    # ---- a visit ----

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:
        """Raise the loadings to the power of the responsibilities."""
        return _tempered(params)

    def begin_step(self, params: Params, block: Block, state: ScoreState) -> None:
        """Take all inner steps but the last, which alone adds to the expected counts."""
        steps = self._inner_steps() - 1
        if steps > 0 and not params.can_be_absent:
            self._expect(params, block, state, None, steps)

    def step(
        self, params: Params, block: Block, state: ScoreState, clock: Clock, lane: Stats
    ) -> None:
        """Update the scores; add expected loading counts and sums of scores."""
        loadings = np.asarray(params.loadings)
        sums = lane.sums(loadings.shape, loadings.dtype)
        objective = self._expect(params, block, state, sums, 1)
        lane.divisor = self._divisor(params)
        lane.objective += float(objective.sum())
        lane.n_documents += block.stop - block.start
        if params.learns_scores:
            lane.add_scores(self.score_sums(params, block, state))

    def _divisor(self, params: Params) -> Array | None:
        """Return what the kernel's sums are still to be multiplied by."""
        return None if params.can_be_absent else params.loadings

    def update(
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        """Set the loadings from the expected counts, or blend them with those of the batch."""
        counts = stats.loading_sums
        assert counts is not None
        if not self.online or fraction >= 1.0:
            return self.with_counts(params, params.prior.add_seeds(counts))
        params.prior.add_seeds(counts, fraction)
        weight, before, memory = self._blend(params)
        counts *= weight / fraction
        counts += (1.0 - weight) * before
        return self.with_counts(replace(params, memory=memory), counts)

    def _blend(self, params: Params) -> tuple[float, Array, Any]:
        """Weight of the present batch, the counts of all before it, and the new memory.

        A later visit of a batch replaces the earlier ones: all blend with the same counts, which
        are remembered until the last visit.
        """
        memory = params.memory
        batch, visit = divmod(memory.updates, self.visits)
        before = params.loading_counts if memory.before is None else memory.before
        kept = before if visit + 1 < self.visits else None
        memory = replace(memory, updates=memory.updates + 1, before=kept)
        return (self.delay + 1.0 + batch) ** -self.decay, np.asarray(before), memory

    def with_counts(self, params: Params, counts: Array) -> Params:
        """Return the parameters with point loadings theta proportional to gamma + counts."""
        return replace(params, loadings=params.prior.mean(counts), loading_counts=counts)

    # ---- hyperparameters, from expected counts ----

    def score_sums(self, params: Params, block: Block, state: ScoreState) -> Any:
        """Expected auxiliary variables given the expected counts."""
        table = params.table
        rows = table.rows(block.levels)
        counts = state.score_shape - rows.shape
        total = rows.shape.sum(axis=1)
        active = np.bincount(block.levels, minlength=len(table.shape))[:, None]
        return AugmentedScores(
            self.tables(counts, block.levels, table.shape).sum(axis=0),
            np.repeat(active, params.n_components, axis=1),
            (state.score_shape / rows.rate).sum(axis=0),
            float((digamma(total) - digamma(counts.sum(axis=1) + total)).sum()),
            len(counts),
            params.exposure_levels,
        )

    def tables(self, counts: Array, levels: Array, concentration: Array) -> Array:
        """Mean of CRT(c, a) for expected counts (n, K), a from the rows ``levels`` (n,)."""
        return expected_tables(counts, concentration[levels])

    def finish(
        self, before: Params, params: Params, stats: Stats, clock: Clock, schedule: Schedule,
        engine: Engine,
    ) -> Cycle:  # fmt: skip
        """Report the objective where the cycle began, and learn the hyperparameters."""
        return Cycle(self.learnt(params, stats), self.objective(before, stats, schedule.corpus))

    def learnt(self, params: Params, stats: Stats) -> Params:
        """Make one ascent step of the hyperparameters given the expected counts (theory 5.2)."""
        if isinstance(stats.scores, AugmentedScores):
            params = params.with_model(
                params.model.resample(params.learn, stats.scores, FLAT, Mode())
            )
        if "gamma" in params.learn:
            params = replace(params, prior=self._learnt_prior(params))
        return params

    def _learnt_prior(self, params: Params) -> LoadingsPrior:
        prior, counts = params.prior, np.asarray(params.loading_counts)
        log_beta = prior.expected_log_beta(prior.layout.group_sums(counts))
        seeds = prior.seeds
        others = counts if seeds is None else seeds.left_out(counts)
        tables = np.empty(len(counts))
        for first in range(0, len(counts), WORDS_AT_ONCE):  # tables of all words would be large
            words = slice(first, first + WORDS_AT_ONCE)
            gamma = np.repeat(prior.gamma[words, None], counts.shape[1], axis=1)
            tables[words] = self.tables(others[words], np.arange(len(gamma)), gamma).sum(axis=1)
        if seeds is not None:
            np.add.at(tables, seeds.words, seeds.expected_tables(counts, prior.gamma))
        return prior.resample(tables, log_beta, FLAT.gamma, Mode())

    @abstractmethod
    def objective(self, before: Params, stats: Stats, corpus: Corpus) -> float:
        """Return the objective where the cycle began, constants included."""

    # ---- answers ----

    def read(self, params: Params, block: Block, state: ScoreState) -> Posterior:
        """Return expected counts and scores under q."""
        rows = params.table.rows(block.levels)
        shape = state.score_shape.astype(np.float64)
        counts, absent = state.component_counts, state.absent
        if counts is None:
            counts = shape - rows.shape
        if absent is None:
            absent = np.zeros_like(shape)
        return Posterior(np.maximum(counts, 0.0), *params.model.moments_of(shape, rows, absent))

    def infer(self, params: Params, block: Block, seed: np.uint64) -> Posterior:
        """Iterate each document to its own convergence, from an even start."""
        state, tolerance = even_state(params, block), self.fold_in_tolerance
        if tolerance is None and params.n_components >= FORMERLY_SETTLE_FROM:
            tolerance = SETTLE_TOLERANCE
        self._converge(_tempered(params), block, state, tolerance)
        return self.read(params, block, state)

    def document_objective(self, params: Params, block: Block) -> Array:
        """Objective of new documents at convergence, up to the model's constant, (n,)."""
        return self._converge(params, block, even_state(params, block), SETTLE_TOLERANCE)

    def _converge(
        self, params: Params, block: Block, state: ScoreState, tolerance: float | None
    ) -> Array:
        """Iterate the scores to convergence; return the objective. None makes plain steps only."""
        steps = FOLD_IN_STEPS
        if tolerance is not None and params.power == 1.0 and not params.can_be_absent:
            solve_scores(
                block.indptr, block.words, block.counts, block.levels, params.table.shape,
                params.table.rate, params.loadings, state.score_shape,
                self.geometric_mean, SETTLE_STEPS, tolerance,
            )  # fmt: skip
            steps = 1  # records the answer
        return self._expect(params, block, state, None, steps, FOLD_IN_TOLERANCE)

    def _expect(
        self, params: Params, block: Block, state: ScoreState, sums: Array | None,
        steps: int, tolerance: float = 0.0,
    ) -> Array:  # fmt: skip
        """Call the kernel for ``steps`` steps, or to convergence; the last adds to ``sums``."""
        collect = sums is not None
        objective = np.empty(block.stop - block.start)
        table, loadings = params.table, params.loadings
        assert loadings is not None
        out = sums if sums is not None else np.empty_like(loadings[:0])
        head = (block.indptr, block.words, block.counts, block.levels)
        if params.can_be_absent:
            expect_conditional(
                *head, *table, np.log(np.maximum(loadings, 1e-300)),
                state.score_shape, state.absent, state.damping, state.component_counts,
                out, objective, 5 if collect else FOLD_IN_STEPS, 1e-9, collect,
            )  # fmt: skip
            return objective
        expect(
            *head, table.shape, table.rate, loadings, state.score_shape, out, objective,
            self.geometric_mean, params.power, steps, tolerance, collect,
        )  # fmt: skip
        return objective


def _tempered(params: Params) -> Params:
    """Return the parameters with the loadings raised to the power of the responsibilities."""
    if params.power == 1.0:
        return params
    return replace(params, loadings=np.asarray(params.loadings) ** params.power)
