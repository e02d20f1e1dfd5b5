# SPDX-License-Identifier: BSD-3-Clause
"""Over time: a small chart per component with its mean share in documents of each period."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.data.periods import Periods, periods
from discan.errors import InputError
from discan.plot.inputs import documents_of
from discan.plot.lettering import label, percent, text_width
from discan.plot.ordering import Grouping, as_text, label_columns
from discan.plot.palette import blend
from discan.plot.panels import Grid
from discan.plot.subjects import Documents
from discan.plot.theme import figure, points
from discan.typing import Array

__all__ = ["over_time"]

WIDE, TALL = 208, 84  # pixels of a chart


def over_time(
    source: Any,
    time: Any,
    *,
    components: Any = None,
    component_names: Any = None,
    n_words: int = 3,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw the mean share of each component in documents of each period.

    Dates are cut into days, weeks, months, quarters, years or decades, so that there are at most
    sixty. The pale band around the line is one standard error of the mean on either side.

    Parameters
    ----------
    source : fit, fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    time : name of a column of the metadata, or (I,) dates or numbers
    components : list of numbers from 1 or of names, optional
        Components to show.
    component_names : (K,) labels, optional
    n_words : int
        Telling words of each component in its heading, of text.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = over_time([[1, 0], [0, 1], [0.5, 0.5]], [2001, 2002, 2002])
    >>> figure.data[1].y.tolist()
    [1.0, 0.25]
    """
    documents = documents_of(source, None, components, component_names, n_words)
    name, found = _periods(documents, time)
    known = found.number >= 0
    groups = Grouping(name, found.names, found.number[known])
    with np.errstate(invalid="ignore", divide="ignore"):
        means = groups.means(documents.shares[known])
        squares = groups.means((documents.shares[known] - means[groups.group]) ** 2)
        errors = np.sqrt(squares / (groups.sizes[:, None] - 1))
    n_components = sum(part is not None for part in documents.parts)
    grid = Grid(n_components, 44, WIDE, TALL, above=34, gap=30, below=26, right=24)
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {**grid.layout(), "annotations": []}
    for k in range(n_components):
        most = float(np.nanmax(means[:, k] + np.nan_to_num(errors[:, k]))) or 1.0
        traces += _chart(documents, k, found, means[:, k], errors[:, k], groups.sizes,
                         grid.axes_of(k))  # fmt: skip
        layout |= grid.axes(k, _across(found.names), _up(most))
        layout["annotations"].append(grid.heading(k, documents.keys[k]))
    nouns, missing = documents.nouns, int((~known).sum())
    per = found.kind or label(name or "time", 30)
    return figure(
        traces, layout, title=title or f"{nouns.components.capitalize()} over time",
        subtitle=subtitle
        or f"Mean share of each {nouns.component} in the {nouns.documents} of each {per}, each "
        "with its own scale; the pale band is one standard error"
        + (f"; {missing:,} {nouns.documents} without a date are left out" if missing else ""),
        description=f"Lines: mean shares of {n_components} {nouns.components} from "
        f"{found.names[0]} to {found.names[-1]}, by {per}.",
    )  # fmt: skip


def _periods(documents: Documents, time: Any) -> tuple[str, Periods]:
    """Return the name of the column, and the periods."""
    if isinstance(time, str):
        ((name, _),) = label_columns(documents, time)
        column = documents.metadata[time]
    else:
        name, column = "", np.asarray(time)
        if column.ndim != 1 or len(column) != len(documents.names):
            raise InputError(f"time must be {len(documents.names)} dates or numbers")
        if column.dtype.kind in "iuf":
            column = column.astype(np.float64)
        else:
            column = np.array([None if v is None else str(v) for v in column], dtype=object)
    found = periods(column)
    if found is None:
        example = next(iter(as_text(column)), "")
        raise InputError(
            f"{name or 'time'} has no dates that can be read, e.g. {example!r}",
            remedy="give dates such as 2005-01-31, or numbers",
        )
    return name, found


def _chart(
    documents: Documents, k: int, found: Periods, mean: Array, error: Array, sizes: Array,
    axes: dict[str, str],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the line of a component, the band around it, and texts for the pointer."""
    colour, nouns = documents.colours[k], documents.nouns
    x = np.arange(len(mean)) + 0.5
    known = np.isfinite(mean)
    told = [
        f"{period}, {n:,} {nouns.documents}"
        + (f"<br>{label(documents.components[k])}: {percent(m)}" if n else "")
        + (f" ± {percent(e)}" if np.isfinite(e) else "")
        for period, n, m, e in zip(found.names, sizes, mean, error, strict=True)
    ]
    high, low = mean + np.nan_to_num(error), np.maximum(mean - np.nan_to_num(error), 0)
    band = points(
        "lines", None, np.concatenate((x[known], x[known][::-1])),
        np.concatenate((high[known], low[known][::-1])), fill="toself",
        fillcolor=blend(((0, colour), (1, "#ffffff")), 0.72), line={"width": 0}, **axes,
    )  # fmt: skip
    beside = np.append(False, known[:-1]) | np.append(known[1:], False)
    alone = bool((known & ~beside).any())  # between empty periods, a line alone shows nothing
    mode = "lines+markers" if len(mean) <= 24 or alone else "lines"
    line = points(mode, None, x, mean, line={"color": colour, "width": 2},
                  marker={"color": colour, "size": np.where(known, 5, 0)}, **axes)  # fmt: skip
    middle = np.full(len(mean), 0.0)
    hidden = points("markers", None, x, middle, told, opacity=0, showlegend=False,
                    customdata=np.arange(len(mean) + 1), **axes)  # fmt: skip
    return [band, line, hidden]


def _across(names: list[str]) -> dict[str, Any]:
    """Return the axis of time: the first and the last period, and one between if it fits."""
    n = len(names)
    shown = sorted({0, n // 2, n - 1})
    widths = [text_width(names[t], 11) for t in shown]
    if sum(widths) + 30 > WIDE or n < 3:
        shown = sorted({0, n - 1})
    if len(shown) == 2 and text_width(names[0], 11) + text_width(names[-1], 11) + 12 > WIDE:
        shown = [0]
    return {
        "range": [0, n], "tickvals": [t + 0.5 for t in shown],
        "ticktext": [label(names[t], 24) for t in shown], "tickfont": {"size": 11},
        "showline": True,
    }  # fmt: skip


def _up(most: float) -> dict[str, Any]:
    """Return the axis of shares: nothing, and about the largest mean."""
    power = 10.0 ** np.floor(np.log10(most))
    tick = max(m * power for m in (1, 2, 3, 4, 5, 6, 8) if m * power <= most * (1 + 1e-9))
    return {
        "range": [0, most * 1.08], "tickvals": [0, tick], "ticktext": ["0", f"{100 * tick:.3g} %"],
        "tickfont": {"size": 11}, "showgrid": True,
    }  # fmt: skip
