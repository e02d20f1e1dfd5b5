# SPDX-License-Identifier: BSD-3-Clause
"""No fixed number of components: truncated Dirichlet and gamma processes (theory 5.5).

Each model is one of the others with a prior of alpha under which most of many components are empty.
K is then an upper limit (the truncation), and the data decide how many components are used.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.random import Generator

from discan.data.corpus import Corpus
from discan.errors import DiscanError, InputError
from discan.models.base import MODELS, Model
from discan.models.conditional import ConditionalGammaPoisson
from discan.models.dirichlet_multinomial import DirichletMultinomial
from discan.models.gamma_poisson import GammaPoisson
from discan.models.hyperparameters import AugmentedScores, Hyperprior, Mode, bounded
from discan.typing import Array

__all__ = ["ConditionalGammaProcess", "DirichletProcess", "GammaProcess", "Process", "process_of"]

M = TypeVar("M", bound="Process")

# An unused component may have a tiny alpha; that of most of them is below any bound of estimates.
LEAST_SHAPE = 1e-30


@dataclass(frozen=True)
class Process(Model):
    """What the process models share: the concentration, which says how many components there are.

    It is one number; the field is a (K,) array of equal values, as every hyperparameter is.
    ``extends`` is the model with a fixed number of components.
    """

    concentration: Any = None

    drawn_alone = frozenset({"alpha", "concentration"})
    extends: ClassVar[type[Model]]

    def default(self, name: str, n_components: int, corpus: Corpus | None) -> Array | float:
        """The concentration begins at 1."""
        return 1.0 if name == "concentration" else super().default(name, n_components, corpus)  # type: ignore[safe-super]

    def relaxed(self) -> Any:
        """The model with a fixed number of components; without absence, if there can be any."""
        return self.fixed().relaxed()

    def fixed(self) -> Model:
        """The model with a fixed number of components and this alpha."""
        known = [field.name for field in fields(self.extends)]  # type: ignore[arg-type]
        return self.extends(**{name: getattr(self, name) for name in known})

    def learning_refusal(self, learn: frozenset[str]) -> DiscanError | None:
        """Refuse a concentration without alpha."""
        if "concentration" not in learn or "alpha" in learn:
            return None
        return InputError(
            "the concentration is learnt from alpha, so alpha must be learnt too",
            remedy="add alpha to what is learnt, or leave the concentration out",
        )


@MODELS.register
@dataclass(frozen=True)
class DirichletProcess(Process, DirichletMultinomial):
    """As the Dirichlet-multinomial, with alpha = a b: a ~ Gamma, b ~ Dirichlet(eta/K, ..., eta/K).

    With many components this is the hierarchical Dirichlet process of concentrations eta and a.
    """

    name = "dirichlet-process"
    short = "dmp"
    summary = "as dm; the number of components is learnt, up to the one given"
    hyperparameters: ClassVar[tuple[str, ...]] = ("alpha", "concentration")
    extends = DirichletMultinomial

    def resample(
        self, learn: frozenset[str], sums: AugmentedScores, prior: Hyperprior, rng: Generator | Mode
    ) -> Self:
        """Draw eta given the tables, b integrated out; then b ~ Dirichlet(eta/K + tables), and a.

        With u ~ Beta(eta, tables), the tables of the tables give eta ~ Gamma(h + those, r - log u).
        """
        if "alpha" not in learn:
            return self
        tables, eta = sums.tables, float(self.concentration[0])
        n_tables = tables.sum()
        if "concentration" in learn:
            eta = _concentration(eta, tables, _minus_log_beta(eta, n_tables, rng), prior, rng)
        shape, rate = prior.alpha
        logs = _log_gamma(eta / len(tables) + tables, rng)
        weights = np.exp(logs - logs.max())
        total = rng.gamma(shape + n_tables) / max(rate - sums.log_beta, 1e-300)
        return _with(self, total * weights / weights.sum(), eta)


@dataclass(frozen=True)
class _Amounts(Process):
    """The gamma process, for models of amounts: alpha_k ~ Gamma(eta/K, r).

    Beta is learnt as one number for all components. Otherwise unused ones would have a beta of
    their own, often far above that of the others, and with it an alpha that is much too large.
    """

    def hyperprior_refusal(self, prior: Hyperprior) -> DiscanError | None:
        """Refuse a rate of 0, with which the sum of alpha has no distribution."""
        if prior.alpha[1] > 0:
            return None
        return InputError(f"hyperprior alpha={prior.alpha}: the rate of a process must be above 0")

    def resample(
        self, learn: frozenset[str], sums: AugmentedScores, prior: Hyperprior, rng: Generator | Mode
    ) -> Self:
        """Rho as ever; one beta for all components; eta, alpha integrated out; then alpha.

        Beta comes before alpha, because it is drawn given the present one.
        """
        others = learn - self.drawn_alone - {"beta"}
        model = cast(Any, super().resample(others, sums, prior, rng))  # type: ignore[safe-super]
        if "beta" in learn:
            shape, rate = prior.beta
            present = (sums.active.sum(axis=0) * model.alpha).sum()
            beta = rng.gamma(shape + present) / max(rate + sums.scores.sum(), 1e-300)
            model = replace(model, beta=np.full(len(model.alpha), bounded(beta)))
        if "alpha" not in learn:
            return cast(Self, model)
        tables, eta = sums.tables, float(self.concentration[0])
        n_components, rate = len(tables), prior.alpha[1]
        spent = (sums.active * np.log1p(sums.exposure_levels[:, None] / model.beta)).sum(axis=0)
        if "concentration" in learn:
            eta = _concentration(eta, tables, np.log1p(spent / rate).mean(), prior, rng)
        alpha = np.exp(_log_gamma(eta / n_components + tables, rng)) / (rate + spent)
        return _with(cast(Self, model), alpha, eta)


@MODELS.register
@dataclass(frozen=True)
class GammaProcess(_Amounts, GammaPoisson):
    """As Gamma-Poisson, with alpha_k ~ Gamma(eta/K, r): a gamma process if K is large."""

    name = "gamma-process"
    short = "gpp"
    summary = "as gp; the number of components is learnt, up to the one given"
    hyperparameters: ClassVar[tuple[str, ...]] = ("alpha", "beta", "concentration")
    extends = GammaPoisson


@MODELS.register
@dataclass(frozen=True)
class ConditionalGammaProcess(_Amounts, ConditionalGammaPoisson):
    """As the conditional Gamma-Poisson, with alpha_k ~ Gamma(eta/K, r)."""

    name = "conditional-gamma-process"
    short = "cgpp"
    summary = "as cgp; the number of components is learnt, up to the one given"
    hyperparameters: ClassVar[tuple[str, ...]] = ("alpha", "rho", "beta", "concentration")
    extends = ConditionalGammaPoisson


def process_of(model: Model) -> Model:
    """Return the model with as many components as the data need."""
    if isinstance(model, Process):
        return model
    for cls in MODELS:
        if issubclass(cls, Process) and cls.extends is type(model):
            return cls(**{field.name: getattr(model, field.name) for field in fields(model)})  # type: ignore[arg-type]
    raise InputError(
        f"the {model.name} model needs a number of components", use={"n_components": ...}
    )


def _concentration(
    eta: float, tables: Array, log_spent: float, prior: Hyperprior, rng: Any
) -> float:
    """Draw eta given the tables (K,) of the components: each is that of a CRP of eta/K.

    The weights of the components are integrated out. What they leave is prod_k Gamma(eta/K + t_k) /
    Gamma(eta/K), whose auxiliary variables are tables of the tables, and exp(-eta log_spent).
    """
    shape, rate = prior.concentration
    share = eta / len(tables)
    # of the n-th tables of all components, each begins a new one with the same probability
    n_components = np.cumsum(np.bincount(tables)[::-1])[::-1][1:]
    n_new = rng.binomial(n_components, share / (share + np.arange(len(n_components)))).sum()
    return float(bounded(rng.gamma(shape + n_new) / max(rate + log_spent, 1e-300)))


def _minus_log_beta(a: float, b: float, rng: Any) -> float:
    """Draw -log of a Beta(a, b) variable, which may be too small for a number; 0 if b is 0."""
    if b == 0:
        return 0.0
    one, other = _log_gamma(np.array([a, b], dtype=np.float64), rng)
    return float(np.logaddexp(one, other) - one)


def _log_gamma(shape: Array, rng: Any) -> Array:
    """Draw logarithms of Gamma(shape, 1), which for tiny shapes are too small for numbers."""
    uniform = 1.0 - rng.random(len(shape))
    return np.asarray(np.log(rng.gamma(shape + 1.0)) + np.log(uniform) / shape)


def _with(model: M, alpha: Array, eta: float) -> M:
    """Return the model with another alpha (K,) and another concentration."""
    return replace(  # type: ignore[call-arg]
        model,
        alpha=np.clip(alpha, LEAST_SHAPE, bounded(np.inf)),
        concentration=np.full(len(alpha), eta),
    )
