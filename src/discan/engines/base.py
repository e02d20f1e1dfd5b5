# SPDX-License-Identifier: BSD-3-Clause
"""What an engine must do: run independent pieces of work and give the results in order."""

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
        """How many pieces run at once: for how to cut work up, never for what comes out."""
        ...

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return ``[work(item) for item in items]``, in that order whatever ran first."""
        ...

    def close(self) -> None:
        """Give back what the engine holds."""
        ...


def pieces(n_items: int, n_pieces: int = 8) -> list[tuple[int, int]]:
    """Cut items 0 to n - 1 into pieces (first, last + 1), by default for several threads."""
    edges = [n_items * piece // n_pieces for piece in range(n_pieces + 1)]
    return [(first, last) for first, last in pairwise(edges) if last > first]
