# SPDX-License-Identifier: BSD-3-Clause
"""The commands that apply a model to documents: transform, predict, impute, recommend, score."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discan.cli.options import Data, ModelFile, NewData, Printing, Writing, printing
from discan.cli.printing import Style, check_writable, emit, write_table
from discan.cli.reading import model_and_data, read_data

if TYPE_CHECKING:
    from discan.data.corpus import Corpus, Layout
    from discan.engines import Threads
    from discan.fitting.hidden_groups import Filled
    from discan.fitting.result import Fit

__all__ = ["impute", "predict", "recommend", "score", "transform"]

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
    that ends in .h5ad is written as
    AnnData, with the scores in obsm.

    [b]Example:[/b] discan transform model/ new.jsonl -o scores.csv
    """
    if counts and (sd or interval is not None):
        raise typer.BadParameter("--counts goes with neither --sd nor --interval")
    if interval is not None and not 0 < interval < 1:
        raise typer.BadParameter("give a number between 0 and 1", param_hint="--interval")
    check_writable(writing.output)
    import numpy as np

    (fit, _), corpus = model_and_data(model, data, reading, unknown)
    kept = {n: c for n, c in corpus.metadata.items() if not plain or n in ("known", "unknown")}
    columns = [fit.nouns.document, *kept, *fit.component_names]
    with _threads(reading) as engine:
        if sd or interval is not None:
            found, errors = fit.infer_with_sd(corpus, engine)
        else:
            found = fit.infer(corpus, engine)
    values = found.component_counts if counts else found.scores
    if writing.output is not None and writing.output.suffix.lower() == ".h5ad":
        _write_cells(writing.output, fit, corpus, values, data)
        return
    if sd:
        values = np.hstack([values, errors])
        columns += [f"{name} sd" for name in fit.component_names]
    if interval is not None:
        from discan.evaluation.intervals import score_intervals

        edges = np.array([0.5 - interval / 2, 0.5 + interval / 2])
        limits, _ = score_intervals(fit, found.scores, errors, found.absent, edges)
        values = np.hstack([values, *limits])
        columns += [f"{name} {side}" for side in ("low", "high") for name in fit.component_names]
    described = zip(*(map(_cell, column) for column in kept.values()), strict=True) if kept else ()
    rows = _named_rows(corpus, values)
    if kept:
        pairs = zip(rows, described, strict=True)
        rows = [[name, *facts, *shares] for (name, *shares), facts in pairs]
    write_table(writing.output, writing.style, columns, rows)
    if writing.output is not None:
        log.info("%s %s written to %s", f"{len(rows):,}", fit.nouns.documents, writing.output)


def predict(
    model: ModelFile,
    data: Data,
    *,
    group: Annotated[
        str,
        typer.Option("--group", "-g", help="Group to predict: its name, or its number from 0."),
    ],
    probabilities: Annotated[
        bool,
        printing("Print the probability of each word of the group, as CSV.", "--probabilities"),
    ] = False,
    reading: NewData,
    style: Printing,
) -> None:
    """Predict a group of words from the others: a vote, an answer, an allele, a label.

    Counts that the data hold for that group are ignored; the group may be missing.

    [b]Example:[/b] discan predict model/ new.csv --group vote
    """
    (fit, _), corpus = model_and_data(model, data, reading)
    chosen = _group(fit, group)
    with _threads(reading) as engine:
        chances = fit.predict_group(corpus, chosen, engine)
    words = list(map(str, fit.group_words(chosen)))
    if probabilities:
        form = Style.JSON if style.json else Style.CSV
        emit(form, [fit.nouns.document, *words], _named_rows(corpus, chances))
        return
    names = _names(corpus.document_names, corpus.n_documents)
    best = zip(names, chances.argmax(axis=1), chances.max(axis=1), strict=True)
    rows = [(name, words[j], float(chance)) for name, j, chance in best]
    emit(style.style, (fit.nouns.document, "prediction", "probability"), rows)


def impute(
    model: ModelFile,
    data: Data,
    *,
    long: Annotated[
        bool, printing("List the missing answers with their expected counts instead.", "--long")
    ] = False,
    reading: NewData,
    writing: Writing,
) -> None:
    """Fill in missing data: the table with the likeliest answer in every empty cell.

    A table of answers keeps its form: all other cells stay as they are. Other data become a table
    with a column per question. A question is open if it has no counts (dm) or was not observed
    (gp, cgp). --long lists each open question with the expected counts of its answers, which add
    up to its usual total: 1 for a vote, 2 for a genotype.

    [b]Example:[/b] discan impute model/ survey.csv -o full.csv
    """
    from discan.cli.completing import check_questions, complete, write_completed

    check_writable(writing.output)
    (fit, _), corpus = model_and_data(model, data, reading)
    if not long:
        check_questions(fit)
    with _threads(reading) as engine:
        filled = fit.fill(corpus, engine=engine)
    if long:
        rows = list(_named_cells(filled, fit.layout, corpus))
        columns = (fit.nouns.document, "group", fit.nouns.word, "expected")
        write_table(writing.output, writing.style, columns, rows)
        log.info("%s counts filled in", f"{len(rows):,}")
    else:
        write_completed(complete(fit, corpus, filled, data, reading), writing)
    if writing.output is not None:
        log.info("written to %s", writing.output)


def recommend(
    model: ModelFile,
    data: Data,
    *,
    number: Annotated[int, printing("Items per user.", "--number", "-n", min=1)] = 10,
    group: Annotated[
        str | None,
        typer.Option("--group", "-g", help="Group to recommend from, if there are several."),
    ] = None,
    reading: NewData,
    writing: Writing,
) -> None:
    """Recommend what each document has not got: the likeliest items that a user lacks, as CSV.

    The probability is that of the user's next item: those of all items, also of those that the
    user has, add up to 1.

    [b]Example:[/b] discan recommend model/ plays.csv -n 5 -o recommended.csv
    """
    check_writable(writing.output)
    (fit, _), corpus = model_and_data(model, data, reading)
    chosen = None if group is None else _group(fit, group)
    with _threads(reading) as engine:
        found = fit.recommend(corpus, number, chosen, engine)
    names = _names(corpus.document_names, corpus.n_documents)
    words = _names(fit.layout.word_names, fit.layout.n_words)
    rows = [
        (name, rank, words[j], float(chance))
        for name, items, chances in zip(names, *found, strict=True)
        for rank, (j, chance) in enumerate(zip(items, chances, strict=True), start=1)
        if j >= 0
    ]
    columns = (fit.nouns.document, "rank", fit.nouns.word, "probability")
    write_table(writing.output, writing.style, columns, rows)
    if writing.output is not None:
        log.info("%s recommendations written to %s", f"{len(rows):,}", writing.output)


def score(
    model: ModelFile,
    data: Data,
    *,
    given: Annotated[
        str | None,
        typer.Option(
            help="Another part of the same documents, in the same order: it gives their mix, and "
            "all of DATA is predicted."
        ),
    ] = None,
    reading: NewData,
    style: Printing,
) -> None:
    """Measure how well the model predicts half of the words of each new document.

    The other half of the words gives the mix of the document; or the data of --given do, and then
    all words are predicted. The unigram, for comparison, predicts the word shares of the training
    data for every document. Perplexity is the number of equally likely words that would be as hard
    to guess: lower is better. The standard error is over documents: how far the score would vary
    with another sample of documents.

    [b]Example:[/b] discan score model/ test.jsonl
    """
    (fit, _), corpus = model_and_data(model, data, reading)
    known = None if given is None else read_data(given, reading, fit)
    with _threads(reading) as engine:
        scores = {"model": fit.score_with_error(corpus, engine, known)}
    if fit.documents is not None:
        scores["unigram"] = fit.unigram_with_error(corpus, whole=known is not None)
    rows = [(name, nats, error, math.exp(-nats)) for name, (nats, error) in scores.items()]
    emit(style.style, ("predictor", "nats per token", "standard error", "perplexity"), rows)


def _group(fit: Any, group: str) -> int | str:
    """Return a group's name, or its number if there is no group of that name."""
    known = group in (fit.layout.group_names or ())
    return int(group) if group.isdecimal() and not known else group


def _names(given: Sequence[str] | None, size: int) -> Sequence[str]:
    return given or [str(n) for n in range(size)]


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


def _cell(value: Any) -> Any:
    """Return a value of metadata for a table: None if it is missing, whole numbers as such."""
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else int(number) if number.is_integer() else number


def _named_rows(corpus: Corpus, values: Any) -> list[list[Any]]:
    """Return one row per document: its name and its values."""
    names = _names(corpus.document_names, corpus.n_documents)
    return [[name, *map(float, row)] for name, row in zip(names, values, strict=True)]


def _threads(reading: NewData) -> Threads:
    from discan.engines.threads import Threads, n_threads

    return Threads(n_threads(reading.threads))


def _named_cells(filled: Filled, layout: Layout, corpus: Corpus) -> Iterator[tuple[Any, ...]]:
    """Iterate over document, group, word and expected count of the missing data."""
    documents = _names(corpus.document_names, corpus.n_documents)
    words = _names(layout.word_names, layout.n_words)
    groups = _names(layout.group_names, layout.n_groups)
    for i, j, value in zip(*filled, strict=True):
        yield documents[i], groups[layout.group_of_word[j]], words[j], float(value)
