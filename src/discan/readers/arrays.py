# SPDX-License-Identifier: BSD-3-Clause
"""Read files of arrays: NumPy's .npz, with sparse or dense tables, and discan's own."""

from __future__ import annotations

import logging
import math
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.folders.format import is_corpus_folder, is_unfinished
from discan.data.folders.runs import Mark
from discan.data.folders.shards import load_folder
from discan.data.intake import read_table, reason
from discan.data.store import load_corpus
from discan.errors import shown
from discan.readers.guess import reader
from discan.readers.numbers import check_table, stored_table
from discan.readers.source import Source
from discan.readers.table_streams import Batch, TableFacts, TableStream
from discan.readers.vocabularies import Vocabulary, read_words, stem
from discan.typing import Array

__all__ = ["read_npz", "read_stored"]

log = logging.getLogger("discan")

_SCIPY_MEMBERS = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
}
ENTRIES_AT_ONCE = 2**20
_AXES = ("document", "word")
_NPY_MAGIC = b"\x93NUMPY"
_HEADINGS = {b"\x01\x00": npy.read_array_header_1_0, b"\x02\x00": npy.read_array_header_2_0}

Member = Annotated[
    str | None, "Array in the file that holds this; by default told by its length and content."
]


@reader(
    "npz",
    "SciPy sparse .npz, or a dense NumPy array in an .npz with names beside it",
    endings=(".npz",),
    sniff=lambda source: source.name.endswith(".npz") and source.head.startswith("PK"),
    table=lambda source, **options: _stream_npz(source, **options),
)
def read_npz(
    source: Source,
    vocabulary: Vocabulary = None,
    array: Annotated[
        str | None, "Array that holds a dense table; by default the only one with two dimensions."
    ] = None,
    words: Member = None,
    documents: Member = None,
    groups: Member = None,
    missing: Annotated[
        int | None,
        "Value of cells that were not observed, e.g. -1: their group has exposure 0 there.",
    ] = None,
) -> Corpus:
    """Read a .npz file: what scipy.sparse.save_npz wrote, or a dense table."""
    with _opened(source) as file:
        if "format" in file.members:
            table = _read_scipy(file)
            return source.corpus(table, word_names=_words(source, vocabulary, table.shape[1]))
        names = {"word_names": words, "document_names": documents, "groups": groups}
        return _read_dense(file, array, names, missing)


def _stream_npz(
    source: Source, vocabulary: Vocabulary = None, **options: Any
) -> TableStream | None:
    """Read what scipy.sparse.save_npz wrote in pieces; None for a dense table, which is whole."""
    with _opened(source) as file:
        if "format" not in file.members:
            return None
        kind, shape = _kind(file), _loaded(file, "shape")
        members = [_checked(file, name) for name in _SCIPY_MEMBERS[kind]]
        n_entries = math.prod(members[-1].shape)
        n_documents, n_words = check_table(
            source, shape, members[-1].dtype, n_entries, [member.dtype for member in members[:-1]]
        )
        words = _words(source, vocabulary, n_words)
        starts = None if kind == "coo" else _loaded(file, "indptr")
    if starts is not None:
        whole = starts.size == (n_words if kind == "csc" else n_documents) + 1
        if not whole or starts[0] != 0 or (starts[1:] < starts[:-1]).any():
            raise source.error("damaged sparse table: indptr does not lead from 0 upwards")
    ends = {*(math.prod(m.shape) for m in members[-2 if starts is not None else -3 :]), n_entries}
    if len(ends) > 1 or (starts is not None and int(starts[-1]) != n_entries):
        raise source.error("damaged sparse table: its arrays have sizes that disagree")
    known = TableFacts(n_documents, n_words, words)
    entries = _SparseEntries(source, kind, (n_documents, n_words), n_entries, starts)
    return TableStream(source, lambda: known, entries)


class _SparseEntries:
    """Entries of a sparse table, read from its arrays side by side."""

    def __init__(
        self,
        source: Source,
        kind: str,
        shape: tuple[int, int],
        n_entries: int,
        starts: Array | None,
    ) -> None:
        self._source, self._kind, self._shape = source, kind, shape
        self._n_entries, self._starts = n_entries, starts
        self._next = 0

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""
        names = [name for name in _SCIPY_MEMBERS[self._kind] if name != "indptr"]
        with _opened(self._source) as file:
            slices = zip(*(file.slices(name, ENTRIES_AT_ONCE) for name in names), strict=True)
            for first, found in zip(count(0, ENTRIES_AT_ONCE), slices, strict=False):
                if first < self._next:
                    continue
                *places, counts = found
                self._next = first + counts.size
                if self._starts is not None:
                    owners = np.arange(first, self._next)
                    places.insert(0, np.searchsorted(self._starts, owners, side="right") - 1)
                documents, words = places[:: -1 if self._kind == "csc" else 1]
                for what, numbers, size in zip(_AXES, (documents, words), self._shape, strict=True):
                    if numbers.size and not 0 <= numbers.min() <= numbers.max() < size:
                        problem = f"damaged sparse table: a {what} is outside 0 .. {size - 1}"
                        raise self._source.error(problem)
                row = sparse.csr_array((counts, words, [0, counts.size]), shape=(1, self._shape[1]))
                with self._source.naming():
                    read_table(row)  # checks the counts
                yield documents, words, counts

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch."""
        return {"entries": self._next}

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._next = mark["entries"]


@reader(
    "discan",
    "a corpus written by discan convert, a file or a folder",
    endings=(".discan",),
    sniff=lambda source: _is_stored(source),
)
def read_stored(source: Source) -> Corpus:
    """Read a stored corpus, a file or a folder."""
    return load_folder(source.path) if source.is_folder else load_corpus(source.path)


def _is_stored(source: Source) -> bool:
    if source.is_folder:
        return is_corpus_folder(source.path) or is_unfinished(source.path)
    return '{"__metadata__":{"' in source.head[:40] and "discan" in source.head


class _Member(NamedTuple):
    info: zipfile.ZipInfo
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int  # where its numbers begin


class _File:
    """The arrays of a .npz file; a heading that disagrees with the array's size is refused."""

    def __init__(self, source: Source, archive: zipfile.ZipFile) -> None:
        self.source, self._archive = source, archive
        source.check_unpacked(sum(info.file_size for info in archive.infolist()))
        self.members: dict[str, _Member] = {}
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in self.members:
                raise source.error(f"two arrays are called {shown(name)}; make it again")
            if info.flag_bits & 1:
                raise source.error(f"array {shown(name)} is encrypted; decrypt it first")
            self.members[name] = self._heading(info, name)

    def _heading(self, info: zipfile.ZipInfo, name: str) -> _Member:
        source = self.source
        with self._archive.open(info) as stream:
            if stream.read(6) != _NPY_MAGIC:
                raise source.error(f"member {shown(name)} is not a NumPy array")
            version = stream.read(2)
            if version not in _HEADINGS:
                raise source.error(f"array {shown(name)} is .npy {list(version)}; save it again")
            try:
                shape, _, dtype = _HEADINGS[version](stream)
            except Exception as error:  # NumPy parses a Python literal and raises many errors
                problem = f"array {shown(name)} has a damaged heading ({reason(error)})"
                raise source.error(problem) from None
            offset = stream.tell()
        if dtype.hasobject:
            raise source.error(
                f"array {shown(name)} holds pickled Python objects, which are not read; save plain "
                "numbers or strings"
            )
        claimed = math.prod(int(n) for n in shape) * max(1, dtype.itemsize)  # also empty texts
        if min(shape, default=0) < 0 or claimed != info.file_size - offset:
            raise source.error(
                f"array {shown(name)} claims shape {shown(shape)}, that is {claimed:,} bytes, but "
                f"holds {info.file_size - offset:,}; make the file again"
            )
        return _Member(info, dtype, shape, offset)

    def slices(self, name: str, n_rows: int) -> Iterator[Array]:
        """Iterate over so many numbers at a time of an array of one dimension."""
        member = self.members[name]
        with self._archive.open(member.info) as stream:
            stream.read(member.offset)
            for first in range(0, member.shape[0], n_rows):
                n_bytes = min(n_rows, member.shape[0] - first) * member.dtype.itemsize
                part = np.frombuffer(stream.read(n_bytes), dtype=member.dtype)
                yield part.astype(member.dtype.newbyteorder("="), copy=False)
            stream.read(1)  # at its end, the checksum is verified

    def load(self, name: str) -> Array:
        """Return an array whole."""
        with self._archive.open(self.members[name].info) as stream:
            array = np.asarray(npy.read_array(stream, allow_pickle=False))
            stream.read(1)  # at its end, the checksum is verified
        if array.dtype.kind == "U" and array.size:
            codes = np.ascontiguousarray(array).view(f"{array.dtype.byteorder}u4")
            if codes.max() > sys.maxunicode:  # Python would make text of them that is none
                raise self.source.error(f"array {shown(name)} holds what is no text")
        return array


@contextmanager
def _opened(source: Source) -> Iterator[_File]:
    with source.faults("damaged .npz file"), zipfile.ZipFile(source.path) as archive:
        yield _File(source, archive)


def _read_scipy(file: _File) -> Any:
    kind = _kind(file)
    parts = [_loaded(file, name) for name in ("shape", *_SCIPY_MEMBERS[kind])]
    return stored_table(file.source, kind, *parts)


def _kind(file: _File) -> str:
    """Return the kind of a sparse table."""
    raw = file.load("format")
    kind = raw.item() if raw.size == 1 else None
    kind = kind.decode("ascii", errors="replace") if isinstance(kind, bytes) else str(kind)
    if kind not in _SCIPY_MEMBERS:
        problem = f"sparse format {shown(kind)} is not read; save table.tocsr() instead"
        raise file.source.error(problem)
    return kind


def _checked(file: _File, name: str) -> _Member:
    """Return an array of a sparse table, if it is of the right kind."""
    if name not in file.members:
        raise file.source.error(f"array {shown(name)} is missing; make the file again")
    part = file.members[name]
    if len(part.shape) != 1 or part.dtype.kind not in ("biuf" if name == "data" else "iu"):
        raise file.source.error(
            f"array {shown(name)} has {len(part.shape)} dimensions and dtype {part.dtype}; whole "
            "numbers in one dimension are needed, or numbers of any kind for data"
        )
    return part


def _loaded(file: _File, name: str) -> Array:
    _checked(file, name)
    return file.load(name)


def _words(source: Source, vocabulary: Vocabulary, n_words: int) -> Sequence[str] | None:
    """Return the names of the words of a sparse table."""
    known = read_words(source, vocabulary, f"{stem(source)}.words.txt")
    known.check_size(source, n_words)
    return known.names


def _read_dense(
    file: _File, array: str | None, chosen: dict[str, str | None], missing: int | None
) -> Corpus:
    source, members = file.source, file.members
    tables = [name for name, m in members.items() if len(m.shape) == 2 and m.dtype.kind in "biuf"]
    if array is None and len(tables) == 1:
        array = tables[0]
    if array not in tables:
        which = "no array" if array is None else f"array {shown(array)} is not one"
        raise source.error(
            f"no SciPy sparse table, and {which} of numbers with two dimensions to choose (found "
            f"{shown(sorted(tables))})",
            use={"array": ...},
        )
    for name in chosen.values():
        if name is not None and name not in members:
            raise source.error(f"no array {shown(name)}; found {sorted(members)}")
    dense = file.load(array)
    names = _names(file, dense.shape, chosen)
    names["metadata"] = _facts(file, dense.shape, names, array)
    exposures = None
    if missing is not None:
        dense, exposures = _without_missing(dense, missing, names.get("groups"))
    elif dense.dtype.kind == "i" and dense.size and dense.min() < 0:
        row, column = np.unravel_index(int(np.argmin(dense)), dense.shape)
        value = int(dense[row, column])
        problem = f"row {row}, column {column} of {shown(array)} holds {value}"
        raise source.error(problem, remedy="correct it", use={"missing": value})
    return source.corpus(dense, exposures=exposures, **names)


def _names(file: _File, shape: tuple[int, ...], chosen: dict[str, str | None]) -> dict[str, Any]:
    """Return names of documents and words, and groups: as chosen, the others told by length."""
    strings = {
        name: file.load(name).tolist()
        for name, m in file.members.items()
        if len(m.shape) == 1 and (m.dtype.kind == "U" or name in chosen.values())
    }
    names = {what: strings.get(name) for what, name in chosen.items() if name is not None}
    if shape[0] == shape[1]:
        return names
    for name, values in strings.items():
        if name in chosen.values():
            continue
        unique = len(set(values)) == len(values)
        what = {
            (shape[1], True): "word_names",
            (shape[0], True): "document_names",
            (shape[1], False): "groups",
        }.get((len(values), unique))
        if what is not None and names.setdefault(what, values) is values:
            log.info("%s: %s taken as %s", file.source.path, name, what)
    return names


def _facts(
    file: _File, shape: tuple[int, ...], names: dict[str, Any], array: str
) -> dict[str, Any]:
    """Return arrays of one value per document that are neither names nor the table."""
    if shape[0] == shape[1]:
        return {}
    found = {}
    for name, m in file.members.items():
        if name != array and m.shape == shape[:1] and m.dtype.kind in "biufU":
            values = file.load(name).tolist()
            if not any(values == other for other in names.values()):
                found[name] = values
    if found:
        log.info("%s: kept as metadata: %s", file.source.path, ", ".join(map(shown, found)))
    return found


def _without_missing(dense: Array, missing: int, groups: Any) -> tuple[Array, Array | None]:
    """Set missing cells to 0, and the exposure of a group to 0 where all of it is missing."""
    absent = dense == missing
    labels = list(dict.fromkeys(groups)) if groups else [None]
    exposures = np.empty((len(dense), len(labels)), dtype=bool)
    for g, label in enumerate(labels):
        owned = [value == label for value in groups] if groups else slice(None)
        exposures[:, g] = ~absent[:, owned].all(axis=1)
    return np.where(absent, 0, dense), None if exposures.all() else exposures
