# SPDX-License-Identifier: BSD-3-Clause
"""The schedule of a fit as data: rounds, visits, partial sums, cycles and draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discan.data.blocks import BlockRef
from discan.data.corpus import Corpus
from discan.engines.base import large_at_once
from discan.typing import Array

__all__ = ["MAX_CYCLES", "MAX_LANES", "Schedule", "most_cycles"]

MAX_CYCLES = 200
# Tokens, each counted once per cycle, beyond which there are fewer cycles; and their least number.
VISITED_TOKENS, LEAST_CYCLES = 6e9, 24
MAX_LANES = 8  # of J x K sums


@dataclass(frozen=True)
class Schedule:
    """Everything that is decided about a fit before it begins; it depends on the data alone.

    Attributes
    ----------
    corpus : Corpus
        Documents to learn from.
    rounds : sequence of sequences of BlockRef
        The parameters are updated after each round. A cycle is all rounds.
    visits : int
        Number of passes over a round, with new parameters each time.
    lanes : int
        Largest number of lanes of a round. It never depends on the number of threads.
    sums : bool
        Whether each lane has J x K sums.
    first_lanes : int, optional
        The same for the first states; if not given, they add to no sums and each has its own lane.
    start : str
        Start of the fit if the user does not choose one.
    first_pass : Algorithm, optional
        First pass of a start from documents, if it is not MAP's.
    total_documents : int, optional
        Number of documents that those of the corpus stand for, if they are a batch of a stream.
    held_out : Corpus, optional
        Documents that the algorithm keeps aside to choose a setting with. The fit then ends when
        they stop gaining, not when the objective stops changing.
    state_type : type
        Type of the state of a block: a dataclass of arrays, or ``numpy.ndarray``.
    memory_type : type, optional
        Type of ``Params.memory``: a dataclass.
    cycles, burn_in, thin : int
        Number of cycles, of cycles before the first draw, and of cycles from draw to draw. With
        ``thin`` = 0 there are no draws and the last state is the answer.
    keep_draws, forget : bool
        Whether each draw is kept; whether early draws are dropped (see ``forgets``).
    settle : float
        A chain ends when its objective rises no more than this (see ``settled``); 0: after all
        cycles.
    least : int
        Number of cycles before which a chain does not end by itself.
    bytes, block_bytes : int
        Estimated memory of the fit beside the data, and more for each block at work at once.
    visit_bytes : int, optional
        The same until the last visit, on one thread, if the result needs more.
    lane_bytes : int
        Bytes of the sums of a lane. One thread needs two of them: the lane's, and those so far.
    kept_bytes : pair of float, optional
        Memory of the result: of its loadings, and of its documents.
    seeded_bytes : float
        More memory if components have seeds.
    state_bytes : int
        Bytes of the states of all documents.
    record : dict
        Decisions that the result reports.
    """

    corpus: Corpus
    rounds: Sequence[Sequence[BlockRef]]
    lanes: int
    bytes: int
    state_type: Any
    memory_type: Any = None
    start: str = "random"
    visits: int = 1
    sums: bool = True
    first_lanes: int | None = None
    first_pass: Any = None
    total_documents: int | None = None
    held_out: Corpus | None = None
    cycles: int = MAX_CYCLES
    burn_in: int = 0
    thin: int = 0
    keep_draws: bool = False
    forget: bool = False
    settle: float = 0.0
    least: int = 0
    block_bytes: int = 0
    visit_bytes: int | None = None
    lane_bytes: int = 0
    kept_bytes: tuple[float, float] | None = None
    seeded_bytes: float = 0.0
    state_bytes: int = 0
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def blocks(self) -> list[BlockRef]:
        """All blocks of a cycle, in order."""
        return [block for blocks in self.rounds for block in blocks]

    def visits_need(self, n_workers: int) -> int:
        """Estimate the memory until the last visit, on ``n_workers`` threads."""
        n_lanes = min(self.lanes, max(map(len, self.rounds)))
        more = large_at_once(n_lanes, n_workers) - large_at_once(n_lanes, 1)
        return (self.visit_bytes or self.bytes) + more * self.lane_bytes

    def needs(self, n_workers: int) -> int:
        """Estimate the memory of the fit beside the data, on ``n_workers`` threads."""
        whole = max(self.bytes, self.visits_need(n_workers) - self.block_bytes)
        return whole + n_workers * self.block_bytes

    def limited(self, max_iter: int | None) -> Schedule:
        """Return the schedule with ``max_iter`` cycles; at most half of them are burn-in."""
        if max_iter is None:
            return self
        return replace(self, cycles=max_iter, burn_in=min(self.burn_in, max_iter // 2))

    def is_draw(self, cycle: int) -> bool:
        """Whether the state after this cycle is a draw."""
        after = cycle - self.burn_in
        return self.thin > 0 and after > 0 and after % self.thin == 0

    def forgets(self, cycle: int) -> bool:
        """Whether early draws are dropped before that of this cycle is added.

        They are dropped whenever the number of cycles has doubled since the last time, first after
        twice the burn-in: all draws of the first half of the chain so far.
        """
        least = max(self.burn_in, 1)
        times, before = cycle // least, (cycle - self.thin) // least
        return self.forget and times.bit_length() > max(before, 1).bit_length()

    def forgets_again(self, cycle: int) -> bool:
        """Whether draws will be dropped once more, after those of this cycle."""
        return 2 * cycle < self.cycles

    def settled(self, objective: Array, n_draws: int) -> float | None:
        """Return how much the objective (cycles,) of a chain rose at last, if that is little.

        The rise is that of the mean over the last quarter of the chain above the quarter before, in
        nats per token: over shorter times, chance decides. It is little if it is at most
        ``settle``, or less than the standard deviation of the objective in the last quarter, which
        counts in a small corpus. The draws must cover two fifths of the chain.
        """
        cycles, window = len(objective), len(objective) // 4
        covered = 5 * n_draws * self.thin >= 2 * cycles
        if not (self.settle and covered and window and cycles >= self.least):
            return None
        late, before = objective[-window:], objective[-2 * window : -window]
        tokens = max(float(self.corpus.n_tokens), 1.0)
        rise = float(late.mean() - before.mean()) / tokens
        return rise if rise <= max(self.settle, float(late.std()) / tokens) else None


def most_cycles(corpus: Corpus) -> int:
    """Largest number of cycles of an algorithm that does not sample: fewer of very many tokens."""
    affordable = int(VISITED_TOKENS // max(float(corpus.n_tokens), 1.0))
    return max(LEAST_CYCLES, min(MAX_CYCLES, affordable))
