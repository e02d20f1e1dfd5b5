# SPDX-License-Identifier: BSD-3-Clause
"""Which model: fit each to the same data, and see which predicts held-out data."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from discan.data.nouns import Nouns, plural
from discan.errors import InputError
from discan.models import MODELS
from discan.selection.jobs import Setting
from discan.selection.measures import Measured, paired_gap
from discan.selection.protocols import choose_protocol
from discan.selection.result import ModelComparison
from discan.selection.search import Plan, corpus_of, fit_params, short_chain
from discan.selection.verdict import CLOSE, unit
from discan.validation import one_of, whole

__all__ = ["CANDIDATES", "compare_models", "sentences"]

log = logging.getLogger("discan")


class Candidate(NamedTuple):
    """A model to compare: the model, how it is fitted, and what it is."""

    model: str
    algorithm: str
    summary: str


CANDIDATES = {
    "dm": Candidate("dm", "auto", "shares with a prior (LDA, MPCA)"),
    "gp": Candidate("gp", "auto", "amounts with a prior (GaP)"),
    "cgp": Candidate("cgp", "auto", "amounts that may be exactly zero"),
    "plsi": Candidate("dm", "ml", "shares without a prior"),
    "nmf": Candidate("gp", "ml", "amounts without a prior"),
}


def compare_models(
    X: Any,
    n_components: int = 10,
    *,
    models: Iterable[str] = tuple(CANDIDATES),
    protocol: str = "auto",
    seeds: int = 2,
    folds: int | None = None,
    evidence: str | None = None,
    groups: Any = None,
    max_iter: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    folder: Any = None,
    progress: bool | None = None,
    **options: Any,
) -> ModelComparison:
    """Compare models by prediction of the same held-out data.

    Each held-out token is predicted on its own, given the rest of its document and the group that
    it is in. So all models are judged on the same event: models of amounts neither gain nor lose by
    the totals that they also model.

    Parameters
    ----------
    X : (I, J) counts
        All that an estimator takes.
    n_components : int, default=10
        Number of components of each model.
    models : iterable of {"dm", "gp", "cgp", "plsi", "nmf"}
        Models to compare; all by default.
    protocol : {"auto", "completion", "entries", "thinning"}, default="auto"
        What is held out, as for ``select_components``; "auto" is "entries" for grouped columns with
        few tokens per group and row, else "completion".
    evidence : {"bound", "ais", "ti", "chib"}, optional
        Also estimate log p(W | totals) of each model, with the priors given or the usual ones, by
        ``log_evidence``; it can take longer than all fits.
    seeds, folds, groups, max_iter, random_state, n_jobs, folder, progress
        As for ``select_components``.
    **options
        Other arguments of ``DCA`` that all models take: gamma, init, tol, ...

    Returns
    -------
    ModelComparison
        ``best``, ``close``, ``verdict``, ``table``, ``frame()``.

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(3, dtype=int), np.full((20, 4), 5))
    >>> found = discan.compare_models(X, 3, models=["dm", "gp"], max_iter=40, n_jobs=1)
    >>> [row["model"] for row in found.table]
    ['dm', 'gp']
    """
    corpus = corpus_of(X, groups)
    n_components = whole("n_components", n_components, 1)
    names = _names(models)
    how, reason = choose_protocol(protocol, corpus)
    settings = []
    for name in names:
        candidate = CANDIDATES[name]
        model = MODELS.find(candidate.model)
        chosen, cycles = short_chain(candidate.algorithm, model, corpus, n_components, max_iter)
        params = {"model": model, "algorithm": chosen, "max_iter": cycles, **fit_params(options)}
        settings.append(Setting(name, {**params, "n_components": n_components}))
    plan = Plan.of(corpus, settings, how, seeds, folds, random_state, "model", evidence)
    log.info("held out (%s, %s): %s", how.name, reason, how.summary)
    log.info(
        "%s fits: %d models x %d starts x %d folds",
        f"{len(names) * len(plan.seeds) * plan.n_folds:,}", len(names), len(plan.seeds),
        plan.n_folds,
    )  # fmt: skip
    searched = plan.run(n_jobs, folder, progress)
    measured = searched.measured
    close = [
        name for name, gap, error in zip(names, measured.gap, measured.gap_error, strict=True)
        if gap <= CLOSE * error
    ]  # fmt: skip
    learnt = {row["model"]: row["learnt"] for row in searched.rows}
    says = sentences(names, measured, close, corpus.nouns, learnt)
    says += [searched.by_evidence] if searched.by_evidence else []
    return ModelComparison(
        verdict=" ".join(says).strip(),
        table=searched.table,
        rows=searched.rows,
        baseline=measured.baseline,
        protocol=how.name,
        reason=reason,
        unit=unit(corpus.nouns),
        best=names[measured.best],
        close=close,
    )


def _names(models: Any) -> list[str]:
    """Check the names of the models; return them in order, each once."""
    given = [models] if isinstance(models, str) else models
    if not isinstance(given, Iterable):
        raise InputError(
            "{}; give names of models", argument="models", value=models,
            use={"models": tuple(CANDIDATES)},
        )  # fmt: skip
    names = [str(name).lower() for name in given]
    for name in names:
        one_of("models", name, CANDIDATES)
    if not names:
        raise InputError("no model to compare", use={"models": tuple(CANDIDATES)})
    return [name for name in CANDIDATES if name in names]


def sentences(
    names: Sequence[str],
    measured: Measured,
    close: Sequence[str],
    nouns: Nouns,
    learnt: Mapping[str, Mapping[str, float]],
) -> list[str]:
    """Say which model predicts best, and what that says about the data."""
    at, what = measured.best, unit(nouns)
    best = names[at]
    says = [f"{best} predicts best: {measured.bits[at]:.4f} {what}."]
    others = [name for name in close if name != best]
    if others:
        says.append(f"Not clearly worse: {', '.join(others)}.")
    if measured.baseline - measured.bits[at] <= CLOSE * measured.error[at]:
        says.append(
            f"But no model predicts clearly better than one distribution for all rows "
            f"({measured.baseline:.4f} {what})."
        )
        return says
    here = {name: n for n, name in enumerate(names)}
    says.append(_on_totals(here, measured, nouns))
    says.append(_on_sparsity(here, measured, nouns, learnt))
    says.append(_on_priors(here, measured))
    return [text for text in says if text]


def _on_totals(here: Mapping[str, int], measured: Measured, nouns: Nouns) -> str:
    """Compare shares with amounts, to see whether totals matter."""
    amounts = [here[name] for name in ("gp", "cgp") if name in here]
    if "dm" not in here or not amounts:
        return ""
    rival = min(amounts, key=lambda n: measured.bits[n])
    gap, error = paired_gap(measured, here["dm"], rival)
    total = f"how much {_an(nouns.document)} has in all"
    if gap > CLOSE * error:
        return (
            f"Amounts predict better than shares, by {gap:.2g} ± {error:.1g}: totals matter, that "
            f"is, {total} says something about its mix."
        )
    if gap < -CLOSE * error:
        return (
            f"Shares predict better than amounts, by {-gap:.2g} ± {error:.1g}: totals do not "
            f"matter, and a model of {total} does not help."
        )
    return (
        f"Shares and amounts predict about as well (difference {abs(gap):.2g} ± {error:.1g}): "
        f"totals do not matter, that is, {total} says little about its mix."
    )


def _on_sparsity(
    here: Mapping[str, int], measured: Measured, nouns: Nouns,
    learnt: Mapping[str, Mapping[str, float]],
) -> str:  # fmt: skip
    """Compare amounts that may be zero with those that may not, to see whether they are."""
    if "gp" not in here or "cgp" not in here:
        return ""
    gap, error = paired_gap(measured, here["gp"], here["cgp"])
    component, row = nouns.component, nouns.document
    rho = learnt.get("cgp", {}).get("rho")
    share = "" if rho is None else f"; cgp takes a component for absent with probability {rho:.2f}"
    if gap > CLOSE * error:
        return (
            f"Exact zeros help, by {gap:.2g} ± {error:.1g}: scores are sparse, {_an(component)} is "
            f"truly absent from many {plural(row)}{share}."
        )
    if gap < -CLOSE * error:
        return f"Exact zeros hurt, by {-gap:.2g} ± {error:.1g}: scores are small, but not zero."
    return f"Exact zeros make no difference to prediction ({abs(gap):.2g} ± {error:.1g}){share}."


def _on_priors(here: Mapping[str, int], measured: Measured) -> str:
    """Compare models without priors with the same models with priors."""
    pairs = [(here[a], here[b]) for a, b in (("plsi", "dm"), ("nmf", "gp")) if {a, b} <= set(here)]
    if not pairs:
        return ""
    gaps = [paired_gap(measured, plain, prior) for plain, prior in pairs]
    if all(gap > CLOSE * error for gap, error in gaps):
        most = max(gap for gap, _ in gaps)
        return (
            f"Priors help, by up to {most:.2g}: without them the fit follows chance, as there are "
            "too few tokens for so many numbers."
        )
    if all(gap < CLOSE * error for gap, error in gaps):
        return "Priors make no difference, or hurt: there are plenty of tokens."
    return ""


def _an(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
