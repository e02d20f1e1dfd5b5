# SPDX-License-Identifier: BSD-3-Clause
"""Read tables of counts: one row per triple (long), or one row per document (wide)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Annotated

import numpy as np

from discan.data.corpus import Corpus
from discan.data.intake import tightest
from discan.errors import InputError, LimitError, shown
from discan.readers.csv_rows import (
    Column,
    Delimiter,
    Heading,
    Quotes,
    Row,
    check_width,
    find_column,
    open_table,
    table_rows,
)
from discan.readers.guess import reader
from discan.readers.numbers import are_counts, check_count, number, rows_table, sparse_table
from discan.readers.source import Source
from discan.readers.table_kinds import COUNT, DOCUMENT, WORD, find_names, is_kind, key
from discan.typing import Array

__all__ = ["read_long", "read_wide"]

Columns = Sequence[Column] | None


@reader("long", "table of triples: document, word and count", sniff=is_kind("long"))
def read_long(
    source: Source,
    columns: Annotated[
        Columns,
        "Names or numbers (from 0) of the columns: document, word and count, or document and word "
        "if each row counts 1. By default told by their titles, or the first three.",
    ] = None,
    header: Heading = None,
    delimiter: Delimiter = None,
    quotes: Quotes = True,
) -> Corpus:
    """Read triples, one per row; counts of pairs that repeat are summed."""
    rows = table_rows(source, delimiter, quotes)
    first = next(rows, None)
    if first is None:
        raise source.error("the table is empty")
    titles = [cell.strip() for cell in first[1]]
    if header is None:
        header = source.name.endswith(".parquet") or _has_heading(titles, columns)
    chosen = _choose_columns(source, titles, header, columns)
    body = rows if header else chain([first], rows)
    return _read_triples(source, check_width(source, body, len(titles)), chosen)


def _has_heading(titles: list[str], columns: Columns) -> bool:
    if columns is not None and any(isinstance(column, str) for column in columns):
        return True
    if len(titles) >= 3 and (columns is None or len(columns) == 3):
        count = 2 if columns is None else int(columns[2])
        return number("".join(titles[count : count + 1])) is None
    keys = {key(title) for title in titles}
    return bool(keys & DOCUMENT and keys & WORD)


def _choose_columns(source: Source, titles: list[str], header: bool, columns: Columns) -> list[int]:
    width, heading = len(titles), titles if header else None
    if columns is not None:
        if isinstance(columns, str) or len(columns) not in (2, 3):
            problem = "{}; pass (document, word, count)"
            raise InputError(problem, argument="columns", value=columns)
        return [find_column(source, column, heading, width) for column in columns]
    if width < 2:
        problem = "a single column; triples need document, word and count"
        raise source.error(problem, use={"delimiter": ...})
    keys = [key(title) for title in heading or []]
    found = [
        next((j for j, name in enumerate(keys) if name in names), -1)
        for names in (DOCUMENT, WORD, COUNT)
    ]
    if found[0] >= 0 and found[1] >= 0:
        return found if found[2] >= 0 else found[:2]
    return list(range(min(width, 3)))


def _read_triples(source: Source, rows: Iterable[Row], columns: list[int]) -> Corpus:
    documents: dict[str, int] = {}
    words: dict[str, int] = {}
    numbers, counts = (array("i"), array("i")), array("d")
    d, w, c = (*columns, -1)[:3]
    for line, row in rows:
        document, word = row[d].strip(), row[w].strip()
        if not document or not word:
            what = "word" if document else "document"
            raise source.error(f"an empty {what}; name it", line)
        numbers[0].append(documents.setdefault(document, len(documents)))
        numbers[1].append(words.setdefault(word, len(words)))
        counts.append(1.0 if c < 0 else check_count(source, line, row[c]))
    if not words:
        raise source.error("the table has no rows")
    rows_of, words_of = map(np.asarray, numbers)
    shape = (len(documents), len(words))
    table = sparse_table(rows_of, words_of, tightest(np.asarray(counts)), shape)
    return source.corpus(table, document_names=documents, word_names=words)


@reader(
    "wide",
    "table of counts: one row per document, one column per word",
    sniff=is_kind("wide"),
)
def read_wide(
    source: Source,
    id_column: Annotated[
        Column | bool | None,
        "Column that names the documents; by default the first, if it holds names. False means "
        "none.",
    ] = None,
    header: Heading = None,
    delimiter: Delimiter = None,
    quotes: Quotes = True,
) -> Corpus:
    """Read a table of counts."""
    table = open_table(source, header, delimiter, quotes, numeric=True)
    names = find_names(source, id_column, table, numeric=True)
    kept = [j for j in range(table.width) if j != names]
    if not kept:
        raise source.error("no columns of counts", use={"delimiter": ..., "id_column": ...})
    titles = [table.heading[j] if table.heading else str(j) for j in kept]
    documents: list[str] = []
    lengths, words, counts = array("q"), array("i"), array("d")
    for line, row in table.rows:
        cells = row if names is None else [row[j] for j in kept]
        values = _counts(source, line, cells, titles)
        present = np.flatnonzero(values)
        lengths.append(len(present))
        words.frombytes(present.astype(np.int32).tobytes())
        counts.frombytes(values[present].tobytes())
        if names is not None:
            documents.append(row[names].strip())
    entries = (np.asarray(words), tightest(np.asarray(counts)))
    return source.corpus(
        rows_table(np.asarray(lengths), *entries, n_words=len(kept)),
        document_names=None if names is None else documents,
        word_names=None if table.heading is None else titles,
    )


def _counts(source: Source, line: int, cells: list[str], titles: list[str]) -> Array:
    """Return the counts of a row; an error names the line and the column."""
    try:
        values = np.array(cells, dtype=np.float64)
        if are_counts(values) and "_" not in "".join(cells):
            return values  # NumPy reads 1_0 as ten
    except ValueError:
        pass
    for cell, title in zip(cells, titles, strict=True):
        try:
            check_count(source, line, cell)
        except (InputError, LimitError) as error:
            raise type(error)(f"{error} (column {shown(title)})") from None
    return np.array([float(cell) for cell in cells])
