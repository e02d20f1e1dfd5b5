# SPDX-License-Identifier: BSD-3-Clause
"""Gamma-Poisson (GaP); without its prior, non-negative matrix factorisation (KL)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.models.base import MODELS, Model, ScoreTable
from discan.models.hyperparameters import (
    AugmentedScores,
    ExpectedScores,
    Hyperprior,
    Mode,
    bounded,
    gamma_shape,
    inverse_digamma,
)
from discan.typing import Array

__all__ = ["GammaPoisson"]


# The largest shape that is learnt from expected scores: amounts then vary by a fifth of their mean.
MOST_SHAPE = 25.0


@MODELS.register
@dataclass(frozen=True)
class GammaPoisson(Model):
    """Scores l_k ~ Gamma(alpha_k, rate beta_k); counts w_j ~ Poisson(e_g(j) (Theta l)_j).

    A group of exposure 0 is missing; one of exposure 1 without counts was observed to be empty.

    Parameters
    ----------
    alpha, beta : float or (K,) array, optional
        Shape and rate of the scores. By default alpha is the smaller of 0.5 and 5/K, and beta makes
        the prior's mean document as long as the data's.
    """

    alpha: Any = None
    beta: Any = None

    name = "gamma-poisson"
    short = "gp"
    summary = "amounts in each document, as in GaP and NMF"
    hyperparameters: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    normalised = False

    def default(self, name: str, n_components: int, corpus: Corpus | None) -> Array | float:
        """Alpha as the Dirichlet-multinomial's; beta makes the prior mean total the data's."""
        if name == "alpha":
            return min(0.5, 5.0 / n_components)
        if corpus is None:
            raise InputError(f"a {self.name} model without data needs beta: give beta=...")
        # documents of exposure 0 have no tokens
        mean_total = float(corpus.n_tokens) / max(corpus.exposure_sum, 1e-300)
        return float(bounded(np.sum(self.alpha) / max(mean_total, 1e-6)))

    def score_table(self, exposure: Array) -> ScoreTable:
        """Gamma(c + alpha, beta + E)."""
        # a document that was not observed at all has no rate under maximum likelihood
        rate = np.maximum(self.beta + np.asarray(exposure)[:, None], 1e-300)
        return ScoreTable(np.broadcast_to(self.alpha, rate.shape).copy(), rate, np.ones_like(rate))

    def log_constant(self, length: Array) -> Array:
        """prod_k beta_k^alpha_k / Gamma(alpha_k), in logs."""
        constant = np.sum(self.alpha * np.log(self.beta) - gammaln(self.alpha))
        return np.full(np.shape(length), constant)

    def log_peak_constant(self, length: Array) -> Array:
        """-sum_k (beta_k + E) l_k, which is -(A + L) at every update."""
        return np.asarray(-(np.sum(self.alpha) + length))

    def log_bag(self, corpus: Corpus) -> Array:
        """prod_g e_g^L_g / prod_j w_j!, in logs."""
        return np.asarray(corpus.log_exposure_powers - corpus.log_count_factorials)

    def log_total(self, score_total: Array, length: Array, exposure: Array) -> Array:
        """Expected number of tokens, negated."""
        return np.asarray(-exposure * score_total)

    def flat(self) -> Self | None:
        """NMF with the Kullback-Leibler divergence."""
        return replace(self, alpha=np.zeros_like(self.alpha), beta=np.zeros_like(self.beta))

    def maximise(self, learn: frozenset[str], sums: ExpectedScores) -> Self:
        """Gamma maximum likelihood of the documents that have the component.

        The prior of alpha is flat up to ``MOST_SHAPE``, or up to its present value if that is more.
        Without a limit alpha runs away to thousands: scores that are drawn to their mean vary less,
        and so ask for a larger alpha in the next cycle.
        """
        alpha, beta = self.alpha, self.beta
        limit = np.maximum(MOST_SHAPE, alpha)
        present = np.maximum(sums.present, 1e-300)
        mean, mean_log = sums.scores / present, sums.log_scores / present
        if {"alpha", "beta"} <= learn:
            alpha = np.minimum(gamma_shape(np.log(mean) - mean_log), limit)
        elif "alpha" in learn:
            alpha = np.minimum(bounded(inverse_digamma(np.log(beta) + mean_log)), limit)
        if "beta" in learn:
            beta = bounded(alpha / mean)
        return replace(self, alpha=alpha, beta=beta)

    def resample(
        self, learn: frozenset[str], sums: AugmentedScores, prior: Hyperprior, rng: Generator | Mode
    ) -> Self:
        """Beta given the drawn scores, then alpha given the tables and the new beta."""
        alpha, beta = self.alpha, self.beta
        if "beta" in learn:
            shape, rate = prior.beta
            active = sums.active.sum(axis=0)
            beta = bounded(
                rng.gamma(shape + active * alpha) / np.maximum(rate + sums.scores, 1e-300)
            )
        if "alpha" in learn:
            shape, rate = prior.alpha
            exposed = np.log1p(sums.exposure_levels[:, None] / beta)
            rate = rate + (sums.active * exposed).sum(axis=0)
            alpha = bounded(rng.gamma(shape + sums.tables) / np.maximum(rate, 1e-300))
        return replace(self, alpha=alpha, beta=beta)
