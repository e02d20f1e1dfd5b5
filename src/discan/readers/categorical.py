# SPDX-License-Identifier: BSD-3-Clause
"""Read tables of answers: one column per question, one word per answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any

import numpy as np

from discan.data.answer_tables import AnswerOptions, RawColumn, read_answers
from discan.data.columns import MISSING, Codes
from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.readers.csv_rows import Column, Delimiter, Quotes
from discan.readers.guess import reader
from discan.readers.pivoting import pivoted, remark_on_single_answers
from discan.readers.source import Source
from discan.readers.table_kinds import is_kind
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
    if alleles == "":
        problem = "{} splits nothing; pass a separator such as '/'"
        raise InputError(problem, argument="alleles", value=alleles)
    known = () if like is None else like.layout.group_names or ()
    table = open_table(source, header, delimiter, quotes, numeric=False, known=known)
    options = AnswerOptions(
        id_column=id_column, columns=columns, drop=drop, metadata=metadata, answers=answers,
        missing=missing, alleles=None if alleles is None else str(alleles), bins=bins, merge=merge,
        exposures=exposures,
    )  # fmt: skip
    with source.naming():
        raw = _read_columns(table)
        if pivot is not None:
            raw = pivoted(str(source.path), raw, pivot)
        elif transpose:
            raw = turned(str(source.path), raw, id_column)
            options = replace(options, id_column="member")
        elif like is None:
            remark_on_single_answers(str(source.path), raw)
        corpus = read_answers(str(source.path), raw, options, like, table.has_titles)
    if like is None:
        remark_on_roll_calls(str(source.path), corpus)
    return corpus


def _read_columns(table: Table) -> list[RawColumn]:
    """Read all rows, column by column."""
    codes = [Codes() for _ in table.titles]
    found: list[list[Array]] = [[] for _ in table.titles]
    rows = (row for _, row in table.rows)
    while chunk := list(islice(rows, ROWS_AT_ONCE)):
        for column, known, parts in zip(zip(*chunk, strict=True), codes, found, strict=True):
            parts.append(np.fromiter(map(known.__getitem__, column), np.int32, len(chunk)))
    columns = zip(table.titles, map(np.concatenate, found), codes, strict=True)
    return [RawColumn(title, numbers, list(known)) for title, numbers, known in columns]
