# SPDX-License-Identifier: BSD-3-Clause
"""A named file is read whole if it is a small regular file; what may never end is refused."""

import os

import pytest

from discan.data import regular
from discan.data.intake import bounded_int
from discan.data.regular import open_regular, read_bytes, read_text
from discan.errors import InputError, LimitError, StorageError

POSIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on POSIX alone")


def test_text(tmp_path):
    path = tmp_path / "x"
    path.write_bytes("\ufeffä\r\nb\n".encode())
    assert read_text(path, "words") == "ä\nb\n"
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_text(path, "words")


def test_too_large(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    assert read_bytes(path, "words", 3) == b"abc"
    with pytest.raises(LimitError, match="too large for words"):
        read_bytes(path, "words", 2)


def test_what_is_no_file(tmp_path):
    with pytest.raises(StorageError, match="No such file"):
        read_bytes(tmp_path / "none", "words")
    with pytest.raises(StorageError, match=r"a folder \(directory\), not a file"):
        read_bytes(tmp_path, "words")
    with pytest.raises(StorageError, match="is not a file name"):
        read_bytes("a\0b", "words")


@POSIX
@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "/dev/full"])
def test_what_never_ends(tmp_path, name):
    path = tmp_path / name
    if name == "pipe":
        os.mkfifo(path)
    with pytest.raises(StorageError, match="a pipe or a device, not a file"):
        open_regular(path)
    n_open = len(os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else 0
    with pytest.raises(StorageError):
        read_text(path, "words")
    assert not n_open or len(os.listdir("/dev/fd")) == n_open


def test_the_largest_file_is_bounded():
    assert regular.MOST_BYTES <= 2**28


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12), (" -3 ", -3), ("9" * 40, 10**40 - 1), ("9" * 5000, 10**40),
        ("-" + "1" * 5000, -(10**40)),
    ],
)  # fmt: skip
def test_numbers_of_many_digits(text, number):
    """Python itself refuses to parse more than 4,300 digits."""
    assert bounded_int(text) == number
