# SPDX-License-Identifier: BSD-3-Clause
"""Draw lines on logarithmic axes as plain SVG, with no package to install."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

__all__ = ["Axis", "Line", "chart"]

# Colours that colour-blind readers can tell apart (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 84, 226, 52, 56


@dataclass(frozen=True)
class Line:
    """A line with its name; ``points`` are (x, y) pairs, both above 0."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    dots: bool = False


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis that covers the values given to it."""

    title: str
    values: Sequence[float]
    start: float = field(init=False)
    end: float = field(init=False)

    def __post_init__(self) -> None:
        """Leave a little room at both ends."""
        logs = [math.log10(value) for value in self.values if value > 0] or [0.0, 1.0]
        room = max(0.04 * (max(logs) - min(logs)), 0.01)
        object.__setattr__(self, "start", min(logs) - room)
        object.__setattr__(self, "end", max(logs) + room)

    def share(self, value: float) -> float:
        """Where a value falls, 0 at the start and 1 at the end."""
        return (math.log10(max(value, 1e-300)) - self.start) / (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Four to nine round numbers."""
        for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
            ticks = self._round(digits)
            if len(ticks) >= 4:
                return ticks[:: 1 + len(ticks) // 10]
        return self._evenly()

    def _round(self, digits: Sequence[float]) -> list[float]:
        powers = range(math.floor(self.start), math.ceil(self.end) + 1)
        values = [digit * 10.0**power for power in powers for digit in digits]
        return [value for value in values if 0.0 <= self.share(value) <= 1.0]

    def _evenly(self) -> list[float]:
        low, high = 10.0**self.start, 10.0**self.end
        raw = (high - low) / 5
        unit = 10.0 ** math.floor(math.log10(raw))
        step = min((unit, 2 * unit, 5 * unit, 10 * unit), key=lambda size: abs(size - raw))
        first = math.ceil(low / step)
        return [n * step for n in range(first, math.floor(high / step) + 1)]


def chart(
    title: str, across: str, up: str, lines: Sequence[Line], levels: Sequence[float] = ()
) -> str:
    """Draw lines.

    Parameters
    ----------
    title, across, up : str
        Titles of the chart and of its axes.
    lines : sequence of Line
    levels : sequence of float
        Heights to mark with a thin line across (targets).

    Returns
    -------
    str
        An SVG document.
    """
    x = Axis(across, [point[0] for line in lines for point in line.points])
    y = Axis(up, [*(point[1] for line in lines for point in line.points), *levels])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, 26, title, size=15, weight="bold"),
        *_axes(x, y),
        *(_level(y, level) for level in levels),
    ]
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        parts += [*_line(line, x, y, colour), *_legend(line, number, colour)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _place(x: Axis, y: Axis, point: tuple[float, float]) -> tuple[float, float]:
    return (
        LEFT + x.share(point[0]) * (WIDTH - LEFT - RIGHT),
        HEIGHT - BOTTOM - y.share(point[1]) * (HEIGHT - TOP - BOTTOM),
    )


def _axes(x: Axis, y: Axis) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for value in x.ticks:
        at, _ = _place(x, y, (value, 1.0))
        parts += [_rule(at, TOP, at, bottom), _text(at, bottom + 18, _label(value), "middle")]
    for value in y.ticks:
        _, at = _place(x, y, (1.0, value))
        parts += [_rule(LEFT, at, right, at), _text(LEFT - 8, at + 4, _label(value), "end")]
    middle = (TOP + bottom) / 2
    return [
        *parts,
        f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" '
        'fill="none" stroke="#444"/>',
        _text((LEFT + right) / 2, HEIGHT - 14, x.title, "middle", size=13),
        f'<text transform="translate(20 {middle:.1f}) rotate(-90)" text-anchor="middle" '
        f'font-size="13">{escape(y.title)}</text>',
    ]


def _line(line: Line, x: Axis, y: Axis, colour: str) -> list[str]:
    places = [_place(x, y, point) for point in line.points]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
    dash = ' stroke-dasharray="6 4"' if line.dashed else ""
    drawn = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>']
    if line.dots or len(places) == 1:
        drawn += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"/>' for a, b in places]
    return drawn


def _legend(line: Line, number: int, colour: str) -> list[str]:
    left, height = WIDTH - RIGHT + 14, TOP + 12 + 20 * number
    dash = ' stroke-dasharray="6 4"' if line.dashed else ""
    return [
        f'<line x1="{left}" y1="{height - 4}" x2="{left + 24}" y2="{height - 4}" '
        f'stroke="{colour}" stroke-width="2.5"{dash}/>',
        _text(left + 30, height, line.name),
    ]


def _level(y: Axis, level: float) -> str:
    at = HEIGHT - BOTTOM - y.share(level) * (HEIGHT - TOP - BOTTOM)
    return (
        f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#b00" '
        f'stroke-dasharray="2 3"/>{_text(LEFT + 5, at - 4, _label(level), colour="#b00")}'
    )


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#e4e4e4"/>'


def _text(
    x: float, y: float, text: str, anchor: str = "start", colour: str = "#222", size: int = 12,
    weight: str = "normal",
) -> str:  # fmt: skip
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
        f'font-size="{size}" font-weight="{weight}">{escape(text)}</text>'
    )


def _label(value: float) -> str:
    for size, suffix in ((1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:g}{suffix}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
