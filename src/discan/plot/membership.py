# SPDX-License-Identifier: BSD-3-Clause
"""Membership: a bar for each document, stacked by component."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.errors import InputError
from discan.plot.inputs import documents_of
from discan.plot.order import ordered
from discan.plot.theme import TITLE_HEIGHT, axis, colours, figure, label, legend_width, text_width

__all__ = ["membership"]

MOST = 1000
PERCENT: dict[str, Any] = {
    "tickvals": [0, 0.25, 0.5, 0.75, 1],
    "ticktext": ["0 %", "25 %", "50 %", "75 %", "100 %"],
}


def membership(
    source: Any,
    names: Any = None,
    *,
    order: Any = None,
    components: Any = None,
    title: str = "Membership of each document",
    subtitle: str | None = None,
) -> Any:
    """Draw a bar for each document, its colours the shares of the components.

    Parameters
    ----------
    source : fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    names : (I,) labels, optional
        Names of the documents; by default those the estimator knows.
    order : "similar" or (I,) numbers, optional
        Documents with the same largest component side by side, or from the smallest number to the
        largest; by default as they come.
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
    documents = documents_of(source, names, components)
    n_documents, n_components = documents.shares.shape
    if n_documents > MOST:
        raise InputError(
            f"{n_documents:,} documents are too many for bars (at most {MOST:,}); use "
            "plot.structure, or give some of the rows"
        )
    at = ordered(documents.shares, order)
    shares = documents.shares[at]
    known = documents.names or [f"document {i}" for i in range(n_documents)]
    listed = [label(known[i]) for i in at]
    keys = [label(name, 40) for name in documents.components]

    step = min(44.0, max(3.0, 1060 / n_documents))
    size = 12 if step >= 15 else 10
    short = [label(known[i], 28, keep_end=True) for i in at] if step >= 10 else []
    below = 12 + max((text_width(name, size) for name in short), default=0)
    width = max(420, int(step * n_documents) + 60) + legend_width(keys)
    margin = {"l": 60, "r": legend_width(keys), "t": TITLE_HEIGHT + 12, "b": int(below) + 8}
    traces = [
        {
            "type": "bar", "name": key, "x": np.arange(n_documents), "y": shares[:, k],
            "width": 1.0 if step < 6 else 0.88,
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertext": [
                f"{name}<br>{key}: {share:.1%}"
                for name, share in zip(listed, shares[:, k], strict=True)
            ],
            "hoverinfo": "text",
        }
        for k, (key, colour) in enumerate(zip(keys, colours(n_components), strict=True))
    ]  # fmt: skip
    plot_height = max(260, 19 * n_components)
    layout = {
        "width": width,
        "height": plot_height + margin["t"] + margin["b"],
        "margin": margin,
        "barmode": "stack",
        "showlegend": True,
        "legend": {"traceorder": "reversed", "font": {"size": 12}, "x": 1.01, "y": 1},
        "xaxis": axis(
            range=[-0.6, n_documents - 0.4], tickvals=np.arange(len(short)), ticktext=short,
            tickangle=-90, tickfont={"size": size}, anchor="y",
        ),
        "yaxis": axis(range=[0, 1], showgrid=True, anchor="x", **PERCENT),
    }  # fmt: skip
    return figure(
        traces, layout, title=title,
        subtitle=subtitle
        or f"A bar is a document, {n_documents:,} in all; its colours are the shares of "
        f"{n_components} components",
        description=f"Stacked bars: shares of {n_components} components in each of "
        f"{n_documents:,} documents.",
    )  # fmt: skip
