# SPDX-License-Identifier: BSD-3-Clause
"""What an algorithm must say: how to start, one step on a block, how to update, what to report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np

from discan.data.corpus import Block, Corpus
from discan.engines import Engine, Threads
from discan.models import LoadingsPrior, Model, ScoreTable
from discan.models.hyperparameters import AugmentedScores, ExpectedScores, Hyperprior
from discan.registry import Registry
from discan.typing import Array

__all__ = ["ALGORITHMS", "Algorithm", "Clock", "Params", "Plan", "Posterior", "Start", "Stats"]

DEFAULT = Hyperprior()
MAX_LANES = 8
LANE_BYTES = 2**30  # all lanes together
PIECE_BYTES = 2**18


class Clock(NamedTuple):
    """Names the random streams of one cycle."""

    seed: np.uint64
    cycle: int


class Plan(NamedTuple):
    """How many cycles, how many of them before the first draw, and cycles between draws.

    ``thin`` = 0: there are no draws, the last state is the answer.
    """

    n_cycles: int
    burn_in: int = 0
    thin: int = 0


class Start(NamedTuple):
    """Where a fit starts; None leaves it to chance.

    loading_counts (J, K): expected counts; scores (I, K), any scale.
    """

    loading_counts: Array | None = None
    scores: Array | None = None


class Posterior(NamedTuple):
    """What is known of the documents: means of c, l, l^2 and P(l = 0), each (I, K)."""

    component_counts: Array
    scores: Array
    squares: Array
    absent: Array


@dataclass(frozen=True)
class Params:
    """All that is shared by the documents.

    Attributes
    ----------
    model, prior
        With the current hyperparameters.
    loadings : (J, K) array or None
        What the kernels read: theta, or exp E[log theta], or theta^tau.
    loading_shape : (J, K) array or None
        Parameters of Dirichlet loadings.
    loading_counts : (J, K) array or None
        Expected or drawn counts.
    totals : (G, K) array or None
        ``loading_counts`` summed inside each group, where they are kept in step.
    learn : frozenset of str
        Hyperparameters to learn.
    hyperprior : Hyperprior
        Their prior, for the algorithms that draw them.
    notes : dict
        What an algorithm keeps for itself between cycles.
    """

    model: Model
    prior: LoadingsPrior
    learn: frozenset[str] = frozenset()
    hyperprior: Hyperprior = DEFAULT
    loadings: Array | None = None
    loading_shape: Array | None = None
    loading_counts: Array | None = None
    totals: Array | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def n_components(self) -> int:
        """Number of components, K."""
        return len(self.model.alpha)

    @property
    def can_be_absent(self) -> bool:
        """Whether a score can be exactly zero."""
        return self.model.can_be_absent(self.learn)

    @property
    def learns_scores(self) -> bool:
        """Whether a hyperparameter of the scores is learnt."""
        return bool(self.learn & set(self.model.hyperparameters))


@dataclass
class Stats:
    """What a set of blocks adds up to; ``+`` merges two sets.

    ``loading_sums`` (J, K) are the expected loading counts, before they are multiplied by the
    loadings unless scores can be absent. ``room`` is an array that they may be made in.
    """

    objective: float = 0.0
    log_likelihood: float = 0.0
    n_documents: int = 0
    loading_sums: Array | None = None
    scores: ExpectedScores | AugmentedScores | None = None
    moves: list[tuple[Array, ...]] = field(default_factory=list)
    room: Array | None = None

    def sums_like(self, matrix: Array) -> Array:
        """Return ``loading_sums``; if there are none yet, zeros of the kind of a (J, K) matrix."""
        if self.loading_sums is None:
            room, self.room = self.room, None
            if room is None or (room.shape, room.dtype) != (matrix.shape, matrix.dtype):
                room = np.empty_like(matrix)
            room.fill(0)
            self.loading_sums = room
        return self.loading_sums

    def __add__(self, other: Stats) -> Stats:
        """Merge; the arrays of the left side are reused."""
        return Stats.merged([self, other], Threads(1))

    @classmethod
    def merged(cls, parts: Sequence[Stats], engine: Engine) -> Stats:
        """Add up in order, the largest arrays in pieces; the arrays of the first are reused."""
        sums = [part.loading_sums for part in parts if part.loading_sums is not None]

        def add(rows: slice) -> None:
            for other in sums[1:]:
                sums[0][rows] += other[rows]

        if len(sums) > 1:
            engine.run(add, _pieces(sums[0]))
        return cls(
            sum(part.objective for part in parts),
            sum(part.log_likelihood for part in parts),
            sum(part.n_documents for part in parts),
            sums[0] if sums else None,
            reduce(_sum, [part.scores for part in parts]),
            [move for part in parts for move in part.moves],
        )


def _pieces(matrix: Array) -> list[slice]:
    """Cut the rows of a matrix into runs that fit into a processor's own cache."""
    rows = max(1, PIECE_BYTES // max(1, matrix[:1].nbytes))
    return [slice(start, start + rows) for start in range(0, len(matrix), rows)]


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


class Algorithm(ABC):
    """A way to estimate: a frozen bundle of options.

    Class attributes: ``name``, ``short`` name; ``whole_counts``, whether it needs whole
    numbers; ``uses_prior``, whether the priors matter to it; ``monotone``, whether its objective
    never falls; ``documents_a_component``, how many documents a component starts from.
    """

    name: ClassVar[str]
    short: ClassVar[str]
    whole_counts: ClassVar[bool] = False
    uses_prior: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    documents_a_component: ClassVar[int] = 20
    max_iter: ClassVar[int] = 200

    # ---- doors ----

    def refusal(self, model: Model, learn: frozenset[str]) -> str | None:
        """Say in a sentence why this cell makes no sense and what to use; None if it does."""
        return None

    def check(self, corpus: Corpus) -> None:
        """Raise an error if this corpus cannot be used."""
        return None

    def default_init(self, model: Model) -> str:
        """Where to start when nothing is said."""
        return "random"

    def opening(self, corpus: Corpus) -> Algorithm | None:
        """The first pass of a start from documents, if it is not to be by MAP."""
        return None

    def prepare(self, model: Model, prior: LoadingsPrior) -> tuple[Model, LoadingsPrior]:
        """Return the model and the prior as this algorithm sees them."""
        return model, prior

    def training_documents(self, corpus: Corpus, seed: np.uint64) -> Array | None:
        """Choose the documents to learn from, if the algorithm needs the rest to watch itself."""
        return None

    def plan(self, max_iter: int | None) -> Plan:
        """Lay out the cycles."""
        return Plan(n_cycles=self.max_iter if max_iter is None else max_iter)

    def rounds(self, corpus: Corpus, n_components: int) -> Sequence[Sequence[Block]]:
        """Cut a cycle into rounds; the parameters are updated after each."""
        return [corpus.blocks]

    def n_visits(self) -> int:
        """Count how often a round is gone over before the next one."""
        return 1

    def n_lanes(self, corpus: Corpus, n_components: int) -> int:
        """Count the partial sums: a function of the data alone, never of the threads."""
        return max(1, min(MAX_LANES, LANE_BYTES // (8 * corpus.n_words * n_components)))

    def bytes_needed(self, corpus: Corpus, n_components: int) -> int:
        """Estimate the memory of a fit: states, lanes, averages."""
        lanes = self.n_lanes(corpus, n_components)
        return 8 * n_components * (8 * corpus.n_documents + (lanes + 4) * corpus.n_words)

    # ---- a cycle ----

    @abstractmethod
    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Give the first parameters their loadings."""

    @abstractmethod
    def init_state(
        self, params: Params, table: ScoreTable, block: Block, start: Start, clock: Clock
    ) -> Any:
        """Make the first state of a block's documents."""

    def init_states(
        self, params: Params, table: ScoreTable, blocks: Sequence[Block], start: Start,
        clock: Clock, engine: Engine,
    ) -> list[Any]:  # fmt: skip
        """Make the first states of all blocks, on any threads."""
        return engine.run(lambda block: self.init_state(params, table, block, start, clock), blocks)

    def join(self, params: Params, corpus: Corpus, states: Sequence[Any], clock: Clock) -> Params:
        """Bring the first parameters in line with the first states of all blocks."""
        return params

    def begin_round(self, params: Params, table: ScoreTable, engine: Engine) -> None:
        """Work out what all blocks of the round will read."""
        return None

    def rehearse(self, params: Params, table: ScoreTable, block: Block, state: Any) -> None:
        """Do what comes before a block's step and adds to nothing: any thread may."""
        return None

    @abstractmethod
    def step(
        self, params: Params, table: ScoreTable, block: Block, state: Any, clock: Clock, lane: Stats
    ) -> None:
        """Work through a block: change its state, add to the lane. The only heavy call."""

    def overshot(self, params: Params, stats: Stats) -> bool:
        """Whether a round began too far ahead and must be made again, from ``retreat``."""
        return False

    def retreat(self, params: Params) -> Params:
        """Return the parameters from which a round that overshot is made again."""
        return params

    @abstractmethod
    def update(
        self, params: Params, stats: Stats, share: float, clock: Clock, engine: Engine
    ) -> Params:
        """Update the loadings after a round that saw this share of the documents."""

    def finish(self, params: Params, stats: Stats, clock: Clock) -> Params:
        """Update the hyperparameters after a cycle."""
        return params

    def watch(self, params: Params, held_out: Corpus) -> Params:
        """Take the documents that are not learnt from."""
        return params

    @property
    def stops_itself(self) -> bool:
        """Whether ``finished`` decides when the fit is over, rather than the objective."""
        return False

    def finished(self, params: Params) -> str | None:
        """Say why the fit is over, if it is."""
        return None

    # ---- answers ----

    @abstractmethod
    def objective(
        self, before: Params, after: Params, stats: Stats, corpus: Corpus, engine: Engine
    ) -> float:
        """Objective of the cycle, constants included."""

    @abstractmethod
    def read(self, params: Params, table: ScoreTable, block: Block, state: Any) -> Posterior:
        """Report what the state says of the block's documents."""

    def start_scores(self, params: Params, table: ScoreTable, block: Block, state: Any) -> Array:
        """Scores of the block's documents for another run to start from, (n, K), any scale."""
        return self.read(params, table, block, state).scores

    @abstractmethod
    def infer(self, params: Params, table: ScoreTable, block: Block, seed: np.uint64) -> Posterior:
        """Report what the loadings, held fixed, say of new documents."""

    @abstractmethod
    def mean_loadings(self, params: Params) -> Array:
        """Point estimate or posterior mean of the loadings, (J, K)."""

    def settings(self, corpus: Corpus) -> dict[str, Any]:
        """What was decided for this corpus and should be on record."""
        return {}


ALGORITHMS: Registry[Algorithm] = Registry("algorithm")
