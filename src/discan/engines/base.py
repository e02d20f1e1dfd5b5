# SPDX-License-Identifier: BSD-3-Clause
"""The contract of an engine: run independent pieces of work and return the results in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

__all__ = ["Engine", "pieces"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs pieces of work that touch nothing in common."""

    @property
    def n_workers(self) -> int:
        """Number of pieces that run at once; it may decide how work is cut, never the result."""
        ...

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return ``[work(item) for item in items]``, in this order whichever ran first."""
        ...

    def close(self) -> None:
        """Release the threads or processes of the engine."""
        ...


def pieces(n_items: int, n_pieces: int = 8) -> list[tuple[int, int]]:
    """Cut items 0 to n - 1 into pieces (first, last + 1), by default for several threads."""
    edges = [n_items * piece // n_pieces for piece in range(n_pieces + 1)]
    return [(first, last) for first, last in pairwise(edges) if last > first]
