# SPDX-License-Identifier: BSD-3-Clause
"""Conditional (sparse) Gamma-Poisson: a component may be absent from a document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from discan.data.corpus import Corpus
from discan.models.base import MODELS, ScoreTable
from discan.models.gamma_poisson import GammaPoisson
from discan.models.hyperparameters import AugmentedScores, ExpectedScores, Hyperprior, Mode
from discan.typing import Array

__all__ = ["ConditionalGammaPoisson"]


@MODELS.register
@dataclass(frozen=True)
class ConditionalGammaPoisson(GammaPoisson):
    """Scores l_k = 0 with probability rho_k, else Gamma(alpha_k, rate beta_k); counts as GP.

    Parameters
    ----------
    alpha, beta : float or (K,) array, optional
        As for ``GammaPoisson``.
    rho : float or (K,) array, optional
        Probability that a component is absent, by default 0.5.
    """

    rho: Any = None

    name = "conditional-gamma-poisson"
    short = "cgp"
    summary = "amounts that may be exactly zero"
    hyperparameters: ClassVar[tuple[str, ...]] = ("alpha", "rho", "beta")
    # a small alpha and a large rho explain the same zeros: keep alpha away from 0
    hyperprior = Hyperprior(alpha=(2.0, 2.0))

    def default(self, name: str, n_components: int, corpus: Corpus | None) -> Array | float:
        """Half the components are absent; beta is smaller by the same factor."""
        if name == "rho":
            return 0.5
        value = super().default(name, n_components, corpus)
        return value if name == "alpha" else value * float(np.mean(1.0 - np.asarray(self.rho)))

    def score_table(self, exposure: Array) -> ScoreTable:
        """As GP; absent given c = 0 with odds rho to (1 - rho) (beta / (beta + E))^alpha."""
        shape, rate, _ = super().score_table(exposure)
        log_slab = np.log1p(-self.rho) + shape * np.log(self.beta / rate)
        with np.errstate(divide="ignore"):
            log_spike = np.log(self.rho)
        present = np.exp(log_slab - np.logaddexp(log_spike, log_slab))
        return ScoreTable(shape, rate, np.maximum(present, 1e-300))

    def log_constant(self, length: Array) -> Array:
        """As GP, times prod_k (1 - rho_k)."""
        return np.asarray(super().log_constant(length) + np.log1p(-self.rho).sum())

    def can_be_absent(self, learn: frozenset[str]) -> bool:
        """Whether a probability of absence is above zero or learnt."""
        return "rho" in learn or bool(np.any(np.asarray(self.rho) > 0))

    def flat(self) -> None:
        """None: without its prior this is not a model of its own."""
        return None

    def relaxed(self) -> GammaPoisson:
        """The same without absence."""
        return GammaPoisson(self.alpha, self.beta)

    def maximise(self, learn: frozenset[str], sums: ExpectedScores) -> Self:
        """rho_k is the mean probability of absence; alpha and beta as GP, weighted by presence."""
        model = super().maximise(learn, sums)
        if "rho" not in learn:
            return model
        return replace(model, rho=_inside(1.0 - sums.present / sums.n_documents))

    def resample(
        self, learn: frozenset[str], sums: AugmentedScores, prior: Hyperprior, rng: Generator | Mode
    ) -> Self:
        """rho_k ~ Beta(x + absent, y + present); alpha and beta as GP."""
        model = super().resample(learn, sums, prior, rng)
        if "rho" not in learn:
            return model
        active = sums.active.sum(axis=0)
        absent = sums.n_documents - active
        return replace(model, rho=_inside(rng.beta(prior.rho[0] + absent, prior.rho[1] + active)))


def _inside(rho: Array) -> Array:
    return np.clip(rho, 1e-6, 1.0 - 1e-6)
