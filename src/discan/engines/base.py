# SPDX-License-Identifier: BSD-3-Clause
"""The contract of an engine: run independent pieces of work and return the results in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

__all__ = ["SPARE", "Engine", "Job", "large_at_once", "pieces"]

SPARE = 1  # large results that may wait for an earlier one, so that a quick thread goes on

Item = TypeVar("Item")
Result = TypeVar("Result")


class Job(Protocol):
    """The heavy part of a visit: work on lanes that touch nothing in common, here or elsewhere."""

    @property
    def large(self) -> bool:
        """Whether results take much memory, so that few may wait for those of earlier lanes."""
        ...

    @property
    def folder(self) -> str:
        """Folder for files on their way, which all processes see; "" if there is none."""
        ...

    def __call__(self, lane: int) -> Any:
        """Work on a lane in this process, and return its result."""
        ...

    def remote(self) -> Callable[[Sequence[int]], Any]:
        """Return what works on lanes in another process; it can be pickled."""
        ...

    def received(self, answer: Any) -> list[Any]:
        """Take what ``remote()`` returned elsewhere, and return the results of its lanes."""
        ...


class Engine(Protocol):
    """Runs pieces of work that touch nothing in common."""

    @property
    def n_workers(self) -> int:
        """Number of pieces that run at once; it may decide how work is cut, never the result."""
        ...

    @property
    def local(self) -> Engine:
        """Engine of this process, for documents in memory."""
        ...

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return ``[work(item) for item in items]``, in this order whichever ran first."""
        ...

    def visit(self, job: Job, lanes: Sequence[int], fold: Callable[[Any], None]) -> None:
        """Give ``fold`` the results of a job on these lanes, one by one and in this order.

        A result is handed on as soon as those before it were, while later lanes are at work.
        """
        ...

    def close(self) -> None:
        """Release the threads or processes of the engine."""
        ...


def large_at_once(n_lanes: int, n_workers: int) -> int:
    """Most large results in memory at once: one per thread, those that wait, and the sum."""
    return min(n_lanes, n_workers + (SPARE if n_workers > 1 else 0) + 1)


def pieces(n_items: int, n_pieces: int = 8) -> list[tuple[int, int]]:
    """Cut items 0 to n - 1 into pieces (first, last + 1), by default for several threads."""
    edges = [n_items * piece // n_pieces for piece in range(n_pieces + 1)]
    return [(first, last) for first, last in pairwise(edges) if last > first]
