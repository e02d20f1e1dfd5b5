# SPDX-License-Identifier: BSD-3-Clause
"""Match the components of two fits one to one, so that their distances add up to the least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from discan.data.layout import Layout
from discan.evaluation.distances import distances
from discan.fitting.result import Fit
from discan.typing import Array

__all__ = ["Matching", "agreement", "match", "match_components"]


@dataclass(frozen=True, eq=False)
class Matching:
    """Which component of a second fit is which component of a first one.

    Attributes
    ----------
    pairs : (n, 2) int array
        Numbers from 0, in the order of the first fit; n is the smaller number of components.
    distances : (K, L) array
        Of every component of the first fit from every component of the second.
    measure : str
        "hellinger" or "jensen-shannon".
    """

    pairs: Array
    distances: Array
    measure: str = "hellinger"

    @property
    def matched(self) -> Array:
        """Distance of each pair, (n,)."""
        return np.asarray(self.distances[self.pairs[:, 0], self.pairs[:, 1]])

    @property
    def only_first(self) -> list[int]:
        """Components of the first fit without a partner."""
        return sorted(set(range(self.distances.shape[0])) - set(self.pairs[:, 0].tolist()))

    @property
    def only_second(self) -> list[int]:
        """Components of the second fit without a partner."""
        return sorted(set(range(self.distances.shape[1])) - set(self.pairs[:, 1].tolist()))

    @property
    def order(self) -> Array:
        """Components of the second fit in the order of the first, those without partner last."""
        return np.array([*self.pairs[:, 1], *self.only_second], dtype=np.intp)

    @property
    def similarity(self) -> float:
        """Mean similarity, 1 - distance, of the larger number of components; from 0 to 1.

        A component without a partner has similarity 0.
        """
        return float((1.0 - self.matched).sum() / max(self.distances.shape))


def match_components(
    first: Array,
    second: Array,
    layout: Layout | None = None,
    weights: Array | None = None,
    measure: str = "hellinger",
) -> Matching:
    """Match components (K, J) and (L, J) one to one by optimal assignment.

    The sum of the distances is the least possible (``scipy.optimize.linear_sum_assignment``). The
    arguments are those of ``distances``.
    """
    apart = distances(first, second, layout, weights, measure)
    rows, columns = linear_sum_assignment(apart)
    return Matching(np.column_stack([rows, columns]), apart, measure)


def match(first: Fit, second: Fit, measure: str = "hellinger") -> Matching:
    """Match the components of two fits to the same words; groups weigh by their mean counts."""
    return match_components(
        first.components, second.components, first.layout, first.group_totals, measure
    )


def agreement(fits: Sequence[Fit], measure: str = "hellinger") -> Array:
    """Similarity of every pair of fits, (n, n), from 0 to 1; see ``Matching.similarity``.

    Fits of one K that differ in their seed only tell by this how stable the components are.
    """
    result = np.ones((len(fits), len(fits)))
    for a, first in enumerate(fits):
        for b in range(a + 1, len(fits)):
            result[a, b] = result[b, a] = match(first, fits[b], measure).similarity
    return result
