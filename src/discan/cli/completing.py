# SPDX-License-Identifier: BSD-3-Clause
"""Complete a table of answers, and write it in the form it was given in."""

from __future__ import annotations

import csv
import io
import logging
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from discan.cli.options import DATASET, NewData, Writing
from discan.cli.printing import Style, plain, to_json
from discan.errors import InputError, shown

if TYPE_CHECKING:
    from discan.data.corpus import Corpus
    from discan.fitting.hidden_groups import Filled
    from discan.fitting.result import Fit

__all__ = ["Completed", "check_questions", "complete", "write_completed"]

log = logging.getLogger("discan")


class Completed(NamedTuple):
    """A table without empty cells: titles, if it has any, delimiter and rows."""

    titles: Sequence[str] | None
    delimiter: str
    rows: list[list[Any]]


def check_questions(fit: Fit) -> None:
    """Refuse a model of texts or other counts, where a document has no one answer to a question."""
    from discan.fitting.summary import fields_of

    fields = [name for name, _ in fields_of(fit.layout, fit.group_totals)[0]]
    if fields:
        what = f"{shown(fields[0])} holds" if fields[0] else "the data are"
        raise InputError(
            f"{what} counts, not answers to questions; --long lists the counts to expect"
        )


def complete(fit: Fit, corpus: Corpus, filled: Filled, data: str, reading: NewData) -> Completed:
    """Fill in the likeliest answer to every open question.

    A table of answers is read again, so that all its other cells stay as they are. Other data, such
    as roll calls in several files or genotypes, become a table with a column per question.
    """
    from discan.data.completing import likeliest_answers

    found = likeliest_answers(*filled, fit.layout, fit.group_totals)
    log.info("%s cells filled in, each by its likeliest answer", f"{len(found):,}")
    is_table = corpus.reading.get("format") == "categorical" and not data.startswith(DATASET)
    options = corpus.reading.get("options", {})
    if is_table and not (options.get("pivot") or options.get("transpose")):
        table = _as_given(corpus, found, data, reading)
        if len(table.rows) == corpus.n_documents:
            return table
    return _by_question(corpus, found)


def write_completed(table: Completed, writing: Writing) -> None:
    """Write a table to a file, or print it: JSON, or text with the delimiter it was read with."""
    titles = table.titles or [f"V{n + 1}" for n in range(len(table.rows[0]))]
    if writing.style is Style.JSON:
        text = to_json([dict(zip(titles, row, strict=True)) for row in table.rows])
    else:
        heading = [] if table.titles is None else [table.titles]
        text = _delimited([*heading, *table.rows], table.delimiter)
    if writing.output is not None:
        from discan.data.storage import write_whole

        write_whole(writing.output, text)
    elif sys.stdout.isatty():
        sys.stdout.write("".join(plain(line) + "\n" for line in text.splitlines()))
    else:
        sys.stdout.write(text)


def _as_given(corpus: Corpus, found: Any, data: str, reading: NewData) -> Completed:
    """Fill in the cells of the table that was read."""
    from discan.data.completing import answer_texts
    from discan.readers import MAX_UNPACKED, Source
    from discan.readers.completing import complete_table

    texts, groups = answer_texts(corpus.layout), corpus.layout.group_names or ()
    answers: dict[int, dict[str, list[str]]] = {}
    for (i, g), words in found.items():
        answers.setdefault(i, {})[groups[g]] = [texts[j] for j in words]
    source = Source(data, reading.max_bytes or MAX_UNPACKED)
    table = complete_table(source, corpus.reading, answers)
    return Completed(table.titles, table.delimiter, list(table.rows))


def _by_question(corpus: Corpus, found: Any) -> Completed:
    """Make a table with a row per document: its name, what describes it, and its answers."""
    from discan.data.completing import answer_table

    layout = corpus.layout
    names = corpus.document_names or [str(n) for n in range(corpus.n_documents)]
    questions = layout.group_names or [f"group {g}" for g in range(layout.n_groups)]
    metadata = {name: column.tolist() for name, column in corpus.metadata.items()}
    rows = [
        [names[i], *(_shown(column[i]) for column in metadata.values()), *answers]
        for i, answers in enumerate(answer_table(corpus, found))
    ]
    return Completed([corpus.nouns.document, *metadata, *questions], ",", rows)


def _shown(value: Any) -> str:
    """Return a value of the metadata as text; nothing if it is missing."""
    if value is None or value != value:
        return ""
    return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)


def _delimited(rows: Iterable[Sequence[Any]], delimiter: str) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return stream.getvalue()
