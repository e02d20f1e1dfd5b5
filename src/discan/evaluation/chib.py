# SPDX-License-Identifier: BSD-3-Clause
"""Chib's method for the evidence: Bayes' theorem at one point of the loadings (theory 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, logsumexp

from discan.algorithms.base import Params
from discan.engines import Engine
from discan.evaluation.averages import log_mean
from discan.evaluation.document_likelihood import Chib, estimate_documents
from discan.evaluation.evidence_methods import CONSISTENT, Estimate, effort
from discan.evaluation.labellings import Labellings
from discan.evaluation.problem import Problem, warmed
from discan.typing import Array
from discan.validation import whole

__all__ = ["ChibLoadings"]

DOCUMENT_RUNS = 8


@dataclass(frozen=True)
class ChibLoadings:
    """log p(W) = log p(W | Theta) + log p(Theta) - log p(Theta | W), at the mean of a chain.

    Parameters
    ----------
    n_draws, n_runs : int, optional
        Draws of each of the chains that the posterior ordinate is averaged over, after as many
        sweeps to warm up; by default as many as take some seconds, 100 to 500.
    """

    n_draws: int | None = None
    n_runs: int | None = None

    name: ClassVar[str] = "chib"
    summary: ClassVar[str] = "Chib's method at one point of the loadings"
    kind: ClassVar[str] = CONSISTENT
    whole_counts: ClassVar[bool] = True

    def estimate(self, problem: Problem, engine: Engine) -> Estimate:
        """Estimate log p(W), bag form."""
        n_runs, affordable = effort(problem, self.n_runs)
        n = int(np.clip(affordable // 2, 100, 500))
        n = n if self.n_draws is None else whole("n_draws", self.n_draws, 2)
        ways = problem.labellings
        point = _centre(problem, n_runs, n, ways)
        logs = np.array(
            engine.run(lambda run: _ordinates(problem, run, n, point, ways), range(n_runs))
        )
        documents, of_documents = _log_documents(problem, point, engine)
        prior = problem.prior
        known = documents + _log_density(np.zeros_like(point), point, prior).trace()
        runs = known - (logsumexp(logs, axis=1) - np.log(n))
        half = known - float(log_mean(logs[:, : n // 2].ravel())[0])
        # the mean is that of the ordinate, in the denominator
        value, error = -log_mean(-runs)[0], log_mean(-runs)[1]
        effort_of = f"the draws from {n // 2:,} to {n:,}"
        return Estimate(
            float(value), float(np.hypot(error, of_documents)), runs, float(value - half),
            effort_of, ways.said,
        )  # fmt: skip


def _centre(problem: Problem, run: int, n: int, ways: Labellings) -> Array:
    """Mean of the loadings of a chain, (J, K), each draw labelled like the mean so far."""
    chain, total = warmed(problem, run, n), np.zeros(())
    for _ in range(n):
        chain.sweep(np.ones(1))
        loadings = problem.prior.mean(chain.loading_counts.astype(np.float64))
        if total.ndim:
            mean = np.log(total / total.sum(axis=0))
            to = ways.best(loadings.T @ mean)
            loadings = loadings[:, np.argsort(to)]
        total = total + loadings
    return np.asarray(total / n)


def _ordinates(problem: Problem, run: int, n: int, point: Array, ways: Labellings) -> Array:
    """Log posterior density of the point given each draw of a chain, (n,)."""
    chain, found = warmed(problem, run, n), []
    for _ in range(n):
        chain.sweep(np.ones(1))
        counts = chain.loading_counts.astype(np.float64)
        found.append(ways.log_mean(_log_density(counts, point, problem.prior)))
    return np.array(found)


def _log_density(counts: Array, point: Array, prior: Any) -> Array:
    """Log Dirichlet density of each column of the point given each column of counts, (K, K)."""
    shape = prior.gamma[:, None] + counts
    totals = prior.layout.group_sums(shape)
    norms = gammaln(totals).sum(axis=0) - gammaln(shape).sum(axis=0)
    return np.asarray(norms[:, None] + (shape - 1.0).T @ np.log(point))


def _log_documents(problem: Problem, point: Array, engine: Engine) -> tuple[float, float]:
    """Log p(W | Theta) at the point, and its Monte-Carlo error."""
    params = Params.of(problem.model, problem.prior, problem.corpus.exposure_levels)
    return estimate_documents(
        [(params, point)], problem.corpus, Chib(), DOCUMENT_RUNS, engine, np.uint64(problem.seed)
    ).total
