# SPDX-License-Identifier: BSD-3-Clause
"""Models: the priors of the scores, one file per model, and the prior of the loadings."""

from discan.models.base import MODELS, Model, ScoreTable
from discan.models.conditional import ConditionalGammaPoisson
from discan.models.dirichlet_multinomial import DirichletMultinomial
from discan.models.gamma_poisson import GammaPoisson
from discan.models.loadings import LoadingsPrior
from discan.models.process import (
    ConditionalGammaProcess,
    DirichletProcess,
    GammaProcess,
    Process,
    process_of,
)
from discan.registry import import_all

import_all(__name__, __path__)  # a new file registers itself

__all__ = [
    "MODELS",
    "ConditionalGammaPoisson",
    "ConditionalGammaProcess",
    "DirichletMultinomial",
    "DirichletProcess",
    "GammaPoisson",
    "GammaProcess",
    "LoadingsPrior",
    "Model",
    "Process",
    "ScoreTable",
    "process_of",
]
