# SPDX-License-Identifier: BSD-3-Clause
"""Read the rows of tables, .csv, .tsv and .parquet: delimiter, cells and width."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

from discan.data.columns import number
from discan.errors import InputError, shown
from discan.readers.source import MAX_LINE, MAX_RATIO, Source

__all__ = [
    "Column",
    "Delimiter",
    "Quotes",
    "Row",
    "check_width",
    "csv_rows",
    "find_delimiter",
    "records",
    "table_rows",
]

ROWS_AT_ONCE = 64
MOST_ABOVE = 5  # rows above the titles
FEWEST_TITLES = 3  # below them
BATCH_BYTES = 2**26  # of the texts of a column of Parquet that are unpacked at once
BYTES_INSIDE = 64  # of a value in a list of Parquet, in memory
DOUBLE_COLON = "::"  # of the MovieLens files
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # of a data frame that pandas wrote

Row = tuple[int, list[str]]
Column = str | int
Delimiter = Annotated[str | None, "Character between cells; told by the content if not given."]
Quotes = Annotated[bool, "Whether cells may be quoted."]


def records(
    source: Source,
    path: Path | None = None,
    delimiter: str | None = ",",
    quotes: bool = True,
    needed: tuple[str, ...] = (),
) -> Iterator[tuple[int, dict[str, str]]]:
    """Iterate over (line number, {title: cell}) of a table with a heading and cells of any size."""
    rows = csv_rows(source, path, delimiter, quotes)
    line, titles = next(rows, (1, []))
    absent = ", ".join(title for title in needed if title not in titles)
    if absent:
        raise source.error(f"no column {absent}; is it a Voteview export?", line, path)
    twice = next((title for title in needed or titles if titles.count(title) > 1), None)
    if twice is not None:
        raise source.error(f"two columns are named {shown(twice)}; rename one", line, path)
    for line, row in check_width(source, rows, len(titles), path):
        yield line, dict(zip(titles, row, strict=True))


def table_rows(
    source: Source, delimiter: str | None = None, quotes: bool = True, start: int = 0
) -> Iterator[Row]:
    """Iterate over (line number, cells) of a table, of text or Parquet, from a row on."""
    if source.name.endswith(".parquet"):
        return _parquet_rows(source, start)
    if source.is_folder:
        raise source.error("is a folder; name the file of the table")
    return islice(csv_rows(source, None, delimiter, quotes), start, None)


def csv_rows(
    source: Source, path: Path | None = None, delimiter: str | None = None, quotes: bool = True
) -> Iterator[Row]:
    """Iterate over (line number, cells) of a table of text, without empty lines.

    Rows of empty cells at the end, as Excel writes them, are left out as well.
    """
    lines = source.lines(path, lenient=True)
    first = list(islice(lines, 100))
    first, delimiter = _opening(first, delimiter)
    text = (f"{line}\n" for _, line in chain(first, lines))
    if delimiter == DOUBLE_COLON:  # the csv module knows delimiters of one character
        text, delimiter = (line.replace(DOUBLE_COLON, "\t") for line in text), "\t"
    try:
        rows = csv.reader(
            text,
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
            skipinitialspace=delimiter == " ",
            strict=True,
        )
    except (TypeError, ValueError):
        problem = "{}; use one character"
        raise InputError(problem, argument="delimiter", value=delimiter) from None
    try:
        empty: list[Row] = []
        n_above = None
        while chunk := _next_rows(rows):
            if n_above is None:
                n_above = _lines_above(chunk)
                if n_above:
                    name = next(cell for cell in chunk[0][1] if cell.strip())
                    remark = "%s: what is above the titles is left out: %s"
                    source.warn_once(remark, path or source.path, shown(name))
                chunk = chunk[n_above:]
            for pair in chunk:
                if len(pair[1]) > 1 and not any(pair[1]):
                    empty.append(pair)
                elif pair[1]:
                    yield from empty
                    empty.clear()
                    yield pair
    except csv.Error as error:
        remedy, use = "correct the quotes", {"quotes": False}
        raise source.error(str(error), rows.line_num, path, remedy=remedy, use=use) from None


def find_delimiter(source: Source) -> str:
    """Return the character between the cells of a table; a comma if it is no table of text."""
    if source.name.endswith(".parquet"):
        return ","
    return _opening(list(islice(source.lines(lenient=True), 100)), None)[1]


def _opening(
    lines: list[tuple[int, str]], delimiter: str | None
) -> tuple[list[tuple[int, str]], str]:
    """Return the first lines without those that are no rows, and the delimiter.

    Excel may write "sep=;" first, and programs write comments after "#"; these have no row's cells.
    """
    found = re.fullmatch(r"sep=(.)", lines[0][1], re.IGNORECASE) if lines else None
    if found is not None:
        return [(1, ""), *lines[1:]], delimiter or found[1]
    n_comments = next((n for n, (_, text) in enumerate(lines) if not text.startswith("#")), 0)
    rest = [text for _, text in lines[n_comments:]]
    delimiter = delimiter or _sniff_delimiter(rest)
    size = max(1, rest[0].count(delimiter) if rest else 0)
    if n_comments and lines[n_comments - 1][1].count(delimiter) >= size:
        n_comments -= 1  # a heading, as in "#OTU ID"
    # An empty line is no row, and keeps the numbers of the lines.
    return [(n, "") for n, _ in lines[:n_comments]] + lines[n_comments:], delimiter


def _lines_above(rows: list[Row]) -> int:
    """Return the number of rows above the titles that hold one cell each: the name of a table."""
    rows = [(line, [cell.strip() for cell in cells]) for line, cells in rows]
    n = next((n for n, (_, cells) in enumerate(rows) if sum(map(bool, cells)) > 1), 0)
    if not 0 < n <= MOST_ABOVE or not any(rows[0][1]) or len(rows) < n + 2:
        return 0
    titles, below = rows[n][1], rows[n + 1][1]
    are_titles = all(titles[1:]) and all(number(cell) is None for cell in titles)
    return n if are_titles and len(below) == len(titles) >= FEWEST_TITLES else 0


def _next_rows(rows: Any) -> list[Row]:
    """Read some rows; the csv module's limit of a cell's size is lifted only meanwhile."""
    before = csv.field_size_limit(MAX_LINE)
    try:
        return [(rows.line_num, row) for row in islice(rows, ROWS_AT_ONCE)]
    finally:
        csv.field_size_limit(before)


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


def _sniff_delimiter(lines: list[str]) -> str:
    """Choose the separator that splits the first lines into the same number of cells."""
    lines = [line for line in lines if line]
    best, best_score = ",", (0.0, 0)
    for delimiter in (",", "\t", ";", "|", DOUBLE_COLON, " "):
        if delimiter == " " and (best_score[0] == 1 or not _is_spaced(lines)):
            continue
        try:  # a quoted cell may hold delimiters and ends of lines
            rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
            sizes = [len(row) - 1 for row in rows if row]
        except (csv.Error, TypeError, ValueError):
            sizes = [line.count(delimiter) for line in lines]
        sizes = sizes[:-1] if len(sizes) > 2 else sizes  # the last one may be cut
        if not sizes or not max(sizes):
            continue
        usual = max(set(sizes), key=lambda size: (sizes.count(size), size))
        score = (sizes.count(usual) / len(sizes) if usual else 0.0, usual)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _is_spaced(lines: list[str]) -> bool:
    """Tell whether lines hold numbers between spaces, in a table as R writes it."""
    rows = [line.split() for line in lines[1:-1]]
    if len(rows) < 2 or min(map(len, rows)) < 3:
        return False
    return all(sum(map(_is_number, row)) > 0.5 * len(row) for row in rows)


def _is_number(cell: str) -> bool:
    return cell == "NA" or number(cell) is not None


# ---- Parquet ----


def _parquet_rows(source: Source, start: int) -> Iterator[Row]:
    """Iterate over the heading and the rows of a Parquet file as text, from one of them on."""
    try:
        from pyarrow import parquet  # type: ignore[import-not-found, unused-ignore]
    except ImportError:  # Polars is no substitute: it aborts the process on some damaged files
        problem = "reading Parquet needs the package pyarrow: pip install pyarrow"
        raise source.error(problem) from None
    with source.faults("cannot be read as Parquet"):
        file = parquet.ParquetFile(source.path)
        meta = file.metadata
        groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        lists = [n for n in range(meta.num_columns) if file.schema.column(n).max_repetition_level]
        inside = sum(group.column(n).num_values for group in groups for n in lists)
        source.check_unpacked(max(size, meta.num_rows // MAX_RATIO, inside * BYTES_INSIDE))
        names = [name for name in file.schema_arrow.names if not _UNNAMED_INDEX.fullmatch(name)]
        if not start:
            yield 0, names
        line = seen = 0
        at_once = max(1, min(2**14, BATCH_BYTES // _longest_repeated(source.path, meta)))
        for batch in file.iter_batches(batch_size=at_once, columns=names):
            skipped = min(batch.num_rows, max(0, start - 1 - line))
            line += skipped
            columns = (
                [_plain(v) for v in column[skipped:].to_pylist()] for column in batch.columns
            )
            for cells in zip(*columns, strict=True):
                line += 1
                seen += sum(map(len, cells))
                source.check_unpacked(seen)
                yield line, list(cells)


def _longest_repeated(path: Path, meta: Any) -> int:
    """Return the bytes of the longest text that is stored once and stands in any number of rows."""
    from pyarrow import compute, parquet, types

    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    columns = [group.column(n) for group in groups for n in range(meta.num_columns)]
    texts = {
        column.path_in_schema
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.has_dictionary_page
    }
    if not texts:
        return 1
    file, longest = parquet.ParquetFile(path, metadata=meta, read_dictionary=list(texts)), 1
    for n in range(len(groups)):
        for column in next(file.iter_batches(1, [n], list(texts)), ()):
            values: Any = getattr(column, "dictionary", ())
            if len(values) and (types.is_string(values.type) or types.is_binary(values.type)):
                found = compute.max(compute.binary_length(values)).as_py()
                longest = max(longest, found or 1)
    return longest


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(int(value)) if isinstance(value, bool) else str(value)
