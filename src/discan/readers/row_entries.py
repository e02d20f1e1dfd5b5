# SPDX-License-Identifier: BSD-3-Clause
"""Entries of a table's rows, and what is learnt of documents and words while they are read."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from discan.data.folders.runs import Mark
from discan.data.nouns import Nouns
from discan.errors import InputError, LimitError, shown
from discan.readers.csv_rows import Row
from discan.readers.numbers import are_counts, check_count
from discan.readers.source import Source
from discan.readers.table_streams import Batch, Entries, TableFacts
from discan.readers.tables import Describing
from discan.typing import Array

__all__ = ["CountRows", "Transposed", "Triples"]

log = logging.getLogger("discan")

ROWS_AT_ONCE = 2**17


class Triples:
    """Number the documents and words of triples in order of appearance.

    ``rows(start)`` iterates over the rows below the heading, from one of them on.
    """

    def __init__(
        self,
        source: Source,
        rows: Callable[[int], Iterator[Row]],
        columns: list[int],
        titles: Sequence[str],
    ) -> None:
        self._source, self._rows, self._columns, self._titles = source, rows, columns, titles
        self._documents: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._facts = _Facts([j for j in range(len(titles)) if j not in columns])
        self._n_rows = 0
        self._marked = (0, 0)  # documents and words of the last mark

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""
        source, documents, words = self._source, self._documents, self._words
        numbers, counts = (array("i"), array("i")), array("d")
        d, w, c = (*self._columns, -1)[:3]
        for line, row in self._rows(self._n_rows):
            if self._facts.columns:
                self._facts.add(row[d].strip(), row)
            document, word = row[d].strip(), row[w].strip()
            if not document or not word:
                what = "word" if document else "document"
                raise source.error(f"an empty {what}; name it", line)
            numbers[0].append(documents.setdefault(document, len(documents)))
            numbers[1].append(words.setdefault(word, len(words)))
            counts.append(1.0 if c < 0 else check_count(source, line, row[c]))
            if len(counts) >= ROWS_AT_ONCE:
                self._n_rows += len(counts)
                yield np.array(numbers[0]), np.array(numbers[1]), np.array(counts)
                numbers, counts = (array("i"), array("i")), array("d")
        if not words:
            raise source.error("the table has no rows")
        self._n_rows += len(counts)
        yield np.array(numbers[0]), np.array(numbers[1]), np.array(counts)

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch, and what is new since the last."""
        n_documents, n_words = self._marked
        self._marked = len(self._documents), len(self._words)
        documents = list(islice(self._documents, n_documents, None))
        return {
            "rows": self._n_rows,
            "documents": documents,
            "words": list(islice(self._words, n_words, None)),
            **self._facts.mark(documents),
        }

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._n_rows = mark["rows"]
        for known, new in ((self._documents, "documents"), (self._words, "words")):
            for name in mark[new]:
                known[name] = len(known)
        self._facts.go_on(mark)
        self._marked = len(self._documents), len(self._words)

    def facts(self, nouns: Nouns | None) -> TableFacts:
        """Return what is known when all rows were read."""
        documents, words = list(self._documents), list(self._words)
        metadata = self._facts.metadata(self._source, documents, self._titles)
        return TableFacts(len(documents), len(words), words, documents, metadata, nouns)


class _Facts:
    """Columns besides document, word and count: those that are the same in all its rows."""

    def __init__(self, columns: list[int]) -> None:
        self.columns = columns
        self._of: dict[str, list[str]] = {}
        self._varies: set[int] = set()

    def add(self, document: str, row: list[str]) -> None:
        """Compare a row with the first one of its document."""
        cells = [row[j].strip() for j in self.columns]
        known = self._of.setdefault(document, cells)
        if known is not cells and known != cells:
            self._varies.update(n for n, cell in enumerate(cells) if cell != known[n])

    def mark(self, documents: list[str]) -> Mark:
        """Return what was learnt of new documents, and what varies in any."""
        rows = [self._of[document] for document in documents] if self.columns else []
        cells = {str(n): [row[n] for row in rows] for n in range(len(self.columns))}
        return {"cells": cells, "varies": sorted(self._varies)}

    def go_on(self, mark: Mark) -> None:
        """Learn again what a mark holds."""
        cells = [mark["cells"][str(n)] for n in range(len(self.columns))]
        for document, *row in zip(mark["documents"], *cells, strict=True) if cells else ():
            self._of[document] = row
        self._varies.update(mark["varies"])

    def metadata(
        self, source: Source, documents: list[str], titles: Sequence[str]
    ) -> dict[str, Array]:
        """Return what describes the documents; say what is left out."""
        names = [titles[j] for j in self.columns]
        for n in sorted(self._varies):
            reason = "its title names no count, and it differs inside documents"
            log.info("%s: column %s is left out: " + reason, source.path, shown(names[n]))
        kept = [n for n in range(len(names)) if n not in self._varies]
        if not kept:
            return {}
        describing = Describing([names[n] for n in kept])
        for document in documents:
            describing.add([self._of[document][n] for n in kept])
        some = ", ".join(shown(names[n]) for n in kept)
        log.info("%s: kept as metadata, not counted: %s", source.path, some)
        return describing.metadata()


class CountRows:
    """Read rows of counts; their names and what describes them are kept.

    Parameters
    ----------
    rows : function of a number
        Iterates over the rows below the heading, from one of them on.
    names : number of the column that names the rows, or None
    described : numbers of the columns that describe the rows, by title
    counted : numbers of the columns of counts, by title
    """

    def __init__(
        self,
        source: Source,
        rows: Callable[[int], Iterator[Row]],
        names: int | None,
        described: dict[str, int],
        counted: dict[str, int],
    ) -> None:
        self._source, self._rows, self._names = source, rows, names
        self._described, self._counted = list(described.values()), counted
        self._describing = Describing(list(described))
        self._documents: list[str] = []
        self._n_rows = self._marked = 0

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""
        lengths, words, counts = array("q"), array("i"), array("d")
        titles, kept = list(self._counted), list(self._counted.values())
        for line, row in self._rows(self._n_rows):
            cells = row if len(kept) == len(row) else [row[j] for j in kept]
            values = _counts(self._source, line, cells, titles)
            present = np.flatnonzero(values)
            lengths.append(len(present))
            words.frombytes(present.astype(np.int32).tobytes())
            counts.frombytes(values[present].tobytes())
            if self._names is not None:
                self._documents.append(row[self._names].strip())
            if self._described:
                self._describing.add([row[j] for j in self._described])
            if len(counts) >= ROWS_AT_ONCE:
                yield self._batch(lengths), np.array(words), np.array(counts)
                lengths, words, counts = array("q"), array("i"), array("d")
        yield self._batch(lengths), np.array(words), np.array(counts)

    def _batch(self, lengths: array[int]) -> Array:
        """Count rows that were read; return the number of the row of each entry."""
        first, self._n_rows = self._n_rows, self._n_rows + len(lengths)
        return np.repeat(np.arange(first, self._n_rows), lengths)

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch, and what is new since the last."""
        first, self._marked = self._marked, self._n_rows
        cells = {str(n): column for n, column in enumerate(self._describing.since(first))}
        return {"rows": self._n_rows, "documents": self._documents[first:], "cells": cells}

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._n_rows = self._marked = mark["rows"]
        self._documents += mark["documents"]
        cells = [mark["cells"][str(n)] for n in range(len(self._described))]
        for row in zip(*cells, strict=True):
            self._describing.add(row)

    def facts(self, has_titles: bool) -> TableFacts:
        """Return what is known when all rows were read."""
        return TableFacts(
            self._n_rows,
            len(self._counted),
            word_names=list(self._counted) if has_titles else None,
            document_names=None if self._names is None else self._documents,
            metadata=self._describing.metadata(),
        )


class Transposed:
    """Entries of a table whose rows are words and whose columns are documents."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self.mark, self.go_on = entries.mark, entries.go_on

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""
        for rows, columns, counts in self._entries.batches():
            yield columns, rows, counts


def _counts(source: Source, line: int, cells: list[str], titles: list[str]) -> Array:
    """Return the counts of a row; an error names the line and the column."""
    try:
        values = np.array(cells, dtype=np.float64)
        if are_counts(values) and "_" not in "".join(cells):
            return values  # NumPy reads 1_0 as ten
    except ValueError:
        pass
    for cell, title in zip(cells, titles, strict=True):
        try:
            check_count(source, line, cell)
        except (InputError, LimitError) as error:
            raise type(error)(f"{error} (column {shown(title)})") from None
    return np.array([float(cell) for cell in cells])
