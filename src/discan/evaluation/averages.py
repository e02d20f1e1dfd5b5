# SPDX-License-Identifier: BSD-3-Clause
"""Averages of probabilities that are kept as logarithms."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from discan.typing import Array

__all__ = ["log_mean"]


def log_mean(logs: Array) -> tuple[Array, Array]:
    """Logarithm of the mean over runs of exp(logs), and its standard error.

    Parameters
    ----------
    logs : (R, ...) array
        Logarithms of independent estimates of a probability.

    Returns
    -------
    (...) array
        The log of the mean, never the mean of the logs.
    (...) array
        The standard error of the mean divided by the mean, or that of the mean log if it is
        larger: they are equal where runs agree. Where runs differ by several nats, the first is
        about 1 whatever the spread. 0 where all runs are equal, NaN for one run.
    """
    n_runs = len(logs)
    mean = np.asarray(logsumexp(logs, axis=0)) - np.log(n_runs)
    possible = np.isfinite(mean)
    if n_runs == 1:
        return mean, np.where(possible, np.nan, 0.0)
    ratios = np.exp(logs - np.where(possible, mean, 0.0))  # of the estimates to their mean
    spread = ratios.std(axis=0, ddof=1)
    if np.isfinite(logs).all():
        spread = np.maximum(spread, np.std(logs, axis=0, ddof=1))
    return mean, np.where(possible, spread / np.sqrt(n_runs), 0.0)
