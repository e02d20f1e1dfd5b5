# SPDX-License-Identifier: BSD-3-Clause
"""Quality against time: how a curve is taken, and what is read off it."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

__all__ = ["Answer", "Race", "Watch", "best_value", "median_time", "race", "time_to"]

Point = Sequence[float]  # seconds, passes, value: the lower the better


@dataclass(frozen=True)
class Answer:
    """What a tool has found so far, worked out only if asked for.

    components: (K, J); scores: (I, K); alpha: (K,), where it was learnt.
    """

    components: Callable[[], Any]
    scores: Callable[[], Any] | None = None
    alpha: Callable[[], Any] | None = None


@dataclass
class Watch:
    """A stopwatch that is halted while an answer is judged.

    Parameters
    ----------
    judge : callable
        Takes an Answer, returns a number, the lower the better.
    budget : float
        Seconds of training, at most.
    stop_at : float
        The fit may end when the judge's number is no higher.
    spacing : float
        A new answer is judged when the seconds have grown by this factor.
    clock : callable
        Wall time, or the process's own time where a busy machine would spoil it.
    """

    judge: Callable[[Answer], float]
    budget: float
    stop_at: float = -math.inf
    spacing: float = 1.2
    clock: Callable[[], float] = time.perf_counter
    points: list[tuple[float, float, float]] = field(default_factory=list)
    _spent: float = 0.0
    _began: float | None = None

    def start(self) -> None:
        """Let the time run."""
        self._began = self.clock()

    def stop(self) -> None:
        """Halt."""
        if self._began is not None:
            self._spent += self.clock() - self._began
            self._began = None

    @property
    def seconds(self) -> float:
        """Seconds of training so far."""
        running = 0.0 if self._began is None else self.clock() - self._began
        return self._spent + running

    def lap(self, passes: float, answer: Answer) -> bool:
        """Judge the answer if it is time to, and say whether the fit is over."""
        self.stop()
        last = self.points[-1][0] if self.points else 0.0
        over = self._spent >= self.budget
        if over or self._spent >= last * self.spacing:
            self.points.append((self._spent, passes, self.judge(answer)))
            over = over or self.points[-1][2] <= self.stop_at
        self.start()
        return over

    def close(self, passes: float, answer: Answer) -> None:
        """Judge the last answer of a fit that ended by itself, if it was not."""
        self.stop()
        if not self.points or self.points[-1][1] < passes:
            self.points.append((self._spent, passes, self.judge(answer)))


@dataclass(frozen=True)
class Race:
    """The outcome of a comparison at one target.

    Attributes
    ----------
    target : float
    peer, ours : str or None
        The fastest tool of each side, None if none got there.
    peer_seconds, our_seconds : float
        Median time to the target; where nobody got there, the longest time that was tried.
    """

    target: float
    peer: str | None
    peer_seconds: float
    ours: str | None
    our_seconds: float

    @property
    def ratio(self) -> float:
        """Times sooner; a lower bound if no peer got there, nan if we did not."""
        return self.peer_seconds / self.our_seconds if self.ours is not None else math.nan

    @property
    def at_least(self) -> bool:
        """Whether the ratio is a lower bound."""
        return self.peer is None

    def meets(self, floor: float) -> bool:
        """Whether the ratio reaches the floor."""
        return self.ours is not None and self.ratio >= floor


def time_to(points: Sequence[Point], target: float) -> float:
    """Seconds until the value first was no higher than the target; inf if it never was.

    Between two points the logarithm of the time is taken to be linear in the value.
    """
    before = None
    for seconds, _, value in points:
        if value <= target:
            if before is None or before[1] <= value:
                return seconds
            share = (before[1] - target) / (before[1] - value)
            start = max(before[0], 1e-9)
            return start * (max(seconds, 1e-9) / start) ** share
        before = (seconds, value)
    return math.inf


def median_time(curves: Sequence[Sequence[Point]], target: float) -> float:
    """Median over repeats of the time to the target."""
    return statistics.median(time_to(points, target) for points in curves)


def best_value(curves: Sequence[Sequence[Point]], share: float = 1.0) -> float:
    """Median over repeats of the lowest value within this share of each curve's time.

    Between two points it is read off as by ``time_to``.
    """
    lowest = []
    for points in curves:
        limit = points[-1][0] * share
        within = [value for seconds, _, value in points if seconds <= limit]
        for (start, _, before), (end, _, after) in pairwise(points):
            if start < limit < end:
                part = math.log(limit / max(start, 1e-9)) / math.log(end / max(start, 1e-9))
                within.append(before + part * (after - before))
        lowest.append(min(within or [points[0][2]]))
    return statistics.median(lowest)


def race(
    peers: dict[str, list[list[Point]]], ours: dict[str, list[list[Point]]], target: float
) -> Race:
    """Compare the fastest peer with the fastest of ours.

    Parameters
    ----------
    peers, ours : dict of the curves of each tool, one a repeat
    """
    peer, peer_seconds = _fastest(peers, target)
    own, own_seconds = _fastest(ours, target)
    return Race(target, peer, peer_seconds, own, own_seconds)


def _fastest(tools: dict[str, list[list[Point]]], target: float) -> tuple[str | None, float]:
    times = {tool: median_time(curves, target) for tool, curves in tools.items() if curves}
    if not times:
        return None, math.nan
    tool = min(times, key=lambda name: times[name])
    if math.isfinite(times[tool]):
        return tool, times[tool]
    tried = [statistics.median(points[-1][0] for points in curves) for curves in tools.values()]
    return None, max(tried)
