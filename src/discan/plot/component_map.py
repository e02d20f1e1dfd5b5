# SPDX-License-Identifier: BSD-3-Clause
"""Component map: which components are similar, and how large each is."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.evaluation.distances import MEASURES
from discan.evaluation.distances import distances as between
from discan.plot import theme
from discan.plot.inputs import components_of
from discan.plot.lettering import label, percent, widest
from discan.plot.palette import GREY, INK, ink_on
from discan.plot.placing import Place, around
from discan.plot.subjects import Components
from discan.plot.theme import TITLE_HEIGHT, axis
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["component_map", "distances", "scaling"]

SIDE = 620  # pixels between the components that are furthest apart, at first
MARGIN = 120  # pixels for labels around them, at first
LARGEST = 130  # pixels: diameter of a component that has all the tokens
SMALLEST = 9
WITH_WORDS = 40  # components whose labels have words; of the others, the pointer shows them
NAMED = 80  # components that all have a label; of more, the largest have
SIZE, LEADING = 12, 15.6


def component_map(
    source: Any,
    *,
    distance: str = "jensen-shannon",
    n_words: int = 3,
    words: Any = None,
    groups: Any = None,
    sizes: Any = None,
    components: Any = None,
    component_names: Any = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw one circle per component: similar ones near each other, area by share of all counts.

    Distances are between distributions over words, averaged over groups. Classical scaling puts
    the components on a plane; the subtitle says how much of the distances the plane keeps. No
    label covers another: if there is no space beside a circle, a line leads to its label.

    Parameters
    ----------
    source : fit, fitted estimator or (K, J) array
    distance : {"jensen-shannon", "hellinger"}
        Square root of the Jensen-Shannon divergence, or the Hellinger distance.
    n_words : int
        Number of telling words in a label; for grouped data only the pointer shows words.
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
    >>> figure = component_map([[0.9, 0.1, 0], [0, 0.1, 0.9]], sizes=[1, 3])
    >>> figure.data[0].name
    'components'
    """
    one_of("distance", distance, MEASURES)
    n_words = whole("n_words", n_words, 0)
    found = components_of(source, component_names, sizes, words, groups, components)
    place, kept = scaling(distances(found, distance))
    n_components = len(place)
    shown = [label(name, 30) for name in found.names]
    telling = [[found.word(j) for j in found.telling(k, 8)] for k in range(n_components)]
    marks = _marks(found, shown, telling, n_words)
    across = np.maximum(LARGEST * np.sqrt(found.sizes), SMALLEST)
    centre = (place.max(axis=0) + place.min(axis=0)) / 2
    reach = float(np.abs(place - centre).max()) if n_components > 1 else 1.0
    unit = (place - centre) / max(reach, 1e-12)  # from -1 to 1
    pixels, places, frame = _placed(unit, across, marks)
    marker = {
        "size": across, "sizemode": "diameter", "color": found.colours, "opacity": 0.8,
        "line": {"width": 1, "color": "#ffffff"},
    }  # fmt: skip
    told = [
        f"{name}: {percent(size)} of all counts<br>" + "<br>".join(label(w, 70) for w in listed)
        for name, size, listed in zip(shown, found.sizes, telling, strict=True)
    ]
    circles = theme.points(
        "markers", "components", pixels[:, 0], pixels[:, 1], told, marker=marker, cliponaxis=False,
        meta={"component": found.parts},
    )  # fmt: skip
    bare: dict[str, Any] = {"showticklabels": False, "tickvals": [], "ticktext": []}
    left, low, right, high = frame
    layout: dict[str, Any] = {
        "width": right - left + 24, "height": high - low + TITLE_HEIGHT + 28,
        "margin": {"l": 12, "r": 12, "t": TITLE_HEIGHT + 16, "b": 12},
        "xaxis": axis(range=[left, right], anchor="y", **bare),
        "yaxis": axis(range=[low, high], anchor="x", **bare),
        "annotations": [
            theme.note(mark, at.x, at.y, "x", "y", xanchor="center", yanchor="middle",
                       font={"size": SIZE, "color": ink_on(colour) if at.inside else INK})
            for mark, at, colour in zip(marks, places, found.colours, strict=True)
            if at is not None and mark
        ],
        "shapes": [_leader(at) for at in places if at is not None and at.leader is not None],
    }  # fmt: skip
    nouns = found.nouns
    unnamed = sum(at is None or not mark for at, mark in zip(places, marks, strict=True))
    return theme.figure(
        [circles], layout, title=title or f"Map of the {nouns.components}",
        subtitle=subtitle
        or f"Near is alike ({distance.title()} distance, of which the plane keeps "
        f"{100 * kept:.0f} %); "
        "area is the share of all counts"
        + (f"; the {unnamed} smallest have no label" if unnamed else ""),
        description=f"Map of {n_components} {nouns.components}: "
        + "; ".join(f"{n}, {percent(s)}" for n, s in zip(shown, found.sizes, strict=True)) + ".",
    )  # fmt: skip


def distances(components: Components, distance: str = "jensen-shannon") -> Array:
    """Return distances between components, root mean square over groups, (K, K), in [0, 1]."""
    loadings = components.loadings
    return between(loadings, loadings, components.layout, measure=distance)


def scaling(distance: Array) -> tuple[Array, float]:
    """Scale distances to two dimensions (classical scaling).

    Returns
    -------
    (K, 2) places, each column with the sign that makes its largest entry positive; and the part of
    the sum of positive eigenvalues that belongs to the two dimensions
    """
    n = len(distance)
    if n == 1:
        return np.zeros((1, 2)), 1.0
    centring = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ distance**2 @ centring)
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = np.maximum(values, 0.0)
    place = np.zeros((n, 2))
    for d in range(min(2, n)):
        column = vectors[:, d] * np.sqrt(positive[d])
        place[:, d] = column * (1.0 if column[np.argmax(np.abs(column))] >= 0 else -1.0)
    total = float(positive.sum())
    return place, float(positive[:2].sum() / total) if total > 0 else 1.0


def _marks(
    components: Components, names: list[str], telling: list[list[str]], n_words: int
) -> list[str]:
    """Return the label of each component, "" for those that are too many."""
    with_words = n_words > 0 and not components.grouped and components.named
    with_words = with_words and len(names) <= WITH_WORDS
    rank = np.argsort(np.argsort(-components.sizes, kind="stable"))
    n_named = len(names) if len(names) <= NAMED else NAMED // 2
    marks = []
    for k, (name, words) in enumerate(zip(names, telling, strict=True)):
        listed = ", ".join(label(word, 18) for word in words[:n_words])
        marks.append("" if rank[k] >= n_named else f"{name}<br>{listed}" if with_words else name)
    return marks


def _placed(
    unit: Array, across: Array, marks: list[str]
) -> tuple[Array, list[Place | None], tuple[float, float, float, float]]:
    """Enlarge the map until every label has its place.

    Returns
    -------
    (K, 2) middles in pixels, the place of each label, and the frame of all
    """
    named = [k for k, mark in enumerate(marks) if mark]
    sizes = [
        (widest(marks[k].split("<br>"), SIZE) + 4, LEADING * (1 + marks[k].count("<br>")))
        for k in named
    ]
    for grown, furthest in ((1.0, 50), (1.2, 50), (1.4, 66), (1.6, 84), (1.8, 156), (2.0, 490)):
        pixels = unit * SIDE / 2 * grown
        more = np.array([across.max() / 2 + MARGIN * grown, 40 * grown])
        half = np.abs(pixels).max(axis=0) + more
        bounds = (-half[0], -half[1], half[0], half[1])
        found = around(pixels[named], across[named], sizes, bounds, furthest)
        if None not in found:
            break
    places: list[Place | None] = [None] * len(marks)
    for k, place in zip(named, found, strict=True):
        places[k] = place
    frames = [(x - d / 2, y - d / 2, x + d / 2, y + d / 2)
              for (x, y), d in zip(pixels, across, strict=True)]  # fmt: skip
    frames += [
        (at.x - wide / 2, at.y - tall / 2, at.x + wide / 2, at.y + tall / 2)
        for at, (wide, tall) in zip(found, sizes, strict=True)
        if at is not None
    ]
    left, low, right, high = np.array(frames).T
    middle = (left.min() + right.max()) / 2
    wide = float(np.ceil(max(right.max() - left.min() + 16, 560.0)))
    tall = float(np.ceil(max(high.max() - low.min() + 16, 240.0)))
    up = (low.min() + high.max()) / 2
    return pixels, places, (middle - wide / 2, up - tall / 2, middle + wide / 2, up + tall / 2)


def _leader(place: Place) -> dict[str, Any]:
    assert place.leader is not None
    x0, y0, x1, y1 = place.leader
    pen = {"color": GREY, "width": 0.8}
    return {
        "type": "line", "xref": "x", "yref": "y", "layer": "above", "x0": x0, "y0": y0, "x1": x1,
        "y1": y1, "line": pen,
    }  # fmt: skip
