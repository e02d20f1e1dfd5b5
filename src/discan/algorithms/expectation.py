# SPDX-License-Identifier: BSD-3-Clause
"""What maximum likelihood, MAP and variational share: expected splits, kept as score shapes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.algorithms.base import Algorithm, Clock, Params, Posterior, Start, Stats
from discan.data.corpus import BLOCK_ENTRIES, Block, Corpus
from discan.engines import Engine
from discan.kernels.active_set import solve_scores
from discan.kernels.variational import expect, expect_conditional
from discan.models import Model, ScoreTable
from discan.typing import Array
from discan.validation import number, whole

__all__ = ["Expectation", "ScoreState", "block_lengths"]

# A fold-in stops when a step moves less than this share of a document's words.
FOLD_IN_TOLERANCE = 1e-7
FOLD_IN_STEPS = 1000
# From this many components on, most rest most of the time: steps leave them out, and so are cheap
# enough to go on for longer.
SETTLE_FROM = 16
SETTLE_TOLERANCE = 1e-9
SETTLE_STEPS = 10_000
# From this many products of a count and a component on, point estimates work in single precision.
SINGLE_FROM = 10_000_000
# When online there are this many batches, if each has enough documents.
BATCHES = 16
DOCUMENTS_A_BATCH = 100
# A batch is put together from this many places of the corpus, lest its order matter.
PLACES = 16


@dataclass
class ScoreState:
    """q of a block's documents: Gamma(score_shape, rate) or absent, each array (n, K).

    Absence, damping and counts are kept only where scores can be absent.
    """

    score_shape: Array
    absent: Array | None = None
    damping: Array | None = None
    component_counts: Array | None = None
    old: Array | None = None  # where the last pass began, and what came before; see Accelerated
    older: Array | None = None


@dataclass(frozen=True, kw_only=True)
class Expectation(Algorithm):
    """Base of the deterministic algorithms; subclasses choose the link and the loadings.

    Parameters
    ----------
    online : bool
        Update the loadings after every batch of documents instead of after all of them.
    batch_entries : int, optional
        Non-zeros in a batch when online; a sixteenth of all if not given.
    delay, decay : float
        Weight of batch t = 1, 2, ... against all before it when online, (delay + t)^-decay.
    visits : int
        How often a batch is gone over while it is at hand when online, with new loadings each time.
    inner : int, optional
        Steps on a document each time it is visited: 1, or 2 when online.
    """

    online: bool = False
    batch_entries: int | None = None
    delay: float = 0.5
    decay: float = 0.7
    visits: int = 8
    inner: int | None = None

    geometric_mean = False
    tolerance = FOLD_IN_TOLERANCE
    # visits of an entry for which another partial sum of J x K numbers is worth its cost, per word
    visits_a_lane = 10

    def __post_init__(self) -> None:
        """Check the options."""
        number("decay", self.decay, "more than 0.5 and at most 1", np.nextafter(0.5, 1), 1.0)
        number("delay", self.delay, "a finite number, at least 0", 0.0, 1e300)
        whole("visits", self.visits, 1)
        if self.batch_entries is not None:
            whole("batch_entries", self.batch_entries, 1)
        if self.inner is not None:
            whole("inner", self.inner, 1)

    def default_init(self, model: Model) -> str:
        """Documents say more of what goes together than chance; words say it in one pass."""
        return "words" if self.online else "documents"

    def rounds(self, corpus: Corpus, n_components: int) -> Sequence[Sequence[Block]]:
        """One round, or one for each batch, its documents taken from all over the corpus."""
        if not self.online:
            return [corpus.blocks]
        entries = self._entries(corpus)
        pieces = corpus.blocks_of(max(1, min(entries // PLACES, BLOCK_ENTRIES)))
        n_batches = min(len(pieces), max(1, round(corpus.n_entries / entries)))
        return [pieces[start::n_batches] for start in range(n_batches)]

    def _entries(self, corpus: Corpus) -> int:
        """Non-zeros in a batch."""
        if self.batch_entries is not None:
            return self.batch_entries
        batches = max(1, min(BATCHES, corpus.n_documents // DOCUMENTS_A_BATCH))
        return max(1, -(-corpus.n_entries // batches))

    def n_visits(self) -> int:
        """Go over a batch again while it is at hand; one of all documents comes again anyway."""
        return self.visits if self.online else 1

    def n_lanes(self, corpus: Corpus, n_components: int) -> int:
        """As many partial sums as the work on a round's entries makes up for."""
        entries = corpus.n_entries
        if self.online:
            entries = min(self._entries(corpus), entries)
        visits = entries * (1 + self.inner_steps()) // 2
        worth = visits // (self.visits_a_lane * corpus.n_words)
        lanes = max(1, min(worth, super().n_lanes(corpus, n_components)))
        return int(2 ** (lanes.bit_length() - 1))  # few threads share a power of two evenly

    def inner_steps(self) -> int:
        """One step a visit when the documents are seen again soon, more when online."""
        if self.inner is not None:
            return self.inner
        return 2 if self.online else 1

    def power(self, params: Params) -> float:
        """Exponent of the responsibilities; below 1 for tempering."""
        return 1.0

    # ---- a cycle ----

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Start from given expected counts, or from word totals shaken up at random."""
        counts = start.loading_counts
        if counts is None:
            rng = np.random.Generator(np.random.Philox(key=int(clock.seed)))
            noise = rng.standard_exponential((corpus.n_words, params.n_components))
            counts = corpus.word_totals[:, None] / params.n_components * noise
        return self.with_counts(params, counts.astype(self.precision(corpus, params)))

    def precision(self, corpus: Corpus, params: Params) -> Any:
        """Number type of loadings and scores. Geometric means can be too small for single."""
        large = corpus.n_entries * params.n_components >= SINGLE_FROM
        return np.float32 if large and not self.geometric_mean else np.float64

    def init_state(
        self, params: Params, table: ScoreTable, block: Block, start: Start, clock: Clock
    ) -> ScoreState:
        """Spread each document evenly over the components, or by the given scores."""
        return _even_state(params, table, block, start.scores)

    def rehearse(self, params: Params, table: ScoreTable, block: Block, state: ScoreState) -> None:
        """Take all inner steps but the last, which alone adds to the expected counts."""
        steps = self.inner_steps() - 1
        if steps > 0 and not params.can_be_absent:
            self._run(self.pass_params(params), table, block, state, None, steps)

    def step(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState, clock: Clock,
        lane: Stats,
    ) -> None:  # fmt: skip
        """Update the scores; collect expected loading counts and sums of scores."""
        sums = lane.sums_like(np.asarray(params.loadings))
        objective = self._run(self.pass_params(params), table, block, state, sums, 1)
        lane.objective += float(objective.sum())
        lane.n_documents += block.stop - block.start
        if params.learns_scores:
            scores = self.score_sums(params, table, block, state)
            lane.scores = scores if lane.scores is None else lane.scores + scores

    def update(
        self, params: Params, stats: Stats, share: float, clock: Clock, engine: Engine
    ) -> Params:
        """Set the loadings from the expected counts, or blend them with those of the batch."""
        counts = self._expected_counts(params, stats)
        if not self.online or share >= 1.0:
            return self.with_counts(params, counts)
        weight, before, notes = self._blend(params)
        counts *= weight / share
        counts += (1.0 - weight) * before
        return replace(self.with_counts(params, counts), notes=notes)

    def _blend(self, params: Params) -> tuple[float, Array, dict[str, Any]]:
        """Weight of the batch at hand, the counts of all before it, and the notes from now on.

        A later visit of the batch takes the place of the earlier ones: they blend with the same
        counts, which are noted until the last.
        """
        notes = dict(params.notes)
        updates = notes.get("updates", 0)
        batch, visit = divmod(updates, self.visits)
        before = notes.pop("before", params.loading_counts)
        notes["updates"] = updates + 1
        if visit + 1 < self.visits:
            notes["before"] = before
        return (self.delay + 1.0 + batch) ** -self.decay, before, notes

    def _expected_counts(self, params: Params, stats: Stats) -> Array:
        """Expected counts of the round (J, K), made in place of the sums that they come from."""
        counts = stats.loading_sums
        assert counts is not None
        if not params.can_be_absent:
            counts *= self.pass_params(params).loadings
        return counts

    def pass_params(self, params: Params) -> Params:
        """Return the parameters with the loadings that a pass over the documents reads."""
        return params

    def with_counts(self, params: Params, counts: Array) -> Params:
        """Return the parameters with point loadings theta proportional to gamma + counts."""
        loadings = params.prior.mean(counts)
        return replace(params, loadings=loadings, loading_counts=counts)

    @abstractmethod
    def score_sums(self, params: Params, table: ScoreTable, block: Block, state: ScoreState) -> Any:
        """Sum over the block's documents what ``finish`` needs of their scores."""

    # ---- answers ----

    def read(self, params: Params, table: ScoreTable, block: Block, state: ScoreState) -> Posterior:
        """Expected counts and scores under q."""
        rows = table.rows(block.levels)
        shape = state.score_shape.astype(np.float64)
        counts, absent = state.component_counts, state.absent
        if counts is None:
            counts = shape - rows.shape
        if absent is None:
            absent = np.zeros_like(shape)
        return Posterior(np.maximum(counts, 0.0), *params.model.moments_of(shape, rows, absent))

    def infer(self, params: Params, table: ScoreTable, block: Block, seed: np.uint64) -> Posterior:
        """Fixed-point steps on each document to its own convergence, from an even start."""
        state = _even_state(params, table, block)
        self._run(params, table, block, state, None)
        return self.read(params, table, block, state)

    def document_objective(self, params: Params, table: ScoreTable, block: Block) -> Array:
        """Objective of new documents at convergence, up to the model's constant, (n,)."""
        return self._run(params, table, block, _even_state(params, table, block), None)

    def mean_loadings(self, params: Params) -> Array:
        """Point loadings are their own estimate."""
        return params.prior.normalise(np.asarray(params.loadings, dtype=np.float64))

    def _run(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState,
        score_sums: Array | None, steps: int | None = None,
    ) -> Array:  # fmt: skip
        """Call the kernel: so many steps, the last with statistics if asked for, or to the end."""
        collect = score_sums is not None
        objective = np.empty(block.stop - block.start)
        assert params.loadings is not None
        out = score_sums if score_sums is not None else np.empty_like(params.loadings[:0])
        n_steps, tolerance = (FOLD_IN_STEPS, self.tolerance) if steps is None else (steps, 0.0)
        head = (block.indptr, block.words, block.counts, block.levels)
        if params.can_be_absent:
            expect_conditional(
                *head, *table, np.log(np.maximum(params.loadings, 1e-300)),
                state.score_shape, state.absent, state.damping, state.component_counts,
                out, objective, 5 if collect else FOLD_IN_STEPS, 1e-9, collect,
            )  # fmt: skip
        else:
            power = self.power(params)
            if steps is None and power == 1.0 and params.n_components >= SETTLE_FROM:
                solve_scores(
                    *head, table.shape, table.rate, params.loadings, state.score_shape,
                    self.geometric_mean, SETTLE_STEPS, SETTLE_TOLERANCE,
                )  # fmt: skip
                n_steps = 1  # records the answer
            expect(
                *head, table.shape, table.rate, params.loadings, state.score_shape, out, objective,
                self.geometric_mean, power, n_steps, tolerance, collect,
            )  # fmt: skip
        return objective


def block_lengths(block: Block) -> Array:
    """Sum of the counts of each of the block's documents, (n,)."""
    lengths = np.add.reduceat(
        np.append(block.counts[block.indptr[0] : block.indptr[-1]], 0).astype(np.float64),
        block.indptr[:-1] - block.indptr[0],
    )
    lengths[np.diff(block.indptr) == 0] = 0.0
    return np.asarray(lengths)


def _even_state(
    params: Params, table: ScoreTable, block: Block, scores: Array | None = None
) -> ScoreState:
    rows = table.rows(block.levels)
    n_components = table.shape.shape[1]
    lengths = block_lengths(block)
    shares: Array = np.full((len(lengths), n_components), 1.0 / n_components)
    if scores is not None:
        chosen = scores[block.start : block.stop] + 1e-12
        shares = chosen / chosen.sum(axis=1, keepdims=True)
    shape = rows.shape + lengths[:, None] * shares
    if params.can_be_absent:
        return ScoreState(shape, *np.zeros((3, *shape.shape)))
    assert params.loadings is not None
    return ScoreState(shape.astype(params.loadings.dtype))
