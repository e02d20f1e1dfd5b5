# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms: how the parameters are estimated, one file per algorithm."""

from discan.algorithms.auto import choose
from discan.algorithms.base import ALGORITHMS, Algorithm
from discan.algorithms.collapsed import Collapsed
from discan.algorithms.cvb0 import CollapsedVariational
from discan.algorithms.em import MAP, MaximumLikelihood
from discan.algorithms.gibbs import Gibbs
from discan.algorithms.variational import Variational
from discan.registry import import_all

import_all(__name__, __path__)  # a new file registers itself

__all__ = [
    "ALGORITHMS",
    "MAP",
    "Algorithm",
    "Collapsed",
    "CollapsedVariational",
    "Gibbs",
    "MaximumLikelihood",
    "Variational",
    "choose",
]
