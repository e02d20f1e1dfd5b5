# SPDX-License-Identifier: BSD-3-Clause
"""Rules that values from a file must obey, declared beside what they describe.

Checksums tell damage, not deceit: a file may hold anything. Compiled code trusts the shapes, types
and ranges of its arrays, so each is checked against a rule before it is used.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.data.intake import reason
from discan.errors import DiscanError, LimitError, ModelFileError, StorageError, shown
from discan.typing import Array

__all__ = [
    "MOST", "ONE", "Rule", "Sizes", "check_rows", "checked", "checked_names", "faults_of",
    "rule_of", "stored", "taken",
]  # fmt: skip

Sizes = Mapping[str, int]

_PLAIN: dict[str, Any] = {"flag": bool, "whole": int, "number": (int, float), "text": str}
_LARGEST = 2**62
ONE = 1.0 + 1e-6
"""The largest probability, rounded."""
MOST = 1e30
"""No count, shape or sum of them is larger, and products of several are finite."""


@dataclass(frozen=True)
class Rule:
    """What a value from a file must be.

    Parameters
    ----------
    *shape : int, str or None
        Size of each dimension: a number, the name of a size, or None for any.
    types : str
        "f" for float32 or float64, "f8", "i4", ... for one type, "i" for whole numbers of any type.
        For a value that is not an array: "flag", "whole", "number" or "text".
    low, high : float
        Least and largest value; a value that is not a number is refused, and an infinite one unless
        a bound is infinite and ``finite`` is False.
    above : bool
        Whether ``low`` itself is refused.
    below : str, optional
        Name of a size that all values must be less than.
    optional : bool
        Whether the value may be missing.
    fixed : bool
        Whether the value must be as at the start of a fit.
    """

    shape: tuple[int | str | None, ...] = ()
    types: str = "f"
    low: float = -np.inf
    high: float = np.inf
    above: bool = False
    below: str | None = None
    optional: bool = False
    fixed: bool = False
    finite: bool = True

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise a ModelFileError that names the value, if it breaks the rule."""
        if value is None:
            if not self.optional:
                raise ModelFileError(f"{name} is missing")
            return
        problem = self._problem(value, sizes)
        if problem:
            raise ModelFileError(f"{name} {problem}")

    def _problem(self, value: Any, sizes: Sizes) -> str | None:
        if self.types in _PLAIN:
            return self._problem_of_plain(value)
        if not isinstance(value, np.ndarray):
            return "is not an array"
        wanted = tuple(sizes[n] if isinstance(n, str) else n for n in self.shape)
        fits = len(wanted) == value.ndim and all(
            n is None or n == size for n, size in zip(wanted, value.shape, strict=True)
        )
        if not fits:
            return f"has shape {value.shape}, not {wanted}".replace("None", "any")
        if not _is_type(value.dtype, self.types):
            return f"has type {value.dtype}"
        return None if value.size == 0 else self._problem_of_numbers(value, sizes)

    def _problem_of_plain(self, value: Any) -> str | None:
        number = self.types in ("whole", "number")
        if not isinstance(value, _PLAIN[self.types]) or (number and isinstance(value, bool)):
            if self.types != "flag" or value not in (0, 1):  # version 0.1 wrote flags as numbers
                return f"is {shown(value)}, not a {self.types}"
        if not number:
            return None
        if self.types == "whole" and not -_LARGEST < value < _LARGEST:
            return f"is {shown(value)}"
        return self._problem_of_numbers(np.asarray(value, dtype=np.float64), {})

    def _problem_of_numbers(self, value: Array, sizes: Sizes) -> str | None:
        least, most = value.min(), value.max()  # not a number, if any value is
        high = self.high if self.below is None else sizes[self.below] - 1
        enough = least > self.low if self.above else least >= self.low
        if not (enough and most <= high):
            worst = most if enough else least
            return f"holds {worst}, outside {self.low:g} to {high:g}"
        if self.finite and not (np.isfinite(least) and np.isfinite(most)):
            return "holds an infinite value"
        return None


def stored(
    *shape: int | str | None,
    default: Any = dataclasses.MISSING,
    kw_only: Any = dataclasses.MISSING,
    **rule: Any,
) -> Any:
    """Declare a field of a dataclass that is kept in files, and the rule of its values.

    A field with a default may be missing from a file.
    """
    rule = {"optional": default is not dataclasses.MISSING, **rule}
    metadata = {"rule": Rule(shape, **rule)}
    return dataclasses.field(default=default, kw_only=kw_only, metadata=metadata)


def rule_of(field: dataclasses.Field[Any]) -> Rule | None:
    """Return the rule of a field; None if the field is not kept in files."""
    rule: Rule | None = field.metadata.get("rule")
    return rule


def taken(
    rules: Mapping[str, Rule], values: Mapping[str, Any], sizes: Sizes, prefix: str = ""
) -> dict[str, Any]:
    """Take values from a file by their rules; those that are missing are left out."""
    result = {}
    for name, rule in rules.items():
        value = values.get(prefix + name)
        rule.check(prefix + name, value, sizes)
        if value is not None:
            result[name] = value
    return result


def checked(name: str, value: Any, sizes: Sizes, *shape: int | str | None, **rule: Any) -> Any:
    """Return a value that obeys a rule."""
    Rule(shape, **rule).check(name, value, sizes)
    return value


def checked_names(name: str, value: Any, size: int | None = None) -> tuple[str, ...] | None:
    """Return a list of texts, of this size if it is given, or None."""
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ModelFileError(f"{name} is not a list of names")
    if size is not None and len(value) != size:
        raise ModelFileError(f"{name} has {len(value)} names, not {size}")
    return tuple(value)


def check_rows(name: str, indptr: Array, components: Array, n_rows: int, n_components: int) -> None:
    """Refuse lists of components, one per row, that do not ascend inside each row."""
    sizes = {"rows": n_rows + 1, "K": n_components}
    Rule(("rows",), "i8", low=0).check(f"{name}.indptr", indptr, sizes)
    Rule((None,), "i", low=0, below="K").check(f"{name}.components", components, sizes)
    if indptr[0] != 0 or indptr[-1] != len(components) or (indptr[1:] < indptr[:-1]).any():
        raise ModelFileError(f"{name}.indptr does not lead from 0 to {len(components)}")
    ascends = components[1:] > components[:-1]
    starts = indptr[(indptr > 0) & (indptr < len(components))]
    ascends[starts - 1] = True
    if not ascends.all():
        raise ModelFileError(f"{name}.components do not ascend")


@contextlib.contextmanager
def faults_of(path: Any) -> Iterator[None]:
    """Turn whatever a file's content leads to into one error that names the file."""
    try:
        yield
    except StorageError:
        raise
    except MemoryError:
        raise LimitError(f"{path}: there is not enough memory to load it") from None
    except DiscanError as error:
        text = str(error)
        raise ModelFileError(
            text if text.startswith(f"{path}: ") else f"{path}: invalid: {text}"
        ) from None
    except Exception as error:
        problem = f"{type(error).__name__}: {reason(error)}"
        raise ModelFileError(f"{path}: invalid ({problem})") from None


def _is_type(dtype: np.dtype[Any], types: str) -> bool:
    if types == "f":
        return dtype.str[1:] in ("f4", "f8")
    if types == "i":
        return dtype.kind in "iu"
    return dtype.str[1:] == types
