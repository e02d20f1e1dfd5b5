# SPDX-License-Identifier: BSD-3-Clause
"""Effects: mean shares by label or over time with intervals, or the contrast of two labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.errors import InputError
from discan.evaluation.effects import Contrast, Effects
from discan.evaluation.effects import effects as measured
from discan.fitting.result import needed_fit
from discan.plot.inputs import components_of
from discan.plot.lettering import label, percent, text_width, widest
from discan.plot.palette import GREY, blend
from discan.plot.panels import Grid
from discan.plot.theme import TITLE_HEIGHT, axis, figure, linear_ticks, points, rule
from discan.typing import Array
from discan.validation import whole

__all__ = ["effects"]

WIDE, TALL, ROW = 208, 84, 19  # pixels of a chart, and of a label
BARS = 460  # pixels of the chart of a contrast
MOST_LABELS = 30


def effects(
    source: Any,
    labels: Any = None,
    *,
    time: Any = None,
    contrast: Any = None,
    level: float = 0.9,
    of: str = "population",
    n_words: int = 3,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw the mean share of each component by label or over time, with intervals.

    Parameters
    ----------
    source : fit, fitted estimator, or Effects
    labels, time : optional
        Name of a column of the metadata, or one value per document; one of the two.
    contrast : pair of labels, optional
        Draw the differences of two labels.
    level : float
        Probability of an interval.
    of : {"population", "documents"}
        As for ``DCA.effects``.
    n_words : int
        Telling words of each component in its heading, of text.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> fitted = discan.LDA(2, algorithm="map", random_state=0).fit(X)
    >>> figure = effects(fitted, ["a"] * 5 + ["b"] * 5)
    >>> len(figure.data)
    4
    """
    n_words = whole("n_words", n_words, 0)
    found = source if isinstance(source, Effects) else None
    if found is None:
        fit = needed_fit(source, "effects need")
        found = measured(fit, labels, time=time, level=level, of=of)
    listed = components_of(found.fit, sort=False)
    keys = [listed.key(k, n_words) for k in range(found.fit.n_components)]
    sure = f"intervals of {100 * found.level:g} % cover {found.covers}"
    nouns = found.fit.nouns
    by = label(found.by, 40)
    if contrast is not None:
        pair = found.contrast(*contrast)
        first, second = label(pair.first, 40), label(pair.second, 40)
        traces, layout = _differences(pair, keys, listed.colours)
        heading = f"{nouns.components.capitalize()}: {first} minus {second}"
        told = f"Difference of the mean shares by {by}; {sure}"
    elif found.period is None:
        traces, layout = _by_label(found, keys, listed.colours)
        heading = f"{nouns.components.capitalize()} by {by}"
        told = f"Mean share of each {nouns.component}, each with its own scale; {sure}"
    else:
        traces, layout = _over_time(found, keys, listed.colours)
        heading = f"{nouns.components.capitalize()} over time"
        told = (
            f"Mean share of each {nouns.component} by {found.period or by}, each with its own "
            f"scale; {sure}"
        )
    if found.n_missing:
        told += f"; {found.n_missing:,} {nouns.documents} without a value are left out"
    return figure(
        traces, layout, title=title or heading, subtitle=subtitle or told,
        description=f"{heading}: means and intervals of {len(keys)} {nouns.components}.",
    )  # fmt: skip


# ---- kinds ----


def _by_label(found: Effects, keys: list[str], paint: list[str]) -> tuple[list[Any], Any]:
    """Return a chart per component, with a row per label."""
    if len(found.labels) > MOST_LABELS:
        raise InputError(
            f"{found.by} has {len(found.labels)} labels, too many to draw (at most {MOST_LABELS})",
            remedy="draw a contrast, or give time",
        )
    names = [label(name, 24) for name in found.labels]
    rows = np.arange(len(names))
    left = 14 + int(widest(names, 11))
    grid = Grid(len(keys), left, WIDE, ROW * len(names) + 6, above=34, gap=26, below=26, right=24)
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {**grid.layout(), "annotations": []}
    for k, key in enumerate(keys):
        ends = np.nan_to_num(np.stack([found.mean[:, k], found.high[:, k]]))
        most = float(ends.max()) or 1.0
        told = [_told(found, g, k) for g in range(len(names))]
        traces += _whiskers(found.mean[:, k], found.low[:, k], found.high[:, k], rows, told,
                            [paint[k]] * len(names), **grid.axes_of(k))  # fmt: skip
        x = {"range": [-0.02 * most, most * 1.06], "tickfont": {"size": 11}, "showgrid": True}
        y = {"range": [len(names) - 0.5, -0.5], "tickvals": rows, "ticktext": names,
             "tickfont": {"size": 11}}  # fmt: skip
        layout |= grid.axes(k, {**x, **_percent(0, most, 2)}, y)
        layout["annotations"].append(grid.heading(k, key))
    return traces, layout


def _over_time(found: Effects, keys: list[str], paint: list[str]) -> tuple[list[Any], Any]:
    """Return a chart per component: a line, and a band for the intervals."""
    n = len(found.labels)
    grid = Grid(len(keys), 44, WIDE, TALL, above=34, gap=30, below=26, right=24)
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {**grid.layout(), "annotations": []}
    ends = [0, n - 1] if n > 1 else [0]
    if text_width(found.labels[0], 11) + text_width(found.labels[-1], 11) + 12 > WIDE:
        ends = [0]
    across = {
        "range": [0, n], "tickvals": [t + 0.5 for t in ends], "showline": True,
        "ticktext": [label(found.labels[t], 24) for t in ends], "tickfont": {"size": 11},
    }  # fmt: skip
    for k, key in enumerate(keys):
        axes, mean = grid.axes_of(k), found.mean[:, k]
        known = np.isfinite(mean)
        low = np.where(np.isfinite(found.low[:, k]), found.low[:, k], mean)
        high = np.where(np.isfinite(found.high[:, k]), found.high[:, k], mean)
        x = np.arange(n) + 0.5
        most = float(high[known].max()) or 1.0
        pale = blend(((0, paint[k]), (1, "#ffffff")), 0.72)
        band = points(
            "lines", None, np.concatenate((x[known], x[known][::-1])),
            np.concatenate((high[known], low[known][::-1])), fill="toself", fillcolor=pale,
            line={"width": 0}, **axes,
        )  # fmt: skip
        line = points(
            "lines+markers", None, x, mean, [_told(found, t, k) for t in range(n)],
            line={"color": paint[k], "width": 2},
            marker={"color": paint[k], "size": np.where(known, 5, 0)}, **axes,
        )  # fmt: skip
        traces += [band, line]
        up = {"range": [0, most * 1.08], "tickfont": {"size": 11}, "showgrid": True}
        layout |= grid.axes(k, across, {**up, **_percent(0, most, 2)})
        layout["annotations"].append(grid.heading(k, key))
    return traces, layout


def _differences(pair: Contrast, keys: list[str], paint: list[str]) -> tuple[list[Any], Any]:
    """Return one chart with a row per component, and a line at no difference."""
    names = [label(key, 70) for key in keys]
    rows = np.arange(len(names))
    ends = np.nan_to_num(np.concatenate([pair.low, pair.high, pair.difference]))
    low, high = min(float(ends.min()), 0.0), max(float(ends.max()), 0.0)
    more = 0.04 * (high - low) or 0.01
    told = [
        f"{label(key, 60)}<br>{label(pair.first, 30)} minus {label(pair.second, 30)}: "
        f"{_points(d)} ({_points(a)} to {_points(b)})"
        for key, d, a, b in zip(keys, pair.difference, pair.low, pair.high, strict=True)
    ]
    traces = _whiskers(pair.difference, pair.low, pair.high, rows, told, paint)
    left = 26 + int(widest(names, 12))
    layout = {
        "width": left + BARS + 40, "height": TITLE_HEIGHT + 12 + 21 * len(names) + 54,
        "margin": {"l": left, "r": 40, "t": TITLE_HEIGHT + 12, "b": 54},
        "xaxis": axis("difference of the mean shares, in percentage points", anchor="y",
                      range=[low - more, high + more], showgrid=True,
                      **_percent(low, high, 5, " ")),
        "yaxis": axis(range=[len(names) - 0.5, -0.5], tickvals=rows, ticktext=names, anchor="x"),
        "shapes": [rule(x=0.0, layer="below")],
    }  # fmt: skip
    return traces, layout


# ---- details ----


def _whiskers(
    mean: Array, low: Array, high: Array, rows: Array, told: list[str], paint: list[str],
    **axes: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return level lines from the lower to the upper limits, and discs at the estimates."""
    gap = np.full(len(rows), np.nan)
    lines = points(
        "lines", None, np.column_stack([low, high, gap]).ravel(),
        np.column_stack([rows, rows, gap]).ravel(), line={"color": GREY, "width": 1.5}, **axes,
    )  # fmt: skip
    discs = points("markers", None, mean, rows, told, cliponaxis=False,
                   marker={"size": 8, "color": paint, "line": {"width": 0}}, **axes)  # fmt: skip
    return [lines, discs]


def _told(found: Effects, g: int, k: int) -> str:
    """Describe a mean for the pointer."""
    n, nouns = int(found.n_documents[g]), found.fit.nouns
    text = f"{label(found.labels[g], 40)}, {n:,} {nouns.documents}"
    if n:
        text += f"<br>{label(found.fit.component_names[k], 40)}: {percent(found.mean[g, k])}"
    if np.isfinite(found.low[g, k]):
        text += f" ({percent(found.low[g, k])} to {percent(found.high[g, k])})"
    return text


def _percent(low: float, high: float, n: int, unit: str = " %") -> dict[str, Any]:
    """Return ticks of shares."""
    ticks = linear_ticks(low, high, n)
    return {"tickvals": ticks, "ticktext": [f"{100 * t:.3g}{unit}".strip() for t in ticks]}


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}"
