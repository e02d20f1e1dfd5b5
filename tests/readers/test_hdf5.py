# SPDX-License-Identifier: BSD-3-Clause
"""Files of HDF5 whose parts lead elsewhere, or hold far more than they seem to."""

import os
import zlib

import numpy as np
import pytest
from scipy import sparse

from discan.data.hdf5 import Group
from discan.errors import InputError, LimitError
from discan.readers import read

h5py = pytest.importorskip("h5py")

COUNTS = sparse.csr_array([[2, 0, 1], [0, 3, 0]])


@pytest.fixture
def elsewhere(tmp_path):
    """A pipe, which never ends, and another file: both are out of bounds."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no named pipes")
    pipe, other = tmp_path / "pipe", tmp_path / "other.h5"
    os.mkfifo(pipe)
    with h5py.File(other, "w") as file:
        file["secret"], file["inside/secret"] = [b"a", b"b"], [1.0, 2.0]
    return [h5py.ExternalLink(str(pipe), "/x"), h5py.ExternalLink(str(other), "/secret")]


def write_cells(path, change=lambda file: None):
    """Write two cells by three genes as AnnData does, change the file, and return its path."""
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", COUNTS.shape
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(COUNTS, name)
        for place, n in (("obs", 2), ("var", 3)):
            frame = file.create_group(place)
            frame.attrs["_index"] = "_index"
            frame["_index"] = [f"{place}{i}" for i in range(n)]
        file["obs"].attrs["column-order"] = ["age"]
        file["obs/age"] = [b"x", b"y"]
        change(file)
    return path


@pytest.mark.parametrize("place", ["X", "X/data", "obs", "obs/age", "var/_index", "layers", "raw"])
def test_no_link_leads_out_of_the_file(tmp_path, elsewhere, fails, place):
    for n, link in enumerate(elsewhere):
        for k, bridge in enumerate((False, True)):  # also by a link inside the file

            def change(file, link=link, bridge=bridge):
                if place in file:
                    del file[place]
                file["bridge"] = link
                file[place] = h5py.SoftLink("/bridge") if bridge else link

            path = write_cells(tmp_path / f"{n}{k}.h5ad", change)
            fails(path, "another file")


def test_links_inside_the_file_are_followed(tmp_path, fails):
    def change(file):
        file.move("obs/age", "kept/deep")
        file["obs/age"], file["kept/again"] = h5py.SoftLink("/kept/again"), h5py.SoftLink("deep")

    path = write_cells(tmp_path / "x.h5ad", change)
    assert read(path).metadata["age"].tolist() == ["x", "y"]
    with h5py.File(path, "a") as file:
        del file["obs/age"]
        file["obs/age"] = h5py.SoftLink("/obs/age")
        with pytest.raises(InputError, match="in a circle"):
            Group(path, file).get("obs/age")
    fails(path, "in a circle")


@pytest.mark.parametrize("ending", [".h5", ".loom"])
def test_so_are_those_of_the_other_formats(tmp_path, elsewhere, fails, ending):
    for n, link in enumerate(elsewhere):
        path = tmp_path / f"{n}{ending}"
        with h5py.File(path, "w") as file:
            file["matrix"] = link
        fails(path, "another file")
        with h5py.File(path, "w") as file:
            file["matrix"] = np.ones((3, 2), dtype=int)
            file["col_attrs"] = np.ones(3)  # no group, so it is left out
            file["row_attrs"] = link
        fails(path, "another file" if ending == ".loom" else "Cell Ranger")


def test_many_references_to_one_long_text(tmp_path, fails):
    """A text of a MB that half a million cells share is packed into a file of 1.3 MB."""

    def change(file):
        kind, n = h5py.string_dtype(), 2**19
        seed = file.create_dataset("seed", shape=(1,), dtype=kind, chunks=(1,))
        seed[0] = "A" * 2**20
        _, reference = seed.id.read_direct_chunk((0,))
        del file["obs/age"]
        ages = file["obs"].create_dataset("age", (n,), kind, chunks=(n,), compression="gzip")
        ages.id.write_direct_chunk((0,), zlib.compress(reference * n))

    path = write_cells(tmp_path / "x.h5ad", change)
    fails(path, "'obs/age' unpacks to more than", kind=LimitError)


def test_indices_are_whole_numbers(tmp_path, fails):
    """SciPy would take 1.5 for 1, and b"1", too."""
    for kind in ("f8", "S4"):

        def change(file, kind=kind):
            del file["X/indices"]
            file["X/indices"] = COUNTS.indices.astype(kind)

        fails(write_cells(tmp_path / "x.h5ad", change), "its indices are no whole numbers")


@pytest.mark.parametrize("index", [-1, 2, 10**6])
def test_features_are_chosen_after_the_table_is_checked(tmp_path, fails, index):
    """Compiled code of SciPy writes where an index leads."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix")
        group["data"], group["indices"], group["indptr"] = [5, 6], [0, index], [0, 1, 2]
        group["shape"], group["barcodes"] = [2, 2], [b"c1", b"c2"]
        group["features/name"] = [b"g1", b"g2"]
        group["features/feature_type"] = [b"Gene Expression", b"Antibody Capture"]
    fails(path, f"column index {index} .* is outside 0 .. 1")
