# SPDX-License-Identifier: BSD-3-Clause
"""Check single settings at the doors, each with a sentence that names it."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.errors import InputError
from discan.typing import Array

__all__ = ["number", "one_of", "shown", "vector", "whole"]


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number that is at least ``least``."""
    ok = not isinstance(value, bool) and hasattr(value, "__index__") and np.ndim(value) == 0
    if not ok or value < least:
        raise InputError(f"{name}={shown(value)}; it must be a whole number, at least {least}")
    return int(value)


def number(name: str, value: Any, wanted: str, low: float, high: float) -> float:
    """Return a number with low <= value <= high; ``wanted`` says so in words."""
    ok = isinstance(value, (int, float, np.number)) and not isinstance(
        value, (bool, np.complexfloating)
    )
    if not ok or not low <= value <= high:
        raise InputError(f"{name}={shown(value)}; it must be {wanted}")
    return float(value)


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse anything but the choices."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name}={shown(value)}; use one of {', '.join(map(repr, choices))}")


def vector(
    name: str, value: Any, size: int, each: str, wanted: str, high: float, open_low: bool
) -> Array:
    """Return one number or ``size`` of them as an array of 0 or 1 dimensions, inside (0, high).

    ``each`` names what a vector has one of, ``open_low`` says whether 0 itself is refused.
    """
    try:
        given = np.asarray(value)
    except ValueError:
        given = np.empty((0, 0))
    if given.dtype.kind not in "iuf":
        raise InputError(f"{name}={shown(value)} is not a number or a vector of numbers")
    if given.ndim > 1 or (given.ndim == 1 and given.size != size):
        raise InputError(
            f"{name} has shape {given.shape}; give one number, or one for each of the {size} {each}"
        )
    result = given.astype(np.float64)
    bad = ~((result > 0 if open_low else result >= 0) & (result < high))
    if np.any(bad):
        where = "" if result.ndim == 0 else f"[{int(np.argmax(bad))}]"
        raise InputError(f"{name}{where} = {result[bad].flat[0]:g}; it must be {wanted}")
    return result


def shown(value: Any) -> str:
    """Show a value in a message, in one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."
