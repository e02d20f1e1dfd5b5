# SPDX-License-Identifier: BSD-3-Clause
"""Extrapolation of EM: every second pass begins ahead of where the last two led."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np

from discan.algorithms.base import Clock, Params, Start
from discan.algorithms.expectation import Expectation
from discan.algorithms.footprint import Sizes, Tables
from discan.algorithms.log_prior import log_prior
from discan.algorithms.schedule import Schedule
from discan.algorithms.score_states import ScoreState
from discan.algorithms.statistics import Stats
from discan.algorithms.wrapper import Wrapper
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.data.rules import MOST, ONE, stored
from discan.engines import Engine
from discan.typing import Array

__all__ = ["Squarem", "Strides", "Trail"]

# No weight falls below this fraction of what EM gave it, because a zero would stay for ever.
_FLOOR = 0.1
_GROWTH = 4.0
# Beside those of EM, the loadings where a pair of passes began, and their differences.
TABLES = Tables(visit=5, state=3, params=3)


@dataclass
class Trail(ScoreState):
    """Scores of a block, where the last pass began (``old``) and what came before (``older``)."""

    old: Array = stored("n", "K", low=0, high=MOST, kw_only=True)
    older: Array = stored("n", "K", low=0, high=MOST, kw_only=True)


@dataclass(frozen=True)
class Strides:
    """Memory of the extrapolation.

    Attributes
    ----------
    second : bool
        Whether the next pass is the second of a pair.
    retreats : bool
        Whether the next pass begins again at the last result of EM.
    stride, longest : float
        Length of the next stride; 1 is none. The longest that is allowed.
    begun : (J, K) array or None
        Loadings where the next pass begins if it takes a stride, or where the present pair began.
    reached : float
        Objective where the last pass began, up to constants.
    """

    second: bool = stored(types="flag", default=False)
    retreats: bool = stored(types="flag", default=False)
    stride: float = stored(types="number", low=1, default=1.0)
    longest: float = stored(types="number", low=1, default=1.0)
    begun: Array | None = stored("J", "K", low=0, high=ONE, default=None)
    reached: float = stored(types="number", finite=False, default=-np.inf)
    # only during a visit: the last result of EM, and the loadings where the pass began
    latest: Array | None = field(default=None, metadata={"transient": True})
    departure: Array | None = field(default=None, metadata={"transient": True})

    @property
    def problem(self) -> str | None:
        """Why there can be no such memory between two cycles."""
        if self.begun is None and (self.second or self.stride > 1.0):
            return "the point where a pair of passes began is missing"
        return None


@dataclass(frozen=True)
class Squarem(Wrapper):
    """EM with squared extrapolation (SQUAREM), in the basis of the proportions.

    From y two passes lead to x and x'. With the stride a = |x - y| / |(x' - x) - (x - y)| of the
    loadings, the next pair of passes begins at

        (1 - a)^2 y + 2 a (1 - a) x + a^2 x',

    scores and loadings alike, which keeps all totals. The pass that begins there tells whether the
    objective fell; if it did, the pass is made again from x'. Parameters and scores are always
    those that a pass of EM gave; the point ahead is kept in the memory.
    """

    wrapped: Expectation

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """As EM, with states and a memory of its own."""
        schedule = super().plan(corpus, n_components, seed)
        sizes = Sizes.of(corpus, n_components, schedule.rounds, schedule.lanes)
        memory = TABLES.memory(sizes, self.wrapped.real(corpus, n_components))
        states = TABLES.state * schedule.state_bytes
        return replace(
            schedule, state_type=Trail, memory_type=Strides, state_bytes=states, **memory
        )

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Begin with two plain passes."""
        return replace(super().init(params, schedule, start, clock), memory=Strides())

    def init_state(
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> Trail:
        """Keep the scores of the last two passes."""
        state = super().init_state(params, block, start, clock, lane)
        kept = {f.name: getattr(state, f.name) for f in fields(ScoreState)}
        return Trail(**kept, old=state.score_shape.copy(), older=state.score_shape.copy())

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:
        """Move the loadings to the point ahead, if there is one."""
        memory: Strides = params.memory
        departure = memory.begun if memory.stride > 1.0 else params.loadings
        memory = replace(memory, latest=params.loadings, departure=departure)
        ahead = replace(params, loadings=departure, memory=memory)
        return super().prepare(ahead, clock, engine)

    def begin_step(self, params: Params, block: Block, state: Trail) -> None:
        """Move the scores to the point ahead, if there is one."""
        _depart(state, params.memory)
        super().begin_step(params, block, state)

    def update(
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        """Set the loadings from the expected counts; after a second pass, extrapolate.

        If the objective fell, return to the last result of EM and ask for the pass again.
        """
        memory: Strides = params.memory
        begun, departure, latest = memory.begun, memory.departure, memory.latest
        assert departure is not None
        level = stats.objective + log_prior(departure, params.prior)
        memory = replace(memory, latest=None, departure=None)
        if memory.stride > 1.0 and not level >= memory.reached:
            longest = max(1.0, memory.longest / _GROWTH)
            memory = replace(memory, retreats=True, stride=1.0, longest=longest)
            return replace(params, loadings=latest, memory=memory, repeat=True)
        after = super().update(params, stats, fraction, clock, engine)
        memory = replace(memory, retreats=False, stride=1.0, reached=level)
        loadings = np.asarray(after.loadings)
        if memory.second:
            assert begun is not None
            stride, longest = _stride(begun, departure, loadings, memory.longest)
            memory = replace(memory, stride=stride, longest=longest)
            if stride > 1.0:
                begun = params.prior.normalise(_ahead(begun, departure, loadings, stride))
        else:
            begun = departure
        memory = replace(memory, begun=begun, second=not memory.second)
        return replace(after, memory=memory, repeat=False)


def _depart(state: Trail, memory: Strides) -> None:
    """Move the scores of a block to where the next pass begins."""
    new = state.score_shape.copy()
    if memory.retreats:
        state.score_shape[...] = state.older
    elif memory.stride > 1.0:
        ahead = _ahead(state.older, state.old, new, memory.stride)
        # a document without words has no scores; 1e-300 would be 0 in single precision
        totals = np.maximum(ahead.sum(axis=1, keepdims=True), np.finfo(ahead.dtype).tiny)
        state.score_shape[...] = ahead * (new.sum(axis=1, keepdims=True) / totals)
    # the first pass of a pair keeps where to retreat to, the second where the pair began
    if memory.second:
        state.older[...] = state.old
    elif not memory.retreats:
        state.older[...] = new
    state.old[...] = state.score_shape


def _ahead(begun: Array, old: Array, new: Array, stride: float) -> Array:
    rest = 1.0 - stride
    ahead = rest * rest * begun
    ahead += 2.0 * stride * rest * old
    ahead += stride * stride * new
    return np.asarray(np.maximum(ahead, _FLOOR * new, out=ahead))


def _stride(begun: Array, old: Array, new: Array, longest: float) -> tuple[float, float]:
    """Length of the next stride, and of the longest that may follow it."""
    first = old - begun
    bend = new - old - first
    squares = float(np.vdot(first, first)), float(np.vdot(bend, bend))
    stride = float(np.sqrt(squares[0] / squares[1])) if squares[1] > 0.0 else 1.0
    if stride < longest:
        return max(1.0, stride), longest
    return longest, longest * _GROWTH
