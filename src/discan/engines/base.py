# SPDX-License-Identifier: BSD-3-Clause
"""The contract of an engine: run independent pieces of work and return the results in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

__all__ = ["Engine", "Job", "pieces"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Job(Protocol):
    """The heavy part of a visit: work on lanes that touch nothing in common, here or elsewhere."""

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

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return ``[work(item) for item in items]``, in this order whichever ran first."""
        ...

    def visit(self, job: Job, lanes: Sequence[int]) -> list[Any]:
        """Return the results of a job on these lanes, in this order wherever they ran."""
        ...

    def close(self) -> None:
        """Release the threads or processes of the engine."""
        ...


def pieces(n_items: int, n_pieces: int = 8) -> list[tuple[int, int]]:
    """Cut items 0 to n - 1 into pieces (first, last + 1), by default for several threads."""
    edges = [n_items * piece // n_pieces for piece in range(n_pieces + 1)]
    return [(first, last) for first, last in pairwise(edges) if last > first]
