# SPDX-License-Identifier: BSD-3-Clause
"""What all figures share: colours, text, axes, and the Plotly figure itself."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.typing import Array
from discan.validation import whole

__all__ = [
    "BRIGHT", "DEEP", "FONT", "GREY", "GRID", "INK", "PALETTE", "TITLE_HEIGHT", "Scale",
    "axis", "blend", "cells", "clean", "colours", "figure", "label", "legend", "legend_width",
    "line_chart", "linear_ticks", "note", "number_axis", "number_ticks", "points", "rule",
    "share_chart", "shortened", "span", "spectrum", "text_width",
]  # fmt: skip

Scale = Sequence[tuple[float, str]]

# Colour-blind readers can tell these apart: the first seven are those of Okabe and Ito; the others
# were chosen for their distance from these and from each other under simulated colour blindness.
PALETTE = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#332288",
    "#882255", "#8a3ffc", "#3d1d08", "#b8b8b8",
)  # fmt: skip
SHADES: Scale = tuple(
    (n / 5, colour)
    for n, colour in enumerate(("#f4f6f9", "#d6e3f0", "#94b8d9", "#4a86bd", "#174f8c", "#0a2a52"))
)
"""From 0 to 1, for cells; the last shades are dark enough for print."""
DEEP: Scale = ((0.0, "#174f8c"), (0.4, "#86b6e0"), (0.6, "#f3c17a"), (1.0, "#be4e1a"))
"""From blue to orange, for white paper."""
BRIGHT: Scale = ((0.0, "#3b8ad8"), *DEEP[1:3], (1.0, "#d9702e"))
"""From blue to orange, for terminals, dark or light."""
INK, GREY, GRID = "#222222", "#666666", "#e4e4e4"
FONT = "Helvetica Neue, Helvetica, Arial, sans-serif"
TITLE_HEIGHT = 64  # pixels: the title, the subtitle, and white space
SMALL = {"size": 12}
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


# ---- colours ----


def colours(n: int) -> list[str]:
    """Return n colours: twelve, then the same twelve lighter, then darker, and so on."""
    n = whole("n", n, 0)
    mixes = (("#000000", 0.0), ("#ffffff", 0.5), ("#000000", 0.4))
    result = []
    for k in range(n):
        towards, part = mixes[(k // len(PALETTE)) % len(mixes)]
        result.append(blend(((0.0, PALETTE[k % len(PALETTE)]), (1.0, towards)), part))
    return result


def spectrum(n: int, scale: Scale = DEEP) -> list[str]:
    """Return n colours of a scale at equal distances, from its start to its end."""
    return [blend(scale, k / (n - 1) if n > 1 else 0.0) for k in range(n)]


def blend(scale: Scale, part: float) -> str:
    """Return the colour at a place between 0 and 1 of a scale of (place, colour) pairs."""
    at = [float(stop) for stop, _ in scale]
    levels = np.array([[int(c[n : n + 2], 16) for n in (1, 3, 5)] for _, c in scale])
    mixed = [round(float(np.interp(part, at, levels[:, n]))) for n in range(3)]
    return "#" + "".join(f"{level:02x}" for level in mixed)


# ---- the figure and its parts ----


def figure(
    traces: Sequence[dict[str, Any]],
    layout: dict[str, Any],
    *,
    title: str,
    subtitle: str,
    description: str,
    **facts: Any,
) -> Any:
    """Make a Plotly figure from traces and a layout.

    Parameters
    ----------
    traces, layout : dicts as Plotly defines them
        The layout gives all sizes, margins, ranges and ticks, so that Plotly and `to_svg` draw the
        same picture; its top margin includes `TITLE_HEIGHT`.
    title, subtitle : str
        What the figure shows, and how to read it.
    description : str
        The figure in words, for readers who cannot see it; stored in ``layout.meta``.
    facts
        Anything else to store in ``layout.meta``.
    """
    try:
        from plotly.graph_objects import Figure
    except ImportError:
        raise InputError("figures need the package plotly", remedy="pip install plotly") from None
    below_title = note(
        subtitle, 0, 1, xanchor="left", yanchor="bottom", align="left",
        xshift=12 - layout["margin"]["l"], yshift=layout["margin"]["t"] - 60,
        font={"size": 13, "color": GREY},
    )  # fmt: skip
    whole_layout = {
        "template": "none",
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "font": {"family": FONT, "size": 13, "color": INK},
        "title": {
            "text": title, "x": 12 / layout["width"], "xanchor": "left", "xref": "container",
            "y": 1 - 14 / layout["height"], "yanchor": "top", "yref": "container",
            "font": {"size": 18, "color": INK},
        },
        "hoverlabel": {"align": "left", "font": {"size": 12}},
        "hovermode": "closest",
        "showlegend": False,
        **layout,
        "annotations": [below_title, *layout.get("annotations", ())],
        "meta": {"description": description, **facts},
    }  # fmt: skip
    return Figure(data=list(traces), layout=whole_layout)


def axis(title: str = "", **settings: Any) -> dict[str, Any]:
    """Return the settings of an axis: labels only; lines and a grid on request."""
    return {
        "title": {"text": title, "font": {"size": 13, "color": GREY}},
        "showgrid": False, "gridcolor": GRID, "zeroline": False, "showline": False,
        "ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)",  # only a gap
        "linecolor": GREY, "tickfont": {"size": 12, "color": INK}, "automargin": False,
        "fixedrange": False, **settings,
    }  # fmt: skip


def legend(reverse: bool = False) -> dict[str, Any]:
    """Return the settings of a legend to the right of the plot, perhaps from bottom to top."""
    order = {"traceorder": "reversed"} if reverse else {}
    return {"showlegend": True, "legend": {**order, "font": SMALL, "x": 1.01, "y": 1}}


def share_chart(
    keys: Sequence[str], x: dict[str, Any], *, width: int, height: int, below: int, grid: bool
) -> dict[str, Any]:
    """Return the layout of stacked shares with a legend; ``x`` are arguments of `axis`."""
    margin = {"l": 60, "r": legend_width(keys), "t": TITLE_HEIGHT + 12, "b": below}
    percent: dict[str, Any] = {"range": [0, 1], "tickvals": [0, 0.25, 0.5, 0.75, 1],
                               "ticktext": ["0 %", "25 %", "50 %", "75 %", "100 %"]}  # fmt: skip
    return {
        "width": width + margin["r"],
        "height": max(height, 19 * len(keys)) + margin["t"] + below,
        "margin": margin,
        **legend(reverse=True),
        "xaxis": axis(anchor="y", **x),
        "yaxis": axis(anchor="x", showgrid=grid, **percent),
    }


def line_chart(x: dict[str, Any], y: dict[str, Any], *, width: int, left: int, right: int) -> Any:
    """Return the layout of lines over a plane; ``x`` and ``y`` are arguments of `axis`."""
    return {
        **legend(),
        "width": width + right, "height": 440,
        "margin": {"l": left, "r": right, "t": TITLE_HEIGHT + 16, "b": 56},
        "xaxis": axis(showline=True, anchor="y", **x),
        "yaxis": axis(showgrid=True, anchor="x", **y),
    }  # fmt: skip


def rule(
    *, x: float | None = None, y: float | None = None, foot: float = 0, layer: str = "below",
    **line: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return a straight line across the whole plot, upright at x or level at y."""
    place = (
        {"xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y}
        if x is None
        else {"xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": foot, "y1": 1}
    )
    pen = {"color": GREY, "width": 1, "dash": "dot", **line}
    return {"type": "line", **place, "line": pen, "layer": layer}


def note(
    text: str, x: float, y: float, xref: str = "paper", yref: str = "paper", **settings: Any
) -> dict[str, Any]:
    """Return a text at a place of the plot, or of an axis that ``xref`` or ``yref`` names."""
    place = {"x": x, "y": y, "xref": xref, "yref": yref}
    return {"text": text, "showarrow": False, **place, **settings}


def points(
    mode: str, name: str | None, x: Any, y: Any, hovertext: Sequence[str] | None = None,
    **settings: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return a trace of lines or markers, with a text for the pointer on each point, or none."""
    pointer = {"hovertext": hovertext, "hoverinfo": "skip" if hovertext is None else "text"}
    return {"type": "scatter", "mode": mode, "name": name, "x": x, "y": y, **pointer, **settings}


def cells(values: Array, hovertext: list[list[str]], scale_title: str) -> dict[str, Any]:
    """Return a trace of cells shaded from 0 to 1, with a colour bar in per cent."""
    bar = {
        "title": {"text": f"{scale_title}<br>&nbsp;", "side": "top", "font": SMALL},
        "tickfont": SMALL, "thickness": 12, "lenmode": "pixels", "len": 110,
        "x": 1.0, "xanchor": "left", "xpad": 14, "y": 1, "yanchor": "top", "ypad": 0,
        "tickvals": [0, 0.5, 1], "ticktext": ["0 %", "50 %", "100 %"], "outlinewidth": 0.5,
    }  # fmt: skip
    return {
        "type": "heatmap", "z": values, "zmin": 0, "zmax": 1, "colorscale": SHADES, "xgap": 1,
        "ygap": 1, "colorbar": bar, "hovertext": hovertext, "hoverinfo": "text",
    }  # fmt: skip


# ---- text ----


def clean(text: object) -> str:
    """Replace control characters, and characters that change the direction of text."""
    return _CONTROL.sub("\ufffd", str(text))


def label(name: object, longest: int | None = None, keep_end: bool = False) -> str:
    """Make a name safe as text of a figure: no control characters, no markup, a limited length.

    ``keep_end`` shortens in the middle, for names that differ at the end, such as file names.
    """
    text = " ".join(clean(name).split())
    if longest is not None:
        text = shortened(text, longest, longest * 2 // 3 if keep_end else 0)
    return html.escape(text, quote=False)


def shortened(text: str, longest: int, end: int = 0) -> str:
    """Cut a text to a length; its last ``end`` characters stay."""
    if len(text) <= longest:
        return text
    return text[: longest - 1 - end].rstrip() + "…" + text[len(text) - end :]


def text_width(text: str, size: float) -> float:
    """Estimate the width of a line of text in pixels."""
    plain = html.unescape(re.sub(r"<[^>]*>", "", text))
    narrow, wide = set("iIjl.,:;'|!()[]ft r-"), set("mwMW@%")
    units = sum(0.31 if c in narrow else 0.86 if c in wide else 0.6 if c.islower() or c.isdigit()
                else 0.7 for c in plain)  # fmt: skip
    return 0.95 * size * units


def legend_width(names: Sequence[str], size: float = 12) -> int:
    """Estimate the width in pixels of a legend to the right of the plot."""
    return int(64 + max((text_width(name, size) for name in names), default=0))


# ---- ticks ----


def linear_ticks(low: float, high: float, n: int = 5) -> Array:
    """Return about n round numbers inside a range."""
    length = high - low
    if not length > 0:
        return np.array([low])
    power = 10.0 ** np.floor(np.log10(length / n))
    step = min((m * power for m in (1, 2, 2.5, 5, 10)), key=lambda step: abs(length / step - n))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return np.asarray(np.arange(first, last + 0.5) * step + 0.0)  # no -0


def number_axis(
    title: str, values: Sequence[Array], margin: float, n: int = 5
) -> dict[str, Any]:  # fmt: skip
    """Return arguments of `axis` for these numbers: title, range and about n ticks."""
    low, high = span(values, margin)
    return {"title": title, "range": [low, high], **number_ticks(low, high, n)}


def number_ticks(low: float, high: float, n: int = 5) -> dict[str, Any]:
    """Return ticks at round numbers, with as many decimals as they need."""
    ticks = linear_ticks(low, high, n)
    step = float(np.diff(ticks).min()) if len(ticks) > 1 else 1.0
    decimals = max(0, int(np.ceil(-np.log10(step) - 1e-9)))
    if abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6:
        decimals += 1  # steps of 0.25
    return {"tickvals": ticks, "ticktext": [f"{tick:,.{decimals}f}" for tick in ticks]}


def span(arrays: Sequence[Array], margin: float) -> tuple[float, float]:
    """Return a range that holds all numbers, widened at both ends by this part of it."""
    low = float(min(values.min() for values in arrays))
    high = float(max(values.max() for values in arrays))
    more = margin * (high - low) if high > low else max(abs(high) * 0.05, 0.5)
    return low - more, high + more
