# SPDX-License-Identifier: BSD-3-Clause
"""AnnData files: three layouts, and files that lie."""

import importlib.util

import numpy as np
import pytest
from scipy import sparse

from discan.errors import LimitError
from discan.readers import read

COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 5]])


def write_h5ad(path, counts, kind):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        if kind == "dense":
            file["X"] = counts
        else:
            table = sparse.csr_array(counts) if kind == "csr_matrix" else sparse.csc_array(counts)
            x = file.create_group("X")
            x.attrs["encoding-type"] = kind
            x.attrs["shape"] = counts.shape
            for name in ("data", "indices", "indptr"):
                x[name] = getattr(table, name)
        for place, n in (("obs", counts.shape[0]), ("var", counts.shape[1])):
            frame = file.create_group(place)
            frame.attrs["_index"] = "id"
            frame["id"] = [f"{place}{i}" for i in range(n)]
    return path


@pytest.mark.parametrize("kind", ["dense", "csr_matrix", "csc_matrix"])
def test_h5ad(tmp_path, kind, write, fails):
    path = write_h5ad(tmp_path / "x.h5ad", COUNTS, kind)
    corpus = read(path)
    assert np.array_equal(corpus.to_csr().toarray(), COUNTS)
    assert corpus.document_names == ("obs0", "obs1", "obs2")
    assert corpus.layout.word_names[-1] == "var3"
    fails(path, "has no", layer="counts")
    fails(path, "has no", raw=True)
    good = path.read_bytes()
    for cut in (0, 100, len(good) // 2):
        fails(write(tmp_path / "cut.h5ad", good[:cut]), "cannot be read")


def test_h5ad_that_lies(tmp_path, fails):
    h5py = pytest.importorskip("h5py")
    path = write_h5ad(tmp_path / "x.h5ad", COUNTS, "csr_matrix")
    with h5py.File(path, "a") as file:
        del file["X/data"]
        file["X"].create_dataset("data", shape=(10**11,), chunks=(1024,), dtype="i4")
    fails(path, "claims shape", kind=LimitError)
    with h5py.File(path, "a") as file:
        del file["X/data"]
        file["X/data"] = h5py.ExternalLink(str(tmp_path / "y.h5"), "data")
    fails(path, "another file")


@pytest.mark.skipif(importlib.util.find_spec("h5py") is not None, reason="h5py is installed")
def test_h5ad_without_h5py(tmp_path, write, fails):
    fails(write(tmp_path / "x.h5ad", b"\x89HDF"), "pip install h5py")
