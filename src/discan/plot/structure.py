# SPDX-License-Identifier: BSD-3-Clause
"""Structure: thousands of documents side by side, population by population."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from discan.plot.inputs import documents_of
from discan.plot.lettering import an, label, text_width, widest
from discan.plot.ordering import ORDERS, Grouping, by_group, grouping, main_groups, ordered
from discan.plot.palette import GREY
from discan.plot.placing import spread
from discan.plot.subjects import Documents
from discan.plot.theme import PERCENT, TITLE_HEIGHT, axis, figure, legend, legend_width, note
from discan.plot.theme import points as scatter
from discan.typing import Array

__all__ = ["structure"]

WIDTH = 1040  # pixels of a line of documents
HEIGHT = 240
PER_LABEL = 12.5  # pixels between upright labels
PER_LINE = int(WIDTH // PER_LABEL)  # labels; the others follow on lines below
MOST_COLUMNS = 2000  # per line; of more documents, neighbours are averaged
LEADER = 14  # pixels from the plot to upright labels, for lines that lead to them
FAR = 40  # pixels that a level label may be moved
REGION = 30  # pixels for the names of regions


@dataclass(frozen=True)
class _Line:
    """Documents from ``start`` to ``stop`` in the order shown, and the groups that they are in."""

    start: int
    stop: int
    groups: range


def structure(
    source: Any,
    labels: Any = None,
    *,
    order: Any = "similar",
    names: Any = None,
    components: Any = None,
    component_names: Any = None,
    n_words: int = 3,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw the shares of all documents side by side, group after group.

    The figure has one area per component, so that many thousands of documents are drawn quickly.
    Labels never overlap: they are turned if they are long, moved apart with a line to their group
    if groups are small, and continued on lines below if groups are many.

    Parameters
    ----------
    source : fit, fitted estimator, data frame or (I, K) array
        Rows are divided by their sums.
    labels : name of a column of the metadata, (I,) labels, or a list of two of these, optional
        Population of each document. Of two, the first is a region of several populations, and has
        its own row of labels. By default documents are grouped by their largest component.
    order : "similar", "given", "name", "size", a column of the metadata, or (I,) numbers
        "similar": groups with the same main component are neighbours, and inside a group the
        largest share of its main component comes first. "given": groups by first appearance, and
        documents as they are. "name" and "size" sort groups only.
    names : (I,) labels, optional
        Names of the documents.
    components : list of numbers from 1 or of names, optional
        Components to show; the others are one grey area.
    component_names : (K,) labels, optional
    n_words : int
        Telling words of each component in the legend, of text.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = structure([[1, 0], [0.2, 0.8], [0.9, 0.1]], ["A", "B", "A"])
    >>> list(figure.layout.xaxis.ticktext)
    ['A', 'B']
    """
    documents = documents_of(source, names, components, component_names, n_words)
    nouns, n_documents = documents.nouns, len(documents.names)
    labelled = labels is not None
    groups = grouping(documents, labels, order) if labelled else _by_component(documents, order)
    at = _arranged(documents, groups.group, order)
    keys = [label(name, 60) for name in documents.keys]
    short = [label(name, 32) for name in groups.titles]
    lines = _lines(groups.sizes, labelled)
    edges = np.concatenate(([0], np.cumsum(groups.sizes)))

    pixels = np.diff(edges) * WIDTH / n_documents
    flat, gap = _manner(short, pixels) if len(lines) == 1 else (False, LEADER)
    below = gap + (22 if flat else 12 + int(widest(short, 11))) if labelled else 14
    foot = below + (REGION if groups.outer is not None else 0)
    tall = len(lines) * HEIGHT + (len(lines) - 1) * (foot + 16)
    tall = max(tall, 19 * len(keys) + 8 - foot)
    margin = {"l": 60, "r": legend_width(keys), "t": TITLE_HEIGHT + 12, "b": foot}
    layout: dict[str, Any] = {
        "width": 60 + WIDTH + margin["r"], "height": margin["t"] + tall + foot, "margin": margin,
        **legend(), "hovermode": "x", "shapes": [], "annotations": [],
    }  # fmt: skip
    one = tall if len(lines) == 1 else HEIGHT
    traces: list[dict[str, Any]] = []
    for n, line in enumerate(lines):
        panel = _Panel(n, line, tall, n * (one + foot + 16), one, flat, gap)
        traces += panel.areas(documents, at, groups, keys)
        layout |= panel.axes(edges, short if labelled else [])
        if labelled:
            layout["shapes"] += panel.marks(edges, short)
        if groups.outer is not None:
            shapes, notes = panel.regions(edges, groups.outer, below)
            layout["shapes"] += shapes
            layout["annotations"] += notes
    kind = f" in {len(short)} groups" if labelled else ""
    per_column = max(trace["meta"].get("most", 1) for trace in traces)
    what = (
        f"a column is {an(nouns.document)}" if per_column == 1
        else f"a column is the mean of up to {per_column} neighbours"
    )  # fmt: skip
    return figure(
        traces, layout,
        title=title or f"{nouns.components.capitalize()} of the {nouns.documents}",
        subtitle=subtitle
        or f"{n_documents:,} {nouns.documents}{kind}; {what}, its colours are the shares of "
        f"{documents.counted}",
        description=f"Structure plot: shares of {documents.counted} in "
        f"{n_documents:,} {nouns.documents}{kind}"
        + (f": {', '.join(short[:20])}." if labelled else "."),
    )  # fmt: skip


@dataclass(frozen=True)
class _Panel:
    """A line of documents in the figure; ``top`` and ``height`` in pixels of the ``tall`` plot.

    Labels are ``flat`` or upright, and ``gap`` pixels below the plot.
    """

    number: int
    line: _Line
    tall: float
    top: float
    height: float
    flat: bool
    gap: int

    @property
    def suffix(self) -> str:
        return "" if self.number == 0 else str(self.number + 1)

    @property
    def scale(self) -> float:
        """Documents per pixel."""
        return (self.line.stop - self.line.start) / WIDTH

    def up(self, below: float) -> float:
        """Return the height, as part of the plot, of a place below the foot of the panel."""
        return 1 - (self.top + self.height + below) / self.tall

    def areas(
        self, documents: Documents, at: Array, groups: Grouping, keys: list[str]
    ) -> list[dict[str, Any]]:
        """Return one area per component, and marks that show text under the pointer."""
        line = self.line
        edges = _columns(groups.sizes[line.groups.start : line.groups.stop])
        members = at[line.start : line.stop]
        counts = np.diff(edges)
        shares = np.add.reduceat(documents.shares[members], edges[:-1], axis=0) / counts[:, None]
        tops = 1 - np.hstack([np.zeros((len(shares), 1)), np.cumsum(shares, axis=1)])
        tops[:, -1] = 0.0  # no rest of rounding
        place = {"xaxis": f"x{self.suffix}", "yaxis": f"y{self.suffix}"}
        most = int(counts.max())
        traces = [
            {
                **scatter(
                    "lines", key, *_area(edges, tops[:, k + 1], tops[:, k]), fill="toself",
                    fillcolor=colour, line={"width": 0, "color": colour},
                    showlegend=self.number == 0, legendgroup=str(k),
                    meta={"component": k, "most": most},
                ),
                **place,
            }
            for k, (key, colour) in enumerate(zip(keys, documents.colours, strict=True))
        ]  # fmt: skip
        told = []
        for first, n, row in zip(edges[:-1], counts, shares, strict=True):
            text = documents.described(int(members[first]), row)
            group = groups.titles[groups.group[members[first]]]
            head, *others = text.split("<br>")
            head = head if n == 1 else f"mean of {n} {documents.nouns.documents}"
            told.append("<br>".join([f"{head}, {label(group)}" if group else head, *others]))
        middle = (edges[1:] + edges[:-1]) / 2, np.full(len(shares), 0.5)
        hidden = scatter("markers", None, *middle, told, opacity=0, showlegend=False,
                        customdata=edges, meta={})  # fmt: skip
        return [*traces, {**hidden, **place}]

    def axes(self, edges: Array, short: list[str]) -> dict[str, Any]:
        """Return the two axes of the line; labels are moved apart."""
        line = self.line
        shown = [short[g] for g in line.groups] if short else []
        places = self._moved(edges, shown) if shown else np.empty(0)
        return {
            f"xaxis{self.suffix}": axis(
                range=[0, line.stop - line.start], anchor=f"y{self.suffix}", domain=[0, 1],
                tickvals=places, ticktext=shown, tickangle=0 if self.flat else -90,
                tickfont={"size": 12 if self.flat else 11}, ticklen=self.gap + 3,
            ),
            f"yaxis{self.suffix}": axis(
                anchor=f"x{self.suffix}",
                domain=[max(self.up(0), 0), min(self.up(-self.height), 1)], **PERCENT,
            ),
        }  # fmt: skip

    def marks(self, edges: Array, short: list[str]) -> list[dict[str, Any]]:
        """Return lines between groups, and lines that lead from groups to their labels."""
        first, last = self.line.groups.start, self.line.groups.stop
        pen: dict[str, Any] = {"color": "#111", "width": 1.5 if len(short) <= 20 else 0.7}
        shapes = [
            self._segment(at, -self.height, at, 3 if self.gap < LEADER else 0, pen)
            for at in edges[first + 1 : last] - edges[first]
        ]
        if self.gap < LEADER:
            return shapes
        places = self._moved(edges, [short[g] for g in self.line.groups])
        pen = {"color": GREY, "width": 0.7}
        for middle, place in zip(self._middles(edges), places, strict=True):
            shapes.append(self._segment(middle, 1, place, LEADER, pen))
        return shapes

    def regions(
        self, edges: Array, outer: list[str], below: float
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return a line under the labels of each region, and its name."""
        begin, end = self.line.groups.start, self.line.groups.stop
        starts = [g for g in self.line.groups if g == begin or outer[g] != outer[g - 1]]
        if self.flat:
            borders = (edges[[*starts, end]] - edges[begin]) / self.scale  # pixels
        else:
            places = self._moved(edges, [""] * (end - begin)) / self.scale
            inner = [(places[g - begin - 1] + places[g - begin]) / 2 for g in starts[1:]]
            ends = places[0] - PER_LABEL / 2, places[-1] + PER_LABEL / 2
            borders = np.array([max(ends[0], 0.0), *inner, min(ends[1], WIDTH)])
        left, right = borders[:-1], borders[1:]
        names = [label(outer[g], 30) for g in starts]
        widths = np.array([text_width(name, 13) + 10 for name in names])
        if widths.sum() > WIDTH:  # thin out: the largest regions are named
            kept = np.argsort(-(right - left), kind="stable")
            kept = np.sort(kept[: max(1, int(np.sum(np.cumsum(widths[kept]) <= WIDTH)))])
        else:
            kept = np.arange(len(names))
        middles = spread(((left + right) / 2)[kept], widths[kept], 0, WIDTH)
        pen = {"color": "#111", "width": 1.5}
        lines = [
            self._segment((a + 2) * self.scale, below + 2, (b - 2) * self.scale, below + 2, pen)
            for a, b in zip(left, right, strict=True)
            if b - a > 5
        ]
        notes = [
            note(names[n], x * self.scale, self.up(below + 6), f"x{self.suffix}", yanchor="top",
                 xanchor="center", font={"size": 13})
            for n, x in zip(kept, middles, strict=True)
        ]  # fmt: skip
        return lines, notes

    def _middles(self, edges: Array) -> Array:
        first, last = self.line.groups.start, self.line.groups.stop
        middles = (edges[first + 1 : last + 1] + edges[first:last]) / 2 - edges[first]
        return np.asarray(middles)

    def _moved(self, edges: Array, shown: list[str]) -> Array:
        """Return the places of labels, none over another."""
        middles = self._middles(edges) / self.scale
        return _apart(middles, shown, self.flat) * self.scale

    def _segment(
        self, x0: float, down0: float, x1: float, down1: float, pen: dict[str, Any]
    ) -> dict[str, Any]:
        """Return a line; ``down`` is in pixels below the foot of the panel."""
        return {
            "type": "line", "xref": f"x{self.suffix}", "yref": "paper", "layer": "above",
            "x0": x0, "x1": x1, "y0": self.up(down0), "y1": self.up(down1), "line": pen,
        }  # fmt: skip


# ---- details ----


def _by_component(documents: Documents, order: Any) -> Grouping:
    """Group documents by their largest component, unless they have an order of their own."""
    if _is_similar(order):
        group = main_groups(documents.own)
    else:
        group = np.zeros(len(documents.names), dtype=np.int64)
    return Grouping("", [""] * (int(group.max()) + 1), group)


def _is_similar(order: Any) -> bool:
    """Tell whether documents of a group are sorted by its main component."""
    return isinstance(order, str) and order in ORDERS and order != "given"


def _arranged(documents: Documents, group: Array, order: Any) -> Array:
    """Return the documents in the order shown."""
    if _is_similar(order):
        return by_group(documents.own, group)
    at = ordered(documents, order)
    return np.asarray(at[np.argsort(group[at], kind="stable")])


def _lines(sizes: Array, labelled: bool) -> list[_Line]:
    """Cut groups into lines with about the same number of labels."""
    n_groups = len(sizes)
    n_lines = -(-n_groups // PER_LINE) if labelled else 1
    edges = np.concatenate(([0], np.cumsum(sizes)))
    cuts = np.round(np.linspace(0, n_groups, n_lines + 1)).astype(int)
    return [_Line(int(edges[a]), int(edges[b]), range(int(a), int(b))) for a, b in pairwise(cuts)]


def _manner(short: list[str], pixels: Array) -> tuple[bool, int]:
    """Tell whether labels can be level, and how many pixels below the plot they begin.

    Level labels may leave their groups a little if a line leads to them.
    """
    widths = sum(text_width(text, 12) + 8 for text in short)
    if widths > WIDTH:
        return False, LEADER
    middles = np.cumsum(pixels) - pixels / 2
    moved = np.abs(_apart(middles, short, True) - middles)
    if (moved <= np.maximum(pixels / 2 - 3, 4)).all():
        return True, 2
    return bool((moved <= np.maximum(pixels / 2 - 3, FAR)).all()), LEADER


def _apart(middles: Array, shown: list[str], flat: bool) -> Array:
    """Return the places of labels in pixels, none over another."""
    widths = np.array([text_width(text, 12) + 8 if flat else PER_LABEL for text in shown])
    more = 4 if flat else 0
    return spread(middles, widths, -more, WIDTH + more)


def _columns(sizes: Array) -> Array:
    """Return the edges of columns: documents, or of too many, neighbours of the same group."""
    n_documents = int(sizes.sum())
    if n_documents <= MOST_COLUMNS:
        return np.arange(n_documents + 1)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    parts = np.maximum(np.round(sizes * MOST_COLUMNS / n_documents).astype(int), 1)
    pieces = [
        np.round(np.linspace(a, b, n + 1)).astype(int)[:-1]
        for a, b, n in zip(starts[:-1], starts[1:], np.minimum(parts, sizes), strict=True)
    ]
    return np.concatenate([*pieces, [n_documents]])


def _area(edges: Array, bottom: Array, top: Array) -> tuple[Array, Array]:
    """Return the outline of an area in steps: along the top, back along the bottom."""
    x = np.repeat(edges, 2)[1:-1]
    y = np.concatenate((np.repeat(top, 2), np.repeat(bottom, 2)[::-1]))
    return np.concatenate((x, x[::-1])), np.round(y, 5)
