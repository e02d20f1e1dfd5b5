# SPDX-License-Identifier: BSD-3-Clause
"""The commands that apply a model to documents: transform, predict, impute and score."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discan.cli.options import Data, ModelFile, NewData, Printing, Writing, printing
from discan.cli.printing import Style, check_writable, emit, write_table
from discan.cli.reading import Model, model_and_data

if TYPE_CHECKING:
    from discan.data.corpus import Corpus, Layout
    from discan.engines import Threads
    from discan.fitting.hidden_groups import Filled

__all__ = ["impute", "predict", "score", "transform"]

log = logging.getLogger("discan")


def transform(
    model: ModelFile,
    data: Data,
    *,
    counts: Annotated[
        bool, printing("Expected tokens of each component instead.", "--counts")
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
    date, are copied. A document without any word that the model knows gets the prior mean.
    A file that ends in .h5ad is written as AnnData, with the scores in obsm.

    [b]Example:[/b] discan transform model/ new.jsonl -o scores.csv
    """
    check_writable(writing.output)
    found, corpus = model_and_data(model, data, reading, unknown)
    with _threads(reading) as engine:
        posterior = found.fit.infer(corpus, engine)
    values = posterior.component_counts if counts else posterior.scores
    if writing.output is not None and writing.output.suffix.lower() == ".h5ad":
        _write_cells(writing.output, found, corpus, values, data)
        return
    kept = {n: c for n, c in corpus.metadata.items() if not plain or n in ("known", "unknown")}
    columns = ["document", *kept, *found.component_names]
    described = zip(*(map(_cell, column) for column in kept.values()), strict=True) if kept else ()
    rows = _named_rows(corpus, values)
    if kept:
        pairs = zip(rows, described, strict=True)
        rows = [[name, *facts, *shares] for (name, *shares), facts in pairs]
    write_table(writing.output, writing.style, columns, rows)
    if writing.output is not None:
        log.info("%s documents written to %s", f"{len(rows):,}", writing.output)


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
    known = group in (fit.layout.group_names or ())
    chosen = int(group) if group.isdecimal() and not known else group
    with _threads(reading) as engine:
        chances = fit.predict_group(corpus, chosen, engine)
    words = list(map(str, fit.group_words(chosen)))
    if probabilities:
        form = Style.JSON if style.json else Style.CSV
        emit(form, ["document", *words], _named_rows(corpus, chances))
        return
    names = _names(corpus.document_names, corpus.n_documents)
    best = zip(names, chances.argmax(axis=1), chances.max(axis=1), strict=True)
    rows = [(name, words[j], float(chance)) for name, j, chance in best]
    emit(style.style, ("document", "prediction", "probability"), rows)


def impute(model: ModelFile, data: Data, *, reading: NewData, writing: Writing) -> None:
    """Fill in missing data: the expected counts of every empty group, as CSV.

    A group is empty if it has no counts (dm) or was not observed (gp, cgp). The expected counts
    of a group add up to its usual total: 1 for a vote, 2 for a genotype.

    [b]Example:[/b] discan impute model/ survey.csv -o missing.csv
    """
    check_writable(writing.output)
    (fit, _), corpus = model_and_data(model, data, reading)
    with _threads(reading) as engine:
        filled = fit.fill(corpus, engine=engine)
    rows = list(_named_cells(filled, fit.layout, corpus))
    log.info("%s counts filled in", f"{len(rows):,}")
    write_table(writing.output, writing.style, ("document", "group", "word", "expected"), rows)
    if writing.output is not None:
        log.info("written to %s", writing.output)


def score(model: ModelFile, data: Data, *, reading: NewData, style: Printing) -> None:
    """Measure how well the model predicts half of the words of each new document.

    The other half of the words gives the mix of the document. The unigram, for comparison,
    predicts the word shares of the training data for every document. Perplexity is the number of
    equally likely words that would be as hard to guess: lower is better.

    [b]Example:[/b] discan score model/ test.jsonl
    """
    (fit, _), corpus = model_and_data(model, data, reading)
    with _threads(reading) as engine:
        scores = {"model": fit.score(corpus, engine)}
    if fit.documents is not None:
        scores["unigram"] = fit.unigram_score(corpus)
    rows = [(name, nats, math.exp(-nats)) for name, nats in scores.items()]
    emit(style.style, ("predictor", "nats per token", "perplexity"), rows)


def _names(given: Sequence[str] | None, size: int) -> Sequence[str]:
    return given or [str(n) for n in range(size)]


def _write_cells(output: Path, found: Model, corpus: Corpus, values: Any, data: str) -> None:
    """Write a file of AnnData: a copy of the data if they are one, with the scores added."""
    from discan.data.h5ad import gene_names, write_h5ad
    from discan.fitting.annotation import loadings_of, settings_of

    source = Path(data) if data.lower().endswith(".h5ad") else None
    genes = gene_names(source) if source is not None else list(corpus.layout.word_names or ())
    fit = found.fit
    loadings = loadings_of(fit, genes) if genes else fit.mean_loadings
    uns = {"discan": settings_of(fit, found.component_names)}
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
