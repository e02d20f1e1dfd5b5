# SPDX-License-Identifier: BSD-3-Clause
"""Read sparse matrices in text, as triples: MatrixMarket and UCI bag of words."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.data.folders.runs import Mark
from discan.data.intake import tightest
from discan.data.nouns import CELLS, TEXT
from discan.errors import shown
from discan.readers.guess import reader
from discan.readers.numbers import (
    END,
    Chunks,
    Parts,
    are_counts,
    are_indices,
    check_count,
    check_index,
    check_size,
    join_parts,
    parse_numbers,
    sparse_table,
    split_lines,
)
from discan.readers.source import Source, unpacked_name
from discan.readers.table_streams import Batch, TableFacts, TableStream
from discan.readers.vocabularies import Vocabulary, read_words
from discan.typing import Array

__all__ = ["read_mtx", "read_uci"]

log = logging.getLogger("discan")

_UCI = re.compile(r"\ufeff?\d+\s*\n\d+\s*\n\d+\s*\n\d+ \d+ \S+\s*(\n|$)")


class _Header(NamedTuple):
    n_rows: int
    n_columns: int
    n_entries: int
    has_counts: bool  # each line ends with a count
    row: str
    column: str


@reader(
    "mtx",
    "MatrixMarket coordinates, documents by words; a vocabulary may stand beside it",
    endings=(".mtx", ".mm"),
    sniff=lambda source: _is_mtx(source),
    table=lambda source, **options: _stream_mtx(source, **options),
)
def read_mtx(
    source: Source,
    vocabulary: Vocabulary = None,
    transpose: Annotated[
        bool | None,
        "Whether rows are words; by default they are when only the rows match the vocabulary.",
    ] = None,
) -> Corpus:
    """Read a MatrixMarket file, or a folder that holds matrix.mtx, as 10x writes it."""
    source = _inside(source)
    with Chunks(source) as chunks:
        header = _read_mtx_header(source, chunks)
        table = _table(_triples(source, chunks, header), header)
    is_transposed, facts = _mtx_facts(source, header, vocabulary, transpose)
    return source.corpus(table.T if is_transposed else table, **facts)


def _stream_mtx(
    source: Source, vocabulary: Vocabulary = None, transpose: bool | None = None
) -> TableStream:
    """Read a MatrixMarket file in pieces."""
    source = _inside(source)
    with Chunks(source) as chunks:
        header = _read_mtx_header(source, chunks)
    is_transposed, facts = _mtx_facts(source, header, vocabulary, transpose)

    n_documents, n_words = (header.n_rows, header.n_columns)[:: -1 if is_transposed else 1]
    known = TableFacts(n_documents, n_words, **facts)
    entries = _FileEntries(source, _read_mtx_header, is_transposed)
    return TableStream(source, lambda: known, entries, how=is_transposed)


def _mtx_facts(
    source: Source, header: _Header, vocabulary: Vocabulary, transpose: bool | None
) -> tuple[bool, dict[str, Any]]:
    """Return whether rows are words, and the names and nouns of a MatrixMarket file."""
    start = source.path.name[: len(source.name)].removesuffix("matrix.mtx")
    start = start if start.endswith(("_", ".", "-")) else ""  # as GEO has it: GSM123_matrix.mtx
    own = (f"{start}features.tsv", f"{start}genes.tsv") if start else ()
    words = read_words(source, vocabulary, *own)
    if transpose is None:
        n_names = None if words.names is None else len(words.names)
        transpose = n_names == header.n_rows != header.n_columns
        if transpose:
            log.info("%s: rows are words, as the vocabulary has as many", source.path)
    n_documents, n_words = (header.n_rows, header.n_columns)[:: -1 if transpose else 1]
    words.check_size(source, n_words)
    with_barcodes = words.path is not None and words.path.suffix != ".txt"
    barcodes = source.beside(f"{start}barcodes.tsv") if with_barcodes else None
    names = [text for _, text in source.lines(barcodes)] if barcodes else []
    cells = words.path is not None and unpacked_name(words.path).endswith(
        ("genes.tsv", "features.tsv")
    )
    return transpose, {
        "word_names": words.names,
        "document_names": names if len(names) == n_documents else None,
        "nouns": CELLS if cells else None,
    }


def _inside(source: Source) -> Source:
    """Return the matrix that a folder holds, or the file itself."""
    inside = _matrix_in(source)
    return source if inside is None else Source(inside, source.max_unpacked)


def _is_mtx(source: Source) -> bool:
    if source.is_folder:
        return _matrix_in(source) is not None
    return source.head.lstrip("\ufeff").lower().startswith("%%matrixmarket")


def _matrix_in(source: Source) -> Path | None:
    """Return the matrix of a folder."""
    if not source.is_folder:
        return None
    names = ("matrix.mtx", "matrix.mtx.gz")
    found = next((p for name in names if (p := source.path / name).is_file()), None)
    if found is None:  # as GEO has it: GSM123_matrix.mtx.gz
        others = sorted(p for name in names for p in source.path.glob(f"*[_.-]{name}"))
        if len(others) > 1:
            listed = ", ".join(p.name for p in others[:3]) + (", ..." if len(others) > 3 else "")
            raise source.error(f"holds {len(others)} matrices, {listed}; name one of them")
        found = others[0] if others else None
    return found


def _read_mtx_header(source: Source, chunks: Chunks) -> _Header:
    kind = (chunks.line() or "").lower().split()
    if len(kind) != 5 or kind[:2] != ["%%matrixmarket", "matrix"]:
        expected = "%%MatrixMarket matrix coordinate integer general"
        raise source.error(f"no MatrixMarket heading ({expected})", 1)
    layout, field, symmetry = kind[2:]
    for what, found, known in (
        ("layout", layout, ("coordinate",)),
        ("field", field, ("integer", "real", "pattern")),
        ("symmetry", symmetry, ("general",)),
    ):
        if found not in known:
            problem = f"{what} {shown(found)} is not read; save it as {' or '.join(known)}"
            raise source.error(problem, 1)
    line = chunks.line()
    while line is not None and (not line or line.startswith("%")):
        line = chunks.line()
    sizes = (line or "").split()
    if len(sizes) != 3:
        problem = f"expected rows, columns and entries, found {shown(line)}"
        raise source.error(problem, chunks.number)
    n_rows, n_columns, n_entries = (
        check_index(source, chunks.number, text, f"number of {what}", 0, 2**62)
        for text, what in zip(sizes, ("rows", "columns", "entries"), strict=True)
    )
    return _Header(n_rows, n_columns, n_entries, field != "pattern", "row", "column")


@reader(
    "uci",
    "UCI bag of words, docword.NAME.txt with vocab.NAME.txt beside it",
    sniff=lambda source: _UCI.match(source.head) is not None,
    table=lambda source, **options: _stream_uci(source, **options),
)
def read_uci(source: Source, vocabulary: Vocabulary = None) -> Corpus:
    """Read a UCI bag of words: lines D, W and NNZ, then `document word count` from 1."""
    with Chunks(source) as chunks:
        header = _read_uci_header(source, chunks)
        table = _table(_triples(source, chunks, header), header)
    return source.corpus(table, **_uci_facts(source, header, vocabulary))


def _stream_uci(source: Source, vocabulary: Vocabulary = None) -> TableStream:
    """Read a UCI bag of words in pieces."""
    with Chunks(source) as chunks:
        header = _read_uci_header(source, chunks)
    known = TableFacts(header.n_rows, header.n_columns, **_uci_facts(source, header, vocabulary))
    return TableStream(source, lambda: known, _FileEntries(source, _read_uci_header))


def _read_uci_header(source: Source, chunks: Chunks) -> _Header:
    sizes = []
    for what in ("number of documents", "number of words", "number of entries"):
        line = chunks.line()
        if line is None:
            raise source.error(f"the file ends before the {what}", chunks.number + 1)
        sizes.append(check_index(source, chunks.number, line, what, 0, 2**62))
    return _Header(sizes[0], sizes[1], sizes[2], True, "document", "word")


def _uci_facts(source: Source, header: _Header, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return the names of the words, and the nouns."""
    own = source.name.replace("docword", "vocab")
    words = read_words(source, vocabulary, *([own] if own != source.name else []))
    words.check_size(source, header.n_columns)
    return {"word_names": words.names, "nouns": TEXT}


class _FileEntries:
    """Entries of a file of triples; chunks that were read before are not parsed again."""

    def __init__(
        self, source: Source, heading: Callable[[Source, Chunks], _Header], transpose: bool = False
    ) -> None:
        self._source, self._heading, self._transpose = source, heading, transpose
        self._n_chunks = self._n_entries = 0

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""
        with Chunks(self._source) as chunks:
            header = self._heading(self._source, chunks)
            for _ in islice(chunks, self._n_chunks):
                pass
            triples = _triples(self._source, chunks, header, self._n_entries)
            for rows, columns, counts in triples:
                self._n_chunks += 1
                self._n_entries += counts.size
                yield (columns, rows, counts) if self._transpose else (rows, columns, counts)

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch."""
        return {"chunks": self._n_chunks, "entries": self._n_entries}

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._n_chunks, self._n_entries = mark["chunks"], mark["entries"]


def _table(triples: Iterable[Parts], header: _Header) -> Any:
    """Make a table of all its triples."""
    return sparse_table(*join_parts(list(triples)), (header.n_rows, header.n_columns))


def _triples(
    source: Source, chunks: Chunks, header: _Header, n_entries: int = 0
) -> Iterator[Parts]:
    """Iterate over parts of the triples; memory grows with what is read, not with the heading.

    ``n_entries`` were read before. There is a part for each chunk.
    """
    for size, what in ((header.n_rows, header.row), (header.n_columns, header.column)):
        if size == 0:
            raise source.error(f"the heading says 0 {what}s; at least one is needed")
        check_size(source, size, header.n_entries, f"{what}s")
    for first, chunk in chunks:
        found = _parse_triples(chunk, header)
        lines = None
        if found is None:
            found, lines = _parse_triples_slowly(source, first, chunk, header)
        if n_entries + len(found) > header.n_entries:
            place = header.n_entries - n_entries
            problem = f"more than the {header.n_entries:,} entries of the heading; correct either"
            raise source.error(problem, first + place if lines is None else lines[place])
        indices = (found[:, :2] - 1).astype(np.int32)
        n_entries += len(found)
        yield indices[:, 0], indices[:, 1], tightest(found[:, 2])
    if n_entries < header.n_entries:
        problem = f"the file ends after {n_entries:,} entries, but its heading says "
        raise source.error(f"{problem}{header.n_entries:,}; is it cut short?", chunks.number)


def _parse_triples(chunk: bytes, header: _Header) -> Array | None:
    """Parse a regular chunk into an (n, 3) array; None if anything in it is irregular."""
    found = None if b":" in chunk else parse_numbers(chunk)
    width = 4 if header.has_counts else 3
    if found is None or found.size != width * chunk.count(b"\n"):
        return None
    found = found.reshape(-1, width)
    if not (found[:, -1] == END).all():
        return None
    if not header.has_counts:
        found[:, -1] = 1
    good = (
        are_indices(found[:, 0], 1, header.n_rows)
        and are_indices(found[:, 1], 1, header.n_columns)
        and are_counts(found[:, 2])
    )
    return found[:, :3] if good else None


def _parse_triples_slowly(
    source: Source, first: int, chunk: bytes, header: _Header
) -> tuple[Array, list[int]]:
    """Parse line by line, to skip blank lines and to name the line of an error."""
    found: list[tuple[float, ...]] = []
    lines: list[int] = []
    names = (header.row, header.column, "count")[: 3 if header.has_counts else 2]
    for line, text, fields in split_lines(first, chunk):
        if len(fields) != len(names):
            problem = f"expected {len(names)} numbers ({', '.join(names)}), found {shown(text)}"
            raise source.error(problem, line)
        row = check_index(source, line, fields[0], header.row, 1, header.n_rows)
        column = check_index(source, line, fields[1], header.column, 1, header.n_columns)
        found.append((row, column, check_count(source, line, fields[2]) if names[2:] else 1.0))
        lines.append(line)
    return np.array(found, dtype=np.float64).reshape(-1, 3), lines
