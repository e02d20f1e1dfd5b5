# SPDX-License-Identifier: BSD-3-Clause
"""The ways to name the components that change nothing, because their priors are equal."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln, logsumexp

from discan.typing import Array

__all__ = ["MOST_COMPONENTS", "ONE_LABELLING", "Labellings"]

MOST_COMPONENTS = 6  # whose permutations are enumerated
ONE_LABELLING = "there is one labelling: the priors tell the components apart, or there is one"


class Labellings:
    """All permutations of components within their classes.

    Parameters
    ----------
    classes : (K,) int array
        Components of equal priors are of one class.
    log_number : float
        Log of the number of permutations.

    Attributes
    ----------
    all : (P, K) int array or None
        None if there are too many to enumerate.
    said : str
        What is done about them, in words.
    """

    def __init__(self, classes: Array, log_number: float) -> None:
        self.log_number, self.classes = log_number, classes
        self.all: Array | None = None
        n_ways = round(np.exp(min(log_number, 50.0)))
        if n_ways == 1:
            self.all = np.arange(len(classes))[None]
            self.said = ONE_LABELLING
        elif len(classes) <= MOST_COMPONENTS:
            ways = np.array(list(permutations(range(len(classes)))))
            self.all = ways[(classes[ways] == classes).all(axis=1)]
            self.said = f"all {n_ways:,} labellings are averaged over"
        else:
            self.said = (
                f"the log of the number of labellings, {log_number:.4g} nats, is added, as if no "
                "chain ever changed its labels"
            )

    @classmethod
    def every(cls, n_components: int) -> Labellings:
        """Return all permutations, as if all priors were equal."""
        return cls(np.zeros(n_components, dtype=np.int64), float(gammaln(n_components + 1.0)))

    def best(self, scores: Array) -> Array:
        """Column for each row of scores (K, K), by the largest sum."""
        allowed = np.where(self.classes[:, None] == self.classes, scores, -1e300)
        return np.asarray(linear_sum_assignment(allowed, maximize=True)[1])

    def log_mean(self, scores: Array) -> float:
        """Log of the mean over all permutations of exp(sum_k scores[k, permutation[k]])."""
        here = np.arange(len(self.classes))
        if self.all is None:
            return float(scores[here, self.best(scores)].sum()) - self.log_number
        sums = scores[here, self.all].sum(axis=1)
        return float(logsumexp(sums) - np.log(len(self.all)))
