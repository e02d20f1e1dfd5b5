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
from scipy import sparse

from discan import __version__
from discan.data.corpus import Corpus
from discan.data.folders.array_file import file_sha256
from discan.data.folders.format import Manifest
from discan.data.folders.pieces import Piece, join_pieces
from discan.data.folders.runs import RUN, Mark, Spool
from discan.data.folders.sorting import TripleSpool
from discan.data.folders.tiles import HeldTiles, TileSpool
from discan.data.folders.writer import FolderWriter
from discan.data.layout import Layout
from discan.data.margins import read_groups, read_names
from discan.data.metadata import read_metadata
from discan.data.nouns import Nouns
from discan.errors import InputError, LimitError
from discan.readers.source import Source
from discan.typing import Array

__all__ = [
    "Batch", "Cells", "Entries", "Lines", "TableFacts", "TableStream", "collect_table",
    "convert_table",
]  # fmt: skip

log = logging.getLogger("discan")

Batch = tuple[Array, Array, Array]
"""Numbers of documents and words, from 0, and counts: entries of a table, in any order."""

Cells = tuple[Array]
"""Codes of the cells of some lines, (n, width), from 0."""


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
    first_word : int
        Number of the first word among the entries.
    groups, group_names : of the words, as for a Corpus
    exposed : bool
        Whether a document has exposure 0 to the groups in which it has no token.
    """

    n_documents: int
    n_words: int
    word_names: Sequence[str] | None = None
    document_names: Sequence[str] | None = None
    metadata: Any = None
    nouns: Nouns | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    first_word: int = 0
    groups: Array | None = None
    group_names: Sequence[str] | None = None
    exposed: bool = False


class _Marked(Protocol):
    """What is read of a file in batches, and can go on where it was interrupted."""

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch."""

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark; all marks are given, in order."""


class Entries(_Marked, Protocol):
    """Entries of a table in any order."""

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""


class Lines(_Marked, Protocol):
    """Lines of a table, with as many cells each."""

    def batches(self) -> Iterator[Cells]:
        """Iterate over the cells, from where reading stands."""


@dataclass(frozen=True, eq=False)
class TableStream:
    """A table that is read in pieces.

    It has ``entries``, or ``lines`` and ``pieces``, or ``pieces`` alone.

    Attributes
    ----------
    source : Source
        The file that holds the entries.
    facts : function that is called after the last batch
        Takes the `Tiles` if there are lines, else nothing.
    entries : Entries
        They are sorted by document, on disk.
    lines : Lines
        They are kept as `Tiles`, on disk or in memory.
    pieces : function that returns an iterator of Piece
        Documents in order and in canonical form. Takes the `Tiles` if there are lines; what else it
        needs, ``facts`` has found. Without lines, it cannot go on where it was interrupted.
    how : what else decides the numbers of documents and words, besides the options
    """

    source: Source
    facts: Callable[..., TableFacts]
    entries: Entries | None = None
    lines: Lines | None = None
    pieces: Callable[..., Iterator[Piece]] | None = None
    how: Any = None

    @property
    def goes_on(self) -> bool:
        """Whether a conversion that was interrupted goes on where it was."""
        return self.entries is not None or self.lines is not None


def collect_table(stream: TableStream) -> Corpus:
    """Read a table of lines into memory."""
    assert stream.lines is not None
    assert stream.pieces is not None
    tiles = HeldTiles(cells for (cells,) in stream.lines.batches())
    facts = stream.facts(tiles)
    layout = _layout(facts)
    parts = [
        piece._replace(exposures=_seen(piece, layout) if facts.exposed else None)
        for piece in stream.pieces(tiles)
    ]
    piece = join_pieces(parts)
    arrays = (piece.counts, piece.words, piece.indptr)
    return stream.source.corpus(
        sparse.csr_array(arrays, shape=(facts.n_documents, facts.n_words)),
        groups=facts.groups,
        exposures=piece.exposures,
        document_names=facts.document_names,
        word_names=facts.word_names,
        group_names=facts.group_names,
        metadata=facts.metadata,
        nouns=facts.nouns,
        reading=facts.reading,
    )


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
    facts, pieces = _in_pieces(stream, folder, reading, progress)
    layout = _layout(facts)
    names = read_names(facts.document_names, facts.n_documents, "document")
    metadata = read_metadata(facts.metadata, facts.n_documents)
    start = 0
    for piece in pieces:
        progress(f"writing: {start:,} of {facts.n_documents:,} documents")
        rows = slice(start, start + piece.n_documents)
        seen = _seen(piece, layout) if facts.exposed else None
        writer.add(
            piece._replace(
                exposures=None if seen is None else seen.astype(np.float64),
                document_names=None if names is None else names[rows],
                metadata={name: column[rows] for name, column in metadata.items()},
            )
        )
        start = rows.stop
    nouns = facts.nouns or Nouns()
    if unit is not None:
        nouns = Nouns.of(unit, nouns)
    return writer.finish(layout, nouns, {**reading, **facts.reading})


def _in_pieces(
    stream: TableStream, folder: Path, reading: dict[str, Any], progress: Callable[[str], None]
) -> tuple[TableFacts, Iterator[Piece]]:
    """Return what is known of a table, and its documents."""
    parts = stream.entries or stream.lines
    if parts is None:
        assert stream.pieces is not None
        return stream.facts(), stream.pieces()
    key = _key(stream, reading)
    kind = TripleSpool if stream.lines is None else TileSpool
    spool: Any = kind(folder, key)
    _restore(parts, spool, folder)
    try:
        for batch in parts.batches():
            spool.add(*batch, parts.mark)
            progress(f"reading: {spool.n_entries:,} {spool.UNIT}")
        spool.flush(parts.mark)
        facts = stream.facts(spool) if stream.lines is not None else stream.facts()
    except (InputError, LimitError):  # the data will have changed when they are read again
        spool.remove()
        raise
    if stream.pieces is not None:
        return facts, stream.pieces(spool)
    return facts, spool.pieces(facts.n_documents, facts.n_words, facts.first_word)


def _layout(facts: TableFacts) -> Layout:
    groups, n_groups, _ = read_groups(facts.groups, facts.n_words)
    return Layout(
        n_words=facts.n_words,
        group_of_word=groups,
        n_groups=n_groups,
        word_names=read_names(facts.word_names, facts.n_words, "word"),
        group_names=read_names(facts.group_names, n_groups, "group"),
    )


def _seen(piece: Piece, layout: Layout) -> Array:
    """Tell in which groups documents have a token, (n, G) bool."""
    seen = np.zeros((piece.n_documents, layout.n_groups), dtype=bool)
    rows = np.repeat(np.arange(piece.n_documents), np.diff(piece.indptr))
    seen[rows, layout.group_of_word[piece.words]] = True
    return seen


def _key(stream: TableStream, reading: dict[str, Any]) -> str:
    """Return what stands for the data and for how they are read."""
    with stream.source.faults("cannot be read"):
        content = file_sha256(stream.source.path)
    how = repr((__version__, content, reading, stream.how))
    return hashlib.sha256(how.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _restore(parts: _Marked, spool: Spool, folder: Path) -> None:
    """Go on behind the runs of a conversion that was interrupted."""
    interrupted = next(folder.glob(f"*{RUN}"), None) is not None
    for mark in spool.restored():
        parts.go_on(mark)
    if interrupted:
        remark = f"goes on after {spool.n_entries:,} {spool.UNIT}"
        if not spool.n_entries:
            remark = "begins again, because the data or the options are not those of before"
        log.info("%s: was interrupted; %s", folder.parent, remark)
