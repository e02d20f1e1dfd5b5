# SPDX-License-Identifier: BSD-3-Clause
"""Estimate alpha, beta, rho and gamma: from expectations, from counts, by draws (theory 5)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from scipy.special import digamma, polygamma

from discan.errors import InputError, shown
from discan.typing import Array
from discan.validation import number

__all__ = [
    "FLAT",
    "AugmentedScores",
    "ExpectedScores",
    "Hyperprior",
    "Mode",
    "bounded",
    "dirichlet",
    "expected_tables",
    "gamma_shape",
    "inverse_digamma",
    "seeded_dirichlet",
    "symmetric_dirichlet",
]

# Bounds of estimates, which can diverge to 0 or to infinity without a prior.
_SMALLEST, _LARGEST = 1e-6, 1e4
SEEDED_STEPS = 20


@dataclass(frozen=True)
class Hyperprior:
    """Priors of the hyperparameters, for the sampling moves.

    Parameters
    ----------
    alpha, beta : (float, float), default=(1.0, 1.0)
        Shape and rate of the gamma prior of each value.
    rho : (float, float), default=(1.0, 1.0)
        Parameters of the beta prior of each rho.
    gamma : (float, float), default=(1.0, 1.0)
        Shape and rate of the gamma prior of gamma.
    concentration : (float, float), default=(1.0, 1.0)
        Shape and rate of the gamma prior of the concentration, if the number of components is
        learnt. The pair of alpha is then that of the sum of alpha ("dmp"); for models of amounts
        ("gpp", "cgpp") its rate is that of every alpha, and its shape is not used.
    """

    alpha: tuple[float, float] = (1.0, 1.0)
    beta: tuple[float, float] = (1.0, 1.0)
    rho: tuple[float, float] = (1.0, 1.0)
    gamma: tuple[float, float] = (1.0, 1.0)
    concentration: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        """Check that each is a pair of numbers, the first above 0."""
        for field_ in fields(self):
            pair = getattr(self, field_.name)
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise InputError(f"hyperprior {field_.name}={shown(pair)}; it must be two numbers")
            for value, low in zip(pair, (5e-324, 0.0), strict=True):
                wanted = "two finite numbers, the first above 0, the second at least 0"
                number(f"hyperprior {field_.name}", value, wanted, low, 1.7e308)


FLAT = Hyperprior(alpha=(1.0, 0.0), beta=(1.0, 0.0), rho=(1.0, 1.0), gamma=(1.0, 0.0))
"""No prior."""


class Mode:
    """Replaces a random generator and returns the mode: exact draws become ascent steps.

    With *expected* auxiliary variables in place of drawn ones, a resampling move is then the
    fixed-point step that cannot lower p(c | alpha) (theory 5.2).
    """

    def gamma(self, shape: Any) -> Any:
        """Mode of Gamma(shape, 1)."""
        return np.maximum(np.asarray(shape) - 1.0, 0.0)

    def beta(self, x: Any, y: Any) -> Any:
        """Mode of Beta(x, y)."""
        return (np.asarray(x) - 1.0) / (np.asarray(x) + y - 2.0)


@dataclass(frozen=True)
class ExpectedScores:
    """Sums over documents under q for the M-steps, weighted by the probability of presence.

    log_scores (K,): sum of E[log l | present]; scores (K,): sum of E[l | present]; present (K,).
    """

    log_scores: Array
    scores: Array
    present: Array
    n_documents: int

    def __add__(self, other: ExpectedScores) -> ExpectedScores:
        """Add the sums of two sets of documents."""
        return ExpectedScores(
            self.log_scores + other.log_scores,
            self.scores + other.scores,
            self.present + other.present,
            self.n_documents + other.n_documents,
        )


@dataclass(frozen=True)
class AugmentedScores:
    """Sums of auxiliary draws over documents, for the sampling moves (theory 5.3).

    tables (K,): CRT draws; active (T, K): documents that have the component, by exposure level;
    scores (K,): drawn scores; log_beta: sum of log u; exposure_levels (T,). With class_of_level
    (T,), the sums are by class: tables and scores are (C, K), log_beta and n_documents (C,). While
    scores are still to be drawn, shapes (T, K) has the sums of their shapes by level.
    """

    tables: Array
    active: Array
    scores: Array
    log_beta: Any
    n_documents: Any
    exposure_levels: Array = field(repr=False)
    class_of_level: Array | None = field(default=None, repr=False, kw_only=True)
    shapes: Array | None = field(default=None, repr=False, kw_only=True)

    def __add__(self, other: AugmentedScores) -> Self:
        """Add the sums of two sets of documents."""
        return replace(
            self,
            tables=self.tables + other.tables,
            active=self.active + other.active,
            scores=self.scores + other.scores,
            log_beta=self.log_beta + other.log_beta,
            n_documents=self.n_documents + other.n_documents,
            shapes=None if self.shapes is None else self.shapes + other.shapes,
        )

    @property
    def parts(self) -> tuple[AugmentedScores, ...]:
        """The sums of each class, if they are by class."""
        return tuple(self._part(c, self.class_of_level == c) for c in range(len(self.tables)))

    def _part(self, c: int, at: Any) -> AugmentedScores:
        return AugmentedScores(
            self.tables[c], self.active[at], self.scores[c], float(self.log_beta[c]),
            int(self.n_documents[c]), self.exposure_levels[at],
        )  # fmt: skip


def bounded(values: Any) -> Array:
    """Keep an estimate between 1e-6 and 1e4."""
    return np.clip(np.asarray(values, dtype=np.float64), _SMALLEST, _LARGEST)


# ---- from expected logarithms (variational M-steps) ----


def inverse_digamma(y: Array) -> Array:
    """Solve psi(x) = y by Newton's method (Minka, 2000)."""
    y = np.asarray(y, dtype=np.float64)
    x = np.where(y >= -2.22, np.exp(np.minimum(y, 700.0)) + 0.5, -1.0 / (y - digamma(1.0)))
    for _ in range(6):
        x = np.maximum(x - (digamma(x) - y) / polygamma(1, x), 1e-300)
    return np.asarray(x)


def dirichlet(mean_logs: Array, start: Array, group_of_entry: Array | None = None) -> Array:
    """Maximum likelihood of Dirichlet parameters given the mean of log proportions.

    Solves psi(alpha_k) - psi(A) = mean_logs_k by Newton's method; with ``group_of_entry`` (K,) int
    there is one Dirichlet per group. The parameter of a group of one entry stays as it is, because
    the proportion is 1 in any case.
    """
    groups = np.zeros(len(start), dtype=np.intp) if group_of_entry is None else group_of_entry
    several = np.bincount(groups) > 1
    alpha = bounded(start)
    for _ in range(50):
        totals = np.bincount(groups, weights=alpha)
        # fast, as the Hessian is diagonal plus rank one in each group (Minka, 2000)
        slope = digamma(totals)[groups] - digamma(alpha) + mean_logs
        curvature = -polygamma(1, alpha)
        shared = polygamma(1, totals)
        numerator = np.bincount(groups, weights=slope / curvature)
        spread = 1.0 / shared + np.bincount(groups, weights=1.0 / curvature)
        shift = np.where(several, numerator / np.where(several, spread, 1.0), 0.0)
        new = alpha - (slope - shift[groups]) / curvature
        safe = inverse_digamma(digamma(totals)[groups] + mean_logs)  # slower, but always ascends
        bad = ~(np.isfinite(new) & (new > 0.1 * alpha) & (new < 10.0 * alpha))
        new = bounded(np.where(np.bincount(groups, weights=bad)[groups] > 0, safe, new))
        if np.all(np.abs(new - alpha) <= 1e-10 * alpha):
            return new
        alpha = new
    return alpha


def seeded_dirichlet(
    mean_logs: Array, start: Array, group_of_entry: Array, seed_totals: Array,
    seeded: Array, tokens: Array,
) -> Array:  # fmt: skip
    """Raise the likelihood of the gamma of Dirichlet(gamma + seeds) draws, given mean logs (J,).

    Each step bounds log Gamma(Gamma_g + S_gk) by its tangent and solves, for every j,
    sum_k psi(gamma_j + s_jk) = sum_k psi(Gamma_g + S_gk) + sum_k E[log theta_jk].

    Parameters
    ----------
    start, group_of_entry : (J,) arrays
    seed_totals : (G, K) array
        Tokens of the seeds in each group and draw.
    seeded, tokens : (n,) arrays
        Entry j of each seed, and its tokens s_jk.
    """
    gamma, n_draws = bounded(start), seed_totals.shape[1]
    rows, place = np.unique(seeded, return_inverse=True)
    plain = n_draws - np.bincount(place)
    for _ in range(SEEDED_STEPS):
        totals = np.bincount(group_of_entry, gamma, len(seed_totals))
        shared = digamma(totals[:, None] + seed_totals).mean(axis=1)
        wanted = shared[group_of_entry] + mean_logs
        new = bounded(inverse_digamma(wanted))
        low, high = np.full((2, len(rows)), [[np.log(_SMALLEST)], [np.log(_LARGEST)]])
        for _ in range(60):  # bisection, for the few words that have seeds
            middle = np.exp(0.5 * (low + high))
            found = plain * digamma(middle)
            found += np.bincount(place, digamma(middle[place] + tokens))
            above = found > n_draws * wanted[rows]
            low, high = np.where(above, low, np.log(middle)), np.where(above, np.log(middle), high)
        new[rows] = np.exp(0.5 * (low + high))
        gamma, last = new, gamma
        if np.all(np.abs(gamma - last) <= 1e-8 * last):
            break
    return gamma


def symmetric_dirichlet(
    sum_of_logs: float,
    group_sizes: Array,
    n_draws: int,
    seeds: tuple[Array, Array] | None = None,
) -> float:
    """Maximum likelihood of the one parameter of symmetric Dirichlets, given sums of logs.

    Parameters
    ----------
    sum_of_logs : sum of log proportions over all entries of all draws
    group_sizes : (G,) number of entries of each Dirichlet
    n_draws : number of draws from each Dirichlet
    seeds : tokens that are added to the parameters, optional
        Those of each group and draw, (G, K), and of each entry and draw that has some, (n,).
    """

    def slope(log_gamma: float) -> float:
        gamma = np.exp(log_gamma)
        terms = group_sizes * (digamma(group_sizes * gamma) - digamma(gamma))
        result = float(n_draws * terms.sum() + sum_of_logs)
        if seeds is None:
            return result
        totals, tokens = seeds
        before = (group_sizes * gamma)[:, None]
        more = group_sizes[:, None] * (digamma(before + totals) - digamma(before))
        return float(result + more.sum() - (digamma(gamma + tokens) - digamma(gamma)).sum())

    from scipy.optimize import brentq  # slow to import, and needed for this alone

    low, high = np.log(_SMALLEST), np.log(_LARGEST)
    if slope(low) <= 0.0:
        return _SMALLEST
    if slope(high) >= 0.0:
        return _LARGEST
    return float(np.exp(brentq(slope, low, high, xtol=1e-12)))


def gamma_shape(log_mean_less_mean_log: Array) -> Array:
    """Maximum likelihood shape of a gamma distribution: solve log a - psi(a) = s."""
    s = np.maximum(np.asarray(log_mean_less_mean_log, dtype=np.float64), 1e-12)
    a = bounded(0.5 / s)
    for _ in range(30):
        slope = a**2 * (1.0 / a - polygamma(1, a))
        new = 1.0 / (1.0 / a + (-s + np.log(a) - digamma(a)) / slope)
        new = bounded(np.where(np.isfinite(new) & (new > 0), new, a))
        if np.all(np.abs(new - a) <= 1e-13 * a):
            return new
        a = new
    return a


# ---- from counts ----


def expected_tables(counts: Array, concentration: Array) -> Array:
    """Mean of CRT(c, a): a (psi(c + a) - psi(a))."""
    return np.asarray(concentration * (digamma(counts + concentration) - digamma(concentration)))
