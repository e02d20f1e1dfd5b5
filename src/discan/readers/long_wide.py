# SPDX-License-Identifier: BSD-3-Clause
"""Read tables of counts: one row per triple (long), or one row per document (wide)."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Any

import numpy as np

from discan.data.columns import number, unique_titles
from discan.data.corpus import Corpus
from discan.data.intake import tightest
from discan.data.nouns import Nouns
from discan.data.roles import noun_of
from discan.errors import Argument, InputError, LimitError, shown
from discan.readers.csv_rows import (
    Column,
    Delimiter,
    Quotes,
    Row,
    check_width,
    table_rows,
)
from discan.readers.guess import reader
from discan.readers.numbers import are_counts, check_count, sparse_table
from discan.readers.orientation import is_transposed
from discan.readers.source import Source
from discan.readers.table_kinds import COUNT, DOCUMENT, WORD, is_kind, key, names_rows
from discan.readers.table_streams import Batch, TableFacts, TableStream
from discan.readers.tables import (
    Describing,
    Heading,
    IdColumn,
    Metadata,
    Table,
    find_columns,
    open_table,
)
from discan.typing import Array

__all__ = ["read_long", "read_wide"]

log = logging.getLogger("discan")

Columns = Sequence[Column] | None
ROWS_AT_ONCE = 2**17


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
    parts = list(stream.batches or ())
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
    rows = table_rows(source, delimiter, quotes)
    first = next(rows, None)
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
    body = rows if header else chain([first], rows)
    found = _Triples(source, chosen, titles)
    nouns = _nouns([titles[j] for j in chosen]) if header else None
    batches = found.read(check_width(source, body, len(titles)))
    return TableStream(lambda: found.facts(nouns), batches)


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


class _Triples:
    """Number the documents and words of triples in order of appearance."""

    def __init__(self, source: Source, columns: list[int], titles: Sequence[str]) -> None:
        self._source, self._columns, self._titles = source, columns, titles
        self._documents: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._facts = _Facts([j for j in range(len(titles)) if j not in columns])

    def read(self, rows: Iterable[Row]) -> Iterator[Batch]:
        """Iterate over batches of entries."""
        source, documents, words = self._source, self._documents, self._words
        numbers, counts = (array("i"), array("i")), array("d")
        d, w, c = (*self._columns, -1)[:3]
        for line, row in rows:
            if self._facts.columns:
                self._facts.add(row[d].strip(), row)
            document, word = row[d].strip(), row[w].strip()
            if not document or not word:
                what = "word" if document else "document"
                raise source.error(f"an empty {what}; name it", line)
            numbers[0].append(documents.setdefault(document, len(documents)))
            numbers[1].append(words.setdefault(word, len(words)))
            counts.append(1.0 if c < 0 else check_count(source, line, row[c]))
            if len(counts) >= ROWS_AT_ONCE:
                yield np.array(numbers[0]), np.array(numbers[1]), np.array(counts)
                numbers, counts = (array("i"), array("i")), array("d")
        if not words:
            raise source.error("the table has no rows")
        yield np.array(numbers[0]), np.array(numbers[1]), np.array(counts)

    def facts(self, nouns: Nouns | None) -> TableFacts:
        """Return what is known when all rows were read."""
        documents, words = list(self._documents), list(self._words)
        metadata = self._facts.metadata(self._source, documents, self._titles)
        return TableFacts(len(documents), len(words), words, documents, metadata, nouns)


class _Facts:
    """Columns besides document, word and count: those that are the same in all its rows."""

    def __init__(self, columns: list[int]) -> None:
        self.columns = columns
        self._of: dict[str, list[str]] = {}
        self._varies: set[int] = set()

    def add(self, document: str, row: list[str]) -> None:
        """Compare a row with the first one of its document."""
        cells = [row[j].strip() for j in self.columns]
        known = self._of.setdefault(document, cells)
        if known is not cells and known != cells:
            self._varies.update(n for n, cell in enumerate(cells) if cell != known[n])

    def metadata(
        self, source: Source, documents: list[str], titles: Sequence[str]
    ) -> dict[str, Array]:
        """Return what describes the documents; say what is left out."""
        names = [titles[j] for j in self.columns]
        for n in sorted(self._varies):
            reason = "its title names no count, and it differs inside documents"
            log.info("%s: column %s is left out: " + reason, source.path, shown(names[n]))
        kept = [n for n in range(len(names)) if n not in self._varies]
        if not kept:
            return {}
        describing = Describing([names[n] for n in kept])
        for document in documents:
            describing.add([self._of[document][n] for n in kept])
        some = ", ".join(shown(names[n]) for n in kept)
        log.info("%s: kept as metadata, not counted: %s", source.path, some)
        return describing.metadata()


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
    parts = list(stream.batches or ())
    documents, words, counts = map(np.concatenate, zip(*parts, strict=True))
    facts = stream.facts()
    return source.corpus(
        sparse_table(documents, words, tightest(counts), (facts.n_documents, facts.n_words)),
        document_names=facts.document_names,
        word_names=facts.word_names,
        metadata=facts.metadata,
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
    if transpose is None:
        transpose = is_transposed(source, table, names, known)
    described = _describing(source, table, names, metadata, set() if transpose else set(known))
    kept = [j for j in range(len(table.titles)) if j != names and j not in described]
    if not kept:
        raise source.error("no columns of counts", use={"delimiter": ..., "id_column": ...})
    titles = [table.titles[j] if table.has_titles else str(j) for j in kept]
    describing = Describing([table.titles[j] for j in described])
    documents: list[str] = []
    n_rows = 0

    def batches() -> Iterator[Batch]:
        nonlocal n_rows
        lengths, words, counts = array("q"), array("i"), array("d")
        first = 0
        for line, row in table.rows:
            cells = row if len(kept) == len(row) else [row[j] for j in kept]
            values = _counts(source, line, cells, titles)
            present = np.flatnonzero(values)
            lengths.append(len(present))
            words.frombytes(present.astype(np.int32).tobytes())
            counts.frombytes(values[present].tobytes())
            if names is not None:
                documents.append(row[names].strip())
            if described:
                describing.add([row[j] for j in described])
            n_rows += 1
            if len(counts) >= ROWS_AT_ONCE:
                yield (
                    np.repeat(np.arange(first, n_rows), lengths),
                    np.array(words),
                    np.array(counts),
                )
                lengths, words, counts = array("q"), array("i"), array("d")
                first = n_rows
        yield np.repeat(np.arange(first, n_rows), lengths), np.array(words), np.array(counts)

    def facts() -> TableFacts:
        return TableFacts(
            n_rows,
            len(kept),
            word_names=titles if table.has_titles else None,
            document_names=None if names is None else documents,
            metadata=describing.metadata(),
        )

    if transpose:
        if described:
            some = ", ".join(shown(table.titles[j]) for j in described[:8])
            log.info("%s: left out, as they describe words: %s", source.path, some)
        swapped = ((words, rows, counts) for rows, words, counts in batches())
        return TableStream(lambda: _transposed(facts()), swapped)
    return TableStream(facts, batches())


def _transposed(facts: TableFacts) -> TableFacts:
    return TableFacts(
        facts.n_words,
        facts.n_documents,
        word_names=unique_titles(facts.document_names)[0] if facts.document_names else None,
        document_names=facts.word_names,
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
