# SPDX-License-Identifier: BSD-3-Clause
"""Sizes: how much of all the data each component explains."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.plot.inputs import components_of
from discan.plot.lettering import an, label, percent, widest
from discan.plot.theme import TITLE_HEIGHT, axis, figure, linear_ticks, points
from discan.validation import whole

__all__ = ["sizes"]

ROW = 21  # pixels per component
BARS = 460


def sizes(
    source: Any,
    *,
    n_words: int = 5,
    words: Any = None,
    groups: Any = None,
    sizes: Any = None,
    components: Any = None,
    component_names: Any = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw one bar per component: its share of all counts.

    Parameters
    ----------
    source : fit, fitted estimator or (K, J) array
    n_words : int
        Number of telling words beside the name; none for grouped data.
    words, groups, sizes : optional
        For arrays, as in `heatmap`.
    components : list of numbers from 1 or of names, optional
        Components to show.
    component_names : (K,) labels, optional
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = sizes([[0.9, 0.1], [0.2, 0.8]], sizes=[3, 1])
    >>> figure.data[0].x.tolist()
    [0.75, 0.25]
    """
    n_words = whole("n_words", n_words, 0)
    found = components_of(source, component_names, sizes, words, groups, components)
    nouns, n_components = found.nouns, len(found.names)
    names = [label(found.key(k, n_words), 80) for k in range(n_components)]
    most = float(found.sizes.max())
    told = [f"{label(name)}: {percent(size)} of all counts"
            for name, size in zip(found.names, found.sizes, strict=True)]  # fmt: skip
    rows = np.arange(n_components)
    bars = {
        "type": "bar", "orientation": "h", "x": found.sizes, "y": rows, "width": 0.78,
        "marker": {"color": found.colours, "line": {"width": 0}}, "hovertext": told,
        "hoverinfo": "text", "meta": {"component": found.parts},
    }  # fmt: skip
    written = [percent(size) for size in found.sizes]
    letters = points(
        "text", None, found.sizes, rows, text=written, textposition="middle right",
        textfont={"size": 12}, cliponaxis=False,
    )  # fmt: skip
    left = 24 + int(widest(names, 12))
    ticks = linear_ticks(0, most, 4)
    layout = {
        "width": left + BARS + 64, "height": TITLE_HEIGHT + 12 + ROW * n_components + 34,
        "margin": {"l": left, "r": 64, "t": TITLE_HEIGHT + 12, "b": 34}, "barmode": "overlay",
        "xaxis": axis(range=[0, most], tickvals=ticks, showgrid=True, anchor="y",
                      ticktext=[f"{100 * tick:.3g} %" for tick in ticks]),
        "yaxis": axis(range=[n_components - 0.5, -0.5], tickvals=rows, ticktext=names, anchor="x"),
    }  # fmt: skip
    return figure(
        [bars, letters], layout, title=title or f"Sizes of the {nouns.components}",
        subtitle=subtitle or f"Share of all {found.counts} that {an(nouns.component)} explains",
        description=f"Bars: shares of {n_components} {nouns.components}: "
        + ", ".join(f"{label(name)} {size}"
                    for name, size in zip(found.names, written, strict=True)) + ".",
    )  # fmt: skip
