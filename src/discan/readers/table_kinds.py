# SPDX-License-Identifier: BSD-3-Clause
"""Guess what a table holds: triples ("long"), counts ("wide") or answers ("categorical")."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from discan.errors import DiscanError, shown
from discan.readers.csv_rows import SAMPLE, Column, Table, find_column, table_rows
from discan.readers.numbers import number
from discan.readers.source import Source
from discan.typing import Array

__all__ = ["COUNT", "DOCUMENT", "WORD", "find_names", "is_kind", "key"]

log = logging.getLogger("discan")

ENDINGS = (".csv", ".tsv", ".tab", ".parquet", ".dat", ".data")

_VOTES_NAME = re.compile(
    r"[hs]\d{3}_(votes|members|rollcalls)\.csv|(votes|legislators|rollcalls)\.csv"
)
# Titles of columns, as `key` writes them.
DOCUMENT = set("document doc docid documentid user userid sample cell d".split())
WORD = set("word term token wordid feature item itemid artist artistid gene".split())
COUNT = set("count counts n freq frequency weight value plays tf".split())
_ID = DOCUMENT | {"", *"id name names index key row person respondent".split()}


def is_kind(kind: str) -> Callable[[Source], bool]:
    """Return a test whether a source looks like a table of this kind."""
    return lambda source: _guess(source) == kind


def key(title: str) -> str:
    """Return a title in lower case, letters only."""
    return re.sub(r"[^a-z]", "", title.lower())


def find_names(
    source: Source, wanted: Column | bool | None, table: Table, numeric: bool
) -> int | None:
    """Return the column that names the documents: the one wanted, or the first if it does."""
    if wanted is False or (wanted is None and table.width < 2):
        return None
    if wanted is not None:
        return find_column(source, wanted, table.heading, table.width)
    column = tuple(row[0].strip() for row in table.sample if row)
    title = table.heading[0] if table.heading is not None else "x"
    if numeric:
        named = any(number(cell) is None for cell in column)
        found = named or not title or key(title) in _ID - {"", "d", "n"}
    else:
        found = _names_rows(title, column) and (table.heading is not None or len(table.sample) > 1)
    if found:
        log.info("%s: column %s names the documents", source.path, shown(title))
    return 0 if found else None


@lru_cache(maxsize=1)
def _guess(source: Source) -> str:
    """Guess how a table is to be read: "long", "wide", "categorical", or "" for no table."""
    if source.is_folder or not source.name.endswith(ENDINGS) or _VOTES_NAME.fullmatch(source.name):
        return ""
    try:
        sample = _sample(source)
    except DiscanError:
        return "categorical"  # its reader raises the error
    width = len(sample[0]) if sample else 0
    rows = [row for row in sample[1:] if len(row) in (width, width + 1)]  # R: one more
    if width < 2 or not rows or len(rows) < 0.5 * (len(sample) - 1):
        return ""
    columns = list(zip(*(row[-width:] for row in rows), strict=True))
    if any(_is_prose(column) for column in columns):
        return ""
    if _looks_long(sample[0], columns):
        return "long"
    has_names = _names_rows(sample[0][0], columns[0]) or len(rows[0]) == width + 1
    columns = columns[1:] if has_names else columns
    values = [number(cell) for column in columns for cell in column]
    if not values or any(value is None for value in values):
        return "categorical"
    # Cells that are no counts are left to the reader of counts, which says where they are.
    sound = np.array([value for value in values if value is not None and value >= 0])
    return "wide" if _looks_counted(sound, columns) else "categorical"


def _sample(source: Source) -> list[list[str]]:
    sample: list[list[str]] = []
    size = 0
    for _, row in table_rows(source):
        sample.append([cell.strip() for cell in row])
        size += len(row)
        if len(sample) >= SAMPLE or size > 2**20:
            break
    return sample


def _is_prose(column: tuple[str, ...]) -> bool:
    texts = [cell for cell in column if cell]
    return len(texts) > 1 and sum(cell.count(" ") for cell in texts) > 6 * len(texts)


def _looks_long(first: list[str], columns: list[tuple[str, ...]]) -> bool:
    keys = {key(name) for name in first}
    if len(first) in (2, 3, 4) and keys & DOCUMENT and keys & WORD:
        return True
    if len(columns) != 3:
        return False
    if number(first[2]) is not None:  # no heading
        columns = [(cell, *column) for cell, column in zip(first, columns, strict=True)]
    documents, words, counts = columns
    whole = all((v := number(cell)) is not None and v >= 0 and v.is_integer() for cell in counts)
    pairs = set(zip(documents, words, strict=True))
    distinct = len(set(documents)), len(set(words))
    codes = {cell for column in columns for cell in column}  # few: answers to three questions
    return (
        whole
        and len(codes) > 5
        and len(pairs) == len(documents)
        and min(distinct) < len(pairs)
        and max(distinct) > min(12, len(pairs) // 2)
    )


def _names_rows(title: str, column: tuple[str, ...]) -> bool:
    """Tell whether a first column names the rows: all different; text, titled so, or long."""
    if len(set(column)) < len(column) or "" in column:
        return False
    if len(column) >= 20 and all(cell.isdigit() for cell in column):
        return True
    return any(number(cell) is None for cell in column) or key(title) in _ID - {""} or not title


def _looks_counted(values: Array, columns: list[tuple[str, ...]]) -> bool:
    if (values != np.rint(values)).any():
        return True
    zeros = float((values == 0).mean())
    if values.max() > 1 and zeros >= 0.5:
        return True
    if values.max() <= 1:
        return zeros >= 0.8 and len(columns) >= 50
    if float(np.mean([len(set(column)) > 12 for column in columns])) > 0.5:
        return True
    # Few rows: most columns hold both 0 and numbers larger than codes of answers.
    numbers = [[number(cell) or 0.0 for cell in column] for column in columns]
    return float(np.mean([min(map(abs, n)) == 0 and max(n) > 10 for n in numbers])) >= 0.5
