# SPDX-License-Identifier: BSD-3-Clause
"""Component map: which components are similar, and how large each is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.special import xlogy

from discan.plot import theme
from discan.plot.inputs import Components, components_of
from discan.plot.theme import TITLE_HEIGHT, axis, label, text_width
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["component_map", "distances", "scaling"]

SIDE = 560
LARGEST = 120  # pixels: diameter of a component that has all the tokens

Box = tuple[float, float, float, float]  # left, bottom, right, top


def component_map(
    source: Any,
    *,
    distance: str = "jensen-shannon",
    n_words: int = 3,
    words: Any = None,
    groups: Any = None,
    sizes: Any = None,
    components: Any = None,
    title: str = "Map of the components",
    subtitle: str | None = None,
) -> Any:
    """Draw one circle per component: similar ones near each other, area by share of all tokens.

    Distances are between distributions over words, averaged over groups. Classical scaling puts
    the components on a plane; the subtitle says how much of the distances the plane keeps.

    Parameters
    ----------
    source : fit, fitted estimator or (K, J) array
    distance : {"jensen-shannon", "hellinger"}
        Square root of the Jensen-Shannon divergence, or the Hellinger distance.
    n_words : int
        Number of likeliest words in a label; for grouped data only the pointer shows words.
    words, groups, components, sizes : optional
        For arrays, as in `heatmap`.
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
    one_of("distance", distance, SQUARED_DISTANCES)
    n_words = whole("n_words", n_words, 0)
    found = components_of(source, components, sizes, words, groups)
    place, kept = scaling(distances(found, distance))
    n_components = len(place)
    grouped = found.layout.n_groups > 1
    shown = [label(name, 24) for name in found.names]
    first = [_first(found, k, 8) for k in range(n_components)]
    named = n_words > 0 and not grouped and found.layout.word_names is not None
    marks = [
        f"{name}<br>{', '.join(label(w, 20) for w in listed[:n_words])}" if named else name
        for name, listed in zip(shown, first, strict=True)
    ]
    across = np.maximum(LARGEST * np.sqrt(found.sizes), 5.0)
    centre = (place.max(axis=0) + place.min(axis=0)) / 2
    reach = np.abs(place - centre).max(axis=0)
    half = max(float(reach.max()) * 1.28, 1e-9) if n_components > 1 else 1.0
    pixels = (place - centre) / half * SIDE / 2
    # as low as the circles allow, with the same scale in both directions
    low = float((pixels[:, 1] - across / 2).min()) - 50
    high = float((pixels[:, 1] + across / 2).max()) + 50
    tall = int(max(high - low, 240.0))
    edges = (high + low - tall) / 2, (high + low + tall) / 2
    positions = _label_places(pixels, across, marks, edges)
    marker = {
        "size": across, "sizemode": "diameter", "color": theme.colours(n_components),
        "opacity": 0.75, "line": {"width": 1, "color": "#ffffff"},
    }  # fmt: skip
    told = [
        f"{name}: {size:.1%} of the tokens<br>" + "<br>".join(label(w, 70) for w in listed)
        for name, size, listed in zip(shown, found.sizes, first, strict=True)
    ]
    circles = theme.points("markers", "components", place[:, 0], place[:, 1], told, marker=marker)
    bare: dict[str, Any] = {"showticklabels": False, "tickvals": [], "ticktext": []}
    layout: dict[str, Any] = {
        "width": SIDE + 260, "height": tall + TITLE_HEIGHT + 40,
        "margin": {"l": 130, "r": 130, "t": TITLE_HEIGHT + 16, "b": 24},
        "xaxis": axis(range=[centre[0] - half, centre[0] + half], anchor="y", **bare),
        "yaxis": axis(range=[centre[1] + edge * half * 2 / SIDE for edge in edges], anchor="x",
                      **bare),
        "annotations": [
            theme.note(mark, x, y, "x", "y", font={"size": 12}, **_anchor(where, size))
            for mark, (x, y), where, size in zip(marks, place, positions, across, strict=True)
            if where
        ],
    }  # fmt: skip
    return theme.figure(
        [circles], layout, title=title,
        subtitle=subtitle
        or f"Near is alike ({distance.title()} distance; the plane keeps {kept:.0%} of it); "
        "area is the share of all tokens" + ("" if all(positions) else "; crowded ones unnamed"),
        description=f"Map of {n_components} components: "
        + "; ".join(f"{n}, {s:.0%}" for n, s in zip(shown, found.sizes, strict=True)) + ".",
    )  # fmt: skip


def distances(components: Components, distance: str = "jensen-shannon") -> Array:
    """Return distances between components, root mean square over groups, (K, K), in [0, 1]."""
    squares = squareform(pdist(components.loadings, SQUARED_DISTANCES[distance]))
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) / components.layout.n_groups))


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


def _hellinger(a: Array, b: Array) -> float:
    return float(0.5 * ((np.sqrt(a) - np.sqrt(b)) ** 2).sum())


def _jensen_shannon(a: Array, b: Array) -> float:
    middle, both = 0.5 * (a + b), 0.5 * (xlogy(a, a) + xlogy(b, b))
    return float((both - xlogy(middle, middle)).sum() / np.log(2))


SQUARED_DISTANCES = {"jensen-shannon": _jensen_shannon, "hellinger": _hellinger}


def _first(components: Components, k: int, n: int) -> list[str]:
    """Return the likeliest words of a component, or with groups the most distinctive ones."""
    if components.layout.n_groups == 1:
        return components.likeliest(k, n)
    row = components.loadings[k]
    with np.errstate(divide="ignore", invalid="ignore"):
        key = np.where(row > 0, row * np.log(row / components.overall), 0.0)
    return [components.word(int(j)) for j in np.argsort(-key, kind="stable")[:n]]


def _label_places(
    pixels: Array, across: Array, marks: list[str], limits: tuple[float, float]
) -> list[str]:
    """Choose a side for each label, larger circles first; "" where it would cover others."""
    boxes: list[Box] = [
        (x - d / 2, y - d / 2, x + d / 2, y + d / 2)
        for (x, y), d in zip(pixels, across, strict=True)
    ]
    chosen = [""] * len(marks)
    for k in np.argsort(-across, kind="stable"):
        lines = marks[k].split("<br>")
        wide = max(text_width(line, 12) for line in lines)
        tall = 16.0 * len(lines)
        x, y, r = float(pixels[k, 0]), float(pixels[k, 1]), float(across[k]) / 2 + 3
        options = {
            "below": (x - wide / 2, y - r - tall, x + wide / 2, y - r),
            "above": (x - wide / 2, y + r, x + wide / 2, y + r + tall),
            "right": (x + r, y - tall / 2, x + r + wide, y + tall / 2),
            "left": (x - r - wide, y - tall / 2, x - r, y + tall / 2),
        }
        if wide < across[k] - 10:
            options = {"inside": (x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2)}
        costs = {
            where: sum(_common_area(box, other) for n, other in enumerate(boxes) if n != k)
            + _outside(box, limits)
            for where, box in options.items()
        }
        best = min(costs, key=lambda where: costs[where])
        if costs[best] <= 0.04 * wide * tall:
            chosen[k] = best
            boxes.append(options[best])
    return chosen


def _common_area(a: Box, b: Box) -> float:
    wide = min(a[2], b[2]) - max(a[0], b[0])
    tall = min(a[3], b[3]) - max(a[1], b[1])
    return max(wide, 0.0) * max(tall, 0.0)


def _outside(box: Box, limits: tuple[float, float]) -> float:
    """Return the cost of a label that reaches beyond the margins."""
    far = SIDE / 2 + 120
    beyond = (-far - box[0], box[2] - far, limits[0] - 20 - box[1], box[3] - limits[1])
    return 50 * sum(max(distance, 0.0) for distance in beyond)


def _anchor(where: str, across: float) -> dict[str, Any]:
    """Return where an annotation stands relative to the centre of its circle."""
    far = across / 2 + 3
    anchors: dict[str, dict[str, Any]] = {
        "inside": {"xanchor": "center", "yanchor": "middle"},
        "above": {"xanchor": "center", "yanchor": "bottom", "yshift": far},
        "below": {"xanchor": "center", "yanchor": "top", "yshift": -far},
        "right": {"xanchor": "left", "yanchor": "middle", "xshift": far, "align": "left"},
        "left": {"xanchor": "right", "yanchor": "middle", "xshift": -far, "align": "right"},
    }
    return anchors[where]
