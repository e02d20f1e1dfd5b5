# SPDX-License-Identifier: BSD-3-Clause
"""Convert data of any format to a corpus folder."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discan.data.corpus import Corpus
from discan.data.folders.format import (
    MANIFEST,
    SHARDS,
    TMP,
    Manifest,
    check_links,
    is_corpus_folder,
)
from discan.data.folders.runs import RUN
from discan.data.folders.writer import SHARD_ENTRIES, FolderWriter, write_corpus
from discan.data.intake import reason
from discan.data.locks import locked
from discan.data.nouns import Nouns
from discan.errors import DiscanError, ModelFileError, StorageError
from discan.readers.guess import check_options, guess, plain_options, read
from discan.readers.parts import convert_parts, is_lasting, is_whole
from discan.readers.source import MAX_UNPACKED, Source
from discan.readers.table_streams import convert_table
from discan.readers.text_folders import Progress, convert_texts
from discan.validation import whole

__all__ = ["CHUNK", "convert"]

log = logging.getLogger("discan")

CHUNK = 2**25  # characters
_KEPT = (".discan", RUN)  # endings of files from which a conversion goes on
# What such files raise if they are signed and wrong.
_WRONG = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, OSError)


def convert(
    data: Any,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    threads: int = 1,
    chunk: int = CHUNK,
    unit: str | None = None,
    max_unpacked: int = MAX_UNPACKED,
    shard_entries: int = SHARD_ENTRIES,
    progress: Progress | None = None,
    **options: Any,
) -> Manifest:
    """Convert data to a corpus folder, which may be larger than memory.

    The corpus is the one that ``discan.read`` gives, bit for bit. A conversion that was interrupted
    goes on if it is called again.

    Parameters
    ----------
    data : file or folder, or a Source made of it; or a table
        A table is a Corpus, an iterable of sparse matrices, arrays, data frames or corpora with the
        same words, a data set of pyarrow (read by batch), or an array or data frame of dask (by
        partition).
    path : folder to write
        It holds the old corpus, if there is one, until the new one is whole.
    format : name of a reader (``discan.readers.READERS``), guessed if not given
    threads : int, default=1
        Number of threads that count words; -1 is one per core. The result does not depend on it.
        Processes are used for words that are joined, or found by a pattern of yours.
    chunk : int, default=2**25
        Characters of text that are counted together; the result does not depend on it.
    unit : str, optional
        What rows, columns and components are called, e.g. "senator,vote,bloc".
    max_unpacked : int, default=2**30
        A file is refused if it unpacks to more bytes than this and than a hundred times its size.
    shard_entries : int
        Non-zeros, documents and exposures in each file of the folder, about.
    progress : function, optional
        Is called with a line of text: what is being done, and how far it is.
    **options
        Options of the reader, e.g. ``stop_words`` for text; ``groups``, ``group_names`` and
        ``word_names`` for a table.

    Returns
    -------
    Manifest
        What is known of the corpus: its numbers of documents and words, its digest, and others.
    """
    threads = _workers(threads)
    whole("chunk", chunk, 1)
    whole("shard_entries", shard_entries, 1)
    target = Path(path)
    if not isinstance(data, str | os.PathLike | Source):
        if isinstance(data, Corpus) or is_whole(data):
            corpus = data if isinstance(data, Corpus) else read(data, **options)
            return _write(corpus, target, unit, shard_entries)
        show = progress or (lambda *_: None)
        if not is_lasting(data):
            _remark_on_loss(target, "parts of an iterable cannot be had again, so it begins again")
        with _claimed(target) as folder:
            writer = FolderWriter(target, shard_entries)
            return convert_parts(data, writer, folder, unit, show, options)
    source = data if isinstance(data, Source) else Source(data, max_unpacked)
    _check_apart(source, target)
    how: dict[str, Any] = {"unit": unit, "progress": progress or (lambda *_: None)}
    with source.enough_memory():
        return _converted(source, target, format, options, how, threads, chunk, shard_entries)


def _converted(
    source: Source,
    target: Path,
    format: str | None,
    options: dict[str, Any],
    how: dict[str, Any],
    threads: int,
    chunk: int,
    shard_entries: int,
) -> Manifest:
    """Convert a file or folder."""
    if format is None:
        format = guess(source, options)
        log.info("%s: read as %s", source.path, format)
    found = check_options(source, format, options)
    how["reading"] = {"format": format, "options": plain_options(options)}
    if found.stream is not None:
        texts = found.stream(source, **options)
        how |= {"threads": threads, "n_characters": chunk}
        with _claimed(target) as folder:
            return convert_texts(texts, FolderWriter(target, shard_entries), folder, **how)
    table = None if found.table is None else found.table(source, **options)
    if table is None:
        _remark_on_loss(target, f"{format} is read whole, so it is read again")
        return _write(read(source, format, **options), target, how["unit"], shard_entries)
    if not table.goes_on:
        _remark_on_loss(target, f"{format} by document is read again")
    with _claimed(target) as folder:
        return convert_table(table, FolderWriter(target, shard_entries), folder, **how)


def _write(corpus: Corpus, target: Path, unit: str | None, shard_entries: int) -> Manifest:
    """Write a corpus that is in memory."""
    nouns = corpus.nouns if unit is None else Nouns.of(unit, corpus.nouns)
    with _claimed(target):
        return write_corpus(corpus.described(nouns=nouns), target, shard_entries)


def _workers(threads: int) -> int:
    if threads == -1:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    return whole("threads", threads, 1)


# ---- the folder ----


def _check_apart(source: Source, target: Path) -> None:
    """Refuse to write into the folder that is read."""
    if source.is_folder:
        inside, here = os.path.realpath(target), os.path.realpath(source.path)
        if os.path.commonpath([inside, here]) == here:
            problem = "lies inside the folder that is read; name another place"
            raise StorageError(f"{target}: {problem}")


@contextlib.contextmanager
def _claimed(target: Path) -> Iterator[Path]:
    """Lock a folder to write to; give a folder for files that are kept until all is written."""
    _check_ours(target)
    check_links(target)
    folder = target / TMP
    with locked(folder):
        goes_on = _holds_kept(folder)
        try:
            yield folder
        except BaseException as error:
            if not _holds_kept(folder):  # nothing to go on with
                _remove(folder)
            if goes_on and isinstance(error, _WRONG) and not isinstance(error, DiscanError):
                problem = f"what is left of a conversion is damaged ({reason(error)})"
                raise ModelFileError(f"{folder}: {problem}; remove it, and convert again") from None
            raise
        _remove(folder)


def _holds_kept(folder: Path) -> bool:
    """Tell whether a folder holds files from which a conversion goes on."""
    return any(file.suffix in _KEPT for file in folder.iterdir())


def _remark_on_loss(target: Path, reason: str) -> None:
    """Say that a conversion that was interrupted cannot go on where it was."""
    shards = target / SHARDS
    if shards.is_dir() and any(shards.iterdir()) and not is_corpus_folder(target):
        log.info("%s: was interrupted; %s", target, reason)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for empty in (folder.parent / SHARDS, folder.parent):
        with contextlib.suppress(OSError):
            empty.rmdir()


def _check_ours(target: Path) -> None:
    """Refuse a folder that holds anything but a corpus or one that was not finished."""
    if not target.exists():
        return
    if not target.is_dir():
        raise StorageError(f"{target}: a file, not a folder; remove it, or name another place")
    others = [
        name
        for name in os.listdir(target)
        if name not in (SHARDS, TMP, MANIFEST) and not name.startswith((".discan-", "words-"))
    ]
    foreign = (target / MANIFEST).exists() and not is_corpus_folder(target)
    if others or foreign:
        name = MANIFEST if foreign else sorted(others)[0]
        problem = f"holds other files ({name!r}); name a new folder"
        raise StorageError(f"{target}: {problem}")
