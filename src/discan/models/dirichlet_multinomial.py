# SPDX-License-Identifier: BSD-3-Clause
"""Dirichlet-multinomial: LDA, multinomial PCA; without its prior, PLSI."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, xlogy

from discan.data.corpus import Corpus
from discan.models.base import MODELS, Model, ScoreTable
from discan.models.hyperparameters import (
    AugmentedScores,
    ExpectedScores,
    Hyperprior,
    Mode,
    bounded,
    dirichlet,
)
from discan.typing import Array

__all__ = ["DirichletMultinomial"]


@MODELS.register
@dataclass(frozen=True)
class DirichletMultinomial(Model):
    """Proportions m ~ Dirichlet(alpha); in each group w ~ Multinomial(L_g, Theta m).

    The model is conditional on the group totals: a group without counts has no effect, and
    exposures are not used.

    Parameters
    ----------
    alpha : float or (K,) array, optional
        Parameter of the Dirichlet distribution, by default the smaller of 0.5 and 5/K.
    """

    alpha: Any = None

    name = "dirichlet-multinomial"
    short = "dm"
    summary = "proportions of each document, as in LDA, PLSI and multinomial PCA"
    hyperparameters: ClassVar[tuple[str, ...]] = ("alpha",)
    normalised = True

    def default(self, name: str, n_components: int, corpus: Corpus | None) -> Array | float:
        """Jeffreys' 1/2 for few components, 5/K for many."""
        return min(0.5, 5.0 / n_components)

    def score_table(self, exposure: Array) -> ScoreTable:
        """Gamma(c + alpha, 1) scores, which normalise to Dirichlet(c + alpha)."""
        shape = np.tile(self.alpha, (len(exposure), 1))
        return ScoreTable(shape, np.ones_like(shape), np.ones_like(shape))

    def log_constant(self, length: Array) -> Array:
        """Log Gamma(A) / Gamma(A + L) / prod_k Gamma(alpha_k)."""
        total = np.sum(self.alpha)
        return np.asarray(gammaln(total) - gammaln(total + length) - gammaln(self.alpha).sum())

    def log_peak_constant(self, length: Array) -> Array:
        """Normalise scores that sum to A + L."""
        total = np.sum(self.alpha) + length
        return np.asarray(-xlogy(total, total))

    def log_bag(self, corpus: Corpus) -> Array:
        """prod_g L_g! / prod_j w_j!, in logs."""
        return np.asarray(corpus.log_group_factorials - corpus.log_count_factorials)

    def log_total(self, score_total: Array, length: Array, exposure: Array) -> Array:
        """Normalise the scores."""
        return np.asarray(-xlogy(length, score_total))

    def flat(self) -> DirichletMultinomial | None:
        """PLSI."""
        return replace(self, alpha=np.zeros_like(self.alpha))

    def maximise(self, learn: frozenset[str], sums: ExpectedScores) -> DirichletMultinomial:
        """Solve psi(alpha_k) - psi(A) = mean of E[log m_k]."""
        if "alpha" not in learn:
            return self
        return replace(self, alpha=dirichlet(sums.log_scores / sums.n_documents, self.alpha))

    def resample(
        self, learn: frozenset[str], sums: AugmentedScores, prior: Hyperprior, rng: Generator | Mode
    ) -> DirichletMultinomial:
        """alpha_k ~ Gamma(h + tables, r - sum log u)."""
        if "alpha" not in learn:
            return self
        shape, rate = prior.alpha
        return replace(
            self, alpha=bounded(rng.gamma(shape + sums.tables) / max(rate - sums.log_beta, 1e-300))
        )
