# SPDX-License-Identifier: BSD-3-Clause
"""Draw a Plotly figure as plain SVG, without a browser: bars, heat maps, lines, areas and markers.

A figure of `discan.plot` can be drawn, also after a change of its texts, colours and sizes. Any
other figure is refused rather than drawn wrongly. No other module writes SVG.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.plot.theme import FONT, GREY, GRID, INK, blend, linear_ticks
from discan.typing import Array

__all__ = ["inline", "to_svg"]

DASHES = {"dot": "2 3", "dash": "6 4"}
ANCHORS = {"left": "start", "center": "middle", "right": "end", "auto": "middle"}
NAMESPACE = "http://www.w3.org/2000/svg"


def to_svg(figure: Any) -> str:
    """Draw a figure of `discan.plot` as the text of an SVG file.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure

    Returns
    -------
    str
        With a title and a description for readers who cannot see it; text stays text.
    """
    page = _Page(figure)
    about = _element("title", _escape(" ".join(page.title)))
    about += _element("desc", _escape(page.description))
    paper = _element(
        "rect", width="100%", height="100%", fill=_paint(page.layout.get("paper_bgcolor"))
    )
    return _element(
        "svg", about + paper + page.draw(), xmlns=NAMESPACE, width=page.width, height=page.height,
        viewBox=page.view_box, role="img", font_family=FONT,
    ) + "\n"  # fmt: skip


def inline(figure: Any) -> str:
    """Draw a figure as an SVG element for a page of HTML, which sets the font and the background.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure or dict with "data" and "layout"
    """
    page = _Page(figure)
    return _element(
        "svg", page.draw(clip=False), width=page.width, height=page.height, viewBox=page.view_box,
        role="img", aria_label=page.description,
    )  # fmt: skip


@dataclass(frozen=True)
class _Axis:
    """A map from data to pixels: ``low`` and ``high`` lie at ``start`` and ``end``."""

    low: float
    high: float
    start: float
    end: float
    settings: dict[str, Any] = field(default_factory=dict)

    def __call__(self, values: Any) -> Array:
        part = (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    @property
    def ticks(self) -> Array:
        values = self.settings.get("tickvals")
        low, high = sorted((self.low, self.high))
        return linear_ticks(low, high) if values is None else np.asarray(values, dtype=np.float64)


class _Page:
    """A figure in pixels; each method returns the text of a part."""

    def __init__(self, figure: Any) -> None:
        found = _as_dict(figure)
        self.traces = [t for t in found["data"] if t.get("visible", True) is True]
        self.layout = layout = found["layout"]
        self.title = _lines(layout.get("title", {}).get("text", ""))
        meta = layout.get("meta")
        self.description = meta.get("description", "") if isinstance(meta, dict) else ""
        margin = layout.get("margin", {})
        try:
            self.width, self.height = float(layout["width"]), float(layout["height"])
            self.right, self.top = self.width - margin["r"], margin["t"]
            self.paper = {
                "x": _Axis(0, 1, margin["l"], self.right),
                "y": _Axis(0, 1, self.height - margin["b"], self.top),
            }
        except KeyError:
            raise _refused("its size or its margins are not given") from None
        self.view_box = f"0 0 {_number(self.width)} {_number(self.height)}"
        self.axes = {
            key.replace("axis", ""): self._axis(key, value)
            for key, value in layout.items()
            if re.fullmatch(r"[xy]axis\d*", key)
        }

    def _axis(self, key: str, settings: dict[str, Any]) -> _Axis:
        if settings.get("type", "linear") != "linear" or "range" not in settings:
            raise _refused(f"{key} is not linear or has no range")
        low, high = map(float, settings["range"])
        ends = self.place(key[0], "paper", settings.get("domain", (0, 1)))
        return _Axis(low, high, float(ends[0]), float(ends[1]), settings)

    def draw(self, clip: bool = True) -> str:
        """Draw all parts, from back to front; ``clip`` cuts the marks at the edges of a panel."""
        panels = dict.fromkeys((t.get("xaxis", "x"), t.get("yaxis", "y")) for t in self.traces)
        scales = [(n, t) for n, t in enumerate(self.traces) if t["type"] == "heatmap"]
        return "".join([
            *(self.grid(self.axes[x], self.axes[y]) for x, y in panels),
            self.shapes("below"),
            *(self.panel(n, x, y, clip) for n, (x, y) in enumerate(panels)),
            self.shapes("above"),
            *(self.ticks(key, axis) for key, axis in self.axes.items()),
            *map(self.annotation, self.layout.get("annotations", ())),
            self.legend() if self.layout.get("showlegend") else "",
            *(self.scale(n, trace) for n, trace in scales if trace.get("showscale", True)),
            self.heading(),
        ])  # fmt: skip

    def heading(self) -> str:
        """Draw the title."""
        settings = self.layout.get("title", {})
        font = {"size": 18, "color": INK, **settings.get("font", {})}
        start = float(settings.get("x", 0)) * self.width
        return "".join(
            _text(line, start, 14 + (0.85 + 1.3 * n) * font["size"], font)
            for n, line in enumerate(self.title)
        )

    # ---- axes ----

    def place(self, side: str, reference: str, values: Any) -> Array:
        """Return the pixels of places on an axis, or of parts of the whole plot ("paper")."""
        axis = self.paper[side] if reference == "paper" else self.axes[reference]
        return axis(values)

    def grid(self, x: _Axis, y: _Axis) -> str:
        """Draw grid lines where an axis has them."""
        parts = []
        for axis, other in ((x, y), (y, x)):
            if axis.settings.get("showgrid", False):
                pen = {"color": axis.settings.get("gridcolor", GRID)}
                for at in axis(axis.ticks):
                    ends = (at, at), (other.start, other.end)
                    xs, ys = ends if axis is x else ends[::-1]
                    parts.append(_line(xs, ys, pen))
        return "".join(parts)

    def ticks(self, key: str, axis: _Axis) -> str:
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
        name, middle = _one(title.get("text", "")), (axis.start + axis.end) / 2
        if key[0] == "y":
            drawn = (_tick(t, other.start - 6, at + 0.35 * font["size"], font, "end")
                     for at, t in labels)  # fmt: skip
            return "".join(drawn) + _text(name, 24, middle, title_font, "middle", -90)
        above = settings.get("side") == "top"
        edge = other.end - 6 if above else other.start + 6
        pen = {"color": settings.get("linecolor", GREY)}
        rule = _line((axis.start, axis.end), (other.start, other.start), pen)
        if settings.get("tickangle") in (-90, 270):
            end = "start" if above else "end"
            drawn = (_tick(t, at + 0.35 * font["size"], edge, font, end, -90) for at, t in labels)
        else:
            down = 0 if above else font["size"]
            drawn = (_tick(t, at, edge + down, font, "middle") for at, t in labels)
        return (
            (rule if settings.get("showline") else "") + "".join(drawn)
            + _text(name, middle, other.start + 42, title_font, "middle")
        )  # fmt: skip

    # ---- traces ----

    def panel(self, n: int, x: str, y: str, clip: bool) -> str:
        """Draw the traces over a pair of axes."""
        a, b = self.axes[x], self.axes[y]
        base: dict[float, float] = {}
        drawn = "".join(
            self.trace(trace, a, b, base)
            for trace in self.traces
            if (trace.get("xaxis", "x"), trace.get("yaxis", "y")) == (x, y)
        )
        if not clip:
            return drawn
        wide, tall = a.end - a.start, b.start - b.end
        window = _element("rect", x=a.start, y=b.end, width=wide, height=tall)
        return _element("clipPath", window, id=f"panel{n}") + _element(
            "g", drawn, clip_path=f"url(#panel{n})"
        )

    def trace(self, trace: dict[str, Any], x: _Axis, y: _Axis, base: dict[float, float]) -> str:
        """Draw one trace; ``base`` holds the height of the bars so far at each place."""
        if trace.get("opacity", 1) == 0:
            return ""
        if trace["type"] == "bar":
            drawn = self.bars(trace, x, y, base)
        elif trace["type"] == "heatmap":
            drawn = _cells(trace, x, y)
        elif trace["type"] == "scatter":
            drawn = _points(trace, x, y)
        else:
            raise _refused(f"it has a trace of type {trace['type']!r}")
        return _element("g", drawn, class_=trace["type"])

    def bars(self, trace: dict[str, Any], x: _Axis, y: _Axis, base: dict[float, float]) -> str:
        """Draw upright bars on top of the earlier ones."""
        if trace.get("orientation", "v") != "v" or self.layout.get("barmode") != "stack":
            raise _refused("its bars are not upright and stacked")
        half = float(trace.get("width", 0.8)) / 2
        parts = []
        for at, tall, tip in zip(trace["x"], trace["y"], _tips(trace), strict=True):
            foot = base.get(float(at), 0.0)
            base[float(at)] = foot + float(tall)
            edges = x((at - half, at + half)), y((foot + tall, foot))
            parts.append(_rectangle(*edges, trace["marker"]["color"], tip))
        return "".join(parts)

    # ---- around the plot ----

    def shapes(self, layer: str) -> str:
        """Draw the straight lines of the layout."""
        parts = []
        for shape in self.layout.get("shapes", ()):
            if shape.get("layer", "above") == layer:
                if shape.get("type") != "line":
                    raise _refused("it has a shape that is no line")
                xs = self.place("x", shape.get("xref", "x"), (shape["x0"], shape["x1"]))
                ys = self.place("y", shape.get("yref", "y"), (shape["y0"], shape["y1"]))
                parts.append(_line(xs, ys, shape.get("line", {})))
        return "".join(parts)

    def annotation(self, note: dict[str, Any]) -> str:
        """Draw a free text."""
        if note.get("showarrow", True):
            raise _refused("it has an arrow")
        font = {"size": 13, "color": INK, **note.get("font", {})}
        x = float(self.place("x", note.get("xref", "x"), note["x"])) + note.get("xshift", 0)
        y = float(self.place("y", note.get("yref", "y"), note["y"])) - note.get("yshift", 0)
        lines, leading = _lines(note["text"]), 1.3 * font["size"]
        tall = leading * len(lines)
        y -= {"top": 0.0, "middle": tall / 2, "bottom": tall}.get(note.get("yanchor", ""), tall / 2)
        anchor = ANCHORS[note.get("xanchor", "auto")]
        return "".join(
            _text(line, x, y + n * leading + 0.95 * font["size"], font, anchor)
            for n, line in enumerate(lines)
        )

    def legend(self) -> str:
        """Draw the names of the traces, one per line, to the right of the plot."""
        settings = self.layout.get("legend", {})
        font = {"size": 12, "color": INK, **settings.get("font", {})}
        named = [t for t in self.traces if t.get("showlegend", True) and t.get("name")]
        if settings.get("traceorder") == "reversed":
            named.reverse()
        x = float(self.place("x", "paper", settings.get("x", 1.02))) + 6
        parts = []
        for n, trace in enumerate(named):
            y = self.top + 14 + 19 * n
            name = _text(_one(trace["name"]), x + 22, y + 0.35 * font["size"], font)
            parts += [_key(trace, x, y), name]
        return "".join(parts)

    def scale(self, n: int, trace: dict[str, Any]) -> str:
        """Draw the colour bar of a heat map."""
        bar = trace.get("colorbar", {})
        tall, wide = bar.get("len", 110) - 22, bar.get("thickness", 12)
        x, y = self.right + bar.get("xpad", 10), self.top + 22
        font = {"size": 12, "color": INK}
        stops = "".join(
            _element("stop", offset=1 - at, stop_color=_paint(colour))
            for at, colour in reversed(trace["colorscale"])
        )
        parts = [
            _text(_one(bar.get("title", {}).get("text", "")), x, self.top + 10, font),
            _element("linearGradient", stops, id=f"scale{n}", x1=0, y1=0, x2=0, y2=1),
            _element("rect", x=x, y=y, width=wide, height=tall, fill=f"url(#scale{n})",
                     stroke=GREY, stroke_width=0.5),
        ]  # fmt: skip
        low, high = float(trace["zmin"]), float(trace["zmax"])
        for value, text in zip(bar.get("tickvals", ()), bar.get("ticktext", ()), strict=False):
            at = y + tall * (1 - (value - low) / (high - low))
            parts.append(_text(_one(text), x + wide + 5, at + 4, font))
        return "".join(parts)


# ---- marks ----


def _cells(trace: dict[str, Any], x: _Axis, y: _Axis) -> str:
    """Draw the shaded cells of a heat map."""
    table = np.asarray(trace["z"], dtype=np.float64)
    low, high = float(trace["zmin"]), float(trace["zmax"])
    inwards = np.array([0.5, -0.5])
    gap_x, gap_y = inwards * trace.get("xgap", 0), inwards * trace.get("ygap", 0)
    tips = trace.get("hovertext")
    parts = []
    for (i, k), value in np.ndenumerate(table):
        if not np.isnan(value):
            xs = np.sort(x((k - 0.5, k + 0.5))) + gap_x
            ys = np.sort(y((i - 0.5, i + 0.5))) + gap_y
            colour = blend(trace["colorscale"], (value - low) / (high - low))
            parts.append(_rectangle(xs, ys, colour, tips[i][k] if tips is not None else ""))
    return "".join(parts)


def _points(trace: dict[str, Any], x: _Axis, y: _Axis) -> str:
    """Draw lines, areas, error bars, markers and their texts."""
    xs, ys = x(trace["x"]), y(trace["y"])
    mode = trace.get("mode", "lines")
    parts = [_curve(trace, xs, ys)] if "lines" in mode and len(xs) else []
    error = trace.get("error_y", {})
    if error and error.get("visible", True):
        parts.append(_error_bars(trace, error, xs, y))
    if "markers" in mode:
        parts.append(_markers(trace, xs, ys))
    if "text" in mode:
        parts.append(_letters(trace, xs, ys))
    return "".join(parts)


def _curve(trace: dict[str, Any], xs: Array, ys: Array) -> str:
    pen, filled = trace.get("line", {}), trace.get("fill") == "toself"
    wide = pen.get("width", 2)
    return _element(
        "path", d=_path(xs, ys) + ("Z" if filled else ""),
        fill=_paint(trace.get("fillcolor")) if filled else "none", stroke_linejoin="round",
        **(_stroke({**pen, "width": wide}) if wide else {}),
    )  # fmt: skip


def _error_bars(trace: dict[str, Any], error: dict[str, Any], xs: Array, y: _Axis) -> str:
    reach = np.asarray(error["array"], dtype=np.float64)
    lows, highs = y(np.asarray(trace["y"]) - reach), y(np.asarray(trace["y"]) + reach)
    pen = {"color": error.get("color"), "width": error.get("thickness", 2)}
    parts = []
    for at, low, high in zip(xs[reach > 0], lows[reach > 0], highs[reach > 0], strict=True):
        parts.append(_line((at, at), (low, high), pen))
        parts += [_line((at - 4, at + 4), (end, end), pen) for end in (low, high)]
    return "".join(parts)


def _markers(trace: dict[str, Any], xs: Array, ys: Array) -> str:
    """Draw circles, filled or open."""
    marker = trace.get("marker", {})
    n, ring = len(xs), marker.get("line", {})
    open_ = str(marker.get("symbol", "circle")).endswith("-open")
    opacity = marker.get("opacity", 1)
    settings = (marker.get("size", 6), marker.get("color", INK), ring.get("width", 0))
    parts = []
    for at, up, size, paint, wide, tip in zip(
        xs, ys, *(_each(setting, n) for setting in settings), _tips(trace), strict=True
    ):
        edge = {"stroke": _paint(ring.get("color")), "stroke_width": wide} if wide else {}
        parts.append(
            _element(
                "circle", _tip(tip), cx=at, cy=up, r=size / 2,
                fill="none" if open_ else _paint(paint),
                fill_opacity=opacity if opacity != 1 else None, **edge,
            )
        )  # fmt: skip
    return "".join(parts)


def _letters(trace: dict[str, Any], xs: Array, ys: Array) -> str:
    """Draw a text on each marker; the pointer finds the marker."""
    if trace.get("textposition") != "middle center":
        raise _refused("it has text in a trace, and not on the markers")
    font = {"size": 12, "color": INK, **trace.get("textfont", {}), "pointer": "none"}
    paints = _each(font["color"], len(xs))
    return "".join(
        _text(_one(text), at, up + 0.36 * font["size"], {**font, "color": paint}, "middle")
        for at, up, text, paint in zip(xs, ys, trace["text"], paints, strict=True)
    )


def _key(trace: dict[str, Any], x: float, y: float) -> str:
    """Draw the sample of a trace in the legend."""
    marker, mode = trace.get("marker", {}), trace.get("mode", "")
    if trace["type"] == "bar" or trace.get("fill") == "toself":
        box = np.array([x, x + 13]), np.array([y - 6.5, y + 6.5])
        return _rectangle(*box, trace.get("fillcolor", marker.get("color")), "")
    drawn = _line((x - 2, x + 15), (y, y), trace.get("line", {})) if "lines" in mode else ""
    if "markers" in mode:
        sized = {"marker": {**marker, "size": min(marker.get("size", 6), 12)}}
        drawn += _markers(sized, np.array([x + 6.5]), np.array([y]))
    return drawn


def _rectangle(xs: Array, ys: Array, paint: str, tip: str) -> str:
    """Draw a filled rectangle with a text for the pointer; "" if it is too small."""
    wide, tall = float(xs[1] - xs[0]), float(ys[1] - ys[0])
    if wide <= 0 or tall < 0.005:
        return ""
    return _element(
        "rect", _tip(tip), x=xs[0], y=ys[0], width=wide, height=tall, fill=_paint(paint)
    )


# ---- elements ----


def _element(name: str, content: str | None = None, **attributes: Any) -> str:
    """Write an element; an attribute that is None is left out, numbers are written shortly."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="'
        f'{html.escape(value) if isinstance(value, str) else _number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}/>" if content is None else f"<{name}{written}>{content}</{name}>"


def _text(
    line: str, x: float, y: float, font: dict[str, Any], anchor: str = "start", turn: float = 0
) -> str:
    """Write one line of text; y is its baseline."""
    if not line:
        return ""
    turned = f"rotate({_number(turn)} {_number(x)} {_number(y)})" if turn else None
    return _element(
        "text", _escape(line), x=x, y=y, font_size=font["size"], fill=_paint(font["color"]),
        text_anchor=anchor, transform=turned, font_weight=font.get("weight"),
        pointer_events=font.get("pointer"),
    )  # fmt: skip


def _tick(
    text: str, x: float, y: float, font: dict[str, Any], anchor: str, turn: float = 0
) -> str:  # fmt: skip
    """Write the label of a tick, which may have a colour of its own."""
    own = re.match(r'<span style="color:([^"]*)">', str(text))
    return _text(_one(text), x, y, {**font, "color": own[1]} if own else font, anchor, turn)


def _line(xs: Iterable[float], ys: Iterable[float], pen: dict[str, Any]) -> str:
    """Write a straight line, (x, x) and (y, y)."""
    (x0, x1), (y0, y1) = xs, ys
    return _element("line", x1=x0, y1=y0, x2=x1, y2=y1, **_stroke(pen))


def _stroke(pen: dict[str, Any]) -> dict[str, Any]:
    return {
        "stroke": _paint(pen.get("color")),
        "stroke_width": pen.get("width", 1),
        "stroke_dasharray": DASHES.get(pen.get("dash", "")),
    }


def _path(xs: Array, ys: Array) -> str:
    """Return an outline through points, rounded to a tenth of a pixel where they are many."""
    points = np.round(np.column_stack([xs, ys]), 2 if len(xs) < 2000 else 1)
    moved = np.ones(len(points), dtype=bool)
    moved[1:] = (np.diff(points, axis=0) != 0).any(axis=1)
    points = points[moved]
    level = np.diff(points, axis=0) == 0
    parts = [f"M{_number(points[0, 0])} {_number(points[0, 1])}"]
    for (x, y), (same_x, same_y) in zip(points[1:], level, strict=True):
        across, up = _number(x), _number(y)
        parts.append(f"H{across}" if same_y else f"V{up}" if same_x else f"L{across} {up}")
    return "".join(parts)


def _tip(text: str) -> str:
    return _element("title", _escape("\n".join(_lines(text)))) if text else ""


def _number(value: float) -> str:
    """Write a number in few characters, the same on every machine."""
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _paint(colour: Any) -> str:
    """Check that this is a colour, and nothing else: it becomes an attribute."""
    text = INK if colour is None else str(colour)
    if not re.fullmatch(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]+|rgba?\([\d., %]+\)", text):
        raise _refused(f"{text[:40]!r} is not a colour")
    return text


# ---- the figure as data ----


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


def _each(setting: Any, n: int) -> list[Any]:
    """Return a setting for each of n marks; it may be one for all."""
    return [setting] * n if isinstance(setting, str) or np.ndim(setting) == 0 else list(setting)


def _tips(trace: dict[str, Any]) -> list[str]:
    given = trace.get("hovertext")
    n = len(trace["x"]) if "x" in trace else 1
    return [""] * n if given is None or isinstance(given, str) else list(given)


def _lines(text: str) -> list[str]:
    """Return the lines of Plotly's text, without its markup."""
    return [
        html.unescape(re.sub(r"</?\w[^>]*>", "", line))
        for line in re.split(r"<br ?/?>", str(text or ""))
    ]


def _one(text: str) -> str:
    return " ".join(_lines(text))


def _refused(reason: str) -> InputError:
    return InputError(
        f"this figure cannot be drawn as plain SVG: {reason}",
        remedy="save it as .html, where everything that Plotly knows is shown",
    )
