# SPDX-License-Identifier: BSD-3-Clause
"""Two levels: the shapes of a document's scores are a mix of parents, which have scores themselves.

    parent scores  h_r ~ Gamma(parent_alpha_r, rate parent_beta_r)
    shapes         s_k = sum_r Phi_kr h_r,   columns Phi_r ~ Dirichlet(parent_gamma)
    scores         l_k ~ Gamma(s_k, rate beta), or proportions m ~ Dirichlet(s)

Given its parent scores, a document has a score table of its own. Given the tables t of a Chinese
restaurant (CRT), the parents are a Gamma-Poisson model of t with loadings Phi (theory 13.1).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.errors import InputError
from discan.models.base import MODELS, Model, ScoreTable
from discan.models.dirichlet_multinomial import DirichletMultinomial
from discan.models.gamma_poisson import GammaPoisson
from discan.models.hyperparameters import AugmentedScores, Hyperprior, Mode, bounded
from discan.models.loadings import LoadingsPrior
from discan.typing import Array
from discan.validation import LARGEST, LEAST, POSITIVE, vector, whole

# Times the number of components: more parents than these could not be told apart.
MOST_PARENTS = 10

__all__ = [
    "LevelSums", "TwoLevelDirichletMultinomial", "TwoLevelGammaPoisson", "TwoLevels",
    "with_parents",
]  # fmt: skip

ROUNDING = 1e-6  # how far from 1 the sum of a parent's loadings may be


@dataclass(frozen=True)
class LevelSums(AugmentedScores):
    """Sums of auxiliary draws over documents, at both levels (theory 13.2).

    The inherited sums are of the parents: ``tables`` (R,), ``active`` (T, 1) documents by exposure
    level, ``scores`` (R,). ``exposures`` (I,) are drawn exposures of the parents, ``child_scores``
    the sum of all scores. The Dirichlet of Phi has ``loading_tables`` (K,) and
    ``loading_log_beta`` (1,).
    """

    exposures: Array
    child_scores: float
    loading_tables: Array
    loading_log_beta: Array

    def __add__(self, other: AugmentedScores) -> Self:
        """Add the sums of two sets of documents."""
        assert isinstance(other, LevelSums)
        both = super().__add__(other)
        return replace(
            both,
            exposures=np.concatenate([self.exposures, other.exposures]),
            child_scores=self.child_scores + other.child_scores,
            loading_tables=self.loading_tables + other.loading_tables,
            loading_log_beta=self.loading_log_beta + other.loading_log_beta,
        )


@dataclass(frozen=True)
class TwoLevels(Model):
    """What the models with parents have in common.

    Attributes
    ----------
    n_parents : int
        R; by default the square root of the number of components, rounded.
    parents : (K, R) array
        Phi, the loadings of the parents over the components; columns sum to one.
    parent_alpha, parent_beta : (R,) arrays
        Shape and rate of the parents' scores.
    parent_gamma : (1,) array
        Dirichlet prior of the parents' loadings.
    alpha : (K,) array
        Prior mean of the shapes, which follows from the others. A number that is given sets the
        rate of the parents.
    """

    alpha: Any = None
    n_parents: Any = None
    parents: Any = None
    parent_alpha: Any = None
    parent_beta: Any = None
    parent_gamma: Any = None

    levels: ClassVar[int] = 2
    one_level: ClassVar[type[Model]]  # the same model without parents

    @property
    def axes(self) -> dict[str, tuple[int | str | None, ...]]:
        """Sizes of every array of the model, by name."""
        return {
            **super().axes, "parents": ("K", None), "parent_alpha": (None,),
            "parent_beta": (None,), "parent_gamma": (1,),
        }  # fmt: skip

    # ---- hyperparameters ----

    def prepare(self, n_components: int, corpus: Corpus | None = None) -> Self:
        """Set defaults and check all; parents that are not given load evenly on all components."""
        if np.ndim(self.alpha) > 0:
            raise InputError(
                "with parents, alpha follows from them; give one number, their mean, or leave it "
                "out"
            )
        n = self.n_parents
        given = max(1, round(np.sqrt(n_components)))
        if n is not None:
            given = whole("n_parents", n, 1, MOST_PARENTS * n_components)
        first = self.one_level(alpha=self.alpha).default("alpha", n_components, corpus)  # type: ignore[call-arg]
        mean = first if self.alpha is None else self.alpha
        total = n_components * float(
            vector("alpha", mean, 1, "components", POSITIVE, LEAST, LARGEST)
        )
        shape = self._parameter("parent_alpha", min(0.5, 5.0 / given), given)
        rate = self._parameter("parent_beta", float(shape.sum()) / total, given)
        parents = self.parents
        if parents is None:
            parents = np.full((n_components, given), 1.0 / n_components)
        model = replace(
            self, n_parents=given, parents=parents, parent_alpha=shape, parent_beta=rate,
            parent_gamma=self._parameter("parent_gamma", min(0.5, 5.0 / n_components), 1),
        )  # fmt: skip
        return model.with_mean()._prepared(n_components, corpus)

    def with_mean(self) -> Self:
        """Return the model with the alpha that follows from its parents."""
        return replace(self, alpha=self.parents @ (self.parent_alpha / self.parent_beta))

    def _parameter(self, name: str, default: float, size: int) -> Array:
        value = getattr(self, name)
        value = default if value is None else value
        given = vector(name, value, size, "parents", POSITIVE, LEAST, LARGEST)
        return np.broadcast_to(given, (size,)).copy()

    def _prepared(self, n_components: int, corpus: Corpus | None) -> Self:
        """Set and check what the model has beside its parents."""
        return self

    def with_values(self, values: Mapping[str, Array], n_components: int, flat: bool) -> Self:
        """Return the model with hyperparameters from a file, checked as those of a user are."""
        if flat:
            raise InputError("two levels have no maximum likelihood")
        parents = values["parents"]
        if parents.ndim != 2 or len(parents) != n_components or parents.shape[1] == 0:
            raise InputError(f"the parents have shape {parents.shape}")
        sums = parents.sum(axis=0)
        if not (np.abs(sums - 1.0) <= ROUNDING).all():
            raise InputError("the loadings of a parent do not sum to 1")
        given = {name: values[name] for name in self.axes if name != "alpha"}
        model = replace(self, alpha=None, n_parents=parents.shape[1], **given)
        return model.prepare(n_components)

    def permuted(self, order: Array) -> Self:
        """Return the model with the components in another order (K,)."""
        return replace(super().permuted(order), n_parents=self.n_parents)

    def with_parents_in(self, order: Array) -> Self:
        """Return the model with the parents in another order (R,)."""
        return replace(
            self, parents=self.parents[:, order], parent_alpha=self.parent_alpha[order],
            parent_beta=self.parent_beta[order],
        )  # fmt: skip

    def flat(self) -> None:
        """None: without their priors the two levels are one."""
        return None

    def relaxed(self) -> Model:
        """The same model with one level."""
        names = self.hyperparameters
        return self.one_level(**{name: getattr(self, name) for name in names})

    # ---- what the sampler needs ----

    @cached_property
    def parents_prior(self) -> LoadingsPrior:
        """Prior of the parents' loadings, which are those of K "words" in one group."""
        n_components = len(self.parents)
        layout = Layout(n_components, np.zeros(n_components, dtype=np.int32), 1)
        gamma = np.repeat(self.parent_gamma, n_components)
        return LoadingsPrior(gamma, layout, symmetric=True)

    @abstractmethod
    def parent_exposures(self, exposure: Array, drawn: Array) -> Array:
        """Exposure of the parents in documents of these exposures and drawn values, (n,)."""

    @abstractmethod
    def document_table(self, shape: Array, exposure: Array) -> ScoreTable:
        """Score table of documents with shapes (n, K), a row per document."""

    @abstractmethod
    def log_document_constant(self, total: Array, length: Array, exposure: Array) -> Array:
        """Log F(c) - sum_k log Gamma(c_k + s_k) / Gamma(s_k), given the sum of the shapes, (n,)."""

    @abstractmethod
    def empty_means(self, exposure: Array) -> tuple[Array, Array]:
        """Exact means of the scores (n, K) and parents' scores (n, R) of empty documents."""

    @abstractmethod
    def _exposed(self, sums: LevelSums) -> tuple[Array, Array]:
        """Number of documents (T, 1) at each of the parents' exposures (T,)."""

    def log_constant(self, length: Array) -> Array:
        """Zero: the constant depends on the parent scores, so it is among a document's terms."""
        return np.zeros(np.shape(length))

    def resample(
        self, learn: frozenset[str], sums: AugmentedScores, prior: Hyperprior, rng: Generator | Mode
    ) -> Self:
        """Draw beta given all scores, then the parents' hyperparameters as those of GP."""
        assert isinstance(sums, LevelSums)
        model = self._rate_drawn(learn, sums, prior, rng)
        if "alpha" not in learn:
            return model
        active, exposures = model._exposed(sums)
        upper = GammaPoisson(model.parent_alpha, model.parent_beta).resample(
            frozenset({"alpha", "beta"}),
            AugmentedScores(
                sums.tables, active, sums.scores, sums.log_beta, sums.n_documents, exposures
            ),
            prior,
            rng,
        )
        loadings = model.parents_prior.resample(
            sums.loading_tables, sums.loading_log_beta, prior.gamma, rng
        )
        return replace(
            model, parent_alpha=upper.alpha, parent_beta=upper.beta, parent_gamma=loadings.gamma[:1]
        ).with_mean()

    def _rate_drawn(
        self, learn: frozenset[str], sums: LevelSums, prior: Hyperprior, rng: Generator | Mode
    ) -> Self:
        """Draw the rate of the scores, if the model has one."""
        return self


@MODELS.register
@dataclass(frozen=True)
class TwoLevelDirichletMultinomial(TwoLevels, DirichletMultinomial):
    """Proportions m ~ Dirichlet(Phi h), parent scores h_r ~ Gamma; words as DM.

    These are gamma scores of one common rate, divided by their sum. Given u ~ Beta(sum_r h_r, L),
    the parents have exposure -log u.
    """

    name = "two-level-dirichlet-multinomial"
    short = "dm2"
    summary = "proportions, with parents of the components: --parents"
    one_level = DirichletMultinomial

    def parent_exposures(self, exposure: Array, drawn: Array) -> Array:
        """-log u, as drawn."""
        return np.asarray(drawn)

    def document_table(self, shape: Array, exposure: Array) -> ScoreTable:
        """Gamma(c + shape, 1) scores, which normalise to Dirichlet(c + shape)."""
        ones = np.ones_like(shape)
        return ScoreTable(shape, ones, ones)

    def log_document_constant(self, total: Array, length: Array, exposure: Array) -> Array:
        """Log Gamma(S) / Gamma(S + L)."""
        return np.asarray(gammaln(total) - gammaln(total + length))

    def empty_means(self, exposure: Array) -> tuple[Array, Array]:
        """Phi times the mean of h / sum h, by an integral over x of E[h exp(-x sum h)]."""
        from scipy.integrate import quad  # slow to import

        a, b = self.parent_alpha, self.parent_beta
        scale = float((a / b).sum())

        def term(v: float, r: int) -> float:  # x = v / (1 - v) / scale
            x = v / (1.0 - v) / scale
            log_term = -(a * np.log1p(x / b)).sum() - np.log(b[r] + x) - 2.0 * np.log1p(-v)
            return float(a[r] / scale * np.exp(log_term))

        shares = np.array([quad(term, 0.0, 1.0, (r,), limit=500)[0] for r in range(len(a))])
        rows = (len(exposure), 1)
        return np.tile(self.parents @ (shares / shares.sum()), rows), np.tile(a / b, rows)

    def _exposed(self, sums: LevelSums) -> tuple[Array, Array]:
        return np.ones((len(sums.exposures), 1)), sums.exposures


@MODELS.register
@dataclass(frozen=True)
class TwoLevelGammaPoisson(TwoLevels, GammaPoisson):
    """Scores l_k ~ Gamma((Phi h)_k, rate beta), parent scores h_r ~ Gamma; counts as GP.

    All components have one rate. The parents have exposure log(1 + E / beta).
    """

    name = "two-level-gamma-poisson"
    short = "gp2"
    summary = "amounts, with parents of the components: --parents"
    one_level = GammaPoisson

    def _prepared(self, n_components: int, corpus: Corpus | None) -> Self:
        """Set the rate, which makes the prior mean total the data's, and check that it is one."""
        rate = self.default("beta", n_components, corpus) if self.beta is None else self.beta
        given = vector("beta", rate, n_components, "components", POSITIVE, LEAST, LARGEST)
        if np.ptp(given) > 1e-9 * np.max(given):
            raise InputError("with parents, beta is one number for all components")
        return replace(self, beta=np.full(n_components, np.ravel(given)[0]))

    def parent_exposures(self, exposure: Array, drawn: Array) -> Array:
        """log(1 + E / beta)."""
        return np.asarray(np.log1p(exposure / self.beta[0]))

    def document_table(self, shape: Array, exposure: Array) -> ScoreTable:
        """Gamma(c + shape, beta + E)."""
        rate = np.broadcast_to((self.beta[0] + exposure)[:, None], shape.shape)
        return ScoreTable(shape, np.ascontiguousarray(rate), np.ones_like(shape))

    def log_document_constant(self, total: Array, length: Array, exposure: Array) -> Array:
        """S log beta - (S + L) log(beta + E)."""
        rate = self.beta[0]
        return np.asarray(total * np.log(rate) - (total + length) * np.log(rate + exposure))

    def empty_means(self, exposure: Array) -> tuple[Array, Array]:
        """Phi E[h] / (beta + E), E[h_r] = parent_alpha_r / (parent_beta_r + log(1 + E / beta))."""
        raised = self.parent_exposures(exposure, exposure)[:, None]
        means = self.parent_alpha / (self.parent_beta + raised)
        # not a product of matrices, whose roundings depend on how many documents there are
        shapes = (means[:, None, :] * self.parents).sum(axis=2)
        return shapes / (self.beta[0] + exposure)[:, None], means

    def _exposed(self, sums: LevelSums) -> tuple[Array, Array]:
        return sums.active, self.parent_exposures(sums.exposure_levels, sums.exposures)

    def _rate_drawn(
        self, learn: frozenset[str], sums: LevelSums, prior: Hyperprior, rng: Generator | Mode
    ) -> Self:
        """Beta given all scores and shapes; the shapes of a document sum to its parent scores."""
        if "beta" not in learn:
            return self
        shape, rate = prior.beta
        drawn = rng.gamma(shape + sums.scores.sum()) / max(rate + sums.child_scores, 1e-300)
        return replace(self, beta=np.full(len(self.beta), bounded(drawn)))


def with_parents(model: Model, n_parents: Any) -> Model:
    """Return the form of a model that has parents."""
    if isinstance(model, TwoLevels):
        return replace(model, n_parents=n_parents)
    for cls in MODELS:
        if issubclass(cls, TwoLevels) and cls.one_level is type(model):
            return cls(**{name: getattr(model, name) for name in model.hyperparameters},
                       n_parents=n_parents)  # fmt: skip
    known = tuple(cls.one_level.short for cls in MODELS if issubclass(cls, TwoLevels))
    raise InputError(f"the {model.name} model has no form with parents", use={"model": known})
