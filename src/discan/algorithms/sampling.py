# SPDX-License-Identifier: BSD-3-Clause
"""What the two Gibbs samplers share: draws, moves of the hyperparameters, fold-in of documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.algorithms.base import Algorithm, Clock, Params, Plan, Posterior, Stats
from discan.data.corpus import Block, Corpus
from discan.engines import Engine, pieces
from discan.errors import InputError, LimitError
from discan.kernels.collapsed import document_counts
from discan.kernels.evidence import fold_in
from discan.kernels.gibbs import augment_loadings, augment_scores
from discan.kernels.objective import log_loadings
from discan.models import ScoreTable
from discan.models.hyperparameters import AugmentedScores
from discan.typing import Array
from discan.validation import whole

__all__ = ["Sampler", "check_tokens"]

FOLD_IN_BURN_IN = 50
FOLD_IN_WORK = 2_000_000  # token x component updates a document
FEW_COUNTS = 2**18  # of words and components, too few to be gone through by several threads
LONGEST = 10_000_000  # tokens of a document that is folded in token by token


@dataclass(frozen=True)
class Sampler(Algorithm):
    """Options of a chain.

    Parameters
    ----------
    burn_in : int
        Sweeps before the first draw.
    n_draws : int
        Draws that are averaged.
    thin : int
        Sweeps from one draw to the next.
    keep_draws : bool
        Keep the component counts, loadings and hyperparameters of every draw.
    forget : bool
        Drop the draws so far whenever there have been twice as many sweeps as when they were last
        dropped, first after ``burn_in``, unless less than two fifths of the chain are left: an
        answer at any time, from the latter part of the chain.
    """

    burn_in: int = 200
    n_draws: int = 100
    thin: int = 1
    keep_draws: bool = False
    forget: bool = False

    whole_counts = True
    monotone = False

    def __post_init__(self) -> None:
        """Check the options."""
        whole("burn_in", self.burn_in, 0)
        whole("n_draws", self.n_draws, 1)
        whole("thin", self.thin, 1)

    def check(self, corpus: Corpus) -> None:
        """Every count must be a 32-bit whole number."""
        if not corpus.integral:
            at = int(np.argmax(np.rint(corpus.counts) != corpus.counts))
            row = int(np.searchsorted(corpus.indptr, at, side="right")) - 1
            raise InputError(
                f"count {corpus.counts[at]:g} at row {row}, column {corpus.words[at]} is not a "
                f"whole number; algorithm={self.name!r} draws tokens: round the counts, or use "
                "algorithm='variational'"
            )
        if corpus.counts.dtype.kind != "i":
            raise LimitError(
                "a count above 2,147,483,647 is too large for a sampler; use "
                "algorithm='variational'"
            )

    def can_draw(self, corpus: Corpus) -> bool:
        """Whether tokens of this corpus can be drawn."""
        try:
            self.check(corpus)
        except (InputError, LimitError):
            return False
        return True

    def plan(self, max_iter: int | None) -> Plan:
        """Burn-in and draws; a shorter ``max_iter`` spends at most half on burn-in."""
        n_cycles = self.burn_in + self.n_draws * self.thin
        if max_iter is None:
            return Plan(n_cycles, self.burn_in, self.thin)
        return Plan(max_iter, min(self.burn_in, max_iter // 2), self.thin)

    def forgets(self, cycle: int, plan: Plan) -> bool:
        """Whether the draws before the end of this cycle are dropped."""
        times, rest = divmod(cycle, max(plan.burn_in, 1))
        doubled = rest == 0 and times.bit_count() == 1
        return self.forget and doubled and 5 * cycle <= 3 * plan.n_cycles

    def component_counts(self, params: Params, block: Block, state: Any) -> Array:
        """Component counts of the block's documents in the current draw, (n, K)."""
        if not isinstance(state, np.ndarray):
            return np.asarray(state.component_counts)
        # a chain that keeps a component for every token
        counts = np.zeros((block.stop - block.start, params.n_components), dtype=np.int64)
        document_counts(block.indptr, block.counts, state, counts)
        return counts

    def augment(
        self, params: Params, table: ScoreTable, block: Block, component_counts: Array,
        clock: Clock, lane: Stats,
    ) -> None:  # fmt: skip
        """Draw what the moves of alpha, beta and rho need, given the counts of the block."""
        if not params.learns_scores:
            return
        n_components = params.n_components
        tables = np.zeros(n_components, dtype=np.int64)
        active = np.zeros(table.shape.shape, dtype=np.int64)
        scores, log_beta = np.zeros(n_components), np.zeros(1)
        augment_scores(
            component_counts, block.levels, *table, tables, active, scores, log_beta,
            *clock, block.start,
        )  # fmt: skip
        sums = AugmentedScores(
            tables, active, scores, float(log_beta[0]), block.stop - block.start,
            params.notes["exposure_levels"],
        )  # fmt: skip
        lane.scores = sums if lane.scores is None else lane.scores + sums  # type: ignore[operator]

    def finish(self, params: Params, stats: Stats, clock: Clock) -> Params:
        """Draw the hyperparameters (spec 5.3)."""
        if not params.learn:
            return params
        rng = np.random.Generator(
            np.random.Philox(key=int(clock.seed), counter=[0, 0, 0, clock.cycle + 1])
        )
        if isinstance(stats.scores, AugmentedScores):
            model = params.model.resample(params.learn, stats.scores, params.hyperprior, rng)
            params = replace(params, model=model)
        if "gamma" in params.learn:
            prior = params.prior
            tables = np.zeros(len(prior.gamma), dtype=np.int64)
            log_beta = np.zeros(len(prior.totals))
            augment_loadings(
                params.loading_counts, params.totals, prior.gamma, prior.totals,
                tables, log_beta, *clock,
            )  # fmt: skip
            prior = prior.resample(tables, log_beta, params.hyperprior.gamma, rng)
            params = replace(params, prior=prior)
        return params

    def objective(
        self, before: Params, after: Params, stats: Stats, corpus: Corpus, engine: Engine
    ) -> float:
        """Log p(W, z), scores and loadings integrated out, at the end of the sweep."""
        prior = before.prior
        counts, totals = np.asarray(after.loading_counts), np.asarray(after.totals)

        def term(piece: tuple[int, int]) -> float:
            words = slice(*piece)
            nothing = totals[:0] if words.start else totals  # what is of all words counts once
            return float(log_loadings(counts[words], nothing, prior.gamma[words], prior.totals))

        terms = engine.run(term, pieces(len(counts), 1 if counts.size < FEW_COUNTS else 8))
        constants = before.model.log_constant(corpus.lengths)
        return stats.objective + float(constants.sum()) + sum(terms)

    def infer(self, params: Params, table: ScoreTable, block: Block, seed: np.uint64) -> Posterior:
        """Gibbs over a document's tokens with its scores integrated out and loadings fixed."""
        check_tokens(block, "use algorithm='variational'")
        counts = np.zeros((block.stop - block.start, table.shape.shape[1]))
        empty = np.zeros_like(counts)
        fold_in(
            block.indptr, block.words, block.counts, block.levels, *table, params.loadings,
            counts, empty, FOLD_IN_BURN_IN, FOLD_IN_WORK // counts.shape[1], seed,
        )  # fmt: skip
        rows = table.rows(block.levels)
        absent = empty * (1.0 - rows.present)
        return Posterior(counts, *params.model.mixed_moments(counts, rows, absent))

    def mean_loadings(self, params: Params) -> Array:
        """Posterior mean given the counts of the current draw."""
        return params.prior.mean(np.asarray(params.loading_counts))


def check_tokens(block: Block, instead: str) -> None:
    """Refuse documents too long, or counts too large, to be worked through token by token."""
    if block.counts.dtype.kind == "i":
        counts = block.counts[block.indptr[0] : block.indptr[-1]]
        ends = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        fits = np.diff(ends[block.indptr - block.indptr[0]]).max(initial=0) <= LONGEST
    else:
        fits = False
    if not fits:
        raise LimitError(
            f"a document has more than {LONGEST:,} tokens or a count above 2,147,483,647, too many "
            f"to draw one by one; {instead}"
        )
