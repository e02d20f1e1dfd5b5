# SPDX-License-Identifier: BSD-3-Clause
"""The commands that apply a model to documents: predict, impute, recommend, score."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discan.cli.options import Data, ModelFile, NewData, Printing, Saving, Writing, printing
from discan.cli.printing import Style, check_writable, emit, write_table
from discan.cli.reading import model_and_data, read_data
from discan.cli.tables import check_in_memory, is_table, named_rows, threads

if TYPE_CHECKING:
    from discan.data.corpus import Corpus
    from discan.data.layout import Layout
    from discan.fitting.hidden_groups import Filled

__all__ = ["impute", "predict", "recommend", "score"]

log = logging.getLogger("discan")


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
    writing: Saving,
) -> None:
    """Predict a group of words from the others: a vote, an answer, an allele, a label.

    Counts that the data hold for that group are ignored; the group may be missing. A file that
    ends in .csv or .parquet is written block by block, all or nothing.

    [b]Example:[/b] discan predict model/ new.csv --group vote
    """
    check_writable(writing.output)
    (fit, _), corpus = model_and_data(model, data, reading)
    chosen = _group(fit, group)
    words = list(map(str, fit.group_words(chosen)))
    with threads(reading) as engine:
        if is_table(writing):
            from discan.fitting.written import write_predictions

            assert writing.output is not None
            write_predictions(writing.output, fit, corpus, chosen, engine, probabilities)
            log.info("predictions for %s written to %s", _number(corpus), writing.output)
            return
        check_in_memory(corpus)
        chances = fit.predict_group(corpus, chosen, engine)
    if probabilities:
        form = Style.JSON if writing.style is Style.JSON else Style.CSV
        columns = [fit.nouns.document, *words]
        write_table(writing.output, form, columns, named_rows(corpus, chances))
        return
    names = _names(corpus.document_names, corpus.n_documents)
    best = zip(names, chances.argmax(axis=1), chances.max(axis=1), strict=True)
    rows = [(name, words[j], float(chance)) for name, j, chance in best]
    columns = [fit.nouns.document, "prediction", "probability"]
    write_table(writing.output, writing.style, columns, rows)


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
    up to its usual total: 1 for a vote, 2 for a genotype; it is written to a file block by block.

    [b]Example:[/b] discan impute model/ survey.csv -o full.csv
    """
    from discan.cli.completing import check_questions, complete, write_completed

    check_writable(writing.output)
    (fit, _), corpus = model_and_data(model, data, reading)
    if not long:
        check_questions(fit)
    with threads(reading) as engine:
        if long and is_table(writing):
            from discan.fitting.written import write_filled

            assert writing.output is not None
            n_filled = write_filled(writing.output, fit, corpus, engine)
            log.info("%s counts filled in, written to %s", f"{n_filled:,}", writing.output)
            return
        check_in_memory(corpus)
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
    with threads(reading) as engine:
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
    with threads(reading) as engine:
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


def _number(corpus: Corpus) -> str:
    return f"{corpus.n_documents:,} {corpus.nouns.documents}"


def _named_cells(filled: Filled, layout: Layout, corpus: Corpus) -> Iterator[tuple[Any, ...]]:
    """Iterate over document, group, word and expected count of the missing data."""
    documents = _names(corpus.document_names, corpus.n_documents)
    words = _names(layout.word_names, layout.n_words)
    groups = _names(layout.group_names, layout.n_groups)
    for i, j, value in zip(*filled, strict=True):
        yield documents[i], groups[layout.group_of_word[j]], words[j], float(value)
