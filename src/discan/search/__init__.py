# SPDX-License-Identifier: BSD-3-Clause
"""Rank documents: by the probability of a query, or by their distance from another document."""

from discan.search.index import Index, build_index, load_index
from discan.search.learning import learn_weights
from discan.search.ranking import Hit
from discan.search.similar import Neighbour

__all__ = ["Hit", "Index", "Neighbour", "build_index", "learn_weights", "load_index"]


def __dir__() -> list[str]:
    """List what is public."""
    return sorted([*__all__, "__doc__"])
