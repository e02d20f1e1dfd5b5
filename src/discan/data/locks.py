# SPDX-License-Identifier: BSD-3-Clause
"""Locks of files and folders between processes; a dead process holds none."""

from __future__ import annotations

import contextlib
import errno
import importlib
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discan.errors import StorageError

__all__ = ["NO_FOLLOW", "locked", "system_module", "try_lock"]

log = logging.getLogger("discan")

# Links are not followed; files are bytes, also on Windows, and are not passed on to programs.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_LOCKED_BYTE = 2**30  # on Windows nobody else can read a locked byte, so it is beyond the text
_LONGEST = 20  # digits of the number of a process


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder for this process; a second process is refused, a dead one holds no lock."""
    descriptor = _open(folder)
    try:
        holder = _holder(folder, descriptor)
        answer = try_lock(descriptor)
        if answer is False:
            raise StorageError(f"{folder}: in use by process {holder}; wait for it, or stop it")
        if answer is None:
            log.warning("%s: locks do not work here; let no other process use the folder", folder)
        _sign(folder, descriptor)
        yield
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file until it is closed.

    False says that another process holds the lock, and None that the system has no locks here.
    """
    posix, windows = system_module("fcntl"), system_module("msvcrt")
    try:
        if posix is not None:
            posix.flock(descriptor, posix.LOCK_EX | posix.LOCK_NB)
        elif windows is not None:
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            windows.locking(descriptor, windows.LK_NBLCK, 1)
        else:
            return None
    except OSError as error:
        return False if error.errno in _HELD else None
    return True


def system_module(name: str) -> Any:
    """Return a module that only some systems have, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _open(folder: Path) -> int:
    """Open the file that stands for the lock; what it is, is checked before it is changed."""
    with _errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / "lock", os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o666)


def _sign(folder: Path, descriptor: int) -> None:
    """Write the number of this process into the lock, for the message that others get."""
    with _errors(folder):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, str(os.getpid()).encode())


def _holder(folder: Path, descriptor: int) -> str:
    """Return the number of the process that wrote the lock last; refuse a file of another kind."""
    with _errors(folder):
        found = os.fstat(descriptor)
        regular = stat.S_ISREG(found.st_mode) and found.st_nlink <= 1
        text = os.read(descriptor, _LONGEST + 1) if regular else b""
    if not regular or len(text) > _LONGEST or not (text.isdigit() or not text):
        raise StorageError(f"{folder / 'lock'}: not a lock of discan; remove it")
    return text.decode() or "unknown"


@contextlib.contextmanager
def _errors(folder: Path) -> Iterator[None]:
    """Turn what the system raises into one error that names the lock."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{folder / 'lock'}: {error.strerror or error}") from None
