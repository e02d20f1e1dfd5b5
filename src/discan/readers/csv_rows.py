# SPDX-License-Identifier: BSD-3-Clause
"""Read the rows of tables, .csv, .tsv and .parquet: delimiter, heading, width, columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from discan.errors import InputError, shown
from discan.readers.numbers import number
from discan.readers.source import MAX_LINE, MAX_RATIO, Source

__all__ = [
    "SAMPLE",
    "Column",
    "Delimiter",
    "Heading",
    "Quotes",
    "Row",
    "Table",
    "check_width",
    "csv_rows",
    "find_column",
    "open_table",
    "records",
    "table_rows",
]

SAMPLE = 200  # rows looked at to guess

Row = tuple[int, list[str]]
Column = str | int
Heading = Annotated[
    bool | None, "Whether the first row holds titles; told by its content if not given."
]
Delimiter = Annotated[str | None, "Character between cells; told by the content if not given."]
Quotes = Annotated[bool, "Whether cells may be quoted."]


class Table(NamedTuple):
    """A table that is open: its heading if it has one, its width, a sample, and all rows."""

    heading: list[str] | None
    width: int
    sample: list[list[str]]
    rows: Iterator[Row]


def open_table(
    source: Source, header: bool | None, delimiter: str | None, quotes: bool, numeric: bool
) -> Table:
    """Open a table: find the heading, and check the width of each row while it is read."""
    rows = table_rows(source, delimiter, quotes)
    first = list(islice(rows, SAMPLE))
    if not first:
        raise source.error("the table is empty")
    sample = [row for _, row in first]
    if header is None:
        header = source.name.endswith(".parquet") or _has_heading(sample, numeric)
    heading = [name.strip() for name in sample[0]] if header else None
    if header:
        first, sample = first[1:], sample[1:]
    if not first:
        raise source.error("the table has a heading but no rows")
    width = len(heading or sample[0])
    # R writes no name above the names of the rows.
    if heading is not None and len(sample[0]) == width + 1:
        heading, width = ["", *heading], width + 1
    return Table(heading, width, sample, check_width(source, chain(first, rows), width))


def records(
    source: Source,
    path: Path | None = None,
    delimiter: str | None = ",",
    quotes: bool = True,
    needed: tuple[str, ...] = (),
) -> Iterator[tuple[int, dict[str, str]]]:
    """Iterate over (line number, {title: cell}) of a table with a heading and cells of any size."""
    rows = _large_cells(csv_rows(source, path, delimiter, quotes))
    line, titles = next(rows, (1, []))
    absent = ", ".join(title for title in needed if title not in titles)
    if absent:
        raise source.error(f"no column {absent}; is it a Voteview export?", line, path)
    twice = next((title for title in needed or titles if titles.count(title) > 1), None)
    if twice is not None:
        raise source.error(f"two columns are named {shown(twice)}; rename one", line, path)
    for line, row in check_width(source, rows, len(titles), path):
        yield line, dict(zip(titles, row, strict=True))


def _large_cells(rows: Iterator[Row]) -> Iterator[Row]:
    """Lift the csv module's limit of a cell's size, only while a row is read."""
    while True:
        before = csv.field_size_limit(MAX_LINE)
        try:
            row = next(rows, None)
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        yield row


def table_rows(source: Source, delimiter: str | None = None, quotes: bool = True) -> Iterator[Row]:
    """Iterate over (line number, cells) of a table, of text or Parquet."""
    if source.name.endswith(".parquet"):
        return _parquet_rows(source)
    if source.is_folder:
        raise source.error("is a folder; name the file of the table")
    return csv_rows(source, None, delimiter, quotes)


def csv_rows(
    source: Source, path: Path | None = None, delimiter: str | None = None, quotes: bool = True
) -> Iterator[Row]:
    """Iterate over (line number, cells) of a table of text, without empty lines."""
    lines = source.lines(path)
    first = list(islice(lines, 20))
    if delimiter is None:
        delimiter = _sniff_delimiter([text for _, text in first])
    text = (f"{line}\n" for _, line in chain(first, lines))
    try:
        rows = csv.reader(
            text,
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
            strict=True,
        )
    except (TypeError, ValueError):
        problem = "{}; use one character"
        raise InputError(problem, argument="delimiter", value=delimiter) from None
    try:
        for row in rows:
            if row:
                yield rows.line_num, row
    except csv.Error as error:
        remedy, use = "correct the quotes", {"quotes": False}
        raise source.error(str(error), rows.line_num, path, remedy=remedy, use=use) from None


def check_width(
    source: Source, rows: Iterable[Row], width: int, path: Path | None = None
) -> Iterator[Row]:
    """Refuse a row whose number of cells is not the width."""
    for line, row in rows:
        if len(row) != width:
            problem, remedy = f"{len(row)} cells, expected {width}", "correct the row"
            use = None if path else {"delimiter": ...}
            raise source.error(problem, line, path, remedy=remedy, use=use)
        yield line, row


def find_column(source: Source, wanted: Any, heading: list[str] | None, width: int) -> int:
    """Return the number of a column given by name or number."""
    if isinstance(wanted, int) and 0 <= wanted < width:
        return wanted
    if heading is not None and wanted in heading:
        return heading.index(wanted)
    known = ", ".join(shown(name) for name in (heading or [])[:10]) or f"0 .. {width - 1}"
    raise source.error(f"no column {shown(wanted)}; use one of {known}")


def _sniff_delimiter(lines: list[str]) -> str:
    """Choose the separator that splits the first lines into the same number of cells."""
    lines = [line for line in lines if line]
    best, best_score = ",", (0.0, 0)
    for delimiter in (",", "\t", ";", "|"):
        sizes = [line.count(delimiter) for line in lines]
        if not sizes or not max(sizes):
            continue
        usual = max(set(sizes), key=lambda size: (sizes.count(size), size))
        score = (sizes.count(usual) / len(sizes) if usual else 0.0, usual)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _has_heading(sample: list[list[str]], numeric: bool) -> bool:
    """Tell whether the first row names the columns."""
    first, rest = [cell.strip() for cell in sample[0]], sample[1:]
    if all(number(cell) is not None for cell in first):
        return False
    if numeric:  # words over counts; a first column of names proves nothing
        return any(number(cell) is None for cell in first[1:] or first)
    if len(set(first)) < len(first):
        return False
    below = [{row[j].strip() for row in rest if j < len(row)} for j in range(len(first))]
    new = [cell not in cells for cell, cells in zip(first, below, strict=True)]
    return sum(new) >= 0.5 * len(first)


# ---- Parquet ----


def _parquet_rows(source: Source) -> Iterator[Row]:
    """Iterate over the heading and the rows of a Parquet file as text."""
    try:
        from pyarrow import parquet  # type: ignore[import-not-found, unused-ignore]
    except ImportError:  # Polars is no substitute: it aborts the process on some damaged files
        problem = "reading Parquet needs the package pyarrow: pip install pyarrow"
        raise source.error(problem) from None
    with source.faults("cannot be read as Parquet"):
        file = parquet.ParquetFile(source.path)
        meta = file.metadata
        size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        source.check_unpacked(max(size, meta.num_rows // MAX_RATIO))
        yield 0, list(file.schema_arrow.names)
        line = 0
        for batch in file.iter_batches(batch_size=2**14):
            columns = ([_plain(v) for v in column.to_pylist()] for column in batch.columns)
            for cells in zip(*columns, strict=True):
                line += 1
                yield line, list(cells)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(int(value)) if isinstance(value, bool) else str(value)
