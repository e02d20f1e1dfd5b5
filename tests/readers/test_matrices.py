# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrices from files: round trips, bad files, lying headings, and real data."""

import gzip
import importlib.util
import io
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from discan.errors import InputError, LimitError, StorageError
from discan.readers import read
from discan.readers.source import Source, guess

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("DISCAN_DATA", ROOT.parent / "shared" / "data"))
EXPECTED = (InputError, LimitError, StorageError)


def real(*parts):
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there; set DISCAN_DATA to the folder of real data")
    return path


COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 5]])


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def fails(path, match, format=None, kind=EXPECTED, **options):
    with pytest.raises(kind, match=match) as caught:
        read(path, format, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600 + 3 * len(str(path))
    return message


def as_uci(counts):
    rows, columns = np.nonzero(counts)
    lines = [f"{i + 1} {j + 1} {counts[i, j]}" for i, j in zip(rows, columns, strict=True)]
    return "\n".join([*map(str, counts.shape), str(len(rows)), *lines]) + "\n"


def as_ldac(counts):
    lines = []
    for row in counts:
        pairs = [f"{j}:{row[j]}" for j in np.flatnonzero(row)]
        lines.append(" ".join([str(len(pairs)), *pairs]))
    return "\n".join(lines) + "\n"


def as_svmlight(counts, base=1):
    return "".join(
        " ".join(["-1", *(f"{j + base}:{row[j]}" for j in np.flatnonzero(row))]) + "\n"
        for row in counts
    )


def as_mtx(counts):
    stream = io.BytesIO()
    scipy_io.mmwrite(stream, sparse.coo_array(counts), comment="from a test")
    return stream.getvalue()


WRITERS = {
    "mtx": ("x.mtx", as_mtx),
    "uci": ("docword.x.txt", as_uci),
    "ldac": ("x.dat", as_ldac),
    "svmlight": ("x.svm", as_svmlight),
}

# ---- round trips ----


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_round_trip(tmp_path, format, ends):
    name, writer = WRITERS[format]
    text = writer(COUNTS)
    text = text if isinstance(text, bytes) else text.encode()
    path = write(tmp_path / name, text.replace(b"\n", ends.encode()))
    assert guess(Source(path)) == format
    corpus = read(path)
    assert np.array_equal(corpus.to_csr().toarray(), COUNTS)
    assert corpus.counts.dtype == np.int32
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert np.array_equal(read(packed, format).to_csr().toarray(), COUNTS)


@pytest.mark.parametrize("format", WRITERS)
def test_large_random_table_in_chunks(tmp_path, format, monkeypatch):
    monkeypatch.setattr("discan.readers.matrices.CHUNK", 257)
    random = np.random.default_rng(0)
    counts = random.poisson(0.3, size=(60, 40)) * random.integers(1, 10**6, size=(60, 40))
    counts[-1, -1] = 7
    name, writer = WRITERS[format]
    corpus = read(write(tmp_path / name, writer(counts)))
    assert np.array_equal(corpus.to_csr().toarray(), counts)


@pytest.mark.parametrize("format", WRITERS)
def test_odd_but_good_files(tmp_path, format):
    name, writer = WRITERS[format]
    text = writer(COUNTS)
    text = text if isinstance(text, bytes) else text.encode()
    tail = b"" if format in ("ldac", "svmlight") else b"\n \n\n"
    path = write(tmp_path / name, b"\xef\xbb\xbf" + text.rstrip(b"\n") + tail)
    assert np.array_equal(read(path, format).to_csr().toarray(), COUNTS)


def test_fractions_and_patterns_in_mtx(tmp_path):
    path = write(tmp_path / "x.mtx", as_mtx(COUNTS / 4))
    assert np.array_equal(read(path).to_csr().toarray(), COUNTS / 4)
    text = "%%MatrixMarket matrix coordinate pattern general\n%\n2 3 2\n2 3\n1 1\n"
    path = write(tmp_path / "y.mtx", text)
    assert read(path).to_csr().toarray().tolist() == [[1, 0, 0], [0, 0, 1]]


def test_duplicates_are_summed_and_order_does_not_matter(tmp_path):
    path = write(tmp_path / "docword.txt", "2\n3\n4\n2 1 1\n1 3 2\n2 1 4\n1 2 0\n")
    assert read(path).to_csr().toarray().tolist() == [[0, 0, 2], [5, 0, 0]]


def test_transpose(tmp_path):
    path = write(tmp_path / "matrix.mtx", as_mtx(COUNTS.T))
    assert np.array_equal(read(path, transpose=True).to_csr().toarray(), COUNTS)
    write(tmp_path / "features.tsv", "g1\tA\tx\ng2\tB\tx\ng3\tB\tx\ng4\tC\tx\n")
    write(tmp_path / "barcodes.tsv", "one\ntwo\nthree\n")
    corpus = read(path)
    assert np.array_equal(corpus.to_csr().toarray(), COUNTS)
    assert corpus.layout.word_names == ("A", "B (g2)", "B (g3)", "C")
    assert corpus.document_names == ("one", "two", "three")


@pytest.mark.parametrize("format", WRITERS)
def test_vocabulary(tmp_path, format):
    name, writer = WRITERS[format]
    path = write(tmp_path / name, writer(COUNTS))
    own = "vocab.x.txt" if format == "uci" else "vocab.txt"
    words = write(tmp_path / own, "a\nb\nc d\né\n\n")
    assert read(path).layout.word_names == ("a", "b", "c d", "é")
    assert read(path, vocabulary=False).layout.word_names is None
    other = write(tmp_path / "other.lst", "w\nx\ny\nz")
    assert read(path, vocabulary=other).layout.word_names == ("w", "x", "y", "z")
    for text, match in [
        ("a\nb\n", "2 words|beyond the 2 words"),
        ("a\nb\na\nc\n", "line 3: word 'a' stands in line 1 too"),
        ("a\n\nb\nc\n", "line 2: an empty word"),
        (b"a\nb\xff\nc\nd\n", "line 2.*not UTF-8"),
    ]:
        write(words, text)
        fails(path, match)
    fails(path, "no such file", vocabulary=tmp_path / "none")


def test_svmlight_bases_labels_and_comments(tmp_path):
    path = write(tmp_path / "x.svm", as_svmlight(COUNTS, base=0))
    assert np.array_equal(read(path).to_csr().toarray(), COUNTS)
    assert read(path, zero_based=True).n_words == 4
    fails(path, "line 1: word 0", zero_based=False)
    text = "# heading\n1,3 qid:4 1:2 3:1.5 # note\n-1e0 2:1\n"
    corpus = read(write(tmp_path / "y.svm", text), "svmlight", labels=True)
    assert corpus.document_names == ("1,3", "-1e0")
    assert corpus.to_csr().toarray().tolist() == [[2, 0, 1.5], [0, 1, 0]]


# ---- files that are wrong ----

BAD_COUNTS = [
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e300",
    "x",
    "1_0",
    "99999999999999999999",
    "0x1",
    "\0",
    "é",
]
BAD_INDICES = ["-1", "5", "x", "1.5", "nan", "99999999999999999999", "2147483648", "", "1e9", "\0"]
TEMPLATES = {
    "mtx": "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 {index} {count}\n3 4 1\n",
    "uci": "3\n4\n2\n1 {index} {count}\n3 4 1\n",
    "ldac": "1 {index}:{count}\n1 3:1\n",
    "svmlight": "1 {index}:{count}\n1 4:1\n",
}


@pytest.mark.parametrize("format", TEMPLATES)
@pytest.mark.parametrize("count", BAD_COUNTS)
def test_bad_count(tmp_path, format, count):
    text = TEMPLATES[format].format(index=1, count=count)
    path = write(tmp_path / "bad.txt", text)
    line = {"mtx": 3, "uci": 4}.get(format, 1)
    assert f"line {line}" in fails(path, ".", format)


@pytest.mark.parametrize("format", TEMPLATES)
@pytest.mark.parametrize("index", BAD_INDICES)
def test_bad_index(tmp_path, format, index):
    text = TEMPLATES[format].format(index=index, count=1)
    if format in ("ldac", "svmlight") and index in ("5", "1e9"):
        text = text.replace(index, "2000000000")  # there is no heading to say how many
    fails(write(tmp_path / "bad.txt", text), ".", format)


@pytest.mark.parametrize("format", ["mtx", "uci"])
def test_zero_in_a_file_from_one(tmp_path, format):
    path = write(tmp_path / "x", TEMPLATES[format].format(index=0, count=1))
    fails(
        path, r"line [34]: (word|column) '0' is outside 1 \.\. 4; they are numbered from 1", format
    )


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "heading"),
        ("junk\n", "line 1: no MatrixMarket heading"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n", "layout 'array'"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "field 'complex'"),
        ("%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 1\n", "symmetry 'symmetric'"),
        ("%%MatrixMarket matrix coordinate real general\n% only\n", "expected rows, columns"),
        ("%%MatrixMarket matrix coordinate real general\n1 1\n", "line 2: expected rows"),
        ("%%MatrixMarket matrix coordinate real general\n1 x 1\n", "line 2.*'x'"),
        ("%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n", "ends after 1 entries"),
        ("%%MatrixMarket matrix coordinate real general\n2 1 1\n1 1 1\n2 1 1\n", "line 4: more"),
        (
            "%%MatrixMarket matrix coordinate real general\n2 1 1\n\n1 1 1\n\n2 1 1\n",
            "line 6: more",
        ),
        ("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1\n", "line 3: expected 3"),
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1 2 2 1\n\n",
            "line 3: expected",
        ),
        ("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n", "line 3: expected 2"),
        ("%%MatrixMarket matrix coordinate real general\n0 0 0\n", "0 rows"),
    ],
)
def test_bad_mtx(tmp_path, text, match):
    fails(write(tmp_path / "bad.mtx", text), match, "mtx")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "line 1: the file ends"),
        ("3\n4\n", "line 3: the file ends"),
        ("3\nx\n1\n1 1 1\n", "line 2.*'x'"),
        ("3\n4\n2\n1 1 1\n", "ends after 1 entries"),
        ("3\n4\n1\n1 1 1\n2 2 2\n", "line 5: more than the 1 entries"),
        ("3\n4\n2\n1 1\n1 2 2 3 3\n", "line 4: expected 3 numbers"),
        ("3\n4\n1\n1:1 1\n", "line 4"),
        ("3\n4\n1\n1 1 1 \0\n", "line 4"),
    ],
)
def test_bad_uci(tmp_path, text, match):
    fails(write(tmp_path / "docword.bad.txt", text), match, "uci")


@pytest.mark.parametrize(
    ("format", "text", "match"),
    [
        ("ldac", "", "no documents"),
        ("ldac", "0\n0\n", "no words"),
        ("ldac", "2 0:1\n", "line 1: says 2 words but holds 1"),
        ("ldac", "1 0:1\n1 0:1 2:1\n", "line 2: says 1"),
        ("ldac", "1 0:1\n1 0 1\n", "line 2: expected id:count, found '0'"),
        ("ldac", "1 0:1:2\n", "line 1: count '1:2' is not a number"),
        ("ldac", "x 0:1\n", "line 1: number of words 'x'"),
        ("ldac", "1 0:\n", "line 1: count '' is not"),
        ("svmlight", "", "no documents"),
        ("svmlight", "1 1:1\nspam 1:1\n", "line 2: label 'spam'"),
        ("svmlight", "1 1:1 2\n", "line 1: expected id:count"),
        ("svmlight", "nan 1:1\n", "line 1: label"),
    ],
)
def test_bad_lists(tmp_path, format, text, match):
    fails(write(tmp_path / "bad.txt", text), match, format)


def test_damaged_compression(tmp_path):
    whole = gzip.compress(as_uci(COUNTS).encode() * 50)
    fails(write(tmp_path / "docword.x.txt.gz", whole[:-20]), "damaged|cannot be read", "uci")


def test_unknown_option(tmp_path):
    fails(write(tmp_path / "x.dat", as_ldac(COUNTS)), "has no option", columns=3)


LIES = {
    "uci documents": ("uci", "900000000000\n4\n1\n1 1 1\n"),
    "uci words": ("uci", "3\n900000000000\n1\n1 1 1\n"),
    "uci int32 words": ("uci", "3\n2000000000\n1\n1 1 1\n"),
    "uci entries": ("uci", "3\n4\n900000000000\n1 1 1\n"),
    "mtx rows": (
        "mtx",
        TEMPLATES["mtx"].format(index=1, count=1).replace("3 4 2", "2000000000 4 2"),
    ),
    "mtx entries": (
        "mtx",
        TEMPLATES["mtx"].format(index=1, count=1).replace("4 2\n", "4 900000000000\n"),
    ),
    "ldac words": ("ldac", "900000000000 0:1\n"),
    "ldac word": ("ldac", "1 2147483000:1\n"),
    "svmlight word": ("svmlight", "1 2147483000:1\n"),
}


def test_lying_headings_take_no_memory(tmp_path):
    paths = []
    for n, (format, text) in enumerate(LIES.values()):
        paths += [str(write(tmp_path / f"{n}.x", text)), format]
    shape = np.array([2_000_000_000, 3])
    lying = tmp_path / "lie.npz"
    np.savez(lying, format=b"csr", shape=shape, data=[1], indices=[0], indptr=[0, 1])
    code = """
import resource, sys
from discan.readers import read
from discan.errors import InputError, LimitError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path, format in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        read(path, format)
    except (InputError, LimitError) as error:
        assert "\\n" not in str(error)
    else:
        raise SystemExit(f"{path} was read")
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 50_000, grown
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run(
        [sys.executable, "-c", code, *paths, str(lying), "npz"],
        env=environment,
        check=True,
        timeout=60,
    )


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
@pytest.mark.parametrize("format", [*WRITERS, "npz", "plink"])
def test_bytes_changed_at_random(tmp_path, format, data):
    path, good = good_file(tmp_path, format)
    changed = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
        changed = changed or bytearray(b"\n")
    path.write_bytes(bytes(changed))
    message = ""
    try:
        read(path, format)
    except EXPECTED as error:
        message = str(error)
    assert "\n" not in message


def good_file(tmp_path, format):
    if format == "plink":
        path = write_plink(tmp_path, np.array([[0, 1, 2, 3], [3, 3, 1, 0], [2, 2, 2, 2]]))
    elif format == "npz":
        path = tmp_path / "x.npz"
        sparse.save_npz(path, sparse.csr_array(COUNTS), compressed=False)
    else:
        name, writer = WRITERS[format]
        text = writer(COUNTS)
        path = write(tmp_path / name, text)
    return path, path.read_bytes()


# ---- .npz ----


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


def test_dense_npz(tmp_path):
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
def test_bad_npz(tmp_path, case):
    changes, match = BAD_NPZ[case]
    fails(zipped(tmp_path / "x.npz", scipy_members(**changes)), match)


@pytest.mark.parametrize(
    "shape", ["(900000000000,)", "(3,)", "(-4,)", "(2, 9223372036854775807)", "(4, 1.5)"]
)
def test_npy_heading_that_lies(tmp_path, shape):
    honest = npy(np.array([1, 2, 3, 5]))
    lie = honest.replace(b"(4,), }" + b" " * (len(shape) - 4), f"{shape}, }}".encode())
    assert lie != honest
    assert len(lie) == len(honest)
    fails(zipped(tmp_path / "x.npz", scipy_members(data=lie)), "claims shape|damaged heading")


def test_pickles_are_not_run(tmp_path):
    canary = tmp_path / "canary"
    array = np.array([Canary(str(canary))] * 4, dtype=object)
    fails(zipped(tmp_path / "x.npz", scipy_members(data=array)), "pickled")
    fails(write(tmp_path / "y.npz", pickle.dumps(Canary(str(canary)))), "damaged .npz")
    assert not canary.exists()


def test_npz_archives_that_are_wrong(tmp_path):
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


# ---- PLINK ----


def write_plink(folder, codes, stem="x"):
    """Write codes (SNPs, people): 0 and 3 are homozygous, 2 is mixed, 1 is missing."""
    codes = np.asarray(codes, dtype=np.uint8)
    n_snps, n_people = codes.shape
    padded = np.zeros((n_snps, -(-n_people // 4) * 4), dtype=np.uint8)
    padded[:, :n_people] = codes
    packed = (padded.reshape(n_snps, -1, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2)
    bed = folder / f"{stem}.bed"
    bed.write_bytes(b"\x6c\x1b\x01" + packed.astype(np.uint8).tobytes())
    people = "".join(f"f{i} i{i} 0 0 1 -9\n" for i in range(n_people))
    (folder / f"{stem}.fam").write_text(people)
    snps = "".join(f"1\trs{j}\t0\t{j}\tA\tG\n" for j in range(n_snps))
    (folder / f"{stem}.bim").write_text(snps)
    return bed


def test_plink(tmp_path):
    codes = np.random.default_rng(1).integers(0, 4, size=(1500, 6))
    codes[0] = [0, 1, 2, 3, 0, 3]
    bed = write_plink(tmp_path, codes)
    for path in (bed, bed.with_suffix(".fam"), tmp_path):
        assert guess(Source(path)) == "plink"
    corpus = read(bed)
    dense = corpus.to_csr().toarray()
    assert corpus.document_names == tuple(f"i{i}" for i in range(6))
    assert corpus.layout.word_names[:3] == ("rs0:A", "rs0:G", "rs1:A")
    assert corpus.layout.group_names[:2] == ("rs0", "rs1")
    assert dense[:, :2].tolist() == [[2, 0], [0, 0], [1, 1], [0, 2], [2, 0], [0, 2]]
    assert np.array_equal(dense[:, ::2], np.array([2, 0, 1, 0])[codes.T])
    assert np.array_equal(dense[:, 1::2], np.array([0, 0, 1, 2])[codes.T])
    assert np.array_equal(corpus.exposures, codes.T != 1)
    assert read(bed, exposures=False).exposures is None


def test_bad_plink(tmp_path):
    bed = write_plink(tmp_path, [[0, 1, 2, 3, 0]] * 3)
    good = bed.read_bytes()
    fails(write(bed, good[:-1]), "8 bytes, but 5 individuals and 3 SNPs take 9")
    fails(write(bed, good + b"\0"), "10 bytes")
    fails(write(bed, b"xx\x01" + good[3:]), "no PLINK")
    fails(write(bed, good[:2] + b"\0" + good[3:]), "make-bed")
    write(bed, good)
    bim = bed.with_suffix(".bim")
    text = bim.read_text()
    write(bim, text.replace("\tG\n", "\n", 1))
    fails(bed, "line 1: expected 6 fields")
    write(bim, "")
    fails(bed, "no SNPs")
    write(bim, text)
    write(bed.with_suffix(".fam"), "one\n")
    fails(bed, "line 1: expected 6 fields, found 'one'")
    bim.unlink()
    fails(bed, "are needed", "plink")


# ---- .h5ad ----


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
def test_h5ad(tmp_path, kind):
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


def test_h5ad_that_lies(tmp_path):
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
def test_h5ad_without_h5py(tmp_path):
    fails(write(tmp_path / "x.h5ad", b"\x89HDF"), "pip install h5py")


# ---- real data ----


def test_kos():
    corpus = read(real("uci-kos", "docword.kos.txt.gz"))
    assert (corpus.n_documents, corpus.n_words) == (3430, 6906)
    assert (corpus.n_entries, corpus.n_tokens) == (353160, 467714)


def test_ap():
    corpus = read(real("ap", "ap", "ap.dat"))
    assert (corpus.n_documents, corpus.n_words) == (2246, 10473)
    assert (corpus.n_entries, corpus.n_tokens) == (302031, 435838)
    assert corpus.layout.word_names[:3] == ("i", "new", "percent")


def test_hapmap():
    corpus = read(real("hapmap3", "hapmap3.bed"))
    assert (corpus.n_documents, corpus.n_groups) == (324, 13928)
    assert corpus.n_tokens == 2 * (324 * 13928 - 11894)
    assert (corpus.exposures == 0).sum() == 11894
    assert (corpus.counts == 1).sum() == 2 * 1226366


def test_microbov():
    corpus = read(real("microbov", "genotypes.npz"), missing=-1)
    assert (corpus.n_documents, corpus.n_words, corpus.n_groups) == (704, 373, 30)
    assert set(np.unique(corpus.group_lengths.data)) == {2.0}
    assert round((corpus.exposures == 0).mean(), 3) == 0.023


def test_pbmc():
    folder = real("pbmc_facs")
    corpus = read(folder / "counts.npz", vocabulary=folder / "genes.csv")
    assert (corpus.n_documents, corpus.n_words) == (3774, 16791)
    assert (corpus.n_entries, corpus.n_tokens) == (2702861, 7500459)
    assert corpus.layout.word_names[0] == "AL627309.1"
    assert len(set(corpus.layout.word_names)) == corpus.n_words
