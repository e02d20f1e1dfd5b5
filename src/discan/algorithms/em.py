# SPDX-License-Identifier: BSD-3-Clause
"""Expectation-maximisation: maximum a posteriori in the log basis, and maximum likelihood.

Maximum likelihood is NMF with the Kullback-Leibler divergence, or PLSI (theory 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from discan.algorithms.base import ALGORITHMS, Algorithm, Clock, Params, Start, levels_refusal
from discan.algorithms.expectation import Expectation
from discan.algorithms.log_prior import log_prior
from discan.algorithms.online import OnlineOptions
from discan.algorithms.quasi_newton import QuasiNewton, pays
from discan.algorithms.refusals import atom_refusal, process_refusal
from discan.algorithms.schedule import Schedule
from discan.algorithms.squarem import Squarem
from discan.algorithms.statistics import Stats
from discan.algorithms.tempering import Tempered
from discan.algorithms.wrapper import Wrapper
from discan.data.corpus import Corpus
from discan.errors import DiscanError, InputError
from discan.models import Model
from discan.validation import number

__all__ = ["EM", "MAP", "MaximumLikelihood", "PointEstimate"]

POINT = " that a point estimate ignores"


@dataclass(frozen=True)
class EM(Expectation):
    """Expectation-maximisation in the log (softmax) basis; with flat priors, of the likelihood.

    Objective: log-likelihood + sum alpha log l - beta l + sum gamma log theta.
    """

    name = "maximum-a-posteriori"
    short = "map"
    cannot_learn = frozenset({"alpha", "beta", "rho", "gamma"})

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Refuse hyperparameters to learn, and a model whose scores can be exactly zero."""
        return (
            levels_refusal(self, model)
            or self.learning_refusal(model, learn)
            or atom_refusal(self.name, model, POINT)
        )

    def objective(self, before: Params, stats: Stats, corpus: Corpus) -> float:
        """Log-likelihood and log priors in the log basis, where the cycle began."""
        model = before.model
        constants = corpus.sum_by_length(model.log_peak_constant) + model.total_log_bag(corpus)
        loading_term = log_prior(np.asarray(before.loadings), before.prior)
        return stats.objective + constants + loading_term


@dataclass(frozen=True)
class PointEstimate(OnlineOptions, Wrapper):
    """EM, in the acceleration that the options ask for.

    Class attributes
    ----------------
    accelerations : dict
        Values of ``accelerate`` that name one.
    usually : type or None
        Acceleration by ``accelerate=True`` where quasi-Newton steps do not pay.
    """

    accelerate: bool | str = field(default=True, kw_only=True)

    accelerations: ClassVar[dict[str, Any]] = {"quasi-newton": QuasiNewton}
    usually: ClassVar[Any] = None

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if isinstance(self.accelerate, (bool, np.bool_)):
            return
        if self.accelerate not in self.accelerations:
            names = " or ".join(repr(name) for name in self.accelerations)
            raise InputError(
                f"{{}}; use True, False, {names}", argument="accelerate", value=self.accelerate
            )

    def suited(self, corpus: Corpus, n_components: int) -> Self:
        """Return the algorithm with quasi-Newton steps if it may choose them and they pay."""
        named = isinstance(self.accelerate, str)
        may = self.accelerate and not named and self.can_accelerate
        if may and pays(corpus, n_components):
            return replace(self, accelerate="quasi-newton")
        return self

    @property
    def monotone(self) -> bool:
        """Whether the objective never falls: online, each batch has its own."""
        return not self.online

    @property
    def can_accelerate(self) -> bool:
        """Whether the other options leave every pass to EM itself."""
        return not self.online

    @cached_property
    def wrapped(self) -> Algorithm:  # type: ignore[override]
        """EM, which is maximum likelihood where the priors are flat, accelerated or not."""
        em = EM(**{option.name: getattr(self, option.name) for option in fields(OnlineOptions)})
        if not (self.accelerate and self.can_accelerate):
            return em
        kind = self.accelerations.get(str(self.accelerate), self.usually)
        return em if kind is None else kind(em)


@ALGORITHMS.register
@dataclass(frozen=True)
class MAP(PointEstimate):
    """Maximum a posteriori in the log (softmax) basis: the fastest way to a good model.

    It learns no hyperparameters: expected counts spread every token over components, as if
    documents had more components than they have.

    Parameters
    ----------
    accelerate : bool or "quasi-newton"
        True makes quasi-Newton steps where they pay: genotypes and votes with many entries
        per row and column (theory 4.1). Elsewhere, and when online, it changes nothing.
    online : bool, default=False
        Update the loadings after every batch of documents instead of after all of them.
    batch_entries : int, optional
        Non-zeros in a batch when online; a sixteenth of all if not given.
    delay, decay : float, default=0.5, 0.7
        Weight of batch t = 1, 2, ... against all before it when online, (delay + t)^-decay.
    visits : int, default=8
        Passes over a batch when online, with new loadings each time.
    inner : int, optional
        Steps on a document per visit: 1, or 2 when online.
    fold_in_tolerance : float, default=1e-5
        New documents: stop when a step moves at most this fraction of a document's words. None is
        what version 0.1 did, for its files.
    """

    name = "maximum-a-posteriori"
    short = "map"
    summary = "maximum a posteriori, the fastest"
    cannot_learn = EM.cannot_learn
    formerly: ClassVar[dict[str, Any]] = {**OnlineOptions.formerly, "accelerate": False}


@ALGORITHMS.register
@dataclass(frozen=True)
class MaximumLikelihood(PointEstimate):
    """Maximum likelihood: NMF with the KL divergence (gamma-poisson), PLSI (dirichlet-multinomial).

    It is EM without priors, accelerated or tempered.

    Parameters
    ----------
    tau : float or "auto"
        Exponent of the responsibilities of tempered PLSI, in (0, 1]. With "auto", a tenth of the
        documents is held out: tau starts at 1 and is multiplied by ``eta`` whenever their
        perplexity stops falling, until that no longer helps. They are folded in at the end.
    eta : float
        Factor of tau, above 0 and below 1.
    accelerate : bool or {"quasi-newton", "squarem"}
        As for ``MAP``; where quasi-Newton steps do not pay, True extrapolates pairs of passes
        (SQUAREM). Never with ``tau="auto"``, nor when online.
    online, batch_entries, delay, decay, visits, inner, fold_in_tolerance
        As for ``MAP``.
    """

    tau: float | str = 1.0
    eta: float = 0.93
    name = "maximum-likelihood"
    short = "ml"
    summary = "maximum likelihood, without priors"
    uses_prior = False
    accelerations: ClassVar[dict[str, Any]] = {"quasi-newton": QuasiNewton, "squarem": Squarem}
    usually = Squarem

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not isinstance(self.tau, str) or self.tau != "auto":
            number("tau", self.tau, "a number above 0 and at most 1, or 'auto'", 1e-300, 1.0)
        number("eta", self.eta, "a number above 0 and below 1", 1e-300, np.nextafter(1.0, 0))

    @property
    def monotone(self) -> bool:
        """Whether the objective never falls: that of another temperature is another one."""
        return not self.online and self.tau != "auto"

    @property
    def can_accelerate(self) -> bool:
        """Whether the temperature is fixed, and the fit not online."""
        return super().can_accelerate and not isinstance(self.tau, str)

    @cached_property
    def wrapped(self) -> Algorithm:  # type: ignore[override]
        """EM, accelerated or tempered."""
        em: Any = super().wrapped
        return Tempered(em, self.eta) if isinstance(self.tau, str) else em

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Refuse priors to learn, tempering of anything but proportions, and atoms at zero."""
        if refusal := levels_refusal(self, model) or process_refusal(self.name, model):
            return refusal
        if learn:
            return InputError(
                "maximum likelihood has no hyperparameters to learn",
                use={"algorithm": ("variational", "gibbs", "collapsed")},
            )
        if self.tau != 1.0 and not model.normalised:
            return InputError("tempering (tau) is for PLSI", use={"model": "dirichlet-multinomial"})
        refusal = atom_refusal(self.name, model, POINT)
        return refusal or self.wrapped.refusal(model, learn, corpus)

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Begin at the given temperature, or at 1."""
        power = 1.0 if isinstance(self.tau, str) else float(self.tau)
        return super().init(replace(params, power=power), schedule, start, clock)
