# SPDX-License-Identifier: BSD-3-Clause
"""A file is written whole or not at all; a device or a pipe is written to as it is."""

import errno
import json
import logging
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from discan.data import drafts, storage
from discan.data.drafts import Place
from discan.data.foreign import foreign
from discan.data.storage import probe, read_file, write_file, write_whole
from discan.errors import InputError, LimitError, ModelFileError, StorageError

SOURCE = Path(storage.__file__).parents[2]


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


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["write", "fsync", "replace", "fchmod"])
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch, step):
    write_whole(tmp_path / "x", "old")
    monkeypatch.setattr(os, step, full)
    with pytest.raises(StorageError, match="no space left on the disk") as caught:
        write_whole(tmp_path / "x", "new")
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert (tmp_path / "x").read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


def test_a_folder_is_no_file(tmp_path):
    for action in (lambda: write_whole(tmp_path, "text"), lambda: probe(tmp_path)):
        with pytest.raises(StorageError, match="directory"):
            action()


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


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: Path(path).symlink_to("/dev/null")])
def test_a_file_of_arrays_replaces_no_device(tmp_path, make):
    path = tmp_path / "x"
    make(path)
    before = path.lstat()
    for action in (lambda: write_file(path, "test", {}, {}), lambda: probe(path)):
        with pytest.raises(StorageError, match="a device or a pipe; name a file"):
            action()
    assert path.lstat() == before
    probe(path, directly=True)


@pytest.mark.skipif(not hasattr(os, "mknod") or os.geteuid() != 0, reason="only root makes devices")
def test_a_device_stays_a_device(tmp_path):
    device = tmp_path / "full"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    with pytest.raises(StorageError):
        write_file(device, "test", {}, {})
    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_link_is_followed_to_its_file(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o604)
    link.symlink_to(Path("there") / "target")
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o604
    target.unlink()
    write_whole(link, "newer")  # the link leads to a file that is still to be made
    assert link.is_symlink()
    assert target.read_text() == "newer"
    assert sorted(os.listdir(tmp_path)) == ["link", "there"]


def test_a_link_to_itself_is_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(StorageError, match="leads nowhere"):
        write_whole(link, "new")
    assert link.is_symlink()


def test_links_can_be_refused(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with pytest.raises(StorageError, match="a link, which is not followed"):
        write_file(link, "test", {}, {}, follow=False)
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    ("name", "piece"),
    [("", "is empty"), ("a\0b", "not a file name"), ("x/y", "Not a directory")],
)
def test_bad_names(tmp_path, monkeypatch, name, piece):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").touch()
    for action in (lambda: write_whole(name, "text"), lambda: probe(name)):
        with pytest.raises(StorageError, match=piece):
            action()


def test_a_path_is_text():
    with pytest.raises(InputError, match="path=3 is not a file name"):
        write_whole(3, "text")


# ---- drafts ----


def draft_of(path, token="00000000"):
    return path.with_name(f"{drafts._prefix(path)}{token}.tmp")


def test_only_stale_drafts_of_the_same_file_are_swept(tmp_path):
    stale = draft_of(tmp_path / "run")
    others = [
        draft_of(tmp_path / "run.1"), draft_of(tmp_path / "ru"), tmp_path / ".run.1.abcdefgh.tmp",
        tmp_path / f"{stale.name}x", tmp_path / f"x{stale.name}", draft_of(tmp_path / "run", "1"),
    ]  # fmt: skip
    for path in (stale, *others):
        path.write_text("half")
    write_whole(tmp_path / "run", "whole")
    assert not stale.exists()
    assert all(path.exists() for path in others)


def test_a_draft_in_use_is_left_alone(tmp_path):
    """The draft of a process that is still writing to the same file."""
    path = tmp_path / "run"
    descriptor, draft, _ = drafts._new_draft(Place.of(path))
    try:
        write_whole(path, "whole")
        assert draft.exists()
    finally:
        os.close(descriptor)
    write_whole(path, "whole")
    assert not draft.exists()


def test_a_draft_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock, swept = drafts.try_lock, []

    def late(descriptor):
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].unlink()
        return lock(descriptor)

    monkeypatch.setattr(drafts, "try_lock", late)
    write_whole(tmp_path / "x", "whole")
    assert len(swept) == 1
    assert os.listdir(tmp_path) == ["x"]


def test_a_link_in_place_of_a_draft_is_left_alone(tmp_path):
    (tmp_path / "target").write_text("mine")
    draft_of(tmp_path / "x").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "x", "whole")
    assert (tmp_path / "target").read_text() == "mine"


def test_a_pipe_in_place_of_a_draft_is_left_alone(tmp_path):
    draft = draft_of(tmp_path / "x")
    os.mkfifo(draft)
    write_whole(tmp_path / "x", "whole")
    assert stat.S_ISFIFO(draft.lstat().st_mode)
    assert (tmp_path / "x").read_text() == "whole"


def test_a_probe_leaves_nothing_but_the_folder(tmp_path):
    probe(tmp_path / "new" / "x")
    assert os.listdir(tmp_path / "new") == []
    (tmp_path / "x").write_text("old")
    probe(tmp_path / "x")
    assert (tmp_path / "x").read_text() == "old"
    with pytest.raises(StorageError, match=r"Not a directory|File exists"):
        probe(tmp_path / "x" / "y")
    assert sorted(os.listdir(tmp_path)) == ["new", "x"]


@pytest.mark.parametrize("failures", [0, 1, drafts._TRIES - 1, drafts._TRIES])
def test_a_file_that_others_have_open_for_a_moment(tmp_path, monkeypatch, failures):
    """Windows does not replace it then; it is tried again, but not for ever."""
    calls, waits = [], []

    def replace(draft, path):
        calls.append(path)
        if len(calls) <= failures:
            raise PermissionError(errno.EACCES, "in use")

    monkeypatch.setattr(drafts.os, "replace", replace)
    monkeypatch.setattr(drafts.time, "sleep", waits.append)
    if failures == drafts._TRIES:
        with pytest.raises(PermissionError):
            drafts._replace_closed(tmp_path / "draft", tmp_path / "x")
    else:
        drafts._replace_closed(tmp_path / "draft", tmp_path / "x")
    assert len(calls) == min(failures + 1, drafts._TRIES)
    assert waits == sorted(waits)
    assert len(waits) == min(failures, drafts._TRIES - 1)
    assert sum(waits) < 2


def test_drafts_are_private(tmp_path, monkeypatch):
    modes = []
    write = os.write

    def watch(descriptor, data):
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", watch)
    write_whole(tmp_path / "x", "text")
    assert modes == [0o600]


def test_processes_that_save_at_once_do_not_meet(tmp_path):
    """Four processes write to two names, one the beginning of the other, without an error."""
    code = (
        "import sys; from discan.data.storage import write_whole\n"
        "for n in range(150): write_whole(sys.argv[1], sys.argv[1] * 2000)"
    )
    names = ["run", "run", "run.1", "run.1"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / name)],
            env=environment, stderr=subprocess.PIPE, text=True,
        )
        for name in names
    ]  # fmt: skip
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert sorted(os.listdir(tmp_path)) == ["run", "run.1"]
    assert (tmp_path / "run.1").read_text() == str(tmp_path / "run.1") * 2000


# ---- the disk ----


def test_a_failure_after_the_rename_is_a_remark(tmp_path, monkeypatch, caplog):
    """The file is in its place: to report a failure would be wrong."""
    sync = os.fsync

    def fail(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    with caplog.at_level(logging.WARNING, "discan"):
        write_whole(tmp_path / "x", "new")
    assert (tmp_path / "x").read_text() == "new"
    assert "written, but the disk reports Input/output error" in caplog.text


def test_folders_that_cannot_be_synchronised_are_no_matter(tmp_path, monkeypatch, caplog):
    open_ = os.open

    def refuse(path, *arguments, **options):
        if Path(path).is_dir():
            raise OSError(errno.EACCES, "Permission denied")
        return open_(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    write_whole(tmp_path / "x", "new")
    assert (tmp_path / "x").read_text() == "new"
    assert not caplog.records


def test_short_writes_are_continued(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    write_whole(tmp_path / "x", "0123456789")
    assert (tmp_path / "x").read_text() == "0123456789"


# ---- the format ----


def test_any_array_comes_back(tmp_path):
    arrays = {
        f"{kind} {shape}": np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
        for kind in storage._TYPES
        for shape in ((), (0,), (3,), (2, 0, 5), (2, 3))
    }
    write_file(tmp_path / "x", "test", {"a": [1, {"b": None}]}, arrays)
    header, found = read_file(tmp_path / "x", "test")
    assert header["a"] == [1, {"b": None}]
    assert set(found) == set(arrays)
    for name, value in arrays.items():
        assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value)


def test_the_library_reads_our_files(tmp_path):
    from safetensors.numpy import load_file

    write_file(tmp_path / "x", "test", {}, {"a": np.eye(3), "b": np.arange(5, dtype=np.uint16)})
    found = load_file(tmp_path / "x")
    np.testing.assert_array_equal(found["a"], np.eye(3))
    np.testing.assert_array_equal(found["b"], np.arange(5))


def test_arrays_that_are_no_numbers_are_refused(tmp_path):
    for value in (np.array([1j]), np.array(["a"]), np.array([None])):
        with pytest.raises(InputError, match="cannot be saved"):
            write_file(tmp_path / "x", "test", {}, {"a": value})
    assert not os.listdir(tmp_path)


def test_many_names_do_not_fill_the_header(tmp_path, monkeypatch):
    names = [f"a longish name of document {n}" for n in range(20_000)]
    some = [{"name": "party", "values": [None, *names]}]
    header = {"names": names, "inner": {"names": names[::-1]}, "metadata": some}
    write_file(tmp_path / "x", "test", header, {})
    assert int.from_bytes((tmp_path / "x").read_bytes()[:8], "little") < 2000
    header, arrays = read_file(tmp_path / "x", "test")
    assert header["names"] == names
    assert header["inner"]["names"] == names[::-1]
    assert header["metadata"] == some
    assert arrays == {}


def test_a_header_that_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_LARGEST_HEADER", 1000)
    with pytest.raises(LimitError, match="100 MB"):
        write_file(tmp_path / "x", "test", {"a": "x" * 1000}, {})
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("change", ["missing", "other type"])
def test_lists_of_names_are_checked(tmp_path, monkeypatch, change):
    monkeypatch.setattr(storage, "_MANY_NAMES", 1)
    arrays = {"names.0": np.zeros(3)} if change == "other type" else {}
    write_file(tmp_path / "x", "test", {"a": {"names": "names.0"}}, arrays)
    with pytest.raises(ModelFileError, match=r"the list 'names\.0' is missing"):
        read_file(tmp_path / "x", "test")


def test_what_is_no_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    began = time.perf_counter()
    with pytest.raises(ModelFileError, match="a device or a pipe"):
        read_file(tmp_path / "pipe", "test")
    with pytest.raises(ModelFileError, match="a device or a pipe"):
        read_file("/dev/zero", "test")
    with pytest.raises(StorageError, match="a folder"):
        read_file(tmp_path, "test")
    with pytest.raises(ModelFileError, match="no such file"):
        read_file(tmp_path / "x" / "y", "test")
    with pytest.raises(ModelFileError, match="not a file name"):
        read_file("a\0b", "test")
    with pytest.raises(StorageError, match="too long"):
        read_file("a" * 300, "test")
    assert time.perf_counter() - began < 5


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    write_file(tmp_path / "x", "test", {}, {})
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(StorageError, match="permission denied"):
        read_file(tmp_path / "x", "test")


def test_too_little_memory_is_said(tmp_path, monkeypatch):
    write_file(tmp_path / "x", "test", {}, {"a": np.zeros(3)})

    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(storage, "_array", fail)
    with pytest.raises(LimitError, match="not enough memory"):
        read_file(tmp_path / "x", "test")


@pytest.mark.parametrize("version", [0, -1, True, 1.0, "1", None, 2])
def test_strange_versions_are_refused(tmp_path, version):
    write_file(tmp_path / "x", "test", {"format": version, "library": "x" * 1000}, {})
    with pytest.raises(ModelFileError, match="upgrade discan") as caught:
        read_file(tmp_path / "x", "test")
    assert len(str(caught.value)) < 400


CUT = """
import os, sys
from discan.data import storage
from discan.errors import ModelFileError

path, read = sys.argv[1], storage._array

def cut(*arguments):  # another program cuts the file after its header was read
    os.truncate(path, 4096)
    return read(*arguments)

storage._array = cut
try:
    storage.read_file(path, "test")
except ModelFileError as error:
    print(error)
"""


def test_a_file_that_is_cut_short_while_it_is_read(tmp_path):
    write_file(tmp_path / "x", "test", {}, {"a": np.zeros(100_000)})
    done = subprocess.run(
        [sys.executable, "-c", CUT, str(tmp_path / "x")], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done
    assert "cut short while it was read" in done.stdout


def rewritten(path, change, data=None):
    """Change the places of the arrays, as a file lists them, and perhaps their bytes."""
    content = path.read_bytes()
    n_bytes = int.from_bytes(content[:8], "little")
    entries = json.loads(content[8 : 8 + n_bytes])
    change(entries)
    head = json.dumps(entries).encode()
    rest = content[8 + n_bytes :] if data is None else data
    path.write_bytes(len(head).to_bytes(8, "little") + head + rest)


def place(name, begin, end):
    return lambda entries: entries[name].update(data_offsets=[begin, end])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (place("b", 0, 24), "arrays overlap, or leave gaps"),
        (place("b", 8, 32), "arrays overlap, or leave gaps"),
        (place("a", 8, 32), "arrays overlap, or leave gaps"),
        (place("b", 24, 10**4000), "the place of array 'b' cannot be read"),
        (place("b", 24, -1), "the place of array 'b' cannot be read"),
        (place("b", 24, True), "the place of array 'b' cannot be read"),
        (lambda entries: entries.update(b=[]), "the place of array 'b' cannot be read"),
        (lambda entries: entries["b"].update(dtype="BF16"), "'b' cannot be read"),
        (lambda entries: entries["b"].update(shape=[3] + [1] * 100), "no possible shape"),
        (lambda entries: entries["c"].update(shape=[0, 2**70]), "no possible shape"),
        (lambda entries: entries.pop("c"), "missing or superfluous"),
        (lambda entries: [entries.pop(name) for name in "bc"], r"holds \d+ bytes, not \d+"),
        (lambda entries: entries.update(__metadata__=[]), "not one of discan's"),
    ],
)
def test_places_of_arrays_are_checked(tmp_path, change, message):
    arrays = {"a": np.arange(3.0), "b": np.arange(3.0), "c": np.zeros(0)}
    write_file(tmp_path / "x", "test", {}, arrays)
    rewritten(tmp_path / "x", change)
    with pytest.raises(ModelFileError, match=message) as caught:
        read_file(tmp_path / "x", "test")
    assert len(str(caught.value)) < 400


def test_sizes_beyond_any_file_are_not_repeated(tmp_path):
    write_file(tmp_path / "x", "test", {}, {"a": np.arange(3.0)})
    for end in (10**4000, 1e308, 2**63):
        rewritten(tmp_path / "x", place("a", 0, end), b"\0" * 8)
        assert foreign(tmp_path / "x") is None
        with pytest.raises(ModelFileError) as caught:
            read_file(tmp_path / "x", "test")
        assert len(str(caught.value)) < 400


def test_flags_are_true_or_false(tmp_path):
    flags = np.array([True, False]).view(np.uint8)
    for value, sound in ((1, True), (2, False), (255, False)):
        flags[0] = value
        write_file(tmp_path / "x", "test", {}, {"a": flags.view(bool)})
        if sound:
            assert read_file(tmp_path / "x", "test")[1]["a"].tolist() == [True, False]
        else:
            with pytest.raises(ModelFileError, match="neither true nor false"):
                read_file(tmp_path / "x", "test")
