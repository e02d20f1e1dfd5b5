# SPDX-License-Identifier: BSD-3-Clause
"""Membership: one bar per document, stacked by component."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.plot.inputs import documents_of, ordered
from discan.plot.theme import colours, figure, label, share_chart, text_width

__all__ = ["membership"]


def membership(
    source: Any,
    names: Any = None,
    *,
    order: Any = None,
    components: Any = None,
    title: str = "Membership of each document",
    subtitle: str | None = None,
) -> Any:
    """Draw one bar per document, with one colour per component.

    Parameters
    ----------
    source : fit, fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    names : (I,) labels, optional
        Names of the documents; by default those that the estimator knows.
    order : "similar" or (I,) numbers, optional
        "similar" puts documents with the same largest component side by side; numbers put the
        smallest first. By default documents keep their order.
    components : (K,) labels, optional
        Names of the components.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = membership([[0.9, 0.1], [0.2, 0.8]], ["Ann", "Bob"])
    >>> [trace.name for trace in figure.data]
    ['component 0', 'component 1']
    """
    documents = documents_of(source, names, components).at_most("bars")
    n_documents, n_components = documents.shares.shape
    at = ordered(documents.shares, order)
    shares = documents.shares[at]
    listed = [documents.names[i] for i in at]
    keys = [label(name, 40) for name in documents.components]

    step = min(44.0, max(3.0, 1060 / n_documents))
    size = 12 if step >= 15 else 10
    short = [label(name, 28, keep_end=True) for name in listed] if step >= 10 else []
    below = 12 + max((text_width(name, size) for name in short), default=0)
    traces = [
        {
            "type": "bar", "name": key, "x": np.arange(n_documents), "y": shares[:, k],
            "width": 1.0 if step < 6 else 0.88,
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertext": [
                f"{label(name)}<br>{key}: {share:.1%}"
                for name, share in zip(listed, shares[:, k], strict=True)
            ],
            "hoverinfo": "text",
        }
        for k, (key, colour) in enumerate(zip(keys, colours(n_components), strict=True))
    ]  # fmt: skip
    across = {
        "range": [-0.6, n_documents - 0.4], "tickvals": np.arange(len(short)), "ticktext": short,
        "tickangle": -90, "tickfont": {"size": size},
    }  # fmt: skip
    width = max(420, int(step * n_documents) + 60)
    layout = share_chart(keys, across, width=width, height=260, below=int(below) + 8, grid=True)
    return figure(
        traces, {**layout, "barmode": "stack"}, title=title,
        subtitle=subtitle
        or f"A bar is a document, {n_documents:,} in all; its colours are the shares of "
        f"{n_components} components",
        description=f"Stacked bars: shares of {n_components} components in each of "
        f"{n_documents:,} documents.",
    )  # fmt: skip
