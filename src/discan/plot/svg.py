# SPDX-License-Identifier: BSD-3-Clause
"""Draw a figure as plain SVG, with no browser: bars, heat maps, lines, areas and markers.

It reads the same Plotly figure that a browser shows. What `discan.plot` makes can be drawn, also
after its texts, colours and sizes were changed; anything else is refused rather than drawn wrong.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.plot.theme import FONT, GREY, GRID, INK, linear_ticks
from discan.typing import Array

__all__ = ["to_svg"]

DASHES = {"dot": "2 3", "dash": "6 4"}
ANCHORS = {"left": "start", "center": "middle", "right": "end", "auto": "middle"}


def to_svg(figure: Any) -> str:
    """Draw a figure of `discan.plot` as the text of an SVG file.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure

    Returns
    -------
    str
        With a title and a description for those who cannot see it; letters stay letters.
    """
    if not hasattr(figure, "to_dict") or not hasattr(figure, "layout"):
        raise InputError("give a Plotly figure, as the functions of discan.plot return")
    return _Page(_plain(figure.to_dict())).draw()


@dataclass(frozen=True)
class _Axis:
    """From data to pixels: low and high lie at start and end; the plane spans them."""

    low: float
    high: float
    start: float
    end: float
    settings: dict[str, Any]

    def __call__(self, values: Any) -> Array:
        part = (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


class _Page:
    """A figure on its way to SVG: `parts` grows as it is drawn."""

    def __init__(self, figure: dict[str, Any]) -> None:
        self.traces = [t for t in figure["data"] if t.get("visible", True) is True]
        self.layout = layout = figure["layout"]
        self.parts: list[str] = []
        margin = layout.get("margin", {})
        try:
            self.width, self.height = float(layout["width"]), float(layout["height"])
            self.left, self.right = margin["l"], self.width - margin["r"]
            self.top, self.bottom = margin["t"], self.height - margin["b"]
        except KeyError:
            raise _refused("its size or its margins are not given") from None
        self.axes = {
            key.replace("axis", ""): self._axis(key, value)
            for key, value in layout.items()
            if re.fullmatch(r"[xy]axis\d*", key)
        }

    def _axis(self, key: str, settings: dict[str, Any]) -> _Axis:
        if settings.get("type", "linear") != "linear" or "range" not in settings:
            raise _refused(f"{key} is not linear or has no range")
        low, high = map(float, settings["range"])
        first, last = settings.get("domain", (0, 1))
        if key[0] == "x":
            wide = self.right - self.left
            return _Axis(low, high, self.left + first * wide, self.left + last * wide, settings)
        tall = self.bottom - self.top
        return _Axis(low, high, self.bottom - first * tall, self.bottom - last * tall, settings)

    def draw(self) -> str:
        """All of it, from back to front."""
        layout = self.layout
        title = _lines(layout.get("title", {}).get("text", ""))
        described = layout.get("meta") or {}
        words = described.get("description", "") if isinstance(described, dict) else ""
        self.add(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(self.width)}" '
            f'height="{_n(self.height)}" viewBox="0 0 {_n(self.width)} {_n(self.height)}" '
            f'role="img" font-family="{FONT}">',
            f"<title>{_escape(' '.join(title))}</title><desc>{_escape(words)}</desc>",
            f'<rect width="100%" height="100%" fill="{_paint(layout.get("paper_bgcolor"))}"/>',
        )
        panels = dict.fromkeys((t.get("xaxis", "x"), t.get("yaxis", "y")) for t in self.traces)
        for x, y in panels:
            self.grid(self.axes[x], self.axes[y])
        self.shapes("below")
        for n, (x, y) in enumerate(panels):
            a, b = self.axes[x], self.axes[y]
            self.add(
                f'<clipPath id="panel{n}"><rect x="{_n(a.start)}" y="{_n(b.end)}" '
                f'width="{_n(a.end - a.start)}" height="{_n(b.start - b.end)}"/></clipPath>',
                f'<g clip-path="url(#panel{n})">',
            )
            base: dict[float, float] = {}
            for trace in self.traces:
                if (trace.get("xaxis", "x"), trace.get("yaxis", "y")) == (x, y):
                    self.trace(trace, a, b, base)
            self.add("</g>")
        self.shapes("above")
        for key, axis in self.axes.items():
            self.ticks(key, axis)
        for note in layout.get("annotations", ()):
            self.annotation(note)
        if layout.get("showlegend"):
            self.legend()
        for n, trace in enumerate(self.traces):
            if trace["type"] == "heatmap" and trace.get("showscale", True):
                self.scale(n, trace)
        font = {"size": 18, "color": INK, **layout.get("title", {}).get("font", {})}
        start = float(layout.get("title", {}).get("x", 0)) * self.width
        for n, line in enumerate(title):
            self.text(line, start, 14 + (0.85 + 1.3 * n) * font["size"], font)
        self.add("</svg>\n")
        return "".join(self.parts)

    def add(self, *parts: str) -> None:
        """Append text."""
        self.parts += parts

    def text(
        self, line: str, x: float, y: float, font: dict[str, Any], anchor: str = "start",
        turn: float = 0,
    ) -> None:  # fmt: skip
        """One line of text; y is its baseline."""
        if line:
            turned = f' transform="rotate({_n(turn)} {_n(x)} {_n(y)})"' if turn else ""
            self.add(
                f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(font["size"])}" '
                f'fill="{_paint(font["color"])}" text-anchor="{anchor}"{turned}>'
                f"{_escape(line)}</text>"
            )

    def line(self, xs: Iterable[float], ys: Iterable[float], pen: dict[str, Any]) -> None:
        """A straight line, (x, x) and (y, y)."""
        (x0, x1), (y0, y1) = xs, ys
        dash = DASHES.get(pen.get("dash", ""), "")
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        wide = _n(pen.get("width", 1))
        self.add(
            f'<line x1="{_n(x0)}" y1="{_n(y0)}" x2="{_n(x1)}" y2="{_n(y1)}" '
            f'stroke="{_paint(pen.get("color"))}" stroke-width="{wide}"{dashed}/>'
        )

    # ---- axes ----

    def grid(self, x: _Axis, y: _Axis) -> None:
        """Lines across the plane where an axis asks for them."""
        for axis, other in ((x, y), (y, x)):
            if axis.settings.get("showgrid", False):
                pen = {"color": axis.settings.get("gridcolor", GRID)}
                for at in axis(_tick_values(axis)):
                    across, along = (at, at), (other.start, other.end)
                    if axis is x:
                        self.line(across, along, pen)
                    else:
                        self.line(along, across, pen)

    def ticks(self, key: str, axis: _Axis) -> None:
        """Labels and title of an axis."""
        settings = axis.settings
        font = {"size": 12, "color": INK, **settings.get("tickfont", {})}
        values = _tick_values(axis)
        texts = settings.get("ticktext")
        texts = [f"{v:g}" for v in values] if texts is None else list(texts)
        other = self.axes[settings.get("anchor", "y" if key[0] == "x" else "x")]
        title = settings.get("title", {})
        title_font = {"size": 13, "color": GREY, **title.get("font", {})}
        name = " ".join(_lines(title.get("text", "")))
        if settings.get("showticklabels", True) is False:
            values, texts = np.empty(0), []
        if key[0] == "y":
            for at, text in zip(axis(values), texts, strict=False):
                self.text(_one(text), other.start - 6, at + 0.35 * font["size"], font, "end")
            self.text(name, 24, (axis.start + axis.end) / 2, title_font, "middle", -90)
            return
        above = settings.get("side") == "top"
        edge = other.end - 6 if above else other.start + 6
        if settings.get("showline"):
            pen = {"color": settings.get("linecolor", GREY)}
            self.line((axis.start, axis.end), (other.start, other.start), pen)
        turned = settings.get("tickangle") in (-90, 270)
        for at, text in zip(axis(values), texts, strict=False):
            if turned:
                self.text(_one(text), at + 0.35 * font["size"], edge, font,
                          "start" if above else "end", -90)  # fmt: skip
            else:
                down = 0 if above else font["size"]
                self.text(_one(text), at, edge + down, font, "middle")
        self.text(name, (axis.start + axis.end) / 2, other.start + 42, title_font, "middle")

    # ---- traces ----

    def trace(self, trace: dict[str, Any], x: _Axis, y: _Axis, base: dict[float, float]) -> None:
        """One trace; ``base`` holds how high the bars at each place are by now."""
        draw = {"bar": self.bars, "heatmap": self.cells, "scatter": self.points}.get(trace["type"])
        if draw is None:
            raise _refused(f"it has a trace of type {trace['type']!r}")
        if trace.get("opacity", 1) == 0:
            return
        self.add(f'<g class="{trace["type"]}">')
        draw(trace, x, y, base)
        self.add("</g>")

    def bars(self, trace: dict[str, Any], x: _Axis, y: _Axis, base: dict[float, float]) -> None:
        """Upright bars, each on top of those already there."""
        if trace.get("orientation", "v") != "v" or self.layout.get("barmode") != "stack":
            raise _refused("its bars are not upright and stacked")
        half = float(trace.get("width", 0.8)) / 2
        for at, tall, told in zip(trace["x"], trace["y"], _told(trace), strict=True):
            foot = base.get(float(at), 0.0)
            base[float(at)] = foot + float(tall)
            self.rectangle(
                x((at - half, at + half)), y((foot + tall, foot)), trace["marker"]["color"], told
            )

    def cells(self, trace: dict[str, Any], x: _Axis, y: _Axis, base: dict[float, float]) -> None:
        """Cells of a heat map, shaded."""
        table = np.asarray(trace["z"], dtype=np.float64)
        low, high = float(trace["zmin"]), float(trace["zmax"])
        inwards = np.array([0.5, -0.5])
        gap_x, gap_y = inwards * trace.get("xgap", 0), inwards * trace.get("ygap", 0)
        told = trace.get("hovertext")
        for (i, k), value in np.ndenumerate(table):
            if np.isnan(value):
                continue
            xs = np.sort(x((k - 0.5, k + 0.5))) + gap_x
            ys = np.sort(y((i - 0.5, i + 0.5))) + gap_y
            colour = _shade((value - low) / (high - low), trace["colorscale"])
            self.rectangle(xs, ys, colour, told[i][k] if told is not None else "")

    def points(self, trace: dict[str, Any], x: _Axis, y: _Axis, base: dict[float, float]) -> None:
        """Lines, areas, error bars and markers."""
        xs, ys = x(trace["x"]), y(trace["y"])
        mode, pen = trace.get("mode", "lines"), trace.get("line", {})
        if "text" in mode:
            raise _refused("it has text in a trace")
        if "lines" in mode and len(xs):
            filled = trace.get("fill") == "toself"
            path = _path(xs, ys) + ("Z" if filled else "")
            fill = _paint(trace.get("fillcolor")) if filled else "none"
            wide = pen.get("width", 2)
            stroke = (
                f' stroke="{_paint(pen.get("color"))}" stroke-width="{_n(wide)}"' if wide else ""
            )
            self.add(f'<path d="{path}" fill="{fill}" stroke-linejoin="round"{stroke}/>')
        error = trace.get("error_y", {})
        if error.get("visible", bool(error)) and error:
            reach = np.asarray(error["array"], dtype=np.float64)
            ends = y(np.asarray(trace["y"]) - reach), y(np.asarray(trace["y"]) + reach)
            for at, low, high, some in zip(xs, *ends, reach > 0, strict=True):
                if some:
                    ink = {"color": error.get("color"), "width": error.get("thickness", 2)}
                    self.line((at, at), (low, high), ink)
                    for end in (low, high):
                        self.line((at - 4, at + 4), (end, end), ink)
        if "markers" in mode:
            self.markers(trace, xs, ys)

    def markers(self, trace: dict[str, Any], xs: Array, ys: Array) -> None:
        """Circles, full or open."""
        marker = trace.get("marker", {})
        sizes = np.broadcast_to(marker.get("size", 6), len(xs))
        given = marker.get("color", INK)
        paints = [given] * len(xs) if isinstance(given, str) else list(given)
        ring = marker.get("line", {})
        open_ = str(marker.get("symbol", "circle")).endswith("-open")
        wide = ring.get("width", 0)
        stroke = f' stroke="{_paint(ring.get("color"))}" stroke-width="{_n(wide)}"' if wide else ""
        opacity = marker.get("opacity", 1)
        faint = f' fill-opacity="{_n(opacity)}"' if opacity != 1 else ""
        for at, up, size, paint, told in zip(xs, ys, sizes, paints, _told(trace), strict=True):
            fill = "none" if open_ else _paint(paint)
            self.add(
                f'<circle cx="{_n(at)}" cy="{_n(up)}" r="{_n(size / 2)}" fill="{fill}"{faint}'
                f"{stroke}>{_tip(told)}</circle>"
            )

    def rectangle(self, xs: Array, ys: Array, paint: str, told: str) -> None:
        """A filled rectangle with a tip for the pointer."""
        wide, tall = float(xs[1] - xs[0]), float(ys[1] - ys[0])
        if wide > 0 and tall >= 0.005:
            self.add(
                f'<rect x="{_n(xs[0])}" y="{_n(ys[0])}" width="{_n(wide)}" height="{_n(tall)}" '
                f'fill="{_paint(paint)}">{_tip(told)}</rect>'
            )

    # ---- around the plane ----

    def shapes(self, layer: str) -> None:
        """Straight lines of the layout."""
        for shape in self.layout.get("shapes", ()):
            if shape.get("layer", "above") == layer:
                if shape.get("type") != "line":
                    raise _refused("it has a shape that is no line")
                xs = self.place("x", shape.get("xref", "x"), (shape["x0"], shape["x1"]))
                ys = self.place("y", shape.get("yref", "y"), (shape["y0"], shape["y1"]))
                self.line(xs, ys, shape.get("line", {}))

    def place(self, side: str, reference: str, values: Any) -> Array:
        """Pixels of places on an axis, or in parts of the plane."""
        if reference != "paper":
            return self.axes[reference](values)
        values = np.asarray(values, dtype=np.float64)
        if side == "x":
            return np.asarray(self.left + values * (self.right - self.left))
        return np.asarray(self.bottom + values * (self.top - self.bottom))

    def annotation(self, note: dict[str, Any]) -> None:
        """Text put somewhere."""
        if note.get("showarrow", True):
            raise _refused("it has an arrow")
        font = {"size": 13, "color": INK, **note.get("font", {})}
        x = float(self.place("x", note.get("xref", "x"), note["x"])) + note.get("xshift", 0)
        y = float(self.place("y", note.get("yref", "y"), note["y"])) - note.get("yshift", 0)
        lines, leading = _lines(note["text"]), 1.3 * font["size"]
        tall = leading * len(lines)
        y -= {"top": 0.0, "middle": tall / 2, "bottom": tall}.get(note.get("yanchor", ""), tall / 2)
        anchor = ANCHORS[note.get("xanchor", "auto")]
        for n, line in enumerate(lines):
            self.text(line, x, y + n * leading + 0.95 * font["size"], font, anchor)

    def legend(self) -> None:
        """Names of the traces, one below the other, to the right of the plane."""
        settings = self.layout.get("legend", {})
        font = {"size": 12, "color": INK, **settings.get("font", {})}
        named = [t for t in self.traces if t.get("showlegend", True) and t.get("name")]
        if settings.get("traceorder") == "reversed":
            named.reverse()
        x = self.left + settings.get("x", 1.02) * (self.right - self.left) + 6
        for n, trace in enumerate(named):
            y = self.top + 14 + 19 * n
            marker, pen = trace.get("marker", {}), trace.get("line", {})
            if trace["type"] == "bar" or trace.get("fill") == "toself":
                paint = trace.get("fillcolor", marker.get("color"))
                box = np.array([x, x + 13]), np.array([y - 6.5, y + 6.5])
                self.rectangle(*box, paint, "")
            else:
                if "lines" in trace.get("mode", ""):
                    self.line((x - 2, x + 15), (y, y), pen)
                if "markers" in trace.get("mode", ""):
                    sized = {**marker, "size": min(marker.get("size", 6), 12)}
                    one = {"marker": sized}
                    self.markers(one, np.array([x + 6.5]), np.array([y]))
            self.text(_one(trace["name"]), x + 22, y + 0.35 * font["size"], font)

    def scale(self, n: int, trace: dict[str, Any]) -> None:
        """What the shades of a heat map mean."""
        bar = trace.get("colorbar", {})
        tall, wide = bar.get("len", 110), bar.get("thickness", 12)
        x = self.right + bar.get("xpad", 10)
        font = {"size": 12, "color": INK}
        self.text(_one(bar.get("title", {}).get("text", "")), x, self.top + 10, font)
        y = self.top + 22
        stops = "".join(
            f'<stop offset="{_n(1 - at)}" stop-color="{_paint(colour)}"/>'
            for at, colour in reversed(trace["colorscale"])
        )
        self.add(
            f'<linearGradient id="scale{n}" x1="0" y1="0" x2="0" y2="1">{stops}</linearGradient>',
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(tall - 22)}" '
            f'fill="url(#scale{n})" stroke="{GREY}" stroke-width="0.5"/>',
        )
        low, high = float(trace["zmin"]), float(trace["zmax"])
        for value, text in zip(bar.get("tickvals", ()), bar.get("ticktext", ()), strict=False):
            at = y + (tall - 22) * (1 - (value - low) / (high - low))
            self.text(_one(text), x + wide + 5, at + 4, font)


# ---- details ----


def _refused(reason: str) -> InputError:
    return InputError(
        f"this figure cannot be drawn as plain SVG: {reason}; save it as .html, where everything "
        "that Plotly knows is shown"
    )


def _plain(value: Any) -> Any:
    """Arrays as arrays: Plotly may have packed them as text."""
    if isinstance(value, dict):
        if "bdata" in value and "dtype" in value:
            flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
            shape = value.get("shape")
            return flat.reshape([int(n) for n in str(shape).split(",")]) if shape else flat
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _tick_values(axis: _Axis) -> Array:
    values = axis.settings.get("tickvals")
    low, high = sorted((axis.low, axis.high))
    return linear_ticks(low, high) if values is None else np.asarray(values, dtype=np.float64)


def _told(trace: dict[str, Any]) -> list[str]:
    given = trace.get("hovertext")
    n = len(trace["x"]) if "x" in trace else 1
    return [""] * n if given is None or isinstance(given, str) else list(given)


def _tip(told: str) -> str:
    return f"<title>{_escape(chr(10).join(_lines(told)))}</title>" if told else ""


def _lines(text: str) -> list[str]:
    """Lines of Plotly's text, its markup taken out."""
    return [
        html.unescape(re.sub(r"</?\w[^>]*>", "", line))
        for line in re.split(r"<br ?/?>", str(text or ""))
    ]


def _one(text: str) -> str:
    return " ".join(_lines(text))


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _paint(colour: Any) -> str:
    """A colour, and nothing else: it goes into an attribute."""
    text = INK if colour is None else str(colour)
    if not re.fullmatch(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]+|rgba?\([\d., %]+\)", text):
        raise _refused(f"{text[:40]!r} is not a colour")
    return text


def _shade(part: float, scale: Any) -> str:
    """Colour at a part of a scale."""
    at = [float(stop) for stop, _ in scale]
    levels = np.array([[int(c[n : n + 2], 16) for n in (1, 3, 5)] for _, c in scale])
    mixed = [round(float(np.interp(part, at, levels[:, n]))) for n in range(3)]
    return "#" + "".join(f"{level:02x}" for level in mixed)


def _path(xs: Array, ys: Array) -> str:
    """Outline through points, to a tenth of a pixel where they are many."""
    points = np.round(np.column_stack([xs, ys]), 2 if len(xs) < 2000 else 1)
    moved = np.ones(len(points), dtype=bool)
    moved[1:] = (np.diff(points, axis=0) != 0).any(axis=1)
    points = points[moved]
    level = np.diff(points, axis=0) == 0
    parts = [f"M{_n(points[0, 0])} {_n(points[0, 1])}"]
    for (x, y), (same_x, same_y) in zip(points[1:], level, strict=True):
        parts.append(f"H{_n(x)}" if same_y else f"V{_n(y)}" if same_x else f"L{_n(x)} {_n(y)}")
    return "".join(parts)


def _n(value: float) -> str:
    """A number in few letters, the same on every machine."""
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
