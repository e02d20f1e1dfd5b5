# SPDX-License-Identifier: BSD-3-Clause
"""The command that writes a model for other tools: export."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discan.cli.options import ModelFile, Quiet, one_of
from discan.cli.printing import check_writable, to_csv
from discan.cli.reading import load_model
from discan.errors import InputError

if TYPE_CHECKING:
    from discan.fitting.result import Fit

__all__ = ["export"]

log = logging.getLogger("discan")

FORMATS = {
    "admixture": "Q and P files, for tools of population genetics.",
    "csv": "Two tables with names: NAME-documents.csv and NAME-components.csv.",
    "parquet": "The same two tables as Parquet files.",
}


def export(
    model: ModelFile,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: NAME.Q or NAME.P; NAME alone writes NAME.K.Q and NAME.K.P. Tables "
            "(csv, parquet) are written to NAME-documents and NAME-components.",
        ),
    ],
    format: Annotated[str, typer.Option("--format", **one_of(lambda: FORMATS))] = "admixture",
    quiet: Quiet = False,
) -> None:
    """Write a model for other tools: ADMIXTURE's Q and P files, CSV or Parquet.

    Q has a row per document and a column per component: its shares. P has a row per locus of two
    alleles, with the frequency of the second allele; a locus of more alleles has a row per allele.
    Numbers are separated by spaces, without names, in the order of the data. The tables of csv and
    parquet have names: a row per document with what describes it and its shares, and a row per
    word with its probability in each component.

    [b]Example:[/b] discan export model/ -o ancestry
    """  # fmt: skip
    fit = load_model(model).fit
    if format == "admixture":
        _write_admixture(fit, output)
    else:
        _write_tables(fit, output, format)


def _write_admixture(fit: Fit, output: Path) -> None:
    from discan.data.storage import write_whole
    from discan.evaluation.ancestry import frequencies, table_text

    kind = output.suffix
    if kind in (".Q", ".P"):
        files = {kind: output}
    else:
        k = fit.n_components
        files = {end: output.with_name(f"{output.name}.{k}{end}") for end in (".Q", ".P")}
    for file in files.values():
        check_writable(file)
    if ".Q" in files and fit.documents is None:
        raise InputError("the components were given, so there are no documents to write")
    for end, file in files.items():
        table = fit.proportions if end == ".Q" else frequencies(fit)
        write_whole(file, table_text(table).encode("ascii"))
        log.info("%d rows, %d columns written to %s", *table.shape, file)


def _write_tables(fit: Fit, output: Path, format: str) -> None:
    """Write the tables of documents and of components."""
    stem = output.name.removesuffix(f".{format}")
    tables = {"components": _components(fit)}
    if fit.documents is not None:
        tables = {"documents": _documents(fit), **tables}
    files = {part: output.with_name(f"{stem}-{part}.{format}") for part in tables}
    for file in files.values():
        check_writable(file)
    for part, columns in tables.items():
        _write_table(files[part], columns, format)
        rows = len(next(iter(columns.values())))
        log.info("%d rows, %d columns written to %s", rows, len(columns), files[part])


def _documents(fit: Fit) -> dict[str, Any]:
    """Columns of the table of documents: name, metadata, shares."""
    names = fit.document_names or tuple(map(str, range(len(fit.proportions))))
    shares = dict(zip(fit.component_names, fit.proportions.T, strict=True))
    first = {fit.nouns.document: list(names)}
    facts = {
        name if name not in {*first, *shares} else f"{name} (metadata)": column
        for name, column in fit.metadata.items()
    }
    return {**first, **facts, **shares}


def _components(fit: Fit) -> dict[str, Any]:
    """Columns of the table of components: word, group, probabilities."""
    from discan.fitting.summary import word_labels

    layout = fit.layout
    columns: dict[str, Any] = {fit.nouns.word: list(word_labels(layout, fit.nouns.word))}
    if layout.n_groups > 1:
        titles = layout.group_names or tuple(map(str, range(layout.n_groups)))
        columns["group"] = [titles[g] for g in layout.group_of_word]
    return {**columns, **dict(zip(fit.component_names, fit.components, strict=True))}


def _write_table(path: Path, columns: Mapping[str, Any], format: str) -> None:
    from discan.data.storage import write_whole

    if format == "csv":
        rows = zip(*(map(_cell, column) for column in columns.values()), strict=True)
        write_whole(path, to_csv(list(columns), rows))
        return
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow; install discan[parquet]") from None
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.table({name: list(map(_cell, c)) for name, c in columns.items()}),
                        sink)  # fmt: skip
    write_whole(path, sink.getvalue().to_pybytes())


def _cell(value: Any) -> Any:
    """A plain number, a text, or None if it is missing."""
    if isinstance(value, str) or value is None:
        return value
    number = float(value)
    return None if number != number else number
