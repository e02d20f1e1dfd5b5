# SPDX-License-Identifier: BSD-3-Clause
"""How the numbers are estimated, one file an algorithm."""

from typing import Any

from discan.algorithms.base import ALGORITHMS, Algorithm
from discan.algorithms.collapsed import Collapsed
from discan.algorithms.gibbs import Gibbs
from discan.algorithms.maximum_likelihood import MAP, MaximumLikelihood
from discan.algorithms.variational import Variational
from discan.models import Model
from discan.registry import import_all

import_all(__name__, __path__)  # a new file registers itself

__all__ = [
    "ALGORITHMS",
    "MAP",
    "Algorithm",
    "Collapsed",
    "Gibbs",
    "MaximumLikelihood",
    "Variational",
    "choose",
]


def choose(choice: Any, model: Model, learn: frozenset[str] = frozenset()) -> Algorithm:
    """Find an algorithm by name; "auto" is the quickest to a good model: MAP where it will do.

    Hyperparameters are better learnt by raising a bound than from MAP's expected counts, which take
    every component to be present in every document.
    """
    if not isinstance(choice, str) or choice.lower() != "auto":
        return ALGORITHMS.find(choice)
    point = MAP()
    return Variational() if learn or point.refusal(model, learn) else point
