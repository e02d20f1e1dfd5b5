# SPDX-License-Identifier: BSD-3-Clause
"""States of blocks in a folder: a file per block and version.

The version of the last checkpoint stays as it is until the next checkpoint is written, so a run can
continue from there after any end. The present version is another one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.data.blocks import BlockRef
from discan.data.drafts import storage_errors
from discan.data.locks import NO_FOLLOW
from discan.data.regular import open_regular
from discan.data.rules import checked, faults_of
from discan.errors import ModelFileError, StorageError
from discan.typing import Array

__all__ = ["STATES", "TEMPORARY", "DiskStates", "StateStep"]

STATES = "states"  # folder in a run folder
TEMPORARY = "discan-states-"
VERSIONS = 3
ALIGNMENT = 64  # bytes; the header of a file is a multiple of it
LARGEST_HEADER = 2**16
SYNCING = 8  # files that are synchronised at once
FILES_PER_FOLDER = 4096
# What a wrong header raises; the last three come from NumPy's types and from deep JSON.
_WRONG = (ValueError, TypeError, KeyError, OverflowError, SyntaxError, RecursionError)

First = Callable[[BlockRef], Any]
Check = Callable[[BlockRef, Any], None]


class DiskStates:
    """States of all blocks, kept in files.

    Parameters
    ----------
    folder : Path
        A folder of its own, which is made; ``remove`` deletes it.
    kind : type
        Of a state: a dataclass of arrays.
    durable : bool
        Whether the states of a checkpoint must outlast the process. If not, each block has one
        file, which is overwritten.

    Attributes
    ----------
    first : function of a block, or None
        Makes the first state of a block, which is not written before its first step.
    """

    def __init__(self, folder: Path, kind: Any, durable: bool) -> None:
        self.folder, self.kind, self.durable = folder, kind, durable
        self.first: First | None = None
        self._now: dict[int, int] = {}  # version of each block's state
        self._kept: dict[int, int] = {}  # the same at the last checkpoint
        self._digests: dict[int, bytes] = {}
        self._unchecked: dict[int, Check] = {}
        self._sources: list[DiskStates] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        with storage_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def clear(place: Path) -> None:
        """Remove the states that a run left behind which was killed before its first checkpoint."""
        for folder in (place / STATES, *place.glob(f"{TEMPORARY}*")):
            shutil.rmtree(folder, ignore_errors=True)

    @classmethod
    def of(cls, kind: Any, place: Path | None, durable: bool) -> DiskStates:
        """Make states in a run folder; if they need not last, in a folder that is removed."""
        if durable and place is not None:
            return cls(place / STATES, kind, durable)
        with storage_errors(place or tempfile.gettempdir()):
            folder = tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=place)
        states = cls(Path(folder.name), kind, durable=False)
        states._folder = folder
        return states

    # ---- states ----

    def get(self, block: BlockRef) -> Any:
        """Return the state of a block in arrays of its own."""
        index = block.index
        if index not in self._now:
            assert self.first is not None
            return self.first(block)
        path = self._path(index, self._now[index])
        check = self._unchecked.get(index)
        if check is None:
            return _read(path, self.kind)[0]
        state, digest = _read(path, self.kind, hashed=True)
        if digest != self._digests[index]:
            raise ModelFileError(f"{path}: fails its checksum; the file is damaged")
        with faults_of(path):
            check(block, state)
        self._unchecked.pop(index, None)
        return state

    def put(self, block: BlockRef, state: Any) -> None:
        """Write the state of a block."""
        index = block.index
        kept = self._kept.get(index) if self.durable else None
        version = next(n for n in range(VERSIONS) if n != kept)
        digest = _write(self._path(index, version), state, self.durable)
        self._now[index] = version
        self._unchecked.pop(index, None)
        if digest is not None:
            self._digests[index] = digest

    def ahead(self, block: BlockRef) -> None:
        """Let the system fetch the state of a block that is asked for next."""
        version = self._now.get(block.index)
        if version is None or not hasattr(os, "posix_fadvise"):
            return
        with contextlib.suppress(OSError, StorageError):  # it is only a hint
            with open_regular(self._path(block.index, version), follow=False) as stream:
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)

    # ---- steps in other processes ----

    def step_of(self, block: BlockRef) -> StateStep:
        """Return where the state of a block is, and where its next one is to be written.

        The next one is not written over the present one, nor over that of the last checkpoint.
        """
        index = block.index
        if index in self._unchecked:
            self.get(block)  # checks it
        now, kept = self._now.get(index), self._kept.get(index)
        version = next(n for n in range(VERSIONS) if n not in (now, kept))
        source = None if now is None else str(self._path(index, now))
        digest = self._digests.get(index)
        return StateStep(index, source, digest, version, str(self._path(index, version)))

    def stepped(self, step: StateStep, digest: bytes) -> None:
        """Take the state that another process has written."""
        self._now[step.block] = step.version
        self._digests[step.block] = digest
        self._unchecked.pop(step.block, None)

    def __getstate__(self) -> dict[str, Any]:
        """Go to another process for reading: the folder is removed here, and checks are made."""
        return {**self.__dict__, "_folder": None, "_unchecked": {}, "_sources": [], "first": None}

    def _path(self, index: int, version: int) -> Path:
        return self.folder / f"{index // FILES_PER_FOLDER}" / f"{index}.{version}"

    # ---- the states that a first state is made from ----

    def lend(self, source: DiskStates) -> None:
        """Keep the states of another run until every block has a state of its own."""
        self._sources.append(source)

    def end_cycle(self) -> None:
        """Forget how first states are made: all blocks have been visited."""
        self.first = None
        for source in self._sources:
            source.remove()
        self._sources = []

    def remove(self) -> None:
        """Delete the folder."""
        for source in self._sources:
            source.remove()
        self._sources = []
        if self._folder is not None:
            self._folder.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- checkpoints ----

    def synchronise(self, n_blocks: int) -> dict[str, Array]:
        """Make sure that all states are on the disk; return what a checkpoint says of them."""
        changed = [n for n, version in self._now.items() if self._kept.get(n) != version]
        with ThreadPoolExecutor(SYNCING) as pool:
            list(pool.map(lambda n: _synchronise(self._path(n, self._now[n])), changed))
        for folder in {self._path(n, 0).parent for n in changed}:
            _synchronise(folder)
        versions = np.array([self._now[n] for n in range(n_blocks)], dtype=np.uint8)
        digests = b"".join(self._digests[n] for n in range(n_blocks))
        return {
            "states.version": versions,
            "states.sha256": np.frombuffer(digests, dtype=np.uint8).reshape(n_blocks, -1),
        }

    def checkpointed(self) -> None:
        """Keep the present states until the next checkpoint."""
        self._kept = dict(self._now)

    def restore(self, arrays: Mapping[str, Array], n_blocks: int, check: Check) -> None:
        """Continue with the states of a checkpoint; each is checked when it is first read."""
        versions, digests = arrays["states.version"], arrays["states.sha256"]
        sizes = {"blocks": n_blocks}
        checked("states.version", versions, sizes, "blocks", types="u1")
        checked("states.sha256", digests, sizes, "blocks", 32, types="u1")
        if (versions >= VERSIONS).any():
            raise ModelFileError("a state has an unknown version")
        self._now = {n: int(version) for n, version in enumerate(versions)}
        self._digests = {n: digest.tobytes() for n, digest in enumerate(digests)}
        self._unchecked = dict.fromkeys(self._now, check)
        self.checkpointed()


class StateStep(NamedTuple):
    """The state of a block before and after a step.

    Attributes
    ----------
    block : number of the block
    source : file of the state; None if it is the first
    digest : its SHA-256, if that is known
    version, target : number and file of the next state
    """

    block: int
    source: str | None
    digest: bytes | None
    version: int
    target: str

    def read(self, kind: Any) -> Any:
        """Read the state, of which nothing but its own digest is accepted."""
        assert self.source is not None
        path = Path(self.source)
        state, digest = _read(path, kind, hashed=True)
        if self.digest is not None and digest != self.digest:
            raise ModelFileError(f"{path}: is not the state that was written; resume the run")
        return state

    def write(self, state: Any) -> bytes:
        """Write the next state, which appears when it is whole; return its SHA-256."""
        draft = Path(f"{self.target}.{secrets.token_hex(4)}")
        try:
            digest = _write(draft, state, hashed=True)
            with storage_errors(draft):
                os.replace(draft, self.target)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(draft)
        assert digest is not None
        return digest


def _parts(state: Any) -> tuple[bytes, list[Array]]:
    """Return the header of a file, and the arrays that follow it."""
    values = {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}
    arrays = {
        name: np.ascontiguousarray(value) for name, value in values.items() if value is not None
    }
    entries = [[name, value.dtype.str, list(value.shape)] for name, value in arrays.items()]
    text = json.dumps(entries).encode()
    size = -(-(8 + len(text)) // ALIGNMENT) * ALIGNMENT
    return size.to_bytes(8, "little") + text.ljust(size - 8), list(arrays.values())


def _write(path: Path, state: Any, hashed: bool) -> bytes | None:
    """Write a state over the file that is there; return its SHA-256 if that is asked for."""
    head, arrays = _parts(state)
    digest = hashlib.sha256(head) if hashed else None
    with storage_errors(path):
        descriptor = _opened(path)
        try:
            _write_all(descriptor, memoryview(head))
            size = len(head)
            for array in arrays:
                view = array.reshape(-1).view(np.uint8).data
                if digest is not None:
                    digest.update(view)
                _write_all(descriptor, view)
                size += array.nbytes
            if os.fstat(descriptor).st_size != size:
                os.ftruncate(descriptor, size)
        finally:
            os.close(descriptor)
    return None if digest is None else digest.digest()


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | NO_FOLLOW
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _write_all(descriptor: int, view: memoryview) -> None:
    while len(view):
        view = view[os.write(descriptor, view) :]


def _read(path: Path, kind: Any, hashed: bool = False) -> tuple[Any, bytes]:
    """Read a state into arrays of its own, and its SHA-256 if that is asked for."""
    with storage_errors(path), open_regular(path, follow=False) as stream:
        size = os.fstat(stream.fileno()).st_size
        begin = stream.read(8)
        n_head = int.from_bytes(begin, "little")
        text = stream.read(n_head - 8) if 8 < n_head <= LARGEST_HEADER else b""
        try:
            entries = json.loads(text)
            arrays = _blank(entries, size - n_head)
        except _WRONG:
            raise ModelFileError(f"{path}: not a state, or cut short") from None
        for array in arrays.values():
            view = array.reshape(-1).view(np.uint8).data
            while len(view):
                n_bytes = stream.readinto(view)  # type: ignore[attr-defined]
                if not n_bytes:
                    raise ModelFileError(f"{path}: cut short")
                view = view[n_bytes:]
    digest = hashlib.sha256(begin + text)
    if hashed:
        for array in arrays.values():
            digest.update(array.reshape(-1).view(np.uint8).data)
    with faults_of(path):
        return kind(**arrays), digest.digest()


def _blank(entries: list[Any], size: int) -> dict[str, Array]:
    """Return empty arrays of the shapes in a header, which must have this many bytes in all."""
    types = {name: (np.dtype(dtype), tuple(shape)) for name, dtype, shape in entries}
    needed = sum(dtype.itemsize * math.prod(shape) for dtype, shape in types.values())
    known = all(dtype.kind in "biuf" for dtype, _ in types.values())
    if not known or needed != size:
        raise ValueError("the header does not describe the file")
    return {name: np.empty(shape, dtype) for name, (dtype, shape) in types.items()}


def _synchronise(path: Path) -> None:
    with storage_errors(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
