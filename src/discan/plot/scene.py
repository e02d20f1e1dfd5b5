# SPDX-License-Identifier: BSD-3-Clause
"""A drawing as data: boxes, lines, curves, discs and text, all in pixels from the top left.

`drawing` makes a scene from a figure; `svg` and `pdf` write one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discan.plot.palette import INK, Scale
from discan.typing import Array

__all__ = [
    "Box", "Columns", "Curve", "Disc", "Frame", "Key", "Layer", "Line", "Pen", "Ramp", "Scene",
    "Shape", "Text",
]  # fmt: skip

Frame = tuple[float, float, float, float]
"""Left, top, width, height."""


@dataclass(frozen=True, slots=True)
class Pen:
    """How a line is drawn; ``dash`` are lengths of dashes and gaps, "" for a whole line."""

    colour: str
    width: float = 1.0
    dash: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle. ``tip`` is text for the pointer; ``part`` the number of a component."""

    frame: Frame
    fill: str
    tip: str = ""
    part: int | None = None
    pen: Pen | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line from (x0, y0) to (x1, y1)."""

    ends: Frame
    pen: Pen


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, (N, 2), closed if it is filled; only then it has a ``tip``."""

    points: Array
    pen: Pen | None
    fill: str | None = None
    opacity: float = 1.0
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Disc:
    """A circle, filled or not."""

    x: float
    y: float
    radius: float
    fill: str | None
    pen: Pen | None = None
    opacity: float = 1.0
    tip: str = ""
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; y is its baseline; ``turn`` in degrees, clockwise."""

    text: str
    x: float
    y: float
    size: float
    colour: str = INK
    anchor: str = "start"
    turn: float = 0.0
    weight: str = ""
    over_mark: bool = False
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Ramp:
    """A rectangle that changes its colour from the foot (0) to the top (1)."""

    frame: Frame
    scale: Scale
    pen: Pen


@dataclass(frozen=True, slots=True)
class Columns:
    """Nothing to see: upright strips between ``edges`` (N + 1,), each with a text on a page."""

    frame: Frame
    edges: Array
    tips: Sequence[str]


@dataclass(frozen=True, slots=True)
class Layer:
    """Shapes that belong together, perhaps cut at the edges of a window."""

    shapes: Sequence[Shape]
    kind: str = ""
    window: Frame | None = None
    part: int | None = None


Shape = Box | Line | Curve | Disc | Text | Ramp | Columns | Layer


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend: a name, its colour, and the component that it stands for."""

    name: str
    colour: str
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that a file shows, and what it says to readers who cannot see it."""

    width: float
    height: float
    title: str
    subtitle: str
    description: str
    paper: str
    shapes: Sequence[Shape]
    legend: Sequence[Key]
