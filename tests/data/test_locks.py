# SPDX-License-Identifier: BSD-3-Clause
"""Locks between processes, also where the system has others or none."""

import errno
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from discan.data import drafts, locks
from discan.data.drafts import Place
from discan.data.locks import locked, try_lock
from discan.data.storage import write_whole
from discan.errors import StorageError

SOURCE = Path(locks.__file__).parents[2]


def without(monkeypatch, **modules):
    """Let the system have these modules only."""
    monkeypatch.setattr(locks, "system_module", modules.get)
    monkeypatch.setattr(drafts, "system_module", modules.get)


def windows(held):
    """The module of Windows that locks bytes of files; ``held`` is a set of descriptors."""

    def locking(descriptor, mode, n_bytes):
        assert (mode, n_bytes) == (3, 1)
        assert os.lseek(descriptor, 0, os.SEEK_CUR) == 2**30  # nobody can read a locked byte
        if held:
            raise OSError(errno.EACCES, "Permission denied")
        held.add(descriptor)

    return types.SimpleNamespace(LK_NBLCK=3, locking=locking)


def test_a_lock_names_its_process(tmp_path):
    with locked(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())
        code = (
            "import sys, pathlib; from discan.data.locks import locked\n"
            "with locked(pathlib.Path(sys.argv[1])): pass"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE)}, check=False,
        )  # fmt: skip
        assert f"in use by process {os.getpid()}; wait for it, or stop it" in done.stderr
    with locked(tmp_path):  # it is free again
        pass


def test_windows_has_locks_of_its_own(tmp_path, monkeypatch):
    held = set()
    without(monkeypatch, msvcrt=windows(held))
    with locked(tmp_path):
        assert len(held) == 1
        with pytest.raises(StorageError, match=f"in use by process {os.getpid()}"):
            with locked(tmp_path):
                pass


def test_a_system_without_locks_says_so(tmp_path, monkeypatch, caplog):
    without(monkeypatch)
    with locked(tmp_path), locked(tmp_path):
        pass
    assert "locks do not work here" in caplog.text


def test_a_disk_without_locks(tmp_path, monkeypatch, caplog):
    def flock(descriptor, mode):
        raise OSError(errno.ENOLCK, "No locks available")

    without(monkeypatch, fcntl=types.SimpleNamespace(LOCK_EX=1, LOCK_NB=2, flock=flock))
    with locked(tmp_path):
        assert try_lock(0) is None
    assert "locks do not work here" in caplog.text


def test_a_module_that_is_not_there():
    assert locks.system_module("no_such_module_at_all") is None
    assert locks.system_module("os") is os


@pytest.mark.parametrize("what", ["link", "hard link", "text", "long", "pipe"])
def test_a_lock_of_another_kind_is_left_alone(tmp_path, what):
    """A run folder from elsewhere must not make us change other files."""
    mine, lock = tmp_path / "mine", tmp_path / "run" / "lock"
    lock.parent.mkdir()
    mine.write_text("precious")
    if what == "link":
        lock.symlink_to(mine)
    elif what == "hard link":
        os.link(mine, lock)
    elif what == "pipe":
        os.mkfifo(lock)
    else:
        lock.write_text("precious" if what == "text" else "1" * 100)
    before = lock.lstat()
    with pytest.raises(StorageError, match="lock"), locked(lock.parent):
        pass
    assert mine.read_text() == "precious"
    assert lock.lstat().st_size == before.st_size


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(StorageError, match="x/lock"), locked(tmp_path / "x"):
        pass


# ---- drafts on other systems ----


def test_drafts_without_locks_are_swept_by_age(tmp_path, monkeypatch):
    without(monkeypatch)
    path = tmp_path / "x"
    descriptor, draft, _ = drafts._new_draft(Place.of(path))
    os.close(descriptor)
    write_whole(path, "new")
    assert draft.exists()  # perhaps in use
    os.utime(draft, (0, 0))
    write_whole(path, "newer")
    assert not draft.exists()


def test_windows_replaces_a_closed_file_and_tries_again(tmp_path, monkeypatch):
    """Another program may have the file open for a moment."""
    monkeypatch.setattr(drafts.time, "sleep", lambda seconds: None)
    replace, tries = os.replace, []

    def busy(source, target):
        tries.append(source)
        if len(tries) < 3:
            raise PermissionError(errno.EACCES, "Access is denied")
        replace(source, target)

    path = tmp_path / "x"
    place = Place.of(path)
    monkeypatch.setattr(os, "replace", busy)
    monkeypatch.delattr(os, "fchmod")
    monkeypatch.setattr(os, "name", "nt")
    try:
        drafts.replace_file(place, [b"new"])
    finally:
        monkeypatch.undo()
    assert len(tries) == 3
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["x"]


def test_windows_gives_up_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(drafts.time, "sleep", lambda seconds: None)

    def busy(source, target):
        raise PermissionError(errno.EACCES, "Access is denied")

    monkeypatch.setattr(os, "replace", busy)
    with pytest.raises(PermissionError):
        drafts._replace_closed(tmp_path / "draft", tmp_path / "x")


def test_macos_writes_through_the_cache_of_the_disk(tmp_path, monkeypatch):
    calls = []
    full = types.SimpleNamespace(
        LOCK_EX=1, LOCK_NB=2, F_FULLFSYNC=51, flock=lambda *_: None,
        fcntl=lambda descriptor, command: calls.append(command),
    )  # fmt: skip
    without(monkeypatch, fcntl=full)
    write_whole(tmp_path / "x", "new")
    assert calls == [51]

    def refuse(descriptor, command):
        raise OSError(errno.ENOTSUP, "not here")

    full.fcntl = refuse
    synchronised = []
    monkeypatch.setattr(os, "fsync", synchronised.append)
    write_whole(tmp_path / "x", "newer")
    assert len(synchronised) == 2  # the file and its folder
