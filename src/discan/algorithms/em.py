# SPDX-License-Identifier: BSD-3-Clause
"""Expectation-maximisation: maximum a posteriori in the log basis, and maximum likelihood.

Maximum likelihood is NMF with the Kullback-Leibler divergence, or PLSI (theory 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from discan.algorithms.acceleration import Accelerated
from discan.algorithms.base import ALGORITHMS, Algorithm, Clock, Params, Start, Stats
from discan.algorithms.expectation import Expectation, OnlineOptions, atom_refusal
from discan.algorithms.schedule import Schedule
from discan.algorithms.tempering import Tempered
from discan.algorithms.wrapper import Wrapper
from discan.data.corpus import Corpus
from discan.errors import DiscanError, InputError
from discan.kernels.variational import weighted_log_loadings
from discan.models import Model
from discan.validation import flag, number

__all__ = ["MAP", "MaximumLikelihood"]

POINT = " that a point estimate ignores"


@ALGORITHMS.register
@dataclass(frozen=True)
class MAP(Expectation):
    """Maximum a posteriori in the log (softmax) basis: the fastest way to a good model.

    Objective: log-likelihood + sum alpha log l - beta l + sum gamma log theta. It learns no
    hyperparameters: expected counts spread every token over components, as if documents had more
    components than they have.
    """

    name = "maximum-a-posteriori"
    short = "map"
    summary = "maximum a posteriori, the fastest"
    cannot_learn = frozenset({"alpha", "beta", "rho", "gamma"})

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Refuse hyperparameters to learn, and a model whose scores can be exactly zero."""
        return self.learning_refusal(learn) or atom_refusal(self.name, model, POINT)

    def objective(self, before: Params, stats: Stats, corpus: Corpus) -> float:
        """Log-likelihood and log priors in the log basis, where the cycle began."""
        constants = before.model.log_peak_constant(corpus.lengths) + before.model.log_bag(corpus)
        loading_term = float(weighted_log_loadings(before.loadings, before.prior.gamma))
        return stats.objective + float(constants.sum()) + loading_term


@ALGORITHMS.register
@dataclass(frozen=True)
class MaximumLikelihood(OnlineOptions, Wrapper):
    """Maximum likelihood: NMF with the KL divergence (gamma-poisson), PLSI (dirichlet-multinomial).

    It is EM without priors, accelerated or tempered.

    Parameters
    ----------
    tau : float or "auto"
        Exponent of the responsibilities of tempered PLSI, in (0, 1]. With "auto", a tenth of the
        documents is held out: tau starts at 1 and is multiplied by ``eta`` whenever their
        perplexity stops falling, until that no longer helps. They are folded in at the end.
    eta : float
    accelerate : bool
        Extrapolate EM: the same optima in about half the passes. Never with ``tau="auto"``.
    online, batch_entries, delay, decay, visits, inner
        As for ``MAP``.
    """

    tau: float | str = 1.0
    eta: float = 0.93
    accelerate: bool = True

    name = "maximum-likelihood"
    short = "ml"
    summary = "maximum likelihood, without priors"
    uses_prior = False

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not isinstance(self.tau, str) or self.tau != "auto":
            number("tau", self.tau, "a number above 0 and at most 1, or 'auto'", 1e-300, 1.0)
        number("eta", self.eta, "a number above 0 and below 1", 1e-300, np.nextafter(1.0, 0))
        flag("accelerate", self.accelerate)

    @property
    def monotone(self) -> bool:
        """Whether the objective never falls: that of another temperature is another one."""
        return not self.online and self.tau != "auto"

    @cached_property
    def wrapped(self) -> Algorithm:  # type: ignore[override]
        """EM, which is MAP where the priors are flat, in the wrappers that the options ask for."""
        em = MAP(**{field.name: getattr(self, field.name) for field in fields(OnlineOptions)})
        if isinstance(self.tau, str):
            return Tempered(em, self.eta)
        return Accelerated(em) if self.accelerate and not self.online else em

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Refuse priors to learn, tempering of anything but proportions, and atoms at zero."""
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
