# SPDX-License-Identifier: BSD-3-Clause
"""A fitted estimator: its attributes, and how it reads new documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.utils.validation import check_is_fitted

from discan.data.corpus import Corpus
from discan.engines.threads import Threads, n_threads
from discan.errors import InputError
from discan.estimators.input import check_layout, read_corpus
from discan.fitting.memory import enough_memory
from discan.fitting.result import Fit
from discan.models.base import proportions

__all__ = ["Fitted"]


class FromFit:
    """An attribute of an estimator that is read from its ``fit_``."""

    def __init__(self, read: Callable[[Fit], Any]) -> None:
        self.read = read

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the attribute's name."""
        self.name = name

    def __get__(self, estimator: Any, owner: type) -> Any:
        """Read the attribute; before a fit there is none."""
        if estimator is None:
            return self
        if "fit_" not in estimator.__dict__:
            raise AttributeError(f"this {owner.__name__} is not fitted, so it has no {self.name}")
        try:
            return self.read(estimator.fit_)
        except InputError as error:
            raise AttributeError(str(error)) from None


class Fitted:
    """Base of what a fitted estimator can do: attributes of its ``fit_``, documents, threads."""

    fit_: Fit
    groups: Any
    n_jobs: Any

    components_ = FromFit(lambda fit: fit.components)
    components_sd_ = FromFit(lambda fit: fit.known_sd("components"))
    component_counts_ = FromFit(lambda fit: fit.component_counts)
    component_counts_sd_ = FromFit(lambda fit: fit.known_sd("component_counts"))
    scores_ = FromFit(lambda fit: fit.scores)
    scores_sd_ = FromFit(lambda fit: fit.known_sd("scores"))
    proportions_ = FromFit(lambda fit: fit.proportions)
    absent_ = FromFit(lambda fit: fit.absent)
    parents_ = FromFit(lambda fit: fit.parents)
    parent_sizes_ = FromFit(lambda fit: fit.parent_sizes)
    parent_scores_ = FromFit(lambda fit: fit.known_parent_scores)
    parent_proportions_ = FromFit(lambda fit: proportions(fit.known_parent_scores))
    sizes_ = FromFit(lambda fit: fit.sizes)
    component_names_ = FromFit(lambda fit: fit.component_names)
    n_used_ = FromFit(lambda fit: fit.n_used)
    n_used_interval_ = FromFit(lambda fit: fit.n_used_interval)
    n_large_ = FromFit(lambda fit: fit.n_large)
    n_large_interval_ = FromFit(lambda fit: fit.n_large_interval)
    concentration_ = FromFit(lambda fit: fit.concentration)
    class_names_ = FromFit(lambda fit: fit.class_names)
    alpha_ = FromFit(lambda fit: fit.hyperparameter("alpha"))
    beta_ = FromFit(lambda fit: fit.hyperparameter("beta"))
    rho_ = FromFit(lambda fit: fit.hyperparameter("rho"))
    gamma_ = FromFit(lambda fit: fit.hyperparameter("gamma"))
    algorithm_ = FromFit(lambda fit: fit.algorithm)
    document_names_ = FromFit(lambda fit: fit.document_names)
    group_totals_ = FromFit(lambda fit: fit.group_totals)
    n_iter_ = FromFit(lambda fit: fit.n_cycles)
    trace_ = FromFit(lambda fit: fit.trace)
    converged_ = FromFit(lambda fit: fit.converged)
    stop_reason_ = FromFit(lambda fit: fit.reason)
    settings_ = FromFit(lambda fit: fit.settings)
    draws_ = FromFit(lambda fit: fit.draws)
    chains_ = FromFit(lambda fit: fit.chains)

    def _corpus(self, X: Any) -> Corpus:
        """Make a checked corpus of new documents."""
        check_is_fitted(self)
        corpus = read_corpus(self, X, self.groups, reset=False, fit=self.fit_)
        return check_layout(self, corpus, self.fit_.layout)

    @contextmanager
    def _threads(self) -> Iterator[Threads]:
        """Make threads for some work, and say it clearly if there is too little memory for it."""
        with enough_memory("this"), Threads(n_threads(self.n_jobs)) as engine:
            yield engine
