# SPDX-License-Identifier: BSD-3-Clause
"""Whether chains have mixed: R-hat and effective sample sizes (Vehtari and others 2021)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from discan.fitting.result import Fit
from discan.typing import Array

__all__ = ["MIXED", "Diagnostic", "diagnostics", "ess_bulk", "ess_tail", "rhat", "summaries"]

MIXED = 1.05
"""Up to this R-hat, chains are taken to have mixed."""
FEWEST = 8  # draws per chain


class Diagnostic(NamedTuple):
    """One quantity of the draws.

    ``ess_bulk`` and ``ess_tail`` are numbers of independent draws that would tell as much of its
    mean and of its 5 % and 95 % quantiles. R-hat is 1 if all chains, and both halves of each, are
    alike.
    """

    quantity: str
    mean: float
    sd: float
    low: float
    high: float
    rhat: float
    ess_bulk: float
    ess_tail: float


def diagnostics(fit: Fit) -> list[Diagnostic]:
    """Diagnose the draws of a fit by one chain or several; empty if there are too few draws."""
    return [
        _diagnosed(name, values)
        for name, values in summaries(fit).items()
        if values.shape[1] >= FEWEST
    ]


def _diagnosed(name: str, values: Array) -> Diagnostic:
    low, high = np.quantile(values, (0.05, 0.95))
    return Diagnostic(
        name, float(values.mean()), float(values.std(ddof=1)), float(low), float(high),
        rhat(values), ess_bulk(values), ess_tail(values),
    )  # fmt: skip


def summaries(fit: Fit) -> dict[str, Array]:
    """Quantities of every draw by name, (C, D) each.

    First those without labels, which do not depend on the order of the components: log p(W, z), the
    entropy of the sizes, the sum of alpha, and the means of other hyperparameters. Then the sizes
    of the components, which are matched between chains.
    """
    chains, record = fit.chains, fit.record
    if chains is not None and chains.records is not None:
        records, objective = chains.records, chains.objective
    elif record is not None and record.n_draws:
        records, objective = [record], fit.draw_objectives[None, -record.n_draws :]
    else:
        return {}
    sizes = np.array([each.sizes for each in records])  # (C, D, K)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(sizes > 0, sizes * np.log(sizes), 0.0).sum(axis=2)
    result = {"log p": objective, "entropy of the sizes": entropy}
    for name in records[0].hyperparameters:
        values = np.array([each.hyperparameters[name] for each in records])
        result["sum of alpha" if name == "alpha" else f"mean of {name}"] = (
            values.sum(axis=2) if name == "alpha" else values.mean(axis=2)
        )
    for k, title in enumerate(fit.component_names):
        result[f"size of {title}"] = sizes[:, :, k]
    return result


def rhat(draws: Array) -> float:
    """Rank-normalised split R-hat of draws (C, D); the larger of bulk and tail.

    Constant draws have 1 if all chains have the same constant, and infinity if not.
    """
    if np.ptp(draws) == 0:
        return 1.0
    if (np.ptp(draws, axis=1) == 0).all():
        return float("inf")
    folded = np.abs(draws - np.median(draws))
    values = [_rhat(_normal_scores(_split(x))) for x in (draws, folded) if np.ptp(x) > 0]
    return float(max(values))


def ess_bulk(draws: Array) -> float:
    """Effective number of draws (C, D) for the centre of the distribution."""
    if np.ptp(draws) == 0:
        return float(draws.size)
    return _ess(_normal_scores(_split(draws)))


def ess_tail(draws: Array) -> float:
    """Effective number of draws (C, D) for the 5 % and 95 % quantiles, the less of both."""
    if np.ptp(draws) == 0:
        return float(draws.size)
    sizes = []
    for quantile in np.quantile(draws, (0.05, 0.95)):
        below = _split((draws <= quantile).astype(float))
        sizes.append(float(below.size) if np.ptp(below) == 0 else _ess(below))
    return min(sizes)


# ---- details ----


def _split(draws: Array) -> Array:
    """Both halves of each chain as chains of their own, (2 C, D // 2)."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: Array) -> Array:
    """Normal quantiles of the ranks among all draws."""
    ranks = rankdata(draws, method="average").reshape(draws.shape)
    return np.asarray(ndtri((ranks - 0.375) / (draws.size + 0.25)))


def _rhat(chains: Array) -> float:
    """Potential scale reduction of chains (C, D)."""
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = n * chains.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt(((n - 1) * within + between) / (n * within)))


def _ess(chains: Array) -> float:
    """Effective sample size of chains (C, D) by Geyer's initial monotone sequence.

    Autocorrelations come from within and between the chains together, and are summed in pairs while
    the pairs are positive; a pair is no larger than the one before.
    """
    m, n = chains.shape
    covariance = _autocovariance(chains).mean(axis=0)
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + (chains.mean(axis=1).var(ddof=1) if m > 1 else 0.0)
    if total <= 0:
        return float(m * n)
    correlation = 1.0 - (within - covariance) / total
    correlation[0] = 1.0
    usable = n - n % 2
    pairs = correlation[:usable].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    last = int(negative[0]) if len(negative) else len(pairs)
    kept = np.minimum.accumulate(pairs[:last])
    rest = max(float(correlation[2 * last]), 0.0) if 2 * last < n else 0.0
    time = -1.0 + 2.0 * float(kept.sum()) + rest
    time = max(time, 1.0 / np.log10(m * n))  # antithetic chains are not better than this
    return float(m * n / time)


def _autocovariance(chains: Array) -> Array:
    """Autocovariances of each chain at all lags, (C, D), divided by D."""
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, size)) ** 2
    return np.asarray(np.fft.irfft(power, size)[:, :n] / n)
