# SPDX-License-Identifier: BSD-3-Clause
"""Draw a Plotly figure as a scene, without a browser: bars, heat maps, lines, areas and markers.

A figure of `discan.plot` can be drawn, also after a change of its texts, colours and sizes. Any
other figure is refused rather than drawn wrongly.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.plot import marks
from discan.plot.lettering import lines_of, one_line, widest
from discan.plot.marks import Axis, refused
from discan.plot.palette import GREY, GRID, INK
from discan.plot.scene import Box, Columns, Key, Layer, Line, Pen, Ramp, Scene, Shape
from discan.plot.theme import TITLE_HEIGHT
from discan.typing import Array

__all__ = ["draw"]

ANCHORS = {"left": "start", "center": "middle", "right": "end", "auto": "middle"}
PAGE_MARGIN = 28  # pixels to the right of the plot if its legend is elsewhere


def draw(figure: Any, plot_only: bool = False) -> Scene:
    """Draw a figure of `discan.plot`.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure or dict with "data" and "layout"
    plot_only : bool
        Leave out title, subtitle and legend, and their space: a page has them as its own text.
    """
    return _Drawing(_as_dict(figure), plot_only).scene()


class _Drawing:
    """A figure in pixels; each method returns the shapes of a part."""

    def __init__(self, found: dict[str, Any], plot_only: bool) -> None:
        self.traces = [t for t in found["data"] if t.get("visible", True) is True]
        self.layout = layout = found["layout"]
        self.title = lines_of(layout.get("title", {}).get("text", ""))
        self.bare = plot_only
        margin = dict(layout.get("margin", {}))
        try:
            self.width, self.height = float(layout["width"]), float(layout["height"])
            if plot_only:
                self._narrow(margin)
            self.right, self.top = self.width - margin["r"], margin["t"]
            self.paper = {
                "x": Axis(0, 1, margin["l"], self.right),
                "y": Axis(0, 1, self.height - margin["b"], self.top),
            }
        except KeyError:
            raise refused("its size or its margins are not given") from None
        self.axes = {
            key.replace("axis", ""): self._axis(key, value)
            for key, value in layout.items()
            if re.fullmatch(r"[xy]axis\d*", key)
        }

    def _narrow(self, margin: dict[str, Any]) -> None:
        """Take away the space of the title and the legend."""
        meta = self.layout.get("meta")
        known = meta if isinstance(meta, dict) else {}
        if self.title != [""]:
            gone = min(known.get("head", TITLE_HEIGHT), margin["t"] - 8)
            margin["t"] -= gone
            self.height -= gone
        margin["b"] -= known.get("spare_below", 0)
        self.height -= known.get("spare_below", 0)
        margin["r"] -= known.get("spare", 0)
        self.width -= known.get("spare", 0)
        if self.layout.get("showlegend"):
            self.width -= max(margin["r"] - PAGE_MARGIN, 0)
            margin["r"] = min(margin["r"], PAGE_MARGIN)

    def _axis(self, key: str, settings: dict[str, Any]) -> Axis:
        if settings.get("type", "linear") != "linear" or "range" not in settings:
            raise refused(f"{key} is not linear or has no range")
        low, high = map(float, settings["range"])
        ends = self.place(key[0], "paper", settings.get("domain", (0, 1)))
        return Axis(low, high, float(ends[0]), float(ends[1]), settings)

    def scene(self) -> Scene:
        """Draw all parts, from back to front."""
        panels = dict.fromkeys((t.get("xaxis", "x"), t.get("yaxis", "y")) for t in self.traces)
        scales = [t for t in self.traces if t["type"] == "heatmap" and t.get("showscale", True)]
        notes = [n for n in self.layout.get("annotations", ()) if n.get("visible", True)]
        subtitle = [one_line(n["text"]) for n in notes if n.get("name") == "subtitle"]
        if self.bare:
            notes = [n for n in notes if n.get("name") != "subtitle"]
        shapes: list[Shape] = []
        for x, y in panels:
            shapes += self.grid(self.axes[x], self.axes[y])
        shapes += self.lines("below")
        shapes += [self.panel(x, y) for x, y in panels]
        shapes += self.lines("above")
        for key, axis in self.axes.items():
            shapes += self.ticks(key, axis)
        for note in notes:
            shapes += self.note(note)
        for trace in scales:
            shapes += self.scale(trace)
        if not self.bare:
            shapes += self.legend() if self.layout.get("showlegend") else ()
            shapes += self.heading()
        meta = self.layout.get("meta")
        return Scene(
            self.width, self.height, " ".join(self.title), " ".join(subtitle),
            str(meta.get("description", "")) if isinstance(meta, dict) else "",
            marks.paint(self.layout.get("paper_bgcolor", "white")), shapes,
            [_key(t) for t in self.named()] if self.layout.get("showlegend") else (),
        )  # fmt: skip

    def heading(self) -> Iterator[Shape]:
        """Draw the title."""
        settings = self.layout.get("title", {})
        font = {"size": 18, "color": INK, **settings.get("font", {})}
        start = float(settings.get("x", 0)) * self.width
        for n, line in enumerate(self.title):
            yield from marks.text(line, start, 14 + (0.85 + 1.3 * n) * font["size"], font)

    # ---- axes ----

    def place(self, side: str, reference: str, values: Any) -> Array:
        """Return the pixels of places on an axis, or of parts of the whole plot ("paper")."""
        axis = self.paper[side] if reference == "paper" else self.axes[reference]
        return axis(values)

    def grid(self, x: Axis, y: Axis) -> Iterator[Shape]:
        """Draw grid lines where an axis has them."""
        for axis, other in ((x, y), (y, x)):
            if axis.settings.get("showgrid", False):
                pen = Pen(marks.paint(axis.settings.get("gridcolor", GRID)))
                for at in axis(axis.ticks):
                    ends = (at, other.start, at, other.end)
                    yield Line(ends if axis is x else (ends[1], at, ends[3], at), pen)

    def ticks(self, key: str, axis: Axis) -> Iterator[Shape]:
        """Draw the labels and the title of an axis."""
        settings = axis.settings
        font = {"size": 12, "color": INK, **settings.get("tickfont", {})}
        texts = settings.get("ticktext")
        texts = [f"{v:g}" for v in axis.ticks] if texts is None else list(texts)
        if settings.get("showticklabels", True) is False:
            texts = []
        labels = list(zip(axis(axis.ticks), texts, strict=False))
        other = self.axes[settings.get("anchor", "y" if key[0] == "x" else "x")]
        title = settings.get("title", {})
        title_font = {"size": 13, "color": GREY, **title.get("font", {})}
        name, middle = one_line(title.get("text", "")), (axis.start + axis.end) / 2
        gap = 1 + settings.get("ticklen", 5)
        if key[0] == "y":
            edge = other.start - gap
            for at, text in labels:
                yield from _tick(text, edge, at + 0.35 * font["size"], font, "end")
            wide = widest([text for _, text in labels], font["size"])
            aside = max(edge - wide - 10, title_font["size"])
            yield from marks.text(name, aside, middle, title_font, "middle", -90)
            return
        above, upright = settings.get("side") == "top", settings.get("tickangle") in (-90, 270)
        edge = other.end - gap if above else other.start + gap
        if settings.get("showline"):
            pen = Pen(marks.paint(settings.get("linecolor", GREY)))
            yield Line((axis.start, other.start, axis.end, other.start), pen)
        for at, text in labels:
            if upright:
                end = "start" if above else "end"
                yield from _tick(text, at + 0.35 * font["size"], edge, font, end, -90)
            else:
                down = 0 if above else font["size"]
                yield from _tick(text, at, edge + down, font, "middle")
        tall = widest([text for _, text in labels], font["size"]) if upright else font["size"]
        foot = other.start + gap + (0 if above else tall + 8) + title_font["size"]
        yield from marks.text(name, middle, foot, title_font, "middle")

    # ---- traces ----

    def panel(self, x: str, y: str) -> Layer:
        """Draw the traces over a pair of axes."""
        a, b = self.axes[x], self.axes[y]
        here = [t for t in self.traces if (t.get("xaxis", "x"), t.get("yaxis", "y")) == (x, y)]
        base: dict[float, float] = {}
        drawn = [
            Layer(list(self.trace(t, a, b, base)), t["type"], part=_part(t))
            for t in here
            if t.get("opacity", 1) != 0
        ]
        window = (a.start, b.end, a.end - a.start, b.start - b.end)
        unseen = [
            Columns(window, a(t["customdata"]), [_plain(tip) for tip in t["hovertext"]])
            for t in here
            if t.get("opacity", 1) == 0 and t.get("customdata") is not None
        ]
        clipped = all(t.get("cliponaxis", True) for t in here)
        return Layer([*drawn, *unseen], "panel", window if clipped else None)

    def trace(
        self, trace: dict[str, Any], x: Axis, y: Axis, base: dict[float, float]
    ) -> Iterator[Shape]:
        """Draw one trace; ``base`` holds the length of the bars so far at each place."""
        if trace["type"] == "bar":
            mode = self.layout.get("barmode")
            if mode not in ("stack", "overlay"):
                raise refused("its bars are neither stacked nor one over the other")
            return marks.bars(trace, x, y, base if mode == "stack" else {})
        if trace["type"] == "heatmap":
            return marks.cells(trace, x, y)
        if trace["type"] == "scatter":
            return marks.points(trace, x, y)
        raise refused(f"it has a trace of type {trace['type']!r}")

    # ---- around the plot ----

    def lines(self, layer: str) -> Iterator[Shape]:
        """Draw the straight lines of the layout."""
        for shape in self.layout.get("shapes", ()):
            if shape.get("layer", "above") == layer:
                if shape.get("type") != "line":
                    raise refused("it has a shape that is not a line")
                x0, x1 = self.place("x", shape.get("xref", "x"), (shape["x0"], shape["x1"]))
                y0, y1 = self.place("y", shape.get("yref", "y"), (shape["y0"], shape["y1"]))
                yield Line((x0, y0, x1, y1), marks.pen(shape.get("line", {})))

    def note(self, note: dict[str, Any]) -> Iterator[Shape]:
        """Draw a free text."""
        if note.get("showarrow", True):
            raise refused("it has an arrow")
        font = {"size": 13, "color": INK, **note.get("font", {})}
        x = float(self.place("x", note.get("xref", "x"), note["x"])) + note.get("xshift", 0)
        y = float(self.place("y", note.get("yref", "y"), note["y"])) - note.get("yshift", 0)
        lines, leading = lines_of(note["text"]), 1.3 * font["size"]
        anchor = ANCHORS[note.get("xanchor", "auto")]
        if note.get("textangle") in (-90, 270):
            end = {"top": "end", "bottom": "start"}.get(note.get("yanchor", ""), "middle")
            yield from marks.text(lines[0], x + 0.35 * font["size"], y, font, end, -90)
            return
        tall = leading * len(lines)
        y -= {"top": 0.0, "middle": tall / 2, "bottom": tall}.get(note.get("yanchor", ""), tall / 2)
        for n, line in enumerate(lines):
            yield from marks.text(line, x, y + n * leading + 0.95 * font["size"], font, anchor)

    def named(self) -> list[dict[str, Any]]:
        """Return the traces of the legend, in its order."""
        named = [t for t in self.traces if t.get("showlegend", True) and t.get("name")]
        reverse = self.layout.get("legend", {}).get("traceorder") == "reversed"
        return named[::-1] if reverse else named

    def legend(self) -> Iterator[Shape]:
        """Draw the names of the traces, one per line, to the right of the plot."""
        settings = self.layout.get("legend", {})
        font = {"size": 12, "color": INK, **settings.get("font", {})}
        x = float(self.place("x", "paper", settings.get("x", 1.02))) + 6
        for n, trace in enumerate(self.named()):
            y = self.top + 14 + 19 * n
            yield from _sample(trace, x, y)
            yield from marks.text(one_line(trace["name"]), x + 22, y + 0.35 * font["size"], font)

    def scale(self, trace: dict[str, Any]) -> Iterator[Shape]:
        """Draw the colour bar of a heat map."""
        bar = trace.get("colorbar", {})
        tall, wide = bar.get("len", 110) - 22, bar.get("thickness", 12)
        x, y = self.right + bar.get("xpad", 10), self.top + 22
        font = {"size": 12, "color": INK}
        stops = [(float(at), marks.paint(colour)) for at, colour in trace["colorscale"]]
        title = one_line(bar.get("title", {}).get("text", "")).strip("\xa0 ")
        yield from marks.text(title, x, self.top + 10, font)
        yield Ramp((x, y, wide, tall), stops, Pen(GREY, 0.5))
        low, high = float(trace["zmin"]), float(trace["zmax"])
        for value, text in zip(bar.get("tickvals", ()), bar.get("ticktext", ()), strict=False):
            at = y + tall * (1 - (value - low) / (high - low))
            yield from marks.text(one_line(text), x + wide + 5, at + 4, font)


# ---- details ----


def _tick(
    text: str, x: float, y: float, font: dict[str, Any], anchor: str, turn: float = 0
) -> Iterator[Shape]:
    """Draw the label of a tick, which may have a colour of its own."""
    own = re.match(r'<span style="color:([^"]*)">', str(text))
    drawn = {**font, "color": own[1]} if own else font
    yield from marks.text(one_line(text), x, y, drawn, anchor, turn)


def _colour(trace: dict[str, Any]) -> str:
    """Return the colour that stands for a trace."""
    marker, line = trace.get("marker", {}), trace.get("line", {})
    for found in (trace.get("fillcolor"), marker.get("color"), line.get("color")):
        if isinstance(found, str):
            return marks.paint(found)
    return INK


def _key(trace: dict[str, Any]) -> Key:
    return Key(one_line(trace["name"]), _colour(trace), _part(trace))


def _part(trace: dict[str, Any]) -> int | None:
    """Return the number of the component that a whole trace shows, if it shows one."""
    meta = trace.get("meta")
    part = meta.get("component") if isinstance(meta, dict) else None
    return int(part) if part is not None and np.ndim(part) == 0 else None


def _sample(trace: dict[str, Any], x: float, y: float) -> Iterator[Shape]:
    """Draw the sample of a trace in the legend."""
    marker, mode = trace.get("marker", {}), trace.get("mode", "")
    if trace["type"] == "bar" or trace.get("fill") == "toself":
        yield Box((x, y - 6.5, 13, 13), _colour(trace))
        return
    if "lines" in mode:
        yield Line((x - 2, y, x + 15, y), marks.pen(trace.get("line", {})))
    if "markers" in mode:
        sized = {"marker": {**marker, "size": min(marker.get("size", 6), 12)}}
        yield from marks.discs(sized, np.array([x + 6.5]), np.array([y]))


def _plain(tip: str) -> str:
    return "\n".join(lines_of(tip))


def _as_dict(figure: Any) -> dict[str, Any]:
    if isinstance(figure, dict):
        return figure
    if not hasattr(figure, "to_dict") or not hasattr(figure, "layout"):
        raise InputError("give a Plotly figure, as the functions of discan.plot return")
    found: dict[str, Any] = _unpacked(figure.to_dict())
    return found


def _unpacked(value: Any) -> Any:
    """Return arrays as arrays: Plotly may have packed them as text."""
    if isinstance(value, dict):
        if "bdata" in value and "dtype" in value:
            flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
            shape = value.get("shape")
            return flat.reshape([int(n) for n in str(shape).split(",")]) if shape else flat
        return {key: _unpacked(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unpacked(item) for item in value]
    return value
