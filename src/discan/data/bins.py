# SPDX-License-Identifier: BSD-3-Clause
"""Cut numbers into intervals, and name the intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discan.typing import Array

__all__ = ["bin_names", "quantile_edges"]


def quantile_edges(numbers: Array, counts: Array, n_bins: int) -> list[float]:
    """Return limits between intervals that hold about as many rows each.

    Parameters
    ----------
    numbers, counts : (V,) arrays
        Distinct numbers, and how often each occurs.
    n_bins : int

    Returns
    -------
    list of float
        Ascending, at most ``n_bins - 1``; a limit belongs to the interval above it.
    """
    order = np.argsort(numbers)
    values, shares = numbers[order], np.cumsum(counts[order]) / max(1, counts.sum())
    places = np.searchsorted(shares, np.arange(1, n_bins) / n_bins, side="left") + 1
    edges = values[np.unique(places[places < values.size])]
    return [float(edge) for edge in edges]


def bin_names(edges: Sequence[float], whole: bool) -> list[str]:
    """Name the intervals between limits: "<30", "30-44", "45+" for whole numbers."""
    if not len(edges):
        return ["any"]
    limits = [f"{edge:.12g}" for edge in edges]
    inner = [
        f"{limits[n]}-{edges[n + 1] - 1:.12g}" if whole else f"{limits[n]} to {limits[n + 1]}"
        for n in range(len(edges) - 1)
    ]
    return [f"<{limits[0]}", *inner, f"{limits[-1]}+"]
