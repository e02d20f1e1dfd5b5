# SPDX-License-Identifier: BSD-3-Clause
"""Check how data were read, as a file remembers it, before new data are read in the same way."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from discan.errors import ModelFileError, shown

__all__ = ["checked_reading"]

_MOST_DIGITS = 99  # of an allele
_MOST_SEPARATORS = 16


def checked_reading(value: Any) -> dict[str, Any]:
    """Return what a file says of how data were read.

    Options may have any value that JSON has; a reader checks the types of its own.
    """
    if not isinstance(value, dict):
        raise ModelFileError("reading is not a mapping of names to values")
    for name, is_right in _PARTS.items():
        if name in value and not is_right(value[name]):
            raise ModelFileError(f"reading: {name} is {shown(value[name])}")
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(map(_is_text, value))


def _each(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check of all values of a mapping."""
    return lambda value: isinstance(value, Mapping) and all(map(is_right, value.values()))


def _is_place(value: Any) -> bool:
    """Whether this is a layer or None, and whether it is in ``raw``."""
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and _is_text_or_none(value[0])
        and isinstance(value[1], bool)
    )


def _are_separators(value: Any) -> bool:
    """Whether these are characters, or the number of digits of each part."""
    if not isinstance(value, str) or not 1 <= len(value) <= _MOST_SEPARATORS:
        return False
    return not value.isdecimal() or 1 <= int(value) <= _MOST_DIGITS


def _are_limits(value: Any) -> bool:
    """Whether these are finite numbers that ascend."""
    if not isinstance(value, (list, tuple)):
        return False
    right = all(type(n) in (int, float) and abs(n) < 2**1023 and math.isfinite(n) for n in value)
    return right and list(value) == sorted(value)


def _is_plan(value: Any) -> bool:
    """Whether ``data.roles.Plan`` can be made of this."""
    if not isinstance(value, Mapping) or "answers" not in value:
        return False
    if not all(name not in value or right(value[name]) for name, right in _PLAN.items()):
        return False
    # a locus holds columns of answers; one that has the name of a column holds this column
    answers = set(value["answers"])
    return all(
        answers.issuperset(titles) and (locus not in answers or locus in titles)
        for locus, titles in value.get("joined", {}).items()
    )


_PLAN = {
    "answers": _are_texts,
    "document": _is_text_or_none,
    "split": _each(_are_separators),
    "joined": _each(_are_texts),
    "no_allele": _are_texts,
    "bins": _each(_are_limits),
}
_PARTS = {
    "format": _is_text,
    "options": _each(lambda _: True),
    "fields": _are_texts,
    "document": _is_text_or_none,
    "html": _is_bool,
    "places": _each(_is_place),
    "plan": _is_plan,
}
