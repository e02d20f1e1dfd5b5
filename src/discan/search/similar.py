# SPDX-License-Identifier: BSD-3-Clause
"""Documents with similar proportions, and components of words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from discan.engines import Engine
from discan.errors import InputError
from discan.fitting.result import Fit
from discan.search.ranking import first
from discan.search.shares import Shares, by_pieces
from discan.typing import Array
from discan.validation import one_of

__all__ = ["DISTANCES", "Neighbour", "components_of", "distances_from", "nearest"]

DISTANCES = {
    "hellinger": "Square root of 1 - sum_k sqrt(p_k q_k).",
    "jensen-shannon": "Square root of the Jensen-Shannon divergence in bits.",
}


class Neighbour(NamedTuple):
    """A document that is similar to another.

    Attributes
    ----------
    document : str
        Its name; its number, from 0, if it has none.
    number : int
        From 0.
    distance : float
        From 0, the same shares, to 1, no component in common.
    shared : dict of str to float
        Share of each component that both documents have, the smaller of the two, largest first.
    """

    document: str
    number: int
    distance: float
    shared: dict[str, float]


def distances_from(shares: Shares, targets: Array, distance: str, engine: Engine) -> Array:
    """Distance of every document from some targets with shares (n, K): (I, n), exact.

    "hellinger": ``sqrt(1 - sum_k sqrt(p_k q_k))``. "jensen-shannon": square root of the
    Jensen-Shannon divergence in bits. Both lie between 0 and 1.
    """
    one_of("distance", distance, DISTANCES)
    roots = np.sqrt(targets).T

    def work(rows: slice) -> Array:
        table = shares.rows(rows)
        if distance == "hellinger":
            return np.sqrt(np.clip(1.0 - np.sqrt(table) @ roots, 0.0, 1.0))
        return np.stack([_jensen_shannon(table, target) for target in targets], axis=1)

    return by_pieces(shares.shape[0], work, engine)


def _jensen_shannon(table: Array, target: Array) -> Array:
    middle = (table + target) / 2.0
    both = xlogy(table, table) + xlogy(target, target) - 2.0 * xlogy(middle, middle)
    return np.asarray(np.sqrt(np.clip(both.sum(axis=1) / (2.0 * np.log(2.0)), 0.0, 1.0)))


def nearest(
    shares: Shares, target: Array, n: int, distance: str, engine: Engine, without: int | None = None
) -> tuple[Array, Array]:
    """Return the numbers and distances of the n nearest documents, the nearest first."""
    found = distances_from(shares, target[None, :], distance, engine)[:, 0]
    if without is not None:
        found[without] = np.inf
    n = min(n, len(found) - (without is not None))
    chosen = first(-found, n) if n else np.empty(0, dtype=np.int64)
    return chosen, found[chosen]


def components_of(fit: Fit, words: Array) -> Array:
    """P(component | words), (K,): that of the one component that all the words come from.

    It is ``size_k prod_t theta_tk`` divided by the sum over components. ``size`` is the fraction
    of all tokens that a component explains; if components were given, its prior mean.
    """
    with np.errstate(divide="ignore"):
        weights = np.log(prior_shares(fit)) + np.log(fit.mean_loadings[words]).sum(axis=0)
    if not np.isfinite(weights).any():
        raise InputError(
            f"no {fit.nouns.component} has all of these {fit.nouns.words}",
            remedy=f"ask for fewer {fit.nouns.words}",
        )
    weights = np.exp(weights - weights.max())
    return np.asarray(weights / weights.sum())


def prior_shares(fit: Fit) -> Array:
    """Shares of the components before a document is seen, (K,)."""
    if fit.documents is not None:
        return fit.sizes
    alpha: Any = fit.params.model.alpha
    total = float(np.sum(alpha))
    return np.asarray(alpha / total) if total > 0 else np.full(len(alpha), 1.0 / len(alpha))
