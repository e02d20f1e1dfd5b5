# SPDX-License-Identifier: BSD-3-Clause
"""Guess what a table holds: "texts", triples ("long"), counts ("wide") or answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from discan.data.columns import MISSING, number
from discan.data.counted import holds_counts
from discan.data.roles import DOCUMENT, WORD, key
from discan.errors import DiscanError
from discan.readers.csv_rows import find_delimiter, table_rows
from discan.readers.source import Source
from discan.readers.tables import SAMPLE, has_heading

__all__ = [
    "COUNT", "DOCUMENT", "ENDINGS", "TEXT", "WORD", "is_kind", "is_prose", "key", "names_rows",
]  # fmt: skip

ENDINGS = (".csv", ".tsv", ".tab", ".parquet", ".dat", ".data")

# Titles of columns, as `key` writes them.
COUNT = set(
    "count counts n num number freq frequency weight value plays playcount listens tf rating stars "
    "quantity qty times occurrences total amount visits views clicks hits purchases orders reads "
    "umi umis tokens".split()
)
TEXT = "text content body article message fulltext review abstract tweet comment".split()
_ID = DOCUMENT | {"", *"id name names index key row person respondent".split()}

MOST_REPEATED = 0.2  # of the rows of ratings at a time are of a pair that was rated before
MOST = 0.5  # of the characters of a table are in columns of text


def is_kind(kind: str) -> Callable[[Source], bool]:
    """Return a test whether a source looks like a table of this kind."""
    return lambda source: _guess(source) == kind


def is_prose(cells: Sequence[str]) -> bool:
    """Tell whether cells hold text: several words each, and mostly different ones."""
    texts = [cell for cell in cells if cell.casefold() not in _MARKS]
    if len(texts) < 2:
        return False
    spaces = sum(cell.count(" ") for cell in texts) / len(texts)
    distinct = len(set(texts)) / len(texts)
    return (spaces > 3 and distinct > 0.7) or (spaces > 6 and distinct > 0.3)


def names_rows(title: str, column: Sequence[str]) -> bool:
    """Tell whether a first column names the rows: all different; text, titled so, or long."""
    if len(set(column)) < len(column) or "" in column:
        return False
    if len(column) >= 20 and all(cell.isdigit() for cell in column):
        return True
    return any(number(cell) is None for cell in column) or key(title) in _ID - {""} or not title


_MARKS = {mark.casefold() for mark in MISSING}


@lru_cache(maxsize=1)
def _guess(source: Source) -> str:
    """Guess how a table is to be read; "" for no table."""
    is_text = source.name.endswith(".txt")
    if source.is_folder or not (is_text or source.name.endswith(ENDINGS)):
        return ""
    try:
        sample = _sample(source)
    except DiscanError:
        return "" if is_text else "categorical"  # its reader raises the error
    if is_text and not (_is_regular(sample) and find_delimiter(source) in "\t "):
        return ""
    width = len(sample[0]) if sample else 0
    rows = [row for row in sample[1:] if len(row) in (width, width + 1)]  # R: one more
    if not rows or len(rows) < 0.5 * (len(sample) - 1):
        return ""
    columns = list(zip(*(row[-width:] for row in rows), strict=True))
    if _mostly_text(columns):
        return "texts" if not is_text or _are_titles(sample[0]) else ""
    if width < 2:
        return "texts" if key(sample[0][0]) in TEXT else ""
    if _looks_long(sample[0], columns):
        return "long"
    has_names = names_rows(sample[0][0], columns[0]) or len(rows[0]) == width + 1
    titles = sample[0] if has_heading(sample, False) else [str(n) for n in range(width)]
    columns, titles = (columns[1:], titles[1:]) if has_names else (columns, titles)
    return "wide" if holds_counts(columns, titles) else "categorical"


def _is_regular(sample: Sequence[Sequence[str]]) -> bool:
    """Tell whether all rows have as many cells, three at least; a heading of R has one fewer."""
    sizes = {len(row) for row in sample[1:]}
    return len(sizes) == 1 and min(sizes) > 2 and min(sizes) - len(sample[0]) in (0, 1)


def _are_titles(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells) and all(cell and cell.count(" ") < 4 for cell in cells)


def _are_times(cells: Sequence[str]) -> bool:
    """Tell whether cells hold times as computers count them, in seconds or milliseconds."""
    numbers = [number(cell) or 0.0 for cell in cells]
    return all(3e8 < n < 3e9 or 3e11 < n < 3e12 for n in numbers)


def _sample(source: Source) -> list[list[str]]:
    sample: list[list[str]] = []
    size = 0
    for _, row in table_rows(source):
        sample.append([cell.strip() for cell in row])
        size += len(row)
        if len(sample) >= SAMPLE or size > 2**20:
            break
    return sample


def _mostly_text(columns: Sequence[Sequence[str]]) -> bool:
    sizes = [sum(map(len, column)) for column in columns]
    prose = sum(size for size, c in zip(sizes, columns, strict=True) if is_prose(c))
    return prose > MOST * sum(sizes)


def _looks_long(first: list[str], columns: list[tuple[str, ...]]) -> bool:
    keys = [key(name) for name in first]
    document = next((n for n, name in enumerate(keys) if name in DOCUMENT), -1)
    if document >= 0 and WORD.intersection(keys):
        repeats = len(set(columns[document])) < len(columns[document])
        word = next(n for n, name in enumerate(keys) if name in WORD)
        is_log = len(set(columns[word])) > 0.5 * len(columns[word])  # too many to be answers
        if len(first) in (2, 3, 4) or repeats or is_log:
            return True
    timed = len(columns) == 4 and _are_times(columns[3])  # as in MovieLens' ratings
    if len(columns) != 3 and not timed:
        return False
    if number(first[2]) is not None:  # no heading
        columns = [(cell, *column) for cell, column in zip(first, columns, strict=True)]
    documents, words, counts = columns[:3]
    numbers = [number(cell) for cell in counts]
    whole = all(v is not None and v >= 0 and (timed or v.is_integer()) for v in numbers)
    pairs = set(zip(documents, words, strict=True))
    distinct = len(set(documents)), len(set(words))
    codes = {cell for column in columns for cell in column}  # few: answers to three questions
    repeated = 1 - len(pairs) / len(documents)
    return (
        whole
        and len(codes) > 5
        and repeated <= (MOST_REPEATED if timed else 0.0)
        and min(distinct) < len(pairs)
        and max(distinct) > min(12, len(pairs) // 2)
    )
