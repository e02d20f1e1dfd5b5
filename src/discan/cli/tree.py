# SPDX-License-Identifier: BSD-3-Clause
"""The command that arranges the components of a model in a tree: tree."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.options import ModelFile, NewData, Printing, one_of, printing
from discan.cli.printing import Style, check_writable, emit, plain, to_json
from discan.cli.reading import load_model, model_and_data
from discan.errors import InputError

__all__ = ["tree"]

log = logging.getLogger("discan")

DISTANCES = {
    "hellinger": "0: equal, 1: no word in common. The default.",
    "jensen-shannon": "the same range, by the information that tells the two apart",
}
LINKAGES = {
    "ward": "merge the branches whose merge adds least to the variance inside. The default.",
    "average": "branches are as far apart as their components on average",
    "complete": "as the two components that are farthest apart",
    "single": "as the two components that are nearest",
}
NEWICK = (".nwk", ".newick", ".tree")


def tree(
    model: ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(help="Documents new to the model, to measure the cost of merging."),
    ] = None,
    *,
    cut: Annotated[
        int | None, printing("Merge the components into so many.", "--cut", min=1)
    ] = None,
    height: Annotated[
        float | None, printing("Merge the components that join at this distance.", min=0.0)
    ] = None,
    distance: Annotated[str, printing(**one_of(lambda: DISTANCES))] = "hellinger",
    linkage: Annotated[str, printing(**one_of(lambda: LINKAGES))] = "ward",
    words: Annotated[int, printing("Words per branch, by lift.", min=0)] = 5,
    output: Annotated[
        Path | None,
        printing(
            "File to write: .nwk (Newick), .json, a figure (.html, .svg, .pdf, .png), or the "
            "merged components as a model (.discan, with --cut or --height).",
            "--output", "-o",
        ),
    ] = None,
    reading: NewData,
    style: Printing,
) -> None:  # fmt: skip
    """Arrange the components in a tree: the two nearest merge, again and again.

    Each line has the distance at which its branches join, or a component, then its share of all
    tokens and the words that set it apart. With --cut or --height the tree ends at merged
    components. With data, it is said how much worse merged components predict them: a half of each
    document from the other half. Nothing is fitted again.

    [b]Example:[/b] discan tree model/ test.jsonl --cut 8 -o tree.html
    """
    check_writable(output)
    kind = _kind(output, cut, height)
    if cut is not None and height is not None:
        raise typer.BadParameter("choose one of --cut and --height")
    if data is None:
        fit, corpus = load_model(model).fit, None
    else:
        (fit, _), corpus = model_and_data(model, data, reading)
    from discan.hierarchy.tree import grow

    found = grow(fit, distance, linkage)
    nodes = None if cut is None and height is None else found.cut(cut, height)
    costs = [] if corpus is None else _costs(found, corpus, nodes, reading)
    _print(found, nodes, costs, words, style.style)
    if output is not None:
        _write(found, output, kind, cut, height, words, model)
        log.info("%s written to %s", kind, output)


def _kind(output: Path | None, cut: int | None, height: float | None) -> str:
    """Tell by the ending of a file what to write."""
    ending = "" if output is None else output.suffix.lower()
    if output is None or ending in NEWICK or ending == ".json":
        return "tree"
    if ending == ".discan":
        if cut is None and height is None:
            raise InputError(
                f"{output}: a model of merged components needs to know how many",
                remedy="add --cut, or --height",
            )
        return "model"
    from discan.plot.export import ENDINGS

    if ending not in ENDINGS:
        raise InputError(
            f"{output}: end the name in .nwk, .json, .discan, {', '.join(ENDINGS[:-1])} or "
            f"{ENDINGS[-1]}"
        )
    return "figure"


def _costs(found: Any, corpus: Any, nodes: Any, reading: NewData) -> list[Any]:
    from discan.engines.threads import Threads, n_threads
    from discan.hierarchy.costs import merging_costs

    with Threads(n_threads(reading.threads)) as engine:
        return merging_costs(found, corpus, None if nodes is None else [len(nodes)], engine)


def _print(found: Any, nodes: Any, costs: list[Any], words: int, style: Style) -> None:
    """Print the tree for people, or its nodes; then the costs."""
    from discan.hierarchy.writing import as_text

    rows = [{**row._asdict(), "perplexity": row.perplexity} for row in costs]
    cut = [node + 1 for node in nodes] if nodes is not None else None
    if style is not Style.TABLE:
        whole = found.as_dict(words)
    if style is Style.JSON:
        extra = {**({"cut": cut} if cut else {}), **({"costs": rows} if rows else {})}
        sys.stdout.write(to_json({**whole, **extra}))
        return
    if style is Style.CSV:
        columns = [*whole["nodes"][0]]
        emit(style, columns, [[node[name] for name in columns] for node in whole["nodes"]])
        return
    log.info("%s", found.description)
    text = as_text(found, nodes, words)
    sys.stdout.write("".join(f"{plain(line)}\n" for line in text.splitlines()))
    if rows:
        sys.stdout.write("\n")
        shown = [
            (row.components, f"{row.nats_per_token:.4f}", f"{row.perplexity:.1f}",
             f"{row.cost:.4f}", f"{row.cost_error:.4f}")
            for row in costs
        ]  # fmt: skip
        titles = (found.fit.nouns.components, "nats per token", "perplexity", "cost", "error")
        emit(style, titles, shown)


def _write(
    found: Any, output: Path, kind: str, cut: int | None, height: float | None, words: int,
    model: Path,
) -> None:  # fmt: skip
    from discan.data.storage import write_whole

    if kind == "figure":
        from discan import plot

        plot.save(plot.tree(found, cut=cut, height=height), output)
    elif kind == "model":
        from discan.estimators.files import load

        estimator = load(model)
        if not hasattr(estimator, "merged"):
            raise InputError(f"{model}: a {type(estimator).__name__} cannot be merged")
        how = {"distance": found.distance, "linkage": found.linkage}
        estimator.merged(cut, height, **how).save(output)
    elif output.suffix.lower() == ".json":
        write_whole(output, to_json(found.as_dict(words)))
    else:
        write_whole(output, found.newick())
