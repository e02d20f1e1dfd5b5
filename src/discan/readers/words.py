# SPDX-License-Identifier: BSD-3-Clause
"""Turn texts into counts of words: tokens, stop words, document frequencies, vocabulary."""

from __future__ import annotations

import logging
import math
import os
import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from discan.data.corpus import Corpus, Layout
from discan.errors import InputError, LimitError
from discan.typing import Array

__all__ = ["LONGEST_WORD", "TextCounts", "TextOptions", "corpus_from_texts", "find_surrogate"]

log = logging.getLogger("discan")

LONGEST_WORD = 200
"""Characters; longer "words" are dropped, being encoded data rather than language."""

LARGEST_STOP_LIST = 2**26
"""Bytes of a file of stop words or of a vocabulary."""

FEW_DOCUMENTS = 20
"""Below it, no word is dropped for its document frequency unless asked for."""

_CHUNK = 2**16
_DROPPED = 0  # the number of every word that is left out; the others count from 1

_LETTER = re.compile(r"[^\W\d_]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENDINGS = frozenset(("t", "re", "ve", "ll", "d", "m"))
_STEMS = frozenset(("did", "does", "don", "won", "ain", "shan", "need", "might"))


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How to turn text into words, and which words to keep.

    Parameters
    ----------
    lowercase : bool
        Whether "Word" and "word" are the same.
    stop_words : "english", "none", path of a file of words, or list of words
        "english" is scikit-learn's list with its contractions ("don't", "we're").
    numbers : bool
        Whether to keep words without a letter in them ("1993").
    min_df, max_df : int or float, optional
        Drop words in fewer, or more, documents than this: a number of documents (int) or a share
        of them (float up to 1). By default 2 and 0.5, or 1 and 1.0 below 20 documents.
    max_words : int, optional
        Keep only so many words, the most frequent.
    token_pattern : str, optional
        Regular expression of a word, with at most one group in parentheses. By default words are
        runs of two or more letters (with their accents and vowel signs), digits and underscores;
        an apostrophe inside is part of the word, but not the "'s" at an end.
    ngrams : int or (int, int)
        Fewest and most words to join into one; an int n means (1, n). Words left out by
        `stop_words` and `numbers` are taken out first.
    vocabulary : list of words or path of a file, one a line, optional
        Keep these words and no others, in this order, whatever their frequency.
    """

    lowercase: bool = True
    stop_words: str | os.PathLike[str] | Iterable[str] | None = "english"
    numbers: bool = False
    min_df: float | None = None
    max_df: float | None = None
    max_words: int | None = None
    token_pattern: str | None = None
    ngrams: int | Sequence[int] = (1, 1)
    vocabulary: str | os.PathLike[str] | Iterable[str] | None = None


class TextCounts:
    """Count words document by document, then make a corpus of them.

    Parameters
    ----------
    options : TextOptions, optional
    fields : sequence of str
        Names of the parts of a document, each a group of words of its own. With two or more,
        words are named ``field:word``.
    whole : sequence of str
        Those fields whose text is one word as it stands, never dropped (a label).
    origin : str
        Where the texts come from, for messages.
    """

    def __init__(
        self,
        options: TextOptions | None = None,
        fields: Sequence[str] = (),
        whole: Sequence[str] = (),
        origin: str = "text",
    ) -> None:
        self.options = options or TextOptions()
        self.origin = origin
        self.fields = tuple(fields)
        self.n_documents = 0
        self._whole = tuple(name in whole for name in self.fields or ("",))
        self._ngrams = _read_ngrams(self.options.ngrams)
        self._find = _finder(self.options)
        self._min_df = _read_frequency(self.options.min_df, "min_df")
        self._max_df = _read_frequency(self.options.max_df, "max_df")
        if self.options.max_words is not None:
            _check_whole(self.options.max_words, "max_words")
        self._normal = _Normal(self.options)
        self._joins = self._ngrams != (1, 1)
        self._names = [""]  # of the word of each number; that of the words left out is 0
        self._field_of = array("i", [0])
        self._vocabulary = _read_vocabulary(self.options.vocabulary, self.fields)
        self._numbers = [
            # Words that are joined were made normal before.
            _Numbers(self._names, None if is_whole or self._joins else self._normal)
            for is_whole in self._whole
        ]
        for field, word in self._vocabulary or ():
            self._numbers[field].add(word)
            self._field_of.append(field)
        self._ids: list[int] = []
        self._lengths: list[int] = []
        self._chunks: list[_Chunk] = []

    def add(self, *texts: str) -> None:
        """Add the next document: its text, or one text for each field."""
        before = len(self._ids)
        parts = zip(texts, self._numbers, self._whole, strict=True)
        for field, (text, numbers, is_whole) in enumerate(parts):
            tokens = [text] if is_whole and text else self._find(text)
            if self._joins and not is_whole:
                tokens = self._joined(tokens)
            self._ids.extend(map(numbers.__getitem__, tokens))
            self._field_of.extend([field] * (len(self._names) - len(self._field_of)))
        self._lengths.append(len(self._ids) - before)
        self.n_documents += 1
        if len(self._ids) > _CHUNK:
            self._flush()

    def finish(self, document_names: Iterable[str] | None = None) -> Corpus:
        """Make the corpus: choose the words, put them in order, number them anew.

        Parameters
        ----------
        document_names : iterable of str, optional

        Returns
        -------
        Corpus, its words in alphabetical order inside each field, or in that of the vocabulary.
        The counter is spent afterwards.
        """
        self._flush()
        if self.n_documents == 0:
            raise InputError(f"{self.origin}: no documents; give it some text")
        if self._normal.n_too_long:
            log.warning(
                "%s: %d words of more than %d characters were left out",
                self.origin,
                self._normal.n_too_long,
                LONGEST_WORD,
            )
        self._normal.clear()
        for numbers in self._numbers:
            numbers.clear()  # the names are enough from here on
        names, groups, new_numbers, n_entries = self._choose()
        self._names.clear()  # the words that are left out go free
        words, counts, indptr = self._renumber(new_numbers, n_entries)
        layout = Layout(
            n_words=len(names),
            group_of_word=groups,
            n_groups=max(1, len(self.fields)),
            word_names=names,
            group_names=self.fields or None,
        )
        return Corpus.assemble(
            indptr=indptr,
            words=words,
            counts=counts,
            layout=layout,
            document_names=None if document_names is None else tuple(document_names),
        )

    # ---- a document ----

    def _joined(self, tokens: list[str]) -> list[str]:
        """Return runs of words; those left out are taken out first."""
        words = [word for word in map(self._normal.__getitem__, tokens) if word]
        shortest, longest = self._ngrams
        return [
            " ".join(words[start : start + size])
            for size in range(shortest, longest + 1)
            for start in range(len(words) - size + 1)
        ]

    def _flush(self) -> None:
        """Count what was collected, without the words left out, into NumPy arrays."""
        if not self._lengths:
            return
        ids = np.array(self._ids, dtype=np.int64)
        documents = np.repeat(np.arange(len(self._lengths)), self._lengths)
        kept = np.flatnonzero(ids != _DROPPED)
        n_ids = int(ids.max(initial=0)) + 1
        cells, counts = np.unique(documents[kept] * n_ids + ids[kept], return_counts=True)
        documents, ids = np.divmod(cells, n_ids)
        lengths = np.bincount(documents, minlength=len(self._lengths)).astype(np.int32)
        self._chunks.append(_Chunk(lengths, ids.astype(np.int32), counts.astype(_smallest(counts))))
        self._ids.clear()
        self._lengths.clear()

    # ---- all documents ----

    def _choose(self) -> tuple[tuple[str, ...], Array, Array, int]:
        """Choose the words to keep.

        Returns
        -------
        their names and groups, the new number of each old one or -1, and how many entries they have
        """
        n_ids = len(self._names)
        frequencies = np.zeros(n_ids, dtype=np.int64)
        totals = np.zeros(n_ids, dtype=np.int64)
        for chunk in self._chunks:
            frequencies += np.bincount(chunk.ids, minlength=n_ids)
            sums = np.bincount(chunk.ids, weights=chunk.counts, minlength=n_ids)
            totals += sums.astype(np.int64)
        if self._vocabulary is None:
            words, groups, numbers = self._select(frequencies, totals)
        else:
            words = [word for _, word in self._vocabulary]
            groups = np.array([field for field, _ in self._vocabulary], dtype=np.int32)
            numbers = np.arange(1, len(words) + 1)
            self._report_unseen(len(words), totals)
        for field, name in enumerate(self.fields):
            if not (groups == field).any():
                raise InputError(
                    f"{self.origin}: field {name!r} has no word left; leave the field out, or "
                    "relax min_df, max_df, max_words, stop_words or vocabulary"
                )
        if len(self.fields) > 1:
            starts = [f"{name}:" for name in self.fields]
            words = [starts[g] + word for g, word in zip(groups.tolist(), words, strict=True)]
        new_numbers = np.full(n_ids, -1, dtype=np.int32)
        new_numbers[numbers] = np.arange(numbers.size, dtype=np.int32)
        return tuple(words), groups, new_numbers, int(frequencies[numbers].sum())

    def _select(self, frequencies: Array, totals: Array) -> tuple[list[str], Array, Array]:
        """Choose by frequency; return words, fields and numbers, in order of field and word."""
        few = self.n_documents < FEW_DOCUMENTS
        lowest = _documents(1 if few else 2, self._min_df, self.n_documents, upwards=True)
        highest = _documents(1.0 if few else 0.5, self._max_df, self.n_documents, upwards=False)
        if lowest > highest:
            raise InputError(
                f"min_df asks for words of {lowest} documents or more and max_df for {highest} or "
                f"fewer, of {self.n_documents}; lower min_df or raise max_df"
            )
        good = (frequencies >= lowest) & (frequencies <= highest)
        field_of = np.array(self._field_of, dtype=np.int32)
        good |= np.array(self._whole)[field_of]
        good[_DROPPED] = False
        names = self._names
        numbers = np.flatnonzero(good)
        if numbers.size == 0:
            raise InputError(self._nothing_left(frequencies, lowest, highest))
        ordered = sorted(numbers.tolist(), key=names.__getitem__)
        if len(self.fields) > 1:
            ordered.sort(key=self._field_of.__getitem__)
        numbers = np.array(ordered)
        found = [names[number] for number in ordered], field_of[numbers], numbers
        if self.options.max_words is None:
            return found
        return self._most_frequent(*found, totals, self.options.max_words)

    def _most_frequent(
        self, words: list[str], fields: Array, numbers: Array, totals: Array, n_words: int
    ) -> tuple[list[str], Array, Array]:
        """Keep the most frequent words, and all of the fields that are never filtered."""
        counted = np.flatnonzero(~np.array(self._whole)[fields])
        order = np.argsort(-totals[numbers[counted]], kind="stable")
        kept = np.ones(numbers.size, dtype=bool)
        kept[counted[order[n_words:]]] = False
        words = [word for word, keep in zip(words, kept.tolist(), strict=True) if keep]
        return words, fields[kept], numbers[kept]

    def _nothing_left(self, frequencies: Array, lowest: int, highest: int) -> str:
        found = frequencies[frequencies > 0]
        start = f"{self.origin}: no word is left of {self.n_documents} documents"
        if found.size == 0:
            return (
                f"{start}; they are empty or hold only stop words and numbers: look at the file, "
                "or set stop_words='none' and numbers=True"
            )
        return (
            f"{start}: of {found.size} different words, {int((found < lowest).sum())} are in fewer "
            f"than {lowest} documents and {int((found > highest).sum())} in more than {highest}; "
            "lower min_df or raise max_df"
        )

    def _report_unseen(self, n_known: int, totals: Array) -> None:
        unseen, total = int(totals[n_known + 1 :].sum()), int(totals.sum())
        if unseen:
            log.warning(
                "%s: %d of %d words (%.1f %%) are not in the vocabulary and were left out",
                self.origin,
                unseen,
                total,
                100.0 * unseen / total,
            )

    def _renumber(self, new_numbers: Array, n_entries: int) -> tuple[Array, Array, Array]:
        """Give the words their new numbers, sorted inside each document; chunks are used up."""
        words = np.empty(n_entries, dtype=np.int32)
        counts = np.empty(n_entries, dtype=np.int32)
        indptr = np.zeros(self.n_documents + 1, dtype=np.int64)
        entry = document = 0
        self._chunks.reverse()
        while self._chunks:
            chunk = self._chunks.pop()
            numbers = new_numbers[chunk.ids]
            documents = np.repeat(np.arange(chunk.lengths.size), chunk.lengths)
            kept = np.flatnonzero(numbers >= 0)
            kept = kept[np.lexsort((numbers[kept], documents[kept]))]
            entries = slice(entry, entry + kept.size)
            words[entries] = numbers[kept]
            counts[entries] = chunk.counts[kept]
            lengths = np.bincount(documents[kept], minlength=chunk.lengths.size)
            stop = document + chunk.lengths.size
            np.cumsum(lengths, out=indptr[document + 1 : stop + 1])
            indptr[document + 1 : stop + 1] += entry
            entry, document = entries.stop, stop
        return words, counts, indptr


class _Normal(dict[str, str]):
    """Give the proper form of a token, or an empty string if it is to be left out."""

    def __init__(self, options: TextOptions) -> None:
        super().__init__()
        self.n_too_long = 0
        self._is_default = options.token_pattern is None
        self._keeps_numbers = options.numbers
        self._stop_words = _read_stop_words(options)
        english = isinstance(options.stop_words, str) and options.stop_words == "english"
        self._stems = self._stop_words | _STEMS if english else frozenset()

    def __missing__(self, token: str) -> str:
        word = self[token] = self.of(token)
        return word

    def of(self, token: str) -> str:
        if len(token) > LONGEST_WORD:
            self.n_too_long += 1
            return ""
        word = token
        if self._is_default:
            word = token.strip("'_")
            while word.endswith("'s"):
                word = word[:-2].rstrip("'_")
            if len(word) < 2:
                return ""
        if not (self._keeps_numbers or _LETTER.search(word)):
            return ""
        plain = word.lower()
        if plain in self._stop_words:
            return ""
        if self._stems and "'" in plain:
            stem, _, ending = plain.rpartition("'")
            if ending in _ENDINGS and (stem in self._stems or stem[:-1] in self._stems):
                return ""
        return word


class _Numbers(dict[str, int]):
    """Number words as they come; those left out get no number of their own."""

    def __init__(self, names: list[str], normal: _Normal | None) -> None:
        super().__init__()
        self._names, self._normal = names, normal

    def add(self, word: str) -> int:
        number = self[word] = len(self._names)
        self._names.append(word)
        return number

    def __missing__(self, token: str) -> int:
        word = token if self._normal is None else self._normal.of(token)
        if word == token:
            return self.add(word)
        number = (self.get(word) or self.add(word)) if word else _DROPPED
        if word or len(token) < 5 or (token.isalpha() and len(token) <= LONGEST_WORD):
            self[token] = number  # the others are long numbers, too many to remember
        return number


class _Chunk(NamedTuple):
    lengths: Array
    ids: Array
    counts: Array


def corpus_from_texts(
    texts: Iterable[str],
    *,
    document_names: Iterable[str] | None = None,
    **options: object,
) -> Corpus:
    """Count the words of texts in memory, one text a document.

    Parameters
    ----------
    texts : iterable of str
    document_names : iterable of str, optional
    **options
        Those of `TextOptions`: stop_words, min_df, max_df, ngrams, vocabulary and others.
    """
    if isinstance(texts, str):
        raise InputError("texts is a single string; pass a list of texts")
    counts = TextCounts(_read_options(options), origin="texts")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"text {number} is a {type(text).__name__}, not a string; decode or convert it"
            )
        if find_surrogate(text):
            raise InputError(
                f"text {number} holds a lone surrogate {find_surrogate(text)}, which is no "
                "character; decode it with errors='replace'"
            )
        counts.add(text)
    names = None if document_names is None else tuple(str(name) for name in document_names)
    if names is not None and len(names) != counts.n_documents:
        raise InputError(f"document_names holds {len(names)} names, expected {counts.n_documents}")
    return counts.finish(names)


def find_surrogate(text: str) -> str:
    """Return the first lone surrogate, escaped, or an empty string when there is none."""
    if text.isascii():
        return ""
    found = _SURROGATE.search(text)
    return ascii(found.group())[1:-1] if found else ""


# ---- options ----


def _read_options(options: dict[str, object]) -> TextOptions:
    try:
        return TextOptions(**options)  # type: ignore[arg-type]
    except TypeError as error:
        names = ", ".join(TextOptions.__dataclass_fields__)
        raise InputError(f"no such option: {error}; use some of {names}") from None


def _finder(options: TextOptions) -> Callable[[str], list[str]]:
    """Return the function that finds the words of a text."""
    if options.token_pattern is None:
        return _find_lower if options.lowercase else _find_plain
    try:
        pattern = re.compile(options.token_pattern)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise InputError(
            f"token_pattern={options.token_pattern!r} is no regular expression: {error}"
        ) from None
    if pattern.groups > 1:
        raise InputError(
            f"token_pattern={options.token_pattern!r} has {pattern.groups} groups; use (?:...) for "
            "all but one"
        )

    def find(text: str) -> list[str]:
        return list(filter(None, pattern.findall(text.lower() if options.lowercase else text)))

    return find


def _table(lowercase: bool) -> str:
    """Make a table for `str.translate` that leaves of ASCII only what words are made of."""
    characters = (chr(code) for code in range(128))
    kept = (c if c.isalnum() or c in "_'" else " " for c in characters)
    return "".join(c.lower() if lowercase else c for c in kept)


_PLAIN, _LOWER = _table(False), _table(True)


@cache
def _unicode_word() -> re.Pattern[str]:
    # Accents and vowel signs that follow a letter are no letters to `re`, yet belong to the word,
    # as do the joiners of Persian and Indic scripts. One plane only: `re` is slow beyond it.
    marks = [chr(c) for c in range(0x10000) if unicodedata.category(chr(c)) in ("Mn", "Mc")]
    inside = "".join([*marks, "\u200c\u200d"])
    return re.compile(rf"\w[\w{inside}]*(?:'\w[\w{inside}]*)*")


def _find_plain(text: str) -> list[str]:
    if text.isascii():  # to split is several times as fast as to match, and gives the same
        return text.translate(_PLAIN).replace("''", " ").split()
    text = unicodedata.normalize("NFC", text.replace("\u2019", "'"))
    return _unicode_word().findall(text)


def _find_lower(text: str) -> list[str]:
    if text.isascii():
        return text.translate(_LOWER).replace("''", " ").split()
    return _find_plain(text.lower())


def _read_stop_words(options: TextOptions) -> frozenset[str]:
    given = options.stop_words
    if given is None or (isinstance(given, str) and given == "none"):
        return frozenset()
    if isinstance(given, str) and given == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    words = _word_list(given, "stop_words", "'english', 'none'")
    return frozenset(part.lower() for word in words for part in word.split())


def _read_vocabulary(given: object, fields: tuple[str, ...]) -> list[tuple[int, str]] | None:
    """Return (field, word) of each word of a given vocabulary."""
    if given is None:
        return None
    found: dict[tuple[int, str], None] = {}
    for place, name in enumerate(_word_list(given, "vocabulary", "a list of words"), start=1):
        field, word = 0, name
        if len(fields) > 1:
            start, _, word = name.partition(":")
            if start not in fields:
                raise InputError(
                    f"word {place} of the vocabulary, {name[:80]!r}, does not start with a field; "
                    f"it must be one of {', '.join(fields)} and a colon"
                )
            field = fields.index(start)
        if not word:
            raise InputError(f"word {place} of the vocabulary is empty; remove it")
        if (field, word) in found:
            raise InputError(f"word {place} of the vocabulary, {name[:80]!r}, is there twice")
        found[field, word] = None
    if not found:
        raise InputError("the vocabulary is empty; give at least one word")
    return list(found)


def _word_list(given: object, what: str, others: str) -> list[str]:
    """Return the words of a list, or the lines of a file."""
    if isinstance(given, str | os.PathLike):
        return _word_file(Path(given), what, others)
    try:
        words: list[str] = list(given)  # type: ignore[call-overload]
    except TypeError:
        raise InputError(f"{what} is a {type(given).__name__}; use {others} or a file") from None
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"{what} holds {word!r:.80}, which is no string; pass strings")
    return words


def _word_file(path: Path, what: str, others: str) -> list[str]:
    try:
        if path.stat().st_size > LARGEST_STOP_LIST:
            raise LimitError(f"{path}: too large for {what}, above {LARGEST_STOP_LIST:,} bytes")
        return path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, LimitError):
            raise
        reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "no such file"
        raise InputError(
            f"{what}={str(path)[:200]!r} cannot be read ({reason}); use {others} or a file of words"
        ) from None


def _read_ngrams(given: object) -> tuple[int, int]:
    pair = (1, given) if isinstance(given, int) else given
    if isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(n, int) for n in pair):
        shortest, longest = pair
        if 1 <= shortest <= longest <= 10:
            return int(shortest), int(longest)
    raise InputError(f"ngrams={given!r} must be two numbers of words from 1 to 10, such as (1, 2)")


def _read_frequency(given: object, what: str) -> int | float | None:
    """Return a number of documents (int) or a share of them (float)."""
    if given is None:
        return None
    if isinstance(given, int | float | np.number) and not isinstance(given, bool):
        if isinstance(given, int | np.integer):
            if given >= 1:
                return int(given)
        elif 0.0 <= given <= 1.0:
            return float(given)
        elif given > 1.0 and float(given).is_integer():
            return int(given)
    raise InputError(
        f"{what}={given!r} must be a whole number of documents from 1, or a share from 0.0 to 1.0"
    )


def _documents(default: int | float, given: int | float | None, n: int, upwards: bool) -> int:
    """Return a limit of document frequency as a number of documents."""
    limit = default if given is None else given
    if isinstance(limit, int):
        return limit
    share = limit * n  # 0.1 * 30 is a little above 3
    return max(1, math.ceil(share - 1e-9) if upwards else math.floor(share + 1e-9))


def _check_whole(value: object, what: str) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"{what}={value!r} must be a whole number from 1")


def _smallest(counts: Array) -> type[np.unsignedinteger] | type[np.int32]:
    largest = int(counts.max(initial=0))
    return np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.int32
