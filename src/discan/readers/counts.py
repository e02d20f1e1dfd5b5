# SPDX-License-Identifier: BSD-3-Clause
"""Check counts, indices and sizes that a file claims, before anything is allocated for them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.intake import LARGEST_COUNT, LARGEST_INT32
from discan.errors import LimitError, shown
from discan.readers.source import Source
from discan.typing import Array

__all__ = ["check_count", "check_index", "check_size", "number", "sparse_table"]

FREE_SIZE = 2**22
"""Documents or words that a file may claim without an entry for each."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


def number(text: str) -> float | None:
    """Return the number that a text holds, None if it holds none; NaN and inf are numbers."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def check_count(source: Source, line: int, text: str) -> float:
    """Return the count that a text holds, or raise an error that says what is wrong."""
    value = number(text)
    if value is None:
        raise source.error(f"count {shown(text)} is not a number; correct it", line)
    if not math.isfinite(value):
        raise source.error(f"count {shown(text)} is not finite; correct or remove it", line)
    if value < 0:
        raise source.error(f"count {shown(text)} is negative; counts are 0 or more", line)
    if value > LARGEST_COUNT:
        problem = f"count {shown(text)} is above {LARGEST_COUNT:g}; rescale it"
        raise source.error(problem, line, kind=LimitError)
    return value


def check_index(source: Source, line: int, text: str, what: str, low: int, high: int) -> int:
    """Return the whole number that a text holds, if it is from low to high."""
    value = int(text) if _WHOLE.fullmatch(text) else None
    if value is None:
        raise source.error(f"{what} {shown(text)} is not a whole number; correct it", line)
    if not low <= value <= high:
        hint = "they are numbered from 1 here" if value == 0 and low == 1 else "correct it"
        raise source.error(f"{what} {shown(text)} is outside {low} .. {high}; {hint}", line)
    return value


def check_size(source: Source, size: int, n_entries: int, what: str) -> None:
    """Refuse a claim of many more documents or words than there are entries to fill them."""
    if size > min(FREE_SIZE + 8 * n_entries, LARGEST_INT32):
        raise source.error(
            f"claims {size:,} {what} but holds {n_entries:,} entries; correct the file, or number "
            f"the {what} without gaps",
            kind=LimitError,
        )


def sparse_table(documents: Array, words: Array, counts: Array, shape: tuple[int, int]) -> Any:
    """Make a sparse table of triples; compressed if the documents are in order."""
    if (documents[1:] >= documents[:-1]).all():
        indptr = np.zeros(shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(documents, minlength=shape[0]), out=indptr[1:])
        return sparse.csr_array((counts, words, indptr), shape=shape)
    return sparse.coo_array((counts, (documents, words)), shape=shape)
