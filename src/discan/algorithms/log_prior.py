# SPDX-License-Identifier: BSD-3-Clause
"""The log prior of point loadings, in the log basis (theory 4.1)."""

from __future__ import annotations

import numpy as np

from discan.kernels.variational import weighted_log_loadings
from discan.models import LoadingsPrior
from discan.typing import Array

__all__ = ["log_prior"]


def log_prior(loadings: Array, prior: LoadingsPrior) -> float:
    """Sum of (gamma_j + s_jk) log theta_jk, s_jk the tokens of the seeds; 0 without a prior."""
    if not prior.gamma.any():
        return 0.0
    result = float(weighted_log_loadings(loadings, prior.gamma))
    seeds = prior.seeds
    if seeds is None:
        return result
    return result + seeds.weighted(np.log(np.maximum(loadings, 1e-300)))
