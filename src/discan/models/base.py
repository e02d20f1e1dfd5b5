# SPDX-License-Identifier: BSD-3-Clause
"""What a model must define, and what follows from it.

A model gives a **score table**: shape, rate and presence of each component at a given total
exposure. Every algorithm uses only this table. With a constant that depends on the model,

    log F(c) = constant + sum_k [ log Gamma(c_k + shape_k) - (c_k + shape_k) log rate_k
                                  - 1(c_k = 0) log present_k ],

the log probability of the component counts of a document, scores integrated out (theory 2.4).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from discan.data.corpus import Corpus
from discan.errors import DiscanError, InputError, LimitError
from discan.models.hyperparameters import (
    AugmentedScores,
    ExpectedScores,
    Hyperprior,
    Mode,
)
from discan.registry import Registry
from discan.typing import Array
from discan.validation import LARGEST, LEAST, POSITIVE, vector

__all__ = ["MODELS", "Model", "ScoreMoments", "ScoreTable", "proportions", "score_totals"]


_MOST_COMPONENTS = 10_000_000


class ScoreTable(NamedTuple):
    """Shape, rate and P(l > 0 given c = 0) of the scores, each (T, K), a row per exposure level.

    The table holds the probability of presence and not that of absence: 1 - P(absence) would lose
    small probabilities of presence to rounding.
    """

    shape: Array
    rate: Array
    present: Array

    def rows(self, levels: Array) -> ScoreTable:
        """Rows of documents at these levels (I,); a single row if there is only one level."""
        if len(self.shape) == 1:
            return self
        return ScoreTable(self.shape[levels], self.rate[levels], self.present[levels])


class ScoreMoments(NamedTuple):
    """Posterior mean and mean square of the scores, and P(l = 0), each (I, K)."""

    mean: Array
    square: Array
    absent: Array


class Model(ABC):
    """A prior of the scores.

    Class attributes: ``name`` and ``short`` name; ``hyperparameters``, the fields that can be given
    and learnt; ``normalised``, whether a document's scores sum to one (totals are conditioned on);
    ``levels``, 2 if the components have parents (``models.levels``); ``drawn_alone``, the
    hyperparameters that only a sampler can learn.
    """

    name: ClassVar[str]
    short: ClassVar[str]
    hyperparameters: ClassVar[tuple[str, ...]]
    normalised: ClassVar[bool]
    hyperprior: ClassVar[Hyperprior] = Hyperprior()
    levels: ClassVar[int] = 1
    drawn_alone: ClassVar[frozenset[str]] = frozenset()
    alpha: Any  # a number, a (K,) array or None; always an array once prepared

    # ---- what each model defines ----

    @abstractmethod
    def default(self, name: str, n_components: int, corpus: Corpus | None) -> Array | float:
        """Value of a hyperparameter that was not given; earlier ones are already set."""

    @abstractmethod
    def score_table(self, exposure: Array) -> ScoreTable:
        """Score table of the prior, a row per exposure (T,)."""

    @abstractmethod
    def log_constant(self, length: Array) -> Array:
        """Constant of log F(c) for documents of these lengths (I,)."""

    @abstractmethod
    def log_peak_constant(self, length: Array) -> Array:
        """Terms of the MAP objective that depend only on a document's total."""

    @abstractmethod
    def log_bag(self, corpus: Corpus) -> Array:
        """Log of the number of orderings of a document's tokens, and of its exposures, (I,)."""

    @abstractmethod
    def log_total(self, score_total: Array, length: Array, exposure: Array) -> Array:
        """Log p(w | l, Theta) - sum_j w_j log (Theta l)_j, up to ``log_bag``, (I,)."""

    @abstractmethod
    def flat(self) -> Model | None:
        """The same model without its prior, for maximum likelihood; None if there is none."""

    @abstractmethod
    def maximise(self, learn: frozenset[str], sums: ExpectedScores) -> Model:
        """M-step of the hyperparameters under the variational posterior (theory 5.1)."""

    @abstractmethod
    def resample(
        self, learn: frozenset[str], sums: AugmentedScores, prior: Hyperprior, rng: Generator | Mode
    ) -> Model:
        """Exact draw of the hyperparameters given the auxiliary draws (theory 5.3)."""

    # ---- what follows ----

    @property
    def axes(self) -> dict[str, tuple[int | str | None, ...]]:
        """Sizes of every array of the model, by name; "K" is the number of components."""
        return {name: ("K",) for name in self.hyperparameters}

    def total_log_bag(self, corpus: Corpus) -> float:
        """Sum of ``log_bag`` over all documents; it does not depend on the hyperparameters."""
        return corpus.sum_over(self.log_bag, f"log bag, {self.name}")

    def learning_refusal(self, learn: frozenset[str]) -> DiscanError | None:
        """Return why a sampler cannot learn these hyperparameters; None if it can."""
        return None

    def hyperprior_refusal(self, prior: Hyperprior) -> DiscanError | None:
        """Return why the hyperparameters cannot have this prior; None if they can."""
        return None

    def fixed(self) -> Model:
        """The model with a fixed number of components and its present hyperparameters."""
        return self

    def log_constants(self, corpus: Corpus) -> Array:
        """Constant of log F(c) of each document, (I,)."""
        return self.log_constant(corpus.lengths)

    def total_log_constant(self, corpus: Corpus) -> float:
        """Sum of the constants of log F(c) over all documents."""
        return corpus.sum_by_length(self.log_constant)

    # classes of documents, of which there is one; see ``classes``

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return 1

    def class_of_level(self, levels: Array) -> Array:
        """Class of each level, (T,)."""
        return np.zeros(len(levels), dtype=np.int64)

    def exposure_of_level(self, levels: Array) -> Array:
        """Exposure of each level, (T,): the first column if levels have classes."""
        return levels if levels.ndim == 1 else levels[:, 0]

    def sums_by_class(self, sums: AugmentedScores) -> AugmentedScores:
        """Return the sums that ``resample`` takes: those of the one class there is."""
        return sums.parts[0]

    def sums_of(self, parts: list[Any]) -> Any:
        """Return the sums over documents of each class, in the form that learning takes."""
        return parts[0]

    def can_be_absent(self, learn: frozenset[str]) -> bool:
        """Whether a score can be exactly zero, now or after these hyperparameters are learnt."""
        return False

    def relaxed(self) -> Model:
        """The nearest model that has a point estimate, to start from."""
        return self

    def prepare(self, n_components: int, corpus: Corpus | None = None) -> Self:
        """Set defaults, check all hyperparameters, and make each a (K,) vector."""
        if n_components > _MOST_COMPONENTS:
            raise LimitError(
                f"{{}}; at most {_MOST_COMPONENTS:,} are possible",
                argument="n_components", value=n_components,
            )  # fmt: skip
        model = self
        for name in self.hyperparameters:
            value = getattr(model, name)
            if value is None:
                value = model.default(name, n_components, corpus)
            model = replace(model, **{name: _vector(name, value, n_components)})  # type: ignore[type-var]
        return model

    def with_values(self, values: Mapping[str, Array], n_components: int, flat: bool) -> Self:
        """Return the model with hyperparameters from a file, checked as those of a user are.

        ``flat`` tells that the model has no prior: all must be 0, as maximum likelihood has them.
        """
        given = {name: values[name] for name in self.hyperparameters}
        if not flat:
            return replace(self, **given).prepare(n_components)  # type: ignore[type-var]
        for name, value in given.items():
            if value.shape != (n_components,) or value.any():
                raise InputError(f"{name} must be {n_components} zeros for maximum likelihood")
        return replace(self, **given)  # type: ignore[type-var]

    def values(self) -> dict[str, Array]:
        """Return all arrays of the model by name, the hyperparameters first."""
        return {name: getattr(self, name) for name in self.axes}

    def replaced(self, values: Mapping[str, Array]) -> Model:
        """Return the model with other hyperparameters, by name."""
        return replace(self, **values)  # type: ignore[type-var]

    def permuted(self, order: Array) -> Self:
        """Return the model with the components in another order (K,)."""
        values = {
            name: value[order] for name, value in self.values().items() if self.axes[name][0] == "K"
        }
        return replace(self, **values)  # type: ignore[type-var]

    def log_marginal(self, component_counts: Array, exposure: Array) -> Array:
        """Log F(c) of documents with component counts (I, K) and total exposures (I,)."""
        table = self.score_table(exposure)
        a = component_counts + table.shape
        terms = gammaln(a) - a * np.log(table.rate)
        terms -= np.where(component_counts == 0, np.log(table.present), 0.0)
        return np.asarray(self.log_constant(component_counts.sum(axis=1)) + terms.sum(axis=1))

    def moments(self, component_counts: Array, rows: ScoreTable) -> ScoreMoments:
        """Posterior moments of the scores given component counts (I, K) (theory 3)."""
        absent = np.where(component_counts == 0, 1.0 - rows.present, 0.0)
        return self.moments_of(component_counts + rows.shape, rows, absent)

    def mixed_moments(self, mean_counts: Array, rows: ScoreTable, absent: Array) -> ScoreMoments:
        """Means of the scores given means of c and of absence: (E[c] + shape (1 - P0)) / rate.

        A component in use is never absent, so absence removes only the prior's part (theory 3).
        Second moments cannot be computed from means: they are NaN.
        """
        mean = (mean_counts + rows.shape * (1.0 - absent)) / rows.rate
        if self.normalised:
            mean = mean / mean.sum(axis=1, keepdims=True)
        return ScoreMoments(mean, np.full_like(mean, np.nan), absent)

    def moments_of(self, score_shape: Array, rows: ScoreTable, absent: Array) -> ScoreMoments:
        """Moments of Gamma(score_shape, rate) scores, zero with probability ``absent`` (I, K)."""
        mean = score_shape / rows.rate * (1.0 - absent)
        square = mean * (score_shape + 1.0) / rows.rate
        if self.normalised:
            total = score_shape.sum(axis=1, keepdims=True)
            empty = total == 0.0  # without words and prior all components are equal
            mean = np.where(empty, 1.0 / mean.shape[1], mean / np.where(empty, 1.0, total))
            square = square / np.where(empty, 1.0, total * (total + 1.0))
        return ScoreMoments(mean, square, absent)


def score_totals(model: Model, rows: ScoreTable) -> Array | float:
    """Sum of the shapes of each document, (n,) by rows of the table; one number without classes."""
    if model.n_classes == 1:
        return float(np.sum(model.alpha))
    return np.asarray(rows.shape.sum(axis=1))


def proportions(scores: Array) -> Array:
    """Divide each row of scores (I, K) by its sum; a row of zeros becomes even."""
    totals = scores.sum(axis=1, keepdims=True)
    even = 1.0 / scores.shape[1]
    return np.where(totals > 0, scores / np.where(totals > 0, totals, 1.0), even)


def _vector(name: str, value: Any, n_components: int) -> Array:
    chance = name == "rho"
    wanted = "at least 0 and less than 1" if chance else POSITIVE
    low, high = (0.0, 1.0) if chance else (LEAST, LARGEST)
    given = vector(name, value, n_components, "components", wanted, low, high)
    return np.broadcast_to(given, (n_components,)).copy()


MODELS: Registry[Model] = Registry("model")
