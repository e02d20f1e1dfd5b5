# SPDX-License-Identifier: BSD-3-Clause
"""What an engine must do: run independent pieces of work and give the results in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

__all__ = ["Engine"]

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
