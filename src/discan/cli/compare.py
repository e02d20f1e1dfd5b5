# SPDX-License-Identifier: BSD-3-Clause
"""The commands that judge components: compare and quality."""

from __future__ import annotations

import logging
import sys
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.options import ModelFile, NewData, Printing, one_of, printing
from discan.cli.printing import Style, check_writable, emit, plain, to_json
from discan.cli.reading import load_model, model_and_data

__all__ = ["compare", "quality"]

log = logging.getLogger("discan")

MEASURES = {
    "hellinger": "0: equal, 1: no word in common. The default.",
    "jensen-shannon": "the same range, by the information that tells the two apart",
}


def compare(
    models: Annotated[
        list[Path], typer.Argument(help="Two model files, or more: each is compared with the next.")
    ],
    *,
    distance: Annotated[str, printing(**one_of(lambda: MEASURES))] = "hellinger",
    figure: Annotated[
        Path | None,
        printing("Figure to write: how components flow from model to model (.html, .svg, .png)."),
    ] = None,
    style: Printing,
) -> None:
    """Compare models: which components are the same, which split, merged or appeared.

    The numbers of components may differ. Components are matched one to one so that the sum of their
    distances is the least; words are matched by name. Splits and merges are told by writing each
    component as a mixture of those of the other model.

    [b]Example:[/b] discan compare k5.discan k6.discan --figure flow.html
    """
    if len(models) < 2:
        raise typer.BadParameter("give at least two models", param_hint="MODELS")
    check_writable(figure)
    if figure is not None:
        from discan.plot.export import check_ending

        check_ending(figure)
    from discan.evaluation.comparison import compare as compared

    fits = [load_model(path).fit for path in models]
    found = [compared(a, b, distance) for a, b in pairwise(fits)]
    names = [(str(a), str(b)) for a, b in pairwise(models)]
    if style.json:
        records = [
            {"models": list(pair), **each.as_dict()}
            for pair, each in zip(names, found, strict=True)
        ]
        sys.stdout.write(to_json(records[0] if len(records) == 1 else records))
    else:
        _print(found, names, style.style)
    if figure is not None:
        from discan import plot

        numbers = [fit.n_components for fit in fits]
        titles = None if len(set(numbers)) == len(numbers) else [_short(p) for p in models]
        plot.save(plot.flow(fits, titles=titles), figure)
        log.info("figure written to %s", figure)


def quality(
    model: ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(help="Documents in which the coherence of the components is measured."),
    ] = None,
    *,
    words: Annotated[int, printing("First words per component that are looked at.", min=2)] = 10,
    reading: NewData,
    style: Printing,
) -> None:
    """Measure how good each component is, and flag dead components and twins.

    With data: coherence, that is whether the first words of the component occur in the same
    documents (npmi from -1 to 1, above 0 is better than chance; u_mass, near 0 is best). Always:
    exclusivity (1: its words are in no other component), lift (how much likelier its words are than
    in all the data), effective number of documents, nearest component and its Hellinger distance,
    and after several chains the stability.

    [b]Example:[/b] discan quality model/ texts.jsonl
    """
    from discan.evaluation.quality import quality as measured

    if data is None:
        fit, corpus = load_model(model).fit, None
    else:
        (fit, _), corpus = model_and_data(model, data, reading)
    found = [row.as_dict() for row in measured(fit, corpus, words)]
    kept = [name for name in found[0] if any(row[name] is not None for row in found)]
    titles = [_TITLES.get(name, name) for name in kept]
    if style.style is Style.TABLE:
        rows = [[_cell(name, row[name]) for name in kept] for row in found]
    else:
        rows = [[row[name] for name in kept] for row in found]
    emit(style.style, titles if style.style is Style.TABLE else kept, rows)
    for flag, told in _FLAGS.items():
        named = [plain(row["component"]) for row in found if row["flags"] == flag]
        if named:
            log.info("%s: %s", ", ".join(named), told)
    if data is None:
        log.info("coherence needs documents: discan quality %s DATA", model)


_TITLES = {"u_mass": "u_mass", "documents": "eff. documents"}
_FLAGS = {
    "dead": "next to no tokens; fewer components would do",
    "twin": "nearly equal to the nearest one; fewer components would do, or the fit is stuck",
}


def _cell(name: str, value: Any) -> Any:
    if name == "size":
        return f"{100 * value:.1f}%"
    if name == "documents":
        return f"{value:.0f}"
    return f"{value:.2f}" if isinstance(value, float) else value


def _print(found: list[Any], names: list[tuple[str, str]], style: Style) -> None:
    """Print tables, and the verdicts for people."""
    several = len(found) > 1
    rows = []
    for pair, each in zip(names, found, strict=True):
        first, second = each.first.component_names, each.second.component_names
        rows += [
            [
                *(pair if several else ()),
                "" if row.first is None else first[row.first],
                "" if row.second is None else second[row.second],
                row.distance if style is not Style.TABLE or row.distance is None
                else f"{row.distance:.2f}",
                row.relation,
            ]
            for row in each.relations
        ]  # fmt: skip
    columns = [*(("model", "next model") if several else ()), "first", "second", "distance"]
    emit(style, [*columns, "relation"], rows)
    if style is not Style.TABLE:
        return
    for pair, each in zip(names, found, strict=True):
        if several:
            sys.stdout.write(f"\n{plain(pair[0])} and {plain(pair[1])}:")
        sys.stdout.write("\n" + "".join(f"{plain(text)}\n" for text in each.sentences))


def _short(path: Path) -> str:
    """Name a model by its file, or by its folder."""
    return path.parent.name if path.name == "model.discan" else path.stem
