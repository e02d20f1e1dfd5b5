# SPDX-License-Identifier: BSD-3-Clause
"""Text in its many wrappings becomes the same counts, or one clear line."""

import bz2
import csv
import gzip
import io
import json
import logging
import lzma
import os
import tarfile
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from discan.errors import DiscanError, InputError, LimitError, StorageError
from discan.readers import read
from discan.readers import source as base
from discan.readers import words as text_module
from discan.readers.words import TextCounts, TextOptions, corpus_from_texts

TEXTS = ["red fish, blue fish", "one red bird and the blue bird", "", "Fish don't sing"]
WORDS = ("bird", "blue", "fish", "red", "sing")
WORD_LIST = [f"w{n}x" for n in range(200)]
TABLE = [[0, 1, 2, 1, 0], [2, 1, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 1]]


def words_of(corpus):
    return corpus.layout.word_names


def table_of(corpus):
    return corpus.to_csr().toarray().tolist()


def is_example(corpus):
    return words_of(corpus) == WORDS and table_of(corpus) == TABLE


def fails(match, function, *arguments, error=InputError, **options):
    with pytest.raises(error, match=match) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def reads_or_says_why(path, **options):
    message = ""
    try:
        read(path, **options)
    except DiscanError as error:
        message = str(error)
    assert "\n" not in message


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "texts"
    (root / "b").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("hidden")
    (root / ".DS_Store").write_bytes(b"\0\0")
    for name, text in zip(("a.txt", "b/1.txt", "b/2.txt", "c"), TEXTS, strict=True):
        (root / name).write_text(text, "utf-8")
    return root


# ---- tokens ----


def test_words():
    corpus = corpus_from_texts(TEXTS)
    assert is_example(corpus)
    assert corpus.words.dtype == corpus.counts.dtype == np.int32
    assert corpus.indptr.dtype == np.int64
    assert corpus.document_names is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Straße ÉCOLE naïve", "naïve straße école"),
        ("e\u0301cole école", "école"),  # composed and not
        ("हिन्दी में", "में हिन्दी"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("O’Neill o'neill's 'quoted' x86 1993 3.14 _bold_", "bold o'neill quoted x86"),
        ("we're don't isn't CAN'T you've", ""),
        ("a''b''cc dogs' l'amour", "cc dogs l'amour"),
        ("ab\u2028cd\x1fef\x00gh", "ab cd ef gh"),
    ],
)
def test_tokens(text, expected):
    corpus = corpus_from_texts([text, "anchor"])
    assert set(words_of(corpus)) == {*expected.split(" "), "anchor"} - {""}


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="aBs'_9 -.", max_size=30))
def test_fast_way_and_unicode_way_agree(text):
    def words(sample):
        normal = text_module._Normal(TextOptions(stop_words="none"))
        return [w for w in (normal.of(t) for t in text_module._find_lower(sample)) if w]

    assert words(text) == words(text + " \u00b7")


def test_same_as_scikit_learn():
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"w{chr(97 + n % 26)}{n}" for n in range(300)] + ["the", "and"])
    texts = [" ".join(rng.choice(vocabulary, n)) for n in rng.integers(0, 80, 200)]
    theirs = CountVectorizer(stop_words="english", min_df=3, max_df=0.2, ngram_range=(1, 2))
    table = theirs.fit_transform(texts).toarray()
    ours = corpus_from_texts(texts, min_df=3, max_df=0.2, ngrams=(1, 2))
    assert words_of(ours) == tuple(theirs.get_feature_names_out())
    np.testing.assert_array_equal(ours.to_csr().toarray(), table)


def test_chunks_do_not_matter(monkeypatch):
    whole = corpus_from_texts(TEXTS * 10)
    monkeypatch.setattr(text_module, "_CHUNK", 3)
    pieces = corpus_from_texts(TEXTS * 10)
    for name in ("indptr", "words", "counts"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))


def test_large_counts():
    corpus = corpus_from_texts(["fish " * 70_000 + "bird"])
    assert table_of(corpus) == [[1, 70_000]]


# ---- options ----


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"stop_words": "none"}, "and bird blue don't fish one red sing the"),
        ({"stop_words": ["fish", "Blue"]}, "and bird don't one red sing the"),
        ({"lowercase": False}, "Fish bird blue fish red sing"),
        ({"min_df": 2}, "blue fish red"),
        ({"min_df": 0.5}, "blue fish red"),
        ({"max_df": 1}, "bird sing"),
        ({"max_df": 0.25}, "bird sing"),
        ({"max_words": 2}, "bird fish"),
        ({"token_pattern": r"[a-z]{4,5}", "stop_words": "none"}, "bird blue fish sing"),
        ({"token_pattern": r"(\w)\w*d\b"}, "r b"),
        ({"ngrams": (2, 2), "min_df": 1}, None),
        ({"vocabulary": ["sing", "fish"]}, "sing fish"),
    ],
)
def test_options(options, expected):
    words = words_of(corpus_from_texts(TEXTS, **options))
    if expected is None:
        expected = "bird blue,blue bird,blue fish,fish blue,fish sing,red bird,red fish"
        assert words == tuple(expected.split(","))
    elif options.get("vocabulary"):
        assert words == tuple(expected.split())
    else:
        assert set(words) == set(expected.split())
        assert words == tuple(sorted(words))


def test_default_frequencies_depend_on_size():
    texts = [f"word{n % 15} fish" for n in range(30)]
    assert len(words_of(corpus_from_texts(texts[:19]))) == 16
    words = words_of(corpus_from_texts([*texts, "once"]))
    assert "once" not in words  # in one document only
    assert "fish" not in words  # in more than half


def test_numbers():
    assert words_of(corpus_from_texts(["in 1984 x2"], numbers=True)) == ("1984", "x2")


def test_stop_words_from_a_file(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("\ufefffish\nred blue\n", "utf-8")
    assert "fish" not in words_of(corpus_from_texts(TEXTS, stop_words=path))
    assert "red" not in words_of(corpus_from_texts(TEXTS, stop_words=str(path)))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"min_df": 0}, "min_df=0"),
        ({"min_df": True}, "min_df=True"),
        ({"max_df": 1.5}, "max_df=1.5"),
        ({"max_df": float("nan")}, "max_df=nan"),
        ({"min_df": 3, "max_df": 2}, "lower min_df or raise max_df"),
        ({"min_df": 4, "max_df": 4}, "3 are in|lower min_df"),
        ({"max_words": 0}, "max_words=0"),
        ({"ngrams": (2, 1)}, "ngrams"),
        ({"ngrams": "12"}, "ngrams"),
        ({"token_pattern": "("}, "no regular expression"),
        ({"token_pattern": "(a)(b)"}, "2 groups"),
        ({"stop_words": "german"}, "'english', 'none' or a file"),
        ({"stop_words": 3}, "stop_words is a int"),
        ({"stop_words": [3]}, "no string"),
        ({"vocabulary": []}, "vocabulary is empty"),
        ({"vocabulary": ["a", "a"]}, "twice"),
        ({"vocabulary": ["a", ""]}, "empty"),
        ({"min_dff": 3}, "min_dff"),
    ],
)
def test_bad_options(options, match):
    fails(match, corpus_from_texts, TEXTS, **options)


def test_vocabulary_for_new_text(caplog):
    with caplog.at_level(logging.WARNING, "discan"):
        corpus = corpus_from_texts(["fish fish cat the 12", "dog", "the"], vocabulary=WORDS)
    assert words_of(corpus) == WORDS
    assert table_of(corpus) == [[0, 0, 2, 0, 0], [0] * 5, [0] * 5]
    assert [r.getMessage() for r in caplog.records] == [
        "texts: 2 of 4 words (50.0 %) are not in the vocabulary and were left out"
    ]


def test_bad_texts():
    fails("single string", corpus_from_texts, "abc")
    fails("text 1 is a bytes", corpus_from_texts, ["abc", b"abc"])
    fails(r"lone surrogate \\ud800", corpus_from_texts, ["ab \ud800"])
    fails("no documents", corpus_from_texts, [])
    fails("stop_words='none'", corpus_from_texts, ["", "the 12"])
    fails("2 names, expected 1", corpus_from_texts, ["abc"], document_names="ab")


def test_endless_words(caplog):
    with caplog.at_level(logging.WARNING, "discan"):
        corpus = corpus_from_texts(["x" * 10_000_000 + " fish " + "é" * 201, "y" * 200])
    assert words_of(corpus) == ("fish", "y" * 200)
    assert "2 words of more than 200 characters" in caplog.text
    assert len(caplog.records) == 1


# ---- folders ----


def test_folder(folder):
    corpus = read(folder)
    assert is_example(corpus)
    assert corpus.document_names == ("a.txt", "b/1.txt", "b/2.txt", "c")


def test_folder_passes_over_what_is_no_file(folder):
    os.symlink(folder, folder / "loop")
    os.mkfifo(folder / "pipe")
    os.symlink("/nowhere", folder / "broken")
    assert is_example(read(folder, format="folder"))


def test_folder_encodings(folder, caplog):
    (folder / "a.txt").write_bytes(b"\xef\xbb\xbf" + TEXTS[0].encode())
    (folder / "d").write_bytes("café".encode("latin-1"))
    with caplog.at_level(logging.WARNING, "discan"):
        assert "café" in words_of(read(folder))
    assert len(caplog.records) == 1
    assert "1 files are not UTF-8 and were read as Latin-1" in caplog.text
    assert "café" in words_of(read(folder, encoding="latin-1"))
    message = fails("set encoding='latin-1'", read, folder, encoding="utf-8")
    assert str(folder / "d") in message
    fails("encoding='klingon'", read, folder, encoding="klingon")
    fails("encoding='base64'", read, folder, encoding="base64")


def test_folder_utf16(tmp_path):
    (tmp_path / "a").write_bytes("red fish".encode("utf-16"))
    fails("encoding='utf-16'", read, tmp_path)
    assert words_of(read(tmp_path, encoding="utf-16")) == ("fish", "red")


def test_folder_of_compressed_files(folder):
    for name, packed in (("a.txt", gzip), ("c", bz2), ("b/1.txt", lzma)):
        (folder / name).write_bytes(packed.compress((folder / name).read_bytes()))
    assert is_example(read(folder))
    (folder / "c").write_bytes((folder / "c").read_bytes()[:-7])
    assert "c:" in fails("damaged", read, folder)


def test_folder_of_nonsense(folder, tmp_path):
    (folder / "z.bin").write_bytes(b"abc\0\xff\x00")
    assert str(folder / "z.bin") in fails("NUL", read, folder)
    assert len(read(folder, pattern="*.txt")) == 3
    fails("no files", read, folder, pattern="*.html")
    (tmp_path / "none").mkdir()
    fails("no files", read, tmp_path / "none")
    (tmp_path / "none" / "a").touch()
    fails("no word is left of 1 documents", read, tmp_path / "none")
    fails("not a folder", read, folder / "c", format="folder")
    fails("has no option", read, folder, min_dff=3)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_folder_without_permission(folder):
    (folder / "c").chmod(0)
    fails("cannot be read", read, folder)
    (folder / "b").chmod(0)
    fails("cannot be listed", read, folder, error=StorageError)
    (folder / "b").chmod(0o700)


def test_file_names_of_any_bytes(folder):
    (folder / os.fsdecode(b"z\xff\n\x1b.txt")).write_text("fish")
    names = read(folder).document_names
    assert names[-1] == "z\ufffd\ufffd\ufffd.txt"


def test_folder_of_another_reader(folder):
    base.READERS["test"] = base.Reader("test", "", (), lambda s, _: s.is_folder, read)
    try:
        assert base.guess(base.Source(folder)) == "test"
    finally:
        del base.READERS["test"]


# ---- archives ----


def tar_of(folder, path, mode="w"):
    with tarfile.open(path, mode) as archive:
        archive.add(folder, ".")
    return path


@pytest.mark.parametrize(("ending", "mode"), [("tar", "w"), ("tar.gz", "w:gz"), ("tgz", "w:gz")])
def test_tar(folder, tmp_path, ending, mode):
    os.symlink("a.txt", folder / "link")
    corpus = read(tar_of(folder, tmp_path / f"x.{ending}", mode))
    names = list(corpus.document_names)
    assert sorted(names) == ["a.txt", "b/1.txt", "b/2.txt", "c"]
    assert is_example(corpus.select([names.index(name) for name in sorted(names)]))


def test_zip(folder, tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in zip(("../a", "/b", "c/c", "c/c"), TEXTS, strict=True):
            with warnings.catch_warnings(action="ignore"):
                archive.writestr(name, text)
        archive.writestr("__MACOSX/._c", b"\0")
        archive.writestr("c/.hidden", b"\0")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    before = sorted(tmp_path.rglob("*"))
    corpus = read(path)
    assert is_example(corpus)
    assert corpus.document_names == ("../a", "/b", "c/c", "c/c")
    assert sorted(tmp_path.rglob("*")) == before


def test_bombs(tmp_path):
    small = {"max_unpacked": 10_000, "error": LimitError}
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in "abc":
            archive.writestr(name, "fish " * 20_000)
    fails("unpacks to more", read, path, **small)
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("a")
        member.size = 500_000
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    fails("unpacks to more", read, tmp_path / "x.tar.gz", **small)
    (tmp_path / "y.txt.gz").write_bytes(gzip.compress(b"fish\n" * 100_000, mtime=0))
    fails("unpacks to more", read, tmp_path / "y.txt.gz", **small)
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "y").write_bytes(b"fish " * 3000)
    fails("split it", read, tmp_path / "f", **small)


def test_damaged_archives(folder, tmp_path):
    packed = tar_of(folder, tmp_path / "x.tar.gz", "w:gz").read_bytes()
    plain = gzip.decompress(packed)
    broken = tmp_path / "broken.tar"
    bad = bytearray(plain)
    start = plain.index(b"./b/1.txt")
    bad[start + 150] ^= 0xFF  # the checksum of a header in the middle
    for content in (packed[:-20], packed[: len(packed) // 2], plain[:700], bytes(bad), b"no tar"):
        broken.write_bytes(content)
        fails("damaged", read, broken)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", "red fish")
    content = (tmp_path / "x.zip").read_bytes()
    for bad_content in (content.replace(b"red fish", b"red bird", 1), content[:-10], b"PK\x03\x04"):
        (tmp_path / "x.zip").write_bytes(bad_content)
        fails("damaged", read, tmp_path / "x.zip")
    encrypted = bytearray(content)
    encrypted[6] |= 1
    encrypted[content.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x.zip").write_bytes(encrypted)
    fails("encrypted", read, tmp_path / "x.zip")
    tar_of(tmp_path / "x.tar.gz", tmp_path / "nested.tar")
    fails("no files", read, tmp_path / "nested.tar", pattern="*.txt")


def test_archive_in_an_archive(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.gz", gzip.compress(b"fish", mtime=0))
    fails("member 'a.gz': compressed inside", read, tmp_path / "x.zip")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_archives_with_wrong_bytes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("x") / "x"
    texts = {"a": b"red fish", "b": b"blue fish " * 100}
    if data.draw(st.booleans()):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
    else:
        with tarfile.open(path, "w:gz" if data.draw(st.booleans()) else "w") as archive:
            for name, text in texts.items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    reads_or_says_why(path, format="archive")


# ---- lines ----


@pytest.mark.parametrize("packed", [None, gzip, bz2, lzma])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines(tmp_path, packed, end):
    content = ("\ufeff" + end.join(TEXTS) + end).encode()
    path = tmp_path / "x.txt"
    path.write_bytes(packed.compress(content) if packed else content)
    assert is_example(read(path))
    assert is_example(read(path, format="lines"))


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
def test_bad_lines(tmp_path, content, match):
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    assert str(path) in fails(match, read, path, format="lines")


def test_guesses(tmp_path):
    def guess(name, content):
        (tmp_path / name).write_text(content)
        return base.guess(base.Source(tmp_path / name))

    assert guess("a.txt", "red fish\nblue fish\n") == "lines"
    assert guess("docword.a.txt", "2\n3\n2\n1 1 2\n2 3 1\n") == "uci"
    assert guess("a.jsonl", '{"text": "a"}\n') == "jsonl"
    assert guess("a.unknown", '{"text": "a"}\n{"text": "a"}\n') == "jsonl"
    assert guess("a.mallet", "1 en red fish\n") == "mallet"


# ---- JSON lines ----


def test_jsonl(tmp_path):
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
        ('{"body": 1, "id": 2}', "no field 'text'; there are 'body', 'id'; say which with field="),
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
def test_bad_jsonl(tmp_path, line, match):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "red fish"}\n' + line + "\n")
    assert f"{path}, line 2: " in fails(match, read, path)


def test_bad_jsonl_names(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "red fish", "id": [1]}\n')
    fails(
        "no field 'key'; there are 'text', 'id'; say which with id_field",
        read,
        path,
        id_field="key",
    )
    fails("no name", read, path, id_field="id")
    path.write_text("\n")
    fails("empty", read, path, format="jsonl")


# ---- MALLET ----


def test_mallet(tmp_path):
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
    assert table_of(corpus) == [[2, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0]]
    path.write_text("d1 zoo fish\nd2\n")
    fails("line 2: only 'd2'", read, path)


# ---- fields ----

RECORDS = [
    {"id": "x", "title": "Red fish", "body": 'A red "fish",\nred', "tags": "zoo"},
    {"id": "y", "title": "Birds", "body": "", "tags": "zoo pond"},
]


def check_fields(corpus):
    assert corpus.layout.group_names == ("tags", "title")
    assert words_of(corpus) == ("tags:pond", "tags:zoo", "title:birds", "title:fish", "title:red")
    assert corpus.layout.group_of_word.tolist() == [0, 0, 1, 1, 1]
    assert table_of(corpus) == [[0, 1, 0, 1, 1], [1, 1, 1, 0, 0]]
    assert corpus.document_names == ("x", "y")


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_fields_of_a_table(tmp_path, delimiter):
    path = tmp_path / "x.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, RECORDS[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(RECORDS)
    check_fields(read(path, format="fields", fields=("tags", "title"), id_field="id"))
    one = read(path, format="fields", fields="body")
    assert words_of(one) == ("fish", "red")
    assert table_of(one) == [[1, 2], [0, 0]]


def test_fields_of_json_lines(tmp_path):
    path = tmp_path / "x.jsonl"
    records = [dict(RECORDS[0]), {**RECORDS[1], "tags": ["zoo", "pond"]}]
    del records[1]["body"]
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    check_fields(read(path, format="fields", fields="tags,title", id_field="id"))
    corpus = read(path, format="fields", fields=("title", "body"))
    vocabulary = words_of(corpus)
    again = read(path, format="fields", fields=("title", "body"), vocabulary=vocabulary[::-1])
    assert words_of(again) == vocabulary[::-1]
    assert again.layout.group_of_word.tolist() == corpus.layout.group_of_word.tolist()[::-1]
    assert table_of(again) == [row[::-1] for row in table_of(corpus)]
    ask = {"format": "fields"}
    fails("say which fields.*'id', 'title'", read, path, **ask)
    fails("no document has a field 'nose'", read, path, fields=("title", "nose"), **ask)
    fails("line 1: no field 'nose'", read, path, fields="nose", **ask)
    fails("each one once", read, path, fields=("title", "title"), **ask)
    fails("does not start with a field", read, path, fields="title,body", vocabulary=["a"], **ask)
    fails(
        "field 'body' has no word left",
        read,
        path,
        fields="title,body",
        vocabulary=["title:a"],
        **ask,
    )


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "empty"),
        ("a,b\n", "empty"),
        ("a,b\n1,2\n1\n", "line 3: 1 columns where the first line has 2"),
        ('a,b\n"x,2\n1,2\n', "correct the quotes"),
        ("a,a\n1,2\n", "two columns are named 'a'"),
        ("a,b\nfish,\0\n", "line 2: holds a NUL"),
        ("x,y\nfish,bird\n", "line 2: no field 'a'; there are 'x', 'y'"),
    ],
)
def test_bad_tables(tmp_path, content, match):
    path = tmp_path / "x.csv"
    path.write_text(content)
    limit = csv.field_size_limit()
    fails(match, read, path, format="fields", fields="a")
    assert csv.field_size_limit() == limit


def test_long_cell(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "fish " * 100_000 + ",2\n")
    assert table_of(read(path, format="fields", fields="a")) == [[100_000]]


# ---- anything at all ----


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["lines", "jsonl", "mallet", "fields", "archive"]))
def test_any_bytes(tmp_path_factory, content, format):
    path = tmp_path_factory.mktemp("x") / "x"
    path.write_bytes(content)
    options = {"fields": ("a", "b")} if format == "fields" else {}
    reads_or_says_why(path, format=format, **options)


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


def test_one_text_for_each_field():
    counts = TextCounts(fields=("a", "b"))
    with pytest.raises(ValueError, match="zip"):
        counts.add("one text for two fields")
