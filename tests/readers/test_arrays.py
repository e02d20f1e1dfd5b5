# SPDX-License-Identifier: BSD-3-Clause
"""NumPy files: round trips, wrong and lying files, and no pickles."""

import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from discan.errors import LimitError
from discan.readers import Source, guess, read

COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 5]])


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix]
)
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, bool])
def test_npz_round_trip(tmp_path, kind, compressed, dtype):
    counts = COUNTS.astype(dtype)
    sparse.save_npz(tmp_path / "x.npz", kind(counts), compressed=compressed)
    assert guess(Source(tmp_path / "x.npz")) == "npz"
    assert np.array_equal(read(tmp_path / "x.npz").to_csr().toarray(), counts)


def test_dense_npz(tmp_path, fails):
    table = np.array([[2, 0, 1, 1], [-1, -1, 2, 0]], order="F")
    path = tmp_path / "x.npz"
    np.savez(path, tab=table, w=list("abcd"), g=list("xxyy"), d=["one", "two"])
    fails(path, "row 1, column 0 of 'tab' holds -1.*missing=-1")
    corpus = read(path, missing=-1)
    assert corpus.to_csr().toarray().tolist() == [[2, 0, 1, 1], [0, 0, 2, 0]]
    assert corpus.layout.word_names == tuple("abcd")
    assert corpus.layout.group_names == ("x", "y")
    assert corpus.document_names == ("one", "two")
    assert corpus.exposures.tolist() == [[1, 1], [0, 1]]
    np.savez(path, a=table, b=table)
    fails(path, "array=")
    fails(path, "no array", array="a", words="none", missing=-1)
    assert read(path, array="a", missing=-1).n_words == 4


class Canary:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def zipped(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def scipy_members(**changes):
    table = sparse.csr_array(COUNTS)
    members = {
        "format": np.array(b"csr"),
        "shape": np.array(table.shape),
        "data": table.data,
        "indices": table.indices,
        "indptr": table.indptr,
    } | changes
    return [
        (f"{k}.npy", v if isinstance(v, bytes) else npy(v))
        for k, v in members.items()
        if v is not None
    ]


BAD_NPZ = {
    "negative": (dict(data=np.array([-1, 1, 3, 5])), "Negative"),
    "nan": (dict(data=np.array([np.nan, 1, 3, 5])), "NaN"),
    "inf": (dict(data=np.array([np.inf, 1, 3, 5])), "inf"),
    "1e300": (dict(data=np.array([1e300, 1, 3, 5])), "above"),
    "text": (dict(data=np.array(list("abcd"))), "dtype"),
    "complex": (dict(data=np.array([1j, 1, 3, 5])), "dtype"),
    "index": (dict(indices=np.array([0, 2, 1, 4])), "outside|column"),
    "negative index": (dict(indices=np.array([0, -2, 1, 3])), "column"),
    "fractional index": (dict(indices=np.array([0, 2, 1, 3.0])), "whole numbers"),
    "indptr falls": (dict(indptr=np.array([0, 3, 2, 4])), "indptr"),
    "indptr short": (dict(indptr=np.array([0, 4])), "indptr|index pointer"),
    "indptr end": (dict(indptr=np.array([0, 2, 2, 9])), "indptr|Last value"),
    "lengths": (dict(data=np.array([1, 3, 5])), "damaged"),
    "no data": (dict(data=None), "'data' is missing"),
    "format": (dict(format=np.array(b"bsr")), "tocsr"),
    "shape": (dict(shape=np.array([3])), "shape"),
    "shape of 0": (dict(shape=np.array([3, 0])), "shape"),
    "rows": (dict(shape=np.array([9 * 10**11, 4])), "claims"),
    "columns": (dict(shape=np.array([3, 9 * 10**11])), "claims"),
    "no array": (dict(data=b"hello"), "not a NumPy array"),
    "version": (dict(data=b"\x93NUMPY\x09\x00aaaa"), "9, 0"),
    "heading": (dict(data=b"\x93NUMPY\x01\x00\x05\x00(1,2}\n"), "damaged heading"),
}


@pytest.mark.parametrize("case", BAD_NPZ)
def test_bad_npz(tmp_path, case, fails):
    changes, match = BAD_NPZ[case]
    fails(zipped(tmp_path / "x.npz", scipy_members(**changes)), match)


@pytest.mark.parametrize(
    "shape", ["(900000000000,)", "(3,)", "(-4,)", "(2, 9223372036854775807)", "(4, 1.5)"]
)
def test_npy_heading_that_lies(tmp_path, shape, fails):
    honest = npy(np.array([1, 2, 3, 5]))
    lie = honest.replace(b"(4,), }" + b" " * (len(shape) - 4), f"{shape}, }}".encode())
    assert lie != honest
    assert len(lie) == len(honest)
    fails(zipped(tmp_path / "x.npz", scipy_members(data=lie)), "claims shape|damaged heading")


def test_pickles_are_not_run(tmp_path, write, fails):
    canary = tmp_path / "canary"
    array = np.array([Canary(str(canary))] * 4, dtype=object)
    fails(zipped(tmp_path / "x.npz", scipy_members(data=array)), "pickled")
    fails(write(tmp_path / "y.npz", pickle.dumps(Canary(str(canary)))), "a pickle")
    assert not canary.exists()


def test_npz_archives_that_are_wrong(tmp_path, write, fails):
    good = zipped(tmp_path / "x.npz", scipy_members()).read_bytes()
    for cut in (0, 10, len(good) // 2, len(good) - 5):
        fails(write(tmp_path / "cut.npz", good[:cut]), "npz", "npz")
    flipped = good.replace(npy(np.array([0, 2, 2, 4], dtype=np.int32))[-16:], b"\1" * 16)
    assert flipped != good
    fails(write(tmp_path / "crc.npz", flipped), "CRC")
    with pytest.warns(UserWarning, match="Duplicate"):
        zipped(tmp_path / "twice.npz", [*scipy_members(), *scipy_members()[:1]])
    fails(tmp_path / "twice.npz", "two arrays")
    bomb = zipped(tmp_path / "bomb.npz", scipy_members(data=np.zeros(2**20)), compression=8)
    assert bomb.stat().st_size < 2**14
    fails(bomb, "unpacks to", kind=LimitError, max_unpacked=2**20)


def test_microbov(real):
    corpus = read(real("microbov", "genotypes.npz"), missing=-1)
    assert (corpus.n_documents, corpus.n_words, corpus.n_groups) == (704, 373, 30)
    assert set(np.unique(corpus.group_lengths.data)) == {2.0}
    assert round((corpus.exposures == 0).mean(), 3) == 0.023


def test_pbmc(real):
    folder = real("pbmc_facs")
    corpus = read(folder / "counts.npz", vocabulary=folder / "genes.csv")
    assert (corpus.n_documents, corpus.n_words) == (3774, 16791)
    assert (corpus.n_entries, corpus.n_tokens) == (2702861, 7500459)
    assert corpus.layout.word_names[0] == "AL627309.1"
    assert len(set(corpus.layout.word_names)) == corpus.n_words


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_bytes_changed_at_random(tmp_path, data, changed_at_random):
    path = tmp_path / "x.npz"
    sparse.save_npz(path, sparse.csr_array(COUNTS), compressed=False)
    changed_at_random(path, "npz", data)


@pytest.mark.parametrize("order", ["<", ">"])
def test_texts_of_no_characters(tmp_path, fails, order):
    """NumPy gives Python texts with characters beyond the last one, which cannot be written."""
    names = np.array([65, 0x110000, 67], dtype=f"{order}u4").view(f"{order}U1")
    members = [("x.npy", npy(np.ones((2, 3), dtype=int))), ("names.npy", npy(names))]
    fails(zipped(tmp_path / "x.npz", members), "'names' holds what is no text")


def test_very_many_empty_texts(tmp_path, fails):
    """They take no bytes in the file, and eight each in memory."""
    stream = io.BytesIO()
    heading = {"descr": "<U0", "fortran_order": False, "shape": (10**9,)}
    np.lib.format.write_array_header_1_0(stream, heading)
    members = [("x.npy", npy(np.ones((2, 3), dtype=int))), ("names.npy", stream.getvalue())]
    fails(zipped(tmp_path / "x.npz", members), "claims shape .* but holds 0")
