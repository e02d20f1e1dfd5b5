# SPDX-License-Identifier: BSD-3-Clause
"""Chib's method for the evidence: Bayes' theorem at one point of the loadings (theory 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln, logsumexp

from discan.algorithms.base import Params
from discan.engines import Engine
from discan.evaluation.averages import log_mean
from discan.evaluation.document_likelihood import Chib, estimate_documents
from discan.evaluation.evidence_methods import CONSISTENT, ONE_LABELLING, Estimate, effort
from discan.evaluation.problem import Chain, Problem
from discan.typing import Array
from discan.validation import whole

__all__ = ["ChibLoadings"]

MOST_LABELLINGS = 720  # that are enumerated: those of six components
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
        ways = _Labellings(problem.classes, problem.log_labellings)
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


class _Labellings:
    """The ways to name the components that change nothing: those of equal priors are alike."""

    def __init__(self, classes: Array, log_number: float) -> None:
        self.log_number, self.classes = log_number, classes
        self.all: Array | None = None
        n_ways = round(np.exp(min(log_number, 50.0)))
        if n_ways == 1:
            self.all = np.arange(len(classes))[None]
            self.said = ONE_LABELLING
        elif n_ways <= MOST_LABELLINGS and len(classes) <= 6:
            ways = np.array(list(permutations(range(len(classes)))))
            self.all = ways[(classes[ways] == classes).all(axis=1)]
            self.said = f"all {n_ways:,} labellings are averaged over"
        else:
            self.said = (
                f"the log of the number of labellings, {log_number:.4g} nats, is added, as if no "
                "chain ever changed its labels"
            )

    def best(self, scores: Array) -> Array:
        """Component of the point for each component of a draw, by the largest sum of scores."""
        allowed = np.where(self.classes[:, None] == self.classes, scores, -1e300)
        return np.asarray(linear_sum_assignment(allowed, maximize=True)[1])

    def log_mean(self, scores: Array) -> float:
        """Log of the mean of exp(sum_k scores[k, way[k]]) over all ways."""
        here = np.arange(len(self.classes))
        if self.all is None:
            return float(scores[here, self.best(scores)].sum()) - self.log_number
        sums = scores[here, self.all].sum(axis=1)
        return float(logsumexp(sums) - np.log(len(self.all)))


def _warmed(problem: Problem, run: int, n: int) -> Chain:
    """Begin a chain that was cooled from the prior to the posterior in n sweeps."""
    chain = Chain(problem, run)
    chain.sweep(np.linspace(0.0, 1.0, n) ** 2)
    return chain


def _centre(problem: Problem, run: int, n: int, ways: _Labellings) -> Array:
    """Mean of the loadings of a chain, (J, K), each draw labelled like the mean so far."""
    chain, total = _warmed(problem, run, n), np.zeros(())
    for _ in range(n):
        chain.sweep(np.ones(1))
        loadings = problem.prior.mean(chain.loading_counts.astype(np.float64))
        if total.ndim:
            mean = np.log(total / total.sum(axis=0))
            to = ways.best(loadings.T @ mean)
            loadings = loadings[:, np.argsort(to)]
        total = total + loadings
    return np.asarray(total / n)


def _ordinates(problem: Problem, run: int, n: int, point: Array, ways: _Labellings) -> Array:
    """Log posterior density of the point given each draw of a chain, (n,)."""
    chain, found = _warmed(problem, run, n), []
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
