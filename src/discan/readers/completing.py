# SPDX-License-Identifier: BSD-3-Clause
"""Fill in the open cells of a table of answers, and leave all other cells as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from discan.data.completing import Filling
from discan.data.roles import Plan
from discan.readers.csv_rows import find_delimiter
from discan.readers.source import Source
from discan.readers.tables import open_table

__all__ = ["CompletedTable", "complete_table"]

Open = Mapping[int, Mapping[str, Sequence[str]]]


class CompletedTable(NamedTuple):
    """A table with its open cells filled in: titles, if it has any, delimiter and rows."""

    titles: list[str] | None
    delimiter: str
    rows: Iterator[list[str]]


def complete_table(source: Source, reading: Mapping[str, Any], answers: Open) -> CompletedTable:
    """Read a table again, and fill in answers.

    Parameters
    ----------
    source : Source
    reading : dict
        How the table was read: ``options`` of its reader, and the ``plan`` of its columns.
    answers : mapping
        By the number of the row from 0 and the name of the question: one or several answers.
    """
    options, plan = reading.get("options", {}), Plan.of(reading.get("plan", {}))
    delimiter, quotes = options.get("delimiter"), bool(options.get("quotes", True))
    header = options.get("header")
    table = open_table(source, header, delimiter, quotes, numeric=False, known=plan.answers)
    place = {title: j for j, title in enumerate(table.titles)}
    filling = Filling(plan, table.titles, lambda title: (row[place[title]] for row in table.sample))

    def rows() -> Iterator[list[str]]:
        for n, (_, row) in enumerate(table.rows):
            for question, given in answers.get(n, {}).items():
                for title, cell in filling.cells(question, given).items():
                    row[place[title]] = cell
            yield row

    titles = table.titles if table.has_titles else None
    return CompletedTable(titles, delimiter or find_delimiter(source), rows())
