# SPDX-License-Identifier: BSD-3-Clause
"""AnnData files: three layouts, and files that lie."""

import importlib.util

import numpy as np
import pytest
from scipy import sparse

from discan.data.h5ad import gene_names
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


def test_what_describes_the_cells(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = write_h5ad(tmp_path / "x.h5ad", COUNTS, "csr_matrix")
    with h5py.File(path, "a") as file:
        obs = file["obs"]
        obs["depth"] = [3.5, 0.0, 8.0]
        obs["batch"] = ["one", "two", "two"]
        kind = obs.create_group("type")
        kind.attrs["encoding-type"] = "categorical"
        kind["codes"], kind["categories"] = [1, -1, 0], ["B", "T"]
        nullable = obs.create_group("n")
        nullable.attrs["encoding-type"] = "nullable-integer"
        nullable["values"], nullable["mask"] = [7, 0, 9], [False, True, False]
        odd = obs.create_group("odd")
        odd.attrs["encoding-type"] = "awkward-array"
        obs["short"] = [1.0]
        obs.attrs["column-order"] = ["depth", "batch", "type", "n", "odd", "short", "absent"]
    corpus = read(path)
    assert list(corpus.metadata) == ["depth", "batch", "type", "n"]
    assert corpus.metadata["depth"].tolist() == [3.5, 0.0, 8.0]
    assert corpus.metadata["batch"].tolist() == ["one", "two", "two"]
    assert corpus.metadata["type"].tolist() == ["T", None, "B"]
    assert np.array_equal(corpus.metadata["n"], [7, np.nan, 9], equal_nan=True)
    assert corpus.nouns.document == "cell"


def test_raw_counts_are_found(tmp_path, remarks):
    h5py = pytest.importorskip("h5py")
    path = write_h5ad(tmp_path / "x.h5ad", np.log1p(COUNTS), "dense")
    read(path)
    assert "X holds fractions, so it may be normalised" in remarks()
    with h5py.File(path, "a") as file:
        raw = file.create_group("raw")
        raw["X"] = COUNTS
        file.copy("var", raw)
    assert np.array_equal(read(path).to_csr().toarray(), COUNTS)
    assert "X holds no whole counts, so raw.X is read; to read X use layer='X'" in remarks()
    with h5py.File(path, "a") as file:
        file.create_group("layers")["counts"] = 2 * COUNTS
    assert read(path).n_tokens == 2 * COUNTS.sum()
    assert read(path, raw=True).n_tokens == COUNTS.sum()
    assert not read(path, layer="X").integral


def test_modalities(tmp_path, fails):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.h5mu"
    write_h5ad(tmp_path / "one.h5ad", COUNTS, "csr_matrix")
    write_h5ad(tmp_path / "two.h5ad", COUNTS[:2, :2] + 1, "dense")
    with h5py.File(path, "w") as file:
        mod = file.create_group("mod")
        mod.attrs["mod-order"] = ["rna", "atac"]
        for name, part in (("rna", "one"), ("atac", "two")):
            with h5py.File(tmp_path / f"{part}.h5ad") as other:
                other.copy("/", mod, name=name)
        file.copy("mod/rna/obs", "obs")
    corpus = read(path)
    assert corpus.layout.group_names == ("rna", "atac")
    assert corpus.exposures.tolist() == [[1, 1], [1, 1], [1, 0]]
    assert corpus.layout.word_names[:2] == ("rna:var0", "rna:var1")
    assert corpus.n_tokens == COUNTS.sum() + (COUNTS[:2, :2] + 1).sum()


def test_names_that_could_be_missing_are_values_and_a_mask(tmp_path):
    """Newer versions of AnnData write an index of text so."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "nullable.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = np.array([[1.0, 0.0], [2.0, 3.0]])
        for place, names in (("obs", ["c1", "c2"]), ("var", ["g1", "g2"])):
            frame = file.create_group(place)
            frame.attrs["_index"] = "_index"
            index = frame.create_group("_index")
            index.attrs["encoding-type"] = "nullable-string-array"
            index["values"] = np.array(names, dtype=object)
            index["mask"] = np.zeros(2, dtype=bool)
    corpus = read(path)
    assert corpus.layout.word_names == ("g1", "g2")
    assert corpus.document_names == ("c1", "c2")
    assert gene_names(path) == ["g1", "g2"]
