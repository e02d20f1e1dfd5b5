# SPDX-License-Identifier: BSD-3-Clause
"""One fit of a search: a setting, a start and a fold; and what is kept of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from discan.algorithms import Variational
from discan.data.corpus import Corpus
from discan.engines.threads import Threads
from discan.estimators import DCA
from discan.estimators.counting import MOST, is_auto
from discan.selection.protocols import Fold
from discan.selection.quality import kept_components, mean_coherence
from discan.typing import Array

__all__ = ["Job", "Outcome", "Setting", "fitted"]


@dataclass(frozen=True)
class Setting:
    """What is compared: a number of components, or a model.

    Attributes
    ----------
    name : str
        For people, and for file names.
    params : mapping
        Arguments of ``DCA``.
    """

    name: str
    params: Mapping[str, Any] = field(hash=False, compare=False)

    @property
    def n_components(self) -> Any:
        """Number of components, K, or "auto"."""
        return self.params["n_components"]


class Job(NamedTuple):
    """A fit to be done: setting, seed of the start, number of the fold from 0."""

    setting: Setting
    seed: int
    fold: int

    @property
    def cost(self) -> float:
        """About how long it takes, in any unit."""
        n_components = self.setting.n_components
        return 10.0 + (MOST if is_auto(n_components) else n_components)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is kept of a fit.

    Attributes
    ----------
    nats : (2, I) array
        Log-likelihood and number of the held-out tokens of each document of the test part.
    components : sparse array
        See ``kept_components``.
    bound : float
        Variational bound on the log evidence of the training part, nats; NaN if the algorithm has
        none.
    coherence, seconds : float
    cycles : int
    converged : bool
    learnt : dict
        Means of hyperparameters, by name.
    """

    nats: Array
    components: sparse.csr_array
    bound: float
    coherence: float
    seconds: float
    cycles: int
    converged: bool
    learnt: dict[str, float]


def fitted(
    job: Job, fold: Fold, corpus: Corpus, n_threads: int, stopped: Callable[[], bool]
) -> Outcome | None:
    """Fit to the training part and predict the test part; None if it was stopped.

    ``corpus`` is all data, in which coherence counts documents.
    """
    began = time.perf_counter()
    estimator = DCA(
        **job.setting.params, random_state=job.seed, n_jobs=n_threads, progress=False,
        callback=lambda run: stopped(),
    ).fit(fold.train)  # fmt: skip
    if stopped():
        return None
    fit = estimator.fit_
    with Threads(n_threads) as engine:
        nats = fit.completion(fold.test, engine, fold.given)
    values = {name: fit.hyperparameter(name) for name in ("alpha", "beta", "rho", "gamma")}
    how = fit.algorithm
    is_bound = isinstance(how, Variational) and how.loadings == "dirichlet"
    return Outcome(
        nats=nats,
        components=kept_components(fit.components, fit.layout.n_groups),
        bound=float(fit.trace.last("objective")) if is_bound else float("nan"),
        coherence=mean_coherence(fit, corpus),
        seconds=time.perf_counter() - began,
        cycles=fit.n_cycles,
        converged=bool(fit.converged),
        learnt={name: float(np.mean(value)) for name, value in values.items() if value is not None},
    )
