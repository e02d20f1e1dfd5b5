# SPDX-License-Identifier: BSD-3-Clause
"""How the numbers are estimated, one file an algorithm."""

from discan.algorithms.base import ALGORITHMS, Algorithm
from discan.algorithms.collapsed import Collapsed
from discan.algorithms.gibbs import Gibbs
from discan.algorithms.maximum_likelihood import MAP, MaximumLikelihood
from discan.algorithms.variational import Variational
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
]
