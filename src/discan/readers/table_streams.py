# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are read in pieces: what readers of tables give to a corpus folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from discan.data.folders.format import Manifest
from discan.data.folders.pieces import Piece
from discan.data.folders.sorting import RUN, TripleSpool
from discan.data.folders.writer import FolderWriter
from discan.data.layout import Layout
from discan.data.margins import read_names
from discan.data.metadata import read_metadata
from discan.data.nouns import Nouns
from discan.typing import Array

__all__ = ["Batch", "TableFacts", "TableStream", "convert_table"]

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


@dataclass(frozen=True, eq=False)
class TableStream:
    """A table that is read in pieces.

    Attributes
    ----------
    facts : function that is called after the last batch
    batches : iterator of Batch
        Entries in any order; they are sorted by document, on disk.
    pieces : iterator of Piece, instead
        Documents in order and in canonical form.
    """

    facts: Callable[[], TableFacts]
    batches: Iterator[Batch] | None = None
    pieces: Iterator[Piece] | None = None


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
    old = sorted(folder.glob(f"*{RUN}"))
    if old:  # most of the time goes into reading, and where each run began in the data is not known
        log.info("%s: was interrupted; the table is read from its beginning", folder.parent)
        for path in old:
            path.unlink(missing_ok=True)
    spool = TripleSpool(folder)
    n_entries = 0
    for batch in stream.batches or ():
        spool.add(*batch)
        n_entries += batch[0].size
        progress(f"reading: {n_entries:,} entries")
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
