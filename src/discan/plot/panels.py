# SPDX-License-Identifier: BSD-3-Clause
"""Small charts side by side, with axes of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discan.plot.lettering import label, plain_width, shortened
from discan.plot.theme import TITLE_HEIGHT, axis, note

__all__ = ["Grid"]


@dataclass(frozen=True)
class Grid:
    """Charts in rows, as many side by side as the figure is wide.

    Attributes
    ----------
    n : int
        Number of charts.
    left, wide, tall : int
        Pixels of the labels to the left of a chart, and of the chart.
    above, gap, below, right : int
        Pixels of its heading, between two charts, of labels below it, and to the right of the last.
    width : int
        Pixels that the figure should not exceed.
    """

    n: int
    left: int
    wide: int
    tall: int
    above: int = 26
    gap: int = 20
    below: int = 8
    right: int = 0
    width: int = 1160

    @property
    def n_columns(self) -> int:
        """Number of charts side by side; rows are filled as evenly as possible."""
        most = max(1, min(self.n, (self.width - 24) // (self.left + self.wide + self.gap)))
        n_rows = -(-self.n // most)
        return -(-self.n // n_rows)

    @property
    def n_rows(self) -> int:
        """Number of rows of charts."""
        return -(-self.n // self.n_columns)

    @property
    def _size(self) -> tuple[float, float]:
        """Width and height of all charts, without the margins."""
        across = self.n_columns * (self.left + self.wide + self.gap) - self.gap
        up = self.n_rows * (self.above + self.tall + self.below)
        return max(across, 420), up

    def layout(self) -> dict[str, Any]:
        """Return the size and the margins of the figure."""
        across, up = self._size
        return {
            "width": across + 24 + self.right, "height": up + TITLE_HEIGHT + 16,
            "margin": {"l": 12, "r": 12 + self.right, "t": TITLE_HEIGHT + 8, "b": 8},
        }  # fmt: skip

    def axes_of(self, k: int) -> dict[str, str]:
        """Return the names of the axes of a chart, as a trace has them."""
        suffix = _suffix(k)
        return {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}

    def axes(self, k: int, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
        """Return the axes of a chart; ``x`` and ``y`` are arguments of `axis`."""
        across, up = self._size
        row, column = divmod(k, self.n_columns)
        start = column * (self.left + self.wide + self.gap) + self.left
        top = row * (self.above + self.tall + self.below) + self.above
        suffix = _suffix(k)
        return {
            f"xaxis{suffix}": axis(
                domain=[start / across, (start + self.wide) / across], anchor=f"y{suffix}", **x
            ),
            f"yaxis{suffix}": axis(
                domain=[max(1 - (top + self.tall) / up, 0), min(1 - top / up, 1)],
                anchor=f"x{suffix}", **y,
            ),
        }  # fmt: skip

    def heading(self, k: int, text: str, end: str = "") -> dict[str, Any]:
        """Return the heading above a chart, from the left edge of its labels.

        The text is cut to the width of the chart; what ``end`` adds stays.
        """
        longest, room = len(text), self.left + self.wide + self.gap - 8
        while longest > 4 and plain_width(shortened(text, longest) + end, 13, bold=True) > room:
            longest -= 1
        across, up = self._size
        row, column = divmod(k, self.n_columns)
        start = column * (self.left + self.wide + self.gap)
        top = row * (self.above + self.tall + self.below) + self.above
        return note(
            label(text, longest) + label(end), start / across, 1 - (top - 3) / up, xanchor="left",
            yanchor="bottom", font={"size": 13, "weight": "bold"},
        )  # fmt: skip


def _suffix(k: int) -> str:
    return "" if k == 0 else str(k + 1)
