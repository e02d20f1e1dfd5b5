# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed (Rao-Blackwellised) Gibbs sampling, exact or by frozen blocks (spec 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.algorithms.base import ALGORITHMS, Clock, Params, Posterior, Start, Stats
from discan.algorithms.sampling import Sampler
from discan.data.corpus import BLOCK_ENTRIES, Block, Corpus
from discan.engines import Engine, pieces
from discan.errors import LimitError
from discan.kernels.collapsed import assign, count_tokens, document_counts, sweep
from discan.kernels.frozen import (
    frozen_sweep,
    index_words,
    listed_sweep,
    move_counts,
    move_totals,
    round_tables,
)
from discan.kernels.simd.lanes import LANES
from discan.kernels.simd.memory import aligned
from discan.models import Model, ScoreTable
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["Collapsed"]

# From this many tokens on the default is the blocked schedule.
BLOCKED_FROM = 200_000
BLOCKS_A_ROUND = 8
ROUNDS = 8
# From this many components on lists of those that a word has tokens in are shorter than rows. They
# are made before every round, so there are fewer.
LISTED_FROM = 200
LISTED_ROUNDS = 4
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
    n_rounds : int, optional
        Rounds of the blocked schedule: by default 8, or 4 if there are 200 components or more.
    start : {"random", "documents", "map"}
        Where the chain starts unless ``init`` says so: at random needs the least memory, from
        documents it is soon where a random start takes hundreds of sweeps to.
    """

    schedule: str = "auto"
    n_rounds: int | None = None
    start: str = "random"

    name = "collapsed"
    short = "cgs"
    summary = "collapsed Gibbs sampling, with uncertainty"

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        one_of("schedule", self.schedule, ("auto", "exact", "blocked"))
        if self.n_rounds is not None:
            whole("n_rounds", self.n_rounds, 1)
        one_of("start", self.start, ("random", "documents", "map"))

    def default_init(self, model: Model) -> str:
        """Where the options say."""
        return self.start

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

    def rounds(self, corpus: Corpus, n_components: int) -> Sequence[Sequence[Block]]:
        """One round of all blocks in order, or several of smaller blocks from all over."""
        if self._live(corpus):
            return [corpus.blocks]
        n_rounds = self.n_rounds
        if n_rounds is None:
            n_rounds = LISTED_ROUNDS if n_components >= LISTED_FROM else ROUNDS
        n_blocks = n_rounds * BLOCKS_A_ROUND
        n_blocks *= max(1, -(-corpus.n_entries // (BLOCK_ENTRIES * n_blocks)))
        blocks = corpus.blocks_of(max(1, -(-corpus.n_entries // n_blocks)))
        parts = [blocks[start::n_rounds] for start in range(min(n_rounds, len(blocks)))]
        # the largest first: whoever comes last has little left to do
        return [sorted(part, key=_n_tokens, reverse=True) for part in parts]

    def n_lanes(self, corpus: Corpus, n_components: int) -> int:
        """One lane keeps the exact sweep in order; moves need no sums, so lanes cost nothing."""
        return 1 if self._live(corpus) else corpus.n_documents

    def bytes_needed(self, corpus: Corpus, n_components: int) -> int:
        """Estimate the memory of a fit: assignments, moves, lists; counts, averages; a block."""
        n_tokens, size = int(corpus.n_tokens), n_components * corpus.n_words
        drawn = self.n_draws * n_tokens
        documents = 10 * min(n_components * corpus.n_documents, drawn)
        blocks = [block for part in self.rounds(corpus, n_components) for block in part]
        documents += 16 * n_components * max((b.stop - b.start for b in blocks), default=0)
        # the loadings of the start go before the means and variances come
        averages = max(4 * size, min(8 * size, 10 * drawn))
        lists = 8 * (n_tokens + LANES * corpus.n_words)
        return 4 * n_tokens + lists + 6 * size + averages + documents

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Loadings of the start; all alike if none are given, then tokens fall at random."""
        shape = (corpus.n_words, params.n_components)
        counts = start.loading_counts
        if counts is None:
            loadings: Array = np.ones(shape, dtype=np.float32)
        else:
            loadings = params.prior.mean(counts)
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
        shape = (corpus.n_words, params.n_components)
        counts = np.zeros(shape, dtype=self._count_type(corpus))
        rounds = self.rounds(corpus, params.n_components)
        blocks = [block for part in rounds for block in part]
        for block, assignments in zip(blocks, states, strict=True):
            count_tokens(block.indptr, block.words, block.counts, assignments, counts)
        totals = params.prior.layout.group_sums(counts)
        notes = params.notes
        if not self._live(corpus):
            index = WordIndex.of(counts, listed=params.n_components >= LISTED_FROM)
            notes = {**notes, "index": index}
        return replace(params, loadings=None, loading_counts=counts, totals=totals, notes=notes)

    def _count_type(self, corpus: Corpus) -> Any:
        """Half the bytes, where no word has too many tokens."""
        large = corpus.word_totals.max(initial=0.0) >= 2**16
        return np.int32 if self._live(corpus) or large else np.uint16

    def begin_round(self, params: Params, table: ScoreTable, engine: Engine) -> None:
        """Make the tables of the blocked schedule; list each word's components if K is large."""
        index: WordIndex | None = params.notes.get("index")
        if index is None:
            return
        counts = np.asarray(params.loading_counts)
        params.notes["tables"] = round_tables(
            *table, params.prior.totals, params.totals,
            counts[:0] if index.listed else counts,  # lists have them all
        )  # fmt: skip
        if index.listed:
            index.fill(params, engine)

    def step(
        self, params: Params, table: ScoreTable, block: Block, state: Array, clock: Clock,
        lane: Stats,
    ) -> None:  # fmt: skip
        """Redraw every token of the block."""
        prior, totals = params.prior, np.asarray(params.totals)
        log_factor = np.empty(block.stop - block.start)
        head = (
            block.indptr, block.words, block.counts, block.levels, *table,
            prior.layout.group_of_word, prior.gamma, prior.totals, totals,
            params.loading_counts,
        )  # fmt: skip
        tail = (log_factor, *clock, block.start)
        if params.notes["live"]:
            sweep(*head, state, *tail)
        else:
            index: WordIndex = params.notes["index"]
            moves = _room(len(state), state.dtype)
            redraw = listed_sweep if index.listed else frozen_sweep
            given = params.notes["tables"]
            n_moved = redraw(*head, *index.read, state, *moves, *tail, given=given)
            words, old, new = (part[:n_moved] for part in moves)
            change = np.zeros(totals.shape, totals.dtype)
            move_totals(words, old, new, prior.layout.group_of_word, change)
            lane.moves.append((words, old, new, change))
        lane.objective += float(log_factor.sum())
        lane.n_documents += block.stop - block.start
        if params.learns_scores:
            self.augment(params, table, block, _counts(params, block, state), clock, lane)

    def update(
        self, params: Params, stats: Stats, share: float, clock: Clock, engine: Engine
    ) -> Params:
        """Bring the counts up to date with the moves of the round."""

        def move(piece: tuple[int, int]) -> None:
            for *moves, _ in stats.moves:
                move_counts(*moves, *piece, params.loading_counts, params.notes["index"].touched)

        if stats.moves:  # each piece looks at all moves, so there are no more than are needed
            engine.run(move, pieces(params.prior.layout.n_words, engine.n_workers))
        totals = np.asarray(params.totals)
        for *_, change in stats.moves:
            totals += change
        return params

    def read(self, params: Params, table: ScoreTable, block: Block, state: Array) -> Posterior:
        """Counts and the conditional means of the scores given them."""
        counts = _counts(params, block, state)
        return Posterior(counts, *params.model.moments(counts, table.rows(block.levels)))


@dataclass(frozen=True)
class WordIndex:
    """For each word, the components that it has tokens in; see ``kernels.frozen.index_words``.

    Attributes
    ----------
    touched : (J,) array of bool
        Words whose counts have changed since they were listed.
    first, length : (J,) arrays
        Where the list of each word begins; empty if there are no lists.
    components, counts, shares : arrays
        The lists.
    """

    touched: Array
    first: Array
    length: Array
    components: Array
    counts: Array
    shares: Array

    @classmethod
    def of(cls, loading_counts: Array, listed: bool) -> WordIndex:
        """Make room: a word can have tokens in no more components than it has tokens."""
        n_words, n_components = loading_counts.shape
        n_words = n_words if listed else 0
        longest = np.minimum(loading_counts[:n_words].sum(axis=1, dtype=np.int64), n_components)
        ends = np.cumsum((longest // LANES + 1) * LANES)
        room = int(ends[-1]) if listed else 0
        return cls(
            np.ones(len(loading_counts), dtype=bool),
            np.append(0, ends)[:n_words],
            np.zeros(n_words, dtype=np.int32),
            aligned((room,), np.uint16 if n_components <= 2**16 else np.uint32),
            np.zeros(room, dtype=loading_counts.dtype),
            aligned((room,), np.float32),
        )

    @property
    def listed(self) -> bool:
        """Whether there are lists."""
        return len(self.first) > 0

    @property
    def read(self) -> tuple[Array, Array, Array, Array]:
        """What a sweep reads."""
        return self.first, self.length, self.components, self.shares

    def fill(self, params: Params, engine: Engine) -> None:
        """List the counts as they are."""
        prior = params.prior

        def index(piece: tuple[int, int]) -> None:
            index_words(
                params.loading_counts, *piece, params.totals, prior.layout.group_of_word,
                prior.totals, self.touched, *self.read[:3], self.counts, self.shares,
            )  # fmt: skip

        engine.run(index, pieces(prior.layout.n_words))


def _n_tokens(block: Block) -> int:
    return block.token_stop - block.token_start


def _counts(params: Params, block: Block, assignments: Array) -> Array:
    counts = np.zeros((block.stop - block.start, params.n_components), dtype=np.int64)
    document_counts(block.indptr, block.counts, assignments, counts)
    return counts


def _room(n: int, dtype: Any) -> tuple[Array, Array, Array]:
    return np.empty(n, dtype=np.int32), np.empty(n, dtype=dtype), np.empty(n, dtype=dtype)
