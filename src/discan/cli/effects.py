# SPDX-License-Identifier: BSD-3-Clause
"""The command that compares documents of different labels: effects."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.options import ModelFile, Printing, one_of, printing
from discan.cli.plot import label_column
from discan.cli.printing import Style, check_writable, emit
from discan.cli.reading import load_model

__all__ = ["effects"]

log = logging.getLogger("discan")

OF = {
    "population": "the mean of all documents of the kind; these are a sample. The default.",
    "documents": "the mean of these documents alone; needs fit --keep-draws",
}


def effects(
    model: ModelFile,
    *,
    labels: Annotated[
        str | None,
        printing(
            "Column of the documents' metadata (party, population), or text file with one label "
            "per document and line.",
            metavar="COLUMN|FILE",
        ),
    ] = None,
    time: Annotated[
        str | None,
        printing(
            "Column of dates or numbers, or text file with one per document and line, instead of "
            "labels.",
            metavar="COLUMN|FILE",
        ),
    ] = None,
    contrast: Annotated[
        tuple[str, str] | None, printing("Print differences of two labels: first minus second.")
    ] = None,
    level: Annotated[float, printing("Probability of each interval.", min=0.01, max=0.9999)] = 0.9,
    of: Annotated[str, printing(**one_of(lambda: OF))] = "population",
    figure: Annotated[
        Path | None, printing("Figure to write: .html (interactive), .svg, .pdf or .png.")
    ] = None,
    style: Printing,
) -> None:
    """Compare labels: the mean share of each component by label or over time, with intervals.

    The intervals cover the sampling of documents, and the uncertainty of the fit if its draws were
    kept (fit --keep-draws). It is said which. The labels played no part in the fit; a difference is
    no cause.

    [b]Example:[/b] discan effects senate.discan --labels party --contrast D R
    """
    if (labels is None) == (time is None):
        raise typer.BadParameter("give either --labels or --time")
    check_writable(figure)
    if figure is not None:
        from discan.plot.export import check_ending

        check_ending(figure)
    from discan.evaluation.effects import effects as measured

    fit = load_model(model).fit
    questions = fit.layout.group_names
    if labels is not None:
        column = label_column(labels, fit.metadata, questions=questions)
        found = measured(fit, column, level=level, of=of)
    else:
        column = _numbers(label_column(str(time), fit.metadata, "time", questions))
        found = measured(fit, time=column, level=level, of=of)
    if contrast is None:
        _print(found, style.style)
    else:
        _print_contrast(found, contrast, style.style)
    nouns = fit.nouns
    log.info("intervals of %g %% cover %s", 100 * level, found.covers)
    if found.n_missing:
        log.info("%s %s without a value are left out", f"{found.n_missing:,}", nouns.documents)
    if figure is not None:
        from discan import plot

        plot.save(plot.effects(found, contrast=contrast), figure)
        log.info("figure written to %s", figure)


def _numbers(column: Any) -> Any:
    """Return the lines of a file as numbers if they are some; 2005 is a year, not a date."""
    try:
        return column if isinstance(column, str) else [float(line or "nan") for line in column]
    except ValueError:
        return column


def _print(found: Any, style: Style) -> None:
    """Print a row per label and component."""
    nouns = found.fit.nouns
    rows = [
        [
            title, name, int(found.n_documents[g]),
            *(_cell(values[g, k], style) for values in (found.mean, found.low, found.high)),
        ]
        for g, title in enumerate(found.labels)
        if found.n_documents[g]  # periods may be empty
        for k, name in enumerate(found.fit.component_names)
    ]  # fmt: skip
    emit(style, (found.by, nouns.component, nouns.documents, "mean", "low", "high"), rows)


def _print_contrast(found: Any, labels: tuple[str, str], style: Style) -> None:
    """Print a row per component."""
    pair = found.contrast(*labels)
    limits = (pair.difference, pair.low, pair.high)
    rows = [
        [name, *(_cell(values[k], style, signed=True) for values in limits)]
        for k, name in enumerate(found.fit.component_names)
    ]
    title = f"{pair.first} - {pair.second}" if style is Style.TABLE else "difference"
    emit(style, (found.fit.nouns.component, title, "low", "high"), rows)
    if style is Style.TABLE:
        log.info("differences are in percentage points")
    known = [k for k, value in enumerate(pair.low) if value == value]
    log.info(
        "%d of %d intervals do not hold 0; by chance alone about %.1f would not",
        int(pair.apart.sum()), len(known), (1 - found.level) * len(known),
    )  # fmt: skip


def _cell(value: float, style: Style, signed: bool = False) -> Any:
    """Return a share as people read it, or as it is."""
    if value != value:
        return None
    if style is not Style.TABLE:
        return float(value)
    return f"{100 * value:+.1f}" if signed else f"{100 * value:.1f}%"
