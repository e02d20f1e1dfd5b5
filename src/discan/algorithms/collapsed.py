# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed (Rao-Blackwellised) Gibbs sampling, exact or by frozen blocks (theory 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discan.algorithms.base import ALGORITHMS, Clock, Params, Start
from discan.algorithms.footprint import Sizes, averages, estimated
from discan.algorithms.sampling import Sampler, even_loadings
from discan.algorithms.schedule import Schedule
from discan.algorithms.statistics import Stats
from discan.algorithms.word_index import WordIndex
from discan.data.blocks import BLOCK_ENTRIES, Block, BlockRef
from discan.data.corpus import Corpus
from discan.data.rules import stored
from discan.engines import Engine, pieces
from discan.errors import LimitError
from discan.kernels.blocked import (
    move_counts,
    move_totals,
    round_tables,
    sweep_by_lists,
    sweep_by_rows,
)
from discan.kernels.collapsed import assign, count_tokens, document_counts, sweep
from discan.kernels.simd.weighted_draws import LANES
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["BLOCKED_FROM", "MOST_TOKENS", "Assignments", "Collapsed", "Sweep"]

# From this many tokens on the default is the blocked schedule.
BLOCKED_FROM = 200_000
BLOCKS_PER_ROUND = 8
# Least and largest number of rounds, and tokens per round in between: with too few rounds of many
# tokens, the frozen counts of frequent words are too old.
ROUNDS = (8, 32, 200_000)
# From this many components on, lists of those that a word has tokens in are shorter than rows. The
# lists are made before every round, so there are fewer rounds.
LISTED_FROM = 200
LISTED_ROUNDS = (4, 16, 400_000)
MOST_TOKENS = 2**30
FIRST_LANES = 2  # each has J x K counts, which the memory of the averages covers


@dataclass
class Assignments:
    """The component of every token of a block."""

    assignments: Array = stored("tokens", low=0, below="K")

    def add_tokens(self, block: Block, out_loading_counts: Array) -> None:
        """Add the tokens of each word and component, (J, K)."""
        count_tokens(block.indptr, block.words, block.counts, self.assignments, out_loading_counts)

    def counts(self, block: Block, n_components: int) -> Array:
        """Component counts of the block's documents in the present draw, (n, K)."""
        counts = np.zeros((block.stop - block.start, n_components), dtype=np.int64)
        document_counts(block.indptr, block.counts, self.assignments, counts)
        return counts


@dataclass(frozen=True)
class Sweep:
    """Memory of a chain.

    Attributes
    ----------
    live : bool
        Whether counts change within a sweep, as the exact schedule has it.
    index, tables
        Word lists and tables of the blocked schedule, made again for each visit.
    """

    live: bool = stored(types="flag", fixed=True, default=True)
    index: WordIndex | None = field(default=None, metadata={"transient": True})
    tables: Any = field(default=None, metadata={"transient": True})


@ALGORITHMS.register
@dataclass(frozen=True)
class Collapsed(Sampler):
    """Collapsed Gibbs: scores and loadings integrated out, a component drawn for every token.

    Parameters
    ----------
    burn_in, n_draws, thin, keep_draws, forget, learn_every, smooth, settle, fold_in
        As for ``Gibbs``.
    schedule : {"auto", "exact", "blocked"}
        "exact" is one sequential sweep, on one thread. "blocked" freezes the word counts within
        each of ``n_rounds`` sets of documents (the token itself excluded) and updates them in
        between: an approximation, with the same draws on any number of threads. "auto" is exact
        below 200,000 tokens. The fit's settings record which one ran.
    n_rounds : int, optional
        Rounds of the blocked schedule: by default one per 200,000 tokens, from 8 to 32; or, if
        there are 200 components or more, one per 400,000 tokens, from 4 to 16.
    start : {"random", "documents", "map", "joined"}
        Start of the chain if ``init`` does not choose one. A random start needs the least memory;
        a start from documents saves hundreds of sweeps.
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
        one_of("start", self.start, ("random", "documents", "map", "joined"))

    # ---- before a fit ----

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """Choose the exact or the blocked schedule, and say which.

        The exact schedule has one lane, because it is sequential. The blocked one collects moves,
        which need no partial sums, so lanes cost nothing.
        """
        if not corpus.on_disk and corpus.n_tokens > MOST_TOKENS:
            raise LimitError(
                f"{corpus.n_tokens:,} tokens are too many to keep a component for each",
                use={"algorithm": ("gibbs", "variational")},
            )
        exact = self.schedule == "exact"
        if self.schedule == "auto":
            exact = corpus.n_tokens < BLOCKED_FROM
        rounds = [corpus.blocks] if exact else self._rounds(corpus, n_components)
        return Schedule(
            corpus,
            rounds,
            lanes=1 if exact else corpus.n_documents,
            sums=False,
            first_lanes=FIRST_LANES,
            **self._memory(corpus, n_components, rounds, exact),
            state_type=Assignments,
            memory_type=Sweep,
            state_bytes=(2 if n_components <= 2**16 else 4) * int(corpus.n_tokens),
            start=self.start,
            record={"schedule": "exact" if exact else "blocked"},
            **self.chain(corpus),
        )

    def _rounds(self, corpus: Corpus, n_components: int) -> list[Sequence[BlockRef]]:
        """Several rounds of smaller blocks, each from all over the corpus."""
        n_rounds = self.n_rounds
        if n_rounds is None:
            least, most, tokens = LISTED_ROUNDS if n_components >= LISTED_FROM else ROUNDS
            n_rounds = max(least, min(most, int(corpus.n_tokens) // tokens))
        n_blocks = n_rounds * BLOCKS_PER_ROUND
        n_blocks *= max(1, -(-corpus.n_entries // (BLOCK_ENTRIES * n_blocks)))
        blocks = corpus.blocks_of(max(1, -(-corpus.n_entries // n_blocks)))
        parts = [blocks[start::n_rounds] for start in range(min(n_rounds, len(blocks)))]
        # the largest first, so that the thread that finishes last has little left to do
        return [sorted(part, key=_n_tokens, reverse=True) for part in parts]

    def _memory(
        self, corpus: Corpus, n_components: int, rounds: Sequence[Sequence[BlockRef]], exact: bool
    ) -> dict[str, Any]:
        """Estimate the memory of assignments, counts, lists, moves, averages and a block."""
        sizes = Sizes.of(corpus, n_components, rounds, FIRST_LANES)
        loadings = sizes.loadings
        n_tokens, n_blocks = int(corpus.n_tokens), sum(map(len, rounds))
        count = self._count_type(corpus, exact)().itemsize
        kept = 0 if corpus.on_disk else 2 * n_tokens
        sums = count * min(FIRST_LANES, n_blocks)
        begin = sizes.phase((4 + sums) * loadings + kept, per_block=8)
        if self.start != "random":  # counts and scores of the start, and what is made of them
            begin = sizes.phase(max(24, 16 + sums) * loadings + kept, 8)
        drawn = averages(corpus, n_components, self.n_draws)
        visits = count * loadings + kept + self.n_averages * sum(drawn)
        moves = 0.0
        if not exact:
            tokens = max(sum(map(_n_tokens, part)) for part in rounds)
            moves = 8.0 * tokens + 8.0 * max(_n_tokens(b) for part in rounds for b in part)
            visits += 4 * loadings if count > 2 else 0  # counts in two halves
            if n_components >= LISTED_FROM:
                listed = np.minimum(corpus.word_totals, n_components) + LANES
                visits += 8 * float(listed.sum())
        # the counts of a block, and its new sums beside the old ones if documents are averaged
        per_block = 8 if corpus.on_disk else 18
        visit = sizes.phase(visits + moves, per_block=per_block)
        seeded = 0.0 if exact else 4.0 * loadings
        found = estimated(sizes, [begin, visit])
        return found | {"kept_bytes": drawn, "seeded_bytes": seeded}

    def _count_type(self, corpus: Corpus, exact: bool) -> Any:
        """Type of the counts of words and components: 16 bits where no word has more tokens."""
        large = corpus.word_totals.max(initial=0.0) >= 2**16
        return np.int32 if exact or large else np.uint16

    # ---- start ----

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Take the loadings of the start; without one, all are equal and tokens fall at random."""
        corpus, counts = schedule.corpus, start.loading_counts
        if counts is None:
            loadings = even_loadings(params.prior, corpus, params.n_components, np.float32)
        else:
            loadings = params.prior.mean_given_data(counts)
        live = schedule.record["schedule"] == "exact"
        counts_of = self._count_type(corpus, live or params.prior.seeds is not None)
        none = np.zeros((0, params.n_components), dtype=counts_of)
        return replace(params, loadings=loadings, loading_counts=none, memory=Sweep(live))

    def init_state(
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> Assignments:
        """Take the component of every token, or draw it by the loadings and scores of the start."""
        loadings = np.asarray(params.loadings)
        dtype = np.uint16 if params.n_components <= 2**16 else np.uint32
        if start.components is not None:
            own = slice(block.token_start, block.token_stop)
            assignments = start.components[own].astype(dtype)
        else:
            given, shape = start.scores_of(block), (block.stop - block.start, params.n_components)
            scores = np.ones(shape) if given is None else given
            assignments = np.empty(block.token_stop - block.token_start, dtype=dtype)
            assign(
                block.indptr, block.words, block.counts, loadings, scores, assignments,
                clock.seed, block.start,
            )  # fmt: skip
        sums = lane.sums(loadings.shape, np.asarray(params.loading_counts).dtype)
        state = Assignments(assignments)
        state.add_tokens(block, sums)
        return state

    def start_scores(self, params: Params, block: Block, state: Assignments) -> Array:
        """Scores of the block's documents for another fit to start from, (n, K)."""
        return np.asarray(state.counts(block, params.n_components) + params.model.alpha)

    # ---- a visit ----

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:
        """Make the tables of the blocked schedule; list each word's components if K is large."""
        memory: Sweep = params.memory
        if memory.live:
            return params
        counts = np.asarray(params.loading_counts)
        index = memory.index
        if index is None:
            index = WordIndex.of(counts, listed=params.n_components >= LISTED_FROM)
        tables = round_tables(
            *params.table, params.prior.totals, params.totals,
            counts[:0] if index.listed else counts,  # the lists have all counts
        )  # fmt: skip
        if index.listed:
            index.fill(params, engine)
        return replace(params, memory=replace(memory, index=index, tables=tables))

    def step(
        self, params: Params, block: Block, state: Assignments, clock: Clock, lane: Stats
    ) -> None:
        """Redraw every token of the block."""
        prior, totals, memory = params.prior, np.asarray(params.totals), params.memory
        log_factor = np.empty(block.stop - block.start)
        head = (
            block.indptr, block.words, block.counts, block.levels, *params.table,
            prior.layout.group_of_word, prior.gamma, prior.totals, totals,
            params.loading_counts,
        )  # fmt: skip
        tail = (log_factor, *clock, block.start)
        if memory.live:
            sweep(*head, state.assignments, *tail)
        else:
            moves = _buffers(state.assignments)
            redraw = sweep_by_lists if memory.index.listed else sweep_by_rows
            n_moved = redraw(
                *head, *memory.index.read, state.assignments, *moves, *tail, given=memory.tables
            )
            words, old, new = (part[:n_moved] for part in moves)
            change = np.zeros(totals.shape, totals.dtype)
            move_totals(words, old, new, prior.layout.group_of_word, change)
            lane.moves.append((words, old, new, change))
        lane.objective += float(log_factor.sum())
        lane.n_documents += block.stop - block.start
        if params.learns_scores and self.moves(clock):
            self.augment(params, block, state.counts(block, params.n_components), clock, lane)

    def update(
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        """Take the first counts, or apply the moves of the visit to them."""
        if stats.loading_sums is not None:
            params.prior.add_seeds(stats.loading_sums)
            totals = params.prior.layout.group_sums(stats.loading_sums)
            return replace(params, loadings=None, loading_counts=stats.loading_sums, totals=totals)

        def move(piece: tuple[int, int]) -> None:
            for *moves, _ in stats.moves:
                move_counts(*moves, *piece, params.loading_counts, params.memory.index.touched)

        if stats.moves:  # each piece reads all moves, so there are no more than needed
            engine.run(move, pieces(params.prior.layout.n_words, engine.n_workers))
        totals = np.asarray(params.totals)
        for *_, change in stats.moves:
            totals += change
        return params


def _n_tokens(block: BlockRef) -> int:
    return block.token_stop - block.token_start


def _buffers(assignments: Array) -> tuple[Array, Array, Array]:
    """Allocate words, old and new components of the moves of a block."""
    return (
        np.empty(len(assignments), dtype=np.int32),
        np.empty_like(assignments),
        np.empty_like(assignments),
    )
