# SPDX-License-Identifier: BSD-3-Clause
"""The contract of an algorithm, and the values that it works on.

A fit is a sequence of *visits*. Each visit runs ``step`` on the blocks of a round, in lanes; each
lane adds up its statistics, in the order of its blocks, and finishes them. Lanes are merged in
order, and ``update`` turns the sum into new parameters. After the last round of a cycle ``finish``
updates the hyperparameters and reports the objective.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from discan.algorithms.schedule import Schedule
from discan.algorithms.statistics import Stats
from discan.data.blocks import Block, BlockRef
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import DiscanError, InputError
from discan.models import LoadingsPrior, Model, ScoreTable
from discan.models.hyperparameters import Hyperprior
from discan.registry import Registry
from discan.typing import Array

__all__ = [
    "ALGORITHMS", "Algorithm", "Clock", "Cycle", "Params", "Posterior", "Start", "States",
    "levels_refusal", "without_priors",
]  # fmt: skip

DEFAULT = Hyperprior()


class Clock(NamedTuple):
    """Names the random streams of one cycle; the start of a fit is cycle -1."""

    seed: np.uint64
    cycle: int


class Start(NamedTuple):
    """Where a fit starts; None leaves it to chance.

    loading_counts (J, K): expected counts of the data, without seeds; scores (I, K), any scale, or
    a function that returns those of a block's documents (n, K); model and prior with other first
    values of the hyperparameters to be learnt. For a chain that draws the component of every token:
    these components, (N,), in the order of the documents; without them, they are drawn by the
    scores.
    """

    loading_counts: Array | None = None
    scores: Array | Callable[[BlockRef], Array] | None = None
    model: Model | None = None
    prior: LoadingsPrior | None = None
    components: Array | None = None

    def scores_of(self, block: BlockRef) -> Array | None:
        """Scores of a block's documents, (n, K)."""
        if callable(self.scores):
            return self.scores(block)
        return None if self.scores is None else self.scores[block.start : block.stop]


class Posterior(NamedTuple):
    """Posterior means of a set of documents: of c, l, l^2 and 1(l = 0), each (I, K)."""

    component_counts: Array
    scores: Array
    squares: Array
    absent: Array


class States(Protocol):
    """The states of all blocks, in memory or elsewhere."""

    def get(self, block: BlockRef) -> Any:
        """Return the state of a block."""
        ...

    def put(self, block: BlockRef, state: Any) -> None:
        """Keep the state of a block."""
        ...


@dataclass(frozen=True)
class Params:
    """All that the documents share.

    Attributes
    ----------
    model, prior
        With the current hyperparameters.
    exposure_levels : (T,) or (T, 2) array
        Distinct total exposures of the documents; with classes of documents, pairs of an exposure
        and the number of a class.
    table : ScoreTable
        The model at these levels; it follows from the two.
    learn : frozenset of str
        Hyperparameters to learn.
    hyperprior : Hyperprior
        Their prior, for the algorithms that draw them.
    loadings : (J, K) array or None
        What the kernels read: theta, or exp E[log theta].
    loading_shape : (J, K) array or None
        Parameters of Dirichlet loadings.
    loading_counts : (J, K) array or None
        Expected or drawn counts, with the tokens of the prior's seeds.
    totals : (G, K) array or None
        ``loading_counts`` summed inside each group, where an algorithm keeps them.
    power : float
        Exponent of the responsibilities; below 1 for tempering.
    memory : dataclass or None
        What the algorithm remembers from visit to visit, of a type of its own.
    repeat : bool
        Whether the round must be run again, from these parameters.
    """

    model: Model
    prior: LoadingsPrior
    exposure_levels: Array
    table: ScoreTable
    learn: frozenset[str] = frozenset()
    hyperprior: Hyperprior = DEFAULT
    loadings: Array | None = None
    loading_shape: Array | None = None
    loading_counts: Array | None = None
    totals: Array | None = None
    power: float = 1.0
    memory: Any = None
    repeat: bool = False

    @classmethod
    def of(
        cls, model: Model, prior: LoadingsPrior, exposure_levels: Array, **others: Any
    ) -> Params:
        """Make parameters of a model at the given exposure levels (T,)."""
        return cls(model, prior, exposure_levels, model.score_table(exposure_levels), **others)

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

    @property
    def mean_loadings(self) -> Array:
        """Point estimate, or mean of Dirichlet loadings, (J, K) in double precision."""
        if self.loading_shape is not None:
            return self.prior.normalise(self.loading_shape)
        return self.prior.normalise(np.asarray(self.loadings, dtype=np.float64))

    def with_model(self, model: Model) -> Params:
        """Return the parameters with other hyperparameters of the scores."""
        return replace(self, model=model, table=model.score_table(self.exposure_levels))

    def permuted(self, order: Array) -> Params:
        """Return what inference needs of the parameters, components in another order (K,)."""
        # in the order of rows, as a file has them: sums then have the same bits
        loadings = None if self.loadings is None else np.take(self.loadings, order, axis=1)
        prior = self.prior.permuted(order)
        return replace(self.with_model(self.model.permuted(order)), loadings=loadings, prior=prior)

    def at(self, exposure_levels: Array) -> Params:
        """Return the parameters for documents of other exposure levels (T,)."""
        table = self.model.score_table(exposure_levels)
        return replace(self, exposure_levels=exposure_levels, table=table)


class Cycle(NamedTuple):
    """The end of a cycle: new parameters, the objective, and why the fit is over if it is."""

    params: Params
    objective: float
    reason: str | None = None


class Algorithm(ABC):
    """A way to estimate: a frozen bundle of options, and eleven verbs.

    ``refusal`` and ``plan`` come before a fit; ``init`` and ``init_state`` start it; ``prepare``,
    ``begin_step``, ``step`` and ``update`` make a visit, ``finish`` ends a cycle; ``read`` and
    ``infer`` answer questions. ``init_state``, ``begin_step``, ``step``, ``read`` and ``infer``
    work on one block.

    Class attributes
    ----------------
    name, short : str
        Names in registries, files and on the command line.
    whole_counts : bool
        Whether tokens are drawn, so that counts must be whole numbers.
    uses_prior : bool
        Whether the priors matter.
    documents_per_component : int
        Number of documents that a component starts from.
    cannot_learn : frozenset of str
        Hyperparameters that it would learn wrongly.
    levels : tuple of int
        Levels of the models that it fits: 2 is that of components with parents.
    formerly : dict
        Options that were added later, with values that mean what was done before. Files that do not
        have the options get these values, so that they give the answers that they always gave.
    """

    name: ClassVar[str]
    short: ClassVar[str]
    whole_counts: ClassVar[bool] = False
    uses_prior: ClassVar[bool] = True
    documents_per_component: ClassVar[int] = 20
    cannot_learn: ClassVar[frozenset[str]] = frozenset()
    levels: ClassVar[tuple[int, ...]] = (1,)
    formerly: ClassVar[dict[str, Any]] = {}

    @property
    def monotone(self) -> bool:
        """Whether the objective never falls, with these options, also while it learns."""
        return True

    # ---- before a fit ----

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Return why the model, or the corpus, cannot be fitted, and what to use instead.

        None means that they can.
        """
        return levels_refusal(self, model)

    @abstractmethod
    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """Decide everything about the fit that depends on the data alone."""

    # ---- start ----

    @abstractmethod
    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Return the first parameters."""

    @abstractmethod
    def init_state(
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> Any:
        """Return the first state of a block; what it adds to the lane goes to ``update``."""

    # ---- a visit ----

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:
        """Return the parameters that a visit reads."""
        return params

    def begin_step(self, params: Params, block: Block, state: Any) -> None:  # noqa: B027
        """Change the state of a block before its step, where that adds to no statistic.

        Blocks are independent here, so each may have a thread, even where there are few lanes.
        """

    @abstractmethod
    def step(self, params: Params, block: Block, state: Any, clock: Clock, lane: Stats) -> None:
        """Update the state of one block and add its statistics to the lane."""

    @abstractmethod
    def update(
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        """Return new parameters after a visit of this fraction of the documents.

        The parameters are those that ``prepare`` returned. ``repeat`` asks for the visit to be made
        again, twice at most.
        """

    @abstractmethod
    def finish(
        self, before: Params, params: Params, stats: Stats, clock: Clock, schedule: Schedule,
        engine: Engine,
    ) -> Cycle:  # fmt: skip
        """End a cycle: report its objective, constants included, and learn hyperparameters.

        ``before`` are the parameters at its beginning, ``params`` those after its last update.
        """

    # ---- answers ----

    @abstractmethod
    def read(self, params: Params, block: Block, state: Any) -> Posterior:
        """Return the posterior means of a block's documents, given its state."""

    @abstractmethod
    def infer(self, params: Params, block: Block, seed: np.uint64) -> Posterior:
        """Return the posterior means of new documents, given the loadings."""


ALGORITHMS: Registry[Algorithm] = Registry("algorithm")


def levels_refusal(algorithm: Algorithm, model: Model) -> DiscanError | None:
    """Refuse a model whose components have parents, if the algorithm cannot fit it."""
    if model.levels in algorithm.levels:
        return None
    able = tuple(cls.name for cls in ALGORITHMS if model.levels in cls.levels)
    return InputError(
        f"{algorithm.name} fits components without parents", use={"algorithm": ("auto", *able)}
    )


def without_priors(model: Model, prior: LoadingsPrior) -> tuple[Model, LoadingsPrior]:
    """Return the model and the prior as maximum likelihood sees them: flat."""
    flat = model.flat()
    assert flat is not None, "an algorithm without priors refuses models that need theirs"
    return flat, replace(prior, gamma=np.zeros_like(prior.gamma), seeds=None)
