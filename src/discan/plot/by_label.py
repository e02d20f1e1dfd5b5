# SPDX-License-Identifier: BSD-3-Clause
"""By label: the mean share of each component in documents of each label."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.plot.inputs import documents_of
from discan.plot.lettering import label, percent, widest
from discan.plot.ordering import Grouping, grouping
from discan.plot.subjects import Documents
from discan.plot.theme import PERCENT, TITLE_HEIGHT, axis, cells, figure, legend, legend_width
from discan.typing import Array

__all__ = ["by_label"]

MOST_BARS = 12  # components; of more, colours are hard to tell apart
BARS = 620
BESIDE = 14  # half of "100 %" beside the last tick


def by_label(
    source: Any,
    labels: Any,
    *,
    order: Any = "similar",
    components: Any = None,
    component_names: Any = None,
    n_words: int = 3,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw the mean share of each component in documents of each label.

    Up to twelve components are stacked bars; more are shaded cells.

    Parameters
    ----------
    source : fit, fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    labels : name of a column of the metadata, or (I,) labels
        E.g. the party, the author or the population of each document.
    order : "similar", "given", "name", "size", a column of the metadata, or (I,) numbers
        Order of the labels: "similar" makes labels with the same main component neighbours.
    components : list of numbers from 1 or of names, optional
        Components to show; the others are one.
    component_names : (K,) labels, optional
    n_words : int
        Telling words of each component in the legend, of text.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = by_label([[1, 0], [0, 1], [0.5, 0.5]], ["a", "b", "b"])
    >>> figure.data[0].x.tolist()
    [1.0, 0.25]
    """
    documents = documents_of(source, None, components, component_names, n_words)
    groups = grouping(documents, labels, order)
    means = groups.means(documents.shares)
    errors = _errors(documents.shares, means, groups)
    titles = [
        f"{label(title, 40)} ({n:,})" for title, n in zip(groups.titles, groups.sizes, strict=True)
    ]
    told = [
        [
            f"{label(title)}, {n:,} {documents.nouns.documents}<br>"
            f"{label(component)}: {percent(mean)}"
            + (f" ± {percent(error)}" if np.isfinite(error) else "")
            for component, mean, error in zip(documents.components, row, wide, strict=True)
        ]
        for title, n, row, wide in zip(groups.titles, groups.sizes, means, errors, strict=True)
    ]
    few = means.shape[1] <= MOST_BARS
    traces, layout = (_bars if few else _cells)(documents, means, titles, told)
    nouns, by = documents.nouns, groups.name or "label"
    return figure(
        traces, layout, title=title or f"{nouns.components.capitalize()} by {label(by, 40)}",
        subtitle=subtitle
        or f"Mean share of each {nouns.component}; in brackets the number of {nouns.documents}",
        description=f"Mean shares of {documents.counted} in {nouns.documents} of "
        f"{len(titles)} labels: {', '.join(titles[:20])}.",
        spare_below=layout["margin"]["b"] - 30 if few else 0,
    )  # fmt: skip


def _errors(shares: Array, means: Array, groups: Grouping) -> Array:
    """Return standard errors of the means, (G, K); not a number for a single document."""
    squares = groups.means((shares - means[groups.group]) ** 2)
    n = groups.sizes[:, None].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan))


def _bars(
    documents: Documents, means: Array, titles: list[str], told: list[list[str]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return level bars, stacked by component."""
    keys = [label(name, 60) for name in documents.keys]
    rows = np.arange(len(titles))
    traces = [
        {
            "type": "bar", "orientation": "h", "name": key, "x": means[:, k], "y": rows,
            "width": 0.82, "marker": {"color": colour, "line": {"width": 0}},
            "hovertext": [row[k] for row in told], "hoverinfo": "text", "meta": {"component": k},
        }
        for k, (key, colour) in enumerate(zip(keys, documents.colours, strict=True))
    ]  # fmt: skip
    # the legend may reach down to the last number of the axis, and stands beside it
    left, right = 20 + int(widest(titles, 12)), legend_width(keys) + BESIDE
    tall = _row(titles) * len(titles)
    below = 30 + max(19 * len(keys) + 8 - tall - 30, 0)  # the legend may be longer
    layout = {
        "width": left + BARS + right, "height": TITLE_HEIGHT + 12 + tall + below,
        "margin": {"l": left, "r": right, "t": TITLE_HEIGHT + 12, "b": below}, "barmode": "stack",
        "showlegend": True,
        "legend": {**legend()["legend"], "x": 1.01 + BESIDE / BARS},
        "xaxis": axis(anchor="y", **PERCENT),
        "yaxis": axis(range=[len(titles) - 0.5, -0.5], tickvals=rows, ticktext=titles, anchor="x"),
    }  # fmt: skip
    return traces, layout


def _cells(
    documents: Documents, means: Array, titles: list[str], told: list[list[str]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return shaded cells, one column per component."""
    n_components = means.shape[1]
    keys = [label(name, 48) for name in documents.keys]
    rows, cell = np.arange(len(titles)), int(min(40, max(18, 760 // n_components)))
    left, above = 20 + int(widest(titles, 12)), TITLE_HEIGHT + 18 + int(widest(keys, 11))
    most = _rounded(float(means.max()))
    layout = {
        "width": left + cell * n_components + 90,
        "height": above + max(_row(titles) * len(titles), 130) + 16,
        "margin": {"l": left, "r": 90, "t": above, "b": 16},
        "xaxis": axis(
            range=[-0.5, n_components - 0.5], tickvals=np.arange(n_components), ticktext=keys,
            tickangle=-90, tickfont={"size": 11}, side="top", anchor="y",
        ),
        "yaxis": axis(range=[max(len(titles), 130 / _row(titles)) - 0.5, -0.5], tickvals=rows,
                      ticktext=titles, anchor="x"),
    }  # fmt: skip
    ends = [f"{100 * part * most:.3g} %" for part in (0, 0.5, 1)]
    return [cells(means, told, "mean share", ends=ends, most=most)], layout


def _row(titles: list[str]) -> int:
    """Return the pixels of a row."""
    return 21 if len(titles) <= 30 else 16


def _rounded(most: float) -> float:
    """Return the next of 10, 20, ... 100 per cent."""
    return max(0.1, float(np.ceil(most * 10 - 1e-9)) / 10)
