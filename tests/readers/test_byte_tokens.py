# SPDX-License-Identifier: BSD-3-Clause
"""The compiled tokeniser finds the words of the one in Python, for every character."""

import random
import sys

import numpy as np
import pytest

import discan
from discan.kernels.tokens import ODD
from discan.readers import byte_tokens, chunks
from discan.readers.byte_tokens import ByteCounts, character_classes, is_covered
from discan.readers.tokens import TextOptions
from discan.readers.words import TextCounts


def assert_same_words(texts, **options):
    """Both ways count the same words of each document."""
    options = TextOptions(**options)
    found, expected = ByteCounts(options), TextCounts(options)
    for text in texts:
        found.add(text)
        expected.add(text)
    one, other = found.counted(), expected.counted()
    assert one.words == other.words
    for name in ("indptr", "ids", "counts", "fields", "frequencies", "totals"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b)
    assert one[7:] == other[7:]
    return one


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character(lowercase):
    """Alone, between letters, after a letter, before an apostrophe, and after a mark."""
    last = sys.maxunicode + 1 if lowercase else 0x3000
    codes = [c for c in range(last) if not 0xD800 <= c < 0xE000]
    if lowercase:  # nothing is assigned in most of the planes
        codes = [c for c in codes if c < 0x33000 or c % 97 == 0 or 0xE0000 <= c < 0xE0200]
    texts = [f"{c} a{c}b Q{c} {c}'s x\u093e{c}" for c in map(chr, codes)]
    assert_same_words(texts, lowercase=lowercase, stop_words=None, numbers=True)


def test_which_characters_go_the_other_way():
    classes, lowered = character_classes(True)
    assert np.flatnonzero((classes[:0x250] & 7) == ODD).tolist() == [ord("İ")]  # Latin
    for character in "\u0301Σ\u0340\u1f71\u1161\u11a8":
        assert classes[ord(character)] & 7 == ODD, character
    assert chr(lowered[ord("É")]) == "é"
    letters = [c for c in range(0x20000) if chr(c).isalpha()]
    odd = sum((classes[c] & 7) == ODD for c in letters)
    assert odd < 0.03 * len(letters)


def test_random_texts():
    alphabets = [
        "abcdefgh ' _ 0123 XYZ . ''",
        "aéÉñ’' ßǅﬁ\u0301\u0345 \u200c\u200d ΑΣσς İı",
        "कखगािी्ं १२ '’ ab",
        "אבגְּ שׁ العربية ١٢٣ \u0640\u064b",
        "中文字 かが カ゛ ﾊﾟ 한국어 ᄒ\u1161\u11a8 𝐚𝟎🙂\U000e0100",
        "ab\0\x1f\x85\u00a0\u2028\t\r\n-",
    ]
    rng = random.Random(0)
    texts = [
        "".join(rng.choices(rng.choice(alphabets), k=rng.randrange(60))) for _ in range(10_000)
    ]
    for options in ({}, {"stop_words": None, "numbers": True}, {"lowercase": False}):
        counted = assert_same_words(texts, **options)
        assert len(counted.words) > 1000


def test_long_words_and_texts():
    long = ["x" * n for n in (188, 189, 190, 191, 192, 199, 200, 201, 300)]
    texts = [*long, *(f"'{text}'" for text in long), "é" * 95 + " " + "é" * 200, "a b " * 10_000]
    texts += [" ".join(f"w{n}" for n in range(50_000)), "", "dog's DOG dog _dog_ 'dog'"]
    counted = assert_same_words(texts)
    assert counted.n_too_long > 3
    assert counted.words[-1].startswith("é")
    assert len(counted.words) > 50_000


def test_excerpts():
    counted = assert_same_words(["some words\n\n  here", "", "more"], excerpt=8)
    assert counted.excerpts == ["some…", "", "more"]


def test_many_batches(monkeypatch):
    monkeypatch.setattr(byte_tokens, "_BATCH", 50)
    rng = random.Random(3)
    texts = [" ".join(rng.choices(["ab", "cd", "ΣΑΣ", "e\u0301x"], k=9)) for _ in range(200)]
    assert_same_words(texts)


@pytest.mark.parametrize(
    ("options", "fields", "covered"),
    [
        ({}, (), True),
        ({"ngrams": 1, "lowercase": False, "excerpt": 9, "stop_words": ["a"]}, (), True),
        ({"ngrams": 2}, (), False),
        ({"ngrams": (2, 2)}, (), False),
        ({"token_pattern": r"\w"}, (), False),
        ({"vocabulary": ["a"]}, (), False),
        ({}, ("title", "text"), False),
    ],
)
def test_what_is_covered(options, fields, covered):
    assert is_covered(TextOptions(**options), fields) is covered


@pytest.mark.parametrize("threads", [1, 3])
def test_convert_uses_it(tmp_path, monkeypatch, threads):
    monkeypatch.setattr(chunks, "COMPILED_FROM", 1)
    used = []
    real = byte_tokens.ByteCounts.counted
    monkeypatch.setattr(
        byte_tokens.ByteCounts, "counted", lambda self: (used.append(1), real(self))[1]
    )
    rng = random.Random(3)
    words = ["alpha", "Beta's", "ΣΟΦΟΣ", "naïve", "e\u0301te\u0301", "the", "1993", "gamma"]
    lines = [" ".join(rng.choices(words, k=9)) for _ in range(120)]
    (tmp_path / "x.txt").write_text("\n".join(lines), "utf-8")
    corpus = discan.read(tmp_path / "x.txt", "lines", max_df=1.0)
    big = tmp_path / "big"
    manifest = discan.convert(
        tmp_path / "x.txt", big, "lines", chunk=500, threads=threads, max_df=1.0
    )
    assert manifest.digest == corpus.digest
    assert manifest.layout.word_names == corpus.layout.word_names
    assert len(used) > 5
