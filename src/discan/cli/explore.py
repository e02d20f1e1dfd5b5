# SPDX-License-Identifier: BSD-3-Clause
"""The command that builds an interactive page about a model: explore."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discan.cli.errors import shell_wording
from discan.cli.options import ModelFile, NewData, Quiet, bytes_of, size_option
from discan.cli.printing import check_writable
from discan.cli.reading import Model, find_data, load_model, read_data
from discan.cli.report import FLAGS
from discan.errors import InputError

if TYPE_CHECKING:
    from discan.data.corpus import Corpus

__all__ = ["explore"]

log = logging.getLogger("discan")


def explore(
    model: ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(
            help="The data of the fit, to show texts and answers; or new documents to show instead."
        ),
    ] = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write: .html.")],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the documents' metadata to show as labels; repeat for several. Columns "
            "with few different values are always shown.",
            metavar="COLUMN",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    max_size: Annotated[
        str | None,
        size_option("Largest size of the page (default: 25 MB); a smaller page shows less."),
    ] = None,
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Leave out the texts of the documents.")
    ] = False,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    reading: NewData,
    quiet: Quiet = False,
) -> None:
    """Build an interactive page: components, documents, map, labels and search, all linked.

    One file, which opens without a network: send it to a colleague. It works for texts and for
    votes, surveys, genotypes and cells. Give the data as well to see texts and answers.

    [b]Example:[/b] discan explore model/ reviews/ -o reviews.html --open
    """
    from discan.explorer import explore as build
    from discan.explorer.explore import LARGEST

    if output.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{output}: the name of a page must end in .html")
    check_writable(output)
    loaded, corpus = _read(model, data, reading, not no_text)
    limit = LARGEST if max_size is None else bytes_of(max_size)
    page = build(
        loaded.fit, corpus, max_size=limit, labels=labels or (), title=title, text=not no_text,
        n_jobs=reading.threads, worded=lambda e: shell_wording(e, FLAGS),
    )  # fmt: skip
    page.save(output)
    log.info("page of %.1f MB written to %s", len(page.html) / 1e6, output)
    if open_it:
        import webbrowser

        if not webbrowser.open(output.resolve().as_uri()):
            log.warning("no browser was found; open %s yourself", output)


def _read(
    model: Path, data: str | None, reading: NewData, text: bool
) -> tuple[Model, Corpus | None]:
    """Load the model and the data, with the beginning of each text."""
    loaded = load_model(model)
    if data is None:
        return loaded, None
    from discan.explorer.explore import LONGEST_TEXT
    from discan.readers import READERS

    loaded = loaded._replace(fit=loaded.fit.folding_in(reading.fold_in))
    found = find_data(data, reading, loaded.fit)
    if text and found.format is not None and "excerpt" in READERS[found.format].options:
        reading = replace(reading, format=found.format,
                          option=[f"excerpt={LONGEST_TEXT}", *(reading.option or [])])  # fmt: skip
    return loaded, read_data(data, reading, loaded.fit)
