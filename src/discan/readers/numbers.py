# SPDX-License-Identifier: BSD-3-Clause
"""Parse and check the numbers of text files: counts, indices, sizes, and large chunks at once."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.intake import LARGEST_COUNT, LARGEST_INT32
from discan.errors import LimitError, StorageError, shown
from discan.readers.source import MAX_LINE, Source
from discan.typing import Array

__all__ = [
    "COLON",
    "END",
    "Chunks",
    "are_counts",
    "are_indices",
    "check_count",
    "check_index",
    "check_size",
    "number",
    "parse_numbers",
    "sparse_table",
    "split_lines",
]

CHUNK = 2**20  # bytes
END, COLON = -8, -9  # stand for the end of a line and for a colon among parsed numbers

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


# ---- large files, chunk by chunk ----


class Chunks:
    """Read a file line by line at its start, then in chunks of whole lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._stream = source.open()
        self._rest = b""
        self._at_end = False
        self.number = 0

    def __enter__(self) -> Chunks:
        """Return the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._stream.close()

    def line(self) -> str | None:
        """Return the next line without its end, None at the end of the file."""
        self._fill()
        if not self._rest:
            return None
        line, _, self._rest = self._rest.partition(b"\n")
        self.number += 1
        if self.number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        return line.strip().decode("utf-8", errors="replace")

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Iterate over (number of the first line, whole lines with their ends)."""
        while True:
            self._fill()
            if not self._rest:
                return
            end = self._rest.rfind(b"\n") + 1
            chunk, self._rest = self._rest[:end], self._rest[end:]
            first = self.number + 1
            self.number += chunk.count(b"\n")
            if first == 1:
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
            yield first, chunk

    def _fill(self) -> None:
        """Read on until there is a whole line."""
        while b"\n" not in self._rest and not self._at_end:
            if len(self._rest) > MAX_LINE:
                problem = f"longer than {MAX_LINE:,} bytes; is it a text file?"
                raise self._source.error(problem, self.number + 1, kind=LimitError)
            try:
                part = self._stream.read(CHUNK)
            except OSError as error:
                raise self._source.error(error.strerror or str(error), kind=StorageError) from None
            self._at_end = not part
            self._rest += part
            if self._at_end and self._rest and not self._rest.endswith(b"\n"):
                self._rest += b"\n"


def split_lines(first: int, chunk: bytes) -> Iterator[tuple[int, str, list[str]]]:
    """Iterate over (line number, text, fields) of the lines of a chunk that are not blank."""
    for number, line in enumerate(chunk.splitlines(), start=first):
        text = line.decode("utf-8", errors="replace")
        if fields := text.split():
            yield number, text, fields


def parse_numbers(chunk: bytes) -> Array | None:
    """Parse all numbers of a chunk, ends of line and colons as `END` and `COLON`.

    Returns int64 if it can, else float64, None if there is anything but numbers. Both SciPy's
    mmread and scikit-learn's load_svmlight_file accept lines that are wrong, such as "1 1.5 1".
    """
    text = chunk.replace(b":", b" %d " % COLON).replace(b"\n", b" %d " % END)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (np.int64, np.float64):
            with suppress(ValueError, DeprecationWarning):
                return np.asarray(np.fromstring(text, dtype=dtype, sep=" "))
    return None


def are_counts(counts: Array) -> bool:
    """Tell whether all numbers are counts that we accept."""
    return bool(((counts >= 0) & (counts <= LARGEST_COUNT)).all())


def are_indices(indices: Array, low: int, high: int) -> bool:
    """Tell whether all numbers are whole and from low to high."""
    good = (indices >= low) & (indices <= high)
    if indices.dtype.kind == "f":
        good &= np.rint(indices) == indices
    return bool(good.all())
