# SPDX-License-Identifier: BSD-3-Clause
"""Open tables: their titles, the kinds of their columns, and the columns that describe rows."""

from __future__ import annotations

import logging
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np

from discan.data.answer_tables import choose_titles
from discan.data.columns import MISSING, Codes, clean, number, unique_titles
from discan.data.intake import bounded_int
from discan.errors import shown
from discan.readers.csv_rows import Column, Row, check_width, table_rows
from discan.readers.source import Source
from discan.typing import Array

__all__ = [
    "SAMPLE", "Describing", "Exposures", "Heading", "IdColumn", "Metadata", "Table",
    "find_columns", "has_heading", "open_table",
]  # fmt: skip

log = logging.getLogger("discan")

SAMPLE = 200  # rows looked at to guess

Heading = Annotated[
    bool | None, "Whether the first row holds titles; told by its content if not given."
]
Metadata = Annotated[
    Column | Sequence[Column],
    "Columns that describe the rows, by title, number or pattern; they are kept, not counted.",
]
Exposures = Annotated[bool, "Whether a document has exposure 0 to the groups it has no answer in."]
IdColumn = Annotated[
    Column | bool | None,
    "Column that names the rows; told by its title and content if not given. False means none.",
]


class Table(NamedTuple):
    """A table that is open: its titles, a sample of its rows, and all rows.

    Titles are unique; a table without a heading has made-up ones, V1, V2 and so on. ``before`` is
    the number of rows of titles.
    """

    titles: list[str]
    has_titles: bool
    sample: list[list[str]]
    rows: Iterator[Row]
    before: int


def open_table(
    source: Source,
    header: bool | None,
    delimiter: str | None,
    quotes: bool,
    numeric: bool,
    known: Collection[str] = (),
    texts: bool = False,
) -> Table:
    """Open a table: find the heading, and check the width of each row while it is read.

    ``known`` are titles of which some are expected in a heading. If ``texts``, the first row is a
    heading unless it holds a text.
    """
    rows = table_rows(source, delimiter, quotes)
    first = list(islice(rows, SAMPLE))
    if not first:
        raise source.error("the table is empty")
    sample = [row for _, row in first]
    if header is None:
        header = source.name.endswith(".parquet") or (
            len({cell.strip() for cell in sample[0]} & set(known)) > 0.5 * len(set(sample[0]))
            or (_is_short(sample) if texts else has_heading(sample, numeric))
        )
    heading = [name.strip() for name in sample[0]] if header else None
    n_more = 0
    if header:
        first, sample = first[1:], sample[1:]
        n_more = _more_headings(sample)
        if n_more:
            log.info("%s: %d more rows of titles are left out", source.path, n_more)
            first, sample = first[n_more:], sample[n_more:]
    if not first:
        raise source.error("the table has a heading but no rows")
    width = len(heading or sample[0])
    # R writes no name above the names of the rows.
    if heading is not None and len(sample[0]) == width + 1:
        heading, width = ["", *heading], width + 1
    titles = [f"V{n}" for n in range(1, width + 1)]
    if heading is not None:
        titles = _made_unique(source, heading)
    elif not numeric:
        log.info("%s: no titles found; the columns are called V1, V2, ...", source.path)
    body = check_width(source, chain(first, rows), width)
    return Table(titles, heading is not None, sample, body, n_more + bool(header))


def _more_headings(sample: Sequence[Sequence[str]]) -> int:
    """Return the number of rows below the heading that are none of data, as Qualtrics writes."""
    for n, row in enumerate(sample[:2], start=1):
        if sum(cell.startswith('{"ImportId"') for cell in row) > 0.5 * len(row):
            return n
    return 0


def _made_unique(source: Source, heading: list[str]) -> list[str]:
    titles, changed = unique_titles(heading)
    repeated = [title for n, title in enumerate(titles) if heading[n] and title != heading[n]]
    if repeated:
        some = ", ".join(map(shown, repeated[:5])) + (", ..." if len(repeated) > 5 else "")
        log.warning("%s: titles that repeat were made unique: %s", source.path, some)
    unnamed = [title for title in changed if title not in repeated and title != "column 1"]
    if unnamed:
        some = ", ".join(map(shown, unnamed[:5])) + (", ..." if len(unnamed) > 5 else "")
        log.info("%s: columns without a title are called %s", source.path, some)
    return titles


def find_columns(source: Source, wanted: Any, titles: list[str]) -> list[int]:
    """Return the numbers of columns given by name, number or pattern."""
    with source.naming():
        place = {title: n for n, title in enumerate(titles)}
        return [place[title] for title in choose_titles(titles, wanted)]


def has_heading(sample: list[list[str]], numeric: bool) -> bool:
    """Tell whether the first row names the columns."""
    first, rest = [cell.strip() for cell in sample[0]], sample[1:]
    if _is_sequence(first) and not (rest and _is_sequence(rest[0])):
        return True
    if all(number(cell) is not None for cell in first if cell) and any(first):
        return False
    below = [{row[j].strip() for row in rest if j < len(row)} for j in range(len(first))]
    if numeric:  # words over counts; names of rows prove nothing
        counted = [
            number(cell) is None
            for cell, cells in zip(first, below, strict=True)
            if cells and all(number(other) is not None for other in cells)
        ]
        return any(counted or [number(cell) is None for cell in first[1:] or first])
    pairs = [(cell, cells) for cell, cells in zip(first, below, strict=True) if cell]
    new = [cell not in cells and not _is_of_kind(cell, cells) for cell, cells in pairs]
    return sum(new) >= 0.5 * len(pairs)


def _is_sequence(cells: Sequence[str]) -> bool:
    """Tell whether the numbers of a row are titles such as 1, 2, 3 and so on."""
    numbers = [bounded_int(cell) for cell in cells if cell.strip().isdecimal()]
    steps = {b - a for a, b in pairwise(numbers)}
    return len(numbers) > 3 and steps == {1} and len(numbers) > 0.5 * len(cells)


def _is_short(sample: list[list[str]]) -> bool:
    """Tell whether the first row is much shorter than the texts below, as titles are."""
    first, rest = sample[0], [row for row in sample[1:] if len(row) == len(sample[0])]
    if not rest:
        return True
    columns = list(zip(*rest, strict=True))
    longest = max(range(len(columns)), key=lambda j: sum(map(len, columns[j])))
    spaces = sum(cell.count(" ") for cell in columns[longest]) / len(rest)
    length = sum(map(len, columns[longest])) / len(rest)
    title = first[longest]
    return len(title) < 0.5 * length and title.count(" ") < max(1.0, 0.5 * spaces)


def _is_of_kind(cell: str, others: set[str]) -> bool:
    """Tell whether a cell is a number or a genotype as all others of its column are."""
    for kind in (re.compile(r"[-+]?\d+(\.\d*)?"), re.compile(r"\w+[/|]\w+")):
        if kind.fullmatch(cell):
            return all(kind.fullmatch(other) for other in others if other)
    return False


# ---- columns that describe rows ----


class Describing:
    """Collect columns that describe the rows of a table while it is read."""

    def __init__(self, titles: Sequence[str]) -> None:
        self.titles = list(titles)
        self._codes = [Codes() for _ in titles]
        self._found = [array("i") for _ in titles]

    def add(self, cells: Sequence[str]) -> None:
        """Add the cells of the next row, one per title."""
        for cell, codes, found in zip(cells, self._codes, self._found, strict=True):
            found.append(codes[cell])

    def since(self, row: int) -> list[list[str]]:
        """Return the cells of each column from a row on."""
        texts = [list(codes) for codes in self._codes]
        parts = zip(texts, self._found, strict=True)
        return [[cells[n] for n in found[row:]] for cells, found in parts]

    def metadata(self) -> dict[str, Array]:
        """Return the columns as metadata; columns without any value are left out."""
        parts = zip(self.titles, self._found, self._codes, strict=True)
        cleaned = [clean(t, np.asarray(n), list(cells), MISSING)[0] for t, n, cells in parts]
        return {column.title: column.as_metadata() for column in cleaned if column.values}
