# SPDX-License-Identifier: BSD-3-Clause
"""Structure: ancestry of thousands of individuals, population by population."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.plot.inputs import by_group, documents_of, labels, main_groups, numbered
from discan.plot.theme import colours, figure, label, points, rule, share_chart, text_width
from discan.typing import Array

__all__ = ["structure"]

WIDTH = 1000  # pixels of all individuals


def structure(
    source: Any,
    groups: Any = None,
    *,
    sort: bool = True,
    names: Any = None,
    components: Any = None,
    title: str = "Structure",
    subtitle: str | None = None,
) -> Any:
    """Draw the shares of all individuals side by side, group after group.

    The figure has one area per component, so that many thousands of individuals are drawn quickly.

    Parameters
    ----------
    source : fit, fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    groups : (I,) labels, optional
        Population of each individual; groups stand in the order of first appearance. By default
        individuals are grouped by their largest component, the largest first.
    sort : bool
        Sort each group by the share of its main component, the largest first; otherwise
        individuals keep their order.
    names, components : (I,) and (K,) labels, optional
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = structure([[1, 0], [0.2, 0.8], [0.9, 0.1]], groups=["A", "B", "A"])
    >>> list(figure.layout.xaxis.ticktext)
    ['A', 'B']
    """
    documents = documents_of(source, names, components, "individual")
    shares = documents.shares
    n_documents, n_components = shares.shape
    titles, group = _groups(shares, groups)
    at = by_group(shares, group) if sort else np.argsort(group, kind="stable")
    shares, group = shares[at], group[at]
    keys = [label(name, 40) for name in documents.components]

    tops = np.cumsum(shares, axis=1)
    tops[:, -1] = 1.0
    bottoms = np.hstack([np.zeros((n_documents, 1)), tops[:, :-1]])
    traces = [
        points(
            "lines", key, *_area(bottoms[:, k], tops[:, k]), fill="toself", fillcolor=colour,
            line={"width": 0, "color": colour},
        )
        for k, (key, colour) in enumerate(zip(keys, colours(n_components), strict=True))
    ]  # fmt: skip
    # invisible marks that show text under the pointer; an area has no text per individual
    told = [
        _described(documents.names[i], titles[g], keys, row)
        for i, g, row in zip(at, group, shares, strict=True)
    ]
    middle = np.arange(n_documents) + 0.5, np.full(n_documents, 0.5)
    traces.append(points("markers", None, *middle, told, opacity=0, showlegend=False))

    edges = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=len(titles)))))
    short = [label(name, 24) for name in titles]
    pixels = np.diff(edges) * WIDTH / n_documents
    flat = all(text_width(t, 12) < p for t, p in zip(short, pixels, strict=True))
    below = 34 if flat else 16 + int(max(text_width(t, 12) for t in short))
    across = {"range": [0, n_documents], "tickvals": (edges[1:] + edges[:-1]) / 2,
              "ticktext": short, "tickangle": 0 if flat else -90}  # fmt: skip
    pen: dict[str, Any] = {"color": "#111111", "width": 1.5, "dash": "solid"}
    inner = map(int, edges[1:-1]) if groups is not None else ()
    layout = {
        **share_chart(keys, across, width=WIDTH + 60, height=240, below=below, grid=False),
        "hovermode": "x",
        "shapes": [rule(x=edge, foot=-0.03, layer="above", **pen) for edge in inner],
    }
    kind = "" if groups is None else f" in {len(titles)} groups"
    return figure(
        traces, layout, title=title,
        subtitle=subtitle
        or f"A column is an individual, {n_documents:,}{kind}; its colours are the shares "
        f"of {n_components} components",
        description=f"Structure plot: shares of {n_components} components in {n_documents:,} "
        f"individuals{kind}: {', '.join(short[:20])}.",
    )  # fmt: skip


def _groups(shares: Array, groups: Any) -> tuple[list[str], Array]:
    """Return the titles of the groups, and the number of each individual's group."""
    if groups is not None:
        return numbered(labels("groups", groups, len(shares), "individuals"))
    group = main_groups(shares)
    return [""] * (int(group.max()) + 1), group


def _area(bottom: Array, top: Array) -> tuple[Array, Array]:
    """Return the outline of an area in steps of width 1: along the top, back along the bottom."""
    x = np.repeat(np.arange(len(top) + 1), 2)[1:-1]
    y = np.concatenate((np.repeat(top, 2), np.repeat(bottom, 2)[::-1]))
    return np.concatenate((x, x[::-1])), np.round(y, 5)


def _described(name: str, group: str, keys: list[str], row: Array) -> str:
    head = f"{label(name)}, {label(group)}" if group else label(name)
    largest = [k for k in np.argsort(-row, kind="stable")[:6] if row[k] >= 0.005]
    return "<br>".join([head, *(f"{keys[k]}: {row[k]:.1%}" for k in largest)])
