# SPDX-License-Identifier: BSD-3-Clause
"""Ways to estimate log p(W), scores and loadings integrated out (theory 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from discan.algorithms import Variational
from discan.engines import Engine
from discan.evaluation.averages import log_mean
from discan.evaluation.bases import TRIED, fitted_base, label_weight
from discan.evaluation.labellings import MOST_COMPONENTS, ONE_LABELLING
from discan.evaluation.problem import Base, Chain, Problem
from discan.fitting.starting import begin
from discan.fitting.task import Task
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = [
    "AIS",
    "CONSISTENT",
    "TI",
    "Estimate",
    "EvidenceMethod",
    "VariationalBound",
    "effort",
]

WORK = 40_000_000  # token updates of a method by default
MANY_RUNS, FEW_RUNS = 16, 4
POWER = 3  # temperatures are equal steps from 0 to 1 to this power
LABEL_DRAWS = 10  # states whose labels a run looks at
PRIOR_UP_TO = 1000  # tokens of data whose annealing begins at the prior
UNBIASED = "unbiased for p, so its logarithm is low on average"
CONSISTENT = "consistent: right in the limit of long chains"
LOWER_BOUND = "lower bound on log p"
ALL_LABELLINGS = "all labellings are in it: the chains begin where none is preferred"


class Estimate(NamedTuple):
    """What a method found: log p, its Monte-Carlo error, the runs, and how it was checked.

    ``moved`` is the change from half the effort to all of it, ``effort`` says what was doubled.
    """

    value: float
    error: float
    runs: Array
    moved: float | None
    effort: str
    labels: str


class EvidenceMethod(Protocol):
    """A way to estimate log p(W)."""

    name: ClassVar[str]
    summary: ClassVar[str]
    kind: ClassVar[str]
    whole_counts: ClassVar[bool]

    def estimate(self, problem: Problem, engine: Engine) -> Estimate:
        """Estimate log p(W), bag form."""
        ...


@dataclass(frozen=True)
class AIS:
    """Annealed importance sampling over the components of the tokens.

    Parameters
    ----------
    n_temperatures, n_runs : int, optional
        A sweep is made at each temperature. By default as many as take some seconds: 200 to 5,000
        temperatures, and 16 runs or, for larger data, 4. As many runs with half the temperatures
        are made before.
    base : {"auto", "prior", "chain"}
        Where runs begin: at the prior of the components, or near the mean of a chain, which is much
        nearer to the posterior, but to one of its modes if there are several. "auto" is the prior
        up to 1,000 tokens. The runs with half the temperatures begin near another chain.
    """

    n_temperatures: int | None = None
    n_runs: int | None = None
    base: str = "auto"

    name: ClassVar[str] = "ais"
    summary: ClassVar[str] = "annealed importance sampling"
    kind: ClassVar[str] = UNBIASED
    whole_counts: ClassVar[bool] = True

    def estimate(self, problem: Problem, engine: Engine) -> Estimate:
        """Estimate log p(W), bag form."""
        n_runs, affordable = effort(problem, self.n_runs)
        n = _given("n_temperatures", self.n_temperatures, np.clip(affordable, 200, 5_000))

        one_of("base", self.base, ("auto", "prior", "chain"))
        near = self.base == "chain"
        if self.base == "auto":
            near = problem.corpus.n_tokens > PRIOR_UP_TO

        def weights(
            n_temperatures: int, first: int, base: Base | None
        ) -> tuple[Array, bool]:  # fmt: skip
            ladder = np.linspace(0.0, 1.0, n_temperatures + 1) ** (1 if near else POWER)

            def one(run: int) -> tuple[float, bool]:
                chain = Chain(problem, run, base)
                log_weight = float(np.diff(ladder) @ chain.sweep(ladder[:-1])[:, 0])
                if base is None:
                    return log_weight, True
                # the factor has the same mean at further draws, and the mean of all varies less
                factors = [label_weight(problem, chain, base)]
                for _ in range(LABEL_DRAWS - 1):
                    chain.sweep(np.ones(1))
                    factors.append(label_weight(problem, chain, base))
                of_labels = float(log_mean(np.array([factor for factor, _ in factors]))[0])
                return log_weight + of_labels, factors[0][1]

            found = engine.run(one, range(first, first + n_runs))
            return np.array([pair[0] for pair in found]), all(pair[1] for pair in found)

        bases: list[Base | None] = [None, None]
        if near:  # the better of two for all temperatures, the other for half of them
            starts = (2 * n_runs, 2 * n_runs + TRIED)
            found = [fitted_base(problem, start, engine) for start in starts]
            bases = [base for _, base in sorted(found, key=lambda pair: pair[0])]
        half, _ = weights(max(1, n // 2), n_runs, bases[0])
        runs, kept = weights(n, 0, bases[1])
        value, error = log_mean(runs)
        moved = float(value - log_mean(half)[0])
        labels = ALL_LABELLINGS
        if near:
            labels = problem.labellings.said
            if problem.n_components <= MOST_COMPONENTS:
                labels = "all labellings are in it: the weights count them"
            elif not kept:
                labels += ", but some did"
        effort_of = _ladder(n) + (", from another start," if near else "")
        return Estimate(float(value), float(error), runs, moved, effort_of, labels)


@dataclass(frozen=True)
class TI:
    """Thermodynamic integration: the mean energy, integrated over the temperature.

    Parameters
    ----------
    n_temperatures : int
    n_sweeps, n_runs : int, optional
        Sweeps at each temperature, of which the first quarter is left out, and independent runs; by
        default as for AIS, 40 to 300 sweeps. As many runs with half the temperatures are made
        before.
    """

    n_temperatures: int = 40
    n_sweeps: int | None = None
    n_runs: int | None = None

    name: ClassVar[str] = "ti"
    summary: ClassVar[str] = "thermodynamic integration"
    kind: ClassVar[str] = CONSISTENT
    whole_counts: ClassVar[bool] = True

    def estimate(self, problem: Problem, engine: Engine) -> Estimate:
        """Estimate log p(W), bag form."""
        n_runs, affordable = effort(problem, self.n_runs)
        n = whole("n_temperatures", self.n_temperatures, 2)
        n_sweeps = _given("n_sweeps", self.n_sweeps, np.clip(affordable // n, 40, 300))

        def integrals(n_temperatures: int, first: int) -> Array:
            ladder = np.linspace(0.0, 1.0, n_temperatures + 1) ** POWER

            def one(run: int) -> tuple[float, float]:
                energies = Chain(problem, run).sweep(ladder, n_sweeps)[:, n_sweeps // 4 :]
                moments = energies.mean(axis=1), energies.var(axis=1)
                coarse = (ladder[::2], *(part[::2] for part in moments))
                return _integral(ladder, *moments), _integral(*coarse)

            return np.array(engine.run(one, range(first, first + n_runs)))

        half = integrals(2 * max(1, n // 4), n_runs)[:, 0]
        runs, coarse = integrals(2 * (n // 2), 0).T
        value = float(runs.mean())
        # an error of the fourth order falls by 16 if the ladder is doubled
        steps = abs(value - float(coarse.mean())) / 15
        error = float(np.hypot(runs.std(ddof=1) / np.sqrt(n_runs), steps)) if n_runs > 1 else np.nan
        return Estimate(value, error, runs, value - float(half.mean()), _ladder(n), ALL_LABELLINGS)


@dataclass(frozen=True)
class VariationalBound:
    """The bound of variational Bayes with Dirichlet loadings, the best of several starts.

    Parameters
    ----------
    n_starts : int
    max_iter : int
        Cycles of each start, at most.
    """

    n_starts: int = 5
    max_iter: int = 500

    name: ClassVar[str] = "bound"
    summary: ClassVar[str] = "bound of variational Bayes, the best of five starts"
    kind: ClassVar[str] = LOWER_BOUND
    whole_counts: ClassVar[bool] = False

    def estimate(self, problem: Problem, engine: Engine) -> Estimate:
        """Return the best bound, bag form."""
        bounds = []
        for n in range(whole("n_starts", self.n_starts, 1)):
            task = Task(
                problem.corpus, problem.model, Variational(), problem.prior, seed=problem.seed + n
            )
            # starts of two kinds, because none is always the best
            run = begin(task, "map" if n % 2 == 0 else "random", engine)
            run.advance(whole("max_iter", self.max_iter, 1), 1e-7, progress=False)
            if run.reason == "interrupted":
                raise KeyboardInterrupt
            bounds.append(float(np.max(run.trace["objective"])))
        runs, extra = np.array(bounds), problem.labellings.log_number
        labels = (
            f"one labelling is in it: up to {extra:.4g} nats, the log of the number of labellings, "
            "may be missing for that"
            if extra > 0
            else ONE_LABELLING
        )
        return Estimate(float(runs.max()), 0.0, runs, None, "", labels)


def effort(problem: Problem, n_runs: int | None) -> tuple[int, int]:
    """Number of runs, and of sweeps that each can make for the usual work."""
    sweeps = WORK // max(1, int(problem.corpus.n_tokens))
    usual = MANY_RUNS if sweeps >= 1000 * MANY_RUNS else FEW_RUNS
    runs = _given("n_runs", n_runs, usual)
    return runs, sweeps // runs


def _given(name: str, value: int | None, usual: int) -> int:
    return int(usual) if value is None else whole(name, value, 1)


def _ladder(n: int) -> str:
    return f"the ladder from {n // 2:,} to {n:,} temperatures"


def _integral(ladder: Array, means: Array, variances: Array) -> float:
    """Integrate the mean energy; its derivative is the variance (trapezoid, corrected for it)."""
    steps = np.diff(ladder)
    plain = np.sum(steps * (means[1:] + means[:-1])) / 2
    return float(plain - np.sum(steps**2 * np.diff(variances)) / 12)
