# SPDX-License-Identifier: BSD-3-Clause
"""Top words: a small chart per component with the words or answers that set it apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.plot.inputs import components_of
from discan.plot.lettering import label, percent, widest
from discan.plot.palette import INK
from discan.plot.panels import Grid
from discan.plot.subjects import Components
from discan.plot.theme import figure, points
from discan.validation import whole

__all__ = ["top_words"]

ROW = 16  # pixels per word
BARS = 110  # pixels of the longest bar
NARROWEST = 80  # pixels of the labels to the left of the bars
WIDTH = 1160  # of the whole figure, about


def top_words(
    source: Any,
    *,
    n_words: int | None = None,
    words: Any = None,
    groups: Any = None,
    sizes: Any = None,
    components: Any = None,
    component_names: Any = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw a small chart per component: bars of the words that set it apart.

    The words are those of the largest probability times logarithm of the lift, sorted by
    probability. A bar is the probability in the component, and a black line the probability in all
    the data. With groups (votes, answers, loci) probabilities are within the group, and all charts
    have the same scale; without, the longest bar of each chart has the same length.

    Parameters
    ----------
    source : fit, fitted estimator or (K, J) array
    n_words : int, optional
        Words per component; 8 by default.
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
    >>> figure = top_words([[0.9, 0.1], [0.2, 0.8]], words=["apple", "ship"], n_words=1)
    >>> list(figure.layout.yaxis2.ticktext)
    ['ship']
    """
    n_words = 8 if n_words is None else whole("n_words", n_words, 1)
    found = components_of(source, component_names, sizes, words, groups, components)
    nouns, n_components = found.nouns, len(found.names)
    chosen = [_listed(found, k, n_words) for k in range(n_components)]
    longest = 60 if found.grouped else 22
    names = [[_name(found, j, longest) for j in listed] for listed in chosen]
    left = max(NARROWEST, 16 + int(widest([name for listed in names for name in listed], 12)))
    grid = Grid(n_components, left, BARS, ROW * max(map(len, chosen)), above=26, gap=22,
                width=WIDTH)  # fmt: skip
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {**grid.layout(), "barmode": "overlay", "annotations": []}
    for k, (listed, written) in enumerate(zip(chosen, names, strict=True)):
        here, overall = found.loadings[k, listed], found.overall[listed]
        most = 1.0 if found.grouped else float(max(here.max(), overall.max(), 1e-300))
        traces += _bars(found, k, listed, here, overall, grid.axes_of(k))
        rows = {"range": [grid.tall / ROW - 0.5, -0.5], "tickvals": np.arange(len(listed)),
                "ticktext": written}  # fmt: skip
        blank = {"range": [0, most * 1.001], "showticklabels": False, "tickvals": [0]}
        layout |= grid.axes(k, {**blank, "showgrid": True}, rows)
        head = grid.heading(k, found.names[k], f", {percent(found.sizes[k])}")
        layout["annotations"].append(head)
    return figure(
        traces, layout,
        title=title or f"{nouns.words.capitalize()} that set the {nouns.components} apart",
        subtitle=subtitle
        or f"A bar is the probability of the {nouns.word} in the {nouns.component}; the black "
        "line is that in all the data"
        + ("" if found.grouped else f". Each {nouns.component} has its own scale"),
        description=f"Bars of the {n_words} most telling {nouns.words} of {n_components} "
        f"{nouns.components}: "
        + "; ".join(f"{label(n)}: {', '.join(w[:4])}"
                    for n, w in zip(found.names, names, strict=True)) + ".",
    )  # fmt: skip


def _listed(found: Components, k: int, n_words: int) -> list[int]:
    """Return the telling words of a component, the likeliest first."""
    listed = found.telling(k, n_words)
    return sorted(listed, key=lambda j: -found.loadings[k, j])


def _name(found: Components, j: int, longest: int) -> str:
    if not found.grouped:
        return label(found.word(j), longest)
    answer = label(found.answer(j), longest // 2)
    group = label(found.group(int(found.layout.group_of_word[j])), max(longest - len(answer), 8))
    return f"{group}: {answer}"


def _bars(
    found: Components, k: int, listed: list[int], here: Any, overall: Any, axes: dict[str, str]
) -> list[dict[str, Any]]:
    """Return the bars of one component, and the lines of all the data."""
    told = [
        f"{label(_name(found, j, 200))}<br>{label(found.names[k])}: {percent(p)}"
        f"<br>all the data: {percent(all_)}<br>lift: {p / max(all_, 1e-300):.3g}"
        for j, p, all_ in zip(listed, here, overall, strict=True)
    ]
    rows = np.arange(len(listed))
    bars = {
        "type": "bar", "orientation": "h", "x": here, "y": rows, "width": 0.74,
        "marker": {"color": found.colours[k], "line": {"width": 0}}, "hovertext": told,
        "hoverinfo": "text", "meta": {"component": found.parts[k]}, **axes,
    }  # fmt: skip
    x = np.column_stack([overall, overall, np.full(len(listed), np.nan)]).ravel()
    y = np.column_stack([rows - 0.46, rows + 0.46, rows]).ravel()
    ticks = points("lines", None, x, y, line={"color": INK, "width": 1.5}, **axes)
    return [bars, ticks]
