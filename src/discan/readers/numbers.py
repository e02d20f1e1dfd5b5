# SPDX-License-Identifier: BSD-3-Clause
"""Parse and check the numbers of text files: counts, indices, sizes, and large chunks at once."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.columns import number
from discan.data.intake import LARGEST_COUNT, LARGEST_INT32, offsets
from discan.errors import LimitError, shown
from discan.readers.source import MAX_LINE, Source
from discan.typing import Array

__all__ = [
    "CELLS_AT_ONCE",
    "COLON",
    "END",
    "Chunks",
    "Parts",
    "are_counts",
    "are_indices",
    "check_count",
    "check_index",
    "check_size",
    "check_table",
    "dense_table",
    "join_parts",
    "parse_numbers",
    "rows_table",
    "sparse_table",
    "split_lines",
    "stored_table",
]

CHUNK = 2**20  # bytes
CELLS_AT_ONCE = 2**20  # of a dense table
END, COLON = -8, -9  # stand for the end of a line and for a colon among parsed numbers

FREE_SIZE = 2**22
"""Documents or words that a file may claim without an entry for each."""

Parts = tuple[Array, Array, Array]
"""Documents or their lengths, words, and counts."""
_NOTHING = (np.zeros(0, dtype=np.int32),) * 3
_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


def check_count(source: Source, line: int, text: str) -> float:
    """Return the count that a text holds, or raise an error that says what is wrong."""
    value = number(text)
    if value is not None and 0 <= value <= LARGEST_COUNT:
        return value
    if value is None:
        raise source.error(f"count {shown(text)} is not a number; correct it", line)
    if not math.isfinite(value):
        raise source.error(f"count {shown(text)} is not finite; correct or remove it", line)
    if value < 0:
        raise source.error(f"count {shown(text)} is negative; remove the row, or set it to 0", line)
    problem = f"count {shown(text)} is above {LARGEST_COUNT:g}; rescale it"
    raise source.error(problem, line, kind=LimitError)


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


def check_table(
    source: Source, shape: Array, dtype: Any, n_entries: int, index_types: Iterable[Any]
) -> tuple[int, int]:
    """Return the numbers of documents and words of a sparse table that a file holds, if sound."""
    sizes = tuple(int(n) for n in shape.ravel())
    if len(sizes) != 2 or min(sizes) < 1 or dtype.kind not in "biuf":
        raise source.error(f"shape {shown(sizes)} and dtype {dtype} are no table of counts")
    for size, what in zip(sizes, ("documents", "words"), strict=True):
        check_size(source, size, n_entries, what)
    if {found.kind for found in index_types} - set("iu"):  # SciPy would round them
        raise source.error("damaged sparse table: its indices are no whole numbers")
    return sizes[0], sizes[1]


def stored_table(
    source: Source, layout: str, shape: Array, indptr: Array, indices: Array, data: Array
) -> Any:
    """Make a sparse table of arrays that a file holds; ``layout`` is "csr", "csc" or "coo".

    A "coo" table has rows in the place of indptr, and columns in that of indices.
    """
    types = (indptr.dtype, indices.dtype)
    sizes = check_table(source, shape, data.dtype, data.size, types)
    with source.faults("damaged sparse table"):
        if layout == "coo":
            return sparse.coo_array((data, (indptr, indices)), shape=sizes)
        make = sparse.csr_array if layout == "csr" else sparse.csc_array
        return make((data, indices, indptr), shape=sizes)


def join_parts(parts: list[Parts]) -> Parts:
    """Join the three arrays of all chunks."""
    one, two, three = map(np.concatenate, zip(*parts or [_NOTHING], strict=True))
    return one, two, three


def rows_table(lengths: Array, words: Array, counts: Array, n_words: int) -> Any:
    """Make a sparse table of documents that follow each other; ``lengths`` count their entries."""
    parts = (counts, words, offsets(lengths))
    return sparse.csr_array(parts, shape=(len(lengths), n_words))


def dense_table(n_rows: int, n_words: int, block: Callable[[slice], Array]) -> Any:
    """Make a sparse table of a dense one; ``block(rows)`` returns some of its rows."""
    step = max(1, CELLS_AT_ONCE // n_words)
    lengths, words, counts = [], [], []
    for first in range(0, n_rows, step):
        dense = block(slice(first, first + step))
        flat = np.flatnonzero(dense)
        lengths.append(np.count_nonzero(dense, axis=1))
        words.append((flat % n_words).astype(np.int32))
        counts.append(dense.ravel()[flat])
    parts = [np.concatenate(part) for part in (lengths, words, counts)]
    return rows_table(parts[0], parts[1], parts[2], n_words)


def sparse_table(documents: Array, words: Array, counts: Array, shape: tuple[int, int]) -> Any:
    """Make a sparse table of triples; compressed if the documents are in order."""
    if (documents[1:] >= documents[:-1]).all():
        return rows_table(np.bincount(documents, minlength=shape[0]), words, counts, shape[1])
    return sparse.coo_array((counts, (documents, words)), shape=shape)


# ---- large files, chunk by chunk ----


class Chunks:
    """Read a file line by line at its start, then in chunks of whole lines."""

    def __init__(self, source: Source) -> None:
        self._source, self._stream = source, source.open()
        self.number = 0  # of the last line read

    def __enter__(self) -> Chunks:
        """Return the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._stream.close()

    def line(self) -> str | None:
        """Return the next line without its end, None at the end of the file."""
        line = self._read(0)
        self.number += bool(line)
        return line.strip().decode("utf-8", errors="replace") if line else None

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Iterate over (number of the first line, whole lines with their ends)."""
        while chunk := self._read(CHUNK):
            first = self.number + 1
            self.number += chunk.count(b"\n")
            yield first, chunk

    def _read(self, n_bytes: int) -> bytes:
        """Read about so many bytes, and on to the end of the line."""
        with self._source.faults("cannot be read"):
            data = self._stream.read(n_bytes)
            rest = b"" if data.endswith(b"\n") else self._stream.readline(MAX_LINE + 1)
        if len(rest) > MAX_LINE:
            problem = f"longer than {MAX_LINE:,} bytes; is it a text file?"
            line = self.number + data.count(b"\n") + 1
            raise self._source.error(problem, line, kind=LimitError)
        data += rest
        if self.number == 0:
            data = data.removeprefix(b"\xef\xbb\xbf")
        return data + b"\n" if data and not data.endswith(b"\n") else data


def split_lines(first: int, chunk: bytes) -> Iterator[tuple[int, str, list[str]]]:
    """Iterate over (line number, text, fields) of the lines of a chunk that are not blank."""
    for n, line in enumerate(chunk.splitlines(), start=first):
        text = line.decode("utf-8", errors="replace")
        if fields := text.split():
            yield n, text, fields


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
