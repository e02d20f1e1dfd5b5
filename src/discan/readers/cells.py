# SPDX-License-Identifier: BSD-3-Clause
"""Read single cells: AnnData's .h5ad, through h5py."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.errors import DiscanError, InputError, LimitError
from discan.readers.matrices import check_size, make_corpus, shown
from discan.readers.source import MAX_RATIO, Source, reader
from discan.typing import Array

__all__ = ["read_h5ad"]

log = logging.getLogger("discan")

CELLS_AT_ONCE = 2**22
FREE_BYTES = 2**26


@reader(
    "h5ad",
    "AnnData .h5ad, cells by genes (needs h5py)",
    endings=(".h5ad",),
    sniff=lambda source, head: source.name.endswith(".h5ad"),
)
def read_h5ad(source: Source, layer: str | None = None, raw: bool = False) -> Corpus:
    """Read the counts of an AnnData file.

    Parameters
    ----------
    source : Source
    layer : str, optional
        Layer that holds the counts, e.g. "counts"; without it X.
    raw : bool
        Read raw/X, with the genes of raw.
    """
    try:
        import h5py  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise InputError(
            f"{source.path}: reading .h5ad needs the package h5py: pip install h5py"
        ) from None
    place = "raw/X" if raw else "X" if layer is None else f"layers/{layer}"
    try:
        with h5py.File(source.path, "r") as file:
            counts = _read_matrix(source, _get(source, file, place), place)
            words = _names(source, file, "raw/var" if raw else "var", counts.shape[1])
            documents = _names(source, file, "obs", counts.shape[0])
    except DiscanError:
        raise
    except Exception as error:  # HDF5 raises OSError, RuntimeError, KeyError, ValueError and more
        line = " ".join(str(error).split())[:200]
        raise InputError(f"{source.path}: cannot be read as .h5ad ({line})") from None
    if counts.data.dtype.kind == "f" and (np.rint(counts.data) != counts.data).any():
        log.warning(
            "%s: %s holds fractions, so it may be normalised; raw counts may be in a layer "
            "(layer=...) or in raw (raw=True)",
            source.path,
            place,
        )
    return make_corpus(source, counts, word_names=words, document_names=documents)


def _get(source: Source, file: Any, place: str) -> Any:
    """Return a member of the file itself: links to other files are not followed."""
    import h5py

    found = file
    for part in place.split("/"):
        link = found.get(part, getlink=True) if isinstance(found, h5py.Group) else None
        if link is None:
            raise InputError(f"{source.path}: has no {shown(place)}; pass layer=... or raw=...")
        if isinstance(link, h5py.ExternalLink):
            raise InputError(f"{source.path}: {shown(place)} lies in another file; not followed")
        found = found[part]
    return found


def _load(source: Source, dataset: Any, place: str) -> Array:
    """Load a dataset whole, unless it claims far more than the file can hold."""
    _check(source, dataset, place)
    return np.asarray(dataset[()])


def _check(source: Source, dataset: Any, place: str) -> None:
    if not hasattr(dataset, "dtype"):
        raise InputError(f"{source.path}: {shown(place)} is a group, not an array")
    if dataset.external or getattr(dataset, "is_virtual", False):
        raise InputError(f"{source.path}: {shown(place)} lies in another file; not followed")
    stored = min(source.path.stat().st_size, dataset.id.get_storage_size())
    limit = max(FREE_BYTES, MAX_RATIO * stored)
    if dataset.size * dataset.dtype.itemsize > limit:
        raise LimitError(
            f"{source.path}: {shown(place)} claims shape {dataset.shape} but {stored:,} bytes are "
            "stored; write the file again"
        )


def _read_matrix(source: Source, found: Any, place: str) -> Any:
    kind = found.attrs.get("encoding-type", "")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if hasattr(found, "dtype"):
        return _read_dense(source, found, place)
    if kind not in ("csr_matrix", "csc_matrix"):
        raise InputError(
            f"{source.path}: {shown(place)} is stored as {shown(kind)}; csr_matrix, csc_matrix and "
            "dense arrays are read"
        )
    shape = tuple(int(n) for n in np.asarray(found.attrs["shape"]).ravel())
    data, indices, indptr = (
        _load(source, _get(source, found, name), f"{place}/{name}")
        for name in ("data", "indices", "indptr")
    )
    if len(shape) != 2 or min(shape) < 1 or data.dtype.kind not in "biuf":
        raise InputError(f"{source.path}: {shown(place)} with shape {shape} is no table of counts")
    for size, what in zip(shape, ("cells", "genes"), strict=True):
        check_size(source, size, data.size, what)
    make = sparse.csr_array if kind == "csr_matrix" else sparse.csc_array
    return make((data, indices, indptr), shape=shape)


def _read_dense(source: Source, dataset: Any, place: str) -> Any:
    if dataset.ndim != 2 or dataset.dtype.kind not in "biuf" or 0 in dataset.shape:
        raise InputError(
            f"{source.path}: {shown(place)} with shape {dataset.shape} and dtype {dataset.dtype} "
            "is no table of counts"
        )
    _check(source, dataset, place)
    step = max(1, CELLS_AT_ONCE // dataset.shape[1])
    starts = range(0, dataset.shape[0], step)
    blocks = [sparse.csr_array(dataset[start : start + step]) for start in starts]
    return sparse.vstack(blocks, format="csr")


def _names(source: Source, file: Any, place: str, size: int) -> list[str] | None:
    frame = _get(source, file, place)
    index = frame.attrs.get("_index", "_index")
    index = index.decode() if isinstance(index, bytes) else str(index)
    column = frame.get(index)
    if column is None or not hasattr(column, "dtype") or column.shape != (size,):
        return None
    values = _load(source, column, f"{place}/{index}")
    return [v.decode("utf-8", errors="replace") if isinstance(v, bytes) else str(v) for v in values]
