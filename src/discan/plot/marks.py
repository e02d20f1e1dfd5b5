# SPDX-License-Identifier: BSD-3-Clause
"""Turn the traces of a Plotly figure into shapes: bars, cells, curves, error bars and discs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.plot.lettering import lines_of, one_line
from discan.plot.palette import INK, blend
from discan.plot.scene import Box, Curve, Disc, Line, Pen, Shape, Text
from discan.plot.theme import linear_ticks
from discan.typing import Array

__all__ = ["Axis", "bars", "cells", "discs", "paint", "pen", "points", "refused", "text"]

DASHES = {"dot": "2 3", "dash": "6 4"}
SMALLEST = 0.05  # pixels: smaller rectangles are left out
# Where a text stands relative to its marker: anchor, and the shift to the side in pixels.
SIDES = {"middle center": ("middle", 0), "middle right": ("start", 5), "middle left": ("end", -5)}


@dataclass(frozen=True)
class Axis:
    """A map from data to pixels: ``low`` and ``high`` lie at ``start`` and ``end``."""

    low: float
    high: float
    start: float
    end: float
    settings: dict[str, Any] = field(default_factory=dict)

    def __call__(self, values: Any) -> Array:
        """Return the pixels of values."""
        part = (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    @property
    def ticks(self) -> Array:
        """The values that have a tick."""
        values = self.settings.get("tickvals")
        low, high = sorted((self.low, self.high))
        return linear_ticks(low, high) if values is None else np.asarray(values, dtype=np.float64)


def bars(trace: dict[str, Any], x: Axis, y: Axis, base: dict[float, float]) -> Iterator[Shape]:
    """Draw bars from the ends of the earlier ones, which ``base`` has and takes."""
    flat = trace.get("orientation", "v") == "h"
    at, long = (trace["y"], trace["x"]) if flat else (trace["x"], trace["y"])
    marker, n = trace.get("marker", {}), len(at)
    wide = _each(trace.get("width", 0.8), n)
    rows = zip(at, long, wide, _each(marker.get("color", INK), n), tips(trace), _parts(trace, n),
               strict=True)  # fmt: skip
    for place, length, across, colour, tip, part in rows:
        foot = base.get(float(place), 0.0)
        base[float(place)] = foot + float(length)
        sides = (place - across / 2, place + across / 2)
        ends = (foot, foot + length)
        yield from _box(x(ends if flat else sides), y(sides if flat else ends), colour, tip, part)


def cells(trace: dict[str, Any], x: Axis, y: Axis) -> Iterator[Shape]:
    """Draw the shaded cells of a heat map."""
    table = np.asarray(trace["z"], dtype=np.float64)
    low, high = float(trace["zmin"]), float(trace["zmax"])
    inwards = np.array([0.5, -0.5])
    gap_x, gap_y = inwards * trace.get("xgap", 0), inwards * trace.get("ygap", 0)
    told = trace.get("hovertext")
    for (i, k), value in np.ndenumerate(table):
        if not np.isnan(value):
            xs = np.sort(x((k - 0.5, k + 0.5))) + gap_x
            ys = np.sort(y((i - 0.5, i + 0.5))) + gap_y
            colour = blend(trace["colorscale"], (value - low) / (high - low))
            yield from _box(xs, ys, colour, told[i][k] if told is not None else "", None)


def points(trace: dict[str, Any], x: Axis, y: Axis) -> Iterator[Shape]:
    """Draw lines, areas, error bars, markers and their texts."""
    xs, ys = x(trace["x"]), y(trace["y"])
    mode = trace.get("mode", "lines")
    if "lines" in mode and len(xs):
        line, filled = trace.get("line", {}), trace.get("fill") == "toself"
        for piece in _pieces(np.column_stack([xs, ys])):
            yield Curve(
                piece, pen({"width": 2, **line}) if line.get("width", 2) else None,
                paint(trace.get("fillcolor")) if filled else None, float(trace.get("opacity", 1)),
                _told(trace["text"]) if filled and isinstance(trace.get("text"), str) else "",
            )  # fmt: skip
    error = trace.get("error_y", {})
    if error and error.get("visible", True):
        yield from _error_bars(trace, error, xs, y)
    if "markers" in mode:
        yield from discs(trace, xs, ys)
    if "text" in mode:
        yield from _letters(trace, xs, ys)


def discs(trace: dict[str, Any], xs: Array, ys: Array) -> Iterator[Shape]:
    """Draw circles, filled or open; a point without a value has none."""
    marker = trace.get("marker", {})
    n, ring = len(xs), marker.get("line", {})
    hollow = str(marker.get("symbol", "circle")).endswith("-open")
    opacity = marker.get("opacity", 1)
    settings = (marker.get("size", 6), marker.get("color", INK), ring.get("width", 0))
    rows = zip(xs, ys, *(_each(setting, n) for setting in settings), tips(trace),
               _parts(trace, n), strict=True)  # fmt: skip
    for at, up, size, colour, wide, tip, part in rows:
        if not (math.isfinite(at) and math.isfinite(up)):
            continue
        edge = Pen(paint(ring.get("color")), wide) if wide else None
        fill = None if hollow else paint(colour)
        yield Disc(at, up, size / 2, fill, edge, opacity, _told(tip), part)


def text(
    line: str, x: float, y: float, font: dict[str, Any], anchor: str = "start", turn: float = 0
) -> Iterator[Text]:
    """Draw one line of text, y at its baseline; nothing if it is empty."""
    if line:
        size, weight = float(font["size"]), str(font.get("weight") or "")
        yield Text(line, float(x), float(y), size, paint(font["color"]), anchor, turn, weight)


def pen(line: dict[str, Any]) -> Pen:
    """Return how Plotly's line is drawn."""
    return Pen(paint(line.get("color")), line.get("width", 1), DASHES.get(line.get("dash", ""), ""))


def paint(colour: Any) -> str:
    """Check that this is a colour, and nothing else: it becomes an attribute."""
    found = INK if colour is None else str(colour)
    if not re.fullmatch(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]+|rgba?\([\d., %]+\)", found):
        raise refused(f"{found[:40]!r} is not a colour")
    return found


def tips(trace: dict[str, Any]) -> list[str]:
    """Return the text for the pointer on each mark."""
    given = trace.get("hovertext")
    n = len(trace["x"]) if "x" in trace else 1
    return [""] * n if given is None or isinstance(given, str) else list(given)


def refused(reason: str) -> InputError:
    """Return the error for a figure that is not ours."""
    return InputError(
        f"this figure cannot be drawn without Plotly's script: {reason}",
        remedy="use the figure's own method write_html, where everything that Plotly knows is "
        "shown",
    )


# ---- details ----


def _pieces(line: Array) -> Iterator[Array]:
    """Break a line (N, 2) where a number is missing."""
    gaps = np.flatnonzero(np.isnan(line).any(axis=1))
    for piece in np.split(line, gaps):
        known = piece[~np.isnan(piece).any(axis=1)]
        if len(known):
            yield known


def _box(xs: Array, ys: Array, colour: str, tip: str, part: int | None) -> Iterator[Box]:
    """Draw a rectangle; nothing if it is too small to be seen."""
    (left, right), (top, foot) = np.sort(xs), np.sort(ys)
    if right - left > 0 and foot - top > 0 and min(right - left, foot - top) >= SMALLEST:
        frame = (float(left), float(top), float(right - left), float(foot - top))
        yield Box(frame, paint(colour), _told(tip), part)


def _error_bars(
    trace: dict[str, Any], error: dict[str, Any], xs: Array, y: Axis
) -> Iterator[Shape]:
    reach = np.asarray(error["array"], dtype=np.float64)
    lows, highs = y(np.asarray(trace["y"]) - reach), y(np.asarray(trace["y"]) + reach)
    drawn = pen({"color": error.get("color"), "width": error.get("thickness", 2)})
    for at, low, high in zip(xs[reach > 0], lows[reach > 0], highs[reach > 0], strict=True):
        yield Line((at, low, at, high), drawn)
        for end in (low, high):
            yield Line((at - 4, end, at + 4, end), drawn)


def _letters(trace: dict[str, Any], xs: Array, ys: Array) -> Iterator[Shape]:
    """Draw a text on or beside each marker; the pointer finds the marker."""
    side = trace.get("textposition", "")
    if side not in SIDES:
        raise refused("it has text above or below its points")
    anchor, aside = SIDES[side]
    font = {"size": 12, "color": INK, **trace.get("textfont", {})}
    n, size = len(xs), font["size"]
    rows = zip(xs, ys, trace["text"], _each(font["color"], n), _parts(trace, n), strict=True)
    for at, up, written, colour, part in rows:
        if written and not np.isnan(at + up):
            yield Text(
                one_line(written), float(at + aside), float(up + 0.36 * size), size, paint(colour),
                anchor, weight=str(font.get("weight") or ""), over_mark=True, part=part,
            )  # fmt: skip


def _each(setting: Any, n: int) -> list[Any]:
    """Return a setting for each of n marks; it may be one for all."""
    return [setting] * n if isinstance(setting, str) or np.ndim(setting) == 0 else list(setting)


def _parts(trace: dict[str, Any], n: int) -> list[int | None]:
    """Return the component of each mark, if the marks of a trace show several."""
    meta = trace.get("meta")
    parts = meta.get("component") if isinstance(meta, dict) else None
    return [int(p) for p in parts] if parts is not None and np.ndim(parts) else [None] * n


def _told(tip: str) -> str:
    return "\n".join(lines_of(tip)) if tip else ""
