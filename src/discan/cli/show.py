# SPDX-License-Identifier: BSD-3-Clause
"""The commands that look at a model: show, plot and info."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from discan.cli.labels import read_labels
from discan.cli.options import DATASET, Listing, ModelFile, Printing, Quiet, TextReading, one_of
from discan.cli.options import printing as printed
from discan.cli.printing import check_writable, emit, emit_record, listing, terminal_width, to_json
from discan.cli.reading import find_data, load_model, read_found
from discan.errors import InputError

__all__ = ["FIGURES", "Figure", "info", "plot", "show"]

log = logging.getLogger("discan")


class Figure(NamedTuple):
    """A kind of figure: a function of `discan.plot`, its settings, and the argument for labels."""

    summary: str
    function: str
    settings: Mapping[str, Any] = {}
    labels: str | None = None


FIGURES = {
    "membership": Figure("one bar per document", "membership", {"order": "similar"}),
    "structure": Figure("thousands of documents, group by group", "structure", labels="groups"),
    "squares": Figure(
        "documents as shaded squares, in rows", "membership_squares", {"order": "similar"}, "rows"
    ),
    "heatmap": Figure("words or answers by component", "heatmap"),
    "map": Figure("which components are alike", "component_map"),
    "trace": Figure("the objective during the fit", "trace"),
}
KINDS = {name: figure.summary for name, figure in FIGURES.items()}


def show(
    model: ModelFile,
    *,
    words: Annotated[int, printed("Words per component.", min=0)] = 8,
    documents: Annotated[int, printed("Typical documents per component.", min=0)] = 3,
    style: Listing,
) -> None:
    """Show the components: their sizes, words and most typical documents, largest first.

    Words are listed by probability and by lift. The lift is how many times likelier a word is in
    the component than in all the data: it shows what is special about the component.

    [b]Example:[/b] discan show model/ --words 12
    """
    loaded = load_model(model)
    found = loaded.fit.summary(words, documents, loaded.component_names)
    if style.json:
        sys.stdout.write(to_json([component.as_dict() for component in found]))
    elif style.csv:
        columns = ("component", "size", "list", "rank", "name", "value")
        emit(style.style, columns, (row for component in found for row in _rows(component)))
    else:
        grouped = loaded.fit.layout.n_groups > 1
        sys.stdout.write("\n".join(_paragraph(component, grouped) for component in found))


def plot(
    model: ModelFile,
    kind: Annotated[str, typer.Argument(**one_of(lambda: KINDS))],
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Figure to write: .html (interactive), .svg or .png."),
    ],
    labels: Annotated[
        str | None,
        typer.Option(
            help="Column that describes the documents, e.g. party, or text file with one label per "
            "document and line: the groups of structure, or the rows of squares."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the figure.")] = None,
    quiet: Quiet = False,
) -> None:
    """Draw a model: its documents, its components, or its fit.

    A .png needs Chrome, Chromium or the package cairosvg; .svg and .html need nothing.

    [b]Example:[/b] discan plot model/ map -o map.svg
    """
    from discan import plot as figures
    from discan.estimators import load
    from discan.plot.export import check_ending

    check_ending(output)
    check_writable(output)
    figure = FIGURES[kind]
    settings = dict(figure.settings)
    if title is not None:
        settings["title"] = title
    if labels is not None:
        if figure.labels is None:
            takers = " and ".join(name for name, other in FIGURES.items() if other.labels)
            raise InputError(f"--labels applies only to {takers}, not to {kind}")
        settings[figure.labels] = read_labels(labels, load_model(model).fit)
    figures.save(getattr(figures, figure.function)(load(model), **settings), output)
    log.info("figure written to %s", output)


def info(
    path: Annotated[str, typer.Argument(help="Model, run folder, or any data that can be read.")],
    *,
    reading: TextReading,
    printing: Printing,
) -> None:
    """Describe a model file, a run folder or data.

    With any option that says how to read the data, the path is taken for data.

    [b]Example:[/b] discan info model/
    """
    from discan.fitting.modelfile import model_path
    from discan.fitting.summary import describe_corpus

    folder, file = Path(path), model_path(path)
    if path.startswith(DATASET) or reading != TextReading():
        record = None
    elif (folder / "settings.discan").is_file() and not file.is_file():
        record = _describe_run(folder)
    else:
        record = load_model(file).describe() if _is_model(file) else None
    if record is None:
        found = find_data(path, reading)
        record = {"format": found.format} if found.format else {}
        record |= describe_corpus(read_found(found, reading))
    emit_record(printing.style, record)


def _paragraph(component: Any, grouped: bool) -> str:
    """Describe one component for people."""

    def lift(word: Any) -> str:
        if not grouped:
            return str(word.name)
        return f"{word.name} ({_percent(word.probability)}, all {_percent(word.overall)})"

    entries = {
        "by probability": [word.name for word in component.words],
        "by lift": [lift(word) for word in component.distinctive],
        "typical": [name for name, _ in component.documents],
    }
    title = f"{component.name}: {100 * component.size:.1f} % of the tokens"
    return listing(title, entries, terminal_width())


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"  # no space, where a line could break


def _rows(component: Any) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of one component in a table."""
    lists = {
        "probability": [(word.name, word.probability) for word in component.words],
        "lift": [(word.name, word.lift) for word in component.distinctive],
        "documents": component.documents,
    }
    for kind, items in lists.items():
        for rank, (name, value) in enumerate(items, start=1):
            yield component.name, component.size, kind, rank, name, value


def _describe_run(folder: Path) -> dict[str, Any]:
    """Describe the run that a folder holds."""
    from discan.data.storage import read_file

    header, _ = read_file(folder / "settings.discan", "settings")
    state = folder / "state.discan"
    settings = header["settings"]
    algorithm = settings.get("algorithm")
    return {
        "holds": "a run",
        "class": header["class"],
        "cycles": read_file(state, "state")[0]["cycle"] if state.is_file() else 0,
        "components": settings.get("n_components"),
        "model": settings.get("model"),
        "algorithm": algorithm["object"] if isinstance(algorithm, dict) else algorithm,
        "seed": str(settings.get("random_state")),
    }


def _is_model(file: Path) -> bool:
    """Tell whether a file is discan's and no corpus; the name tells it of a damaged file."""
    try:
        with file.open("rb") as stream:
            head = stream.read(2**16)
    except OSError:
        return False
    if rb"\"kind\": \"corpus\"" in head:
        return False
    return head[8:24] == b'{"__metadata__":' or file.name.endswith(".discan")
