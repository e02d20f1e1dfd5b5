# SPDX-License-Identifier: BSD-3-Clause
"""Read text files of results: lines, and tables of numbers."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np

from discan.errors import InputError, StorageError
from discan.typing import Array

__all__ = ["StrPath", "read_lines", "read_numbers"]

StrPath = str | os.PathLike[str]


def read_lines(path: StrPath) -> list[str]:
    """Lines of a text file, which may be compressed by gzip."""
    try:
        data = Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise StorageError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
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
