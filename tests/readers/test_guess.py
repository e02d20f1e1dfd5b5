# SPDX-License-Identifier: BSD-3-Clause
"""The format is guessed by ending and content, and every reader says which options it takes."""

import pytest

from discan.readers import READERS, Reader, Source, guess, read


def test_options_tell_the_reader_of_a_table(tmp_path, write):
    path = write(tmp_path / "x.csv", "id,q1,q2\n" + "".join(f"p{i},{i % 3},x\n" for i in range(30)))
    assert guess(Source(path)) == "categorical"
    assert guess(Source(path), ["field", "stop_words"]) == "texts"
    assert guess(Source(path), ["fields"]) == "fields"
    assert guess(Source(path), ["nosuch"]) == "categorical"
    counts = write(tmp_path / "y.csv", "a,b\n" + "0,12\n13,0\n" * 20)
    assert guess(Source(counts)) == "wide"
    assert guess(Source(counts), ["bins"]) == "categorical"


def test_folder_of_another_reader(tmp_path):
    READERS["test"] = Reader("test", "", (), lambda s: s.is_folder, read)
    try:
        assert guess(Source(tmp_path)) == "test"
    finally:
        del READERS["test"]


def test_a_folder_that_is_named_like_a_file(tmp_path):
    for name, format in (("a.discan", "discan"), ("a.jsonl", "folder")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "text").write_text("red fish")
        assert guess(Source(tmp_path / name)) == format


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.txt", "red fish\nblue fish\n", "lines"),
        ("docword.a.txt", "2\n3\n2\n1 1 2\n2 3 1\n", "uci"),
        ("a.jsonl", '{"text": "a"}\n', "jsonl"),
        ("a.unknown", '{"text": "a"}\n{"text": "a"}\n', "jsonl"),
        ("a.txt", '{"text": "a"}\n{"text": "a"}\n', "lines"),
        ("a.mallet", "1 en red fish\n", "mallet"),
    ],
)
def test_guesses(tmp_path, write, name, content, format):
    assert guess(Source(write(tmp_path / name, content))) == format


def test_guessing_and_reading_share_a_source(tmp_path, write):
    source = Source(write(tmp_path / "x.jsonl", '{"text": "red fish"}\n'), max_unpacked=2**20)
    format = guess(source)
    assert read(source, format).digest == read(source).digest == read(source.path).digest
    assert source.max_unpacked == 2**20


def test_a_corpus_knows_how_it_was_read(tmp_path, write):
    path = write(tmp_path / "x.txt", "red fish\nblue fish\n")
    corpus = read(path, ngrams=(1, 2))
    assert corpus.reading == {"format": "lines", "options": {"ngrams": [1, 2]}}
    assert corpus.nouns.component == "topic"
    stop_words = write(tmp_path / "stop", "red\n")
    corpus = read(path, "lines", stop_words=stop_words, numbers=True)
    options = {"stop_words": ["red"], "numbers": True}
    assert corpus.reading == {"format": "lines", "options": options}


def test_unknown_format(tmp_path, write, fails):
    message = fails(write(tmp_path / "x.txt", "red fish"), "format='csv' is not known", "csv")
    assert "use one of 'mtx'" in message


def test_unknown_option(tmp_path, write, fails):
    fails(write(tmp_path / "x.dat", "2 0:2 2:1\n0\n2 1:3 3:5\n"), "has no option", columns=3)
