# SPDX-License-Identifier: BSD-3-Clause
"""Read files of one text per line: plain lines, and MALLET's with a name and a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from discan.errors import shown
from discan.readers.document import Document
from discan.readers.listing import text_files
from discan.readers.source import Source
from discan.readers.streams import TextStream, label_fact, text_reader
from discan.readers.tokens import TextOptions

__all__ = ["read_lines", "read_mallet"]


@text_reader(
    "lines",
    "text, one document per line; a file, or all files of a folder",
    endings=(".txt",),
    sniff=lambda s: s.name.endswith(".txt") and bool(s.head) and "\0" not in s.head,
)
def read_lines(source: Source, **options: Any) -> TextStream:
    """Read files of one document per line; an empty line is an empty document."""
    documents = (Document((line,)) for _, _, line in _lines(source))
    return TextStream(str(source.path), documents, TextOptions(**options))


@text_reader(
    "mallet",
    "MALLET, one document per line: name, label, text",
    endings=(".mallet",),
)
def read_mallet(
    source: Source,
    *,
    label_group: Annotated[
        bool, "Whether the labels are words too, in a group of their own."
    ] = False,
    **options: Any,
) -> TextStream:
    """Read MALLET's lines of a name, a label and the text; blank lines are skipped."""
    return TextStream(
        str(source.path),
        _mallet_documents(source, label_group),
        TextOptions(**options),
        fields=("text", "label") if label_group else (),
        labels=("label",),
        named=True,
        facts=(label_fact("label"),),
    )


def _mallet_documents(source: Source, label_group: bool) -> Iterator[Document]:
    for path, line, text in _lines(source):
        split = text.split(None, 2)
        if not split:
            continue
        if len(split) == 1:
            problem = f"only {shown(split[0])}; each line needs a name, a label and the text"
            raise source.error(problem, line, path)
        name, label, *rest = split
        words = "".join(rest)
        yield Document((words, label) if label_group else (words,), name, (label,))


def _lines(source: Source) -> Iterator[tuple[Path, int, str]]:
    """Iterate over (file, line number, line) of a file, or of all files of a folder in order."""
    folder = source.path
    names: Iterable[str] = [""]
    if source.is_folder:
        names = text_files(str(folder), "*")
    for path in map(folder.joinpath, names):
        for number, line in source.lines(path):
            if "\0" in line:
                problem = "holds a NUL byte, so it is no text; convert it to UTF-8"
                raise source.error(problem, number, path)
            yield path, number, line
