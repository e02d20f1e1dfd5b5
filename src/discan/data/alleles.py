# SPDX-License-Identifier: BSD-3-Clause
"""Tell columns of genotypes: alleles in one cell (129/155, 129155), or in two columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

import numpy as np

from discan.data.columns import Column
from discan.typing import Array

__all__ = [
    "allele_digits", "allele_marks", "allele_pairs", "looks_like_alleles", "marks_among",
    "split_cell",
]  # fmt: skip

MOST = 0.9  # of the cells look like alleles
SHORTEST = 10  # alleles that are lengths are longer; below it, 0 may be an allele

_ALLELE = r"(?:\d{1,4}|-\d{1,2}|[ACGTN]{1,30}|\*|\.|\?|-|NA|NaN|[A-Z]\d{0,3}|[a-z]\d{0,3})"
_GENOTYPE = re.compile(rf"\s*{_ALLELE}\s*([/|])\s*{_ALLELE}\s*", re.IGNORECASE)
_ALLELES = re.compile(rf"\s*{_ALLELE}(\s*[/|]\s*{_ALLELE})*\s*", re.IGNORECASE)
_MARKS = {".", "?", "-", "*", "-9", "-99", "-1", "NA", "na", "NaN", "nan", "N/A"}
_BASES = re.compile("[ACGT]{2}|NN|00|--")
_SIDE = re.compile(r"(.+?)[._\- ]?([12AaBb])$")


def looks_like_alleles(column: Column) -> bool:
    """Tell whether most cells hold two alleles, as 129/155, A|G or ./. do; some may hold one."""
    two, any_number = (
        np.array([form.fullmatch(value) is not None for value in column.values], dtype=bool)
        for form in (_GENOTYPE, _ALLELES)
    )
    n_two, n_any = column.counts[two].sum(), column.counts[any_number].sum()
    if n_two < 0.5 * column.n_present or n_any < MOST * column.n_present or not n_two:
        return False
    return column.dates is None


def allele_digits(columns: Sequence[Column]) -> dict[str, str]:
    """Return the columns of six digits or two bases (AG), if they are most of the table.

    The values are the lengths of an allele, "3" or "1".
    """
    for size, is_genotype in (("3", _is_six_digits), ("1", _BASES.fullmatch)):
        found = [c for c in columns if c.values and all(is_genotype(v) for v in c.values)]
        if len(found) > 1 and len(found) >= 0.5 * len(columns):
            return {c.title: size for c in found}
    return {}


def _is_six_digits(value: str) -> bool:
    return (len(value) == 6 and value.isdecimal()) or value == "0"


def allele_pairs(columns: Sequence[Column]) -> dict[str, tuple[str, ...]]:
    """Return loci whose alleles are in two columns side by side: L1 and L1.1, or L1_1 and L1_2.

    Both columns hold whole numbers, mostly the same ones, and three loci or more are like this.
    """
    pairs: dict[str, tuple[str, ...]] = {}
    n = 0
    while n + 1 < len(columns):
        name = _common_name(columns[n].title, columns[n + 1].title)
        if name and _share_alleles(columns[n], columns[n + 1]):
            pairs[name] = (columns[n].title, columns[n + 1].title)
            n += 1
        n += 1
    return pairs if len(pairs) >= 3 and 4 * len(pairs) >= len(columns) else {}


def _common_name(one: str, two: str) -> str:
    if two == f"{one}.1" or re.fullmatch(r"column \d+", two):  # the second has no title
        return one
    first, second = _SIDE.fullmatch(one), _SIDE.fullmatch(two)
    if first is None or second is None or first[1] != second[1]:
        return ""
    return first[1] if (first[2] + second[2]).lower() in ("12", "ab") else ""


def _share_alleles(one: Column, two: Column) -> bool:
    lengths = [_lengths(column) for column in (one, two)]
    if not all(found.size for found in lengths):
        return False
    both = set(lengths[0].tolist()) & set(lengths[1].tolist())
    return len(both) >= 0.3 * min(found.size for found in lengths)


def _lengths(column: Column) -> Array:
    """Return the alleles of a column if they are lengths of microsatellites, else nothing."""
    numbers = column.numbers
    if numbers is None or (np.rint(numbers) != numbers).any():
        return np.zeros(0)
    found = numbers[numbers > 0]
    return found if found.size and found.min() >= SHORTEST else np.zeros(0)


def split_cell(cell: str, separators: str) -> list[str]:
    """Return the parts of a cell; ``separators`` are characters, or the digits of each part."""
    if separators.isdecimal():
        size = int(separators)
        return [cell[n : n + size] for n in range(0, len(cell), size)]
    for other in separators[1:]:
        cell = cell.replace(other, separators[0])
    return [part for text in cell.split(separators[0]) if (part := text.strip())]


def allele_marks(columns: Sequence[Column], split: Mapping[str, str]) -> tuple[str, ...]:
    """Return the marks of missing alleles: always ".", "?" and "-9"; "0" unless it is an allele."""
    cells = [
        split_cell(value, split[column.title]) if column.title in split else [value]
        for column in columns
        for value in column.values
    ]
    marks = marks_among({part for parts in cells for part in parts})
    mixed = [set(parts) for parts in cells if len(set(parts)) > 1]
    if mixed and not any("0" in parts for parts in mixed) and "0" not in marks:
        zeros = {"0"} & {part for parts in cells for part in parts}  # only ever in 0/0
        return tuple(sorted({*marks, *zeros}))
    return marks


def marks_among(alleles: Set[str]) -> tuple[str, ...]:
    """Return which alleles are marks of missing ones; "0" is one unless 1 or 2 is an allele."""
    marks = set(alleles & _MARKS)
    small = {"1", "2"} & alleles
    if {"N"} < alleles <= set("ACGTN0-."):
        marks.add("N")
    others = [text for text in alleles - marks if text.strip("0")]
    if others and not small:
        marks |= {text for text in alleles if text and not text.strip("0")}
    return tuple(sorted(marks))
