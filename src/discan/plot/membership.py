# SPDX-License-Identifier: BSD-3-Clause
"""Membership: one bar per document, stacked by component."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.plot.inputs import documents_of
from discan.plot.lettering import an, label, percent, widest
from discan.plot.ordering import ordered
from discan.plot.theme import figure, share_chart

__all__ = ["membership"]


def membership(
    source: Any,
    names: Any = None,
    *,
    order: Any = None,
    components: Any = None,
    component_names: Any = None,
    n_words: int = 3,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw one bar per document, with one colour per component.

    Parameters
    ----------
    source : fit, fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    names : (I,) labels, optional
        Names of the documents; by default those that the estimator knows.
    order : "similar", "name", a column of the metadata, or (I,) numbers, optional
        "similar" puts documents with the same largest component side by side; numbers put the
        smallest first. By default documents keep their order.
    components : list of numbers from 1 or of names, optional
        Components to show; the others are one grey part of each bar.
    component_names : (K,) labels, optional
    n_words : int
        Telling words of each component in the legend, of text.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = membership([[0.9, 0.1], [0.2, 0.8]], ["Ann", "Bob"])
    >>> [trace.name for trace in reversed(figure.data)]
    ['component 1', 'component 2']
    """
    documents = documents_of(source, names, components, component_names, n_words).at_most("bars")
    n_documents = len(documents.names)
    at = ordered(documents, order)
    shares = documents.shares[at]
    listed = [label(documents.names[i]) for i in at]
    keys = [label(name, 60) for name in documents.keys]

    step = min(44.0, max(3.0, 1060 / n_documents))
    size = 12 if step >= 15 else 10
    short = [label(documents.names[i], 28, keep_end=True) for i in at] if step >= 10 else []
    below = 12 + widest(short, size)
    # the first component is on top, as in the legend
    traces = [
        {
            "type": "bar", "name": key, "x": np.arange(n_documents), "y": shares[:, k],
            "width": 1.06 if step < 6 else 0.88,  # no seams between thin bars
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertext": [
                f"{name}<br>{label(documents.components[k])}: {percent(share)}"
                for name, share in zip(listed, shares[:, k], strict=True)
            ],
            "hoverinfo": "text", "meta": {"component": k},
        }
        for k, (key, colour) in enumerate(zip(keys, documents.colours, strict=True))
    ][::-1]  # fmt: skip
    across = {
        "range": [-0.6, n_documents - 0.4], "tickvals": np.arange(len(short)), "ticktext": short,
        "tickangle": -90, "tickfont": {"size": size},
    }  # fmt: skip
    width = max(420, int(step * n_documents) + 60)
    layout = share_chart(keys, across, width=width, height=260, below=int(below) + 8, grid=True)
    nouns = documents.nouns
    return figure(
        traces, {**layout, "barmode": "stack"},
        title=title or f"{nouns.components.capitalize()} of each {nouns.document}",
        subtitle=subtitle
        or f"A bar is {an(nouns.document)}, {n_documents:,} in all; its colours are the shares of "
        f"{documents.counted}",
        description=f"Stacked bars: shares of {documents.counted} in each of "
        f"{n_documents:,} {nouns.documents}.",
    )  # fmt: skip
