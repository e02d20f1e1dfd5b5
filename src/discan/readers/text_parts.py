# SPDX-License-Identifier: BSD-3-Clause
"""Parts that both counters of words share: what was counted, vocabularies, excerpts, remarks."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from discan.errors import InputError
from discan.readers.tokens import LONGEST_WORD, word_list
from discan.typing import Array

__all__ = ["Counted", "excerpt_of", "read_vocabulary", "report_left_out"]

log = logging.getLogger("discan")


class Counted(NamedTuple):
    """The words of some documents, before any is chosen.

    Attributes
    ----------
    indptr : (n + 1,) int64 array
    ids : (n_entries,) int32 array
        Number of a word, ascending inside each document.
    counts : (n_entries,) int32 array
    words : list of str
    fields : (W,) int32 array
        Number of the field of each word.
    frequencies, totals : (W,) int64 arrays
        In how many documents each word is, and how often.
    excerpts : list of str or None
    n_too_long, n_unseen, n_tokens : int
        Words that are too long, those that are not in the vocabulary, and all.
    """

    indptr: Array
    ids: Array
    counts: Array
    words: list[str]
    fields: Array
    frequencies: Array
    totals: Array
    excerpts: list[str] | None
    n_too_long: int
    n_unseen: int
    n_tokens: int


def report_left_out(origin: str, n_too_long: int, n_unseen: int = 0, n_tokens: int = 0) -> None:
    """Remark on words that are too long or not in the vocabulary."""
    if n_too_long:
        remark = "%s: %d words of more than %d characters were left out"
        log.warning(remark, origin, n_too_long, LONGEST_WORD)
    if n_unseen:
        remark = "%s: %d of %d words (%.1f %%) are not in the vocabulary and were left out"
        log.warning(remark, origin, n_unseen, n_tokens, 100.0 * n_unseen / n_tokens)


def read_vocabulary(given: Any, fields: tuple[str, ...]) -> list[tuple[int, str]] | None:
    """Return (field, word) of each word of a given vocabulary."""
    if given is None:
        return None
    found: dict[tuple[int, str], None] = {}
    for place, name in enumerate(word_list(given, "vocabulary", "a list of words"), start=1):
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
            raise InputError(f"word {place} of the vocabulary, {name[:80]!r}, stands there twice")
        found[field, word] = None
    if not found:
        raise InputError("the vocabulary is empty; give at least one word")
    return list(found)


def excerpt_of(texts: Sequence[str], longest: int) -> str:
    """Return the beginning of the texts of a document; it ends between words if it is cut."""
    text = "\n".join(filter(None, texts))
    text = re.sub(r"[ \t]*\n\s*", "\n", text.strip())  # no blank lines
    if len(text) <= longest:
        return text
    return text[: longest + 1].rsplit(None, 1)[0][:longest].rstrip() + "…"
