# SPDX-License-Identifier: BSD-3-Clause
"""Classes of documents: the prior of the scores depends on the class of a document (theory 5.7).

Every class has a prior of its own, of one model: party, population, author, year. A class is a part
of the level of a document, as its exposure is, so the score table has a row per class and exposure.
Class 0 is that of documents whose class is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from discan.data.corpus import Corpus
from discan.models.base import Model, ScoreTable
from discan.models.hyperparameters import AugmentedScores, Hyperprior, Mode
from discan.typing import Array

__all__ = ["ClassSums", "Classed"]


@dataclass(frozen=True)
class ClassSums:
    """Sums over the documents of each class, class 0 first."""

    parts: tuple[Any, ...]

    def __add__(self, other: ClassSums) -> ClassSums:
        """Add the sums of two sets of documents."""
        return ClassSums(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True)
class Classed(Model):
    """One model with other hyperparameters for each class of documents.

    Attributes
    ----------
    models : (C + 1,) tuple of Model
        All of one kind. The first is the prior of documents of unknown class: learnt from those
        that the training data have, else the mean of the classes, weighted by their documents.
    names : (C,) tuple of str
        Names of the classes 1 to C.
    """

    models: tuple[Any, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, model: Model, names: tuple[str, ...]) -> Classed:
        """Give every class the same prior."""
        return cls((model,) * (len(names) + 1), names)

    # ---- what kind of model it is ----

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the model of each class."""
        return str(self.models[0].name)

    @property
    def short(self) -> str:  # type: ignore[override]
        """Its short name."""
        return str(self.models[0].short)

    @property
    def normalised(self) -> bool:  # type: ignore[override]
        """Whether a document's scores sum to one."""
        return bool(self.models[0].normalised)

    @property
    def hyperprior(self) -> Hyperprior:  # type: ignore[override]
        """Priors of the hyperparameters; those of all classes are the same."""
        prior: Hyperprior = self.models[0].hyperprior
        return prior

    @property
    def hyperparameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of all vectors (K,): "alpha" of unknown classes, "alpha.1" of the first, ..."""
        return tuple(self.values())

    @property
    def alpha(self) -> Array:
        """Alpha of documents of unknown class, (K,)."""
        return np.asarray(self.models[0].alpha)

    def values(self) -> dict[str, Array]:
        """Return the hyperparameters of all classes by name."""
        return {
            f"{name}.{c}" if c else name: getattr(model, name)
            for c, model in enumerate(self.models)
            for name in model.hyperparameters
        }

    def by_class(self, name: str) -> Array | None:
        """Return a hyperparameter of the named classes, (C, K); None if there is no such one."""
        if name not in self.models[0].hyperparameters:
            return None
        return np.array([getattr(model, name) for model in self.models[1:]])

    def replaced(self, values: Mapping[str, Array]) -> Classed:
        """Return the model with other hyperparameters, by name."""
        return self._each(lambda c, model: model.replaced(_of_class(values, c)))

    def prepare(self, n_components: int, corpus: Corpus | None = None) -> Self:
        """Prepare the model of each class."""
        return self._each(lambda c, model: model.prepare(n_components, corpus))

    def with_values(self, values: Mapping[str, Array], n_components: int, flat: bool) -> Self:
        """Return the model with hyperparameters from a file, checked as those of a user are."""
        return self._each(
            lambda c, model: model.with_values(_of_class(values, c), n_components, flat)
        )

    def permuted(self, order: Array) -> Self:
        """Return the model with the components in another order (K,)."""
        return self._each(lambda c, model: model.permuted(order))

    def _each(self, change: Callable[[int, Any], Model]) -> Self:
        return replace(self, models=tuple(change(c, m) for c, m in enumerate(self.models)))

    # ---- levels and documents ----

    @property
    def n_classes(self) -> int:
        """Number of classes, C + 1: with that of documents of unknown class."""
        return len(self.models)

    def class_of_level(self, levels: Array) -> Array:
        """Class of each level, (T,): levels are exposures (T,), or exposures and classes (T, 2)."""
        if levels.ndim == 1:
            return np.zeros(len(levels), dtype=np.int64)
        return np.asarray(levels[:, 1].astype(np.int64))

    def score_table(self, exposure: Array) -> ScoreTable:
        """Score table of all classes, a row per level."""
        levels = np.asarray(exposure)
        classes, exposures = self.class_of_level(levels), self.exposure_of_level(levels)
        parts = [np.empty((len(levels), len(self.alpha))) for _ in ScoreTable._fields]
        for c in np.unique(classes).tolist():
            rows = classes == c
            for part, values in zip(
                parts, self.models[c].score_table(exposures[rows]), strict=True
            ):
                part[rows] = values
        return ScoreTable(*parts)

    def log_constants(self, corpus: Corpus) -> Array:
        """Constant of log F(c) of each document, (I,)."""
        result = np.empty(corpus.n_documents)
        classes = self.class_of_level(corpus.exposure_levels)[corpus.levels]
        for c in np.unique(classes).tolist():
            rows = classes == c
            result[rows] = self.models[c].log_constant(corpus.lengths[rows])
        return result

    def total_log_constant(self, corpus: Corpus) -> float:
        """Sum of the constants over all documents."""
        pairs, n_documents = corpus.class_length_table
        total = 0.0
        for c in np.unique(pairs[:, 0]).astype(np.int64).tolist():
            rows = pairs[:, 0] == c
            constants = self.models[c].log_constant(pairs[rows, 1])
            total += float((n_documents[rows] * constants).sum())
        return total

    # ---- what does not depend on the class, or is of an unknown one ----

    def default(self, name: str, n_components: int, corpus: Corpus | None) -> Array | float:
        """Value of a hyperparameter that was not given."""
        value: Array | float = self.models[0].default(name, n_components, corpus)
        return value

    def log_constant(self, length: Array) -> Array:
        """Constant of log F(c) of documents of unknown class."""
        return np.asarray(self.models[0].log_constant(length))

    def log_peak_constant(self, length: Array) -> Array:
        """Terms of the MAP objective of documents of unknown class."""
        return np.asarray(self.models[0].log_peak_constant(length))

    def log_bag(self, corpus: Corpus) -> Array:
        """Log of the number of orderings of a document's tokens, (I,)."""
        return np.asarray(self.models[0].log_bag(corpus))

    def log_total(self, score_total: Array, length: Array, exposure: Array) -> Array:
        """Log p(w | l, Theta) - sum_j w_j log (Theta l)_j, up to ``log_bag``, (I,)."""
        return np.asarray(self.models[0].log_total(score_total, length, exposure))

    def can_be_absent(self, learn: frozenset[str]) -> bool:
        """Whether a score can be exactly zero."""
        return any(model.can_be_absent(learn) for model in self.models)

    def flat(self) -> Model | None:
        """The model of one class without its prior."""
        flat: Model | None = self.models[0].flat()
        return flat

    def relaxed(self) -> Model:
        """The nearest model without classes that has a point estimate."""
        relaxed: Model = self.models[0].relaxed()
        return relaxed

    # ---- learning ----

    def sums_by_class(self, sums: AugmentedScores) -> AugmentedScores:
        """Return the sums of all classes."""
        return sums

    def sums_of(self, parts: list[Any]) -> ClassSums:
        """Return the sums over the documents of each class."""
        return ClassSums(tuple(parts))

    def maximise(self, learn: frozenset[str], sums: Any) -> Classed:
        """M-step of the hyperparameters of each class."""
        return self._learnt(sums, lambda model, part: model.maximise(learn, part))

    def resample(
        self, learn: frozenset[str], sums: Any, prior: Hyperprior, rng: Generator | Mode
    ) -> Classed:
        """Exact draw of the hyperparameters of each class given its documents."""
        return self._learnt(sums, lambda model, part: model.resample(learn, part, prior, rng))

    def _learnt(self, sums: Any, learn: Callable[[Any, Any], Any]) -> Classed:
        """Learn the prior of each class that has documents; that of the others is their mean."""
        parts = sums.parts
        sizes = np.array([part.n_documents for part in parts], dtype=np.float64)
        models = [
            learn(model, part) if size else model
            for model, part, size in zip(self.models, parts, sizes, strict=True)
        ]
        shares = sizes / max(sizes.sum(), 1.0)
        mean = {
            name: sum(s * getattr(m, name) for s, m in zip(shares, models, strict=True))
            for name in models[0].hyperparameters
        }
        known = zip(models, sizes, strict=True)
        return replace(self, models=tuple(m if size else m.replaced(mean) for m, size in known))


def _of_class(values: Mapping[str, Array], c: int) -> dict[str, Array]:
    """Return the hyperparameters of one class, by their plain names."""
    found = {}
    for name, value in values.items():
        plain, _, number = name.partition(".")
        if int(number or 0) == c:
            found[plain] = value
    return found
