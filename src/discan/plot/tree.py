# SPDX-License-Identifier: BSD-3-Clause
"""Tree: which components are alike, and at which distance they merge."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.fitting.result import needed_fit
from discan.hierarchy.tree import Tree, grow
from discan.plot.inputs import components_of
from discan.plot.lettering import label, percent, widest
from discan.plot.palette import GREY, colours
from discan.plot.theme import TITLE_HEIGHT, axis, figure, number_ticks, points, rule
from discan.typing import Array
from discan.validation import whole

__all__ = ["tree"]

ROW = 21  # pixels per component
BRANCHES = 520  # pixels of the branches
SMALLEST, LARGEST = 4.0, 17.0  # pixels of a disc


def tree(
    source: Any,
    *,
    cut: int | None = None,
    height: float | None = None,
    distance: str = "hellinger",
    linkage: str = "ward",
    n_words: int = 3,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw the tree of the components: branches join at the distance at which they merge.

    Parameters
    ----------
    source : Tree, fit or fitted estimator
    cut : int, optional
        Number of branches to tell apart by colour.
    height : float, optional
        Height of the cut instead.
    distance, linkage : str
        As for ``DCA.tree``; not for a Tree, which has its own.
    n_words : int
        Telling words beside the name of each component, of text.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(3, dtype=int), np.full((5, 4), 3))
    >>> figure = tree(discan.LDA(3, random_state=0).fit(X))
    >>> len(figure.layout.yaxis.ticktext)
    3
    """
    n_words = whole("n_words", n_words, 0)
    found = source if isinstance(source, Tree) else None
    if found is None:
        fit = needed_fit(source, "a tree needs")
        found = grow(fit, distance, linkage)
    n, nouns = found.n_components, found.fit.nouns
    listed = components_of(found.fit, sort=False)
    names = [label(listed.key(int(k), n_words), 70) for k in found.order]
    nodes = None if cut is None and height is None else found.cut(cut, height)
    paint = _paint(found, nodes)
    at = _places(found)
    least, most = _ends(found)
    traces = [_branch(found, node, at, paint[node], least) for node in range(n, found.root + 1)]
    own = listed.colours if nodes is None else paint
    traces += [_leaves(found, own, least), _joints(found, at, paint)]
    left, right = 26 + int(widest(names, 12)), 40
    layout: dict[str, Any] = {
        "width": left + BRANCHES + right, "height": TITLE_HEIGHT + 12 + ROW * n + 54,
        "margin": {"l": left, "r": right, "t": TITLE_HEIGHT + 12, "b": 54},
        "xaxis": axis(
            f"{found.distance.title()} distance, {found.linkage} linkage",
            range=[least - 0.02 * (most - least), most + 0.03 * (most - least)], showgrid=True,
            anchor="y", **number_ticks(least, most, 5),
        ),
        "yaxis": axis(range=[n - 0.5, -0.5], tickvals=np.arange(n), ticktext=names, anchor="x",
                      ticklen=10),
    }  # fmt: skip
    if nodes is not None and n > 1:
        layout["shapes"] = [rule(x=_level(found, len(nodes), height, least, most))]
    told = f"; colours tell the {len(nodes)} branches of the cut apart" if nodes is not None else ""
    return figure(
        traces, layout, title=title or f"Tree of the {nouns.components}",
        subtitle=subtitle
        or f"Branches join at the distance at which they merge; a disc is as large as its "
        f"{nouns.component}{told}",
        description=f"Tree of {n} {nouns.components}, from top to foot: "
        + ", ".join(label(found.fit.component_names[k]) for k in found.order) + ".",
    )  # fmt: skip


def _paint(found: Tree, nodes: list[int] | None) -> list[str]:
    """Return the colour of each node: that of its branch of the cut, or grey."""
    result = [GREY] * (found.root + 1)
    if nodes is None:
        return result
    for node, colour in zip(nodes, colours(len(nodes)), strict=True):
        stack = [node]
        while stack:
            here = stack.pop()
            result[here] = colour
            stack += found.children(here)
    return result


def _ends(found: Tree) -> tuple[float, float]:
    """Return the ends of the axis: it begins at 0, or nearer to the first merge if that is far."""
    if found.n_components == 1:
        return 0.0, 1.0
    low, high = float(found.merges[0, 2]), max(float(found.merges[-1, 2]), 1e-6)
    return (low - max(0.2 * (high - low), 0.1 * high) if low > 0.5 * high else 0.0), high


def _places(found: Tree) -> Array:
    """Return the place of each node from top to foot: the middle between its branches."""
    at = np.empty(found.root + 1)
    at[found.order] = np.arange(found.n_components)
    for node in range(found.n_components, found.root + 1):
        at[node] = at[list(found.children(node))].mean()
    return at


def _branch(found: Tree, node: int, at: Array, colour: str, least: float) -> dict[str, Any]:
    """Return the bracket that joins two nodes."""
    first, second = found.children(node)
    top = found.height(node)
    x = [max(found.height(first), least), top, top, max(found.height(second), least)]
    y = [at[first], at[first], at[second], at[second]]
    return points("lines", None, np.array(x), np.array(y), line={"color": colour, "width": 1.5})


def _leaves(found: Tree, paint: list[str], least: float) -> dict[str, Any]:
    """Return a disc per component; its area is the size."""
    sizes = found.fit.sizes[found.order]
    across = np.maximum(LARGEST * np.sqrt(sizes / max(float(sizes.max()), 1e-300)), SMALLEST)
    told = [
        f"{label(found.fit.component_names[k])}: {percent(found.fit.sizes[k])} of all counts"
        f"<br>{label(', '.join(found.words(int(k))), 100)}"
        for k in found.order
    ]
    colour = [paint[int(k)] for k in found.order]
    return points(
        "markers", None, np.full(len(sizes), least), np.arange(len(sizes)), told,
        marker={"size": across, "color": colour, "line": {"width": 0}}, cliponaxis=False,
        meta={"component": [int(k) for k in found.order]},
    )  # fmt: skip


def _joints(found: Tree, at: Array, paint: list[str]) -> dict[str, Any]:
    """Return a small disc where branches join, with the words of the branch."""
    nodes = range(found.n_components, found.root + 1)
    told = [
        f"{len(found.members[node])} {found.fit.nouns.components}, "
        f"{percent(found.size(node))} of all counts, merged at {found.height(node):.2f}"
        f"<br>{label(', '.join(found.words(node)), 100)}"
        for node in nodes
    ]
    return points(
        "markers", None, np.array([found.height(node) for node in nodes]), at[list(nodes)], told,
        marker={"size": 6, "color": [paint[node] for node in nodes], "line": {"width": 0}},
        cliponaxis=False,
    )  # fmt: skip


def _level(found: Tree, n: int, height: float | None, least: float, most: float) -> float:
    """Return where to draw the cut: between the last merge below it and the first above it."""
    end = most + 0.02 * (most - least)
    if height is not None:
        return float(np.clip(height, least, end))
    merges = np.concatenate([[least], found.merges[:, 2], [end]])
    m = found.n_components - n
    return float((merges[m] + merges[m + 1]) / 2)
