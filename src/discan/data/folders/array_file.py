# SPDX-License-Identifier: BSD-3-Clause
"""Read parts of the arrays of a file, into arrays of their own.

Files are read and not mapped: a mapped file that is cut short would kill the process.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discan.data.drafts import storage_errors
from discan.data.regular import open_regular
from discan.data.storage import StoredArray, read_places
from discan.errors import ModelFileError
from discan.typing import Array

__all__ = ["ArrayFile", "file_sha256"]

_AT_ONCE = 2**16  # rows of an array


def file_sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    with storage_errors(path), open(path, "rb", buffering=0) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class ArrayFile:
    """A file of arrays that are read in part; checksums are left to the caller."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind

    @cached_property
    def _head(self) -> tuple[dict[str, Any], dict[str, StoredArray]]:
        return read_places(self.path, self.kind)

    @property
    def header(self) -> dict[str, Any]:
        """What the file says besides arrays."""
        return self._head[0]

    @property
    def places(self) -> dict[str, StoredArray]:
        """Where the arrays are."""
        return self._head[1]

    def open(self) -> int:
        """Open the file and return its descriptor, which is to be closed."""
        with storage_errors(self.path):
            try:
                with open_regular(self.path) as stream:
                    return os.dup(stream.fileno())
            except FileNotFoundError:
                raise ModelFileError(f"{self.path}: missing; the corpus is not whole") from None

    def read(self, descriptor: int, name: str, start: int, stop: int) -> Array:
        """Read rows ``start .. stop - 1`` of an array into a new one."""
        place = self.places[name]
        result = np.empty((stop - start, *place.shape[1:]), dtype=place.dtype)
        row = place.dtype.itemsize * int(np.prod(place.shape[1:], dtype=np.int64))
        view = result.reshape(-1).view(np.uint8).data
        at = place.start + start * row
        with storage_errors(self.path):
            while len(view):
                n_bytes = _read_into(descriptor, view, at)
                if not n_bytes:
                    raise ModelFileError(f"{self.path}: cut short; convert the data again")
                view, at = view[n_bytes:], at + n_bytes
        return result

    def slices(self, name: str, first: int = 0) -> Iterator[tuple[int, Array]]:
        """Iterate over (number of the first row, some rows) of an array, in order."""
        descriptor = self.open()
        try:
            n_rows = self.places[name].shape[0]
            for start in range(first, n_rows, _AT_ONCE):
                yield start, self.read(descriptor, name, start, min(n_rows, start + _AT_ONCE))
        finally:
            os.close(descriptor)


if hasattr(os, "preadv"):

    def _read_into(descriptor: int, view: memoryview, at: int) -> int:
        """Read bytes of a file from a place on; threads may share the descriptor."""
        return os.preadv(descriptor, [view], at)

else:  # Windows: each read has a descriptor of its own

    def _read_into(descriptor: int, view: memoryview, at: int) -> int:
        """Read bytes of a file from a place on."""
        os.lseek(descriptor, at, os.SEEK_SET)
        data = os.read(descriptor, len(view))
        view[: len(data)] = data
        return len(data)
