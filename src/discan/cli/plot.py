# SPDX-License-Identifier: BSD-3-Clause
"""The command that draws a model: plot."""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from discan.cli.options import ModelFile, Quiet, one_of
from discan.cli.printing import check_writable
from discan.cli.reading import load_model
from discan.data.regular import read_text
from discan.errors import InputError

__all__ = ["FIGURES", "Figure", "label_column", "plot"]

log = logging.getLogger("discan")

PANEL = "What to draw"


class Figure(NamedTuple):
    """A kind of figure: a function of `discan.plot`, its settings, and what it takes.

    ``labels`` is its argument for labels; ``needs`` says what they must be, if it needs them.
    """

    summary: str
    function: str
    takes: frozenset[str]
    settings: Mapping[str, Any] = {}
    labels: str = "labels"
    needs: str = ""


def _takes(*options: str) -> frozenset[str]:
    return frozenset(options)


FIGURES = {
    "sizes": Figure("bars: how large the components are", "sizes", _takes("components", "words")),
    "words": Figure(
        "bars: the words or answers of each component", "top_words", _takes("components", "words")
    ),
    "map": Figure(
        "which components are alike", "component_map", _takes("components", "words")
    ),
    "heatmap": Figure(
        "words or answers by component", "heatmap", _takes("components", "words")
    ),
    "structure": Figure(
        "all documents side by side, group by group", "structure",
        _takes("components", "words", "labels", "order"),
    ),
    "membership": Figure(
        "one bar per document", "membership", _takes("components", "words", "order"),
        {"order": "similar"},
    ),
    "squares": Figure(
        "documents as shaded squares, in rows", "membership_squares",
        _takes("components", "labels", "order"), {"order": "similar"},
    ),
    "labels": Figure(
        "mean shares by label, e.g. by party", "by_label",
        _takes("components", "words", "labels", "order"), needs="labels",
    ),
    "time": Figure(
        "mean shares over time", "over_time", _takes("components", "words", "labels"),
        labels="time", needs="dates",
    ),
    "chains": Figure("whether the chains of fit --chains agree", "chains", _takes("words")),
    "trace": Figure("the objective during the fit", "trace", _takes()),
}  # fmt: skip
KINDS = {name: figure.summary for name, figure in FIGURES.items()}


def plot(
    model: ModelFile,
    kind: Annotated[str, typer.Argument(**one_of(lambda: KINDS))],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Figure to write: .html (interactive), .svg, .pdf or .png."
        ),
    ],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the documents' metadata (party, population, date), or text file with "
            "one label per document and line. Twice: regions, then populations (structure).",
            metavar="COLUMN|FILE",
            rich_help_panel=PANEL,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="Order of documents and labels: [b]similar[/b] (the default), [b]given[/b], "
            "[b]name[/b], [b]size[/b], or a column of the metadata.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    components: Annotated[
        str | None,
        typer.Option(
            help="Components to show, by number or name: 1-5,8. Others are drawn as one, in grey.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    words: Annotated[
        int | None,
        typer.Option(help="Words per component.", min=0, rich_help_panel=PANEL),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the figure.", rich_help_panel=PANEL)
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Draw a model: its components, its documents, or its fit.

    An .html page fits the window and shows details under the pointer. A .png needs Chrome,
    Chromium or the package cairosvg; the other formats need nothing.

    [b]Example:[/b] discan plot model/ words -o words.html
    """  # fmt: skip
    from discan import plot as figures
    from discan.plot.export import check_ending

    check_ending(output)
    check_writable(output)
    figure = FIGURES[kind]
    given = {"labels": labels, "order": order, "components": components, "words": words}
    for option, value in given.items():
        if value is not None and option not in figure.takes:
            takers = [name for name, other in FIGURES.items() if option in other.takes]
            raise InputError(f"--{option} applies only to {_listed(takers)}, not to {kind}")
    fit = load_model(model).fit
    settings = dict(figure.settings)
    if title is not None:
        settings["title"] = title
    if order is not None:
        settings["order"] = order
    if words is not None:
        settings["n_words"] = max(words, 1) if kind in ("words", "heatmap") else words
    if components is not None:
        settings["components"] = parse_components(components, fit)
    if labels or figure.needs:
        metadata = fit.metadata
        columns = [
            label_column(name, metadata, questions=fit.layout.group_names)
            for name in labels or [_found(figure, metadata, kind)]
        ]
        settings[figure.labels] = columns[0] if len(columns) == 1 else columns
    figures.save(getattr(figures, figure.function)(fit, **settings), output)
    log.info("figure written to %s", output)


def parse_components(text: str, fit: Any) -> list[int | str]:
    """Read numbers, ranges and names of components: "1-5,8,weather"."""
    names = fit.component_names
    if text.strip() in names:
        return [text.strip()]
    result: list[int | str] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        bounds = re.fullmatch(r"(\d+)(?:\s*-\s*(\d+))?", part)
        if part in names or bounds is None:
            result.append(part)
        else:
            last = int(bounds[2] or bounds[1])
            if last > len(names):
                raise InputError(
                    f"there is no component {last}",
                    remedy=f"give numbers from 1 to {len(names)}, or names",
                )
            result += range(int(bounds[1]), last + 1)
    return result


def _found(figure: Figure, metadata: Mapping[str, Any], kind: str) -> str:
    """Find the one column that a figure can use; refuse to choose among several."""
    from discan.data.periods import days
    from discan.plot.ordering import is_label

    def fits(column: Any) -> bool:
        if figure.needs == "dates":
            return column.dtype == object and days(column) is not None
        return is_label(column)

    found = [name for name, column in metadata.items() if fits(column)]
    if len(found) == 1:
        log.info("%s: by the column %r", kind, found[0])
        return found[0]
    if found or metadata:
        use = found or list(metadata)
        raise InputError(f"say which column has the {figure.needs}: --labels {' or '.join(use)}")
    raise InputError(
        f"the model has no metadata of its documents, so {kind} needs --labels FILE, a text file "
        "with one line per document"
    )


def label_column(
    name: str,
    metadata: Collection[str],
    option: str = "labels",
    questions: Collection[str] | None = None,
) -> Any:
    """Return the name of a column, or the lines of a file; ``questions`` are counted columns."""
    if name in metadata:
        return name
    path = Path(name)
    if not path.exists():
        if name in (questions or ()):
            problem = "it was counted, so it does not describe the documents; fit again with"
            raise InputError(f"--{option} {name}: {problem} --metadata {shlex.quote(name)}")
        columns = _listed(list(metadata)) or "none"
        raise InputError(
            f"--{option} {name}: no such column and no such file; the columns are: {columns}"
        )
    return read_text(path, "labels").splitlines()


def _listed(names: Sequence[str]) -> str:
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last
