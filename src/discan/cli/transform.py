# SPDX-License-Identifier: BSD-3-Clause
"""The command that gives the shares of components in new documents: transform."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discan.cli.options import Data, ModelFile, NewData, Writing, printing
from discan.cli.printing import check_writable, write_table
from discan.cli.reading import model_and_data
from discan.cli.tables import check_in_memory, is_table, named_rows, threads
from discan.data.csv_text import plain_cell

if TYPE_CHECKING:
    from discan.data.corpus import Corpus
    from discan.engines import Engine, Threads
    from discan.fitting.result import Fit

__all__ = ["transform"]

log = logging.getLogger("discan")


def transform(
    model: ModelFile,
    data: Data,
    *,
    counts: Annotated[
        bool, printing("Expected tokens of each component instead.", "--counts")
    ] = False,
    sd: Annotated[
        bool, printing("Add a column of standard deviations for each component.", "--sd")
    ] = False,
    interval: Annotated[
        float | None,
        printing("Add columns of lower and upper limits at this level, e.g. 0.9.", min=0, max=1),
    ] = None,
    parents: Annotated[
        bool, printing("Shares of the components' parents instead.", "--parents")
    ] = False,
    unknown: Annotated[
        bool,
        printing("Add columns: tokens that the model knows, and that it never saw.", "--unknown"),
    ] = False,
    plain: Annotated[
        bool, printing("Leave out the columns that describe the documents.", "--plain")
    ] = False,
    reading: NewData,
    writing: Writing,
) -> None:
    """Give the share (dm) or amount (gp, cgp) of each component in new documents, as CSV.

    Data are read as those of the model were. Columns that describe the documents, such as party or
    date, are copied. A document without any word that the model knows gets the prior mean. The
    standard deviations of --sd say how far a document's own words tell its shares, where the
    components are taken as known; they are approximate, and so are the limits of --interval. A file
    that ends in .csv, .parquet or .npy (numbers alone) is written block by block, all or nothing;
    one that ends in .h5ad is written as AnnData, with the scores in obsm.

    [b]Example:[/b] discan transform model/ new.jsonl -o scores.parquet
    """
    if parents and (counts or sd or interval is not None):
        raise typer.BadParameter("--parents goes with none of --counts, --sd and --interval")
    if parents and writing.output is not None and writing.output.suffix.lower() == ".h5ad":
        raise typer.BadParameter("--parents is not written to .h5ad; choose .csv or .parquet")
    if counts and (sd or interval is not None):
        raise typer.BadParameter("--counts goes with neither --sd nor --interval")
    if interval is not None and not 0 < interval < 1:
        raise typer.BadParameter("give a number between 0 and 1", param_hint="--interval")
    from discan.models.base import proportions

    check_writable(writing.output)
    (fit, _), corpus = model_and_data(model, data, reading, unknown)
    noun, titles = fit.nouns.document, list(fit.component_names)
    if parents:
        titles = [parent.name for parent in fit.describe_parents()]
    if sd:
        titles += [f"{name} sd" for name in fit.component_names]
    if interval is not None:
        titles += [f"{name} {side}" for side in ("low", "high") for name in fit.component_names]

    def answer(part: Corpus, inner: Engine) -> Any:
        if parents:
            return proportions(fit.infer_parents(part, inner))
        return _shares(fit, part, inner, counts, sd, interval)

    def kept(name: str) -> bool:
        return not plain or name in ("known", "unknown")

    with threads(reading) as engine:
        if is_table(writing):
            from discan.fitting.by_block import write_answers

            assert writing.output is not None
            write_answers(writing.output, corpus, noun, titles, answer, engine, kept)
            said = f"{corpus.n_documents:,}"
            log.info("%s %s written to %s", said, fit.nouns.documents, writing.output)
            return
        check_in_memory(corpus)
        values = _all_blocks(corpus, answer, engine)
    if writing.output is not None and writing.output.suffix.lower() == ".h5ad":
        _write_cells(writing.output, fit, corpus, values[:, : fit.n_components], data)
        return
    described = {n: c for n, c in corpus.metadata.items() if kept(n)}
    facts = zip(*(map(plain_cell, column) for column in described.values()), strict=True)
    rows = named_rows(corpus, values)
    if described:
        pairs = zip(rows, facts, strict=True)
        rows = [[name, *fact, *shares] for (name, *shares), fact in pairs]
    write_table(writing.output, writing.style, [noun, *described, *titles], rows)
    if writing.output is not None:
        log.info("%s %s written to %s", f"{len(rows):,}", fit.nouns.documents, writing.output)


def _shares(
    fit: Fit, part: Corpus, engine: Engine, counts: bool, sd: bool, interval: float | None
) -> Any:
    """Return the shares of documents, or their expected tokens, and how sure they are."""
    import numpy as np

    if not sd and interval is None:
        found = fit.infer(part, engine)
        return found.component_counts if counts else found.scores
    found, errors = fit.infer_with_sd(part, engine)
    columns = [found.scores, errors] if sd else [found.scores]
    if interval is not None:
        from discan.evaluation.intervals import score_intervals

        edges = np.array([0.5 - interval / 2, 0.5 + interval / 2])
        limits, _ = score_intervals(fit, found.scores, errors, found.absent, edges)
        columns.extend(limits)
    return np.hstack(columns)


def _all_blocks(corpus: Corpus, answer: Any, engine: Threads) -> Any:
    """Return the answers for all documents, (I, V)."""
    import numpy as np

    from discan.fitting.by_block import in_order

    found = in_order(corpus, lambda _, part, inner: answer(part, inner), engine)
    return np.concatenate(list(found))


def _write_cells(output: Path, fit: Fit, corpus: Corpus, values: Any, data: str) -> None:
    """Write a file of AnnData: a copy of the data if they are one, with the scores added."""
    from discan.data.h5ad import gene_names, write_h5ad
    from discan.fitting.annotation import loadings_of, settings_of

    source = Path(data) if data.lower().endswith(".h5ad") else None
    genes = gene_names(source) if source is not None else list(corpus.layout.word_names or ())
    loadings = loadings_of(fit, genes) if genes else fit.mean_loadings
    uns = {"discan": settings_of(fit, list(fit.component_names))}
    write_h5ad(output, corpus, {"X_discan": values}, {"discan": loadings}, uns, source)
    log.info(
        "%s %s written to %s: scores in obsm['X_discan'], loadings in varm['discan'], settings in "
        "uns['discan']",
        f"{corpus.n_documents:,}", corpus.nouns.documents, output,
    )  # fmt: skip
