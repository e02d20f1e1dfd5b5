# SPDX-License-Identifier: BSD-3-Clause
"""Write a file as a draft beside its place, and move the whole draft there at once.

At any moment the place holds either the old file or the whole new one. A process that dies leaves
its draft behind; the next process that writes to the same place removes it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from discan.data.locks import NO_FOLLOW, system_module, try_lock
from discan.errors import DiscanError, InputError, StorageError

__all__ = ["Place", "drafted", "file_name", "replace_file", "storage_errors", "try_place"]

log = logging.getLogger("discan")

_AT_ONCE = 2**30  # bytes; some systems write no more at a time
_STALE = 86_400.0  # seconds, where locks cannot tell whether a draft is in use
# A folder that cannot be opened or synchronised on this system is not an error.
_NO_SYNC = {errno.EACCES, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EISDIR, errno.EBADF}
_TRIES = 6  # on Windows, a file that another program has open for a moment cannot be replaced


def file_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file as text; anything else is refused."""
    try:
        return os.fsdecode(path)
    except TypeError:
        problem = "{} is not a file name; give text or a path"
        raise InputError(problem, argument="path", value=path) from None


class Place(NamedTuple):
    """Where a file is to be written: its path without links, and what is there now, if anything."""

    path: Path
    found: os.stat_result | None

    @classmethod
    def of(cls, path: str | os.PathLike[str], follow: bool = True) -> Place:
        """Find the place that a name stands for.

        Links are followed to the file that they name; with ``follow`` = False they are refused.
        """
        text = file_name(path)
        if not text:
            raise StorageError("the name of the file to write is empty")
        with storage_errors(text):
            real = Path(os.path.realpath(text) if follow else text)
            try:
                found = os.lstat(real)
            except FileNotFoundError:
                found = None
        if found is not None and stat.S_ISLNK(found.st_mode):
            problem = (
                "a link that leads nowhere" if follow else "a link, which is not followed here"
            )
            raise StorageError(f"{text}: {problem}; remove it, or name a file")
        if found is not None and stat.S_ISDIR(found.st_mode):
            raise StorageError(f"{text}: a folder (directory); name a file")
        return cls(real, found)

    @property
    def is_special(self) -> bool:
        """Whether a device, a pipe or a socket is there."""
        return self.found is not None and not stat.S_ISREG(self.found.st_mode)

    def check_regular(self) -> None:
        """Refuse to replace anything but a file."""
        if self.is_special:
            raise StorageError(f"{self.path}: a device or a pipe; name a file")


def replace_file(place: Place, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file of these parts; at any moment its place holds the old file or the new one."""
    with drafted(place) as (descriptor, _):
        for part in parts:
            _write(descriptor, part)


@contextlib.contextmanager
def drafted(place: Place) -> Iterator[tuple[int, Path]]:
    """Give a draft to write to, open and by its name; at the end the whole of it is moved."""
    with storage_errors(place.path):
        place.path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place.path)
        descriptor, draft, mode = _new_draft(place)
        try:
            try:
                yield descriptor, draft
                _sync(descriptor)
                _permit(descriptor, mode, place.found)
                if os.name != "nt":  # while the draft is open, nobody takes it for a stale one
                    os.replace(draft, place.path)
            finally:
                os.close(descriptor)
            if os.name == "nt":
                _replace_closed(draft, place.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
    _sync_folder(place.path)


def try_place(place: Place) -> None:
    """Raise an error if no file can be written at a place; the folder is made if there is none."""
    with storage_errors(place.path):
        place.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft, _ = _new_draft(place)
        os.close(descriptor)
        os.unlink(draft)


@contextlib.contextmanager
def storage_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system raises into one error that names the file."""
    try:
        yield
    except DiscanError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno == errno.ENOSPC:
            reason = "no space left on the disk"
        raised = StorageError(f"{_shown(path)}: {reason}")
        raised.errno = error.errno
        raise raised from None
    except ValueError as error:  # a NUL in the name, or text that has no bytes
        raise StorageError(f"{_shown(path)} is not a file name ({error})") from None


# ---- drafts ----


def _new_draft(place: Place) -> tuple[int, Path, int]:
    """Make and lock an empty draft that only this user can read; return also its mode at the end.

    That is the mode of the file that it replaces, or what the system gives to a new file.
    """
    wanted = 0o666 if place.found is None else _permissions(place.found)
    while True:
        draft = place.path.with_name(f"{_prefix(place.path)}{secrets.token_hex(4)}.tmp")
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_FOLLOW, wanted)
        try:
            if try_lock(descriptor) is not False and _is_open(descriptor, draft):
                mode = _permissions(os.fstat(descriptor)) if place.found is None else wanted
                if hasattr(os, "fchmod"):
                    os.fchmod(descriptor, 0o600)
                return descriptor, draft, mode
        except BaseException:
            os.close(descriptor)
            draft.unlink(missing_ok=True)
            raise
        os.close(descriptor)  # it was swept in the moment before it was locked


def _prefix(path: Path) -> str:
    """Return how the names of a file's drafts begin: of fixed length, and like no other file's."""
    return f".discan-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}-"


def _sweep(path: Path) -> None:
    """Remove the drafts of this very file that killed processes left behind."""
    names = re.compile(re.escape(_prefix(path)) + r"[0-9a-f]{8}\.tmp")
    with os.scandir(path.parent) as entries:
        left = [Path(entry.path) for entry in entries if names.fullmatch(entry.name)]
    for draft in left:
        with contextlib.suppress(OSError):
            _remove_stale(draft)


def _remove_stale(draft: Path) -> None:
    """Remove a draft if the process that wrote it is dead."""
    descriptor = os.open(draft, os.O_RDWR | NO_FOLLOW)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return
        free = None if os.name == "nt" else try_lock(descriptor)
        if free:  # removed while it is locked, so that no other process can take it in between
            draft.unlink()
    finally:
        os.close(descriptor)
    if free is None and time.time() - found.st_mtime > _STALE:
        draft.unlink()


def _is_open(descriptor: int, draft: Path) -> bool:
    """Whether a name still stands for an open file."""
    try:
        found = os.stat(draft, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(descriptor))


def _permit(descriptor: int, mode: int, found: os.stat_result | None) -> None:
    """Give a draft its mode and, where this process may, the owner of the file it replaces."""
    if not hasattr(os, "fchmod"):
        return
    if found is not None:
        with contextlib.suppress(OSError):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, mode)


def _permissions(found: os.stat_result) -> int:
    return stat.S_IMODE(found.st_mode) & 0o777


# ---- the system ----


def _write(descriptor: int, part: bytes | memoryview) -> None:
    view = memoryview(part)
    while len(view):
        view = view[os.write(descriptor, view[:_AT_ONCE]) :]


def _sync(descriptor: int) -> None:
    """Make sure that the bytes are on the disk; on macOS fsync leaves them in the disk's cache."""
    posix: Any = system_module("fcntl")
    if hasattr(posix, "F_FULLFSYNC"):
        with contextlib.suppress(OSError):
            posix.fcntl(descriptor, posix.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def _sync_folder(path: Path) -> None:
    """Make sure that the new name is on the disk too; the file is in its place in any case."""
    if os.name == "nt":  # a folder cannot be opened
        return
    try:
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            log.warning(
                "%s: written, but the disk reports %s; after a loss of power the old file may be "
                "back", path, error.strerror or error,
            )  # fmt: skip


def _replace_closed(draft: Path, path: Path) -> None:
    """Replace a file on Windows, where other programs may have it open for a moment."""
    for n in range(_TRIES - 1):
        try:
            os.replace(draft, path)
            return
        except PermissionError:
            time.sleep(0.02 * 2**n)
    os.replace(draft, path)


def _shown(path: str | os.PathLike[str]) -> str:
    """Return a path as one line."""
    text = os.fsdecode(path)
    return text if text.isprintable() else repr(text)
