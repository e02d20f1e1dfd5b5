# SPDX-License-Identifier: BSD-3-Clause
"""Read dates and other times, and cut them into periods: days, weeks, months, quarters, years."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Any

import numpy as np

from discan.typing import Array

__all__ = ["Periods", "days", "periods", "round_step"]

MOST = 60  # periods
READABLE = 0.9  # part of the texts of a column that must be dates
FORMATS = (
    "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d %b %Y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y", "%Y%m%d", "%b %Y", "%B %Y", "%Y",
)  # fmt: skip
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


@dataclass(frozen=True, eq=False)
class Periods:
    """Periods of equal kind, without gaps between them.

    Attributes
    ----------
    kind : str
        "day", "week", "month", "quarter", "year", "decade", or "" for plain numbers.
    names : (T,) list
    number : (I,) whole numbers
        Period of each document, -1 if its time is missing.
    """

    kind: str
    names: list[str]
    number: Array


def periods(column: Array) -> Periods | None:
    """Cut a column of metadata into at most about sixty periods; None if it has no times."""
    if column.dtype != object:
        return _of_numbers(column)
    found = days(column)
    return None if found is None else _of_days(found)


def days(column: Array) -> Array | None:
    """Return a column of texts as days since 1970, not a number if missing; None if not dates."""
    present = [str(value).strip() for value in column if value is not None]
    if not present or not any(re.search(r"\d", text) for text in present):
        return None
    sample = present[:: max(1, len(present) // 1000)]
    for read in (_iso, *map(_by_format, FORMATS), _mail):
        if sum(read(text) is not None for text in sample) >= READABLE * len(sample):
            values = (None if v is None else read(str(v).strip()) for v in column)
            epoch = date(1970, 1, 1)
            return np.array([np.nan if v is None else (v - epoch).days for v in values])
    return None


def round_step(length: float, n: int) -> float:
    """Return the round number that divides a length above 0 into about n steps."""
    power = 10.0 ** np.floor(np.log10(length / n))
    return float(min((m * power for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(length / s - n)))


# ---- reading ----


def _iso(text: str) -> date | None:
    found = re.match(r"(\d{4})-(\d\d?)(?:-(\d\d?))?(?:[T ].*)?$", text)
    return None if found is None else _date(found[1], found[2], found[3] or 1)


def _by_format(form: str) -> Callable[[str], date | None]:
    def read(text: str) -> date | None:
        try:
            found = datetime.strptime(text, form).date()
        except ValueError:
            return None
        return found if 1000 <= found.year <= 2999 else None

    return read


def _mail(text: str) -> date | None:
    try:
        return parsedate_to_datetime(text).date()
    except (TypeError, ValueError, IndexError):
        return None


def _date(year: Any, month: Any, day: Any) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


# ---- cutting ----


def _of_days(found: Array) -> Periods:
    """Choose the shortest kind of period that gives few enough of them."""
    known = np.isfinite(found)
    stamps = np.where(known, found, 0).astype("int64").astype("datetime64[D]")
    months = stamps.astype("datetime64[M]").astype("int64")
    numbers = {
        "day": stamps.astype("int64"),
        "week": (stamps.astype("int64") + 3) // 7,  # weeks begin on Mondays
        "month": months,
        "quarter": months // 3,
        "year": months // 12,
        "decade": (months // 12 + 1970) // 10,
    }
    for kind, values in numbers.items():
        low, high = int(values[known].min()), int(values[known].max())
        if high - low < MOST or kind == "decade":
            break
    number = np.where(known, values - low, -1)
    return Periods(kind, [_NAMES[kind](n) for n in range(low, high + 1)], number)


def _of_numbers(column: Array) -> Periods | None:
    """Cut plain numbers, such as years: one period each if they are whole and few."""
    known = np.isfinite(column)
    if not known.any():
        return None
    low, high = float(column[known].min()), float(column[known].max())
    filled = np.where(known, column, low)
    if (filled == np.round(filled)).all() and high - low < MOST:
        names = [str(n) for n in range(int(low), int(high) + 1)]
        return Periods("", names, np.where(known, filled - low, -1).astype(np.int64))
    step = round_step(high - low, 30) if high > low else 1.0
    edges = np.arange(np.floor(low / step), np.floor(high / step) + 2) * step
    number = np.clip(np.searchsorted(edges, filled, "right") - 1, 0, len(edges) - 2)
    names = [f"{a:.6g} to {b:.6g}" for a, b in pairwise(edges)]
    return Periods("", names, np.where(known, number, -1))


def _month(n: int) -> str:
    year, month = divmod(n, 12)
    return f"{MONTHS[month]} {year + 1970}"


def _quarter(n: int) -> str:
    year, quarter = divmod(n, 4)
    return f"{year + 1970} Q{quarter + 1}"


_NAMES: dict[str, Callable[[int], str]] = {
    "day": lambda n: str(np.datetime64(n, "D")),
    "week": lambda n: str(np.datetime64(7 * n - 3, "D")),
    "month": _month,
    "quarter": _quarter,
    "year": lambda n: str(n + 1970),
    "decade": lambda n: f"{10 * n}s",
}
