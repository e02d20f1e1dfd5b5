# SPDX-License-Identifier: BSD-3-Clause
"""What all figures share: axes, legends, notes, ticks, and the Plotly figure itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discan.data.periods import round_step
from discan.errors import InputError
from discan.plot.lettering import text_width, widest, wrapped
from discan.plot.palette import GREY, GRID, INK, SHADES, Scale
from discan.typing import Array

__all__ = [
    "FONT", "PERCENT", "TITLE_HEIGHT", "axis", "cells", "figure", "legend", "legend_width",
    "line_chart", "linear_ticks", "note", "number_axis", "number_ticks", "points", "rule",
    "share_chart", "span",
]  # fmt: skip

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
TITLE_HEIGHT = 64  # pixels: a title and a subtitle of one line each, and white space
PERCENT: dict[str, Any] = {
    "range": [0, 1], "tickvals": [0, 0.25, 0.5, 0.75, 1],
    "ticktext": ["0 %", "25 %", "50 %", "75 %", "100 %"],
}  # fmt: skip
"""Arguments of `axis` for shares from 0 to 1."""
SMALL = {"size": 12}
NARROWEST = 540  # pixels of a figure
EDGE = 12  # pixels between the left edge and the titles


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
        same picture; its top margin includes `TITLE_HEIGHT`. Titles of several lines enlarge it.
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
    spare = max(NARROWEST - layout["width"], 0)  # for the titles, to the right of the plot
    width = layout["width"] + spare
    room = width - 2 * EDGE
    heading, told = _broken(title, 18, room), _broken(subtitle, 13, room)
    head = 23 * heading.count("<br>"), 17 * told.count("<br>")
    margin = {**layout["margin"], "t": layout["margin"]["t"] + sum(head)}
    margin["r"] += spare
    height = layout["height"] + sum(head)
    below_title = note(
        told, 0, 1, name="subtitle", xanchor="left", yanchor="top", align="left",
        xshift=EDGE - margin["l"], yshift=margin["t"] - 39 - head[0],
        font={"size": 13, "color": GREY},
    )  # fmt: skip
    whole_layout = {
        "template": "none",
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "font": {"family": FONT, "size": 13, "color": INK},
        "title": {
            "text": heading, "x": EDGE / width, "xanchor": "left", "xref": "container",
            "y": 1 - 14 / height, "yanchor": "top", "yref": "container",
            "font": {"size": 18, "color": INK},
        },
        "hoverlabel": {"align": "left", "font": {"size": 12}},
        "hovermode": "closest",
        "showlegend": False,
        **layout,
        "width": width,
        "height": height,
        "margin": margin,
        "annotations": [below_title, *layout.get("annotations", ())],
        "meta": {
            "description": description, "head": TITLE_HEIGHT + sum(head), "spare": spare, **facts,
        },
    }  # fmt: skip
    return Figure(data=list(traces), layout=whole_layout)


def axis(title: str = "", **settings: Any) -> dict[str, Any]:
    """Return the settings of an axis: labels only; lines and a grid on request."""
    return {
        "title": {"text": title, "font": {"size": 13, "color": GREY}, "standoff": 8},
        "showgrid": False, "gridcolor": GRID, "zeroline": False, "showline": False,
        "ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)",  # only a gap
        "linecolor": GREY, "tickfont": {"size": 12, "color": INK}, "automargin": False,
        "fixedrange": False, **settings,
    }  # fmt: skip


def legend(reverse: bool = False) -> dict[str, Any]:
    """Return the settings of a legend to the right of the plot, perhaps from bottom to top."""
    order = "reversed" if reverse else "normal"
    return {
        "showlegend": True, "legend": {"traceorder": order, "font": SMALL, "x": 1.01, "y": 1},
    }  # fmt: skip


def share_chart(
    keys: Sequence[str], x: dict[str, Any], *, width: int, height: int, below: int, grid: bool
) -> dict[str, Any]:
    """Return the layout of upright stacked shares with a legend; ``x`` are arguments of `axis`."""
    margin = {"l": 60, "r": legend_width(keys), "t": TITLE_HEIGHT + 12, "b": below}
    return {
        "width": width + margin["r"],
        "height": max(height, 19 * len(keys) + 8) + margin["t"] + below,
        "margin": margin,
        **legend(reverse=True),
        "xaxis": axis(anchor="y", **x),
        "yaxis": axis(anchor="x", showgrid=grid, **PERCENT),
    }


def line_chart(
    x: dict[str, Any], y: dict[str, Any], *, width: int, right: int, height: int = 440
) -> dict[str, Any]:
    """Return the layout of lines over a plane; ``x`` and ``y`` are arguments of `axis`."""
    left = 44 + int(widest(list(y["ticktext"]), 12))
    return {
        **legend(),
        "width": width + left + right, "height": height,
        "margin": {"l": left, "r": right, "t": TITLE_HEIGHT + 16, "b": 56},
        "xaxis": axis(showline=True, anchor="y", **x),
        "yaxis": axis(showgrid=True, anchor="x", **y),
    }  # fmt: skip


def rule(
    *, x: float | None = None, y: float | None = None, layer: str = "below", **line: Any
) -> dict[str, Any]:
    """Return a straight line across the whole plot, upright at x or level at y."""
    place = (
        {"xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y}
        if x is None
        else {"xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1}
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


def cells(
    values: Array, hovertext: list[list[str]], scale_title: str, *, scale: Scale = SHADES,
    ends: Sequence[str] = ("0 %", "50 %", "100 %"), most: float = 1.0,
) -> dict[str, Any]:  # fmt: skip
    """Return a trace of shaded cells with a colour bar; ``ends`` are its labels from the foot.

    Values are at least 0 and at most ``most``.
    """
    bar = {
        "title": {"text": f"{scale_title}<br>&nbsp;", "side": "top", "font": SMALL},
        "tickfont": SMALL, "thickness": 12, "lenmode": "pixels", "len": 110,
        "x": 1.0, "xanchor": "left", "xpad": 14, "y": 1, "yanchor": "top", "ypad": 0,
        "tickvals": np.linspace(0, most, len(ends)), "ticktext": list(ends), "outlinewidth": 0.5,
    }  # fmt: skip
    return {
        "type": "heatmap", "z": values, "zmin": 0, "zmax": most, "colorscale": scale, "xgap": 1,
        "ygap": 1, "colorbar": bar, "hovertext": hovertext, "hoverinfo": "text",
    }  # fmt: skip


def legend_width(names: Sequence[str]) -> int:
    """Return the width in pixels of a legend to the right of the plot."""
    return int(64 + widest(names, 12))


# ---- ticks ----


def linear_ticks(low: float, high: float, n: int = 5) -> Array:
    """Return about n round numbers inside a range."""
    length = high - low
    if not length > 0:
        return np.array([low])
    step = round_step(length, n)
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
    apart = high - low > 1e-9 * max(abs(low), abs(high))  # beyond rounding
    more = margin * (high - low) if apart else max(abs(high) * 0.05, 0.5)
    return low - more, high + more


def _broken(text: str, size: float, width: float) -> str:
    """Break a text into lines of at most this many pixels, unless it has lines of its own."""
    fits = "<" in text or text_width(text, size) <= width
    return text if fits else "<br>".join(wrapped(text, size, width))
