# SPDX-License-Identifier: BSD-3-Clause
"""Membership in shaded squares: one column of squares per document, in rows by kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.plot.inputs import documents_of
from discan.plot.lettering import an, label, percent, widest
from discan.plot.ordering import grouping, ordered
from discan.plot.theme import TITLE_HEIGHT, axis, cells, figure, note

__all__ = ["membership_squares"]

PER_LINE = 80  # documents side by side; the others follow on lines below
GAP = 18  # pixels between lines


def membership_squares(
    source: Any,
    names: Any = None,
    labels: Any = None,
    *,
    order: Any = None,
    components: Any = None,
    component_names: Any = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw one column of squares per document, one square per component, shaded by share.

    Parameters
    ----------
    source : fit, fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    names : (I,) labels, optional
        Names of the documents; by default those that the estimator knows.
    labels : name of a column of the metadata, or (I,) labels, optional
        The row of the figure for each document, e.g. its party; the row of the first document in
        the order is on top. By default one row.
    order : "similar", "name", a column of the metadata, or (I,) numbers, optional
        Order inside each row from left to right, e.g. by a one-dimensional scaling.
    components : list of numbers from 1 or of names, optional
        Components to show; the first is at the top, the others are one last row of squares.
    component_names : (K,) labels, optional
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = membership_squares([[1, 0], [0, 1]], ["Ann", "Bob"], labels=["D", "R"])
    >>> len(figure.data)
    2
    """
    documents = documents_of(source, names, components, component_names, 0).at_most("squares")
    n_documents, n_components = documents.shares.shape
    row_of = [""] * n_documents
    if labels is not None:
        groups = grouping(documents, labels, "given")
        row_of = [groups.titles[g] for g in groups.group]
    panels = _panels([int(i) for i in ordered(documents, order)], row_of)
    most = max(len(members) for _, members in panels)
    cell = int(min(26, max(9, 1080 // most)))
    size = 12 if cell >= 15 else 10
    keys = [label(name, 28) for name in documents.components]
    heads = [head for head, _ in panels]
    left = 24 + int(widest(keys, 12))
    left += 14 + int(widest(heads, 14)) if any(heads) else 0
    short = [label(name, 28, keep_end=True) for name in documents.names]
    below = 14 + int(widest(short, size))
    above = TITLE_HEIGHT + 12
    tall = cell * n_components
    plot_width = max(cell * most, 300)
    plot_height = len(panels) * (tall + below) + (len(panels) - 1) * GAP
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "width": plot_width + left + 100,
        "height": max(plot_height, 125) + above,  # at least the colour bar
        "margin": {"l": left, "r": 100, "t": above, "b": max(125 - plot_height, 0)},
        "annotations": [],
    }
    top = 1.0
    for n, (head, members) in enumerate(panels):
        suffix = "" if n == 0 else str(n + 1)
        foot = top - tall / plot_height
        shares = documents.shares[members].T
        described = [
            [
                f"{label(documents.names[i])}<br>{key}: {percent(share)}"
                for i, share in zip(members, column, strict=True)
            ]
            for key, column in zip(keys, shares, strict=True)
        ]
        place = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "showscale": n == 0}
        traces.append({**cells(shares, described, "share"), **place})
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
                note(
                    head, 0, (top + foot) / 2, font={"size": 14}, xshift=12 - left,
                    xanchor="left", yanchor="middle",
                )
            )  # fmt: skip
        top = foot - (below + GAP) / plot_height
    kind = f" in rows {', '.join(filter(None, heads))}" if any(heads) else ""
    nouns = documents.nouns
    return figure(
        traces, layout, title=title or f"{nouns.components.capitalize()} of each {nouns.document}",
        subtitle=subtitle
        or f"A column is {an(nouns.document)}; a square is the darker the larger the share of its "
        f"{nouns.component}",
        description=f"Shaded squares: shares of {n_components} {nouns.components} in each of "
        f"{n_documents:,} {nouns.documents}{kind}.",
    )  # fmt: skip


def _panels(order: list[int], row_of: list[str]) -> list[tuple[str, list[int]]]:
    """Cut the documents of each row into lines; only the first line of a row has a title."""
    panels: list[tuple[str, list[int]]] = []
    for name in dict.fromkeys(row_of[i] for i in order):
        members = [i for i in order if row_of[i] == name]
        lines = [members[first : first + PER_LINE] for first in range(0, len(members), PER_LINE)]
        panels += zip([label(name, 28)] + [""] * (len(lines) - 1), lines, strict=True)
    return panels
