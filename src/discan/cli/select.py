# SPDX-License-Identifier: BSD-3-Clause
"""The commands that search: select (how many components) and compare-models."""

from __future__ import annotations

import logging
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.fit import STARTS, algorithm_of, names_to_learn, registered
from discan.cli.options import (
    Data,
    Printing,
    TextReading,
    Threads,
    fitting,
    one_of,
    printing,
    running,
)
from discan.cli.printing import Style, check_writable, emit, terminal_width, to_csv, to_json
from discan.cli.reading import read_data

__all__ = ["compare_models", "select"]

log = logging.getLogger("discan")

WIDTH = 100  # characters of the verdict in a pipe
PROTOCOLS = {
    "auto": "chosen by the data and the model, and reported",
    "completion": "hold out documents; predict half of each from the other half (text)",
    "entries": "hold out single votes, answers or genotypes",
    "thinning": "hold out single tokens of all documents (gp, cgp)",
}
PROTOCOL = one_of(lambda: PROTOCOLS)
START = one_of(lambda: STARTS) | {"callback": None}  # the library checks it


@dataclass(frozen=True, kw_only=True)
class Searching:
    """How to hold out data, and how to run the fits."""

    protocol: Annotated[str, fitting(**PROTOCOL)] = "auto"
    seeds: Annotated[
        int, running("Number of starts of each fit; more tell better how far they differ.", min=1)
    ] = 2
    folds: Annotated[
        int | None,
        running(
            "Number of parts that are held out in turn; 1 holds out a tenth (default: 5, or 1 from "
            "500,000 tokens on).",
            min=1,
        ),
    ] = None
    evidence: Annotated[
        str | None,
        running("Also estimate the evidence: bound, ais, ti or chib (see discan evidence)."),
    ] = None
    max_iter: Annotated[
        int | None,
        running(
            "Cycles of each fit (default for auto: 200, in small data up to 500).",
            "--max-iter", "--iterations", min=1,
        ),
    ] = None  # fmt: skip
    init: Annotated[str, running(**START)] = "auto"
    tol: Annotated[
        float, running("Stop when the objective changes by less, in nats per token.", min=0.0)
    ] = 1e-5
    seed: Annotated[int, running("Seed of the first start.", min=0)] = 0
    threads: Threads = -1
    folder: Annotated[
        Path | None,
        running(
            "Folder to keep the fits in: the same command goes on after any interruption. More K, "
            "models and seeds can be added later."
        ),
    ] = None
    output: Annotated[
        Path | None,
        printing("File for one row per fit: JSON if it ends in .json, else CSV.", "--output", "-o"),
    ] = None

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the library."""
        return {
            "protocol": self.protocol, "seeds": self.seeds, "folds": self.folds,
            "evidence": self.evidence,
            "max_iter": self.max_iter, "init": self.init, "tol": self.tol,
            "random_state": self.seed, "n_jobs": self.threads, "folder": self.folder,
        }  # fmt: skip


def select(
    data: Data,
    *,
    components: Annotated[
        str,
        fitting(
            "Numbers of components to try: 2:40, 10:90:20 (in steps of 20), or 5,10,20; auto "
            "beside them learns the number.",
            "--components",
            "-k",
            callback=_sizes_of,
        ),
    ],
    model: Annotated[str, fitting(**registered("discan.models"))] = "dm",
    algorithm: Annotated[
        str,
        fitting(**registered("discan.algorithms", auto="one for all K, a short chain if it can")),
    ] = "auto",
    alpha: Annotated[float | None, fitting("Prior shape of a document's mix.")] = None,
    beta: Annotated[
        float | None, fitting("Prior rate of a document's amounts (gp and cgp).")
    ] = None,
    rho: Annotated[
        float | None, fitting("Prior probability that a component is absent (cgp).")
    ] = None,
    gamma: Annotated[float | None, fitting("Prior shape of a component's words.")] = None,
    learn: Annotated[
        str, fitting("Priors to learn from the data, e.g. alpha,gamma, or none.")
    ] = "auto",
    burn_in: Annotated[
        int | None, running("Sampling only: cycles before the first draw.", min=0)
    ] = None,
    draws: Annotated[int | None, running("Sampling only: draws to average.", min=1)] = None,
    cv: Annotated[
        bool,
        printing("Print lines such as [b]CV error (K=3): 0.52305[/b], in bits per token.", "--cv"),
    ] = False,
    plot: Annotated[
        Path | None, printing("Figure to write: .html, .svg, .pdf or .png.", "--plot")
    ] = None,
    searching: Searching,
    reading: TextReading,
    style: Printing,
) -> None:
    """Find how many components the data support, by prediction of data that were held out.

    Every K is fitted from several starts, and predicts the same held-out data. The answer is a
    table, and a verdict in words: the best K, the smallest K that is as good within the error, and
    whether the data decide at all.

    [b]Example:[/b] discan select votes.csv -k 2:10
    """
    for path in (plot, searching.output):
        check_writable(path)
    if plot is not None:
        _check_figure(plot)
    chosen = algorithm_of(algorithm, burn_in, draws)
    corpus = read_data(data, reading)
    from discan.selection import select_components

    found = _searched(
        lambda: select_components(
            corpus, _sizes(components), model=model, algorithm=chosen, alpha=alpha, beta=beta,
            rho=rho, gamma=gamma, learn=names_to_learn(learn), progress=style.progress,
            **searching.settings,
        ),
        searching.folder,
    )  # fmt: skip
    _write_rows(found, searching.output)
    if plot is not None:
        from discan.plot import save

        save(found.plot(), plot)
    if cv:
        for row in found.table:
            sys.stdout.write(f"CV error (K={row['K']}): {row['bits']:.5f}\n")
        log.info("%s", found.verdict)
    else:
        _report(found, style.style)
    if plot is not None:
        log.info("figure written to %s", plot)


def compare_models(
    data: Data,
    *,
    components: Annotated[int, fitting("Number of components.", "--components", "-k", min=1)] = 10,
    models: Annotated[
        str | None,
        fitting("Models to compare, e.g. dm,gp (default: dm,gp,cgp,plsi,nmf)."),
    ] = None,
    gamma: Annotated[float | None, fitting("Prior shape of a component's words.")] = None,
    searching: Searching,
    reading: TextReading,
    style: Printing,
) -> None:
    """Compare models by prediction of the same held-out data.

    dm: shares, as in LDA; gp: amounts; cgp: amounts that may be exactly zero; plsi and nmf: shares
    and amounts without priors. Each held-out word is predicted from the rest of its document, so
    all models are judged by the same event. The verdict says what the best model tells about the
    data: whether totals matter, and whether components are truly absent.

    [b]Example:[/b] discan compare-models votes.csv -k 5
    """
    check_writable(searching.output)
    corpus = read_data(data, reading)
    from discan.selection import compare_models as compared
    from discan.selection.models import CANDIDATES

    names = list(CANDIDATES) if models is None else [name.strip() for name in models.split(",")]
    found = _searched(
        lambda: compared(
            corpus, components, models=names, gamma=gamma, progress=style.progress,
            **searching.settings,
        ),
        searching.folder,
    )  # fmt: skip
    _write_rows(found, searching.output)
    _report(found, style.style)


def _searched(work: Callable[[], Any], folder: Path | None) -> Any:
    """Run a search; if it is interrupted and has a folder, its fits are kept."""
    try:
        return work()
    except KeyboardInterrupt:
        if folder is None:
            raise
        raise SystemExit(130) from None


def _report(found: Any, style: Style) -> None:
    """Print the table and the verdict."""
    if style is Style.JSON:
        sys.stdout.write(to_json(found.to_dict()))
        return
    columns = list(found.table[0])
    if style is Style.CSV:
        emit(style, columns, [list(row.values()) for row in found.table])
        log.info("%s", found.verdict)
        return
    shown = [name for name in columns if any(_known(row[name]) for row in found.table)]
    rows = [[_cell(name, row[name]) for name in shown] for row in found.table]
    emit(style, [TITLES.get(name, name) for name in shown], rows)
    word = found.unit.removeprefix("bits per held-out ")
    sys.stdout.write(
        f"\nBits are per held-out {word}: lower is better. Without components, by the overall "
        f"share of each {word}, they are {found.baseline:.4f}.\n\n"
    )
    width = terminal_width() or WIDTH
    sys.stdout.write(textwrap.fill(found.verdict, width) + "\n")


TITLES = {
    "error": "± error", "gap": "above best", "gap_error": "± error", "starts": "between starts",
}  # fmt: skip


def _cell(name: str, value: Any) -> Any:
    """Round what is measured to four decimals; unknown values are empty."""
    if not isinstance(value, float):
        return value
    if value != value:
        return None
    digits = {"seconds": 1, "stability": 2, "coherence": 3}.get(name, 4)
    return f"{value:.{digits}f}"


def _known(value: Any) -> bool:
    return not (isinstance(value, float) and value != value)


def _write_rows(found: Any, output: Path | None) -> None:
    """Write one row per fit."""
    if output is None:
        return
    from discan.data.storage import write_whole

    left_out = ("learnt", "n_components")
    rows = [{k: v for k, v in row.items() if k not in left_out} for row in found.rows]
    as_json = output.suffix.lower() == ".json"
    write_whole(
        output,
        to_json(rows) if as_json else to_csv(list(rows[0]), [list(r.values()) for r in rows]),
    )
    log.info("%s fits written to %s", f"{len(rows):,}", output)


def _check_figure(path: Path) -> None:
    """Refuse a figure of an unknown kind before the work starts."""
    if path.suffix.lower() not in (".html", ".svg", ".pdf", ".png"):
        raise typer.BadParameter(f"{path}: use .html, .svg, .pdf or .png", param_hint="--plot")


def _sizes(text: str) -> Sequence[Any]:
    """Read numbers of components: "2:40", "10:90:20", "5,10,auto", or parts of these."""
    sizes: list[Any] = []
    for part in text.split(","):
        if part.strip().lower() == "auto":
            sizes.append("auto")
            continue
        found = re.fullmatch(r"\s*(\d{1,9})(?:\s*[:-]\s*(\d{1,9}))?(?:\s*:\s*(\d{1,9}))?\s*", part)
        if found is None:
            raise ValueError(text)
        low, high, step = (None if group is None else int(group) for group in found.groups())
        if not low or (high is not None and high < low) or step == 0:
            raise ValueError(text)
        sizes += range(low, (low if high is None else high) + 1, step or 1)
    return sizes


def _sizes_of(text: str) -> str:
    try:
        _sizes(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r}; give numbers of components, e.g. 2:40, 10:90:20 or 5,10,20"
        ) from None
    return text
