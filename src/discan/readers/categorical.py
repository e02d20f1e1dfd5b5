# SPDX-License-Identifier: BSD-3-Clause
"""Read tables of answers: one column per question, one word per answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Annotated, Any

import numpy as np

from discan.data.answer_tables import AnswerOptions, RawColumn, find_answers, read_answers
from discan.data.answers import Answers
from discan.data.columns import MISSING, Codes, StoredCodes
from discan.data.corpus import Corpus
from discan.data.folders.pieces import Piece
from discan.data.folders.runs import Mark
from discan.data.folders.tiles import Tiles
from discan.data.intake import read_table, tightest
from discan.errors import InputError
from discan.readers.csv_rows import Column, Delimiter, Quotes, Row, check_width, table_rows
from discan.readers.guess import reader
from discan.readers.pivoting import pivoted, remark_on_single_answers
from discan.readers.source import Source
from discan.readers.table_kinds import is_kind
from discan.readers.table_streams import Cells, TableFacts, TableStream
from discan.readers.tables import (
    Exposures,
    Heading,
    IdColumn,
    Metadata,
    Table,
    open_table,
)
from discan.readers.turning import remark_on_roll_calls, turned
from discan.typing import Array

__all__ = ["read_categorical"]

ROWS_AT_ONCE = 2**9  # few enough to stay in the cache


@reader(
    "categorical",
    "table of answers: one column per question, one category per value, empty if missing",
    sniff=is_kind("categorical"),
    family=("table",),
    table=lambda source, **options: _stream_categorical(source, **options),
)
def read_categorical(
    source: Source,
    id_column: IdColumn = None,
    columns: Annotated[
        Column | Sequence[Column] | None, "Columns to read; all others are left out."
    ] = None,
    drop: Annotated[Column | Sequence[Column], "Columns to leave out altogether."] = (),
    metadata: Metadata = (),
    answers: Annotated[
        Column | Sequence[Column] | None,
        "Columns to count, by title, number or pattern, e.g. q*; all others describe the rows. By "
        "default all columns that look like answers.",
    ] = None,
    missing: Annotated[
        Iterable[str],
        "Cells that hold no answer, in any case, in place of the usual marks; empty cells never "
        "do.",
    ] = MISSING,
    alleles: Annotated[
        str | None,
        'Separator of several answers in a cell, e.g. "/" in "123/125"; a number if each has so '
        'many digits, e.g. 3 in "123125"; "none" to split no cell. Told by the content if not '
        "given.",
    ] = None,
    bins: Annotated[
        int | str | Mapping[str, Any] | None,
        "Count numbers of many values by intervals: how many, for all such columns (5) or for "
        "some (age=5,income=4); limits are possible too (age=18/30/65).",
    ] = None,
    merge: Annotated[
        bool, "Whether answers that differ only in case, spaces or punctuation are the same."
    ] = False,
    pivot: Annotated[
        Column | Sequence[Column] | None,
        "If each row of the file holds one answer: the columns of document, question and answer, "
        "e.g. member,rollcall,vote.",
    ] = None,
    transpose: Annotated[
        bool, "Whether columns are documents and rows questions, such as members and roll calls."
    ] = False,
    exposures: Exposures = True,
    header: Heading = None,
    delimiter: Delimiter = None,
    quotes: Quotes = True,
    *,
    like: Any = None,
) -> Corpus:
    """Read votes, surveys or microsatellites: each column is a group of words column=value."""
    settings = AnswerOptions(
        id_column=id_column, columns=columns, drop=drop, metadata=metadata, answers=answers,
        missing=missing, alleles=alleles, bins=bins, merge=merge, exposures=exposures,
    )  # fmt: skip
    settings = _checked(settings)
    known = () if like is None else like.layout.group_names or ()
    table = open_table(source, header, delimiter, quotes, numeric=False, known=known)
    with source.naming():
        raw = _read_columns(table)
        if pivot is not None:
            raw = pivoted(str(source.path), raw, pivot)
        elif transpose:
            raw = turned(str(source.path), raw, id_column)
            settings = replace(settings, id_column="member")
        elif like is None:
            remark_on_single_answers(str(source.path), raw)
        corpus = read_answers(str(source.path), raw, settings, like, table.has_titles)
    if like is None:
        remark_on_roll_calls(str(source.path), corpus.nouns)
    return corpus


def _checked(settings: AnswerOptions) -> AnswerOptions:
    if settings.alleles == "":
        problem = "{} splits nothing; pass a separator such as '/'"
        raise InputError(problem, argument="alleles", value="")
    return replace(settings, alleles=None if settings.alleles is None else str(settings.alleles))


def _stream_categorical(
    source: Source,
    pivot: Any = None,
    transpose: bool = False,
    header: bool | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    **options: Any,
) -> TableStream | None:
    """Read a table of answers in pieces; None for one to pivot or turn, which is read whole."""
    settings = _checked(AnswerOptions(**options))
    if pivot is not None or transpose:
        return None
    table = open_table(source, header, delimiter, quotes, numeric=False)

    def rows(start: int) -> Iterator[Row]:
        if not start:
            return table.rows
        body = table_rows(source, delimiter, quotes, start + table.before)
        return check_width(source, body, len(table.titles))

    lines = _AnswerRows(table.titles, rows)

    def facts(tiles: Tiles) -> TableFacts:
        with source.naming():
            return lines.facts(tiles, str(source.path), settings, table.has_titles)

    return TableStream(source, facts, lines=lines, pieces=lines.pieces)


class _AnswerRows:
    """Codes of the cells of a table of answers; the distinct cells stay in memory.

    ``rows(start)`` iterates over the rows below the heading, from one of them on.
    """

    def __init__(self, titles: Sequence[str], rows: Callable[[int], Iterator[Row]]) -> None:
        self._titles, self._rows = titles, rows
        self._codes = [Codes() for _ in titles]
        self._marked = [0 for _ in titles]  # distinct cells of the last mark
        self._n_rows = 0
        self._answers: Answers | None = None

    def batches(self) -> Iterator[Cells]:
        """Iterate over the codes, from where reading stands."""
        for columns in _coded(self._rows(self._n_rows), self._codes):
            self._n_rows += columns[0].size
            yield (np.column_stack(columns),)

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch, and what is new since the last."""
        new = {
            str(j): list(islice(codes, first, None))
            for j, (codes, first) in enumerate(zip(self._codes, self._marked, strict=True))
        }
        self._marked = list(map(len, self._codes))
        return {"rows": self._n_rows, "cells": new}

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._n_rows = mark["rows"]
        for j, codes in enumerate(self._codes):
            for cell in mark["cells"][str(j)]:
                codes[cell] = len(codes)
        self._marked = list(map(len, self._codes))

    def facts(
        self, tiles: Tiles, origin: str, settings: AnswerOptions, has_titles: bool
    ) -> TableFacts:
        """Return what is known when all rows were read; the columns are read one at a time."""
        raw = [
            RawColumn(title, StoredCodes(tiles.n_lines, partial(_column, tiles, j)), list(codes))
            for j, (title, codes) in enumerate(zip(self._titles, self._codes, strict=True))
        ]
        remark_on_single_answers(origin, raw)
        found = self._answers = find_answers(origin, raw, settings, has_titles=has_titles)
        remark_on_roll_calls(origin, found.nouns)
        return TableFacts(
            tiles.n_lines,
            len(found.word_names),
            found.word_names,
            found.names,
            found.metadata,
            found.nouns,
            found.reading,
            groups=found.group_of_word,
            group_names=found.group_names,
            exposed=found.exposures and not found.are_complete(),
        )

    def pieces(self, _: Tiles) -> Iterator[Piece]:
        """Iterate over the rows."""
        assert self._answers is not None
        for table in self._answers.tables():
            found = read_table(table)
            yield Piece(found.indptr, found.words, tightest(found.values))


def _column(tiles: Tiles, j: int) -> Iterator[Array]:
    """Iterate over the codes of a column."""
    for (part,) in tiles.parts(j, j + 1):
        yield part


def _coded(rows: Iterator[Row], codes: Sequence[Codes]) -> Iterator[list[Array]]:
    """Iterate over the codes of some rows, an array for each column."""
    cells = (row for _, row in rows)
    while chunk := list(islice(cells, ROWS_AT_ONCE)):
        yield [
            np.fromiter(map(known.__getitem__, column), np.int32, len(chunk))
            for column, known in zip(zip(*chunk, strict=True), codes, strict=True)
        ]


def _read_columns(table: Table) -> list[RawColumn]:
    """Read all rows into memory, column by column."""
    codes = [Codes() for _ in table.titles]
    found = zip(*_coded(table.rows, codes), strict=True)
    columns = zip(table.titles, map(np.concatenate, found), codes, strict=True)
    return [RawColumn(title, numbers, list(known)) for title, numbers, known in columns]
