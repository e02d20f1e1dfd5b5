# SPDX-License-Identifier: BSD-3-Clause
"""Flow: what becomes of each component from one fit to the next, over K or over chains."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.evaluation.comparison import Comparison, compare
from discan.fitting.result import Fit, needed_fit
from discan.plot.inputs import components_of, labels
from discan.plot.lettering import label, percent, shortened, text_width
from discan.plot.palette import PALETTE, blend, colours
from discan.plot.theme import TITLE_HEIGHT, axis, figure, note, points
from discan.typing import Array
from discan.validation import whole

__all__ = ["flow"]

COLUMN, GAP, TALL = 16, 150, 520  # pixels of a bar, between bars, and of all components
BETWEEN = 0.012  # white space between two components, as a share of the height
LEAST = 0.004  # share of all tokens below which a band is not drawn
LOWEST = 0.018  # share of a component that has space for its name
STEPS = 24  # of a band's edge


def flow(
    sources: Sequence[Any],
    *,
    titles: Any = None,
    n_words: int = 3,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw fits side by side, and bands between components that explain the same tokens.

    Each fit is a column of components, as high as they are large. A band says how much of a
    component is found in a component of the next fit, estimated from the loadings (see
    ``discan.compare``). Columns are ordered so that few bands cross; a component has the colour of
    the one that it mainly comes from.

    Parameters
    ----------
    sources : sequence of at least two fits or fitted estimators
        E.g. with growing numbers of components, or the chains of one fit.
    titles : labels of the columns, optional
        By default "K = 5", or "fit 1" where all have the same number of components.
    n_words : int
        Telling words beside the components of the last column.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(3, dtype=int), np.full((5, 4), 3))
    >>> fits = [discan.LDA(k, random_state=0).fit(X) for k in (2, 3)]
    >>> flow(fits).layout.meta["columns"]
    ['K = 2', 'K = 3']
    """
    fits = [needed_fit(source, "each column of a flow must be") for source in sources]
    if len(fits) < 2:
        raise InputError("a flow needs at least two fits")
    n_words = whole("n_words", n_words, 0)
    heads = _titles(fits, titles)
    found = [compare(a, b) for a, b in pairwise(fits)]
    orders = _orders(fits, found)
    paints = _paints(fits, found, orders)
    spans = [_spans(_sizes(fit), order) for fit, order in zip(fits, orders, strict=True)]
    traces = []
    for n, comparison in enumerate(found):
        traces += _bands(n, comparison, orders[n : n + 2], spans[n : n + 2], paints[n], heads)
    traces += _columns(fits, orders, paints, heads)
    names = [_names(fit, n_words if n == len(fits) - 1 else 0) for n, fit in enumerate(fits)]
    right = 24 + int(max(text_width(name, 11) for name in names[-1]))
    step = COLUMN + GAP
    width = step * (len(fits) - 1) + COLUMN
    notes = [
        note(names[n][k], n + COLUMN / step, middle, "x", "y", xanchor="left", yanchor="middle",
             xshift=4, font={"size": 11})
        for n, fit in enumerate(fits)
        for k, middle in _lettered(spans[n], n == len(fits) - 1)
    ] + [
        note(label(head, 24), n, 0, "x", "y", xanchor="left", yanchor="bottom", yshift=6,
             font={"size": 12, "weight": "bold"})
        for n, head in enumerate(heads)
    ]  # fmt: skip
    bare: dict[str, Any] = {"showticklabels": False, "tickvals": [], "ticktext": []}
    tall = max(TALL, 17 * max(fit.n_components for fit in fits))
    layout: dict[str, Any] = {
        "width": 24 + width + right, "height": TITLE_HEIGHT + 36 + tall + 16, "barmode": "stack",
        "margin": {"l": 24, "r": right, "t": TITLE_HEIGHT + 36, "b": 16},
        "xaxis": axis(range=[0, width / step], anchor="y", **bare),
        "yaxis": axis(range=[max(span.max() for span in spans), 0], anchor="x", **bare),
        "annotations": notes,
    }  # fmt: skip
    nouns = fits[0].nouns
    return figure(
        traces, layout, title=title or f"What becomes of the {nouns.components}",
        subtitle=subtitle
        or f"A {nouns.component} is as high as its share of all counts; a band is what it has in "
        "common with the next fit",
        description=f"Flow of {nouns.components} between {len(fits)} fits: {', '.join(heads)}. "
        + " ".join(s + "." for c in found for s in c.sentences[1:])[:800],
        columns=heads,
    )  # fmt: skip


# ---- what to draw ----


def _titles(fits: list[Fit], given: Any) -> list[str]:
    if given is not None:
        return labels("titles", given, len(fits), "fits")
    numbers = [fit.n_components for fit in fits]
    if len(set(numbers)) > 1:
        return [f"K = {n}" for n in numbers]
    return [f"fit {n}" for n in range(1, len(fits) + 1)]


def _sizes(fit: Fit) -> Array:
    if fit.documents is None:
        return np.full(fit.n_components, 1.0 / fit.n_components)
    return fit.sizes


def _orders(fits: list[Fit], found: list[Comparison]) -> list[Array]:
    """Order of the components of each fit: by the mean place of what they come from."""
    orders = [np.argsort(-_sizes(fits[0]), kind="stable")]
    for comparison in found:
        place = np.empty(len(orders[-1]))
        place[orders[-1]] = np.arange(len(place))
        flow = comparison.flow
        mean = (place @ flow) / np.maximum(flow.sum(axis=0), 1e-300)
        orders.append(np.argsort(mean, kind="stable"))
    return orders


def _paints(fits: list[Fit], found: list[Comparison], orders: list[Array]) -> list[list[str]]:
    """Colour of each component: of its main origin, if it is the origin's largest part."""
    palette = colours(max(len(PALETTE), sum(fit.n_components for fit in fits)))
    first = [""] * fits[0].n_components
    for colour, k in zip(palette, orders[0], strict=False):
        first[k] = colour
    paints, used = [first], set(first)
    for comparison in found:
        flow, own = comparison.flow, [""] * comparison.second.n_components
        for k in orders[len(paints)]:
            origin = int(flow[:, k].argmax())
            if int(flow[origin].argmax()) == k:
                own[k] = paints[-1][origin]
        free = [colour for colour in palette if colour not in used | set(own)]
        for k in orders[len(paints)]:
            own[k] = own[k] or free.pop(0)
        used |= set(own)
        paints.append(own)
    return paints


def _spans(sizes: Array, order: Array) -> Array:
    """Top and foot of each component, (K, 2), from 0 downwards."""
    space = BETWEEN * np.arange(len(order))
    feet = np.cumsum(sizes[order]) + space
    result = np.empty((len(order), 2))
    result[order, 0], result[order, 1] = feet - sizes[order], feet
    return result


# ---- marks ----


def _bands(
    n: int, comparison: Comparison, orders: list[Array], spans: list[Array], paint: list[str],
    heads: list[str],
) -> list[dict[str, Any]]:  # fmt: skip
    """Bands between two columns, the largest first."""
    flow = comparison.flow
    step = COLUMN + GAP
    left, right = n + COLUMN / step, n + 1.0
    # where the bands leave a component, and where they reach the next, in the order of columns
    leave, reach = np.empty_like(flow), np.empty_like(flow)
    for k in orders[0]:
        leave[k, orders[1]] = np.cumsum(flow[k, orders[1]]) - flow[k, orders[1]] + spans[0][k, 0]
    for m in orders[1]:
        reach[orders[0], m] = np.cumsum(flow[orders[0], m]) - flow[orders[0], m] + spans[1][m, 0]
    t = np.linspace(0.0, 1.0, STEPS)
    ease, x = t * t * (3 - 2 * t), left + (right - left) * t
    shown = np.argwhere(flow >= LEAST)
    shown = shown[np.argsort(-flow[shown[:, 0], shown[:, 1]], kind="stable")]
    first, second = comparison.first.component_names, comparison.second.component_names
    result = []
    for k, m in shown:
        top = leave[k, m] + (reach[k, m] - leave[k, m]) * ease
        edge = np.concatenate([top, (top + flow[k, m])[::-1]])
        told = (
            f"{label(heads[n], 30)}: {label(first[k], 40)}<br>{label(heads[n + 1], 30)}: "
            f"{label(second[m], 40)}<br>{percent(flow[k, m])} of all counts in both"
        )
        result.append(
            points(
                "lines", None, np.concatenate([x, x[::-1]]), edge,
                fill="toself", fillcolor=blend(((0, paint[k]), (1, "#ffffff")), 0.62),
                line={"width": 0}, hoveron="fills", text=told,
            )
        )  # fmt: skip
    return result


def _columns(
    fits: list[Fit], orders: list[Array], paints: list[list[str]], heads: list[str]
) -> list[dict[str, Any]]:
    """Stacked bars, a trace per rank: the components of that rank, then white space."""
    step = COLUMN + GAP
    result = []
    for rank in range(max(fit.n_components for fit in fits)):
        here = [n for n, fit in enumerate(fits) if fit.n_components > rank]
        parts = [int(orders[n][rank]) for n in here]
        at = np.array(here) + COLUMN / step / 2
        told = [
            f"{label(heads[n], 30)}: {label(fits[n].component_names[k], 40)}<br>"
            f"{percent(_sizes(fits[n])[k])} of all counts"
            for n, k in zip(here, parts, strict=True)
        ]
        shared = {"type": "bar", "x": at, "width": COLUMN / step, "showlegend": False}
        result += [
            shared | {
                "y": np.array([_sizes(fits[n])[k] for n, k in zip(here, parts, strict=True)]),
                "marker": {"color": [paints[n][k] for n, k in zip(here, parts, strict=True)],
                           "line": {"width": 0}},
                "hovertext": told, "hoverinfo": "text",
            },
            shared | {
                "y": np.full(len(here), BETWEEN), "marker": {"color": "#ffffff"},
                "hoverinfo": "skip",
            },
        ]  # fmt: skip
    return result


def _names(fit: Fit, n_words: int) -> list[str]:
    found = components_of(fit, sort=False)
    return [label(shortened(found.key(k, n_words), 60)) for k in range(fit.n_components)]


def _lettered(spans: Array, last: bool) -> list[tuple[int, float]]:
    """Components whose names have space, each with its middle."""
    high = float(spans.max())
    result, below = [], -1.0
    for k in np.argsort(spans[:, 0], kind="stable"):
        middle = float(spans[k].mean())
        if middle - below >= LOWEST * high * (1.0 if last else 1.4):
            result.append((int(k), middle))
            below = middle
    return result
