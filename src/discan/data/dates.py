# SPDX-License-Identifier: BSD-3-Clause
"""Tell dates among texts, and write them as 2005-01-31."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

__all__ = ["iso_dates", "may_be_date"]

# A time may follow each of them. Month before day and day before month are both tried.
_DAYS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%Y", "%m/%d/%Y",
    "%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y", "%d-%b-%Y", "%d-%b-%y", "%a %b %d %Y",
    "%m/%d/%y", "%d/%m/%y", "%A %B %d %Y", "%A %d %B %Y", "%a %d %b %Y", "%Y%m%d",
)  # fmt: skip
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
_MAYBE = re.compile(r"(?=.*\d)[\w ,./:+()-]{6,40}")
_ISO_MONTH = re.compile(r"(1[5-9]|20)\d\d-(0[1-9]|1[0-2])")
_TIME = re.compile(
    r"[T ,]+(\d{1,2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*([AaPp]\.?[Mm]\.?)?"
    r"\s*(?:Z|UTC|GMT|EST|EDT|CET|CEST|PST|PDT)?(?:[+-]\d{1,2}(?::?\d{2})?)?$"
)


def iso_dates(values: Sequence[str]) -> list[str] | None:
    """Return dates as 2005-01-31, with a time as 2005-01-31T12:00:00; None if they are not dates.

    None also if one cannot tell the day from the month.
    """
    if not values or not all(map(_MAYBE.fullmatch, values)):
        return None
    if all(map(_ISO_MONTH.fullmatch, values)):
        return list(values)
    parts = [_split(value) for value in values]
    days = dict.fromkeys(day for day, _ in parts)
    found = _read_days(days)
    if found is None:  # written in several ways: each way by itself
        shapes: dict[str, list[str]] = {}
        for day in days:
            shapes.setdefault(_LETTERS.sub("a", _DIGITS.sub("0", day)), []).append(day)
        dates = [_read_days(same) for same in shapes.values()]
        found = {day: date for part in dates if part for day, date in part.items()}
        if len(found) < len(days):
            return None
    if not any(time for _, time in parts):
        return [found[day] for day, _ in parts]
    return [f"{found[day]}T{time or '00:00:00'}" for day, time in parts]


def may_be_date(value: str) -> bool:
    """Tell whether a text may be a date among others that are; long texts and words are none."""
    return _MAYBE.fullmatch(value) is not None


def _split(value: str) -> tuple[str, str]:
    """Return the day and the time, 13:05:00, of a text; the time is empty if there is none."""
    match = _TIME.search(value)
    day = (value[: match.start()] if match else value).replace(",", " ")
    day = " ".join(day.split())
    if match is None:
        return day, ""
    hour, _, rest = match[1].partition(":")
    if match[2]:
        hour = str(int(hour) % 12 + 12 * (match[2][0] in "pP"))
    return day, f"{int(hour):02d}:{rest if ':' in rest else rest + ':00'}"


def _read_days(days: Iterable[str]) -> dict[str, str] | None:
    """Return the dates of days that are all written in one way; None if that is not clear."""
    found = [dates for form in _DAYS if (dates := _parsed(days, form)) is not None]
    return found[0] if found and all(dates == found[0] for dates in found) else None


def _parsed(days: Iterable[str], form: str) -> dict[str, str] | None:
    result = {}
    for day in days:
        try:
            result[day] = datetime.strptime(day, form).date().isoformat()
        except ValueError:
            return None
    return result
