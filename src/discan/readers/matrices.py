# SPDX-License-Identifier: BSD-3-Clause
"""Read sparse matrices in text: MatrixMarket, UCI bag of words, LDA-C and SVMlight."""

from __future__ import annotations

import csv
import logging
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.intake import LARGEST_COUNT, LARGEST_INT32
from discan.errors import InputError, LimitError, StorageError
from discan.readers.source import MAX_LINE, PACKED, Source, reader
from discan.typing import Array

__all__ = [
    "Triples",
    "check_count",
    "check_size",
    "check_vocabulary",
    "find_vocabulary",
    "make_corpus",
    "number",
    "read_vocabulary",
    "shown",
    "stem",
]

log = logging.getLogger("discan")

CHUNK = 2**20  # bytes
FREE_SIZE = 2**22
"""Documents or words that a file may claim without having an entry for each."""

_WHOLE = re.compile(rb"[+-]?[0-9]{1,4000}")
_END, _COLON = -1, -2  # stand for the end of a line and for a colon among parsed numbers

# ---- what all readers of matrices share ----


class Triples:
    """Collect documents, words and counts; memory grows with what was read, never a header."""

    def __init__(self) -> None:
        self._parts: list[tuple[Array, Array, Array]] = []
        self.n_entries = 0

    def add(self, documents: Array, words: Array, counts: Array) -> None:
        """Add checked numbers from 0 and counts from 0 to 1e15."""
        if counts.dtype != np.int32 and (np.rint(counts) == counts).all():
            if counts.size == 0 or counts.max() <= LARGEST_INT32:
                counts = counts.astype(np.int32)
        self._parts.append((documents.astype(np.int32), words.astype(np.int32), counts))
        self.n_entries += len(words)

    def table(self, n_documents: int, n_words: int) -> Any:
        """Make a sparse table, and forget the triples."""
        columns = list(zip(*self._parts, strict=True)) or [(), (), ()]
        self._parts = []
        documents, words, counts = (_join(columns.pop(0)) for _ in range(3))
        shape = (n_documents, n_words)
        if (documents[1:] >= documents[:-1]).all():
            indptr = np.zeros(n_documents + 1, dtype=np.int64)
            np.cumsum(np.bincount(documents, minlength=n_documents), out=indptr[1:])
            return sparse.csr_array((counts, words, indptr), shape=shape)
        return sparse.coo_array((counts, (documents, words)), shape=shape)


def _join(parts: Any) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def make_corpus(source: Source, counts: Any, **options: Any) -> Corpus:
    """Make a corpus of a table, and name the file in what goes wrong."""
    try:
        return Corpus(counts, **options)
    except (InputError, LimitError) as error:
        raise type(error)(f"{source.path}: {error}") from None


def check_size(source: Source, size: int, n_entries: int, what: str) -> None:
    """Refuse a claim of many more documents or words than there are entries to fill them."""
    if size > min(FREE_SIZE + 8 * n_entries, LARGEST_INT32):
        raise LimitError(
            f"{source.path}: claims {size:,} {what} but holds {n_entries:,} entries; correct the "
            "file, or number what is used from the start"
        )


def shown(value: Any) -> str:
    """Return a value as it may stand in a message: quoted, on one line, not too long."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text):,} characters)"


def number(text: str | bytes) -> float | None:
    """Read a number, None if it is none; NaN and infinities are numbers here."""
    mark = "_" if isinstance(text, str) else b"_"
    try:
        return None if mark in text else float(text)  # type: ignore[operator]
    except ValueError:
        return None


def check_count(source: Source, line: int, text: str | bytes, path: Path | None = None) -> float:
    """Read a count, or say what is wrong with it and where."""
    value = number(text)
    if value is None:
        raise source.error(line, f"count {shown(text)} is not a number; correct it", path)
    if not math.isfinite(value):
        raise source.error(line, f"count {shown(text)} is not finite; correct or remove it", path)
    if value < 0:
        raise source.error(line, f"count {shown(text)} is negative; counts are 0 or more", path)
    if value > LARGEST_COUNT:
        where = f"{path or source.path}, line {line}"
        raise LimitError(f"{where}: count {shown(text)} is above {LARGEST_COUNT:g}; rescale it")
    return value


def _check_index(source: Source, line: int, text: bytes, what: str, low: int, high: int) -> int:
    value = int(text) if _WHOLE.fullmatch(text) else None
    if value is None:
        raise source.error(line, f"{what} {shown(text)} is not a whole number; correct it")
    if not low <= value <= high:
        hint = "; they are numbered from 1 here" if value == 0 and low == 1 else "; correct it"
        raise source.error(line, f"{what} {shown(text)} is outside {low} .. {high}{hint}")
    return value


class _Lines:
    """Read a file line by line at its start, then in chunks of whole lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._stream = source.open()
        self._rest = b""
        self._whole = False
        self.number = 0

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def line(self) -> bytes | None:
        """Return the next line without its end, None at the end of the file."""
        self._fill()
        if not self._rest:
            return None
        line, _, self._rest = self._rest.partition(b"\n")
        self.number += 1
        return line.removeprefix(b"\xef\xbb\xbf").strip() if self.number == 1 else line.strip()

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """Yield (number of the first line, whole lines with their ends)."""
        while True:
            self._fill()
            if not self._rest:
                return
            end = self._rest.rfind(b"\n") + 1
            chunk, self._rest = self._rest[:end], self._rest[end:]
            first = self.number + 1
            self.number += chunk.count(b"\n")
            if first == 1:
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
            yield first, chunk

    def _fill(self) -> None:
        """Read on until there is a whole line."""
        while b"\n" not in self._rest and not self._whole:
            if len(self._rest) > MAX_LINE:
                where = f"{self._source.path}, line {self.number + 1}"
                raise LimitError(f"{where}: longer than {MAX_LINE:,} bytes; is it a text file?")
            try:
                part = self._stream.read(CHUNK)
            except OSError as error:
                raise StorageError(f"{self._source.path}: {error.strerror or error}") from None
            self._whole = not part
            self._rest += part
            if self._whole and self._rest and not self._rest.endswith(b"\n"):
                self._rest += b"\n"


def _numbers(chunk: bytes, dtype: Any) -> Array | None:
    """Parse all numbers of a chunk, an end of line as -1 and a colon as -2; None if it cannot."""
    text = chunk.replace(b":", b" -2 ").replace(b"\n", b" -1 ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = np.fromstring(text, dtype=dtype, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return np.asarray(found)


def _good_counts(counts: Array) -> bool:
    return bool(((counts >= 0) & (counts <= LARGEST_COUNT)).all())


def _good_indices(indices: Array, low: int, high: int) -> bool:
    good = (indices >= low) & (indices <= high)
    if indices.dtype.kind == "f":
        good &= np.rint(indices) == indices
    return bool(good.all())


# ---- vocabularies ----


def stem(source: Source) -> str:
    """Return the name of the file without its ending."""
    return re.sub(r"\.[^.]*$", "", source.name)


def beside(source: Source, names: tuple[str, ...]) -> Path | None:
    """Find a file of the family in the same folder, packed or not."""
    folder = source.path.parent
    for name in names:
        for suffix in ("", *PACKED):
            if (folder / (name + suffix)).is_file():
                return folder / (name + suffix)
    return None


_VOCABULARIES = ("vocab.txt", "vocabulary.txt", "words.txt", "genes.tsv", "features.tsv")
_NAME_COLUMNS = ("word", "term", "symbol", "gene", "name")


def find_vocabulary(source: Source, vocabulary: Any, names: tuple[str, ...] = ()) -> Path | None:
    """Return the file of words: the one given, or one beside the source; None if there is none."""
    if vocabulary is False:
        return None
    if vocabulary is not None:
        path = Path(vocabulary)
        if not path.is_file():
            raise InputError(f"vocabulary {path}: no such file")
        return path
    base = stem(source)
    own = (f"vocab.{base}.txt", f"{base}.vocab", f"{base}.vocab.txt", f"{base}_vocab.txt")
    return beside(source, (*names, *own, *_VOCABULARIES))


def read_vocabulary(source: Source, path: Path | None) -> list[str] | None:
    """Read words, one a line; of a table with tabs or commas, the column that names them."""
    if path is None:
        return None
    lines = [(number, text) for number, text in source.lines(path)]
    while lines and not lines[-1][1].strip():
        lines.pop()
    texts = [text for _, text in lines]
    name = path.name.lower()
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    first = 1
    try:
        if name.endswith(".csv"):
            heading, *rows = csv.reader(texts, strict=True)
            lowered = [title.lower() for title in heading]
            column = next((lowered.index(n) for n in _NAME_COLUMNS if n in lowered), -1)
            words, first = _distinct(rows, column), 2
        elif name.endswith(".tsv"):
            rows = [text.split("\t") for text in texts]
            words = _distinct(rows, min(1, len(rows[0]) - 1)) if rows else []
        else:
            words = [text.strip() for text in texts]
    except (csv.Error, IndexError, ValueError) as error:
        raise InputError(f"{path}: not a table of words ({error}); pass one word a line") from None
    seen: dict[str, int] = {}
    for line, word in enumerate(words, start=first):
        if not word:
            raise source.error(line, "an empty word; name it or pass vocabulary=False", path)
        if seen.setdefault(word, line) != line:
            raise source.error(
                line,
                f"word {shown(word)} stands in line {seen[word]} too; make the words different or "
                "pass vocabulary=False",
                path,
            )
    log.info("%s: words named by %s", source.path, path)
    return words


def _distinct(rows: list[list[str]], column: int) -> list[str]:
    """Return a column of names; those that repeat, as symbols of genes do, with an identifier."""
    words = [row[column] for row in rows]
    if len(set(words)) == len(words):
        return words
    times = Counter(words)
    for other in range(len(rows[0])):
        identifiers = [row[other] for row in rows]
        if len(set(identifiers)) == len(rows) and not all(map(str.isdigit, identifiers)):
            return [
                word if times[word] == 1 else f"{word} ({identifier})"
                for word, identifier in zip(words, identifiers, strict=True)
            ]
    return words


def check_vocabulary(source: Source, words: list[str] | None, path: Any, n_words: int) -> None:
    """Refuse a vocabulary of another length."""
    if words is not None and len(words) != n_words:
        raise InputError(
            f"{path}: {len(words):,} words, but {source.path} has {n_words:,}; pass the right file "
            "as vocabulary=..., or vocabulary=False"
        )


# ---- MatrixMarket and UCI bag of words: triples numbered from 1 ----


class _Header(NamedTuple):
    n_rows: int
    n_columns: int
    n_entries: int
    valued: bool  # each line ends with a count
    row: str
    column: str


@reader(
    "mtx",
    "MatrixMarket coordinates, documents by words; a vocabulary may stand beside it",
    endings=(".mtx", ".mm"),
    sniff=lambda source, head: head.lstrip("\ufeff").lower().startswith("%%matrixmarket"),
)
def read_mtx(source: Source, vocabulary: Any = None, transpose: bool | None = None) -> Corpus:
    """Read a MatrixMarket file.

    Parameters
    ----------
    source : Source
    vocabulary : path, optional
        One word a line. Without it vocab.txt, words.txt, genes.tsv or features.tsv beside the
        file is used; False means none.
    transpose : bool, optional
        Rows are words. Without it, they are when only the rows match the vocabulary.
    """
    with _Lines(source) as lines:
        header = _read_mtx_header(source, lines)
        triples = _read_triples(source, lines, header)
    path = find_vocabulary(source, vocabulary)
    words = read_vocabulary(source, path)
    shape = (header.n_rows, header.n_columns)
    if transpose is None:
        transpose = words is not None and len(words) == shape[0] != shape[1]
        if transpose:
            log.info("%s: rows are words, as the vocabulary has as many", source.path)
    n_documents, n_words = shape[::-1] if transpose else shape
    check_vocabulary(source, words, path, n_words)
    barcodes = beside(source, ("barcodes.tsv",)) if path and path.suffix != ".txt" else None
    names = [text for _, text in source.lines(barcodes)] if barcodes else []
    table = triples.table(*shape)
    return make_corpus(
        source,
        table.T if transpose else table,
        word_names=words,
        document_names=names if len(names) == n_documents else None,
    )


def _read_mtx_header(source: Source, lines: _Lines) -> _Header:
    kind = (lines.line() or b"").lower().split()
    if len(kind) != 5 or kind[0] != b"%%matrixmarket" or kind[1] != b"matrix":
        raise source.error(
            1, "no MatrixMarket heading (%%MatrixMarket matrix coordinate integer general)"
        )
    layout, field, symmetry = (word.decode("ascii", errors="replace") for word in kind[2:])
    if layout != "coordinate":
        raise source.error(1, f"layout {shown(layout)} is not read; save it as coordinate")
    if field not in ("integer", "real", "pattern"):
        raise source.error(
            1, f"field {shown(field)} holds no counts; save it as integer, real or pattern"
        )
    if symmetry != "general":
        raise source.error(
            1,
            f"symmetry {shown(symmetry)} is not read: a table of documents by words is not "
            "symmetric; save it as general",
        )
    line = lines.line()
    while line is not None and (not line or line.startswith(b"%")):
        line = lines.line()
    sizes = (line or b"").split()
    if len(sizes) != 3:
        raise source.error(lines.number, f"expected rows, columns and entries, found {shown(line)}")
    numbers = [
        _check_index(source, lines.number, text, what, 0, 2**62)
        for text, what in zip(sizes, ("number of rows", "of columns", "of entries"), strict=True)
    ]
    return _Header(numbers[0], numbers[1], numbers[2], field != "pattern", "row", "column")


def _is_uci(source: Source, head: str) -> bool:
    return re.match(r"\ufeff?\d+\s*\n\d+\s*\n\d+\s*\n\d+ \d+ \S+\s*(\n|$)", head) is not None


@reader(
    "uci",
    "UCI bag of words, docword.NAME.txt with vocab.NAME.txt beside it",
    sniff=_is_uci,
)
def read_uci(source: Source, vocabulary: Any = None) -> Corpus:
    """Read a UCI bag of words: lines D, W and NNZ, then `document word count` from 1.

    Parameters
    ----------
    source : Source
    vocabulary : path, optional
        One word a line. Without it vocab.NAME.txt beside the file is used; False means none.
    """
    with _Lines(source) as lines:
        sizes = []
        for what in ("number of documents", "number of words", "number of entries"):
            line = lines.line()
            if line is None:
                raise source.error(lines.number + 1, f"the file ends before the {what}")
            sizes.append(_check_index(source, lines.number, line, what, 0, 2**62))
        header = _Header(sizes[0], sizes[1], sizes[2], True, "document", "word")
        triples = _read_triples(source, lines, header)
    own = source.name.replace("docword", "vocab")
    path = find_vocabulary(source, vocabulary, (own,) if own != source.name else ())
    words = read_vocabulary(source, path)
    check_vocabulary(source, words, path, header.n_columns)
    return make_corpus(source, triples.table(*sizes[:2]), word_names=words)


def _read_triples(source: Source, lines: _Lines, header: _Header) -> Triples:
    triples = Triples()
    for first, chunk in lines.chunks():
        found = _parse_triples(chunk, header)
        numbers = np.arange(first, first + len(found)) if found is not None else np.zeros(0)
        if found is None:
            found, numbers = _parse_triples_slowly(source, first, chunk, header)
        if triples.n_entries + len(found) > header.n_entries:
            line = int(numbers[header.n_entries - triples.n_entries])
            raise source.error(
                line, f"more than the {header.n_entries:,} entries of the heading; correct either"
            )
        triples.add(found[:, 0] - 1, found[:, 1] - 1, found[:, 2])
    if triples.n_entries < header.n_entries:
        raise InputError(
            f"{source.path}, line {lines.number}: the file ends after {triples.n_entries:,} "
            f"entries, but its heading says {header.n_entries:,}; is it cut short?"
        )
    for size, what in ((header.n_rows, header.row), (header.n_columns, header.column)):
        if size == 0:
            raise InputError(f"{source.path}: the heading says 0 {what}s; at least one is needed")
        check_size(source, size, triples.n_entries, f"{what}s")
    return triples


def _parse_triples(chunk: bytes, header: _Header) -> Array | None:
    """Parse a regular chunk into an (n, 3) array; None if anything in it is out of order."""
    width = 4 if header.valued else 3
    for dtype in (np.int64, np.float64):
        found = None if b":" in chunk else _numbers(chunk, dtype)
        if found is None or found.size != width * chunk.count(b"\n"):
            continue
        found = found.reshape(-1, width)
        if not (found[:, -1] == _END).all():
            return None
        if header.valued:
            found = found[:, :3]
        else:
            found[:, -1] = 1
        good = (
            _good_indices(found[:, 0], 1, min(header.n_rows, LARGEST_INT32))
            and _good_indices(found[:, 1], 1, min(header.n_columns, LARGEST_INT32))
            and _good_counts(found[:, 2])
        )
        return found if good else None
    return None


def _parse_triples_slowly(
    source: Source, first: int, chunk: bytes, header: _Header
) -> tuple[Array, Array]:
    """Parse line by line: skip blank lines, and say where it goes wrong."""
    found: list[tuple[float, ...]] = []
    numbers: list[int] = []
    names = (header.row, header.column, "count")[: 3 if header.valued else 2]
    for line, text in enumerate(chunk.splitlines(), start=first):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != len(names):
            raise source.error(
                line, f"expected {len(names)} numbers ({', '.join(names)}), found {shown(text)}"
            )
        row = _check_index(source, line, fields[0], header.row, 1, header.n_rows)
        column = _check_index(source, line, fields[1], header.column, 1, header.n_columns)
        for value, what in ((row, header.row), (column, header.column)):
            if value > LARGEST_INT32:
                raise LimitError(f"{source.path}, line {line}: {what} {value} is above 2**31 - 1")
        count = check_count(source, line, fields[2]) if header.valued else 1.0
        found.append((row, column, count))
        numbers.append(line)
    return np.array(found, dtype=np.float64).reshape(-1, 3), np.array(numbers)


# ---- LDA-C and SVMlight: a line a document, with id:count ----


class _Pairs:
    """Documents as they are read: lengths, words as numbered in the file, and counts."""

    def __init__(self) -> None:
        self.lengths: list[Array] = []
        self.words: list[Array] = []
        self.counts: list[Array] = []
        self.n_documents = 0

    def add(self, lengths: Any, words: Array, counts: Array) -> None:
        if counts.dtype.kind == "i" and (counts.size == 0 or counts.max() <= LARGEST_INT32):
            counts = counts.astype(np.int32)
        self.lengths.append(np.asarray(lengths, dtype=np.int64))
        self.words.append(words.astype(np.int32))
        self.counts.append(counts)
        self.n_documents += len(self.lengths[-1])

    def corpus(
        self, source: Source, base: int | None, vocabulary: Any, names: list[str] | None
    ) -> Corpus:
        """Make the corpus; `base` is the number of the first word, None to tell by the least."""
        if not self.n_documents:
            raise InputError(f"{source.path}: holds no documents")
        words = _join(self.words)
        if base is None:
            base = 1 if words.size and words.min() >= 1 else 0
        words -= base
        largest = int(words.max()) if words.size else -1
        path = find_vocabulary(source, vocabulary)
        strings = read_vocabulary(source, path)
        n_words = largest + 1
        if strings is not None:
            n_words = len(strings)
            if largest >= n_words:
                raise InputError(
                    f"{source.path}: word {largest + base} is beyond the {n_words:,} words of "
                    f"{path}; pass the right file as vocabulary=..., or vocabulary=False"
                )
        if n_words == 0:
            raise InputError(f"{source.path}: holds no words")
        check_size(source, n_words, words.size, "words")
        indptr = np.concatenate(([0], np.cumsum(_join(self.lengths), dtype=np.int64)))
        shape = (self.n_documents, n_words)
        table = sparse.csr_array((_join(self.counts), words, indptr), shape=shape)
        return make_corpus(source, table, word_names=strings, document_names=names)


_LDAC_LINE = re.compile(r"(\d{1,9})((?: +\d+:\d+)*)\s*")
_SVM_LINE = re.compile(r"[-+]?[\d.][-+\d.e,]*((?: +(?:qid|\d+):[-+\d.eE]+)+)\s*(#.*)?")


def _first_lines(head: str) -> list[str]:
    lines = head.lstrip("\ufeff").splitlines()
    return [line for line in (lines[:-1] if len(lines) > 1 else lines)[:20] if line.strip()]


def _is_ldac(source: Source, head: str) -> bool:
    lines = _first_lines(head)
    matches = [_LDAC_LINE.fullmatch(line) for line in lines]
    if head and not lines[1:] and re.match(r"\d+(?: \d+:\d+){9}", head):
        return True  # one very long line
    return (
        bool(lines)
        and ":" in head
        and all(m is not None and int(m[1]) == m[2].count(":") for m in matches)
    )


def _is_svmlight(source: Source, head: str) -> bool:
    lines = [line for line in _first_lines(head) if not line.startswith("#")]
    return bool(lines) and all(_SVM_LINE.fullmatch(line) for line in lines)


@reader(
    "ldac",
    "LDA-C, a line a document: how many different words, then id:count from 0",
    endings=(".ldac", ".lda-c"),
    sniff=_is_ldac,
)
def read_ldac(source: Source, vocabulary: Any = None) -> Corpus:
    """Read Blei's LDA-C format.

    Parameters
    ----------
    source : Source
    vocabulary : path, optional
        One word a line. Without it vocab.txt beside the file is used; False means none.
    """
    pairs = _Pairs()
    with _Lines(source) as lines:
        for first, chunk in lines.chunks():
            found = _parse_pairs(chunk, np.int64)
            if found is None or not (found[0] == found[1]).all():
                found = _parse_pairs_slowly(source, first, chunk, _ldac_start)
            pairs.add(*found[1:])
    return pairs.corpus(source, 0, vocabulary, None)


@reader(
    "svmlight",
    "SVMlight or LIBSVM, a line a document: a label, then id:value",
    endings=(".svmlight", ".svm", ".libsvm"),
    sniff=_is_svmlight,
)
def read_svmlight(
    source: Source,
    vocabulary: Any = None,
    zero_based: bool | str = "auto",
    labels: bool = False,
) -> Corpus:
    """Read the SVMlight format.

    Parameters
    ----------
    source : Source
    vocabulary : path, optional
        One word a line. Without it vocab.txt beside the file is used; False means none.
    zero_based : bool or "auto"
        Whether words are numbered from 0; "auto" says so when there is a word 0.
    labels : bool
        Keep the labels, as names of the documents.
    """
    if zero_based not in (True, False, "auto"):
        raise InputError(f"zero_based={zero_based!r}; use True, False or 'auto'")
    pairs = _Pairs()
    names: list[str] = []

    def start(source: Source, line: int, text: bytes) -> int | None:
        if not re.fullmatch(rb"[-+0-9.eE,]+", text):
            raise source.error(line, f"label {shown(text)} is not a number; correct it")
        names.append(text.decode("ascii"))
        return None

    with _Lines(source) as lines:
        for first, chunk in lines.chunks():
            plain = not labels and b"#" not in chunk and b"qid" not in chunk
            found = _parse_pairs(chunk, np.float64) if plain else None
            if found is None or not np.isfinite(found[0]).all():
                found = _parse_pairs_slowly(source, first, chunk, start)
            if zero_based is False and found[2].size and found[2].min() == 0:
                _refuse_zero(source, first, chunk)
            pairs.add(*found[1:])
    base = None if zero_based == "auto" else int(not zero_based)
    return pairs.corpus(source, base, vocabulary, names if labels else None)


def _refuse_zero(source: Source, first: int, chunk: bytes) -> NoReturn:
    line = next(n for n, text in enumerate(chunk.splitlines(), first) if re.search(rb"\s0+:", text))
    raise source.error(line, "word 0, but zero_based=False; leave zero_based out")


def _parse_pairs(chunk: bytes, dtype: Any) -> tuple[Array, Array, Array, Array] | None:
    """Parse regular lines into their first numbers, lengths, words and counts; or None."""
    found = _numbers(chunk, dtype)
    if found is None or found.size == 0:
        return None
    ends = np.flatnonzero(found == _END)
    if ends.size != chunk.count(b"\n") or ends[-1] != found.size - 1:
        return None
    starts = np.concatenate(([0], ends[:-1] + 1))
    sizes = ends - starts - 1
    if (sizes < 0).any() or (sizes % 3).any():
        return None
    inside = np.ones(found.size, dtype=bool)
    inside[starts] = inside[ends] = False
    triples = found[inside].reshape(-1, 3)
    words, counts = triples[:, 0], triples[:, 2]
    if len(triples) != chunk.count(b":") or not (triples[:, 1] == _COLON).all():
        return None
    if not (_good_indices(words, 0, LARGEST_INT32 - 1) and _good_counts(counts)):
        return None
    return found[starts], sizes // 3, words, counts


def _ldac_start(source: Source, line: int, text: bytes) -> int | None:
    return _check_index(source, line, text, "number of words", 0, 2**62)


def _parse_pairs_slowly(
    source: Source, first: int, chunk: bytes, start: Any
) -> tuple[Array, Array, Array, Array]:
    """Parse line by line: skip comments and blank lines, and say where it goes wrong."""
    lengths: list[int] = []
    words: list[int] = []
    counts: list[float] = []
    for line, text in enumerate(chunk.splitlines(), start=first):
        fields = text.partition(b"#")[0].split()
        if not fields:
            continue
        expected = start(source, line, fields[0])
        before = len(words)
        for field in fields[1:]:
            word, colon, count = field.partition(b":")
            if word == b"qid":
                continue
            if not colon:
                raise source.error(line, f"expected id:count, found {shown(field)}; correct it")
            words.append(_check_index(source, line, word, "word", 0, LARGEST_INT32 - 1))
            counts.append(check_count(source, line, count))
        lengths.append(len(words) - before)
        if expected is not None and expected != lengths[-1]:
            raise source.error(
                line, f"says {expected} words but holds {lengths[-1]}; is it cut short?"
            )
    sizes = np.array(lengths, dtype=np.int64)
    return sizes, sizes, np.array(words, dtype=np.int64), np.array(counts, dtype=np.float64)
