# SPDX-License-Identifier: BSD-3-Clause
"""Membership in shaded squares: a column of squares for each document, in rows by kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.errors import InputError
from discan.plot.inputs import documents_of, labels
from discan.plot.membership import MOST
from discan.plot.order import ordered
from discan.plot.theme import SHADES, TITLE_HEIGHT, axis, figure, label, text_width
from discan.typing import Array

__all__ = ["membership_squares"]

A_LINE = 80  # documents side by side; what is left over goes on below
PERCENT_BAR: dict[str, Any] = {
    "title": {"text": "share<br>&nbsp;", "side": "top", "font": {"size": 12}},
    "tickfont": {"size": 12}, "thickness": 12, "lenmode": "pixels", "len": 110,
    "x": 1.0, "xanchor": "left", "xpad": 14, "y": 1, "yanchor": "top", "ypad": 0,
    "tickvals": [0, 0.5, 1], "ticktext": ["0 %", "50 %", "100 %"], "outlinewidth": 0.5,
}  # fmt: skip


def membership_squares(
    source: Any,
    names: Any = None,
    rows: Any = None,
    *,
    order: Any = None,
    components: Any = None,
    title: str = "Membership of each document",
    subtitle: str | None = None,
) -> Any:
    """Draw a column of squares for each document, a square for each component, shaded by share.

    Parameters
    ----------
    source : fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    names : (I,) labels, optional
        Names of the documents; by default those the estimator knows.
    rows : (I,) labels, optional
        The row of the figure that each document stands in, e.g. its party; the row of the
        first document in the order is on top. By default one row.
    order : "similar" or (I,) numbers, optional
        From left to right inside each row: by these numbers, e.g. a one-dimensional scaling.
    components : (K,) labels, optional
        Names of the components; the first is at the top.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = membership_squares([[1, 0], [0, 1]], ["Ann", "Bob"], rows=["D", "R"])
    >>> len(figure.data)
    2
    """
    documents = documents_of(source, names, components)
    n_documents, n_components = documents.shares.shape
    row_of = [""] * n_documents if rows is None else labels("rows", rows, n_documents, "documents")
    if n_documents > MOST:
        raise InputError(
            f"{n_documents:,} documents are too many for squares (at most {MOST:,}); use "
            "plot.structure, or give some of the rows"
        )
    known = documents.names or [f"document {i}" for i in range(n_documents)]
    at = ordered(documents.shares, order)
    titles = list(dict.fromkeys(row_of[i] for i in at))
    panels: list[tuple[str, list[int]]] = []
    for name in titles:
        members = [int(i) for i in at if row_of[i] == name]
        lines = [members[first : first + A_LINE] for first in range(0, len(members), A_LINE)]
        panels += zip([label(name, 28)] + [""] * (len(lines) - 1), lines, strict=True)

    most = max(len(members) for _, members in panels)
    cell = int(min(26, max(9, 1080 // most)))
    size = 12 if cell >= 15 else 10
    keys = [label(name, 28) for name in documents.components]
    heads = [head for head, _ in panels]
    left = 24 + int(max(text_width(key, 12) for key in keys))
    left += 14 + int(max(text_width(head, 14) for head in heads)) if any(heads) else 0
    short = [label(name, 28, keep_end=True) for name in known]
    below = 14 + int(max(text_width(name, size) for name in short))
    above, gap = TITLE_HEIGHT + 12, 18
    tall = cell * n_components
    plot_width = max(cell * most, 300)
    plot_height = len(panels) * (tall + below) + (len(panels) - 1) * gap
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "width": plot_width + left + 100,
        "height": max(plot_height, 125) + above,  # the scale needs that much
        "margin": {"l": left, "r": 100, "t": above, "b": max(125 - plot_height, 0)},
        "annotations": [],
    }
    top = 1.0
    for n, (head, members) in enumerate(panels):
        suffix = "" if n == 0 else str(n + 1)
        foot = top - tall / plot_height
        traces.append(
            {
                **_cells(documents.shares[members], [label(known[i]) for i in members], keys),
                "xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "showscale": n == 0,
            }
        )  # fmt: skip
        layout[f"xaxis{suffix}"] = axis(
            range=[-0.5, plot_width / cell - 0.5], anchor=f"y{suffix}", tickangle=-90,
            tickvals=np.arange(len(members)), ticktext=[short[i] for i in members],
            tickfont={"size": size}, domain=[0, 1],
        )  # fmt: skip
        layout[f"yaxis{suffix}"] = axis(
            range=[n_components - 0.5, -0.5], anchor=f"x{suffix}", domain=[max(foot, 0), top],
            tickvals=np.arange(n_components), ticktext=keys,
        )  # fmt: skip
        if head:
            layout["annotations"].append(
                {
                    "text": head, "showarrow": False, "xref": "paper", "yref": "paper", "x": 0,
                    "xshift": 12 - left, "xanchor": "left", "y": (top + foot) / 2,
                    "yanchor": "middle", "font": {"size": 14},
                }
            )  # fmt: skip
        top = foot - (below + gap) / plot_height
    kind = f" in rows {', '.join(filter(None, heads))}" if any(heads) else ""
    return figure(
        traces, layout, title=title,
        subtitle=subtitle
        or "A column is a document; a square is the darker the larger the share of its "
        "component",
        description=f"Shaded squares: shares of {n_components} components in each of "
        f"{n_documents:,} documents{kind}.",
    )  # fmt: skip


def _cells(shares: Array, names: list[str], keys: list[str]) -> dict[str, Any]:
    stops = [[n / (len(SHADES) - 1), shade] for n, shade in enumerate(SHADES)]
    return {
        "type": "heatmap", "z": shares.T, "zmin": 0, "zmax": 1, "colorscale": stops,
        "xgap": 1, "ygap": 1, "colorbar": PERCENT_BAR, "hoverinfo": "text",
        "hovertext": [
            [f"{name}<br>{key}: {share:.1%}" for name, share in zip(names, column, strict=True)]
            for key, column in zip(keys, shares.T, strict=True)
        ],
    }  # fmt: skip
