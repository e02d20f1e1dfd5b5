# SPDX-License-Identifier: BSD-3-Clause
"""Quasi-Newton acceleration of EM: passes tell the curvature, and later passes begin ahead."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from discan.algorithms.base import Clock, Cycle, Params, Start
from discan.algorithms.expectation import Expectation
from discan.algorithms.footprint import Sizes
from discan.algorithms.log_prior import log_prior
from discan.algorithms.schedule import Schedule
from discan.algorithms.score_states import ScoreState
from discan.algorithms.statistics import Stats
from discan.algorithms.wrapper import Wrapper
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.data.rules import MOST, stored
from discan.engines import Engine, pieces
from discan.kernels.secants import add_pair, jump
from discan.typing import Array

__all__ = ["Curvature", "QuasiNewton", "Secants", "pays"]

# No root is closer to zero than this fraction of what EM gave it: a zero would stay for ever.
LEAST = 0.5
# Longest step along the residual, in steps of EM: of scores, and of loadings.
LONGEST = (30.0, 10.0)
# A pair is of use if its step is at least this part of its bend, along the bend.
LEAST_STEP = 1e-8
# Part of a step that is tried after one that led down.
SHORTEST, LONGEST_PART = 0.1, 0.6
# Pairs that are kept: no more than make a pass longer by a quarter or so, nor than need as much
# memory as the table of counts, or 256 MiB.
MOST_PAIRS, FEWEST_PAIRS, ENTRIES_PER_PAIR = 15, 4, 4
ENTRY_BYTES, LEAST_BYTES = 8, 2**28
# They pay where groups are small, so that one token tells little, and for this many pairs or more.
# In text EM with larger strides needs no more passes, which are shorter.
SMALL_GROUP, PAYING_PAIRS = 50, 6
# How a pass begins: at the last result of EM, at a step from there on, at a part of a step that led
# down, or again at the last result that led up.
PLAIN, AHEAD, BETWEEN, BACK = "plain", "ahead", "between", "back"
SCORES, LOADINGS = 0, 1


@dataclass
class Secants(ScoreState):
    """Scores of a block, and what the acceleration knows of them.

    In square roots of expected counts, of either sign, each (n, K): where the last pass began
    (``begun``), where the last pass that led up began (``base``), and how far EM moved from there
    (``residual``). Each (M, n, K): steps from base to base, and the changes of the residual with
    them (``bends``).
    """

    begun: Array = stored("n", "K", low=-MOST, high=MOST, kw_only=True)
    base: Array = stored("n", "K", low=-MOST, high=MOST, kw_only=True)
    residual: Array = stored("n", "K", low=-MOST, high=MOST, kw_only=True)
    steps: Array = stored(None, "n", "K", low=-MOST, high=MOST, kw_only=True)
    bends: Array = stored(None, "n", "K", low=-MOST, high=MOST, kw_only=True)


@dataclass(frozen=True)
class Curvature:
    """Memory of the acceleration.

    Attributes
    ----------
    slots : (M,) array
        Numbers of the pairs in use, the oldest first, and then of those that are free.
    products : (2, 2, M, M) array
        Of scores and of loadings: step_a . bend_b and bend_a . bend_b of pairs a no younger than b.
    of_steps, of_bends : (M,) arrays
        Coefficients of the next step, in the order of the slots.
    scales : (2,) array
        Length of the next step along the residual, of scores and of loadings.
    sizes : (J, K) array
        Square root of the number of tokens of each word's group and of a component. Loadings are
        multiplied by its square: so they are counts, as scores are.
    begun, base, residual, steps, bends : arrays
        Of the loadings, (J, K) and (M, J, K), as of the scores of a block.
    move : str
        How the next pass begins.
    rose : bool
        Whether the last pass began no lower than the one before, so that the next one steps from
        there.
    based : bool
        Whether there was such a pass.
    reached : float
        Objective where it began, up to constants.
    n_slots : int
        M, the number of pairs that are kept, and one.
    n_pairs, newest : int
        How many pairs are in use, and the number of the last one that was written.
    part : float
        Part of the last step that is tried next, if that led down.
    passes : int
        Passes over the data so far, with those that were made again.
    """

    slots: Array = stored(None, types="i8", low=0)
    products: Array = stored(2, 2, None, None, types="f8")
    of_steps: Array = stored(None, types="f8")
    of_bends: Array = stored(None, types="f8")
    scales: Array = stored(2, types="f8", low=1, high=max(LONGEST))
    sizes: Array = stored("J", "K", low=0, above=True, high=MOST)
    begun: Array = stored("J", "K", low=-MOST, high=MOST)
    base: Array = stored("J", "K", low=-MOST, high=MOST)
    residual: Array = stored("J", "K", low=-MOST, high=MOST)
    steps: Array = stored(None, "J", "K", low=-MOST, high=MOST)
    bends: Array = stored(None, "J", "K", low=-MOST, high=MOST)
    n_slots: int = stored(types="whole", fixed=True)
    move: str = stored(types="text", default=PLAIN)
    rose: bool = stored(types="flag", default=False)
    based: bool = stored(types="flag", default=False)
    reached: float = stored(types="number", finite=False, default=-np.inf)
    n_pairs: int = stored(types="whole", low=0, default=0)
    newest: int = stored(types="whole", low=0, default=0)
    part: float = stored(types="number", low=0, high=1, default=1.0)
    passes: int = stored(types="whole", low=0, default=0)
    # only during a visit: the last result of EM, and the loadings where the pass began
    latest: Array | None = field(default=None, metadata={"transient": True})
    departure: Array | None = field(default=None, metadata={"transient": True})

    @property
    def problem(self) -> str | None:
        """Why there can be no such memory between two cycles."""
        n = self.n_slots
        tables = (self.steps, self.bends, self.of_steps, self.of_bends, self.products[0, 0])
        known = self.products.shape[3] == n and all(len(table) == n for table in tables)
        if not known or not np.array_equal(np.sort(self.slots), np.arange(n)):
            return "the pairs are not as many as there were"
        if self.n_pairs >= n or self.newest >= n or self.move not in (PLAIN, AHEAD, BETWEEN, BACK):
            return "the next step is not known"
        return None


@dataclass(frozen=True)
class QuasiNewton(Wrapper):
    """EM with steps by limited-memory BFGS, in square roots of expected counts.

    In y = sqrt(c) for the scores and y = sqrt(n theta) for the loadings, n the tokens of a
    component, the information of the complete data is the same in all directions. A step of EM is
    then a short step along the gradient. Roots may be negative, and a step of EM keeps their signs:
    the objective is the same smooth function on both sides of zero. Most scores of genotypes go to
    zero, and a limit there would spoil the pairs. Pairs of past steps and of the changes of the
    residual r = EM(y) - y with them tell the curvature. The next pass begins at

        y + H r,   H = BFGS(pairs; H_0 = diag(scale_scores, scale_loadings)),

    where each scale is step . bend / bend . bend of the last pair, because EM is much slower in the
    scores than in the loadings if each token tells little of its component, as a genotype does.

    The pass that begins there tells whether the objective fell. If it did, the pass is made again
    from a part of the step, where the slope along it should be zero; and if that is no better, from
    the last result of EM, and the pairs are forgotten. Parameters and scores are always those that
    a pass of EM gave.
    """

    wrapped: Expectation

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """As EM, with states and a memory of its own."""
        schedule = super().plan(corpus, n_components, seed)
        pairs = 2 * (_most_pairs(corpus, n_components) + 1)
        sizes = Sizes.of(corpus, n_components, schedule.rounds, schedule.lanes)
        n_bytes = np.dtype(self.wrapped.real(corpus, n_components)).itemsize
        # points and pairs, and the sizes of the loadings
        held = n_bytes * ((pairs + 5) * sizes.loadings + (pairs + 3) * sizes.scores)
        at_work = n_bytes * (pairs + 3) * sizes.passing
        return replace(
            schedule,
            bytes=schedule.bytes + held,
            block_bytes=schedule.block_bytes + at_work,
            visit_bytes=schedule.visit_bytes + held + at_work,
            start="corners" if pays(corpus, n_components) else schedule.start,
            state_type=Secants,
            state_bytes=(pairs + 4) * schedule.state_bytes,
            memory_type=Curvature,
        )

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Begin with two plain passes."""
        params = super().init(params, schedule, start, clock)
        n_slots = _most_pairs(schedule.corpus, params.n_components) + 1
        loadings = np.asarray(params.loadings)
        memory = Curvature(
            slots=np.arange(n_slots),
            products=np.zeros((2, 2, n_slots, n_slots)),
            of_steps=np.zeros(n_slots),
            of_bends=np.zeros(n_slots),
            scales=np.ones(2),
            sizes=np.ones_like(loadings),
            n_slots=n_slots,
            **_empty(loadings, n_slots),
        )
        return replace(params, memory=memory)

    def init_state(
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> Secants:
        """Allocate the pairs of the scores."""
        state = super().init_state(params, block, start, clock, lane)
        kept = {f.name: getattr(state, f.name) for f in fields(ScoreState)}
        return Secants(**kept, **_empty(state.score_shape, len(params.memory.slots)))

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:
        """Move the loadings to where the next pass begins."""
        memory: Curvature = params.memory
        departure = np.asarray(params.loadings)
        if memory.based:
            reached = _roots(departure, memory)
            engine.run(
                lambda piece: _depart(memory, memory, reached, LOADINGS, *piece),
                pieces(reached.size),
            )
            departure = _loadings(params)
            memory.begun[...] = _roots(departure, memory)
        memory = replace(memory, latest=params.loadings, departure=departure)
        ahead = replace(params, loadings=departure, memory=memory)
        return super().prepare(ahead, clock, engine)

    def begin_step(self, params: Params, block: Block, state: Secants) -> None:
        """Move the scores to where the next pass begins."""
        _move_scores(state, params.memory)
        super().begin_step(params, block, state)

    def step(self, params: Params, block: Block, state: Secants, clock: Clock, lane: Stats) -> None:
        """Make the step of EM; write the pair of this pass, and add its products to the lane."""
        super().step(params, block, state, clock, lane)
        if params.memory.based:
            reached = np.copysign(np.sqrt(state.score_shape), state.begun)
            lane.add_products(_pair(params.memory, state, reached, 0, reached.size))

    def update(
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        """Set the loadings from the expected counts, and plan the next pass.

        If the objective fell, return to the last result of EM and ask for the pass again.
        """
        memory: Curvature = params.memory
        departure, latest = np.asarray(memory.departure), memory.latest
        memory = replace(memory, latest=None, departure=None, passes=memory.passes + 1)
        level = stats.objective + log_prior(departure, params.prior)
        after = super().update(params, stats, fraction, clock, engine)
        if not memory.based:
            sizes = _sizes(params, np.asarray(after.loading_counts))
            np.multiply(np.sqrt(departure), sizes, out=memory.begun)
            memory = replace(memory, sizes=sizes, based=True, rose=True, reached=level)
            return replace(after, memory=memory)
        reached = _roots(np.asarray(after.loadings), memory)
        parts = engine.run(
            lambda piece: _pair(memory, memory, reached, *piece), pieces(reached.size)
        )
        products = np.stack([np.asarray(stats.products), sum(parts)])
        fell = memory.move in (AHEAD, BETWEEN) and not level >= memory.reached
        memory = _with_pair(memory, products)
        if fell:
            memory = _shorter(memory, products)
            return replace(params, loadings=latest, memory=memory, repeat=True)
        memory = replace(_ahead(memory, products), rose=True, reached=level)
        return replace(after, memory=memory, repeat=False)

    def finish(
        self, before: Params, params: Params, stats: Stats, clock: Clock, schedule: Schedule,
        engine: Engine,
    ) -> Cycle:  # fmt: skip
        """Report the objective where the last pass began, which may be ahead of ``before``."""
        if params.prior.gamma.any():
            before = replace(before, loadings=_loadings(params))
        return super().finish(before, params, stats, clock, schedule, engine)


def pays(corpus: Corpus, n_components: int) -> bool:
    """Whether quasi-Newton steps are expected to need less time than SQUAREM (theory 4.1)."""
    small = 1 < corpus.n_groups and corpus.n_words <= SMALL_GROUP * corpus.n_groups
    return small and _worth(corpus, n_components) >= PAYING_PAIRS


def _most_pairs(corpus: Corpus, n_components: int) -> int:
    """Return how many pairs are kept."""
    return max(FEWEST_PAIRS, min(MOST_PAIRS, _worth(corpus, n_components)))


def _worth(corpus: Corpus, n_components: int) -> int:
    """Return for how many pairs there are time and memory."""
    rows = corpus.n_documents + corpus.n_words
    in_time = corpus.n_entries // (ENTRIES_PER_PAIR * rows)
    memory = max(LEAST_BYTES, ENTRY_BYTES * corpus.n_entries)
    return int(min(in_time, memory // (2 * 8 * n_components * rows)))


def _empty(like: Array, n_slots: int) -> dict[str, Any]:
    """Allocate the points and pairs of scores or loadings (n, K)."""
    points = {name: np.zeros(like.shape, like.dtype) for name in ("begun", "base", "residual")}
    pairs = {name: np.zeros((n_slots, *like.shape), like.dtype) for name in ("steps", "bends")}
    return points | pairs


def _loadings(params: Params) -> Array:
    """Return the loadings where the last pass began, or where the next one begins, (J, K)."""
    return params.prior.normalise(np.square(params.memory.begun / params.memory.sizes))


def _roots(loadings: Array, memory: Curvature) -> Array:
    """Square roots of loadings as counts, with the signs of where the last pass began, (J, K)."""
    return np.asarray(np.copysign(np.sqrt(loadings) * memory.sizes, memory.begun))


def _move_scores(state: Secants, memory: Curvature) -> None:
    """Move the scores of a block to where the next pass begins."""
    reached = np.copysign(np.sqrt(state.score_shape), state.begun)
    _depart(memory, state, reached, SCORES, 0, reached.size)
    if memory.move != PLAIN:
        ahead = np.square(state.begun)
        # a document without words has no scores; 1e-300 would be 0 in single precision
        totals = np.maximum(ahead.sum(axis=1, keepdims=True), np.finfo(ahead.dtype).tiny)
        ahead *= state.score_shape.sum(axis=1, keepdims=True) / totals
        state.score_shape[...] = ahead
        np.copysign(np.sqrt(ahead), state.begun, out=state.begun)


def _depart(memory: Curvature, of: Any, reached: Array, which: int, first: int, last: int) -> None:
    """Set where the next pass begins, for elements ``first`` to ``last`` - 1.

    ``of`` has the points and pairs, ``reached`` is the last result of EM.
    """
    part = slice(first, last)
    begun, base, residual = of.begun.reshape(-1), of.base.reshape(-1), of.residual.reshape(-1)
    if memory.rose:
        base[part] = begun[part]
        residual[part] = reached.reshape(-1)[part] - begun[part]
    steps, bends = (pairs.reshape(len(memory.slots), -1) for pairs in (of.steps, of.bends))
    if memory.move == AHEAD:
        jump(
            base, residual, memory.slots, memory.n_pairs, steps, bends, memory.of_steps,
            memory.of_bends, memory.scales[which], LEAST, first, last, begun,
        )  # fmt: skip
    elif memory.move == BETWEEN:
        begun[part] = base[part] + memory.part * steps[memory.newest, part]
    elif memory.move == BACK:
        begun[part] = base[part] + residual[part]
    else:
        begun[part] = reached.reshape(-1)[part]


def _pair(memory: Curvature, of: Any, reached: Array, first: int, last: int) -> Array:
    """Write a pair; return its products with all pairs, (4, M), of elements first to last - 1."""
    n_slots = len(memory.slots)
    products = np.zeros((4, n_slots))
    add_pair(
        of.begun.reshape(-1), reached.reshape(-1), of.base.reshape(-1), of.residual.reshape(-1),
        memory.slots, memory.n_pairs + 1, memory.slots[memory.n_pairs], first, last,
        of.steps.reshape(n_slots, -1), of.bends.reshape(n_slots, -1), products,
    )  # fmt: skip
    return products


def _with_pair(memory: Curvature, products: Array) -> Curvature:
    """Add the pair that was written last, if it is of use, in place of the oldest."""
    slots, n_pairs = memory.slots, memory.n_pairs
    newest = int(slots[n_pairs])
    along, length = products[:, 0, newest].sum(), products[:, 1, newest].sum()
    memory = replace(memory, newest=newest)
    if not along > LEAST_STEP * length:
        return memory
    known = memory.products.copy()
    known[:, :, :, newest] = products[:, :2]
    known[:, 1, newest, :] = products[:, 1]
    if n_pairs + 1 < len(slots):
        return replace(memory, n_pairs=n_pairs + 1, products=known)
    return replace(memory, slots=np.roll(slots, -1), products=known)


def _shorter(memory: Curvature, products: Array) -> Curvature:
    """Begin again nearer to the last base, or at its result of EM and without the pairs.

    Pairs that led down twice would do so again, as long as plain passes move little.
    """
    if memory.move == BETWEEN:
        return replace(memory, move=BACK, rose=False, scales=np.ones(2), n_pairs=0)
    change = products[:, 0, memory.newest].sum()  # of the slope, from the base to the end
    slope = products[:, 2, memory.newest].sum() + change
    part = slope / change if change > 0.0 else LONGEST_PART
    part = float(np.clip(part, SHORTEST, LONGEST_PART))
    return replace(memory, move=BETWEEN, rose=False, part=part)


def _ahead(memory: Curvature, products: Array) -> Curvature:
    """Plan a step from the present pass by the two-loop recursion, in terms of inner products."""
    used = memory.slots[: memory.n_pairs]
    if not len(used):  # it bends upwards, as where components are still alike: take longer steps
        return replace(memory, move=AHEAD, scales=np.minimum(2.0 * memory.scales, LONGEST))
    last = used[-1]
    along, length = memory.products[:, :, last, last].T
    scales = np.clip(along / np.maximum(length, 1e-300), 1.0, LONGEST)
    step_bend, bend_bend = (memory.products[:, n][:, used][:, :, used] for n in (0, 1))
    upper = np.triu(step_bend.sum(axis=0))
    of_residual, of_bends = products[:, 2, used].sum(axis=0), scales @ products[:, 3, used]
    inner = np.linalg.solve(upper, of_residual)
    outer = np.diag(upper) * inner + np.tensordot(scales, bend_bend, 1) @ inner - of_bends
    of_steps, of_bends = np.zeros((2, len(memory.slots)))
    of_steps[: len(used)] = np.linalg.solve(upper.T, outer)
    of_bends[: len(used)] = -inner
    return replace(memory, move=AHEAD, scales=scales, of_steps=of_steps, of_bends=of_bends)


def _sizes(params: Params, counts: Array) -> Array:
    """Square root of the tokens of each word's group and of a component, (J, K)."""
    layout = params.prior.layout
    totals = layout.group_sums(counts)
    roots = np.sqrt(np.maximum(totals, 1e-6 * totals.mean()))
    return np.asarray(roots[layout.group_of_word].astype(counts.dtype))
