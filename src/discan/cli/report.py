# SPDX-License-Identifier: BSD-3-Clause
"""The command that describes a model on a page: report."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from discan.cli.errors import shell_wording
from discan.cli.options import ModelFile, NewData, Quiet
from discan.cli.printing import check_writable
from discan.cli.reading import load_model, model_and_data
from discan.errors import InputError

__all__ = ["report"]

log = logging.getLogger("discan")

# Flags of fit, which the advice of a report names.
FLAGS: Mapping[str, str] = {
    name: f"--{name.replace('_', '-')}" for name in ("max_iter", "burn_in", "algorithm", "draws")
}


def report(
    model: ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(help="New documents to describe instead of those of the fit."),
    ] = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write: .html.")],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the documents' metadata to show; repeat for several. By default those "
            "with few different values.",
            metavar="COLUMN",
        ),
    ] = None,
    words: Annotated[int, typer.Option(help="Words per component.", min=1)] = 8,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    reading: NewData,
    quiet: Quiet = False,
) -> None:
    """Describe a model on a page of HTML: in figures, and in plain words.

    Sizes, what sets each component apart, typical documents, shares by label and over time, a map,
    how sure the result is, and what was done. One file; it opens without a network. With data, new
    documents are described, and how well the model predicts them.

    [b]Example:[/b] discan report model/ -o report.html
    """
    from discan.plot.page import write_page
    from discan.reporting import report as described

    if output.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{output}: the name of a report must end in .html")
    check_writable(output)
    if data is None:
        loaded, corpus = load_model(model), None
    else:
        loaded, corpus = model_and_data(model, data, reading)
    page = described(
        loaded.fit, corpus, labels=labels or (), n_words=words, title=title,
        n_jobs=reading.threads, worded=lambda error: shell_wording(error, FLAGS),
    )  # fmt: skip
    write_page(output, page)
    log.info("report written to %s", output)
