# SPDX-License-Identifier: BSD-3-Clause
"""Files of AnnData that we write can be read by us, and by anndata if it is installed."""

from pathlib import Path

import numpy as np
import pytest

import discan
from discan.data.corpus import Corpus
from discan.data.h5ad import gene_names, write_h5ad
from discan.errors import InputError, StorageError

h5py = pytest.importorskip("h5py")

CORPUS = Corpus(
    [[1, 0, 2], [0, 3, 0]],
    word_names=["a", "b", "c"],
    document_names=["x", "y"],
    metadata={"type": ["T", None], "n/m": [1.5, np.nan]},
)
SCORES, LOADINGS = np.array([[0.25, 0.75], [1.0, 0.0]]), np.arange(6.0).reshape(3, 2)
SETTINGS = {"model": "dm", "k": 2, "done": True, "names": ["one", "two"], "more": {"a": np.ones(2)}}


def write(path, source=None):
    write_h5ad(path, CORPUS, {"X_d": SCORES}, {"d": LOADINGS}, {"d": SETTINGS}, source)
    return path


def test_a_file_of_our_own(tmp_path):
    path = write(tmp_path / "new" / "x.h5ad")
    assert gene_names(path) == ["a", "b", "c"]
    corpus = discan.read(path)
    assert corpus.digest == CORPUS.digest
    assert corpus.layout.word_names == ("a", "b", "c")
    assert corpus.document_names == ("x", "y")
    assert corpus.metadata["type"].tolist() == ["T", None]
    assert np.array_equal(corpus.metadata["n|m"], [1.5, np.nan], equal_nan=True)
    assert list(tmp_path.glob("new/.*")) == []


def test_a_copy_with_more_in_it(tmp_path):
    first = write(tmp_path / "x.h5ad")
    with h5py.File(first, "a") as file:
        file["obsm"]["X_other"] = np.zeros((2, 1))
        del file["uns"]["d"]["model"]
    before = first.read_bytes()
    second = write(tmp_path / "y.h5ad", first)
    assert first.read_bytes() == before
    with h5py.File(second) as file:
        assert set(file["obsm"]) == {"X_d", "X_other"}
        assert file["uns/d/model"][()] == b"dm"
        np.testing.assert_array_equal(file["obsm/X_d"], SCORES)
        np.testing.assert_array_equal(file["varm/d"], LOADINGS)


def test_anndata_reads_it(tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    for path in (write(tmp_path / "x.h5ad"), write(tmp_path / "y.h5ad", tmp_path / "x.h5ad")):
        data = anndata.read_h5ad(path)
        assert data.shape == (2, 3)
        assert list(data.obs["type"]) == ["T", ""]
        np.testing.assert_array_equal(data.obsm["X_d"], SCORES)
        np.testing.assert_array_equal(data.varm["d"], LOADINGS)
        assert data.uns["d"]["model"] == "dm"
        assert list(data.uns["d"]["names"]) == ["one", "two"]
        np.testing.assert_array_equal(data.uns["d"]["more"]["a"], np.ones(2))


@pytest.mark.parametrize("through", [False, True])
def test_no_other_file_is_written_through_a_link(tmp_path, through):
    first, other = write(tmp_path / "x.h5ad"), write(tmp_path / "other.h5ad")
    before = other.read_bytes()
    with h5py.File(first, "a") as file:
        del file["obsm"]
        link = h5py.ExternalLink(str(other), "/obsm")
        file["bridge"], file["obsm"] = link, h5py.SoftLink("/bridge") if through else link
    with pytest.raises(InputError, match="another file"):
        write(tmp_path / "y.h5ad", first)
    assert other.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.h5ad", "x.h5ad"]
    with h5py.File(first, "a") as file:
        del file["obsm"]
        file["obsm"] = np.ones(3)
    with pytest.raises(InputError, match="'obsm' of the data is no group"):
        write(tmp_path / "y.h5ad", first)


def test_a_link_stays_and_a_device_is_refused(tmp_path):
    (tmp_path / "link.h5ad").symlink_to(tmp_path / "x.h5ad")
    write(tmp_path / "link.h5ad")
    assert (tmp_path / "link.h5ad").is_symlink()
    assert gene_names(tmp_path / "x.h5ad") == ["a", "b", "c"]
    with pytest.raises(StorageError, match="a device or a pipe"):
        write(Path("/dev/full"))


def test_unwritable_places(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="/file"):
        write(tmp_path / "file" / "x.h5ad")
