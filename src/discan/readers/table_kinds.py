# SPDX-License-Identifier: BSD-3-Clause
"""Guess what a table holds: "texts", triples ("long"), counts ("wide") or answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from discan.data.columns import MISSING, number
from discan.data.counted import holds_counts
from discan.data.roles import DOCUMENT, WORD, key
from discan.errors import DiscanError
from discan.readers.csv_rows import table_rows
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
    if source.is_folder or not (source.name.endswith(ENDINGS) or (is_text and _has_tabs(source))):
        return ""
    try:
        sample = _sample(source)
    except DiscanError:
        return "categorical"  # its reader raises the error
    width = len(sample[0]) if sample else 0
    rows = [row for row in sample[1:] if len(row) in (width, width + 1)]  # R: one more
    if not rows or len(rows) < 0.5 * (len(sample) - 1):
        return ""
    columns = list(zip(*(row[-width:] for row in rows), strict=True))
    if _mostly_text(columns):
        return "" if is_text else "texts"
    if width < 2:
        return "texts" if key(sample[0][0]) in TEXT else ""
    if _looks_long(sample[0], columns):
        return "long"
    has_names = names_rows(sample[0][0], columns[0]) or len(rows[0]) == width + 1
    titles = sample[0] if has_heading(sample, False) else [str(n) for n in range(width)]
    columns, titles = (columns[1:], titles[1:]) if has_names else (columns, titles)
    return "wide" if holds_counts(columns, titles) else "categorical"


def _has_tabs(source: Source) -> bool:
    """Tell whether all first lines have as many tabs, two at least, as those of a table."""
    lines = source.head.splitlines()
    tabs = {
        line.count("\t") for line in lines[: max(1, len(lines) - 1)] if line
    }  # last: may be cut
    return len(tabs) == 1 and min(tabs) > 1


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
        if len(first) in (2, 3, 4) or repeats:
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
