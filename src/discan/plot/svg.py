# SPDX-License-Identifier: BSD-3-Clause
"""Write a figure as plain SVG. No other module writes SVG."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from discan.plot.drawing import draw
from discan.plot.lettering import clean
from discan.plot.scene import Box, Columns, Curve, Disc, Frame, Layer, Line, Pen, Ramp, Shape, Text
from discan.plot.scene import Scene as Drawn
from discan.plot.theme import FONT
from discan.typing import Array

__all__ = ["element", "inline", "scene_svg", "to_svg"]

NAMESPACE = "http://www.w3.org/2000/svg"


def to_svg(figure: Any) -> str:
    """Draw a figure of `discan.plot` as the text of an SVG file.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        A figure of `discan.plot`, perhaps with other texts, colours or sizes.

    Returns
    -------
    str
        With a title and a description for readers who cannot see it; text stays text.
    """
    scene = draw(figure)
    about = element("title", _escape(scene.title)) + element("desc", _escape(scene.description))
    paper = element("rect", width="100%", height="100%", fill=scene.paper)
    return element(
        "svg", about + paper + _Writer().shapes(scene.shapes), xmlns=NAMESPACE, width=scene.width,
        height=scene.height, viewBox=_view_box(scene), role="img", font_family=FONT,
    ) + "\n"  # fmt: skip


def inline(figure: Any) -> str:
    """Draw a figure, or a dict of its data and layout, as an SVG element for a page of HTML.

    The page sets the font and the background.
    """
    return scene_svg(draw(figure))


def scene_svg(scene: Drawn, identity: str = "") -> str:
    """Write a scene as an SVG element for a page, with what its script reads.

    ``identity`` begins the identifiers of the element, which must differ on a page. Without it,
    marks are not cut at the edges of their panel.
    """
    return element(
        "svg", _Writer(identity, page=True).shapes(scene.shapes), width=scene.width,
        height=scene.height, viewBox=_view_box(scene), role="img", aria_label=scene.description,
    )  # fmt: skip


def element(name: str, content: str | None = None, **attributes: Any) -> str:
    """Write an element; an attribute that is None is left out, numbers are written shortly."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="'
        f'{html.escape(value) if isinstance(value, str) else _number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}/>" if content is None else f"<{name}{written}>{content}</{name}>"


class _Writer:
    """Writes shapes; it counts the identifiers that it gives."""

    def __init__(self, identity: str | None = None, page: bool = False) -> None:
        self.identity = "d" if identity is None else identity
        self.page = page
        self.count = 0

    def shapes(self, shapes: Iterable[Shape]) -> str:
        """Write shapes, one after the other."""
        return "".join(map(self.shape, shapes))

    def shape(self, shape: Shape) -> str:
        """Write one shape."""
        if isinstance(shape, Layer):
            return self.layer(shape)
        if isinstance(shape, Ramp):
            return self.ramp(shape)
        if isinstance(shape, Columns):
            return self.columns(shape)
        return str(_WRITTEN[type(shape)](shape))

    def layer(self, layer: Layer) -> str:
        """Write a group, cut at its window if it has one."""
        inner = self.shapes(layer.shapes)
        if layer.window is None or not self.identity:
            if layer.kind == "panel":
                return inner
            return element("g", inner, class_=layer.kind or None, data_part=layer.part)
        self.count += 1
        name = f"{self.identity}{self.count}"
        window = element("clipPath", element("rect", **_frame(layer.window)), id=name)
        return window + element("g", inner, clip_path=f"url(#{name})")

    def ramp(self, ramp: Ramp) -> str:
        """Write a rectangle filled by a gradient."""
        self.count += 1
        name = f"{self.identity or 'scale'}{self.count}"
        stops = "".join(
            element("stop", offset=1 - at, stop_color=colour) for at, colour in reversed(ramp.scale)
        )
        gradient = element("linearGradient", stops, id=name, x1=0, y1=0, x2=0, y2=1)
        box = element("rect", **_frame(ramp.frame), fill=f"url(#{name})", **_stroke(ramp.pen))
        return gradient + box

    def columns(self, columns: Columns) -> str:
        """Write texts for the pointer, which only a page can show."""
        if not self.page:
            return ""
        return element(
            "rect", class_="columns", **_frame(columns.frame), fill="transparent",
            data_edges=" ".join(map(_number, columns.edges)),
            data_tips="\n\n".join(columns.tips),
        )  # fmt: skip


# ---- shapes ----


def _box(box: Box) -> str:
    stroke = {} if box.pen is None else _stroke(box.pen)
    return element(
        "rect", _tip(box.tip), **_frame(box.frame), fill=box.fill, data_part=box.part, **stroke
    )  # fmt: skip


def _line(line: Line) -> str:
    x0, y0, x1, y1 = line.ends
    return element("line", x1=x0, y1=y0, x2=x1, y2=y1, **_stroke(line.pen))


def _curve(curve: Curve) -> str:
    stroke = {} if curve.pen is None else _stroke(curve.pen)
    return element(
        "path", _tip(curve.tip), d=_path(curve.points) + ("" if curve.fill is None else "Z"),
        fill=curve.fill or "none", stroke_linejoin="round",
        opacity=None if curve.opacity == 1 else curve.opacity, **stroke,
    )  # fmt: skip


def _disc(disc: Disc) -> str:
    stroke = {} if disc.pen is None else _stroke(disc.pen)
    return element(
        "circle", _tip(disc.tip), cx=disc.x, cy=disc.y, r=disc.radius, fill=disc.fill or "none",
        fill_opacity=None if disc.opacity == 1 else disc.opacity, data_part=disc.part, **stroke,
    )  # fmt: skip


def _text(text: Text) -> str:
    turned = f"rotate({_number(text.turn)} {_number(text.x)} {_number(text.y)})"
    return element(
        "text", _escape(text.text), x=text.x, y=text.y, font_size=text.size, fill=text.colour,
        text_anchor=text.anchor, transform=turned if text.turn else None,
        font_weight=text.weight or None, pointer_events="none" if text.over_mark else None,
        data_part=text.part,
    )  # fmt: skip


_WRITTEN: dict[type, Any] = {Box: _box, Line: _line, Curve: _curve, Disc: _disc, Text: _text}


# ---- details ----


def _frame(frame: Frame) -> dict[str, Any]:
    return dict(zip(("x", "y", "width", "height"), frame, strict=True))


def _stroke(pen: Pen) -> dict[str, Any]:
    return {
        "stroke": pen.colour, "stroke_width": pen.width, "stroke_dasharray": pen.dash or None,
    }  # fmt: skip


def _path(points: Array) -> str:
    """Return an outline through points, rounded to a tenth of a pixel where they are many."""
    points = np.round(points, 2 if len(points) < 2000 else 1)
    moved = np.ones(len(points), dtype=bool)
    moved[1:] = (np.diff(points, axis=0) != 0).any(axis=1)
    points = points[moved]
    level = np.diff(points, axis=0) == 0
    parts = [f"M{_number(points[0, 0])} {_number(points[0, 1])}"]
    for (x, y), (same_x, same_y) in zip(points[1:], level, strict=True):
        across, up = _number(x), _number(y)
        parts.append(f"H{across}" if same_y else f"V{up}" if same_x else f"L{across} {up}")
    return "".join(parts)


def _tip(text: str) -> str | None:
    return element("title", _escape(text)) if text else None


def _view_box(scene: Drawn) -> str:
    return f"0 0 {_number(scene.width)} {_number(scene.height)}"


def _number(value: float) -> str:
    """Write a number in few characters, the same on every machine."""
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _escape(text: str) -> str:
    return html.escape(clean(text), quote=False)
