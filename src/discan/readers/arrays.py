# SPDX-License-Identifier: BSD-3-Clause
"""Read NumPy's .npz: SciPy's sparse tables, and dense ones."""

from __future__ import annotations

import logging
import math
import struct
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.errors import DiscanError, InputError, LimitError, StorageError
from discan.readers.matrices import (
    CHUNK,
    check_size,
    check_vocabulary,
    find_vocabulary,
    make_corpus,
    read_vocabulary,
    shown,
    stem,
)
from discan.readers.source import MAX_RATIO, Source, reader
from discan.typing import Array

__all__ = ["read_npz"]

log = logging.getLogger("discan")

_SCIPY_MEMBERS = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
}
_NPY_MAGIC = b"\x93NUMPY"


@reader(
    "npz",
    "SciPy sparse .npz, or a dense NumPy array in an .npz with names beside it",
    endings=(".npz",),
    sniff=lambda source, head: source.name.endswith(".npz") and head.startswith("PK"),
)
def read_npz(
    source: Source,
    vocabulary: Any = None,
    array: str | None = None,
    words: str | None = None,
    documents: str | None = None,
    groups: str | None = None,
    missing: int | None = None,
) -> Corpus:
    """Read a .npz file: what scipy.sparse.save_npz wrote, or a dense table.

    Parameters
    ----------
    source : Source
    vocabulary : path, optional
        One word a line, or a .csv with a column of words.
    array : str, optional
        The member that holds a dense table; else the only one with two dimensions.
    words, documents, groups : str, optional
        Members that name the words, the documents and the group of each word; else told by
        their length, and whether names repeat.
    missing : int, optional
        Value of cells that were not observed, e.g. -1: their group has exposure 0 there.
    """
    try:
        with zipfile.ZipFile(source.path) as archive:
            members = _npz_members(source, archive)
            if "format" in members:
                table = _read_scipy_npz(source, archive, members)
                return _name_npz(source, table, vocabulary)
            options = {"word_names": words, "document_names": documents, "groups": groups}
            return _read_dense_npz(source, archive, members, array, options, missing)
    except DiscanError:
        raise
    except OSError as error:
        raise StorageError(f"{source.path}: {error.strerror or error}") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
        ValueError,
        struct.error,
    ) as error:
        line = " ".join(str(error).split())
        raise InputError(f"{source.path}: damaged .npz file ({line}); make it again") from None


class _Member(NamedTuple):
    info: zipfile.ZipInfo
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int


def _npz_members(source: Source, archive: zipfile.ZipFile) -> dict[str, _Member]:
    """Read the headings of all arrays; believe none that disagrees with the member's size."""
    infos = archive.infolist()
    limit = max(source.max_unpacked, MAX_RATIO * source.path.stat().st_size)
    total = sum(info.file_size for info in infos)
    if total > limit:
        raise LimitError(
            f"{source.path}: unpacks to {total:,} bytes, more than {limit:,}; unpack it yourself "
            "if you trust it, or raise max_unpacked"
        )
    members: dict[str, _Member] = {}
    for info in infos:
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise InputError(f"{source.path}: two arrays are called {shown(name)}; make it again")
        if info.flag_bits & 1:
            raise InputError(f"{source.path}: array {shown(name)} is encrypted; decrypt it first")
        members[name] = _read_heading(source, archive, info, name)
    return members


def _read_heading(
    source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str
) -> _Member:
    from numpy.lib import format as npy

    with archive.open(info) as stream:
        if stream.read(6) != _NPY_MAGIC:
            raise InputError(f"{source.path}: member {shown(name)} is not a NumPy array")
        version = stream.read(2)
        read = {b"\x01\x00": npy.read_array_header_1_0, b"\x02\x00": npy.read_array_header_2_0}.get(
            version
        )
        if read is None:
            raise InputError(
                f"{source.path}: array {shown(name)} is .npy {list(version)}; save it again"
            )
        try:
            shape, fortran, dtype = read(stream)
        except Exception as error:  # NumPy parses a Python literal here and lets much through
            line = " ".join(str(error).split())[:100]
            raise InputError(
                f"{source.path}: array {shown(name)} has a damaged heading ({line})"
            ) from None
        offset = stream.tell()
    if dtype.hasobject:
        raise InputError(
            f"{source.path}: array {shown(name)} holds pickled Python objects, which are not read; "
            "save plain numbers or strings"
        )
    claimed = math.prod(int(n) for n in shape) * dtype.itemsize
    if min(shape, default=0) < 0 or claimed != info.file_size - offset:
        raise InputError(
            f"{source.path}: array {shown(name)} claims shape {shown(shape)}, that is {claimed:,} "
            f"bytes, but holds {info.file_size - offset:,}; make the file again"
        )
    return _Member(info, dtype, shape, fortran, offset)


def _load(source: Source, archive: zipfile.ZipFile, member: _Member) -> Array:
    parts = bytearray()
    with archive.open(member.info) as stream:
        stream.read(member.offset)
        while part := stream.read(CHUNK):
            parts += part
    if len(parts) != member.info.file_size - member.offset:
        raise InputError(f"{source.path}: cut short; make the file again")
    flat = np.frombuffer(parts, dtype=member.dtype) if parts else np.zeros(0, dtype=member.dtype)
    return np.asarray(flat.reshape(member.shape, order="F" if member.fortran else "C"))


def _read_scipy_npz(source: Source, archive: zipfile.ZipFile, members: dict[str, _Member]) -> Any:
    raw = _load(source, archive, members["format"])
    kind = raw.item() if raw.size == 1 else None
    kind = kind.decode("ascii", errors="replace") if isinstance(kind, bytes) else str(kind)
    if kind not in _SCIPY_MEMBERS:
        raise InputError(
            f"{source.path}: sparse format {shown(kind)} is not read; save table.tocsr() instead"
        )
    parts = []
    for name in ("shape", *_SCIPY_MEMBERS[kind]):
        if name not in members:
            raise InputError(f"{source.path}: array {shown(name)} is missing; make the file again")
        parts.append(_load(source, archive, members[name]))
        if parts[-1].ndim != 1 or (name != "data" and parts[-1].dtype.kind not in "iu"):
            raise InputError(
                f"{source.path}: array {shown(name)} has {parts[-1].ndim} dimensions and dtype "
                f"{parts[-1].dtype}; whole numbers in one dimension are needed"
            )
    shape = tuple(int(n) for n in parts[0])
    if len(shape) != 2 or min(shape) < 1:
        raise InputError(f"{source.path}: shape {shown(shape)} is no table; two sizes are needed")
    for size, what in zip(shape, ("documents", "words"), strict=True):
        check_size(source, size, parts[-1].size, what)
    one, two, data = parts[1:]
    return _scipy_table(source, kind, one, two, data, shape)


def _scipy_table(
    source: Source, kind: str, one: Array, two: Array, data: Array, shape: tuple[int, ...]
) -> Any:
    if data.dtype.kind not in "biuf":
        raise InputError(f"{source.path}: counts have dtype {data.dtype}; save them as numbers")
    try:
        if kind == "coo":
            return sparse.coo_array((data, (one, two)), shape=shape)
        make = sparse.csr_array if kind == "csr" else sparse.csc_array
        return make((data, two, one), shape=shape)
    except (ValueError, TypeError, OverflowError) as error:
        line = " ".join(str(error).split())
        raise InputError(f"{source.path}: damaged sparse table ({line}); make it again") from None


def _name_npz(source: Source, table: Any, vocabulary: Any) -> Corpus:
    path = find_vocabulary(source, vocabulary, (f"{stem(source)}.words.txt",))
    words = read_vocabulary(source, path)
    check_vocabulary(source, words, path, table.shape[1])
    return make_corpus(source, table, word_names=words)


def _read_dense_npz(
    source: Source,
    archive: zipfile.ZipFile,
    members: dict[str, _Member],
    array: str | None,
    options: dict[str, str | None],
    missing: int | None,
) -> Corpus:
    tables = [name for name, m in members.items() if len(m.shape) == 2 and m.dtype.kind in "biuf"]
    if array is None and len(tables) == 1:
        array = tables[0]
    if array not in tables:
        raise InputError(
            f"{source.path}: no SciPy sparse table, and "
            f"{'no array' if array is None else f'array {shown(array)} is not one'} "
            f"of numbers with two dimensions to choose (found {shown(sorted(tables))}); say which "
            "with array=..."
        )
    dense = _load(source, archive, members[array])
    for name in options.values():
        if name is not None and name not in members:
            raise InputError(f"{source.path}: no array {shown(name)}; found {sorted(members)}")
    strings = {
        name: _load(source, archive, m).tolist()
        for name, m in members.items()
        if len(m.shape) == 1 and (m.dtype.kind == "U" or name in options.values())
    }
    names: dict[str, Any] = {
        option: strings.get(name) for option, name in options.items() if name is not None
    }
    if dense.shape[0] != dense.shape[1]:
        for name, values in strings.items():
            if name in options.values():
                continue
            unique = len(set(values)) == len(values)
            guess = {
                (dense.shape[1], True): "word_names",
                (dense.shape[0], True): "document_names",
                (dense.shape[1], False): "groups",
            }.get((len(values), unique))
            if guess is not None and names.setdefault(guess, values) is values:
                log.info("%s: %s taken as %s", source.path, name, guess)
    exposures = None
    if missing is not None:
        dense, exposures = _without_missing(dense, missing, names.get("groups"))
    elif dense.dtype.kind == "i" and dense.size and dense.min() < 0:
        row, column = np.unravel_index(int(np.argmin(dense)), dense.shape)
        raise InputError(
            f"{source.path}: row {row}, column {column} of {shown(array)} holds "
            f"{dense[row, column]}; correct it, or pass missing={dense[row, column]} if it means "
            "not observed"
        )
    return make_corpus(source, dense, exposures=exposures, **names)


def _without_missing(dense: Array, missing: int, groups: Any) -> tuple[Array, Array | None]:
    """Set missing cells to 0, and the exposure of a group to 0 where all of it is missing."""
    absent = dense == missing
    labels = list(dict.fromkeys(groups)) if groups else [None]
    exposures = np.empty((len(dense), len(labels)), dtype=bool)
    for g, label in enumerate(labels):
        owned = [value == label for value in groups] if groups else slice(None)
        exposures[:, g] = ~absent[:, owned].all(axis=1)
    return np.where(absent, 0, dense), None if exposures.all() else exposures
