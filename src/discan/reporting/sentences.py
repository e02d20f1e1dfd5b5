# SPDX-License-Identifier: BSD-3-Clause
"""The sentences of a report: what the data are, how sure the result is, what was done."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from discan import __version__
from discan.errors import DiscanError
from discan.plot.lettering import an, percent
from discan.reporting.facts import Facts
from discan.typing import Array

__all__ = ["about", "convergence", "deviations", "explained", "prediction", "settings"]

Wording = Callable[[DiscanError], str]


def about(facts: Facts) -> str:
    """Say what the data are and how many components explain them."""
    fit, found = facts.fit, facts.components
    nouns, n_components = found.nouns, fit.n_components
    n_counts = float(facts.amounts.sum())
    counts = f"{n_counts:,.0f}"
    rows = f"{facts.n_documents:,} {nouns.documents if facts.n_documents != 1 else nouns.document}"
    if found.grouped:
        n_groups = fit.layout.n_groups
        data = f"{rows}, {n_groups:,} {found.groups}, {counts} {found.counts} in all"
    else:
        data = f"{rows}, {counts} counts of {fit.layout.n_words:,} {nouns.words}"
    kind = nouns.components if n_components != 1 else nouns.component
    new = " They are new: the model was fitted to others." if facts.new else ""
    return f"{data}, explained by {n_components} {kind}.{new}"


def explained(facts: Facts) -> str:
    """Say what a component is and what a document has of it."""
    found, nouns = facts.components, facts.components.nouns
    first = an(nouns.component).capitalize()
    if found.grouped:
        answer = "answer" if found.counts == "answers" else nouns.word
        what = f"{first} has a probability for each {answer} of each of the {found.groups}."
    else:
        what = f"{first} is a set of {nouns.words} that occur together, with their probabilities."
    share = "shares" if facts.fit.params.model.normalised else "amounts"
    mix = f"Each {nouns.document} is a mix of {nouns.components}: its {share} say how much of each."
    return f"{what} {mix}"


def convergence(facts: Facts, worded: Wording) -> list[str]:
    """Say whether the fit has converged, and what one fit cannot tell."""
    verdict = worded(facts.fit.verdict())
    lines = [verdict[:1].upper() + verdict[1:] + "."]
    if facts.empty:
        lines.append(
            f"Nearly empty, so that their {facts.components.nouns.words} mean little: "
            f"{', '.join(facts.empty)}."
        )
    lines.append(
        f"One fit cannot tell whether another start would find the same "
        f"{facts.components.nouns.components}. Fit again with another seed and compare."
    )
    return lines


def deviations(facts: Facts) -> tuple[str, Array | None]:
    """Say how exactly the shares of documents are known; standard deviations per component (K,)."""
    fit, nouns = facts.fit, facts.components.nouns
    if facts.new:
        return "", None
    if not fit.params.model.normalised:
        return (
            f"Standard deviations of the shares of {an(nouns.document)} are not known: the model "
            "gives amounts, not shares.",
            None,
        )
    sd = fit.scores_sd
    if sd is None:
        name = fit.algorithm.name.replace("-", " ")
        return (
            f"How exactly the shares of {an(nouns.document)} are known is not said by this "
            f"algorithm ({name}); variational, collapsed and gibbs give standard deviations.",
            None,
        )
    each = np.sqrt(np.mean(np.square(sd), axis=0))[facts.components.parts]
    return (
        f"The share of {an(nouns.component)} in {an(nouns.document)} is known to within "
        f"{percent(float(np.sqrt(np.mean(np.square(sd)))))} (posterior standard deviation, root "
        f"mean square over {nouns.documents} and {nouns.components}).",
        each,
    )


def prediction(facts: Facts, scores: tuple[float, float] | None) -> str:
    """Say how well half of each document is predicted from the other half."""
    if scores is None:
        return ""
    nouns = facts.components.nouns
    ours, plain = (math.exp(-score) for score in scores)
    seen = "" if facts.new else (
        f" These {nouns.documents} may be those of the fit: then this is not a test."
    )  # fmt: skip
    return (
        f"If half of each {nouns.document} is known, the other half is as hard to guess as one of "
        f"{ours:,.4g} equally likely {nouns.words}. Without {nouns.components} it is one of "
        f"{plain:,.4g}. Lower is better.{seen}"
    )


def settings(facts: Facts) -> dict[str, str]:
    """Return what was done, property by property."""
    fit = facts.fit
    told = fit.describe()
    model = fit.params.model
    row, part = fit.nouns.document, fit.nouns.component
    shares = (
        f"each {row} has shares of the {fit.nouns.components}, which sum to one"
        if model.normalised
        else f"each {row} has an amount of each {part}"
    )
    if fit.hyperparameter("rho") is not None:
        shares += f"; {an(part)} may be absent from {an(row)}"
    result = {
        "model": f"{model.name}: {shares}",
        "algorithm": str(told["algorithm"]),
        "components": str(told["components"]),
        "cycles": f"{told['cycles']:,}"
        + (f", {told['seconds']:,.1f} seconds" if told["seconds"] is not None else ""),
        "stopped": str(told["stopped"] or "-"),
        "seed": str(told["seed"] or "-"),
    }
    for name in ("alpha", "beta", "rho", "gamma"):
        value = fit.hyperparameter(name)
        if value is not None:
            learnt = ", learnt from the data" if name in fit.settings.get("learnt", ()) else ""
            result[name] = _range(value) + learnt
    if fit.reading:
        result["data read as"] = _reading(fit.reading)
    if facts.documents.metadata:
        result["metadata"] = ", ".join(facts.documents.metadata)
    return {**result, "written by": f"discan {__version__}"}


def _range(values: Any) -> str:
    """Write one number, or the range of several."""
    low, high = float(np.min(values)), float(np.max(values))
    return f"{low:.4g}" if np.isclose(low, high) else f"{low:.4g} to {high:.4g}"


def _reading(reading: dict[str, Any]) -> str:
    """Write how the data were read."""
    options = reading.get("options")
    flat = {**{k: v for k, v in reading.items() if k != "options"}, **(options or {})}
    kind = flat.pop("format", "")
    given = ", ".join(
        f"{name} = {value}" for name, value in flat.items() if isinstance(value, (str, int, float))
    )
    return ", ".join(part for part in (str(kind), given) if part) or "-"
