# SPDX-License-Identifier: BSD-3-Clause
"""Means and standard errors of held-out prediction over documents, folds and starts.

Every setting predicts the same tokens, so settings are compared by paired differences. Two errors
are added. One is over documents: a mean over the documents that happen to be in the data (the
parts of one document in several folds count as one). The other is over starts: at the same setting
and fold, fits from other seeds end elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discan.fitting.infer import score_and_error
from discan.selection.jobs import Job, Outcome, Setting
from discan.selection.protocols import Fold
from discan.selection.quality import similarity
from discan.typing import Array

__all__ = ["Measured", "measure", "paired_gap", "stabilities"]

BITS = float(np.log(2.0))
PRIOR_STARTS = 4.0  # weight of the variance over starts that all settings share


@dataclass(frozen=True)
class Measured:
    """All settings, measured on the same held-out tokens; arrays are (S,), one per setting.

    Attributes
    ----------
    settings : tuple of Setting
    bits, error : arrays
        Mean of bits per held-out token, lower is better, and its standard error.
    starts : array
        Standard deviation of bits over starts, at the same setting and fold; NaN with one start.
    baseline : float
        Bits per token of the word shares of the training data, the same for every document.
    n_tokens : float
        Number of held-out tokens.
    loss : (S, I) array
        Bits of each document, mean over starts.
    tokens : (I,) array
        Held-out tokens of each document.
    start_variance : array
        Variance of ``bits`` that is due to the starts.
    """

    settings: tuple[Setting, ...]
    bits: Array
    error: Array
    starts: Array
    baseline: float
    n_tokens: float
    loss: Array
    tokens: Array
    start_variance: Array

    def first(self, n: int) -> Measured:
        """Return the first settings alone."""
        own = ("bits", "error", "starts", "loss", "start_variance")
        parts = {name: getattr(self, name)[:n] for name in own}
        return replace(self, settings=self.settings[:n], **parts)

    @property
    def best(self) -> int:
        """Place of the best setting."""
        return int(np.argmin(self.bits))

    @cached_property
    def gap(self) -> Array:
        """Difference of each setting from the best, at least 0, (S,)."""
        return np.asarray(self.bits - self.bits[self.best])

    @cached_property
    def gap_error(self) -> Array:
        """Standard error of ``gap`` by paired differences, (S,); 0 for the best."""
        return np.array([paired_gap(self, n, self.best)[1] for n in range(len(self.bits))])


def measure(
    settings: Sequence[Setting],
    seeds: Sequence[int],
    outcomes: Mapping[Job, Outcome],
    folds: Sequence[Fold],
    baselines: Sequence[Array],
) -> Measured:
    """Average the outcomes of all jobs.

    Parameters
    ----------
    baselines : sequence of (2, I) arrays
        Prediction of each fold by word shares alone.
    """
    together = folds[0].given is not None
    by_fold = [
        np.array([[outcomes[Job(s, seed, n)].nats for seed in seeds] for s in settings])
        for n in range(len(folds))
    ]  # (S, n_seeds, 2, I) per fold
    if together:
        nats = np.sum([part.mean(axis=1) for part in by_fold], axis=0)
    else:
        nats = np.concatenate([part.mean(axis=1) for part in by_fold], axis=2)
    loss, tokens = -nats[:, 0] / BITS, nats[0, 1]
    n_tokens = float(tokens.sum())
    bits = loss.sum(axis=1) / n_tokens
    start_variance = _start_variances(by_fold, n_tokens)
    error = np.sqrt(np.array([_error(row, tokens) for row in loss]) ** 2 + start_variance)
    scored = np.sum([part.sum(axis=1) for part in baselines], axis=0)
    return Measured(
        settings=tuple(settings),
        bits=bits,
        error=error,
        starts=_start_deviations(by_fold),
        baseline=float(-scored[0] / scored[1] / BITS),
        n_tokens=n_tokens,
        loss=loss,
        tokens=tokens,
        start_variance=start_variance,
    )


def paired_gap(measured: Measured, a: int, b: int) -> tuple[float, float]:
    """Bits per token that setting ``a`` needs more than ``b``, and the standard error."""
    if a == b:
        return 0.0, 0.0
    over_documents = _error(measured.loss[a] - measured.loss[b], measured.tokens)
    over_starts = measured.start_variance[a] + measured.start_variance[b]
    gap = float(measured.bits[a] - measured.bits[b])
    return gap, float(np.sqrt(over_documents**2 + over_starts))


def stabilities(
    settings: Sequence[Setting],
    seeds: Sequence[int],
    outcomes: Mapping[Job, Outcome],
    folds: Sequence[Fold],
) -> dict[Job, float]:
    """Mean similarity of each fit's components with those of the other starts; NaN if none."""
    layout: Any = folds[0].train.layout
    found: dict[Job, float] = {}
    for setting in settings:
        for n in range(len(folds)):
            jobs = [Job(setting, seed, n) for seed in seeds]
            table = np.full((len(jobs), len(jobs)), np.nan)
            for a in range(len(jobs)):
                for b in range(a):
                    parts = (outcomes[jobs[a]].components, outcomes[jobs[b]].components)
                    table[a, b] = table[b, a] = similarity(*parts, layout)
            for job, row in zip(jobs, table, strict=True):
                known = row[~np.isnan(row)]
                found[job] = float(known.mean()) if known.size else float("nan")
    return found


def _error(sums: Array, tokens: Array) -> float:
    """Standard error of sum / sum of tokens, over documents."""
    return score_and_error(np.array([sums, tokens]))[1]


def _start_variances(by_fold: Sequence[Array], n_tokens: float) -> Array:
    """Variance of the mean bits that is due to the starts, (S,); 0 with one start.

    Few starts estimate a variance badly, so each setting's own is averaged with that of all.
    """
    n_seeds = by_fold[0].shape[1]
    if n_seeds < 2:
        return np.zeros(len(by_fold[0]))
    totals = [part[:, :, 0].sum(axis=2) / BITS / n_tokens for part in by_fold]  # (S, n_seeds)
    own = np.sum([total.var(axis=1, ddof=1) for total in totals], axis=0) / n_seeds
    freedom = len(by_fold) * (n_seeds - 1)
    return np.asarray((freedom * own + PRIOR_STARTS * own.mean()) / (freedom + PRIOR_STARTS))


def _start_deviations(by_fold: Sequence[Array]) -> Array:
    """Standard deviation of bits per token over starts, at the same setting and fold, (S,)."""
    if by_fold[0].shape[1] < 2:
        return np.full(len(by_fold[0]), np.nan)
    variances = []
    for part in by_fold:
        sums = part.sum(axis=3)  # (S, n_seeds, 2)
        variances.append((sums[:, :, 0] / sums[:, :, 1] / BITS).var(axis=1, ddof=1))
    return np.asarray(np.sqrt(np.mean(variances, axis=0)))
