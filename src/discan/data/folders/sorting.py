# SPDX-License-Identifier: BSD-3-Clause
"""Sort the entries of a table by document, on disk, and give its documents in pieces.

Entries come as triples (document, word, count) in any order. They are written in runs, each sorted
by document, and the runs are merged a range of documents at a time. Entries of the same document
and word keep their order, so that their sum has the bits of the same table in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from discan.data.folders.array_file import ArrayFile
from discan.data.folders.pieces import Piece
from discan.data.folders.runs import Mark, Spool
from discan.data.intake import offsets, read_table, tightest
from discan.typing import Array

__all__ = ["RUN_ENTRIES", "TripleSpool"]

RUN_ENTRIES = 2**22
"""Entries that are sorted in memory."""

_NAMES = ("documents", "words", "counts")
_FEWEST = 2**10  # entries of a run that are read at once
_Triples = tuple[Array, Array, Array]


class TripleSpool(Spool):
    """Collect the entries of a table in any order, then give its documents in order.

    Parameters
    ----------
    folder, key : as for `Spool`
    run_entries : int, optional
        Entries that are sorted in memory, `RUN_ENTRIES` if not given.
    """

    UNIT = "entries"
    COUNTED = "documents"

    def __init__(self, folder: Path, key: str = "", run_entries: int | None = None) -> None:
        super().__init__(folder, key)
        self._limit = RUN_ENTRIES if run_entries is None else run_entries
        self._parts: list[_Triples] = []
        self._held = 0

    def add(self, documents: Array, words: Array, counts: Array, mark: Callable[[], Mark]) -> None:
        """Add entries: numbers of documents and of words from 0, and counts.

        ``mark`` tells where reading stands behind them; it is called when a run is written.
        """
        counts = tightest(counts)
        self._parts.append((documents.astype(np.int32), words.astype(np.int32), counts))
        self._held += counts.size
        self.n_entries += counts.size
        if self._held >= self._limit:
            self.flush(mark)

    def pieces(self, n_documents: int, n_words: int, first_word: int = 0) -> Iterator[Piece]:
        """Iterate over all documents in canonical form; those without an entry are empty.

        ``first_word`` is the number of the first word among the entries.
        """
        first = 0
        for documents, words, counts, last in self._merged(n_documents):
            lengths = np.bincount(documents - first, minlength=last - first)
            parts = (counts, words - first_word, offsets(lengths))
            table = read_table(sparse.csr_array(parts, shape=(last - first, n_words)))
            yield Piece(table.indptr, table.words, tightest(table.values))
            first = last

    def flush(self, mark: Callable[[], Mark]) -> None:
        """Sort what is held, and write it as a run."""
        if not self._held:
            return
        documents, words, counts = map(np.concatenate, zip(*self._parts, strict=True))
        self._parts, self._held = [], 0
        if (documents[1:] < documents[:-1]).any():
            order = np.argsort(documents, kind="stable")
            documents, words, counts = documents[order], words[order], counts[order]
        if counts.dtype.kind == "i":
            counts = counts.astype(np.min_scalar_type(int(counts.max())))
        self._write(mark(), dict(zip(_NAMES, (documents, words, counts), strict=True)))

    def _merged(self, n_documents: int) -> Iterator[tuple[Array, Array, Array, int]]:
        """Iterate over entries of ranges of documents: documents, words, counts, end of range."""
        at_once = max(_FEWEST, self._limit // (2 * max(1, len(self._runs))))
        runs = [_Run(file, at_once) for file in self._runs]
        if not runs:
            nothing = np.zeros(0, dtype=np.int32)
            yield nothing, nothing, nothing, n_documents
            return
        first = 0
        while first < n_documents:
            for run in runs:
                run.fill()
            # the last document of what was read may go on behind it
            ends = [int(run.documents[-1]) for run in runs if not run.is_read]
            last = min(ends, default=n_documents)
            if last <= first:  # a document longer than what is read at once
                for run in runs:
                    if not run.is_read and run.documents[-1] <= first:
                        run.extend()
                continue
            taken = [run.take(last) for run in runs]
            documents, words, counts = map(np.concatenate, zip(*taken, strict=True))
            order = np.argsort(documents, kind="stable")
            yield documents[order], words[order], counts[order], last
            first = last


class _Run:
    """A sorted run, read a part at a time."""

    def __init__(self, file: ArrayFile, at_once: int) -> None:
        self._file, self._at_once = file, at_once
        self._next, self._size = 0, file.places["documents"].shape[0]
        self.documents = np.zeros(0, dtype=np.int32)
        self._words, self._counts = self.documents, np.zeros(0, dtype=np.uint8)

    @property
    def is_read(self) -> bool:
        """Whether all entries were read."""
        return self._next >= self._size

    def fill(self) -> None:
        """Read entries, if there are none."""
        if not self.documents.size and not self.is_read:
            self.extend()

    def extend(self) -> None:
        """Read more entries behind those that are held."""
        stop = min(self._size, self._next + self._at_once)
        descriptor = self._file.open()
        try:
            more = [self._file.read(descriptor, name, self._next, stop) for name in _NAMES]
        finally:
            os.close(descriptor)
        self.documents = np.concatenate((self.documents, more[0]))
        self._words = np.concatenate((self._words, more[1]))
        self._counts = np.concatenate((self._counts, more[2]))
        self._next = stop

    def take(self, last: int) -> _Triples:
        """Remove and return the entries of documents before ``last``."""
        n = int(np.searchsorted(self.documents, last))
        taken = self.documents[:n], self._words[:n], self._counts[:n]
        self.documents, self._words = self.documents[n:], self._words[n:]
        self._counts = self._counts[n:]
        return taken
