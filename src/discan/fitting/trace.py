# SPDX-License-Identifier: BSD-3-Clause
"""The record of a fit, one row per cycle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discan.typing import Array

__all__ = ["Trace"]


class Trace:
    """A row per cycle; ``trace["objective"]`` is a column."""

    columns = ("cycle", "objective", "log_likelihood", "seconds", "tokens_per_second")

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []

    @classmethod
    def of(cls, rows: Array) -> Trace:
        """Make a trace of an array of rows, (cycles, columns)."""
        trace = cls()
        for row in rows:
            trace.add(*map(float, row))
        return trace

    def add(self, *row: float) -> None:
        """Append the row of a cycle."""
        self._rows.append(row)

    def __len__(self) -> int:
        """Return the number of cycles."""
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        """Iterate over rows, each a dict."""
        return (dict(zip(self.columns, row, strict=True)) for row in self._rows)

    def __getitem__(self, column: str) -> Array:
        """Return a column as an array."""
        at = self.columns.index(column)
        return np.array([row[at] for row in self._rows])

    def table(self) -> Array:
        """Return all rows as one array, (cycles, columns)."""
        return np.array(self._rows, dtype=np.float64).reshape(len(self), len(self.columns))

    def last(self, column: str) -> float:
        """Return the latest value of a column."""
        return self._rows[-1][self.columns.index(column)]

    def __repr__(self) -> str:
        """Describe the trace in one line."""
        if not self._rows:
            return "<Trace: no cycles>"
        first, last = self._rows[0][1], self._rows[-1][1]
        return f"<Trace: {len(self)} cycles, objective {first:.6g} to {last:.6g}>"
