# SPDX-License-Identifier: BSD-3-Clause
"""Curves of quality against time: measuring and comparing them."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

__all__ = ["Answer", "Race", "Watch", "best_value", "median_time", "race", "time_to"]

Point = Sequence[float]  # seconds, passes, value (lower is better)


@dataclass(frozen=True)
class Answer:
    """The estimates of a tool so far, computed on call.

    components: (K, J); scores: (I, K); alpha: (K,), if it is learnt.
    """

    components: Callable[[], Any]
    scores: Callable[[], Any] | None = None
    alpha: Callable[[], Any] | None = None


@dataclass
class Watch:
    """A stopwatch that stops while an answer is evaluated.

    ``processor`` is the processor time that goes with the seconds, of all threads and of processes
    that have ended; processes that still run are not counted.

    Parameters
    ----------
    judge : callable
        Takes an Answer, returns a number; lower is better.
    budget : float
        Largest number of seconds of training.
    stop_at : float
        The fit may end when the judge's number is no higher.
    spacing : float
        An answer is evaluated when the seconds have grown by this factor since the last one.
    clock : callable
        Wall time, or the time of the process on a busy machine.
    """

    judge: Callable[[Answer], float]
    budget: float
    stop_at: float = -math.inf
    spacing: float = 1.2
    clock: Callable[[], float] = time.perf_counter
    points: list[tuple[float, float, float]] = field(default_factory=list)
    processor: float = 0.0
    _spent: float = 0.0
    _began: float | None = None
    _processor_began: float = 0.0

    def start(self) -> None:
        """Start or continue."""
        self._processor_began = _processor_time()
        self._began = self.clock()

    def stop(self) -> None:
        """Stop."""
        if self._began is not None:
            self._spent = max(self._spent + self.clock() - self._began, 0.0)
            self.processor = max(self.processor + _processor_time() - self._processor_began, 0.0)
            self._began = None

    def restart(self, less: tuple[float, float] = (0.0, 0.0)) -> None:
        """Start from 0; ``less`` is what is not to be counted: seconds and processor time."""
        self._spent, self.processor = -less[0], -less[1]
        self.start()

    def split(self) -> tuple[float, float]:
        """Stop, and return the seconds and the processor time."""
        self.stop()
        return self._spent, self.processor

    @property
    def seconds(self) -> float:
        """Seconds of training so far."""
        running = 0.0 if self._began is None else self.clock() - self._began
        return self._spent + running

    def lap(self, passes: float, answer: Answer, due: bool = False) -> bool:
        """Evaluate the answer if ``due`` or after some time; return whether the fit is over."""
        self.stop()
        last = self.points[-1][0] if self.points else 0.0
        over = self._spent >= self.budget
        if over or due or self._spent >= last * self.spacing:
            self.points.append((self._spent, passes, self.judge(answer)))
            over = over or self.points[-1][2] <= self.stop_at
        self.start()
        return over

    def close(self, passes: float, answer: Answer) -> None:
        """Evaluate the last answer of a fit that ended by itself, unless it is known."""
        self.stop()
        if not self.points or self.points[-1][1] < passes:
            self.points.append((self._spent, passes, self.judge(answer)))


def _processor_time() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


@dataclass(frozen=True)
class Race:
    """The outcome of a comparison at one target.

    Attributes
    ----------
    target : float
    peer, ours : str or None
        The fastest tool of each side, None if none reached the target.
    peer_seconds, our_seconds : float
        Median time to the target; if no tool reached it, the longest time of a tool.
    """

    target: float
    peer: str | None
    peer_seconds: float
    ours: str | None
    our_seconds: float

    @property
    def ratio(self) -> float:
        """Peer's time over ours; a lower bound if no peer reached the target, nan if we did not."""
        return self.peer_seconds / self.our_seconds if self.ours is not None else math.nan

    @property
    def at_least(self) -> bool:
        """Whether the ratio is a lower bound."""
        return self.peer is None

    def meets(self, floor: float) -> bool:
        """Whether the ratio reaches the floor."""
        return self.ours is not None and self.ratio >= floor


def time_to(points: Sequence[Point], target: float) -> float:
    """Return the seconds until the value was no higher than the target; inf if it never was.

    Between two points the logarithm of the time is interpolated linearly in the value.
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
    """Return the median over repeats of the time to the target."""
    return statistics.median(time_to(points, target) for points in curves)


def best_value(curves: Sequence[Sequence[Point]], share: float = 1.0) -> float:
    """Return the median over repeats of the lowest value in this share of each curve's time.

    Between two points it is interpolated as in ``time_to``.
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
    peers, ours : dict of the curves of each tool, one per repeat
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
