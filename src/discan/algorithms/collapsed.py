# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed (Rao-Blackwellised) Gibbs sampling, exact or by frozen blocks (spec 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from discan.algorithms.base import ALGORITHMS, Clock, Params, Posterior, Start, Stats
from discan.algorithms.sampling import Sampler
from discan.checks import one_of, whole
from discan.data.corpus import BLOCK_ENTRIES, Block, Corpus
from discan.errors import LimitError
from discan.kernels.collapsed import apply_moves, assign, count_tokens, document_counts, sweep
from discan.models import ScoreTable
from discan.typing import Array

__all__ = ["Collapsed"]

# From this many tokens on the default is the blocked schedule.
BLOCKED_FROM = 200_000
BLOCKS_A_ROUND = 8
MOST_TOKENS = 2**30


@ALGORITHMS.register
@dataclass(frozen=True)
class Collapsed(Sampler):
    """Collapsed Gibbs: scores and loadings integrated out, a component drawn for every token.

    Parameters
    ----------
    burn_in, n_draws, thin, keep_draws
        As for every sampler.
    schedule : {"auto", "exact", "blocked"}
        "exact" is one sequential sweep, on one thread. "blocked" freezes the word counts within
        each of ``n_rounds`` runs of documents (the token itself excluded) and brings them up to
        date in between: an approximation, on any number of threads with the same draws. "auto" is
        exact below 200,000 tokens. Which one ran is in the fit's settings.
    n_rounds : int
        Rounds of the blocked schedule.
    """

    schedule: str = "auto"
    n_rounds: int = 8

    name = "collapsed"
    short = "cgs"

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        one_of("schedule", self.schedule, ("auto", "exact", "blocked"))
        whole("n_rounds", self.n_rounds, 1)

    def check(self, corpus: Corpus) -> None:
        """A component is kept for every token."""
        super().check(corpus)
        if corpus.n_tokens > MOST_TOKENS:
            raise LimitError(
                f"{corpus.n_tokens:,} tokens are too many to keep a component for each; use "
                "algorithm='gibbs' or 'variational', which split whole counts"
            )

    def _live(self, corpus: Corpus) -> bool:
        if self.schedule == "auto":
            return corpus.n_tokens < BLOCKED_FROM
        return self.schedule == "exact"

    def settings(self, corpus: Corpus) -> dict[str, Any]:
        """Record the schedule that ran."""
        return {"schedule": "exact" if self._live(corpus) else "blocked"}

    def rounds(self, corpus: Corpus) -> Sequence[Sequence[Block]]:
        """One round of all blocks in order, or ``n_rounds`` runs of smaller blocks."""
        if self._live(corpus):
            return [corpus.blocks]
        pieces = self.n_rounds * BLOCKS_A_ROUND
        blocks = corpus.blocks_of(min(BLOCK_ENTRIES, max(1, corpus.n_entries // pieces)))
        edges = np.linspace(0, len(blocks), self.n_rounds + 1).astype(int)
        return [blocks[a:b] for a, b in pairwise(edges) if b > a]

    def n_lanes(self, corpus: Corpus, n_components: int) -> int:
        """One lane keeps the exact sweep in order; moves need no sums, so lanes cost nothing."""
        return 1 if self._live(corpus) else BLOCKS_A_ROUND

    def bytes_needed(self, corpus: Corpus, n_components: int) -> int:
        """Estimate the memory of a fit: assignments and moves, counts, averages."""
        averages = 8 * n_components * (5 * corpus.n_documents + 3 * corpus.n_words)
        return 4 * int(corpus.n_tokens) + 4 * n_components * corpus.n_words + averages

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Loadings of the start; all alike if none are given, then tokens fall at random."""
        shape = (corpus.n_words, params.n_components)
        counts = start.loading_counts
        loadings = np.ones(shape) if counts is None else params.prior.mean(counts)
        notes = {"exposure_levels": corpus.exposure_levels, "live": int(self._live(corpus))}
        return replace(params, loadings=loadings, notes=notes)

    def init_state(
        self, params: Params, table: ScoreTable, block: Block, start: Start, clock: Clock
    ) -> Array:
        """Draw the component of every token by the loadings and scores of the start."""
        shape = (block.stop - block.start, params.n_components)
        scores = np.ones(shape) if start.scores is None else start.scores[block.start : block.stop]
        dtype = np.uint16 if params.n_components <= 2**16 else np.uint32
        assignments = np.empty(block.token_stop - block.token_start, dtype=dtype)
        assign(
            block.indptr, block.words, block.counts, params.loadings, scores, assignments,
            clock.seed, block.start,
        )  # fmt: skip
        return assignments

    def join(self, params: Params, corpus: Corpus, states: Sequence[Array], clock: Clock) -> Params:
        """Count the first assignments."""
        counts = np.zeros((corpus.n_words, params.n_components), dtype=np.int32)
        blocks = [block for part in self.rounds(corpus) for block in part]
        for block, assignments in zip(blocks, states, strict=True):
            count_tokens(block.indptr, block.words, block.counts, assignments, counts)
        totals = params.prior.layout.group_sums(counts)
        return replace(params, loadings=None, loading_counts=counts, totals=totals)

    def step(
        self, params: Params, table: ScoreTable, block: Block, state: Array, clock: Clock,
        lane: Stats,
    ) -> None:  # fmt: skip
        """Redraw every token of the block."""
        live, prior = params.notes["live"], params.prior
        moves = _room(0 if live else len(state), state.dtype)
        log_factor = np.empty(block.stop - block.start)
        n_moved = sweep(
            block.indptr, block.words, block.counts, block.levels, *table,
            prior.layout.group_of_word, prior.gamma, prior.totals,
            params.loading_counts, params.totals, state,
            *moves, log_factor, live, *clock, block.start,
        )  # fmt: skip
        if not live:
            words, old, new = (part[:n_moved] for part in moves)
            lane.moves.append((words, old, new))
        lane.objective += float(log_factor.sum())
        lane.n_documents += block.stop - block.start
        if params.learns_scores:
            self.augment(params, table, block, _counts(params, block, state), clock, lane)

    def update(self, params: Params, stats: Stats, share: float, clock: Clock) -> Params:
        """Bring the counts up to date with the moves of the round."""
        groups = params.prior.layout.group_of_word
        for moves in stats.moves:
            apply_moves(*moves, groups, params.loading_counts, params.totals)
        return params

    def read(self, params: Params, table: ScoreTable, block: Block, state: Array) -> Posterior:
        """Counts and the conditional means of the scores given them."""
        counts = _counts(params, block, state)
        return Posterior(counts, *params.model.moments(counts, table.rows(block.levels)))


def _counts(params: Params, block: Block, assignments: Array) -> Array:
    counts = np.zeros((block.stop - block.start, params.n_components), dtype=np.int64)
    document_counts(block.indptr, block.counts, assignments, counts)
    return counts


def _room(n: int, dtype: Any) -> tuple[Array, Array, Array]:
    return np.empty(n, dtype=np.int32), np.empty(n, dtype=dtype), np.empty(n, dtype=dtype)
