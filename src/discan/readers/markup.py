# SPDX-License-Identifier: BSD-3-Clause
"""Take the markup of HTML out of texts, so that "br" and "nbsp" are not counted as words."""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Iterator

from discan.errors import Argument
from discan.readers.document import Document

__all__ = ["Cleaner", "strip_markup"]

log = logging.getLogger("discan")

_NAMES = (
    "html|head|body|title|meta|link|base|style|script|noscript|template|p|br|hr|div|span|a|b|i|u|s|"
    "em|strong|small|big|sub|sup|tt|q|cite|abbr|mark|ins|del|font|center|pre|code|kbd|blockquote|"
    "ul|ol|li|dl|dt|dd|table|caption|thead|tbody|tfoot|tr|td|th|col|colgroup|h[1-6]|img|picture|"
    "figure|figcaption|iframe|video|audio|source|section|article|header|footer|main|nav|aside|form|"
    "fieldset|legend|input|button|label|select|option|textarea|svg|path|address|time"
)
_TAG = re.compile(rf"</?(?:{_NAMES})(?:\s[^<>]*)?/?>|<!doctype[^<>]*>", re.IGNORECASE)
_SURE = re.compile(rf"</(?:{_NAMES})\s*>|<br\s*/?>|<!doctype html|<html[\s>]", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]{2,8}\d?);")
# What is no text from its start to its end.
_HIDDEN = (
    (re.compile("<!--"), re.compile("-->")),
    (re.compile(r"<script\b", re.IGNORECASE), re.compile(r"</script\s*>", re.IGNORECASE)),
    (re.compile(r"<style\b", re.IGNORECASE), re.compile(r"</style\s*>", re.IGNORECASE)),
)


class Cleaner:
    """Clean texts, and count the documents that held markup.

    Parameters
    ----------
    origin : str
        Where the texts come from, for messages.
    wanted : bool or None
        Whether all texts are HTML; None cleans those that are for certain.
    """

    def __init__(self, origin: str, wanted: bool | None) -> None:
        self._origin, self._wanted = origin, wanted
        self.n_cleaned = 0

    def __call__(self, documents: Iterator[Document]) -> Iterator[Document]:
        """Iterate over the documents with clean texts."""
        for document in documents:
            texts = [self._clean(text) for text in document.texts]
            if texts != list(document.texts):
                self.n_cleaned += 1
                document = document._replace(texts=texts)
            yield document

    def report(self) -> None:
        """Say how many documents held markup."""
        if self.n_cleaned and self._wanted is None:
            what = (
                "1 document holds" if self.n_cleaned == 1 else f"{self.n_cleaned:,} documents hold"
            )
            remark = "%s: %s HTML, whose tags and entities were removed; to keep them use %s"
            log.info(remark, self._origin, what, Argument("html", False))

    def _clean(self, text: str) -> str:
        if self._wanted is False or not ("<" in text or "&" in text):
            return text
        if self._wanted or ("<" in text and _SURE.search(text)):
            return strip_markup(text)
        return _ENTITY.sub(_character, text) if "&" in text else text


def strip_markup(text: str) -> str:
    """Return the text of HTML: without tags, comments, scripts and styles, with its characters."""
    for start, end in _HIDDEN:
        text = _without(text, start, end)
    return _ENTITY.sub(_character, _TAG.sub(" ", text))


def _character(found: re.Match[str]) -> str:
    return html.unescape(found[0])


def _without(text: str, start: re.Pattern[str], end: re.Pattern[str]) -> str:
    """Return a text without what is between a start and the next end; each is looked at once."""
    parts, place = [], 0
    while (found := start.search(text, place)) and (close := end.search(text, found.end())):
        parts += [text[place : found.start()], " "]
        place = close.end()
    return "".join(parts) + text[place:] if parts else text
