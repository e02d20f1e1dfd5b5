# SPDX-License-Identifier: BSD-3-Clause
"""Read files of arrays: NumPy's .npz, with sparse or dense tables, and discan's own."""

from __future__ import annotations

import logging
import math
import sys
import zipfile
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from discan.data.corpus import Corpus
from discan.data.folders.format import is_corpus_folder, is_unfinished
from discan.data.folders.shards import load_folder
from discan.data.intake import reason
from discan.data.store import load_corpus
from discan.errors import shown
from discan.readers.guess import reader
from discan.readers.numbers import stored_table
from discan.readers.source import Source
from discan.readers.vocabularies import Vocabulary, read_words, stem
from discan.typing import Array

__all__ = ["read_npz", "read_stored"]

log = logging.getLogger("discan")

_SCIPY_MEMBERS = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
}
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
    with source.faults("damaged .npz file"), zipfile.ZipFile(source.path) as archive:
        file = _File(source, archive)
        if "format" in file.members:
            table = _read_scipy(file)
            known = read_words(source, vocabulary, f"{stem(source)}.words.txt")
            known.check_size(source, table.shape[1])
            return source.corpus(table, word_names=known.names)
        names = {"word_names": words, "document_names": documents, "groups": groups}
        return _read_dense(file, array, names, missing)


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
        return _Member(info, dtype, shape)

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


def _read_scipy(file: _File) -> Any:
    source = file.source
    raw = file.load("format")
    kind = raw.item() if raw.size == 1 else None
    kind = kind.decode("ascii", errors="replace") if isinstance(kind, bytes) else str(kind)
    if kind not in _SCIPY_MEMBERS:
        problem = f"sparse format {shown(kind)} is not read; save table.tocsr() instead"
        raise source.error(problem)
    parts = []
    for name in ("shape", *_SCIPY_MEMBERS[kind]):
        if name not in file.members:
            raise source.error(f"array {shown(name)} is missing; make the file again")
        part = file.load(name)
        if part.ndim != 1 or part.dtype.kind not in ("biuf" if name == "data" else "iu"):
            raise source.error(
                f"array {shown(name)} has {part.ndim} dimensions and dtype {part.dtype}; whole "
                "numbers in one dimension are needed, or numbers of any kind for data"
            )
        parts.append(part)
    return stored_table(source, kind, *parts)


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
