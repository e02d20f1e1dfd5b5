# SPDX-License-Identifier: BSD-3-Clause
"""Count words as `TextCounts` does, by a compiled tokeniser of bytes.

A document goes the way of `TextCounts` if it holds a character that has to be composed or reordered
(NFC), or whose lower case has several characters or depends on its place. So both ways give the
same words. What a token becomes is decided once for each distinct token.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from discan.kernels.tokens import (
    APOSTROPHE,
    HAS_LETTER,
    INSIDE,
    IS_COMPOUND,
    IS_LETTER,
    NON_STARTER,
    ODD,
    WORD,
    collect_words,
    find_tokens,
    rehash,
)
from discan.readers.text_parts import Counted, excerpt_of
from discan.readers.tokens import (
    LONGEST_WORD,
    TextOptions,
    WordForms,
    finder,
    inside_characters,
)
from discan.typing import Array

__all__ = ["ByteCounts", "character_classes", "is_covered"]

_BEYOND = 0x32400  # characters from here on are odd; few are assigned
_FINAL_SIGMA = 0x3A3
_BATCH = 2**22  # characters
_JAMO = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))  # they join with the one before


def is_covered(options: TextOptions, fields: Sequence[str]) -> bool:
    """Tell whether texts can be counted here: one text per document, usual words, none joined."""
    plain = options.token_pattern is None and options.vocabulary is None
    return plain and not fields and options.ngrams in (1, (1, 1), [1, 1])


class ByteCounts:
    """Count words document by document; the counterpart of `TextCounts`.

    Parameters
    ----------
    options : TextOptions
        Those that `is_covered` accepts.
    """

    def __init__(self, options: TextOptions) -> None:
        self._options = options
        self._find = finder(options)
        self._forms = WordForms(options)
        self._classes, self._lowered = character_classes(options.lowercase)
        self._table = np.zeros(2**16, dtype=np.int32)
        self._hashes = np.zeros(2**15, dtype=np.uint64)
        self._ends = np.zeros(2**15, dtype=np.int64)
        self._flags = np.zeros(2**15, dtype=np.uint8)
        self._seen = np.zeros(2**15, dtype=np.int32)
        self._tokens = np.zeros(2**20, dtype=np.uint8)
        self._sizes = np.zeros(3, dtype=np.int64)  # tokens, their bytes, entries of a batch
        self._documents: list[tuple[Array, Array]] = []  # where entries begin, and how many
        self._entries: list[tuple[Array, Array]] = []
        self._texts: list[str] = []
        self._held = 0
        self._n_entries = 0
        self._excerpts: list[str] | None = [] if options.excerpt else None

    def add(self, text: str) -> None:
        """Add the next document."""
        self._texts.append(text)
        self._held += len(text)
        if self._excerpts is not None:
            self._excerpts.append(excerpt_of((text,), self._options.excerpt))
        if self._held >= _BATCH:
            self._flush()

    def counted(self) -> Counted:
        """Return what was counted, as `TextCounts.counted` does."""
        self._flush()
        starts, lengths = map(np.concatenate, zip(*self._documents, strict=True))
        ids, counts = map(np.concatenate, zip(*self._entries, strict=True))
        self._entries.clear()
        n_tokens = int(self._sizes[0])
        totals = np.bincount(ids, weights=counts, minlength=n_tokens).astype(np.int64)
        words, numbers, n_too_long = self._words(totals)
        n = len(words)
        indptr = np.zeros(starts.size + 1, dtype=np.int64)
        out_words, out_counts = np.empty_like(ids), np.empty_like(counts)
        frequencies, sums = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        seen = np.zeros(n, dtype=np.int32)
        n_entries = collect_words(
            starts, lengths, ids, counts, numbers,
            seen, indptr, out_words, out_counts, frequencies, sums,
        )  # fmt: skip
        return Counted(
            indptr=indptr,
            ids=out_words[:n_entries],
            counts=out_counts[:n_entries],
            words=words,
            fields=np.zeros(n, dtype=np.int32),
            frequencies=frequencies,
            totals=sums,
            excerpts=self._excerpts,
            n_too_long=n_too_long,
            n_unseen=0,
            n_tokens=int(sums.sum()),
        )

    # ---- documents ----

    def _flush(self) -> None:
        """Count the documents that are held."""
        texts, self._texts, self._held = self._texts, [], 0
        n = len(texts)
        starts, lengths = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        odd = self._count(encoded, np.arange(n), starts, lengths, as_is=False)
        if odd.size:
            tokens = ("\0".join(self._find(texts[d])) for d in odd.tolist())
            encoded = [text.encode("utf-8", "surrogatepass") for text in tokens]
            self._count(encoded, odd, starts, lengths, as_is=True)
        self._documents.append((starts, lengths))

    def _count(
        self, encoded: list[bytes], rows: Array, starts: Array, lengths: Array, as_is: bool
    ) -> Array:
        """Count texts, the documents ``rows`` of a batch; return those that are odd."""
        data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        sizes = np.array([len(text) for text in encoded], dtype=np.int64)
        ends = np.cumsum(sizes)
        n = len(encoded)
        own_starts, own_lengths = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        odd = np.zeros(n, dtype=bool)
        most = int(data.size // 2 + n)
        ids, counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        self._sizes[2] = 0
        first = 0
        while True:
            first = find_tokens(
                data, ends, np.int64(first), self._classes, self._lowered, as_is,
                self._table, self._hashes, self._ends, self._tokens, self._flags, self._seen,
                self._sizes, ids, counts, own_starts, own_lengths, odd,
            )  # fmt: skip
            if first >= n:
                break
            self._grow(int(sizes[first]))
        kept = rows[~odd]
        starts[kept], lengths[kept] = own_starts[~odd] + self._n_entries, own_lengths[~odd]
        n_entries = int(self._sizes[2])
        self._entries.append((ids[:n_entries].copy(), counts[:n_entries].copy()))
        self._n_entries += n_entries
        return rows[odd]

    def _grow(self, n_bytes: int) -> None:
        """Make space for the tokens of a document of so many bytes."""
        n_tokens, n_used = int(self._sizes[0]), int(self._sizes[1])
        wanted = 2 * (n_tokens + n_bytes // 2 + 1)
        if 2 * wanted > self._table.size:
            size = 2 ** int(2 * wanted - 1).bit_length()
            self._table = np.zeros(size, dtype=np.int32)
            rehash(self._hashes, np.int64(n_tokens), self._table)
            for name in ("_hashes", "_ends", "_flags", "_seen"):
                setattr(self, name, _longer(getattr(self, name), size // 2))
        if n_used + 2 * n_bytes + 256 > self._tokens.size:
            self._tokens = _longer(self._tokens, 2 * (n_used + 2 * n_bytes + 256))

    # ---- words ----

    def _words(self, totals: Array) -> tuple[list[str], Array, int]:
        """Return the words in alphabetical order, the word of each token, and how many are long."""
        n_tokens, n_bytes = self._sizes[:2].tolist()
        whole = self._tokens[:n_bytes].tobytes()
        limits = [0, *self._ends[:n_tokens].tolist()]
        flags = self._flags[:n_tokens]
        plain = (flags & (HAS_LETTER | IS_COMPOUND)) == HAS_LETTER
        if not self._options.lowercase:
            plain[:] = False
        of, of_plain = self._forms.of, self._forms.of_plain
        forms: list[str] = []
        n_too_long = 0
        parts = zip(pairwise(limits), plain.tolist(), totals.tolist(), strict=True)
        for (begin, end), is_plain, total in parts:
            if not total:  # found only in documents that went the other way
                forms.append("")
                continue
            token = whole[begin:end].decode("utf-8", "surrogatepass")
            if len(token) > LONGEST_WORD:
                n_too_long += total
            forms.append(of_plain(token) if is_plain else of(token))
        words = sorted(set(forms) - {""})
        place: dict[str, int] = {word: n for n, word in enumerate(words)}
        place[""] = -1
        numbers = np.fromiter(map(place.__getitem__, forms), dtype=np.int32, count=n_tokens)
        return words, numbers, n_too_long


def _longer(array: Array, size: int) -> Array:
    result = np.zeros(size, dtype=array.dtype)
    result[: array.size] = array
    return result


@cache
def character_classes(lowercase: bool) -> tuple[Array, Array]:
    """Return what each character is, (C,) uint8, and what it is written as, (C,) int32."""
    characters = [chr(code) for code in range(_BEYOND)]
    inside = frozenset(inside_characters())
    joining = _joining()
    classes = np.zeros(_BEYOND, dtype=np.uint8)
    lowered = np.arange(_BEYOND, dtype=np.int32)
    for code, character in enumerate(characters):
        low = character.lower() if lowercase else character
        if len(low) != 1 or (lowercase and code == _FINAL_SIGMA):
            classes[code] = ODD
            continue
        lowered[code] = ord(low)
        if low in joining or unicodedata.normalize("NFC", low) != low:
            classes[code] = ODD
            continue
        kind = 0
        if low in "'’":
            kind, lowered[code] = APOSTROPHE, ord("'")
        elif low.isalnum() or low == "_":
            kind = WORD
        elif low in inside:
            kind = INSIDE
        if kind == WORD and not low.isdecimal() and low != "_":
            kind |= IS_LETTER
        if unicodedata.combining(low):
            kind |= NON_STARTER
        classes[code] = kind
    return classes, lowered


@cache
def _joining() -> frozenset[str]:
    """Return the characters that may be composed with one before them."""
    found: set[str] = {chr(code) for codes in _JAMO for code in codes}
    for code in range(_BEYOND):
        parts: Any = unicodedata.decomposition(chr(code))
        if parts and not parts.startswith("<"):
            found.update(chr(int(part, 16)) for part in parts.split()[1:])
    return frozenset(found)
