# SPDX-License-Identifier: BSD-3-Clause
"""Columns of text, each as codes of its distinct values: clean them, and tell what they hold."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from discan.data.dates import iso_dates
from discan.typing import Array

__all__ = [
    "MISSING", "Codes", "Column", "StoredCodes", "clean", "near_duplicates", "number",
    "read_codes", "unique_titles",
]  # fmt: skip

MISSING = (
    "", "NA", "N/A", "n.a.", "#N/A", "<NA>", "NaN", "NULL", "?", "-", "--", ".", "missing",
)  # fmt: skip
"""Cells without an answer, in any case, if nothing else is said."""

MANY_PAIRS = 60  # distinct values, above which no pairs are compared letter by letter

_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_COMMA = re.compile(r"[+-]?\d+(,\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})?")
_FILLING = re.compile(r"[\s.,;:!?'\"()\[\]_/-]+")


def number(text: str) -> float | None:
    """Return the number that a text holds, None if it holds none; NaN and inf are numbers."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


class Codes(dict[str, int]):
    """Number texts in order of appearance."""

    def __missing__(self, text: str) -> int:
        """Give a new text the next number."""
        code = self[text] = len(self)
        return code


@dataclass(frozen=True, eq=False)
class StoredCodes:
    """Codes of a column (I,) that are on disk.

    Attributes
    ----------
    size : int
        I.
    parts : function that returns an iterator of arrays
        The codes of some rows each, in order.
    """

    size: int
    parts: Callable[[], Iterator[Array]]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.size

    def renumbered(self, new: Array) -> StoredCodes:
        """Return the codes ``new[code]``."""
        return StoredCodes(self.size, lambda: (new[part] for part in self.parts()))


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: its title, and its cells as codes of its distinct values.

    Attributes
    ----------
    title : str
    held : (I,) int32 array, or StoredCodes
        Index of each cell in ``values``; -1 if the cell is missing.
    values : list of str
    """

    title: str
    held: Array | StoredCodes
    values: list[str]

    @property
    def n_rows(self) -> int:
        """Number of cells."""
        return len(self.held)

    def parts(self) -> Iterator[Array]:
        """Iterate over the codes of some rows each, in order."""
        return _parts(self.held)

    @property
    def codes(self) -> Array:
        """Index of each cell in ``values``, (I,) int32; stored ones are read each time."""
        return read_codes(self.held)

    @cached_property
    def counts(self) -> Array:
        """How often each value occurs, (V,) int64."""
        return _occurrences(self.held, len(self.values))

    @property
    def n_present(self) -> int:
        """Number of cells that are not missing."""
        return int(self.counts.sum())

    @cached_property
    def numbers(self) -> Array | None:
        """The values as numbers, (V,) float64; None if one of them is not a finite number.

        Decimal commas are read (0,75), unless they may separate thousands (1,250).
        """
        values = self.values
        if all(map(_COMMA.fullmatch, values)) and not all(map(_THOUSANDS.fullmatch, values)):
            values = [value.replace(",", ".") for value in values]
        found = [number(value) for value in values]
        if not found or not all(n is not None and math.isfinite(n) for n in found):
            return None
        return np.array(found, dtype=np.float64)

    @cached_property
    def dates(self) -> list[str] | None:
        """The values as dates 2005-01-31; None if they are not dates."""
        return iso_dates(self.values)

    @property
    def is_constant(self) -> bool:
        """Whether every row has the same value."""
        return len(self.values) == 1 and self.n_present == self.n_rows > 1

    @property
    def is_distinct(self) -> bool:
        """Whether no two rows have the same value, and no row has none."""
        return len(self.values) == self.n_rows

    def words_per_value(self) -> float:
        """Mean number of spaces of the cells that are not missing."""
        spaces = np.array([value.count(" ") for value in self.values], dtype=np.float64)
        return float(spaces @ self.counts / max(1, self.n_present))

    def as_metadata(self) -> Array:
        """Return the column as metadata: numbers, dates, or text.

        Whole numbers that differ in every row are names and stay text, as do codes such as 007.
        """
        found: Sequence[Any] = self.values
        numbers = self.numbers
        is_code = any(re.match(r"[+-]?0\d", value) for value in self.values)
        if "date" in self.title.lower() and self.dates is not None:
            found = self.dates
        elif numbers is not None and not is_code:
            is_name = self.is_distinct and bool((np.rint(numbers) == numbers).all())
            if not is_name or self.title.lower().endswith("year"):
                return np.append(numbers, np.nan)[self.codes]
        elif self.dates is not None:
            found = self.dates
        texts = np.empty(len(found) + 1, dtype=object)
        texts[:-1] = found
        texts[-1] = None
        return np.asarray(texts[self.codes])


def _parts(codes: Array | StoredCodes) -> Iterator[Array]:
    """Iterate over the codes of some rows each, in order."""
    return codes.parts() if isinstance(codes, StoredCodes) else iter((codes,))


def read_codes(codes: Array | StoredCodes) -> Array:
    """Return all codes, (I,)."""
    return np.concatenate(list(codes.parts())) if isinstance(codes, StoredCodes) else codes


def _occurrences(codes: Array | StoredCodes, size: int) -> Array:
    """Count how often each code from 0 to size - 1 occurs, (size,) int64."""
    found = np.zeros(size, dtype=np.int64)
    for part in _parts(codes):
        found += np.bincount(part[part >= 0], minlength=size)
    return found


def clean(
    title: str,
    codes: Array | StoredCodes,
    cells: Sequence[str],
    missing: Iterable[str],
    merge: bool = False,
) -> tuple[Column, Counter[str]]:
    """Trim cells, find the missing ones and join those that are equal.

    Parameters
    ----------
    title : str
    codes : (I,) int array, or StoredCodes
        Index of each row's cell in ``cells``.
    cells : distinct texts
    missing : marks of missing cells, in any case; an empty cell is missing anyway
    merge : whether values that differ only in case, spaces or punctuation are joined

    Returns
    -------
    Column, and how often each mark of missing cells occurs; empty cells are not counted
    """
    marks = {"", *(mark.strip().casefold() for mark in missing)}
    longest = max(map(len, marks), default=0)
    found: Counter[str] = Counter()
    place: dict[str, int] = {}
    new = np.full(len(cells), -1, dtype=np.int32)
    marked: list[tuple[int, str]] = []
    for n, cell in enumerate(cells):
        text = cell.strip()
        if len(text) <= longest and text.casefold() in marks:
            if text:
                marked.append((n, text))
            continue
        if text.endswith("0") and (whole := _WHOLE.fullmatch(text)):
            text = whole[1]
        new[n] = place.setdefault(text, len(place))
    times = _occurrences(codes, len(cells)) if marked else ()
    for n, text in marked:
        found[text] += int(times[n])
    column = Column(title, _renumbered(codes, new), list(place))
    return _merged(column) if merge else column, found


def _renumbered(codes: Array | StoredCodes, new: Array) -> Array | StoredCodes:
    if isinstance(codes, StoredCodes):
        return codes.renumbered(new)
    return new[codes] if new.size else codes.astype(np.int32)


def _merged(column: Column) -> Column:
    """Join values that differ only in case, spaces or punctuation; the commonest spelling stays."""
    spellings: dict[str, list[int]] = {}
    for n, value in enumerate(column.values):
        spellings.setdefault(_key(value), []).append(n)
    counts = column.counts
    new = np.empty(len(column.values) + 1, dtype=np.int32)
    new[-1] = -1
    values = []
    for n, same in enumerate(spellings.values()):
        new[same] = n
        values.append(column.values[max(same, key=lambda m: (counts[m], -m))])
    return Column(column.title, _renumbered(column.held, new), values)


def unique_titles(titles: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return titles made unique (a, a.1), columns without a title by number, and those changed."""
    taken = {title for title in titles if title}
    seen: set[str] = set()
    result, changed = [], []
    for n, title in enumerate(titles, start=1):
        name = title or f"column {n}"
        if not title or name in seen:
            stem, copy = name, 0
            while name in seen or name in taken:
                copy += 1
                name = f"{stem}.{copy}"
            changed.append(name)
        seen.add(name)
        result.append(name)
    return result, changed


# ---- categories that may be the same ----


def near_duplicates(column: Column) -> list[list[str]]:
    """Return sets of values that may mean the same: "M", "Male" and "male"."""
    groups: dict[str, list[str]] = {}
    for value in column.values:
        groups.setdefault(_key(value), []).append(value)
    if len(groups) <= MANY_PAIRS and column.numbers is None:
        for one, other in combinations(list(groups), 2):
            alike = any(
                _is_short_for(a, b) or _one_slip(a, b) for a in groups[one] for b in groups[other]
            )
            if alike and groups[one] is not groups[other]:
                groups[one] += groups[other]
                groups |= {key: groups[one] for key in groups if groups[key] is groups[other]}
    found = {id(same): same for same in groups.values() if len(same) > 1}
    return sorted(sorted(same) for same in found.values())


def _key(value: str) -> str:
    """Return what is left of a value without case, spaces and punctuation."""
    return _FILLING.sub("", value.casefold()) or value


def _is_short_for(one: str, other: str) -> bool:
    """Tell whether one is the first letter of the other, as "M" of "Male"; not "A" of "AB"."""
    short, long = sorted((one, other), key=len)
    if len(short) != 1 or len(long) < 2 or not (short + long).isalpha():
        return False
    return short.casefold() == long[0].casefold() and not long.isupper()


def _one_slip(one: str, other: str) -> bool:
    """Tell whether two words of five letters or more differ by one letter: "femal", "female"."""
    a, b = sorted((one.casefold(), other.casefold()), key=len)
    if len(a) < 5 or len(b) - len(a) > 1 or not (a + b).replace(" ", "").isalpha():
        return False
    first = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    return a[first + (len(a) == len(b)) :] == b[first + 1 :]
