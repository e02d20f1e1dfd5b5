# SPDX-License-Identifier: BSD-3-Clause
"""Sort documents for a figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.errors import InputError
from discan.typing import Array

__all__ = ["by_main_component", "main_components", "ordered"]


def ordered(shares: Array, order: Any) -> Array:
    """Return the order of documents: unchanged (None), "similar", or by (I,) numbers."""
    if order is None:
        return np.arange(len(shares))
    if isinstance(order, str):
        if order != "similar":
            raise InputError(
                "{}", argument="order", value=order,
                remedy="use 'similar', or one number per document",
            )  # fmt: skip
        main = main_components(shares)
        at = by_main_component(shares, main)
        largest_first = np.argsort(np.argsort(-shares.sum(axis=0), kind="stable"))
        return at[np.argsort(largest_first[main[at]], kind="stable")]
    try:
        values = np.asarray(order, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (len(shares),) or np.isnan(values).any():
        raise InputError(f"order must be 'similar' or {len(shares)} numbers, one for each document")
    return np.argsort(values, kind="stable")


def main_components(shares: Array) -> Array:
    """Return the largest component of each document, (I,)."""
    return np.asarray(shares.argmax(axis=1))


def by_main_component(shares: Array, group: Array) -> Array:
    """Sort by the share of the main component of the document's group, the largest first.

    The next component of the group decides between equal shares.

    Parameters
    ----------
    shares : (I, K) array
    group : (I,) whole numbers from 0
    """
    totals = np.zeros((int(group.max()) + 1, shares.shape[1]))
    np.add.at(totals, group, shares)
    ranked = np.argsort(-totals, axis=1, kind="stable")
    rows = np.arange(len(shares))
    keys = [-np.round(shares[rows, ranked[group, n]], 3) for n in range(min(2, shares.shape[1]))]
    return np.lexsort(keys[::-1])
