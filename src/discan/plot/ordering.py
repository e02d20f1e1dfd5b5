# SPDX-License-Identifier: BSD-3-Clause
"""Order documents, and put them in groups by labels of one or two levels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.plot.inputs import labels, numbers
from discan.plot.subjects import Documents
from discan.typing import Array

__all__ = [
    "MISSING", "ORDERS", "Grouping", "as_text", "by_group", "grouping", "is_label",
    "label_columns", "main_groups", "ordered",
]  # fmt: skip

ORDERS = {
    "similar": "documents with the same main component side by side",
    "given": "as in the data",
    "name": "by name",
    "size": "labels with most documents first",
}
MISSING = "(no label)"
MOST_LABELS = 400  # different ones
USUAL_LABELS = 100  # different ones, of a column that is taken for labels without being asked
FEW_NUMBERS = 12  # of a column of numbers that is taken for labels


@dataclass(frozen=True, eq=False)
class Grouping:
    """Documents in groups, in the order to show them.

    Attributes
    ----------
    name : str
        What the labels are, e.g. the title of a column; "" if it is not known.
    titles : (G,) list
    group : (I,) whole numbers
        Group of each document.
    outer : (G,) list or None
        Title of the region that each group is part of; groups of a region are neighbours.
    """

    name: str
    titles: list[str]
    group: Array
    outer: list[str] | None = None

    @property
    def sizes(self) -> Array:
        """Number of documents of each group, (G,)."""
        return np.bincount(self.group, minlength=len(self.titles))

    def means(self, values: Array) -> Array:
        """Return the mean of each column of (I, K) values in each group, (G, K)."""
        totals = np.zeros((len(self.titles), values.shape[1]))
        np.add.at(totals, self.group, values)
        return totals / self.sizes[:, None]


# ---- documents ----


def ordered(documents: Documents, order: Any) -> Array:
    """Return the order of documents.

    ``order`` is None or "given" (unchanged), "similar", "name", the name of a column of metadata,
    or (I,) numbers.
    """
    n = len(documents.names)
    if order is None or (isinstance(order, str) and order in ("given", "size")):
        return np.arange(n)
    if isinstance(order, str) and order == "similar":
        return by_group(documents.own, main_groups(documents.own))
    if isinstance(order, str) and order == "name":
        return np.array(sorted(range(n), key=lambda i: _natural(documents.names[i])))
    return np.argsort(_values(documents, order), kind="stable")


def main_groups(shares: Array) -> Array:
    """Group documents by their largest component; group 0 has the largest of all, (I,)."""
    rank = np.argsort(np.argsort(-shares.sum(axis=0), kind="stable"))
    return np.unique(rank[shares.argmax(axis=1)], return_inverse=True)[1]


def by_group(shares: Array, group: Array) -> Array:
    """Sort by group, and inside a group by the share of its main component, the largest first.

    The main component is the one that the group has most of, compared with all documents. The next
    decides between equal shares.

    Parameters
    ----------
    shares : (I, K) array
    group : (I,) whole numbers from 0
    """
    totals = np.zeros((int(group.max()) + 1, shares.shape[1]))
    np.add.at(totals, group, shares)
    sizes = np.bincount(group)[:, None]
    more = totals - sizes * shares.mean(axis=0)
    # a single group is not compared with anything
    ranked = np.argsort(-(more if len(totals) > 1 else totals), axis=1, kind="stable")
    rows = np.arange(len(shares))
    first, *second = (-np.round(shares[rows, column], 3) for column in ranked[group, :2].T)
    return np.lexsort((*second, first, group))


# ---- labels ----


def label_columns(documents: Documents, given: Any) -> list[tuple[str, list[str]]]:
    """Return one or two columns of labels, the outer one first, each with its name.

    ``given`` is the name of a column of metadata, (I,) labels, or a list of two of these.
    """
    n = len(documents.names)
    if isinstance(given, str):
        return [(given, as_text(_column(documents.metadata, given)))]
    members = list(given) if hasattr(given, "__iter__") else []
    two = 1 <= len(members) <= 2 and (
        any(np.ndim(each) for each in members) or all(m in documents.metadata for m in members)
    )
    if two and not (len(members) == n and not any(np.ndim(each) for each in members)):
        return [column for each in members for column in label_columns(documents, each)]
    return [("", labels("labels", given, n, documents.nouns.documents))]


def grouping(documents: Documents, given: Any, order: Any = "similar") -> Grouping:
    """Put documents into groups by labels.

    ``order`` is that of the groups: "similar" (groups with the same main component are
    neighbours), "given" (by first appearance), "name", "size", or as in `ordered`.
    """
    columns = label_columns(documents, given)
    pairs = list(zip(*(values for _, values in columns), strict=True))
    distinct = list(dict.fromkeys(pairs))
    if len(distinct) > MOST_LABELS:
        name = columns[-1][0] or "labels"
        raise InputError(
            f"{name} has {len(distinct):,} different values, too many to be labels",
            remedy="give a column with fewer",
        )
    number = {pair: g for g, pair in enumerate(distinct)}
    group = np.array([number[pair] for pair in pairs], dtype=np.int64)
    made = Grouping(columns[-1][0], [pair[-1] for pair in distinct], group)
    rank = _ranks(documents, made, order)
    if len(columns) == 2:
        regions = list(dict.fromkeys(pair[0] for pair in distinct))
        region = np.array([regions.index(pair[0]) for pair in distinct])
        whole = Grouping("", regions, region[group])
        at = np.lexsort((rank, _ranks(documents, whole, order)[region]))
    else:
        at = np.argsort(rank, kind="stable")
    place = np.empty(len(at), dtype=np.int64)
    place[at] = np.arange(len(at))
    outer = [distinct[g][0] for g in at] if len(columns) == 2 else None
    return Grouping(made.name, [made.titles[g] for g in at], place[group], outer)


def as_text(column: Array) -> list[str]:
    """Return the values of a column of metadata as labels."""
    if column.dtype == object:
        return [MISSING if value is None else str(value) for value in column]
    return [MISSING if np.isnan(value) else f"{value:.6g}" for value in column]


def is_label(column: Array) -> bool:
    """Tell whether a column puts documents into a few groups, so that it can serve as labels."""
    n_different = len(set(as_text(column)) - {MISSING})
    most = USUAL_LABELS if column.dtype == object else FEW_NUMBERS
    return 2 <= n_different <= min(most, len(column) // 3)


# ---- details ----


def _ranks(documents: Documents, groups: Grouping, order: Any) -> Array:
    """Return the rank of each group, (G,)."""
    n = len(groups.titles)
    if order is None or (isinstance(order, str) and order == "given"):
        return np.arange(n)
    if isinstance(order, str) and order == "name":
        names = sorted(range(n), key=lambda g: _natural(groups.titles[g]))
        return np.argsort(names)
    if isinstance(order, str) and order == "size":
        return np.argsort(np.argsort(-groups.sizes, kind="stable"))
    if isinstance(order, str) and order == "similar":
        # the component that a group has more of than the others, not one that all have
        more = groups.means(documents.own) - documents.own.mean(axis=0)
        main = more.argmax(axis=1)
        return np.argsort(np.lexsort((-more.max(axis=1), main)))
    values = _values(documents, order)
    return np.argsort(np.argsort(groups.means(values[:, None])[:, 0], kind="stable"))


def _values(documents: Documents, order: Any) -> Array:
    """Return the numbers that documents are sorted by, (I,)."""
    if isinstance(order, str):
        if order not in documents.metadata:
            use = [*ORDERS, *documents.metadata]
            raise InputError("{}", argument="order", value=order, use={"order": tuple(use)})
        column = documents.metadata[order]
        if column.dtype != object:
            return np.nan_to_num(column, nan=np.inf)
        texts = as_text(column)
        rank = {text: n for n, text in enumerate(sorted(set(texts), key=_natural))}
        return np.array([rank[text] for text in texts], dtype=np.float64)
    values = numbers(order)
    if values.shape == (len(documents.names),) and not np.isnan(values).any():
        return values
    raise InputError(
        "{}", argument="order", value=order,
        remedy=f"use 'similar', or {len(documents.names)} numbers, one for each document",
    )  # fmt: skip


def _column(metadata: Mapping[str, Array], name: str) -> Array:
    if name in metadata:
        return metadata[name]
    if not metadata:
        raise InputError(
            f"there is no column {name!r}: the documents have no metadata",
            remedy="give one label per document",
        )
    raise InputError("{} is not a column", argument="labels", value=name,
                     use={"labels": tuple(metadata)})  # fmt: skip


def _natural(text: str) -> tuple[Any, ...]:
    """Return a key that sorts numbers inside names by value."""
    parts: Sequence[str] = re.split(r"(\d+)", text.casefold())
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts)
