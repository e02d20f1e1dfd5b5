# SPDX-License-Identifier: BSD-3-Clause
"""Read text files of results: lines, and tables of numbers."""

from __future__ import annotations

import gzip
import os
import zlib

import numpy as np

from discan.data.drafts import storage_errors
from discan.data.regular import open_regular, read_part
from discan.errors import InputError, LimitError, StorageError
from discan.typing import Array

__all__ = ["StrPath", "read_lines", "read_numbers"]

# A file is refused if it unpacks to more bytes than the first, and to more than the second times
# its size.
MOST_UNPACKED, MOST_RATIO = 2**30, 100
StrPath = str | os.PathLike[str]


def read_lines(path: StrPath) -> list[str]:
    """Lines of a text file, which may be compressed by gzip."""
    try:
        with storage_errors(path), open_regular(path) as stream:
            data = stream.read()
            if data[:2] == b"\x1f\x8b":
                most = max(MOST_UNPACKED, MOST_RATIO * len(data))
                stream.seek(0)
                with gzip.open(stream) as unpacked:
                    data = read_part(unpacked, most)
                if len(data) > most:
                    raise LimitError(f"{path}: unpacks to more than {most:,} bytes; unpack it")
    except (EOFError, zlib.error) as error:
        raise StorageError(f"{path}: {error}") from None
    # other ends of lines (form feeds, U+2028) may stand inside names
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return text.removesuffix("\n").split("\n")


def read_numbers(path: StrPath, rows: list[list[str]]) -> Array:
    """Make a table of numbers of rows of text."""
    try:
        table = np.array([[float(cell) for cell in row] for row in rows if row], dtype=np.float64)
    except ValueError:
        raise InputError(f"{path}: not a table of numbers with rows of equal length") from None
    if table.ndim != 2 or not np.isfinite(table).all() or (table < 0).any():
        raise InputError(f"{path}: not a table of finite numbers, all at least 0")
    return table
