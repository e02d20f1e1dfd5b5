# SPDX-License-Identifier: BSD-3-Clause
"""Read tables of answers: one column per question, one word per answer."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import numpy as np

from discan.data.corpus import Corpus
from discan.errors import InputError, LimitError, shown
from discan.readers.csv_rows import (
    Column,
    Delimiter,
    Heading,
    Quotes,
    find_column,
    open_table,
)
from discan.readers.guess import reader
from discan.readers.numbers import number, rows_table
from discan.readers.source import Source
from discan.readers.table_kinds import find_names, is_kind
from discan.typing import Array

__all__ = ["MISSING", "Exposures", "count_answers", "observed", "read_categorical"]

log = logging.getLogger("discan")

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "?", "-", ".")
"""Cells without an answer, if nothing else is said."""

LARGEST_EXPOSURES = 2**29
MANY_CATEGORIES = 1000

Exposures = Annotated[bool, "Whether a document has exposure 0 to the groups it has no answer in."]


@reader(
    "categorical",
    "table of answers: one column per question, one category per value, empty if missing",
    sniff=is_kind("categorical"),
)
def read_categorical(
    source: Source,
    id_column: Annotated[
        Column | bool | None,
        "Column that names the documents; by default the first, if it looks like names. False "
        "means none.",
    ] = None,
    columns: Annotated[
        Column | Sequence[Column] | None, "Columns to read; all others are left out."
    ] = None,
    drop: Annotated[Column | Sequence[Column], "Columns to leave out."] = (),
    missing: Annotated[Iterable[str], "Cells that hold no answer."] = MISSING,
    alleles: Annotated[
        str | None, 'Separator of several answers in a cell, e.g. "/" in "123/125".'
    ] = None,
    exposures: Exposures = True,
    header: Heading = None,
    delimiter: Delimiter = None,
    quotes: Quotes = True,
) -> Corpus:
    """Read votes, surveys or microsatellites: each column is a group of words column=value."""
    if alleles == "":
        problem = "{} splits nothing; pass a separator such as '/'"
        raise InputError(problem, argument="alleles", value=alleles)
    table = open_table(source, header, delimiter, quotes, numeric=False)
    names = find_names(source, id_column, table, numeric=False)

    def numbers(columns: Column | Sequence[Column]) -> list[int]:
        listed = [columns] if isinstance(columns, str | int) else columns
        return [find_column(source, column, table.heading, table.width) for column in listed]

    left_out = {names, *numbers(drop)}
    chosen = range(table.width) if columns is None else numbers(columns)
    kept = [j for j in chosen if j not in left_out]
    if not kept:
        raise source.error("no columns of answers are left")
    documents: list[str] = []

    def rows() -> Iterator[list[str]]:
        for _, row in table.rows:
            if names is not None:
                documents.append(row[names].strip())
            yield [row[j] for j in kept]

    titles = [table.heading[j] if table.heading else f"V{j + 1}" for j in kept]
    answers = _Answers(titles, frozenset(missing), alleles)
    cells = answers.read(rows())
    return answers.corpus(source, cells, exposures, None if names is None else documents)


class _Answers:
    """Number the answers of a table, column by column."""

    def __init__(self, titles: list[str], missing: frozenset[str], alleles: str | None) -> None:
        self.titles, self._missing, self._alleles = titles, missing, alleles
        self._codes: list[dict[Any, int]] = [{} for _ in titles]  # of a cell's text
        self._owners: list[tuple[int, str]] = []  # column and value of each word
        self._several: dict[int, list[int]] = {}  # words of a cell that holds more than one

    def read(self, rows: Iterable[list[str]]) -> Array:
        """Return the codes of all cells: a word, -1 if missing, below -1 if several words."""
        found = array("i")
        for row in rows:
            for j, cell in enumerate(row):
                code = self._codes[j].get(cell)
                found.append(self._new_code(j, cell) if code is None else code)
        return np.asarray(found).reshape(-1, len(self.titles))

    def _new_code(self, column: int, cell: str) -> int:
        """Number a cell's text that was not seen before in its column."""
        known, text = self._codes[column], cell.strip()
        is_one = self._alleles is None or text in self._missing
        values = [text] if is_one else map(str.strip, text.split(self._alleles))
        words = []
        for value in values:
            if value in self._missing:
                continue
            key = (value,)  # a tuple is the word itself, a string is the text of a cell
            if key not in known:
                known[key] = len(self._owners)
                self._owners.append((column, value))
            words.append(known[key])
        code = words[0] if len(words) == 1 else -1
        if len(words) > 1:
            code = -2 - len(self._several)
            self._several[code] = words
        known[cell] = code
        return code

    def corpus(
        self, source: Source, cells: Array, exposures: bool, documents: list[str] | None
    ) -> Corpus:
        """Make the corpus; words are sorted by column and value."""
        owners, titles = self._owners, self.titles
        order = sorted(range(len(owners)), key=lambda n: (owners[n][0], _sort_key(owners[n][1])))
        if not order:
            raise source.error("every cell is missing")
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        used, groups = np.unique([owners[n][0] for n in order], return_inverse=True)
        self._warn(source, used, np.bincount(groups), len(cells))
        return source.corpus(
            self._table(cells, place),
            groups=groups,
            group_names=[titles[j] for j in used],
            word_names=[f"{titles[owners[n][0]]}={owners[n][1]}" for n in order],
            exposures=observed(source, cells[:, used] != -1) if exposures else None,
            document_names=documents,
        )

    def _warn(self, source: Source, used: Array, sizes: Array, n_rows: int) -> None:
        for g in np.flatnonzero(sizes > max(MANY_CATEGORIES, n_rows / 2)):
            remark = (
                "%s: column %s has %d different values in %d rows; drop it if it is no category"
            )
            log.warning(remark, source.path, shown(self.titles[used[g]]), sizes[g], n_rows)
        empty = sorted(set(range(len(self.titles))) - set(used.tolist()))
        if empty:
            remark = "%s: %d columns without any answer left out, e.g. %s"
            log.warning(remark, source.path, len(empty), shown(self.titles[empty[0]]))

    def _table(self, cells: Array, place: Array) -> Any:
        if not self._several:
            return count_answers(np.where(cells < 0, -1, place[cells]), len(place))
        words_of = [*([n] for n in range(len(place))), *self._several.values()]
        words = place[np.concatenate(words_of)]
        sizes = np.array([len(words) for words in words_of])
        words_of_code = rows_table(sizes, words, np.ones_like(words), len(place))
        codes = np.where(cells < -1, len(place) - 2 - cells, cells)
        return count_answers(codes, len(words_of)) @ words_of_code


def count_answers(words: Array, n_words: int) -> Any:
    """Make a table of counts of the word in each cell (documents, questions); -1 is missing."""
    present = words >= 0
    found = words[present]
    ones = np.ones(found.size, dtype=np.int32)
    return rows_table(present.sum(axis=1), found, ones, n_words)


def observed(source: Source, seen: Array) -> Array | None:
    """Return exposures (documents, groups): 1 where an answer was seen; None if all were."""
    if seen.all():
        return None
    if seen.size > LARGEST_EXPOSURES:
        problem = (
            f"{seen.shape[0]:,} rows x {seen.shape[1]:,} columns with missing cells need too "
            "large a table of exposures"
        )
        raise source.error(problem, kind=LimitError, use={"exposures": False})
    return seen


def _sort_key(value: str) -> tuple[bool, float, str]:
    found = number(value)
    if found is None or found != found:
        return True, 0.0, value
    return False, found, value
