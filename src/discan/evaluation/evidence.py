# SPDX-License-Identifier: BSD-3-Clause
"""The evidence log p(W): how probable all counts are, scores and loadings integrated out."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discan.data.annotated import is_annotated, read_annotated
from discan.data.corpus import Corpus
from discan.data.frames import holds_text, is_frame, read_frame
from discan.engines.threads import Threads, n_threads
from discan.errors import InputError
from discan.evaluation.chib import ChibLoadings
from discan.evaluation.evidence_methods import (
    AIS,
    TI,
    Estimate,
    EvidenceMethod,
    VariationalBound,
)
from discan.evaluation.labellings import ONE_LABELLING
from discan.evaluation.problem import Chain, Problem
from discan.evaluation.totals import log_totals
from discan.fitting.parents import refuse_parents
from discan.fitting.result import needed_fit
from discan.models import MODELS, LoadingsPrior, Model
from discan.typing import Array
from discan.validation import whole

__all__ = ["EVIDENCE_METHODS", "Evidence", "log_evidence"]

log = logging.getLogger("discan")

EVIDENCE_METHODS: dict[str, type[EvidenceMethod]] = {
    method.name: method for method in (VariationalBound, AIS, TI, ChibLoadings)
}
EXACT = "exact: with one component there is nothing to sum over"
SETTLED = 1.0  # nats that doubling the effort may move the answer, at least


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log p(W | hyperparameters, K), and how sure it is.

    Attributes
    ----------
    value : float
        In nats, in bag form: the probability of the table of counts.
    error : float
        Monte-Carlo standard error; 0 for a bound, NaN for a single run.
    kind : str
        What the value is: unbiased for p, consistent, a lower bound on log p, or exact.
    method, model : str
    n_components : int
    event : str
        Whether the totals of the documents are a part of it.
    log_totals : float or None
        Log probability of the totals under the model; 0 if the model is given them, None if it is
        not known.
    labels : str
        What was done about the K! ways to name the components.
    moved : float or None
        How far the value moved when the effort was doubled.
    warning : str
        What is wrong, if it has not converged; else empty.
    runs : (R,) array
        The logarithms that the runs, or the starts, found.
    hyperparameters : dict of str to array
    n_tokens : int or float
    seconds : float
    """

    value: float
    error: float
    kind: str
    method: str
    model: str
    n_components: int
    event: str
    log_totals: float | None
    labels: str
    moved: float | None
    warning: str
    runs: Array
    hyperparameters: dict[str, Array] = field(default_factory=dict)
    n_tokens: float = 0
    seconds: float = 0.0

    @property
    def given_totals(self) -> float | None:
        """Log p(W | totals): the same event for all models; None if it is not known."""
        return None if self.log_totals is None else self.value - self.log_totals

    @property
    def bits(self) -> float:
        """Code length: minus the evidence in bits."""
        return float(-self.value / np.log(2.0))

    @property
    def converged(self) -> bool:
        """Whether nothing warns that the value is off."""
        return not self.warning

    def describe(self) -> dict[str, Any]:
        """Return the properties that a reader needs, by name."""
        return {
            "log evidence": self.value,
            "Monte-Carlo error": self.error,
            "what it is": self.kind,
            "event": self.event,
            "given the totals": self.given_totals,
            "method": self.method,
            "model": self.model,
            "components": self.n_components,
            "labels": self.labels,
            "moved by doubling": self.moved,
            "warning": self.warning,
            "seconds": round(self.seconds, 2),
        }

    def __repr__(self) -> str:
        """Describe the evidence in one line."""
        sure = f" ± {self.error:.2g}" if self.error > 0 else ""
        warning = f"; {self.warning}" if self.warning else ""
        return f"<log evidence {self.value:.7g}{sure} nats by {self.method}: {self.kind}{warning}>"


def log_evidence(
    X: Any,
    n_components: int = 10,
    *,
    method: Any = "ais",
    model: str | Model = "dm",
    alpha: Any = None,
    beta: Any = None,
    rho: Any = None,
    gamma: Any = None,
    groups: Any = None,
    fit: Any = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Evidence:
    """Estimate the evidence log p(W | hyperparameters, K), scores and loadings integrated out.

    It tells how well a model with ``n_components`` components predicts the data before it has seen
    them. It is neither the likelihood of a fit nor an average of that over a chain. For large data,
    held-out prediction is the better guide to the number of components; see the page on evidence.

    Parameters
    ----------
    X : (I, J) array, sparse matrix, data frame, Corpus, AnnData or MuData
        The data.
    n_components : int
        Number of components, K.
    method : {"ais", "ti", "chib", "bound"} or object
        "ais": annealed importance sampling, unbiased for p. "ti": thermodynamic integration,
        consistent. "chib": Chib's method at one point of the loadings, consistent. "bound": the
        bound of variational Bayes, the best of five starts, a lower bound. The classes ``AIS``,
        ``TI``, ``VariationalBound`` (``discan.evaluation.evidence_methods``) and ``ChibLoadings``
        (``discan.evaluation.chib``) take options, e.g. ``AIS(n_temperatures=5000, n_runs=8)``.
    model, alpha, beta, rho, gamma, groups
        As for ``DCA``. Hyperparameters are known values, by default the usual ones; none is learnt.
    fit : fitted estimator or Fit, optional
        Take the model, the number of components and the hyperparameters of this fit. If they were
        learnt from the same data, the evidence is a little too high.
    n_jobs : int, optional
        Number of threads; it does not change the answer.
    random_state : int
        Seed.

    Returns
    -------
    Evidence
        ``value`` and ``error`` in nats; ``given_totals``, which can be compared between models;
        ``warning`` if the estimate has not converged.

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> found = [discan.log_evidence(X, K, alpha=0.3) for K in (1, 2)]
    >>> found[1].value > found[0].value
    True
    """
    corpus = _corpus(X, groups)
    if isinstance(method, str):
        if method not in EVIDENCE_METHODS:
            known = tuple(EVIDENCE_METHODS)
            raise InputError("{}", argument="method", value=method, use={"method": known})
        method = EVIDENCE_METHODS[method]()
    how: EvidenceMethod = method
    given = {"alpha": alpha, "beta": beta, "rho": rho}
    prepared, prior = _priors(corpus, n_components, model, given, gamma, fit)
    problem = Problem(corpus, prepared, prior, whole("random_state", random_state, 0))
    if how.whole_counts and (not corpus.integral or corpus.counts.dtype.kind != "i"):
        raise InputError(f"method={how.name!r} needs whole counts", use={"method": "bound"})
    began = time.perf_counter()
    if problem.n_components == 1 and how.whole_counts:
        # a chain over one component never moves: its energy is the evidence
        value = float(Chain(problem, 0).sweep(np.ones(1))[0, 0])
        found = Estimate(value, 0.0, np.array([value]), None, "", ONE_LABELLING)
        kind = EXACT
    else:
        with Threads(n_threads(n_jobs)) as engine:
            found, kind = how.estimate(problem, engine), how.kind
    value, error, runs, moved, effort, labels = found
    evidence = Evidence(
        value, error, kind, how.name, prepared.name, problem.n_components,
        "counts given the totals" if prepared.normalised else "counts and totals",
        log_totals(prepared, corpus), labels, moved, _warning(error, moved, effort), runs,
        {**prepared.values(), "gamma": prior.gamma}, corpus.n_tokens,
        time.perf_counter() - began,
    )  # fmt: skip
    if evidence.warning:
        log.warning("%s: %s", how.name, evidence.warning)
    return evidence


def _corpus(X: Any, groups: Any) -> Corpus:
    if is_annotated(X):
        return read_annotated(X, None)
    if is_frame(X) and holds_text(X):
        return read_frame(X, None)
    return Corpus.of(X, groups)


def _priors(
    corpus: Corpus, n_components: Any, model: Any, given: dict[str, Any], gamma: Any, fit: Any
) -> tuple[Model, LoadingsPrior]:
    """Return the model and the prior of the loadings, with all their hyperparameters."""
    if fit is None:
        chosen: Any = MODELS.find(model)
        known = {name: value for name, value in given.items() if value is not None}
        for name, value in known.items():
            if name not in chosen.hyperparameters:
                raise InputError(
                    f"{{}}: the {chosen.name} model has no {name}", argument=name, value=value
                )
        refuse_parents(chosen, "evidence")
        chosen = replace(chosen, **known)
        prepared = chosen.prepare(whole("n_components", n_components, 1), corpus)
        return prepared, LoadingsPrior.of(gamma, corpus.layout)
    found = needed_fit(fit, "log_evidence needs")
    refuse_parents(found.params.model, "evidence")
    if found.layout.n_words != corpus.n_words:
        raise InputError(
            f"X has {corpus.n_words} columns; the fit has {found.layout.n_words} words"
        )
    if not np.all(np.asarray(found.params.model.alpha) > 0):
        raise InputError(
            "maximum likelihood has no priors, so there is no evidence",
            use={"algorithm": ("map", "variational", "collapsed")},
        )
    if found.params.prior.seeds is not None:
        raise InputError("the evidence of a model with seeds or fixed components is not computed")
    if found.class_names:
        raise InputError("the evidence of a model with classes of documents is not computed")
    return found.whole_model, found.params.prior


def _warning(error: float, moved: float | None, effort: str) -> str:
    """Say what is wrong if doubling the effort moved the answer, or if runs disagree."""
    allowed = max(SETTLED, 4.0 * error if np.isfinite(error) else 0.0)
    if moved is not None and abs(moved) > min(allowed, 5.0 * SETTLED):
        return (
            f"doubling {effort} moved it by {moved:+.3g} nats: it has not converged, so take it "
            "for a rough lower bound and look at method 'bound', too"
        )
    if np.isfinite(error) and error > SETTLED:
        said = f"the Monte-Carlo error is {error:.2g} nats"
        if error > 5.0 * SETTLED:
            return f"the runs disagree: {said}"
        return f"{said}: more runs or temperatures make it smaller"
    return ""
