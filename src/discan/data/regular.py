# SPDX-License-Identifier: BSD-3-Clause
"""Open files that somebody named: a pipe or a device, which may never end, is refused."""

from __future__ import annotations

import os
import stat
from gzip import GzipFile
from typing import IO, BinaryIO

from discan.data.drafts import storage_errors
from discan.data.locks import NO_FOLLOW
from discan.errors import InputError, LimitError, StorageError

__all__ = ["MOST_BYTES", "open_regular", "read_bytes", "read_part", "read_text"]

MOST_BYTES = 2**26
"""A list of words, labels or names is not larger."""

_AT_ONCE = 2**20
# Without O_NONBLOCK, to open a pipe would wait for ever.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK"))


def open_regular(path: str | os.PathLike[str], follow: bool = True) -> BinaryIO:
    """Open a regular file to read its bytes; raise what the system raises if there is none.

    A link is followed, or refused if ``follow`` is False.
    """
    descriptor = os.open(path, _FLAGS | (0 if follow else NO_FOLLOW))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        found = "a folder (directory)" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise StorageError(f"{os.fspath(path)}: {found}, not a file")
    return open(descriptor, "rb")


def read_part(stream: IO[bytes] | GzipFile, most: int) -> bytes:
    """Read a file to its end, or a little more than ``most`` bytes, in no more memory than that."""
    parts, size = [], 0
    while size <= most and (part := stream.read(_AT_ONCE)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def read_bytes(path: str | os.PathLike[str], what: str, most: int = MOST_BYTES) -> bytes:
    """Read a small file, which holds ``what``."""
    with storage_errors(path), open_regular(path) as stream:
        data = read_part(stream, most)
    if len(data) > most:
        problem = f"larger than {most // 2**20:,} MB, too large for {what}"
        raise LimitError(f"{os.fspath(path)}: {problem}")
    return data


def read_text(path: str | os.PathLike[str], what: str) -> str:
    """Read a small file of text in UTF-8, which holds ``what``."""
    try:
        return read_bytes(path, what).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)}: not text in UTF-8") from None
