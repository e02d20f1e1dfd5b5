# SPDX-License-Identifier: BSD-3-Clause
"""Convert texts of any size to a corpus folder, in memory for a few chunks.

First each chunk of documents is counted by itself, with its own vocabulary. Then the vocabularies
are merged and the words are chosen. Last the chunks are renumbered and written as shards. The files
of the first step stay in ``tmp`` until the end, so that a conversion that was interrupted goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discan.data.folders.array_file import ArrayFile
from discan.data.folders.format import Manifest
from discan.data.folders.pieces import Piece
from discan.data.folders.texts import unpack_texts
from discan.data.folders.writer import FolderWriter
from discan.data.intake import offsets
from discan.data.layout import Layout
from discan.data.left_out import NOTHING
from discan.data.nouns import TEXT, Nouns
from discan.data.storage import read_file
from discan.errors import InputError
from discan.readers.byte_tokens import is_covered
from discan.readers.choosing import check_fields, limits_of
from discan.readers.chunks import KIND, count_chunk, cut, facts_of, is_counted, task_of
from discan.readers.merging import Vocabulary, merge_vocabularies, read_map
from discan.readers.streams import Fact, TextStream
from discan.readers.text_parts import read_vocabulary, report_left_out
from discan.readers.tokens import TextOptions, word_list
from discan.readers.workers import Workers
from discan.typing import Array

__all__ = ["Progress", "convert_texts"]

Progress = Callable[[str], None]
"""Is called with a line of text: what is being done, and how far it is."""


def convert_texts(
    stream: TextStream,
    writer: FolderWriter,
    folder: Path,
    *,
    threads: int,
    n_characters: int,
    reading: dict[str, Any],
    unit: str | None = None,
    progress: Progress,
) -> Manifest:
    """Count the words of texts into a corpus folder.

    Parameters
    ----------
    stream : the documents
    writer : FolderWriter
    folder : Path
        Where chunks are kept meanwhile; the caller removes it.
    threads : int
        Number of threads, or of processes if nothing is compiled; the result does not depend on it.
    n_characters : int
        Size of a chunk; the result does not depend on it.
    """
    stream = replace(stream, options=_settled(stream.options))
    stream.counts()  # refuses options that are wrong before anything is read
    files = _count(stream, folder, threads, n_characters, progress)
    n_documents = sum(file.places["indptr"].shape[0] - 1 for file in files)
    stream.check(n_documents)
    if not files:
        raise InputError(f"{stream.origin}: no documents; it is empty")
    _report(stream.origin, files)
    progress(f"merging the words of {n_documents:,} documents")
    words = _choose(stream, files, n_documents)
    rules = [_rule(fact, n, files, n_documents) for n, fact in enumerate(facts_of(stream))]
    for number, file in enumerate(files):
        progress(f"writing: {number} of {len(files)} chunks")
        writer.add(_renumbered(file, stream, words, rules))
    layout = Layout(
        n_words=len(words.names),
        group_of_word=words.groups,
        n_groups=max(1, len(stream.fields)),
        word_names=words.names,
        group_names=tuple(stream.fields) or None,
    )
    nouns = TEXT if unit is None else Nouns.of(unit, TEXT)
    return writer.finish(layout, nouns, {**reading, **stream.reading}, words.left_out)


# ---- chunks ----


def _settled(options: TextOptions) -> TextOptions:
    """Return options that hold words and not the names of files, so that they can be compared."""
    stop_words = options.stop_words
    if stop_words is not None and stop_words not in ("english", "none"):
        stop_words = tuple(word_list(stop_words, "stop_words", "'english', 'none'"))
    vocabulary = options.vocabulary
    if vocabulary is not None:
        vocabulary = tuple(word_list(vocabulary, "vocabulary", "a list of words"))
    return replace(options, stop_words=stop_words, vocabulary=vocabulary)


def _count(
    stream: TextStream, folder: Path, threads: int, n_characters: int, progress: Progress
) -> list[ArrayFile]:
    """Count all chunks; those that an earlier run has counted are taken from it."""
    paths: list[str] = []
    n_documents = n_read = 0
    compiled = is_covered(stream.options, stream.fields)  # then threads do, as it needs no GIL
    with Workers(count_chunk, threads, processes=not compiled) as workers:
        for number, documents in enumerate(cut(stream.documents, n_characters)):
            task = task_of(folder, number, documents, stream)
            paths.append(task.path)
            if not is_counted(task):
                workers.submit(task)
            n_documents += len(documents)
            n_read += sum(len(text) for document in documents for text in document.texts)
            progress(f"counting words: {n_documents:,} documents, {n_read / 1e6:,.0f} M characters")
        workers.finish()
    kept = set(paths)
    for path in folder.glob("*.discan"):
        if str(path) not in kept:  # of other data or options
            path.unlink(missing_ok=True)
    return [ArrayFile(Path(path), KIND) for path in paths]


def _report(origin: str, files: list[ArrayFile]) -> None:
    """Remark on what was left out of all chunks."""
    sums = np.zeros(3, dtype=np.int64)
    for file in files:
        header = file.header
        sums += [header[name] for name in ("n_too_long", "n_unseen", "n_tokens")]
    report_left_out(origin, *sums.tolist())


def _choose(stream: TextStream, files: list[ArrayFile], n_documents: int) -> Vocabulary:
    """Return the words to keep: those of a given vocabulary, or by frequency."""
    fields = tuple(stream.fields)
    given = read_vocabulary(stream.options.vocabulary, fields)
    if given is None:
        limits = limits_of(stream.options, n_documents)
        return merge_vocabularies(files, stream, n_documents, limits)
    groups = np.array([field for field, _ in given], dtype=np.int32)
    check_fields(stream.origin, fields, groups)
    names = tuple(f"{fields[f]}:{word}" if len(fields) > 1 else word for f, word in given)
    return Vocabulary(names, groups, NOTHING, np.zeros(0, dtype=np.int32))


def _renumbered(
    file: ArrayFile, stream: TextStream, words: Vocabulary, rules: list[tuple[str, _Values] | None]
) -> Piece:
    """Return the documents of a chunk with the new numbers of their words, which ascend too."""
    _, arrays = read_file(file.path, KIND)
    indptr, numbers, counts = arrays["indptr"], arrays["ids"], arrays["counts"]
    if stream.options.vocabulary is None:
        old = read_map(file)
        old[old >= 0] = words.new_numbers[old[old >= 0]]
        numbers = old[numbers]
        kept = numbers >= 0
        indptr, numbers, counts = offsets(kept)[indptr], numbers[kept], counts[kept]
    names = None
    if stream.named:
        texts = unpack_texts("names", arrays["documents.text"], arrays["documents.ends"])
        names = tuple(texts)
    metadata = {}
    for n, rule in enumerate(rules):
        if rule is not None:
            title, values = rule
            cells = _cells(arrays, n)
            metadata[title] = values(cells)[arrays[f"facts.{n}.codes"]]
    return Piece(indptr, numbers, counts, None, names, metadata)


# ---- facts ----

_Values = Callable[[list[str]], Array]


def _rule(
    fact: Fact, number: int, files: list[ArrayFile], n_documents: int
) -> tuple[str, _Values] | None:
    """Return the title of a fact and its values by cell, None if the column is left out.

    A column that holds text for certain is read chunk by chunk; of another one, all distinct cells
    decide together.
    """
    known: dict[str, int] = {}
    for cells in _distinct(number, files):
        if fact.is_plain(cells):
            return fact.title, fact.plain
        for cell in cells:
            known.setdefault(cell, len(known))
    values = fact.values(list(known), len(known) < n_documents)
    if values is None:
        return None
    return fact.title, lambda cells: values[[known[cell] for cell in cells]]


def _distinct(number: int, files: list[ArrayFile]) -> Iterator[list[str]]:
    """Iterate over the distinct cells of a fact in each chunk."""
    for file in files:
        descriptor = file.open()
        try:
            data, ends = (
                file.read(descriptor, name, 0, file.places[name].shape[0])
                for name in (f"facts.{number}.text", f"facts.{number}.ends")
            )
        finally:
            os.close(descriptor)
        yield unpack_texts("cells", data, ends)


def _cells(arrays: dict[str, Array], number: int) -> list[str]:
    return unpack_texts("cells", arrays[f"facts.{number}.text"], arrays[f"facts.{number}.ends"])
