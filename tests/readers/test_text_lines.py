# SPDX-License-Identifier: BSD-3-Clause
"""Lines, JSON lines, MALLET and fields become the same counts, or one clear line."""

import bz2
import csv
import gzip
import json
import lzma
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discan.errors import InputError
from discan.readers import read

TEXTS = ["red fish, blue fish", "one red bird and the blue bird", "", "Fish don't sing"]


WORD_LIST = [f"w{n}x" for n in range(200)]


def words_of(corpus):
    return corpus.layout.word_names


@pytest.mark.parametrize("packed", [None, gzip, bz2, lzma])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines(tmp_path, packed, end, is_example):
    content = ("\ufeff" + end.join(TEXTS) + end).encode()
    path = tmp_path / "x.txt"
    path.write_bytes(packed.compress(content) if packed else content)
    assert is_example(read(path))
    assert is_example(read(path, format="lines"))


def test_lines_of_a_folder(tmp_path, is_example):
    """The files of a folder follow each other in the order of their names, packed or not."""
    (tmp_path / "part-2.txt.gz").write_bytes(gzip.compress("\n".join(TEXTS[2:]).encode()))
    (tmp_path / "part-1.txt").write_text("\n".join(TEXTS[:2]) + "\n", encoding="utf-8")
    assert is_example(read(tmp_path, format="lines"))


def test_a_bad_line_of_a_folder_is_named(tmp_path):
    (tmp_path / "a.txt").write_text("fine\n")
    (tmp_path / "b.txt").write_bytes(b"fine\nnot \0 fine\n")
    with pytest.raises(InputError, match=r"b\.txt, line 2: holds a NUL byte"):
        read(tmp_path, format="lines")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "empty"),
        (b"\n\n", "no word is left of 2 documents"),
        (b"abc\nd\xffe\n", "line 2: byte 1 is not UTF-8"),
        (b"abc\nd\0e\n", "line 2: holds a NUL"),
        (gzip.compress(b"abc\n" * 5000, mtime=0)[:-4], "damaged compressed"),
        (bz2.compress(b"abc\n" * 5000)[:-4], "damaged compressed"),
        (b"BZh9" + b"no bzip" * 9, "damaged compressed"),
        (b"\x1f\x8b" + b"no gzip" * 9, "damaged compressed"),
        (b"\xfd7zXZ\x00" + b"no xz" * 9, "damaged compressed"),
    ],
)
def test_bad_lines(tmp_path, content, match, fails):
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    assert str(path) in fails(path, match, format="lines")


def test_jsonl(tmp_path, is_example):
    path = tmp_path / "x.jsonl"
    records = [{"id": n, "text": t, "body": t} for n, t in enumerate(TEXTS)]
    records[2]["text"] = None
    records[0]["text"] = TEXTS[0].split(", ")
    path.write_text("\ufeff" + "\n\n".join(json.dumps(r) for r in records), "utf-8")
    assert is_example(read(path))
    corpus = read(path, field="body", id_field="id")
    assert is_example(corpus)
    assert corpus.document_names == ("0", "1", "2", "3")
    packed = tmp_path / "x.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    assert is_example(read(packed))


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ('{"body": 1, "id": 2}', "no field 'text'; there are 'body', 'id'; use field="),
        ("{}", "there are none"),
        ('{"text": 1}', "field 'text' is a int"),
        ('{"text": ["a", 1]}', "field 'text' is a list"),
        ('{"text": "a\\ud800b"}', r"lone surrogate \\ud800"),
        ('{"text": "a', "not JSON"),
        ("[1]", "a JSON list"),
        ("[" * 100_000, "nested too deeply"),
        ('{"text": ' + "1" * 10_000 + "}", "not JSON"),
    ],
)
def test_bad_jsonl(tmp_path, line, match, fails):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "red fish"}\n' + line + "\n")
    assert f"{path}, line 2: " in fails(path, match)


def test_bad_jsonl_names(tmp_path, fails):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "red fish", "id": [1]}\n')
    fails(
        path,
        "no field 'key'; there are 'text', 'id'; use id_field",
        id_field="key",
    )
    fails(path, "no name", id_field="id")
    path.write_text("\n")
    fails(path, "empty", format="jsonl")


def test_mallet(tmp_path, fails, dense, is_example):
    path = tmp_path / "x.mallet"
    labels = ["zoo", "zoo", "void", "pond"]
    lines = [f"d{n}\t{label} {t}" for n, (label, t) in enumerate(zip(labels, TEXTS, strict=True))]
    path.write_text("\n\n".join(lines))
    corpus = read(path)
    assert is_example(corpus)
    assert corpus.document_names == ("d0", "d1", "d2", "d3")
    corpus = read(path, label_group=True, min_df=2, max_words=1)
    assert words_of(corpus) == ("text:fish", "label:pond", "label:void", "label:zoo")
    assert corpus.layout.group_names == ("text", "label")
    assert corpus.layout.group_of_word.tolist() == [0, 1, 1, 1]
    assert dense(corpus) == [[2, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0]]
    path.write_text("d1 zoo fish\nd2\n")
    fails(path, "line 2: only 'd2'")


RECORDS = [
    {"id": "x", "title": "Red fish", "body": 'A red "fish",\nred', "tags": "zoo"},
    {"id": "y", "title": "Birds", "body": "", "tags": "zoo pond"},
]


def check_fields(corpus, dense):
    assert corpus.layout.group_names == ("tags", "title")
    assert words_of(corpus) == ("tags:pond", "tags:zoo", "title:birds", "title:fish", "title:red")
    assert corpus.layout.group_of_word.tolist() == [0, 0, 1, 1, 1]
    assert dense(corpus) == [[0, 1, 0, 1, 1], [1, 1, 1, 0, 0]]
    assert corpus.document_names == ("x", "y")


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_fields_of_a_table(tmp_path, delimiter, dense):
    path = tmp_path / "x.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, RECORDS[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(RECORDS)
    check_fields(read(path, format="fields", fields=("tags", "title"), id_field="id"), dense)
    one = read(path, format="fields", fields="body")
    assert words_of(one) == ("fish", "red")
    assert dense(one) == [[1, 2], [0, 0]]


def test_fields_of_json_lines(tmp_path, fails, dense):
    path = tmp_path / "x.jsonl"
    records = [dict(RECORDS[0]), {**RECORDS[1], "tags": ["zoo", "pond"]}]
    del records[1]["body"]
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    check_fields(read(path, format="fields", fields="tags,title", id_field="id"), dense)
    corpus = read(path, format="fields", fields=("title", "body"))
    vocabulary = words_of(corpus)
    again = read(path, format="fields", fields=("title", "body"), vocabulary=vocabulary[::-1])
    assert words_of(again) == vocabulary[::-1]
    assert again.layout.group_of_word.tolist() == corpus.layout.group_of_word.tolist()[::-1]
    assert dense(again) == [row[::-1] for row in dense(corpus)]
    ask = {"format": "fields"}
    fails(path, "say which fields.*'id', 'title'", **ask)
    fails(path, "no document has a field 'nose'", fields=("title", "nose"), **ask)
    fails(path, "line 1: no field 'nose'", fields="nose", **ask)
    fails(path, "each one once", fields=("title", "title"), **ask)
    fails(path, "does not start with a field", fields="title,body", vocabulary=["a"], **ask)
    fails(
        path,
        "field 'body' has no word left",
        fields="title,body",
        vocabulary=["title:a"],
        **ask,
    )


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "empty"),
        ("a,b\n", "empty"),
        ("a,b\n1,2\n1\n", "line 3: 1 cells, expected 2"),
        ('a,b\n"x,2\n1,2\n', "correct the quotes"),
        ("a,b\nfish,\0\n", "line 2: holds a NUL"),
        ("x,y\nfish,bird\n", "line 2: no field 'a'; there are 'x', 'y'"),
    ],
)
def test_bad_tables(tmp_path, content, match, fails):
    path = tmp_path / "x.csv"
    path.write_text(content)
    limit = csv.field_size_limit()
    fails(path, match, format="fields", fields="a")
    assert csv.field_size_limit() == limit


def test_long_cell(tmp_path, dense):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "fish " * 100_000 + ",2\n")
    assert dense(read(path, format="fields", fields="a")) == [[100_000]]


@settings(max_examples=60, deadline=None)
@given(
    content=st.binary(max_size=200),
    format=st.sampled_from(["lines", "jsonl", "mallet", "fields", "archive"]),
)
def test_any_bytes(tmp_path_factory, content, format, survives):
    path = tmp_path_factory.mktemp("x") / "x"
    path.write_bytes(content)
    options = {"fields": ("a", "b")} if format == "fields" else {}
    survives(path, format=format, **options)


def test_memory(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("".join(f"fish w{i} " + " ".join(WORD_LIST) + "\n" for i in range(2000)))
    tracemalloc.start()
    try:
        corpus = read(path, format="lines", max_df=1.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    csr = corpus.words.nbytes + corpus.counts.nbytes + corpus.indptr.nbytes
    assert peak < 4 * csr
