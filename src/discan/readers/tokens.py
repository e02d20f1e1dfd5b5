# SPDX-License-Identifier: BSD-3-Clause
"""Split texts into words: options, tokens, stop words and lists of words."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from discan.data.regular import read_text
from discan.errors import DiscanError, InputError, LimitError, StorageError
from discan.readers.stop_words import english_stop_words

__all__ = [
    "LONGEST_WORD",
    "TextOptions",
    "WordForms",
    "find_surrogate",
    "finder",
    "inside_characters",
    "read_frequency",
    "read_ngrams",
    "word_list",
]

LONGEST_WORD = 200
"""Characters; longer "words" are dropped, because they are encoded data and not language."""


_LETTER = re.compile(r"[^\W\d_]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENDINGS = frozenset(("t", "re", "ve", "ll", "d", "m"))
_STEMS = frozenset(("did", "does", "don", "won", "ain", "shan", "need", "might"))

Words = str | os.PathLike[str] | Iterable[str] | None


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How to turn text into words, and which words to keep; each field says what it does."""

    lowercase: Annotated[bool, 'Whether "Word" and "word" are the same.'] = True
    stop_words: Annotated[
        Words,
        "Words to leave out: 'english', 'none', a list of words, or the path of a file of words. "
        "'english' is scikit-learn's list with its contractions (\"don't\", \"we're\").",
    ] = "english"
    numbers: Annotated[bool, 'Whether to keep words that hold no letter ("1993").'] = False
    min_df: Annotated[
        float | None,
        "Drop words in fewer documents: a number of documents (int) or a share (float up to 1). "
        "By default 2, or 1 below 20 documents.",
    ] = None
    max_df: Annotated[
        float | None,
        "Drop words in more documents: a number of documents (int) or a share (float up to 1). "
        "By default 0.5, or 1.0 below 20 documents.",
    ] = None
    max_words: Annotated[int | None, "Keep at most this many words, the most frequent."] = None
    token_pattern: Annotated[
        str | None,
        "Regular expression of a word, with at most one group in parentheses. By default words "
        "are runs of two or more letters (with their accents and vowel signs), digits and "
        'underscores. An apostrophe inside is part of the word, but not the "\'s" at an end.',
    ] = None
    ngrams: Annotated[
        int | Sequence[int],
        "Fewest and most words to join into one; an int n means (1, n). Words left out by "
        "stop_words and numbers are removed before.",
    ] = (1, 1)
    vocabulary: Annotated[
        Words,
        "Keep these words and no others, in this order, whatever their frequency: a list of "
        "words, or the path of a file with one word per line.",
    ] = None
    html: Annotated[
        bool | None,
        "Whether texts are HTML, whose tags, scripts and entities are no words; told for each text "
        "if not given.",
    ] = None
    excerpt: Annotated[
        int,
        "Keep the first so many characters of each text as metadata, so that pages can show them.",
    ] = 0

    @classmethod
    def of(cls, options: dict[str, Any]) -> TextOptions:
        """Make options of keyword arguments; an unknown name is an InputError."""
        for name in options:
            if name not in cls.__dataclass_fields__:
                names = ", ".join(cls.__dataclass_fields__)
                raise InputError(f"no such option: {name!r}; use some of {names}")
        return cls(**options)


class WordForms(dict[str, str]):
    """Map a token to its proper form, or to an empty string if the token is to be left out."""

    def __init__(self, options: TextOptions) -> None:
        super().__init__()
        self.n_too_long = 0
        self._is_default = options.token_pattern is None
        self._keeps_numbers = options.numbers
        self._stop_words = _read_stop_words(options.stop_words)
        english = isinstance(options.stop_words, str) and options.stop_words == "english"
        self._stems = self._stop_words | _STEMS if english else frozenset()

    def __missing__(self, token: str) -> str:
        """Remember the proper form of a new token."""
        word = self[token] = self.of(token)
        return word

    def of_plain(self, token: str) -> str:
        """Return the form of a token in lower case, of letters and digits, with a letter in it."""
        return "" if len(token) < 2 or token in self._stop_words else token

    def of(self, token: str) -> str:
        """Return the proper form of a token without remembering it."""
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


def finder(options: TextOptions) -> Callable[[str], list[str]]:
    """Return the function that finds the tokens of a text."""
    given = options.token_pattern
    if given is None:
        return _default_finder(options.lowercase)
    try:
        pattern = re.compile(given)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        problem = f"{{}} is no regular expression: {error}"
        raise InputError(problem, argument="token_pattern", value=given) from None
    if pattern.groups > 1:
        problem = f"{{}} has {pattern.groups} groups; use (?:...) for all but one"
        raise InputError(problem, argument="token_pattern", value=given)

    def find(text: str) -> list[str]:
        return list(filter(None, pattern.findall(text.lower() if options.lowercase else text)))

    return find


def find_surrogate(text: str) -> str:
    """Return the first lone surrogate, escaped, or an empty string when there is none."""
    if text.isascii():
        return ""
    found = _SURROGATE.search(text)
    return ascii(found.group())[1:-1] if found else ""


def read_ngrams(given: Any) -> tuple[int, int]:
    """Return the fewest and the most words to join."""
    pair = (1, given) if isinstance(given, int) else given
    if isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(n, int) for n in pair):
        shortest, longest = pair
        if 1 <= shortest <= longest <= 10:
            return int(shortest), int(longest)
    problem = "{} must be two numbers of words from 1 to 10, such as (1, 2)"
    raise InputError(problem, argument="ngrams", value=given)


def read_frequency(what: str, given: Any) -> int | float | None:
    """Return a number of documents (int) or a share of them (float)."""
    if given is None:
        return None
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 1:
        return int(given)
    if isinstance(given, float | np.floating):
        if 0.0 <= given <= 1.0:
            return float(given)
        if given > 1.0 and float(given).is_integer():
            return int(given)
    problem = "{} must be a whole number of documents from 1, or a share from 0.0 to 1.0"
    raise InputError(problem, argument=what, value=given)


def word_list(given: Any, what: str, others: str) -> list[str]:
    """Return the words of a list, or the lines of a file; ``others`` says what else there is."""
    if isinstance(given, str | os.PathLike):
        return _word_file(Path(given), what, others)
    try:
        words: list[str] = list(given)
    except TypeError:
        raise InputError(f"{what} is a {type(given).__name__}; use {others} or a file") from None
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"{what} holds {word!r:.80}, which is no string; pass strings")
    return words


def _word_file(path: Path, what: str, others: str) -> list[str]:
    try:
        return read_text(path, what).splitlines()
    except LimitError:
        raise
    except DiscanError as error:
        reason = "no such file" if isinstance(error, StorageError) else "not UTF-8"
        problem = f"{{}} cannot be read ({reason}); use {others} or a file of words"
        raise InputError(problem, argument=what, value=str(path)) from None


def _read_stop_words(given: Words) -> frozenset[str]:
    if given is None or (isinstance(given, str) and given == "none"):
        return frozenset()
    if isinstance(given, str) and given == "english":
        return english_stop_words()
    words = word_list(given, "stop_words", "'english', 'none'")
    return frozenset(part.lower() for word in words for part in word.split())


# ---- tokens ----


def _default_finder(lowercase: bool) -> Callable[[str], list[str]]:
    characters = (chr(code) for code in range(128))
    kept = "".join(c if c.isalnum() or c in "_'" else " " for c in characters)
    ascii_table = kept.lower() if lowercase else kept

    def find(text: str) -> list[str]:
        if text.isascii():  # splitting is several times as fast as matching, and gives the same
            return text.translate(ascii_table).replace("''", " ").split()
        text = (text.lower() if lowercase else text).replace("\u2019", "'")
        return _unicode_word().findall(unicodedata.normalize("NFC", text))

    return find


def inside_characters() -> str:
    """Return the characters that belong to a word but do not begin one."""
    marks = [chr(c) for c in range(0x10000) if unicodedata.category(chr(c)) in ("Mn", "Mc")]
    return "".join([*marks, "\u200c\u200d"])


@cache
def _unicode_word() -> re.Pattern[str]:
    # `re` does not count accents and vowel signs after a letter as letters, but they belong to
    # the word, as do the joiners of Persian and Indic scripts. Only the first plane of Unicode
    # is listed, because `re` is slow beyond it.
    inside = inside_characters()
    return re.compile(rf"\w[\w{inside}]*(?:'\w[\w{inside}]*)*")
