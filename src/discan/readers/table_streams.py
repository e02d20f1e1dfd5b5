# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are read in pieces: what readers of tables give to a corpus folder."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discan import __version__
from discan.data.folders.array_file import file_sha256
from discan.data.folders.format import Manifest
from discan.data.folders.pieces import Piece
from discan.data.folders.sorting import RUN, Mark, TripleSpool
from discan.data.folders.writer import FolderWriter
from discan.data.layout import Layout
from discan.data.margins import read_names
from discan.data.metadata import read_metadata
from discan.data.nouns import Nouns
from discan.errors import InputError, LimitError
from discan.readers.source import Source
from discan.typing import Array

__all__ = ["Batch", "Entries", "TableFacts", "TableStream", "convert_table"]

log = logging.getLogger("discan")

Batch = tuple[Array, Array, Array]
"""Numbers of documents and words, from 0, and counts: entries of a table, in any order."""


@dataclass(frozen=True, eq=False)
class TableFacts:
    """What is known of a table when all of it has been read.

    Attributes
    ----------
    n_documents, n_words : int
    word_names, document_names : sequence of str or None
    metadata : columns that describe the documents, as for a Corpus
    nouns : Nouns or None
    reading : how the data were read
    """

    n_documents: int
    n_words: int
    word_names: Sequence[str] | None = None
    document_names: Sequence[str] | None = None
    metadata: Any = None
    nouns: Nouns | None = None
    reading: dict[str, Any] = field(default_factory=dict)


class Entries(Protocol):
    """Entries of a table in any order; reading them can go on where it was interrupted."""

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch."""

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark; all marks are given, in order."""


@dataclass(frozen=True, eq=False)
class TableStream:
    """A table that is read in pieces.

    Attributes
    ----------
    source : Source
        The file that holds the entries.
    facts : function that is called after the last batch
    entries : Entries
        They are sorted by document, on disk.
    pieces : iterator of Piece, instead
        Documents in order and in canonical form.
    how : what else decides the numbers of documents and words, besides the options
    """

    source: Source
    facts: Callable[[], TableFacts]
    entries: Entries | None = None
    pieces: Iterator[Piece] | None = None
    how: Any = None


def convert_table(
    stream: TableStream,
    writer: FolderWriter,
    folder: Path,
    *,
    reading: dict[str, Any],
    unit: str | None,
    progress: Callable[[str], None],
) -> Manifest:
    """Write a table to a corpus folder; ``folder`` is for files that are kept meanwhile."""
    spool = TripleSpool(folder, _key(stream, reading))
    if stream.entries is not None:
        _collect(stream.entries, spool, folder, progress)
    facts = stream.facts()
    names = read_names(facts.document_names, facts.n_documents, "document")
    metadata = read_metadata(facts.metadata, facts.n_documents)
    start = 0
    for piece in stream.pieces or spool.pieces(facts.n_documents, facts.n_words):
        progress(f"writing: {start:,} of {facts.n_documents:,} documents")
        rows = slice(start, start + piece.n_documents)
        writer.add(
            piece._replace(
                document_names=None if names is None else names[rows],
                metadata={name: column[rows] for name, column in metadata.items()},
            )
        )
        start = rows.stop
    layout = Layout(
        n_words=facts.n_words,
        group_of_word=np.zeros(facts.n_words, dtype=np.int32),
        n_groups=1,
        word_names=read_names(facts.word_names, facts.n_words, "word"),
    )
    nouns = facts.nouns or Nouns()
    if unit is not None:
        nouns = Nouns.of(unit, nouns)
    return writer.finish(layout, nouns, {**reading, **facts.reading})


def _key(stream: TableStream, reading: dict[str, Any]) -> str:
    """Return what stands for the data and for how they are read."""
    with stream.source.faults("cannot be read"):
        content = file_sha256(stream.source.path)
    how = repr((__version__, content, reading, stream.how))
    return hashlib.sha256(how.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _collect(
    entries: Entries, spool: TripleSpool, folder: Path, progress: Callable[[str], None]
) -> None:
    """Read all entries into sorted runs; go on behind those of a run that was interrupted."""
    interrupted = next(folder.glob(f"*{RUN}"), None) is not None
    for mark in spool.restored():
        entries.go_on(mark)
    if interrupted:
        remark = f"goes on after {spool.n_entries:,} entries"
        if not spool.n_entries:
            remark = "begins again, because the data or the options are not those of before"
        log.info("%s: was interrupted; %s", folder.parent, remark)
    try:
        for batch in entries.batches():
            spool.add(*batch, entries.mark)
            progress(f"reading: {spool.n_entries:,} entries")
    except (InputError, LimitError):  # the data will have changed when they are read again
        spool.remove()
        raise
    spool.flush(entries.mark)
