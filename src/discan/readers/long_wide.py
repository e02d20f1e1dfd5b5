# SPDX-License-Identifier: BSD-3-Clause
"""Read tables of counts: one row per triple (long), or one row per document (wide)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np

from discan.data.columns import number, unique_titles
from discan.data.corpus import Corpus
from discan.data.counted import may_be_codes
from discan.data.intake import tightest
from discan.data.nouns import CELLS, Nouns
from discan.data.roles import noun_of
from discan.errors import Argument, InputError, shown
from discan.readers.csv_rows import (
    Column,
    Delimiter,
    Quotes,
    Row,
    check_width,
    table_rows,
)
from discan.readers.guess import reader
from discan.readers.numbers import sparse_table
from discan.readers.orientation import is_transposed
from discan.readers.row_entries import CountRows, Transposed, Triples
from discan.readers.source import Source
from discan.readers.table_kinds import COUNT, DOCUMENT, WORD, is_kind, key, names_rows
from discan.readers.table_streams import TableFacts, TableStream
from discan.readers.tables import (
    Heading,
    IdColumn,
    Metadata,
    Table,
    find_columns,
    open_table,
)

__all__ = ["read_long", "read_wide"]

log = logging.getLogger("discan")

Columns = Sequence[Column] | None


@reader(
    "long",
    "table of triples: document, word and count",
    sniff=is_kind("long"),
    family=("table",),
    table=lambda source, **options: _stream_long(source, **options),
)
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
    stream = _stream_long(source, columns, header, delimiter, quotes)
    parts = list(stream.entries.batches() if stream.entries else ())
    rows_of, words_of, counts = map(np.concatenate, zip(*parts, strict=True))
    facts = stream.facts()
    table = sparse_table(rows_of, words_of, tightest(counts), (facts.n_documents, facts.n_words))
    return source.corpus(
        table,
        document_names=facts.document_names,
        word_names=facts.word_names,
        metadata=facts.metadata,
        nouns=facts.nouns,
    )


def _stream_long(
    source: Source,
    columns: Columns = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
) -> TableStream:
    """Read triples in pieces; names of documents and words are kept in memory."""
    first = next(table_rows(source, delimiter, quotes), None)
    if first is None:
        raise source.error("the table is empty")
    titles = [cell.strip() for cell in first[1]]
    if header is None:
        header = source.name.endswith(".parquet") or _has_heading(titles, columns)
    titles = unique_titles(titles if header else [""] * len(titles))[0]
    chosen = _choose_columns(source, titles, header, columns)
    if columns is None:
        what = "document, word and count" if len(chosen) == 3 else "document and word"
        listed = ", ".join(shown(titles[j]) for j in chosen)
        log.info("%s: %s are the columns %s", source.path, what, listed)
        _remark_on_ratings(source, [titles[j] for j in chosen])
    nouns = _nouns([titles[j] for j in chosen]) if header else None

    def rows(start: int) -> Iterator[Row]:
        body = table_rows(source, delimiter, quotes, start + bool(header))
        return check_width(source, body, len(titles))

    found = Triples(source, rows, chosen, titles)
    return TableStream(source, lambda: found.facts(nouns), found)


def _remark_on_ratings(source: Source, titles: Sequence[str]) -> None:
    """Say that a rating is taken as a count, which its user may not expect."""
    if len(titles) == 3 and key(titles[2]) in ("rating", "ratings", "stars", "score"):
        remark = "%s: a %s of 5 counts as five events; to count each row once use %s"
        columns = Argument("columns", ",".join(titles[:2]))
        log.warning(remark, source.path, key(titles[2]).removesuffix("s"), columns)


def _nouns(titles: Sequence[str]) -> Nouns:
    """Call rows and columns what the titles call them, if that is clear: user and artist."""
    known = "user artist item gene cell sample term token word document customer product".split()
    found = {}
    for kind, title in zip(("document", "word"), titles, strict=False):
        name = key(title).removesuffix("id")
        found[kind] = name if name in known else noun_of(title) or kind
    return Nouns(**found)


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
        names = heading or [str(n) for n in range(width)]
        return [find_columns(source, column, names)[0] for column in columns]
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


@reader(
    "wide",
    "table of counts: one row per document, one column per word",
    sniff=is_kind("wide"),
    family=("table",),
    table=lambda source, **options: _stream_wide(source, **options),
)
def read_wide(
    source: Source,
    id_column: IdColumn = None,
    metadata: Metadata = (),
    header: Heading = None,
    delimiter: Delimiter = None,
    quotes: Quotes = True,
    transpose: Annotated[
        bool | None,
        "Whether rows are words and columns documents, as genes and cells often are; told by their "
        "names if not given.",
    ] = None,
    *,
    like: Any = None,
) -> Corpus:
    """Read a table of counts."""
    settings = (id_column, metadata, header, delimiter, quotes, transpose)
    stream = _stream_wide(source, *settings, like=like)
    parts = list(stream.entries.batches() if stream.entries else ())
    documents, words, counts = map(np.concatenate, zip(*parts, strict=True))
    facts = stream.facts()
    return source.corpus(
        sparse_table(documents, words, tightest(counts), (facts.n_documents, facts.n_words)),
        document_names=facts.document_names,
        word_names=facts.word_names,
        metadata=facts.metadata,
        nouns=facts.nouns,
    )


def _stream_wide(
    source: Source,
    id_column: Column | bool | None = None,
    metadata: Any = (),
    header: bool | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    transpose: bool | None = None,
    *,
    like: Any = None,
) -> TableStream:
    """Read a table of counts in pieces; names of rows and what describes them stay in memory."""
    known = () if like is None else like.layout.word_names or ()
    table = open_table(source, header, delimiter, quotes, numeric=True, known=known)
    names = _find_names(source, id_column, table)
    nouns = None
    if transpose is None:
        transpose = is_transposed(source, table, names, known)
        nouns = CELLS
    described = _describing(source, table, names, metadata, set() if transpose else set(known))
    kept = [j for j in range(len(table.titles)) if j != names and j not in described]
    if not kept:
        raise source.error("no columns of counts", use={"delimiter": ..., "id_column": ...})
    titles = [table.titles[j] if table.has_titles else str(j) for j in kept]
    if like is None:
        sample = [[row[j] for row in table.sample if j < len(row)] for j in kept]
        _remark_on_codes(source, sample)

    def rows(start: int) -> Iterator[Row]:
        if not start:
            return table.rows
        body = table_rows(source, delimiter, quotes, start + table.before)
        return check_width(source, body, len(table.titles))

    describing = {table.titles[j]: j for j in described}
    found = CountRows(source, rows, names, describing, dict(zip(titles, kept, strict=True)))
    if not transpose:
        return TableStream(source, lambda: found.facts(table.has_titles), found)
    if described:
        some = ", ".join(shown(table.titles[j]) for j in described[:8])
        log.info("%s: left out, as they describe words: %s", source.path, some)
    return TableStream(
        source, lambda: _transposed(found.facts(table.has_titles), nouns), Transposed(found)
    )


def _remark_on_codes(source: Source, columns: Sequence[Sequence[str]]) -> None:
    """Say that small numbers are taken as counts; they may be codes of answers, or genotypes."""
    if len(columns) > 1 and may_be_codes(columns):
        remark = "%s: the numbers are read as counts, 0 as nothing; if they are answers use %s"
        arguments = [source.path, Argument("format", "categorical")]
        if {cell.strip() for column in columns for cell in column} == {"0", "1", "2"}:
            remark += ", if alleles %s"
            arguments.append(Argument("format", "dosages"))
        log.info(remark, *arguments)


def _transposed(facts: TableFacts, nouns: Nouns | None) -> TableFacts:
    return TableFacts(
        facts.n_words,
        facts.n_documents,
        word_names=unique_titles(facts.document_names)[0] if facts.document_names else None,
        document_names=facts.word_names,
        nouns=nouns,
    )


def _find_names(source: Source, wanted: Column | bool | None, table: Table) -> int | None:
    """Return the column that names the rows: the one wanted, or the first if it does."""
    if wanted is False or (wanted is None and len(table.titles) < 2):
        return None
    if wanted is not None and wanted is not True:
        return find_columns(source, wanted, table.titles)[0]
    title = table.titles[0] if table.has_titles else "x"
    title = "" if title == "column 1" else title
    column = tuple(row[0].strip() for row in table.sample if row)
    named = any(number(cell) is None for cell in column)
    found = named or not title or (key(title) not in "dn" and names_rows(title, column))
    if found:
        place = shown(title) if title and table.has_titles else "1"
        log.info("%s: column %s names the rows", source.path, place)
    return 0 if found else None


def _describing(
    source: Source, table: Table, names: int | None, wanted: Any, known: set[str]
) -> list[int]:
    """Return the columns that describe the rows: those wanted, and those without numbers."""
    chosen = find_columns(source, wanted, table.titles) if wanted else []
    found = []
    for j, title in enumerate(table.titles):
        if j == names or j in chosen:
            continue
        cells = [text for row in table.sample if j < len(row) and (text := row[j].strip())]
        n_numbers = sum(number(cell) is not None for cell in cells)
        if (known and table.has_titles and title not in known) or (
            title not in known and (n_numbers < 0.5 * len(cells) or _are_years(title, cells))
        ):
            found.append(j)
    if found and not known:
        some = ", ".join(shown(table.titles[j]) for j in found[:8])
        some += f" and {len(found) - 8} more" if len(found) > 8 else ""
        remark = "%s: %s the rows, kept as metadata and not counted: %s; to add more use %s"
        what = "1 column describes" if len(found) == 1 else f"{len(found)} columns describe"
        log.info(remark, source.path, what, some, Argument("metadata", "NAME"))
    return sorted({*chosen, *found})


def _are_years(title: str, cells: Sequence[str]) -> bool:
    """Tell whether a column titled "year" holds years."""
    years = [number(cell) for cell in cells]
    return key(title) in ("year", "yr") and all(y is not None and 1000 < y < 2200 for y in years)
