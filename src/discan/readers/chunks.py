# SPDX-License-Identifier: BSD-3-Clause
"""Count the words of a chunk of documents into a file, with the chunk's own vocabulary."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.data.columns import Codes
from discan.data.folders.texts import pack_texts
from discan.data.metadata import EXCERPT
from discan.data.storage import read_file, write_file
from discan.errors import DiscanError
from discan.readers.byte_tokens import ByteCounts, is_covered
from discan.readers.document import Document
from discan.readers.streams import TextStream, label_fact
from discan.readers.text_parts import Counted
from discan.readers.tokens import TextOptions
from discan.readers.words import TextCounts

__all__ = ["KIND", "Task", "count_chunk", "cut", "facts_of", "is_counted", "task_of"]

KIND = "chunk"
_AT_ONCE = 2**12  # documents
COMPILED_FROM = 2**20
"""Characters of a chunk for which loading the compiled tokeniser pays."""


class Task(NamedTuple):
    """Documents to count, how, and the file to write; it can be sent to another process."""

    path: str
    documents: list[Document]
    options: TextOptions
    fields: tuple[str, ...]
    labels: tuple[str, ...]
    named: bool


def cut(documents: Iterator[Document], n_characters: int) -> Iterator[list[Document]]:
    """Cut documents into chunks of about so many characters; a chunk has at least a document."""
    chunk: list[Document] = []
    size = 0
    for document in documents:
        chunk.append(document)
        size += sum(map(len, document.texts)) + 16
        if size >= n_characters:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def task_of(folder: Path, number: int, documents: list[Document], stream: TextStream) -> Task:
    """Return the task of a chunk; its file is named after the texts and the options."""
    options = stream.options
    # the same words are counted whichever are kept in the end
    counting = replace(options, min_df=None, max_df=None, max_words=None)
    how = (counting, tuple(stream.fields), tuple(stream.labels), stream.named)
    key = hashlib.sha256(repr(how).encode("utf-8", "backslashreplace"))
    for start in range(0, len(documents), _AT_ONCE):
        encoded = [
            part.encode("utf-8", "surrogatepass")
            for document in documents[start : start + _AT_ONCE]
            for part in (*document.texts, document.name or "", *document.cells)
        ]
        key.update(np.array([len(part) for part in encoded], dtype=np.int64).data)
        key.update(b"".join(encoded))
    path = folder / f"{number:06}-{key.hexdigest()[:32]}.discan"
    return Task(str(path), documents, *how)


def is_counted(task: Task) -> bool:
    """Tell whether the file of a chunk is there and whole, from a run that was interrupted."""
    try:
        read_file(task.path, KIND)
    except DiscanError:
        return False
    return True


def count_chunk(task: Task) -> None:
    """Count the words of a chunk, and write them to its file."""
    found = _counted(task)
    columns = [[document.cells[n] for document in task.documents] for n in _facts(task)]
    if found.excerpts is not None:
        columns.append(found.excerpts)
    smallest = np.min_scalar_type(int(found.counts.max(initial=0)))
    arrays: dict[str, Any] = {
        "indptr": found.indptr,
        "ids": found.ids,
        "counts": found.counts.astype(smallest),
    }
    if task.options.vocabulary is None:
        arrays["words.text"], arrays["words.ends"], _ = pack_texts(found.words)
        arrays["frequencies"], arrays["totals"] = found.frequencies, found.totals
        starts = np.searchsorted(found.fields, np.arange(max(1, len(task.fields)) + 1))
        arrays["field_starts"] = starts.astype(np.int64)
    if task.named:
        names = (document.name or "" for document in task.documents)
        arrays["documents.text"], arrays["documents.ends"], _ = pack_texts(names)
    for n, column in enumerate(columns):
        codes = Codes()
        arrays[f"facts.{n}.codes"] = np.array([codes[cell] for cell in column], dtype=np.int32)
        arrays[f"facts.{n}.text"], arrays[f"facts.{n}.ends"], _ = pack_texts(codes)
    names_of = ("n_too_long", "n_unseen", "n_tokens")
    write_file(task.path, KIND, {name: getattr(found, name) for name in names_of}, arrays)


def _counted(task: Task) -> Counted:
    """Count the words, compiled if that pays."""
    if is_covered(task.options, task.fields):
        size = sum(len(document.texts[0]) for document in task.documents)
        if size >= COMPILED_FROM:
            compiled = ByteCounts(task.options)
            for document in task.documents:
                compiled.add(document.texts[0])
            return compiled.counted()
    counts = TextCounts(task.options, task.fields, task.labels)
    for document in task.documents:
        counts.add(*document.texts)
    return counts.counted()


def facts_of(stream: TextStream) -> list[Any]:
    """Return what describes the documents in a chunk's file: the facts, and excerpts."""
    more = [label_fact(EXCERPT)] if stream.options.excerpt else []
    return [*stream.facts, *more]


def _facts(task: Task) -> Sequence[int]:
    return range(len(task.documents[0].cells))
