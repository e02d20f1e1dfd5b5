# SPDX-License-Identifier: BSD-3-Clause
"""Parcels: large arrays through a file, checked; all else in the message."""

import numpy as np
import pytest

from discan.engines import parcels
from discan.engines.parcels import Parcel
from discan.errors import StorageError


def content():
    rng = np.random.default_rng(0)
    return {
        "large": rng.random((300, 200)), "single": rng.random((200, 300)).astype(np.float32),
        "fortran": np.asfortranarray(rng.random((100, 200))), "small": np.arange(5),
        "text": "x", "none": None, "list": [rng.integers(0, 9, 50_000)],
    }  # fmt: skip


def test_what_comes_out_is_what_went_in(tmp_path):
    given = content()
    parcel = Parcel.pack(given, str(tmp_path))
    assert len(parcel.message) < 5000
    assert parcel.n_bytes == sum(given[n].nbytes for n in ("large", "single", "fortran")) + 400_000
    assert [path.name for path in tmp_path.iterdir()] == [parcel.path.rpartition("/")[2]]
    found = parcel.open()
    assert list(found) == list(given)
    for name in ("large", "single", "fortran", "small"):
        np.testing.assert_array_equal(found[name], given[name])
        assert found[name].dtype == given[name].dtype
        assert found[name].flags.f_contiguous == given[name].flags.f_contiguous
        assert found[name].flags.writeable
        assert found[name].flags.aligned
    np.testing.assert_array_equal(found["list"][0], given["list"][0])
    found["large"][:] = 0.0
    assert parcel.open()["large"].any()  # arrays of its own
    parcel.discard()
    parcel.discard()
    assert list(tmp_path.iterdir()) == []


def test_small_things_need_no_file(tmp_path):
    parcel = Parcel.pack([np.arange(10), "x"], str(tmp_path / "nowhere"))
    assert parcel.path == ""
    assert parcel.open()[1] == "x"


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_another_file_is_refused(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(parcels, "LATE", 0.2)
    parcel = Parcel.pack(content(), str(tmp_path))
    (path,) = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[1000] ^= 1
        path.write_bytes(data)
    elif damage == "cut":
        path.write_bytes(data[:-1])
    else:
        path.unlink()
    with pytest.raises(StorageError, match="every worker must see the run folder"):
        parcel.open()


def test_a_file_may_come_late(tmp_path):
    import threading

    parcel = Parcel.pack(content(), str(tmp_path))
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    path.unlink()
    timer = threading.Timer(0.3, path.write_bytes, [data])
    timer.start()
    assert parcel.open()["text"] == "x"
    timer.join()


def test_what_cannot_be_written_is_an_error_of_ours(tmp_path):
    with pytest.raises(StorageError, match="parcel"):
        Parcel.pack(content(), str(tmp_path / "nowhere"))
