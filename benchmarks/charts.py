# SPDX-License-Identifier: BSD-3-Clause
"""Draw lines over logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discan.plot import theme
from discan.plot.lettering import label
from discan.plot.palette import PALETTE
from discan.plot.svg import to_svg

__all__ = ["Line", "chart", "log_axis"]

TARGET = "#bb0000"


@dataclass(frozen=True)
class Line:
    """A line with its name; ``points`` are (x, y) pairs, both above 0."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    dots: bool = False

    def trace(self, colour: str) -> dict[str, Any]:
        """Describe the line for Plotly, in logarithms; a single point is a dot."""
        x = [math.log10(max(point[0], 1e-300)) for point in self.points]
        y = [math.log10(max(point[1], 1e-300)) for point in self.points]
        return {
            "type": "scatter", "name": label(self.name), "x": x, "y": y,
            "mode": "lines+markers" if self.dots or len(x) == 1 else "lines",
            "line": {"color": colour, "width": 2, "dash": "dash" if self.dashed else "solid"},
            "marker": {"color": colour, "size": 7},
            "hovertext": [f"{_label(a)}, {_label(b)}" for a, b in self.points],
        }  # fmt: skip


def chart(
    title: str, across: str, up: str, lines: Sequence[Line], levels: Sequence[float] = (),
    subtitle: str = "",
) -> str:  # fmt: skip
    """Draw lines as SVG.

    Parameters
    ----------
    title, across, up, subtitle : str
        Titles of the chart and of its axes.
    lines : sequence of Line
    levels : sequence of float
        Heights to mark with a dotted line (targets).
    """
    x = log_axis(across, [point[0] for line in lines for point in line.points])
    y = log_axis(up, [*(point[1] for line in lines for point in line.points), *levels])
    right = theme.legend_width([line.name for line in lines])
    marks = [(math.log10(level), _label(level)) for level in levels]
    layout = {
        **theme.line_chart({**x, "showgrid": True}, y, width=600, right=right),
        **theme.legend(),
        "shapes": [theme.rule(y=at, color=TARGET) for at, _ in marks],
        "annotations": [
            {"text": text, "showarrow": False, "xref": "paper", "yref": "y", "x": 0, "y": at,
             "xanchor": "left", "yanchor": "bottom", "xshift": 5,
             "font": {"size": 12, "color": TARGET}}
            for at, text in marks
        ],
    }  # fmt: skip
    names = ", ".join(label(line.name) for line in lines)
    traces = [line.trace(PALETTE[n % len(PALETTE)]) for n, line in enumerate(lines)]
    return to_svg(
        theme.figure(
            traces, layout, title=label(title), subtitle=subtitle,
            description=f"Lines of {up} against {across}, both logarithmic: {names}.",
        )
    )  # fmt: skip


def log_axis(title: str, values: Sequence[float]) -> dict[str, Any]:
    """Return title, range and ticks of an axis of log10(value), with a margin at both ends."""
    logs = [math.log10(value) for value in values if value > 0] or [0.0, 1.0]
    margin = max(0.04 * (max(logs) - min(logs)), 0.01)
    start, end = min(logs) - margin, max(logs) + margin
    ticks = _ticks(start, end)
    return {
        "title": label(title),
        "range": [start, end],
        "tickvals": [math.log10(tick) for tick in ticks],
        "ticktext": [_label(tick) for tick in ticks],
    }


def _ticks(start: float, end: float) -> list[float]:
    """Return four to nine round numbers between 10^start and 10^end."""
    powers = range(math.floor(start), math.ceil(end) + 1)
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        values = [digit * 10.0**power for power in powers for digit in digits]
        ticks = [value for value in values if start <= math.log10(value) <= end]
        if len(ticks) >= 4:
            return ticks[:: 1 + len(ticks) // 10]
    return [float(tick) for tick in theme.linear_ticks(10.0**start, 10.0**end)]


def _label(value: float) -> str:
    for size, suffix in ((1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:g}{suffix}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
