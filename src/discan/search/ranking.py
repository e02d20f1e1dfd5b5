# SPDX-License-Identifier: BSD-3-Clause
"""The first documents of a ranking, and what explains them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discan.typing import Array

__all__ = ["Hit", "first", "ordered"]

CLOSE = 1e-3  # values that are this close are computed again, in double precision


class Hit(NamedTuple):
    """A document that was found.

    Attributes
    ----------
    document : str
        Its name; its number, from 0, if it has none.
    number : int
        From 0.
    log_probability : float
        Log p(query | document), in nats.
    held : int or None
        How many different words of the query the document holds; None if that is not known.
    explained : dict of str to float
        Expected share of the query's tokens that each component explains, largest first, given the
        document's mean shares. What is missing to 1 is explained by the document's own words.
    """

    document: str
    number: int
    log_probability: float
    held: int | None
    explained: dict[str, float]


def ordered(values: Array, numbers: Array) -> Array:
    """Order by value, the largest first, and equal values by number."""
    return np.lexsort((numbers, -values))


def first(values: Array, n: int, again: Callable[[Array], Array] | None = None) -> Array:
    """Return the numbers of the n largest values, the largest first; of equal ones the first.

    Parameters
    ----------
    values : (I,) array
    n : int
    again : callable, optional
        Computes the values of some documents in double precision. It is asked for those near the
        border, so that rounding changes nothing.
    """
    n = min(n, len(values))
    if n < len(values):
        border = np.partition(values, len(values) - n)[len(values) - n]
        slack = CLOSE if again is not None and np.isfinite(border) else 0.0
        near = np.flatnonzero(values >= border - slack)
    else:
        near = np.arange(len(values))
    exact = values[near] if again is None else again(near)
    return np.asarray(near[ordered(exact, near)][:n])
