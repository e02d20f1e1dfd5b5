# SPDX-License-Identifier: BSD-3-Clause
"""Objects on their way to another process: small parts in the message, large arrays in a file.

The file lies in a folder that both processes see. It holds bytes of arrays and nothing that could
be run; its SHA-256 is in the message.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import secrets
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.errors import StorageError

__all__ = ["Parcel"]

IN_MESSAGE = 2**16  # bytes of an array that is sent in the message
LATE = 30.0  # seconds that a file may take to appear on a file system of several machines


@dataclass(frozen=True)
class Parcel:
    """A packed object.

    Attributes
    ----------
    message : bytes
        The object without its large arrays.
    path : str
        File of the large arrays; "" if there are none.
    sizes : tuple of int
        Bytes of each array, one after the other.
    sha256 : str
        Of the file.
    """

    message: bytes
    path: str = ""
    sizes: tuple[int, ...] = ()
    sha256: str = ""

    @property
    def n_bytes(self) -> int:
        """Bytes of the large arrays."""
        return sum(self.sizes)

    @classmethod
    def pack(cls, content: Any, folder: str) -> Parcel:
        """Pack an object; its large arrays go to a file of the folder."""
        large: list[memoryview] = []

        def put_aside(buffer: pickle.PickleBuffer) -> bool:
            view = buffer.raw()
            if view.nbytes < IN_MESSAGE:
                return True  # into the message
            large.append(view)
            return False

        message = pickle.dumps(content, protocol=5, buffer_callback=put_aside)
        if not large:
            return cls(message)
        digest = hashlib.sha256()
        for view in large:
            digest.update(view)
        path = os.path.join(folder, f"{secrets.token_hex(8)}.parcel")
        _write(path, large)
        return cls(message, path, tuple(view.nbytes for view in large), digest.hexdigest())

    def open(self) -> Any:
        """Return the object, with arrays of its own."""
        return pickle.loads(self.message, buffers=self._arrays())  # noqa: S301 - from our process

    def discard(self) -> None:
        """Remove the file."""
        if self.path:
            with contextlib.suppress(OSError):
                os.unlink(self.path)

    def _arrays(self) -> list[Any]:
        """Read the file; one that another machine wrote may come late."""
        if not self.path:
            return []
        begin = time.monotonic()
        while True:
            problem = "is missing"
            with contextlib.suppress(FileNotFoundError):
                found = _read(self.path, self.sizes, self.sha256)
                if found is not None:
                    return found
                problem = "is not as it was written"
            if time.monotonic() - begin > LATE:
                raise StorageError(
                    f"{self.path}: {problem}; every worker must see the run folder under one path"
                )
            time.sleep(0.1)


def _write(path: str, parts: list[memoryview]) -> None:
    """Write a file, which appears when it is whole."""
    draft = f"{path}.tmp"
    try:
        with open(draft, "wb", buffering=0) as stream:
            for part in parts:
                view = part
                while view.nbytes:
                    view = view[stream.write(view) :]
        os.replace(draft, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise StorageError(f"{path}: {error.strerror or error}") from None


def _read(path: str, sizes: tuple[int, ...], sha256: str) -> list[Any] | None:
    """Read arrays of these sizes; None if the file is another one."""
    digest = hashlib.sha256()
    arrays = []
    with open(path, "rb", buffering=0) as stream:
        if os.fstat(stream.fileno()).st_size != sum(sizes):
            return None
        for size in sizes:
            array = np.empty(size, np.uint8)
            view = array.data
            while len(view):
                n_bytes = stream.readinto(view)
                if not n_bytes:
                    return None
                view = view[n_bytes:]
            digest.update(array.data)
            arrays.append(array)
    return arrays if digest.hexdigest() == sha256 else None
