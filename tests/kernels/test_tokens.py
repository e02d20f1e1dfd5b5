# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of the tokeniser equal their twins, and stop before an output is too small."""

import random

import numpy as np
import pytest

from discan.kernels import tokens as kernels
from discan.kernels.twins import tokens as twins

ALPHABET = "abZ09_'’ .éÉß\u0301\u0300\u200dक्षि中𝐚\n"
CLASSES = np.zeros(0x20000, dtype=np.uint8)
LOWERED = np.arange(0x20000, dtype=np.int32)
for character in ALPHABET:
    code = ord(character)
    if character in "'’":
        CLASSES[code], LOWERED[code] = kernels.APOSTROPHE, 39
    elif character.isalnum() or character == "_":
        CLASSES[code] = kernels.WORD | kernels.IS_LETTER * character.isalpha()
        LOWERED[code] = ord(character.lower())
    elif ord(character) > 128:
        CLASSES[code] = kernels.INSIDE | kernels.NON_STARTER * (character in "\u0301\u0300्")
CLASSES[ord("ß")] = kernels.ODD


def packed(texts):
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


class Outputs:
    """Arrays for so many tokens, bytes and entries."""

    def __init__(self, n_documents, n_tokens=2**12, n_bytes=2**16, n_entries=2**14):
        self.table = np.zeros(2 * n_tokens, dtype=np.int32)
        self.hashes = np.zeros(n_tokens, dtype=np.uint64)
        self.ends = np.zeros(n_tokens, dtype=np.int64)
        self.tokens = np.zeros(n_bytes, dtype=np.uint8)
        self.flags = np.zeros(n_tokens, dtype=np.uint8)
        self.seen = np.zeros(n_tokens, dtype=np.int32)
        self.sizes = np.zeros(3, dtype=np.int64)
        self.ids, self.counts = np.zeros((2, n_entries), dtype=np.int32)
        self.starts, self.lengths = np.zeros((2, n_documents), dtype=np.int64)
        self.odd = np.zeros(n_documents, dtype=bool)

    def all(self):
        return tuple(vars(self).values())

    def token(self, number):
        begin = self.ends[number - 1] if number else 0
        return self.tokens[begin : self.ends[number]].tobytes()

    def document(self, d):
        """Counts of the tokens of a document, None if it is odd."""
        if self.odd[d]:
            return None
        entries = range(self.starts[d], self.starts[d] + self.lengths[d])
        return {self.token(self.ids[t]): int(self.counts[t]) for t in entries}


def counted(tokens):
    return None if tokens is None else {token: tokens.count(token) for token in tokens}


def random_texts(seed, n=300):
    rng = random.Random(seed)
    return ["".join(rng.choices(ALPHABET, k=rng.randrange(30))) for _ in range(n)]


def test_tokens_equal_the_twins():
    texts = [
        *random_texts(0),
        "",
        "'",
        "a'",
        "'a",
        "a''b",
        "a'b'c",
        "a" * 190,
        "a" * 191,
        "\u0301a",
    ]
    arguments = (*packed(texts), np.int64(0), CLASSES, LOWERED, False)
    out = Outputs(len(texts))
    assert kernels.find_tokens(*arguments, *out.all()) == len(texts)
    expected = [counted(tokens) for tokens in twins.find_tokens(*arguments)]
    assert [out.document(d) for d in range(len(texts))] == expected
    assert 10 < sum(tokens is None for tokens in expected) < 250
    assert not out.seen.any()
    n_tokens = out.sizes[0]
    found = [out.token(n) for n in range(n_tokens)]
    assert len(set(found)) == n_tokens
    for token, flags in zip(found, out.flags, strict=False):
        text = token.decode()
        letters = any(c.isalpha() for c in text)
        assert flags == letters * kernels.HAS_LETTER + ("'" in text or "_" in text) * 2, text


def test_tokens_that_are_given():
    texts = ["a\0b\0a", "", "\0", "don't\0é\0don't\0"]
    arguments = (*packed(texts), np.int64(0), CLASSES, LOWERED, True)
    out = Outputs(len(texts))
    assert kernels.find_tokens(*arguments, *out.all()) == len(texts)
    expected = [counted(tokens) for tokens in twins.find_tokens(*arguments)]
    assert [out.document(d) for d in range(4)] == expected
    assert expected[3] == {b"don't": 2, "é".encode(): 1}


@pytest.mark.parametrize("sizes", [(2**6, 2**16, 2**14), (2**12, 500, 2**14), (2**12, 2**16, 40)])
def test_stops_before_an_output_is_too_small(sizes):
    """And goes on with larger ones, where it stopped."""
    texts = random_texts(1, 60)
    head = packed(texts)
    out = Outputs(len(texts), *sizes)
    first = kernels.find_tokens(*head, np.int64(0), CLASSES, LOWERED, False, *out.all())
    assert 0 < first < len(texts)
    more = Outputs(len(texts))
    for name, small in vars(out).items():
        if name not in ("table", "starts", "lengths", "odd"):
            getattr(more, name)[: small.size] = small
    more.starts, more.lengths, more.odd = out.starts, out.lengths, out.odd
    kernels.rehash(out.hashes, out.sizes[0], more.table)
    last = kernels.find_tokens(*head, np.int64(first), CLASSES, LOWERED, False, *more.all())
    assert last == len(texts)
    expected = twins.find_tokens(*head, 0, CLASSES, LOWERED, False)
    assert [more.document(d) for d in range(len(texts))] == [counted(t) for t in expected]


def test_words_equal_the_twins():
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 60, 50)
    starts = rng.permutation(50) * 60
    ids, counts = rng.integers(0, 90, (50 * 60)).astype(np.int32), rng.integers(1, 9, 3000)
    counts = counts.astype(np.int32)
    numbers = rng.integers(-1, 40, 90).astype(np.int32)
    arguments = (starts, lengths, ids, counts, numbers)
    indptr, words = np.zeros(51, dtype=np.int64), np.zeros(3000, dtype=np.int32)
    amounts, seen = np.zeros(3000, dtype=np.int32), np.zeros(40, dtype=np.int32)
    frequencies, totals = np.zeros((2, 40), dtype=np.int64)
    n = kernels.collect_words(*arguments, seen, indptr, words, amounts, frequencies, totals)
    found = (indptr, words[:n], amounts[:n], frequencies, totals)
    for one, other in zip(found, twins.collect_words(*arguments, 40), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not seen.any()
