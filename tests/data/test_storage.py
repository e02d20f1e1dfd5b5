# SPDX-License-Identifier: BSD-3-Clause
"""A file is written whole or not at all; a device or a pipe is written to as it is."""

import os
import stat
import threading

import pytest

from discan.data import storage
from discan.data.storage import write_whole
from discan.errors import StorageError


@pytest.mark.parametrize(("data", "expected"), [(b"\0\xff", b"\0\xff"), ("é\n", b"\xc3\xa9\n")])
def test_bytes_and_text(tmp_path, data, expected):
    path = tmp_path / "new" / "x"
    write_whole(str(path), data)
    assert path.read_bytes() == expected
    assert os.listdir(path.parent) == ["x"]


def test_a_lone_surrogate_is_escaped(tmp_path):
    write_whole(tmp_path / "x", "a\udcff")
    assert (tmp_path / "x").read_text() == "a\\udcff"


def test_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "x", "new")
        (tmp_path / "y").touch()
        (tmp_path / "y").chmod(0o604)
        write_whole(tmp_path / "y", "new")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "xy"]
    assert modes == [0o640, 0o604]


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    write_whole(tmp_path / "x", "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.os, "replace", full)
    with pytest.raises(StorageError, match="no space left on the disk"):
        write_whole(tmp_path / "x", "new")
    assert (tmp_path / "x").read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(StorageError, match="directory"):
        write_whole(tmp_path, "text")


def test_a_pipe_and_a_device(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "through")
    reader.join(timeout=10)
    assert seen == ["through"]
    write_whole("/dev/null", b"away")
    with pytest.raises(StorageError, match="/dev/full"):
        write_whole("/dev/full", b"away")
