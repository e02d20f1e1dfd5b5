# SPDX-License-Identifier: BSD-3-Clause
"""Validate one argument; the error names the argument."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.typing import Array

__all__ = ["FINITE", "LARGEST", "LEAST", "POSITIVE", "flag", "number", "one_of", "vector", "whole"]

FINITE = sys.float_info.max
LEAST, LARGEST = 1e-100, 1e15
"""Counts and hyperparameters outside are refused: products of several stay in double precision."""


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number that is at least ``least`` and, if given, at most ``most``."""
    ok = not isinstance(value, bool) and hasattr(value, "__index__") and np.ndim(value) == 0
    if not ok or value < least or (most is not None and value > most):
        wanted = f"at least {least}" + ("" if most is None else f" and at most {most:,}")
        raise InputError(f"{{}}; it must be a whole number, {wanted}", argument=name, value=value)
    return int(value)


POSITIVE = f"above 0, at least {LEAST:g}, and less than {LARGEST:g}"


def flag(name: str, value: Any) -> bool:
    """Return True or False; a number or a text is neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError("{}; use True or False", argument=name, value=value)
    return bool(value)


def number(name: str, value: Any, wanted: str, low: float, high: float) -> float:
    """Return a number with low <= value <= high; ``wanted`` describes the range in words."""
    ok = isinstance(value, (int, float, np.number)) and not isinstance(
        value, (bool, np.complexfloating)
    )
    if not ok or not low <= value <= high:
        raise InputError(f"{{}}; it must be {wanted}", argument=name, value=value)
    return float(value)


def one_of(name: str, value: Any, choices: Iterable[str]) -> None:
    """Refuse any value that is not among the choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise InputError("{}", argument=name, value=value, use={name: choices})


def vector(
    name: str, value: Any, size: int, each: str, wanted: str, low: float, high: float
) -> Array:
    """Return one number or ``size`` numbers in [low, high) as an array of 0 or 1 dimensions.

    ``each`` names what a vector has one number for; ``wanted`` describes the range in words.
    """
    try:
        given = np.asarray(value)
    except ValueError:
        given = np.empty((0, 0))
    if given.dtype.kind not in "iuf":
        raise InputError("{} is not a number or a vector of numbers", argument=name, value=value)
    if given.ndim > 1 or (given.ndim == 1 and given.size != size):
        raise InputError(
            f"{name} has shape {given.shape}; give one number, or one for each of the {size} {each}"
        )
    result = given.astype(np.float64)
    bad = ~((result >= low) & (result < high))
    if np.any(bad):
        worst = float(result[bad].flat[0])
        if result.ndim == 0:
            raise InputError(f"{{}}; it must be {wanted}", argument=name, value=worst)
        raise InputError(f"{name}[{int(np.argmax(bad))}] = {worst:g}; it must be {wanted}")
    return result
