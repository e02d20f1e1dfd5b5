# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed variational inference (CVB0): expected counts, each token split by all others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from discan.algorithms.base import ALGORITHMS, Clock, Params, Start, Stats
from discan.algorithms.em import MAP
from discan.algorithms.expectation import FOLD_IN_STEPS, ScoreState, block_lengths
from discan.data.corpus import Block, Corpus
from discan.engines import Engine, pieces
from discan.kernels.cvb0 import (
    KEPT,
    count_tables,
    expect_others,
    renew_counts,
    renew_loadings,
)
from discan.models import ScoreTable
from discan.typing import Array
from discan.validation import number

__all__ = ["CollapsedVariational"]

# The first pass updates the loadings this often, if each time it sees enough documents, and entries
# for the words whose loadings are made anew.
BATCHES = 128
DOCUMENTS_A_BATCH = 100
ENTRIES_A_WORD = 2


@ALGORITHMS.register
@dataclass(frozen=True)
class CollapsedVariational(MAP):
    """Collapsed variational Bayes of order zero: the collapsed sampler with shares for draws.

    A token is split in proportion to what a collapsed Gibbs sweep would draw it by, with expected
    counts for counts, and the token's own share left out of them (Asuncion et al., 2009). That
    share is not kept from pass to pass, which would take a number for every non-zero count and
    component, but worked out again from the scores and loadings. What a token says of itself is
    what a point estimate comes to fit where tokens are few; without it components are as good as
    averages over draws, many times sooner.

    There is no bound. The objective is the log-likelihood of every token given all others; it may
    fall a little from one cycle to the next.

    Parameters
    ----------
    stride : float
        How many times as far as the plain step goes each cycle, at least 1 and less than 2.
    online, batch_entries, delay, decay, visits, inner
        As for every algorithm by expectation.
    """

    stride: float = 1.8

    name = "collapsed-variational"
    short = "cvb0"
    summary = "collapsed variational Bayes, for few tokens per component"
    atoms = ", and expected counts are never zero"
    monotone = False
    documents_a_component = 3
    visits_a_lane = 6

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        number("stride", self.stride, "at least 1 and less than 2", 1.0, np.nextafter(2.0, 1.0))

    def opening(self, corpus: Corpus) -> Self:
        """One online pass of this algorithm, in larger steps the earlier."""
        batches = max(1, min(BATCHES, corpus.n_documents // DOCUMENTS_A_BATCH))
        entries = max(-(-corpus.n_entries // batches), ENTRIES_A_WORD * corpus.n_words)
        return replace(
            self, online=True, batch_entries=entries, delay=0.0, decay=0.6, visits=1, inner=4
        )

    @property
    def _stride(self) -> float:
        """Long strides are for passes over everything."""
        return 1.0 if self.online else self.stride

    # ---- a cycle ----

    def init_state(
        self, params: Params, table: ScoreTable, block: Block, start: Start, clock: Clock
    ) -> ScoreState:
        """As every algorithm by expectation, but scores are taken in the precision they have."""
        if start.scores is None:
            return super().init_state(params, table, block, start, clock)
        scores = start.scores[block.start : block.stop]
        lengths = block_lengths(block)[:, None]
        totals = np.maximum(scores.sum(axis=1, keepdims=True, dtype=np.float64), 1e-300)
        shape = scores * (lengths / totals).astype(scores.dtype)
        shape += table.rows(block.levels).shape
        assert params.loadings is not None
        return ScoreState(shape.astype(params.loadings.dtype, copy=False))

    def start_scores(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState
    ) -> Array:
        """The scores as they are: with many components a copy of them takes time."""
        return np.divide(
            state.score_shape, table.rows(block.levels).rate, dtype=state.score_shape.dtype,
            casting="same_kind",
        )  # fmt: skip

    def with_counts(self, params: Params, counts: Array) -> Params:
        """As MAP, and keep the totals, which a token is taken out of."""
        totals = params.prior.layout.group_sums(counts)
        return replace(super().with_counts(params, counts), totals=totals)

    def update(
        self, params: Params, stats: Stats, share: float, clock: Clock, engine: Engine
    ) -> Params:
        """Move the counts ahead of the new ones; of a batch's, only part of the way."""
        new, counts, prior = stats.loading_sums, params.loading_counts, params.prior
        assert new is not None
        assert counts is not None
        way, notes = self._stride, params.notes
        if share < 1.0:
            way, before, notes = self._blend(params)
            counts = before if "before" not in notes else before.copy()
        least = KEPT if way > 1.0 else 0.0  # only a long stride can go too far
        groups = prior.layout.group_of_word
        cut = pieces(len(counts))
        parts = np.zeros((len(cut), len(prior.totals), params.n_components))
        # made anew once a cycle: what the last one ended with is a callback's, or the last fit's
        loadings = np.asarray(params.loadings)
        if notes.get("cycle") != clock.cycle:
            loadings, notes = np.empty_like(counts), {**notes, "cycle": clock.cycle}

        def go(piece: int) -> None:
            words, sums = cut[piece], parts[piece]
            renew_counts(new, 1.0 / share, way, least, groups, *words, counts, sums)

        def normalise(words: tuple[int, int]) -> None:
            renew_loadings(counts, prior.gamma, groups, inverse, *words, loadings)

        engine.run(go, range(len(cut)))
        totals = parts.sum(axis=0)
        inverse = _inverse(params, totals)
        engine.run(normalise, cut)
        return replace(params, loadings=loadings, loading_counts=counts, totals=totals, notes=notes)

    def tables(self, counts: Array, levels: Array, concentration: Array) -> Array:
        """As MAP, but a small expected count is a chance of one token, not a part of a token."""
        result = np.empty(counts.shape)
        count_tables(counts, levels, concentration, result)
        return result

    def objective(
        self, before: Params, after: Params, stats: Stats, corpus: Corpus, engine: Engine
    ) -> float:
        """Log-likelihood of every token given all others, where the cycle began."""
        return stats.objective

    def _run(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState,
        score_sums: Array | None, steps: int | None = None,
    ) -> Array:  # fmt: skip
        """Call the kernel: so many steps, the last with statistics if asked for, or to the end."""
        collect = score_sums is not None
        objective = np.empty(block.stop - block.start)
        prior, loadings = params.prior, params.loadings
        assert loadings is not None
        n_steps, tolerance, stride = FOLD_IN_STEPS, self.tolerance, self.stride
        inverse = np.zeros((len(prior.totals), params.n_components), loadings.dtype)
        if steps is not None:  # of documents that the loadings are of
            n_steps, tolerance, stride = steps, 0.0, self._stride
            inverse = _inverse(params, params.totals)
        out = loadings[:0] if score_sums is None else score_sums
        expect_others(
            block.indptr, block.words, block.counts, block.levels, table.shape, table.rate,
            loadings, prior.layout.group_of_word, prior.gamma, prior.totals, inverse,
            state.score_shape, out, objective, stride, n_steps, tolerance, collect,
        )  # fmt: skip
        return objective


def _inverse(params: Params, totals: Array | None) -> Array:
    """1 / (Gamma_g + n_gk), (G, K), in the precision of the loadings."""
    assert params.loadings is not None
    assert totals is not None
    return (1.0 / (params.prior.totals[:, None] + totals)).astype(params.loadings.dtype)
