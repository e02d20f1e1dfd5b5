# SPDX-License-Identifier: BSD-3-Clause
"""What all figures share: colours, letters, axes, and the making of a Plotly figure."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from discan.demos.terminal import clean
from discan.errors import InputError
from discan.typing import Array
from discan.validation import whole

__all__ = [
    "GREY",
    "INK",
    "SHADES",
    "axis",
    "colours",
    "figure",
    "label",
    "legend_width",
    "linear_ticks",
    "number_ticks",
    "span",
    "text_width",
]

# Told apart by colour-blind readers: the first seven are those of Okabe and Ito, the others were
# chosen for distance from them and from each other under simulated colour blindness.
PALETTE = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#332288",
    "#882255", "#8a3ffc", "#3d1d08", "#b8b8b8",
)  # fmt: skip
SHADES = ("#f4f6f9", "#d6e3f0", "#94b8d9", "#4a86bd", "#174f8c", "#0a2a52")
"""From nothing to all, for cells; dark enough at the end to be read in print."""
INK, GREY, GRID = "#222222", "#666666", "#e4e4e4"
FONT = "Helvetica Neue, Helvetica, Arial, sans-serif"
TITLE_HEIGHT = 64  # the title, a line under it, and air


def colours(n: int) -> list[str]:
    """Make n colours: twelve, then the same twelve lighter, then darker, and over again."""
    n = whole("n", n, 0)
    mixes = ((0, 0.0), (255, 0.5), (0, 0.4))
    result = []
    for k in range(n):
        towards, part = mixes[(k // len(PALETTE)) % len(mixes)]
        colour = PALETTE[k % len(PALETTE)]
        levels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        mixed = [round(level + part * (towards - level)) for level in levels]
        result.append("#" + "".join(f"{level:02x}" for level in mixed))
    return result


def figure(
    traces: Sequence[dict[str, Any]],
    layout: dict[str, Any],
    *,
    title: str,
    subtitle: str,
    description: str,
) -> Any:
    """Make a Plotly figure of plain traces and a layout.

    Parameters
    ----------
    traces, layout : of Plotly, as dicts
        Sizes, margins, ranges and ticks are all given, so that the picture is the same in Plotly
        and in `to_svg`; the top margin leaves `TITLE_HEIGHT` for the title.
    title, subtitle : str
        What is seen, and how to read it.
    description : str
        The figure in words, for those who cannot see it; kept in ``layout.meta``.
    """
    try:
        from plotly.graph_objects import Figure
    except ImportError:
        raise InputError("figures need the package plotly: pip install plotly") from None
    left = layout["margin"]["l"]
    note = {
        "text": subtitle, "showarrow": False, "xref": "paper", "yref": "paper", "x": 0, "y": 1,
        "xanchor": "left", "yanchor": "bottom", "align": "left",
        "xshift": 12 - left, "yshift": layout["margin"]["t"] - 60,
        "font": {"size": 13, "color": GREY},
    }  # fmt: skip
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
        "annotations": [note, *layout.get("annotations", ())],
        "meta": {"description": description},
    }  # fmt: skip
    return Figure(data=list(traces), layout=whole_layout)


def axis(title: str = "", **settings: Any) -> dict[str, Any]:
    """Settings of an axis: thin lines, nothing drawn that is not asked for."""
    return {
        "title": {"text": title, "font": {"size": 13, "color": GREY}},
        "showgrid": False, "gridcolor": GRID, "zeroline": False, "showline": False,
        "ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)",  # air before the labels
        "linecolor": GREY, "tickfont": {"size": 12, "color": INK}, "automargin": False,
        "fixedrange": False, **settings,
    }  # fmt: skip


def label(name: object, longest: int | None = None, keep_end: bool = False) -> str:
    """Make text of a name: nothing that steers, no markup, and not longer than asked for.

    ``keep_end`` shortens in the middle, for names that differ at the end, such as those of files.
    """
    text = " ".join(clean(name).split())
    if longest is not None and len(text) > longest:
        end = longest * 2 // 3 if keep_end else 0
        text = text[: longest - 1 - end].rstrip() + "…" + text[len(text) - end :]
    return html.escape(text, quote=False)


def linear_ticks(low: float, high: float, n: int = 5) -> Array:
    """Round numbers inside a range, about n of them."""
    span = high - low
    if not span > 0:
        return np.array([low])
    power = 10.0 ** np.floor(np.log10(span / n))
    step = min((m * power for m in (1, 2, 2.5, 5, 10)), key=lambda step: abs(span / step - n))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return np.asarray(np.arange(first, last + 0.5) * step + 0.0)  # no -0


def number_ticks(low: float, high: float, n: int = 5) -> dict[str, Any]:
    """Ticks of an axis at round numbers, with as many decimals as tell them apart."""
    ticks = linear_ticks(low, high, n)
    step = float(np.diff(ticks).min()) if len(ticks) > 1 else 1.0
    decimals = max(0, int(np.ceil(-np.log10(step) - 1e-9)))
    if abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6:
        decimals += 1  # steps of 0.25
    return {"tickvals": ticks, "ticktext": [f"{tick:,.{decimals}f}" for tick in ticks]}


def span(arrays: Sequence[Array], air: float) -> tuple[float, float]:
    """Range of an axis that holds all numbers, with a part of it as air at either end."""
    low = float(min(values.min() for values in arrays))
    high = float(max(values.max() for values in arrays))
    more = air * (high - low) if high > low else max(abs(high) * 0.05, 0.5)
    return low - more, high + more


def text_width(text: str, size: float) -> float:
    """Width of a line of text in pixels, about."""
    plain = html.unescape(re.sub(r"<[^>]*>", "", text))
    narrow, wide = set("iIjl.,:;'|!()[]ft r-"), set("mwMW@%")
    units = sum(0.31 if c in narrow else 0.86 if c in wide else 0.6 if c.islower() or c.isdigit()
                else 0.7 for c in plain)  # fmt: skip
    return 0.95 * size * units


def legend_width(names: Sequence[str], size: float = 12) -> int:
    """Pixels that a legend to the right of the figure takes."""
    return int(64 + max((text_width(name, size) for name in names), default=0))
