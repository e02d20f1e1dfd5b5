# SPDX-License-Identifier: BSD-3-Clause
"""Texts become counts of words: tokens, options and choice of words."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from discan.errors import InputError
from discan.readers import tokens
from discan.readers import words as words_module
from discan.readers.tokens import TextOptions
from discan.readers.words import TextCounts, corpus_from_texts

TEXTS = ["red fish, blue fish", "one red bird and the blue bird", "", "Fish don't sing"]


WORDS = ("bird", "blue", "fish", "red", "sing")


TABLE = [[0, 1, 2, 1, 0], [2, 1, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 1]]


def words_of(corpus):
    return corpus.layout.word_names


def refuses(match, texts, **options):
    with pytest.raises(InputError, match=match) as caught:
        corpus_from_texts(texts, **options)
    assert "\n" not in str(caught.value)


def test_words(is_example):
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
        normal = tokens.WordForms(TextOptions(stop_words="none"))
        find = tokens.finder(TextOptions())
        return [w for w in (normal.of(t) for t in find(sample)) if w]

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
    monkeypatch.setattr(words_module, "_CHUNK", 3)
    pieces = corpus_from_texts(TEXTS * 10)
    for name in ("indptr", "words", "counts"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))


def test_large_counts(dense):
    corpus = corpus_from_texts(["fish " * 70_000 + "bird"])
    assert dense(corpus) == [[1, 70_000]]


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
    refuses(match, TEXTS, **options)


def test_vocabulary_for_new_text(caplog, dense):
    with caplog.at_level(logging.WARNING, "discan"):
        corpus = corpus_from_texts(["fish fish cat the 12", "dog", "the"], vocabulary=WORDS)
    assert words_of(corpus) == WORDS
    assert dense(corpus) == [[0, 0, 2, 0, 0], [0] * 5, [0] * 5]
    assert [r.getMessage() for r in caplog.records] == [
        "texts: 2 of 4 words (50.0 %) are not in the vocabulary and were left out"
    ]


def test_bad_texts():
    refuses("single string", "abc")
    refuses("text 1 is a bytes", ["abc", b"abc"])
    refuses(r"lone surrogate \\ud800", ["ab \ud800"])
    refuses("no documents", [])
    refuses("stop_words='none'", ["", "the 12"])
    refuses("2 names, expected 1", ["abc"], document_names="ab")


def test_endless_words(caplog):
    with caplog.at_level(logging.WARNING, "discan"):
        corpus = corpus_from_texts(["x" * 10_000_000 + " fish " + "é" * 201, "y" * 200])
    assert words_of(corpus) == ("fish", "y" * 200)
    assert "2 words of more than 200 characters" in caplog.text
    assert len(caplog.records) == 1


def test_one_text_for_each_field():
    counts = TextCounts(fields=("a", "b"))
    with pytest.raises(ValueError, match="zip"):
        counts.add("one text for two fields")


def test_excerpts():
    texts = ["one two\n\n  three  ", "", "word " * 100]
    corpus = corpus_from_texts(texts, excerpt=20)
    assert corpus.metadata["excerpt"].tolist() == ["one two\nthree", None, "word word word word…"]
    assert corpus_from_texts(texts).metadata == {}
    with pytest.raises(InputError, match="excerpt=-1"):
        corpus_from_texts(texts, excerpt=-1)
