# SPDX-License-Identifier: BSD-3-Clause
"""Read files of one text per line: plain lines, and MALLET's with a name and a label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from discan.data.corpus import Corpus
from discan.errors import shown
from discan.readers.guess import reader
from discan.readers.source import Source
from discan.readers.tokens import TextOptions
from discan.readers.words import TextCounts

__all__ = ["read_lines", "read_mallet"]


@reader(
    "lines",
    "text, one document per line",
    endings=(".txt",),
    sniff=lambda s: s.name.endswith(".txt") and bool(s.head) and "\0" not in s.head,
    is_text=True,
)
def read_lines(source: Source, **options: Any) -> Corpus:
    """Read a file of one document per line; an empty line is an empty document."""
    counts = _counts(source, options)
    for _, line in _lines(source):
        counts.add(line)
    return counts.finish()


@reader(
    "mallet",
    "MALLET, one document per line: name, label, text",
    endings=(".mallet",),
    is_text=True,
)
def read_mallet(
    source: Source,
    *,
    label_group: Annotated[
        bool, "Whether the labels are words too, in a group of their own."
    ] = False,
    **options: Any,
) -> Corpus:
    """Read MALLET's lines of a name, a label and the text; blank lines are skipped."""
    parts = ("text", "label") if label_group else ()
    counts = _counts(source, options, fields=parts, labels=("label",))
    names, found = [], []
    for line, text in _lines(source):
        split = text.split(None, 2)
        if not split:
            continue
        if len(split) == 1:
            problem = f"only {shown(split[0])}; each line needs a name, a label and the text"
            raise source.error(problem, line)
        name, label, *rest = split
        words = "".join(rest)
        counts.add(*((words, label) if label_group else (words,)))
        names.append(name)
        found.append(label)
    corpus = counts.finish(names)
    return corpus.described(metadata={"label": found, **corpus.metadata})


# ---- lines and records ----


def _counts(source: Source, options: dict[str, Any], **more: Any) -> TextCounts:
    return TextCounts(TextOptions(**options), origin=str(source.path), **more)


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in source.lines():
        if "\0" in line:
            raise source.error("holds a NUL byte, so it is no text; convert it to UTF-8", number)
        yield number, line
