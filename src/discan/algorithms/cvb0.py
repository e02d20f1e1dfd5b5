# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed variational inference (CVB0): each token is split by the expected counts of all others.

See theory 4.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from discan.algorithms.base import ALGORITHMS, Clock, Params, Posterior, Start, levels_refusal
from discan.algorithms.expectation import FOLD_IN_STEPS, FOLD_IN_TOLERANCE, Expectation
from discan.algorithms.fold_in import TOLERANCE, fold_in_others
from discan.algorithms.footprint import Tables
from discan.algorithms.online import Blend, even_batch
from discan.algorithms.refusals import atom_refusal
from discan.algorithms.schedule import Schedule
from discan.algorithms.score_states import ScoreState, block_lengths, even_state
from discan.algorithms.statistics import Stats
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.data.rules import stored
from discan.engines import Engine, pieces
from discan.errors import DiscanError
from discan.kernels.cvb0 import (
    KEPT,
    count_tables,
    expect_others,
    renew_counts,
    renew_loadings,
)
from discan.models import Model
from discan.typing import Array
from discan.validation import number

__all__ = ["CollapsedVariational"]

# Number of batches of the first pass, if each has enough documents, and enough entries per word
# whose loadings are renewed.
BATCHES = 128
DOCUMENTS_PER_BATCH = 100
ENTRIES_PER_WORD = 2


@dataclass(frozen=True)
class Renewal(Blend):
    """Memory of an online fit, and the cycle in which the array of loadings was made."""

    cycle: int = stored(types="whole", low=-1, default=-1)


@ALGORITHMS.register
@dataclass(frozen=True)
class CollapsedVariational(Expectation):
    """Collapsed variational Bayes of order zero: the collapsed sampler without draws.

    A token is split in proportion to the probabilities of a collapsed Gibbs sweep, with expected
    counts for counts, and the token's own part left out of them (Asuncion et al., 2009). That part
    is not kept from pass to pass, which would take a number per non-zero count and component, but
    computed again from the scores and loadings. Point estimates overfit because each token counts
    itself. Without that, components are as good as averages over draws, many times sooner.

    It learns gamma, but leaves alpha and beta to the samplers: from expected counts alpha comes out
    two to four times too large. There is no bound. The objective is the log-likelihood of every
    token given all others; it may fall a little from one cycle to the next.

    Parameters
    ----------
    stride : float
        Factor by which each cycle goes further than the plain step, at least 1 and less than 2.
    online, batch_entries, delay, decay, visits, inner, fold_in_tolerance
        As for ``MAP``; here a tolerance of 1e-4 is as good as any.
    """

    stride: float = 1.8
    fold_in_tolerance: float | None = field(default=TOLERANCE, kw_only=True)

    name = "collapsed-variational"
    short = "cvb0"
    summary = "collapsed variational Bayes, for few tokens per component"
    memory_type = Renewal
    monotone = False
    documents_per_component = 3
    cannot_learn = frozenset({"alpha", "beta", "rho"})
    entries_per_lane = 6
    tables_held = Tables(online=0)

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        number("stride", self.stride, "at least 1 and less than 2", 1.0, np.nextafter(2.0, 1.0))

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Refuse to learn alpha, and a model whose scores can be exactly zero."""
        why = ", and expected counts are never zero"
        return (
            levels_refusal(self, model)
            or self.learning_refusal(model, learn)
            or atom_refusal(self.name, model, why)
        )

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """Start from one online pass of this algorithm, in larger steps at first."""
        entries = even_batch(corpus, BATCHES, DOCUMENTS_PER_BATCH)
        entries = max(entries, ENTRIES_PER_WORD * corpus.n_words)
        first_pass = replace(
            self, online=True, batch_entries=entries, delay=0.0, decay=0.6, visits=1, inner=4
        )
        return replace(super().plan(corpus, n_components, seed), first_pass=first_pass)

    @property
    def _stride(self) -> float:
        """Factor of the present fit: long strides are for passes over all documents."""
        return 1.0 if self.online else self.stride

    # ---- start ----

    def init_state(
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> ScoreState:
        """Split each document evenly or by the given scores, in the precision that they have."""
        scores = start.scores_of(block)
        if scores is None:
            return super().init_state(params, block, start, clock, lane)
        lengths = block_lengths(block)[:, None]
        totals = np.maximum(scores.sum(axis=1, keepdims=True, dtype=np.float64), 1e-300)
        shape = scores * (lengths / totals).astype(scores.dtype)
        shape += params.table.rows(block.levels).shape
        assert params.loadings is not None
        return ScoreState(shape.astype(params.loadings.dtype, copy=False))

    def start_scores(self, params: Params, block: Block, state: ScoreState) -> Array:
        """Return the scores in their own precision: a copy of many components takes time."""
        shape = state.score_shape
        rate = params.table.rows(block.levels).rate
        return np.divide(shape, rate, dtype=shape.dtype, casting="same_kind")

    # ---- a visit ----

    def with_counts(self, params: Params, counts: Array) -> Params:
        """Set point loadings, and the totals that a token is taken out of."""
        totals = params.prior.layout.group_sums(counts)
        return replace(super().with_counts(params, counts), totals=totals)

    def _divisor(self, params: Params) -> None:
        """Return None: the kernel's sums are expected counts."""

    def update(
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        """Move the counts beyond the new ones; with a batch, only part of the way."""
        new, counts, prior = stats.loading_sums, params.loading_counts, params.prior
        assert new is not None
        assert counts is not None
        prior.add_seeds(new, fraction)
        way, memory = self._stride, params.memory
        if fraction < 1.0:
            way, before, memory = self._blend(params)
            counts = before if memory.before is None else before.copy()
        least = KEPT if way > 1.0 else 0.0  # only a long stride can go too far
        groups = prior.layout.group_of_word
        cut = pieces(len(counts))
        parts = np.zeros((len(cut), len(prior.totals), params.n_components))
        # made once per cycle: a callback or an earlier fit may hold the array of the last cycle
        loadings = np.asarray(params.loadings)
        if memory.cycle != clock.cycle:
            loadings, memory = np.empty_like(counts), replace(memory, cycle=clock.cycle)

        def move(piece: int) -> None:
            words, sums = cut[piece], parts[piece]
            renew_counts(new, 1.0 / fraction, way, least, groups, *words, counts, sums)

        def normalise(words: tuple[int, int]) -> None:
            renew_loadings(counts, prior.gamma, groups, inverse, *words, loadings)

        engine.run(move, range(len(cut)))
        totals = parts.sum(axis=0)
        inverse = _inverse(params, totals)
        engine.run(normalise, cut)
        return replace(
            params, loadings=loadings, loading_counts=counts, totals=totals, memory=memory
        )

    def tables(self, counts: Array, levels: Array, concentration: Array) -> Array:
        """Mean of CRT(c, a), where a small expected count is a probability of one token."""
        result = np.empty(counts.shape)
        count_tables(counts, levels, concentration, result)
        return result

    def objective(self, before: Params, stats: Stats, corpus: Corpus) -> float:
        """Log-likelihood of every token given all others, where the cycle began."""
        return stats.objective

    def _expect(
        self, params: Params, block: Block, state: ScoreState, sums: Array | None,
        steps: int, tolerance: float = 0.0,
    ) -> Array:  # fmt: skip
        """Call the kernel for ``steps`` steps; the last one adds to ``sums``."""
        inverse = _inverse(params, params.totals)  # the loadings include these documents
        return self._split(params, block, state, sums, inverse, self._stride, steps, tolerance)

    # ---- answers ----

    def infer(self, params: Params, block: Block, seed: np.uint64) -> Posterior:
        """Split the tokens of each document to its own convergence, from an even start."""
        if self.fold_in_tolerance is None:
            state = even_state(params, block)
            self._converge(params, block, state, None)
            return self.read(params, block, state)
        counts, _ = fold_in_others(params, block, self.fold_in_tolerance, self.stride)
        return self.read(params, block, ScoreState(counts + params.table.rows(block.levels).shape))

    def _converge(
        self, params: Params, block: Block, state: ScoreState, tolerance: float | None
    ) -> Array:
        """Iterate the scores by the kernel of the fit; return the objective."""
        precision = np.asarray(params.loadings).dtype
        inverse = np.zeros((len(params.prior.totals), params.n_components), precision)
        return self._split(
            params, block, state, None, inverse, self.stride, FOLD_IN_STEPS,
            FOLD_IN_TOLERANCE if tolerance is None else tolerance,
        )  # fmt: skip

    def _split(
        self, params: Params, block: Block, state: ScoreState, sums: Array | None, inverse: Array,
        stride: float, steps: int, tolerance: float,
    ) -> Array:  # fmt: skip
        objective = np.empty(block.stop - block.start)
        table, prior, loadings = params.table, params.prior, params.loadings
        assert loadings is not None
        out = np.empty((0, 0), loadings.dtype) if sums is None else sums
        expect_others(
            block.indptr, block.words, block.counts, block.levels, table.shape, table.rate,
            loadings, prior.layout.group_of_word, prior.gamma, prior.totals, inverse,
            state.score_shape, out, objective, stride, steps, tolerance, sums is not None,
        )  # fmt: skip
        return objective


def _inverse(params: Params, totals: Array | None) -> Array:
    """1 / (Gamma_g + n_gk), (G, K), in the precision of the loadings."""
    assert params.loadings is not None
    assert totals is not None
    return (1.0 / (params.prior.totals[:, None] + totals)).astype(params.loadings.dtype)
