# SPDX-License-Identifier: BSD-3-Clause
"""The values of a fit: components, hyperparameters, tables, and the record of how it went."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Params
from discan.data.layout import Layout
from discan.data.left_out import NOTHING
from discan.data.nouns import Nouns
from discan.fitting.chains import Chains, Record
from discan.fitting.naming import Given, default_names
from discan.fitting.parents import two_levels_of
from discan.fitting.posterior import Documents, Draws, Loadings
from discan.fitting.trace import Trace
from discan.models.base import Model
from discan.models.classes import Classed
from discan.typing import Array

__all__ = ["Values"]


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """The values of a fit; ``Fit`` describes the attributes."""

    algorithm: Algorithm
    params: Params
    layout: Layout
    loadings: Loadings
    settings: dict[str, Any]
    group_totals: Array
    documents: Documents | None = None
    document_names: tuple[str, ...] | None = None
    metadata: dict[str, Array] = field(default_factory=dict)
    nouns: Nouns = field(default_factory=Nouns)
    reading: dict[str, Any] = field(default_factory=dict)
    left_out: Array = field(default_factory=lambda: NOTHING)
    draws: Draws | None = None
    record: Record | None = None
    chains: Chains | None = None
    trace: Trace = field(default_factory=Trace)
    reason: str = ""
    converged: bool = False
    n_cycles: int = 0
    given_names: Given = ()
    unused: dict[str, Array] = field(default_factory=dict)

    # ---- components ----

    @cached_property
    def components(self) -> Array:
        """Point estimate or posterior mean of the components, (K, J)."""
        mean, order = self.loadings.stored
        if mean.dtype == np.float32:
            return self.params.prior.widen(mean, order, "F").T
        return mean.T.copy() if order is None else mean.T[order]

    @cached_property
    def components_sd(self) -> Array | None:
        """Posterior standard deviation of the components, (K, J); None for point estimates."""
        if self.documents is None:
            raise AttributeError("the components were given, so their uncertainty is not known")
        sd = self.loadings.sd
        return None if sd is None else np.ascontiguousarray(sd.T)

    @cached_property
    def mean_loadings(self) -> Array:
        """Loadings in double precision, (J, K)."""
        mean, order = self.loadings.stored
        if mean.dtype == np.float32:
            return self.params.prior.widen(mean, order)
        return np.ascontiguousarray(mean if order is None else mean[:, order])

    @property
    def n_components(self) -> int:
        """Number of components, K."""
        return self.params.n_components

    @cached_property
    def sizes(self) -> Array:
        """Fraction of all tokens that each component explains, (K,)."""
        if self.documents is None:
            raise AttributeError("the components were given, so there are no training documents")
        totals = self.documents.totals
        return np.asarray(totals / max(totals.sum(), 1e-300))

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components, (K,): those given, else a noun and a number from 1."""
        defaults = default_names(self.nouns.component, self.n_components)
        given = self.given_names or (None,) * self.n_components
        return tuple(name or default for name, default in zip(given, defaults, strict=True))

    @property
    def parents(self) -> Array:
        """Loadings of the parents over the components, (R, K); rows sum to one."""
        return np.ascontiguousarray(two_levels_of(self.params).parents.T)

    def permuted(self, order: Array) -> Self:
        """Return the same fit with its components in another order (K,)."""
        return replace(
            self,
            params=self.params.permuted(order),
            loadings=self.loadings.permuted(order),
            documents=None if self.documents is None else self.documents.permuted(order),
            draws=None if self.draws is None else self.draws.permuted(order),
            record=None if self.record is None else self.record.permuted(order),
            chains=None if self.chains is None else self.chains.permuted(order),
            given_names=tuple(self.given_names[k] for k in order) if self.given_names else (),
        )

    # ---- parameters ----

    @property
    def inference(self) -> Params:
        """Parameters for new documents; a sampler's loadings are the means over draws."""
        if self.params.loadings is not None:
            return self.params
        return replace(self.params, loadings=self.mean_loadings)

    @property
    def whole_model(self) -> Model:
        """The model with the unused components, which its evidence needs."""
        model: Any = self.params.model
        if self.unused:
            values = {k: np.append(v, self.unused[k]) for k, v in model.values().items()}
            model = replace(model, **values)
        fixed: Model = model.fixed()
        return fixed

    def hyperparameter(self, name: str) -> Array | None:
        """Return alpha, beta, rho or gamma; None if the model has no such hyperparameter.

        With classes of documents, those of the scores have a row per class, (C, K).
        """
        model = self.params.model
        if isinstance(model, Classed) and name != "gamma":
            return model.by_class(name)
        return {**self.params.model.values(), "gamma": self.params.prior.gamma}.get(name)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes of documents, (C,); () if there are none."""
        model = self.params.model
        return model.names if isinstance(model, Classed) else ()

    @property
    def seed(self) -> np.uint64:
        """The seed of the fit, which names the random streams of inference, too."""
        return np.uint64(self.settings["seed"])

    # ---- draws ----

    @property
    def draw_objectives(self) -> Array:
        """Objective of the trace at the draws that are averaged; empty without draws."""
        n, thin = self.settings.get("draws", 0), self.settings.get("thin", 0)
        if not n or not thin:
            return np.zeros(0)
        cycles = np.arange(self.settings["burn_in"] + thin, self.n_cycles + 1, thin)
        return np.asarray(self.trace["objective"][cycles[-n:] - 1])

    def kept_draws(self, most: int | None = None) -> list[tuple[Params, Array]]:
        """Parameters for inference and loadings (J, K) of the kept draws, evenly chosen.

        ``most`` limits their number; the list is empty if no draws were kept.
        """
        if self.draws is None:
            return []
        n_draws = len(self.draws.loadings)
        chosen = np.unique(np.linspace(0, n_draws - 1, min(n_draws, most or n_draws)).astype(int))
        found = []
        for n in chosen:
            hyper = dict(self.draws.hyperparameters[n])
            prior = replace(self.params.prior, gamma=hyper.pop("gamma"))
            model = self.params.model
            loadings = np.ascontiguousarray(self.draws.loadings[n], dtype=np.float64)
            params = replace(self.params.with_model(model.replaced(hyper)), prior=prior)
            found.append((replace(params, loadings=loadings), loadings))
        return found
