# SPDX-License-Identifier: BSD-3-Clause
"""Long strides for EM: every second pass begins ahead of where the last two led."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discan.algorithms.base import Clock, Params, Start, Stats
from discan.algorithms.expectation import Expectation, ScoreState
from discan.data.corpus import Block, Corpus
from discan.engines import Engine
from discan.kernels.variational import weighted_log_loadings
from discan.models import ScoreTable
from discan.typing import Array

__all__ = ["Accelerated"]

# No weight falls below this share of what EM gave it: a zero would be for ever.
_FLOOR = 0.1
_GROWTH = 4.0


class Accelerated(Expectation):
    """EM with squared extrapolation (SQUAREM), in the basis of the proportions.

    From y two passes lead to x and x'. With the stride a = |x - y| / |(x' - x) - (x - y)| of the
    loadings, the next pair of passes begins at

        (1 - a)^2 y + 2 a (1 - a) x + a^2 x',

    scores and loadings alike, which keeps all totals. The pass that begins there tells whether the
    objective fell; then it is made again from x'. Parameters and scores are always those that a
    pass of EM gave: the point ahead is a note to the next pass.
    """

    def accelerates(self, params: Params) -> bool:
        """Whether the objective of one pass may be held against that of the last."""
        return not params.learn

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Begin with two plain passes."""
        params = super().init_params(params, corpus, start, clock)
        notes = {**params.notes, "second": False, "retreats": False, "stride": 1.0, "longest": 1.0}
        return replace(params, notes=notes)

    def init_state(
        self, params: Params, table: ScoreTable, block: Block, start: Start, clock: Clock
    ) -> ScoreState:
        """Leave room for the scores of the last two passes."""
        state = super().init_state(params, table, block, start, clock)
        if self.accelerates(params):
            state.old, state.older = state.score_shape.copy(), state.score_shape.copy()
        return state

    def rehearse(self, params: Params, table: ScoreTable, block: Block, state: ScoreState) -> None:
        """Not before the point ahead is known."""
        if state.old is None:
            super().rehearse(params, table, block, state)

    def step(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState, clock: Clock,
        lane: Stats,
    ) -> None:  # fmt: skip
        """One pass of EM over the block, from the point ahead if there is one."""
        if state.old is not None and state.older is not None:
            new, notes = state.score_shape.copy(), params.notes
            if notes["retreats"]:
                state.score_shape[...] = state.older
            elif notes["stride"] > 1.0:
                ahead = _ahead(state.older, state.old, new, notes["stride"])
                totals = np.maximum(ahead.sum(axis=1, keepdims=True), 1e-300)
                state.score_shape[...] = ahead * (new.sum(axis=1, keepdims=True) / totals)
            # the first pass of a pair keeps where to retreat to, the second where the pair began
            if notes["second"]:
                state.older[...] = state.old
            elif not notes["retreats"]:
                state.older[...] = new
            state.old[...] = state.score_shape
            super().rehearse(params, table, block, state)
        super().step(params, table, block, state, clock, lane)

    def overshot(self, params: Params, stats: Stats) -> bool:
        """Whether the objective fell, and not for rounding alone."""
        notes = params.notes
        return bool(
            notes.get("stride", 1.0) > 1.0 and not self._level(params, stats) >= notes["reached"]
        )

    def retreat(self, params: Params) -> Params:
        """Go back to the last result of EM and think less of long strides."""
        longest = max(1.0, params.notes["longest"] / _GROWTH)
        notes = {**params.notes, "retreats": True, "stride": 1.0, "longest": longest}
        return replace(params, notes=notes)

    def update(
        self, params: Params, stats: Stats, share: float, clock: Clock, engine: Engine
    ) -> Params:
        """Set the loadings from the expected counts; after a second pass, look ahead."""
        after = super().update(params, stats, share, clock, engine)
        if not self.accelerates(params):
            return after
        departure = self._departure(params)
        notes = {**params.notes, "retreats": False, "stride": 1.0}
        notes["reached"] = self._level(params, stats)
        loadings = np.asarray(after.loadings)
        if notes["second"]:
            notes |= _stride(params.notes["begun"], departure, loadings, notes["longest"])
            if notes["stride"] > 1.0:
                ahead = _ahead(notes["begun"], departure, loadings, notes["stride"])
                notes["begun"] = params.prior.normalise(ahead)
        else:
            notes["begun"] = departure
        notes["second"] = not notes["second"]
        return replace(after, notes=notes)

    def pass_params(self, params: Params) -> Params:
        """Begin a pass from the loadings ahead of the last result, if it is to take a stride."""
        return replace(params, loadings=self._departure(params))

    def _departure(self, params: Params) -> Array:
        ahead = params.notes.get("stride", 1.0) > 1.0
        return np.asarray(params.notes["begun"] if ahead else params.loadings)

    def _level(self, params: Params, stats: Stats) -> float:
        """Objective where the pass began, up to constants."""
        gamma = params.prior.gamma
        if not gamma.any():
            return stats.objective
        return stats.objective + float(weighted_log_loadings(self._departure(params), gamma))


def _ahead(begun: Array, old: Array, new: Array, stride: float) -> Array:
    rest = 1.0 - stride
    ahead = rest * rest * begun
    ahead += 2.0 * stride * rest * old
    ahead += stride * stride * new
    return np.asarray(np.maximum(ahead, _FLOOR * new, out=ahead))


def _stride(begun: Array, old: Array, new: Array, longest: float) -> dict[str, float]:
    """Length of the next stride, and of the longest that may follow it."""
    first = old - begun
    bend = new - old - first
    squares = float(np.vdot(first, first)), float(np.vdot(bend, bend))
    stride = float(np.sqrt(squares[0] / squares[1])) if squares[1] > 0.0 else 1.0
    if stride < longest:
        return {"stride": max(1.0, stride), "longest": longest}
    return {"stride": longest, "longest": longest * _GROWTH}
