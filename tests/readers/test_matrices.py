# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrices from text: round trips, bad files, lying headings, and real data."""

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from discan.readers import Source, guess, read

ROOT = Path(__file__).parents[2]


COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 5]])


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


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_round_trip(tmp_path, format, ends, write):
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
def test_large_random_table_in_chunks(tmp_path, format, monkeypatch, write):
    monkeypatch.setattr("discan.readers.numbers.CHUNK", 257)
    random = np.random.default_rng(0)
    counts = random.poisson(0.3, size=(60, 40)) * random.integers(1, 10**6, size=(60, 40))
    counts[-1, -1] = 7
    name, writer = WRITERS[format]
    corpus = read(write(tmp_path / name, writer(counts)))
    assert np.array_equal(corpus.to_csr().toarray(), counts)


def test_fractions_and_patterns_in_mtx(tmp_path, write):
    path = write(tmp_path / "x.mtx", as_mtx(COUNTS / 4))
    assert np.array_equal(read(path).to_csr().toarray(), COUNTS / 4)
    text = "%%MatrixMarket matrix coordinate pattern general\n%\n2 3 2\n2 3\n1 1\n"
    path = write(tmp_path / "y.mtx", text)
    assert read(path).to_csr().toarray().tolist() == [[1, 0, 0], [0, 0, 1]]


def test_duplicates_are_summed_and_order_does_not_matter(tmp_path, write):
    path = write(tmp_path / "docword.txt", "2\n3\n4\n2 1 1\n1 3 2\n2 1 4\n1 2 0\n")
    assert read(path).to_csr().toarray().tolist() == [[0, 0, 2], [5, 0, 0]]


def test_transpose(tmp_path, write):
    path = write(tmp_path / "matrix.mtx", as_mtx(COUNTS.T))
    assert np.array_equal(read(path, transpose=True).to_csr().toarray(), COUNTS)
    write(tmp_path / "features.tsv", "g1\tA\tx\ng2\tB\tx\ng3\tB\tx\ng4\tC\tx\n")
    write(tmp_path / "barcodes.tsv", "one\ntwo\nthree\n")
    corpus = read(path)
    assert np.array_equal(corpus.to_csr().toarray(), COUNTS)
    assert corpus.layout.word_names == ("A", "B (g2)", "B (g3)", "C")
    assert corpus.document_names == ("one", "two", "three")


@pytest.mark.parametrize("format", WRITERS)
def test_vocabulary(tmp_path, format, write, fails):
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


def test_svmlight_bases_labels_and_comments(tmp_path, write, fails):
    path = write(tmp_path / "x.svm", as_svmlight(COUNTS, base=0))
    assert np.array_equal(read(path).to_csr().toarray(), COUNTS)
    assert read(path, zero_based=True).n_words == 4
    fails(path, "line 1: word 0", zero_based=False)
    text = "# heading\n1,3 qid:4 1:2 3:1.5 # note\n-1e0 2:1\n"
    corpus = read(write(tmp_path / "y.svm", text), "svmlight", labels=True)
    assert corpus.document_names == ("1,3", "-1e0")
    assert corpus.to_csr().toarray().tolist() == [[2, 0, 1.5], [0, 1, 0]]


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
def test_bad_count(tmp_path, format, count, write, fails):
    text = TEMPLATES[format].format(index=1, count=count)
    path = write(tmp_path / "bad.txt", text)
    line = {"mtx": 3, "uci": 4}.get(format, 1)
    assert f"line {line}" in fails(path, ".", format)


@pytest.mark.parametrize("format", TEMPLATES)
@pytest.mark.parametrize("index", BAD_INDICES)
def test_bad_index(tmp_path, format, index, write, fails):
    text = TEMPLATES[format].format(index=index, count=1)
    if format in ("ldac", "svmlight") and index in ("5", "1e9"):
        text = text.replace(index, "2000000000")  # there is no heading to say how many
    fails(write(tmp_path / "bad.txt", text), ".", format)


@pytest.mark.parametrize("format", ["mtx", "uci"])
def test_zero_in_a_file_from_one(tmp_path, format, write, fails):
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
def test_bad_mtx(tmp_path, text, match, write, fails):
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
def test_bad_uci(tmp_path, text, match, write, fails):
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
def test_bad_lists(tmp_path, format, text, match, write, fails):
    fails(write(tmp_path / "bad.txt", text), match, format)


def test_damaged_compression(tmp_path, write, fails):
    whole = gzip.compress(as_uci(COUNTS).encode() * 50)
    fails(write(tmp_path / "docword.x.txt.gz", whole[:-20]), "damaged|cannot be read", "uci")


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


def test_lying_headings_take_no_memory(tmp_path, write):
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


def test_kos(real):
    corpus = read(real("uci-kos", "docword.kos.txt.gz"))
    assert (corpus.n_documents, corpus.n_words) == (3430, 6906)
    assert (corpus.n_entries, corpus.n_tokens) == (353160, 467714)


def test_ap(real):
    corpus = read(real("ap", "ap", "ap.dat"))
    assert (corpus.n_documents, corpus.n_words) == (2246, 10473)
    assert (corpus.n_entries, corpus.n_tokens) == (302031, 435838)
    assert corpus.layout.word_names[:3] == ("i", "new", "percent")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
@pytest.mark.parametrize("format", WRITERS)
def test_bytes_changed_at_random(tmp_path, format, data, write, changed_at_random):
    name, writer = WRITERS[format]
    changed_at_random(write(tmp_path / name, writer(COUNTS)), format, data)


@pytest.mark.parametrize(
    "name",
    ["x.tokens", "x.vocab", "vocab.x.txt", "vocab.txt", "vocab.dat", "vocab.tokens", "vocab.words",
     "x-vocab.txt", "x.vocab.gz", "X.tokens"],
)  # fmt: skip
def test_usual_neighbours_hold_the_vocabulary(tmp_path, write, name, remarks):
    path = write(tmp_path / ("X.ldac" if name[0] == "X" else "x.ldac"), "2 0:1 2:3\n1 1:2\n")
    words = b"a\nb\nc\n"
    write(tmp_path / name, gzip.compress(words) if name.endswith(".gz") else words)
    corpus = read(path)
    assert corpus.layout.word_names == ("a", "b", "c")
    assert f"words named by {tmp_path / name}" in remarks()
    assert corpus.nouns.component == "topic"


def test_neighbours_of_other_data_are_left_alone(tmp_path, write):
    path = write(tmp_path / "x.ldac", "2 0:1 2:3\n1 1:2\n")
    for name in ("y.vocab.txt", "vocab.one", "vocab.two", "my-vocabulary-notes.txt"):
        write(tmp_path / name, "a\nb\n")
    assert read(path).layout.word_names is None


def test_titles_beside_the_data_name_the_documents(tmp_path, write, remarks):
    path = write(tmp_path / "x.ldac", "2 0:1 2:3\n1 1:2\n")
    write(tmp_path / "x.titles", "First story\nSecond story\n")
    assert read(path).document_names == ("First story", "Second story")
    write(tmp_path / "x.titles", "First story\n")
    assert read(path).document_names is None
    assert "1 titles for 2 documents; not used" in remarks()


def test_labels_of_svmlight_are_metadata(tmp_path, write):
    path = write(tmp_path / "x.svm", "1 1:2 2:1\n-1 2:3\n1 1:1\n")
    assert read(path).metadata["label"].tolist() == ["1", "-1", "1"]
    assert read(path, labels=True).metadata["label"].tolist() == ["1", "-1", "1"]
    several = write(tmp_path / "y.svm", "1,2 1:2\n3 2:3\n")
    assert read(several).metadata["label"].tolist() == ["1,2", "3"]
    assert read(write(tmp_path / "z.svm", "0 1:2\n0 2:3\n")).metadata == {}


def test_a_folder_of_10x(tmp_path, write, dense):
    """Genes by cells, packed, with features and barcodes beside them; not a folder of texts."""
    rows, columns = np.nonzero(COUNTS.T)
    lines = [f"{i + 1} {j + 1} {COUNTS.T[i, j]}" for i, j in zip(rows, columns, strict=True)]
    head = "%%MatrixMarket matrix coordinate integer general\n"
    text = "\n".join([f"{head}4 3 {len(lines)}", *lines]) + "\n"
    files = {
        "matrix.mtx.gz": text,
        "features.tsv.gz": "".join(f"ENSG{j}\tG{j}\tGene Expression\n" for j in range(4)),
        "barcodes.tsv.gz": "AA-1\nCC-1\nGG-1\n",
    }
    for name, content in files.items():
        write(tmp_path / name, gzip.compress(content.encode()))
    assert guess(Source(tmp_path)) == "mtx"
    corpus = read(tmp_path)
    assert dense(corpus) == COUNTS.tolist()
    assert corpus.document_names == ("AA-1", "CC-1", "GG-1")
    assert corpus.layout.word_names == ("G0", "G1", "G2", "G3")
    assert corpus.nouns.documents == "cells"
