# SPDX-License-Identifier: BSD-3-Clause
"""Files that are not ours are named for what they are."""

import gzip
import json
import pickle
import zipfile

import h5py
import numpy as np
import pytest

import discan
from discan.data.foreign import UNREADABLE, foreign, kind_of_file
from discan.data.store import save_corpus
from discan.errors import InputError, ModelFileError


def workbook(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")


def cells(path):
    with h5py.File(path, "w") as file:
        file["X"] = np.ones(3)


MAKE = {
    "a pickle": lambda path: path.write_bytes(pickle.dumps({"a": 1})),
    "a NumPy .npz file": lambda path: np.savez(path.open("wb"), x=np.ones(2)),
    "a NumPy array": lambda path: np.save(path.open("wb"), np.ones(2)),
    "an HDF5 file": cells,
    "an Excel workbook": workbook,
    "JSON": lambda path: path.write_text(json.dumps({"topic 1": "law"})),
    "text": lambda path: path.write_text("id,vote\n1,yea\n"),
    "an HTML page": lambda path: path.write_text("<!DOCTYPE html><html></html>"),
    "a file packed with gzip": lambda path: path.write_bytes(gzip.compress(b"abc")),
    "a damaged zip archive": lambda path: path.write_bytes(b"PK\x03\x04" + b"x" * 60),
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("kind", MAKE)
def test_a_model_is_asked_for(tmp_path, kind):
    path = tmp_path / "model.discan"
    MAKE[kind](path)
    assert kind_of_file(path).startswith(kind)
    with pytest.raises(ModelFileError) as caught:
        discan.load(path)
    assert f"{path}: is {kind}" in str(caught.value)
    assert "not a file of discan" in str(caught.value)


@pytest.mark.parametrize("kind", [kind for kind in MAKE if kind in UNREADABLE])
@pytest.mark.parametrize("ending", ["csv", "txt", "dat", "xlsx"])
def test_data_are_asked_for(tmp_path, kind, ending):
    path = tmp_path / f"data.{ending}"
    MAKE[kind](path)
    with pytest.raises(InputError) as caught:
        discan.read(path)
    assert str(caught.value) == f"{path}: {kind}; {UNREADABLE[kind]}"


@pytest.mark.parametrize(
    ("kind", "format"), [("an HDF5 file", "h5ad"), ("a NumPy .npz file", "npz")]
)
def test_a_name_that_does_not_tell_the_format(tmp_path, kind, format):
    path = tmp_path / "data.txt"
    MAKE[kind](path)
    with pytest.raises(InputError, match=rf"{kind}.*; use format='{format}'"):
        discan.read(path)


def test_what_cannot_be_told(tmp_path):
    path = tmp_path / "noise"
    path.write_bytes(np.random.default_rng(0).bytes(500))
    assert kind_of_file(path) is None
    assert foreign(path) == "is not a file of discan"
    assert foreign(tmp_path / "none") == "is not a file of discan"


def test_our_own_files(tmp_path):
    path = tmp_path / "corpus.discan"
    save_corpus(discan.Corpus(np.ones((2, 3))), path)
    assert foreign(path) is None
    with pytest.raises(ModelFileError, match="holds a corpus, not a model"):
        discan.load(path)
    data = path.read_bytes()
    for size in (100, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(ModelFileError, match=rf"end of the file is missing \({size:,} of "):
            discan.load(path)
