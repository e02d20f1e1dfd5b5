# SPDX-License-Identifier: BSD-3-Clause
"""Make a task of an estimator's arguments: model, algorithm, priors, what to learn."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from discan.algorithms import Algorithm, choose
from discan.algorithms.auto import learnt_by_default
from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.estimators.counting import check_counting, is_auto, upper_limit
from discan.estimators.seeding import read_known
from discan.evaluation.chains import MOST_CHAINS
from discan.fitting.task import Task
from discan.models import MODELS, LoadingsPrior, Model, process_of
from discan.models.classes import Classed
from discan.models.hyperparameters import Hyperprior
from discan.models.levels import with_parents
from discan.validation import FINITE, number, whole

__all__ = [
    "init_of",
    "keeps_order",
    "limits_of",
    "model_of",
    "n_chains_of",
    "settings_of",
    "task_of",
]


log = logging.getLogger("discan")


def task_of(estimator: Any, corpus: Corpus, classes: tuple[str, ...], seed: int) -> Task:
    """Check the arguments and say what is to be fitted.

    Parameters
    ----------
    estimator : DCA
    corpus : Corpus
        With the classes of its documents, if there are any.
    classes : (C,) tuple of str
        Their names; () if there are none.
    seed : int
    """
    n_components = upper_limit(corpus, estimator.n_components, estimator.max_components)
    if estimator.hyperprior is not None and not isinstance(estimator.hyperprior, Hyperprior):
        raise InputError(
            "{}; give a discan.Hyperprior", argument="hyperprior", value=estimator.hyperprior
        )
    model, algorithm, learn = _choices(estimator, corpus, classes, n_components)
    prior = LoadingsPrior.of(estimator.gamma, corpus.layout)
    if estimator.gamma is None and "gamma" in learn:
        prior = prior.lighter(corpus.word_totals, n_components)
    known = read_known(
        corpus,
        n_components,
        estimator.seed_words,
        estimator.seed_strength,
        estimator.fixed_components,
    )
    prepared = model.prepare(n_components, corpus)
    _remark_on_parents(prepared, n_components)
    column = estimator.class_of_document if isinstance(estimator.class_of_document, str) else None
    about = {} if column is None else {"class_column": column}
    return Task(
        corpus,
        Classed.of(prepared, classes) if classes else prepared,
        algorithm,
        replace(prior, seeds=known.seeds),
        learn=learn,
        hyperprior=estimator.hyperprior,
        seed=seed,
        names=known.names,
        about=about,
    )


def model_of(estimator: Any) -> Model:
    """Build the model of the constructor's arguments."""
    model = MODELS.find(estimator.model)
    for name in ("alpha", "beta", "rho"):
        value = getattr(estimator, name)
        if value is None:
            continue
        if name not in model.hyperparameters:
            has = ", ".join(model.hyperparameters)
            raise InputError(
                f"{{}}: the {model.name} model has no {name}; it has {has}",
                argument=name, value=value,
            )  # fmt: skip
        model = replace(model, **{name: value})  # type: ignore[type-var]
    return model if estimator.n_parents is None else with_parents(model, estimator.n_parents)


def _remark_on_parents(model: Any, n_components: int) -> None:
    """Say that parents which outnumber their components are hardly what was meant."""
    if model.levels > 1 and len(model.parent_alpha) > n_components:
        wanted = max(1, round(n_components**0.5))
        log.warning(
            InputError(
                f"{len(model.parent_alpha)} parents are more than the {n_components} components, "
                "and can hardly be told apart", use={"n_parents": wanted},
            )
        )  # fmt: skip


def _choices(
    estimator: Any, corpus: Corpus, classes: tuple[str, ...], n_components: int
) -> tuple[Model, Algorithm, frozenset[str]]:
    """Choose the model, the algorithm, and the hyperparameters to learn."""
    model, learn = model_of(estimator), _learn(estimator)
    wanted = frozenset({"alpha"}) if classes and learn is None else learn or frozenset()
    if classes and is_auto(estimator.n_components):
        raise InputError(
            "with classes of documents the number of components cannot be learnt",
            use={"n_components": ...},
        )
    if classes and model.levels > 1:
        raise InputError(
            "components with parents cannot have classes of documents; leave out one of them"
        )
    if is_auto(estimator.n_components):
        model = process_of(model)
        learn = None if learn is None else learn | model.drawn_alone
        wanted = learn or frozenset()
    algorithm = choose(estimator.algorithm, model, wanted, corpus, n_components)
    if is_auto(estimator.n_components):
        check_counting(algorithm, estimator.alpha, estimator.init)
    if learn is None:
        names = ("alpha", "beta", "rho", "gamma")
        given = frozenset(name for name in names if getattr(estimator, name) is not None)
        learn = learnt_by_default(algorithm, model, given, corpus)
        if classes and not algorithm.refusal(model, wanted, corpus):
            learn |= wanted
    if classes and "alpha" not in learn:
        raise InputError(
            "classes of documents have priors of their own only if alpha is learnt",
            use={"algorithm": ("collapsed", "gibbs", "variational")},
        )
    return model, algorithm, learn


def _learn(estimator: Any) -> frozenset[str] | None:
    """Check and return the hyperparameters to learn; None leaves the choice to us."""
    learn = (estimator.learn,) if isinstance(estimator.learn, str) else estimator.learn
    if not isinstance(learn, (tuple, list, set, frozenset)):
        raise InputError(
            "{}; give 'auto' or a tuple of names, e.g. ('alpha',)",
            argument="learn", value=learn,
        )  # fmt: skip
    return None if estimator.learn == "auto" else frozenset(learn)


def init_of(estimator: Any) -> Any:
    """Where to start: components to be counted begin as too many, and are merged."""
    init = estimator.init
    auto = is_auto(estimator.n_components) and isinstance(init, str) and init == "auto"
    return "merged" if auto else init


def limits_of(estimator: Any) -> tuple[int | None, float]:
    """Check and return the largest number of cycles and the tolerance."""
    max_iter = None if estimator.max_iter is None else whole("max_iter", estimator.max_iter, 1)
    return max_iter, number("tol", estimator.tol, "a finite number, at least 0", 0.0, FINITE)


def n_chains_of(estimator: Any) -> int:
    """Check and return the number of chains."""
    n = whole("n_chains", estimator.n_chains, 1, MOST_CHAINS)
    if n > 1 and estimator.warm_start:
        raise InputError(
            "warm_start continues one chain",
            remedy="leave it out; checkpoint=... can continue several",
        )
    return n


def keeps_order(estimator: Any) -> bool:
    """Whether the user says which component is which, so that their order stays."""
    given = (estimator.alpha, estimator.beta, estimator.rho)
    return not isinstance(estimator.init, str) or any(np.ndim(value) > 0 for value in given)


def settings_of(estimator: Any, free: tuple[str, ...]) -> str:
    """Return the settings that are not free to change as text, to see whether two are equal."""
    settings = estimator.get_params(deep=False).items()
    return repr({name: _exact(value) for name, value in settings if name not in free})


def _exact(value: Any) -> Any:
    """Arrays in full, for comparison; other values unchanged."""
    if isinstance(value, dict):
        return {name: _exact(item) for name, item in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value
