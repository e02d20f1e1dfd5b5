# SPDX-License-Identifier: BSD-3-Clause
"""The command that estimates the evidence of a model."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.options import Data, Printing, TextReading, Threads, fitting, one_of, running
from discan.cli.printing import Style, emit
from discan.cli.reading import load_model, read_data
from discan.registry import entries

__all__ = ["evidence"]

METHODS = {
    "ais": "Annealed importance sampling: unbiased for p.",
    "ti": "Thermodynamic integration: consistent.",
    "chib": "Chib's method at one point of the loadings: consistent.",
    "bound": "Bound of variational Bayes, the best of five starts: a lower bound.",
}


def _models() -> dict[str, str]:
    return {entry.shown: entry.summary for entry in entries("discan.models")}


def _known_methods(text: str) -> str:
    for name in text.split(","):
        if name.strip() not in METHODS:
            raise typer.BadParameter(f"{name.strip()!r}; use one of {', '.join(METHODS)}")
    return text


def evidence(
    data: Data,
    *,
    components: Annotated[int, fitting("Number of components.", "--components", "-k", min=1)] = 10,
    model: Annotated[str, fitting(**one_of(_models))] = "dm",
    like: Annotated[
        Path | None,
        fitting("Model file: take its model, its number of components and its priors."),
    ] = None,
    alpha: Annotated[float | None, fitting("Prior shape of a document's mix.")] = None,
    beta: Annotated[
        float | None, fitting("Prior rate of a document's amounts (gp and cgp).")
    ] = None,
    rho: Annotated[
        float | None, fitting("Prior probability that a component is absent (cgp).")
    ] = None,
    gamma: Annotated[float | None, fitting("Prior shape of a component's words.")] = None,
    method: Annotated[
        str,
        running(**one_of(lambda: METHODS) | {"callback": _known_methods}),
    ] = "ais",
    temperatures: Annotated[
        int | None, running("Temperatures of ais (one sweep each) or ti (many).", min=2)
    ] = None,
    runs: Annotated[
        int | None, running("Independent runs, or starts of the bound; they give the error.", min=1)
    ] = None,
    seed: Annotated[int, running("Seed of all random numbers.", min=0)] = 0,
    threads: Threads = -1,
    reading: TextReading,
    printing: Printing,
) -> None:
    """Estimate the evidence log p(data | K): how probable the data are before the model saw them.

    Components and mixes are integrated out; the priors are fixed. All estimates are in nats, with
    a Monte-Carlo error, and a warning if doubling the effort still moves them. Two values of K, or
    two models, can be compared by the evidence "given the totals", if their difference is larger
    than the errors. For large data no estimate converges: there choose K by held-out prediction.
    Several methods may be given, separated by commas.

    [b]Example:[/b] discan evidence survey.csv -k 3 --method ais,bound
    """
    from discan.evaluation.evidence import EVIDENCE_METHODS, log_evidence

    fit = None if like is None else load_model(like).fit
    corpus = read_data(data, reading, fit)
    found = []
    for name in method.split(","):
        options = {"n_temperatures": temperatures, "n_runs": runs, "n_starts": runs}
        how: Any = EVIDENCE_METHODS[name.strip()]
        own = {field.name for field in dataclasses.fields(how)}
        options = {key: value for key, value in options.items() if key in own and value}
        one = log_evidence(
            corpus, components, method=how(**options), model=model, alpha=alpha, beta=beta,
            rho=rho, gamma=gamma, fit=fit, n_jobs=threads, random_state=seed,
        )  # fmt: skip
        found.append(one)
    if printing.style is Style.JSON:
        records = [one.describe() for one in found]
        emit(printing.style, tuple(records[0]), [tuple(one.values()) for one in records])
        return
    columns = ("method", "log evidence", "error", "given the totals", "seconds", "what it is")
    rows = [
        (
            one.method, _nats(one.value), _short(one.error), _nats(one.given_totals),
            round(one.seconds, 1), one.kind,
        )
        for one in found
    ]  # fmt: skip
    emit(printing.style, columns, rows)
    if printing.style is Style.TABLE:
        _explain(found[0], found)


def _explain(first: Any, found: list[Any]) -> None:
    """Say what the numbers are of, after the table."""
    typer.echo(f"\n{first.model}, {first.n_components} components; event: {first.event}")
    priors = (
        f"{name} {values.min():.3g}"
        + (f" to {values.max():.3g}" if values.max() > values.min() else "")
        for name, values in first.hyperparameters.items()
    )
    typer.echo(f"priors: {', '.join(priors)}")
    for one in found:
        typer.echo(f"{one.method}: {one.labels}")
        if one.warning:
            typer.echo(f"{one.method}: {one.warning}")
        elif one.moved is not None:
            typer.echo(f"{one.method}: doubling the effort moved it by {one.moved:+.3g} nats only")


def _nats(value: float | None) -> str | None:
    return None if value is None else f"{value:,.2f}"


def _short(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.2g}")
