# SPDX-License-Identifier: BSD-3-Clause
"""Read single cells: AnnData's .h5ad, through h5py."""

from __future__ import annotations

import logging
from typing import Annotated, Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.nouns import CELLS
from discan.errors import LimitError, shown
from discan.readers.guess import reader
from discan.readers.numbers import dense_table, stored_table
from discan.readers.source import MAX_RATIO, Source
from discan.typing import Array

__all__ = ["read_h5ad"]

log = logging.getLogger("discan")

FREE_BYTES = 2**26


@reader(
    "h5ad",
    "AnnData .h5ad, cells by genes (needs h5py)",
    endings=(".h5ad",),
    sniff=lambda source: source.name.endswith(".h5ad"),
)
def read_h5ad(
    source: Source,
    layer: Annotated[
        str | None, 'Layer that holds the counts, e.g. "counts"; by default X.'
    ] = None,
    raw: Annotated[bool, "Whether to read raw/X, with the genes of raw."] = False,
) -> Corpus:
    """Read the counts of an AnnData file."""
    try:
        import h5py  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        problem = "reading .h5ad needs the package h5py: pip install h5py"
        raise source.error(problem) from None
    place = "raw/X" if raw else "X" if layer is None else f"layers/{layer}"
    with source.faults("cannot be read as .h5ad"), h5py.File(source.path, "r") as file:
        counts = _read_matrix(source, _member(source, file, place), place)
        words = _names(source, file, "raw/var" if raw else "var", counts.shape[1])
        documents = _names(source, file, "obs", counts.shape[0])
    if counts.data.dtype.kind == "f" and (np.rint(counts.data) != counts.data).any():
        log.warning(
            "%s: %s holds fractions, so it may be normalised; raw counts may be in a layer "
            "(layer=...) or in raw (raw=True)",
            source.path,
            place,
        )
    return source.corpus(counts, word_names=words, document_names=documents, nouns=CELLS)


def _member(source: Source, file: Any, place: str) -> Any:
    """Return a member of the file itself; links to other files are not followed."""
    import h5py

    found = file
    for part in place.split("/"):
        link = found.get(part, getlink=True) if isinstance(found, h5py.Group) else None
        if link is None:
            raise source.error(f"has no {shown(place)}", use={"layer": ..., "raw": True})
        if isinstance(link, h5py.ExternalLink):
            raise source.error(f"{shown(place)} lies in another file; not followed")
        found = found[part]
    return found


def _load(source: Source, dataset: Any, place: str) -> Array:
    """Load a dataset whole, unless it claims far more than the file can hold."""
    _check_size(source, dataset, place)
    return np.asarray(dataset[()])


def _check_size(source: Source, dataset: Any, place: str) -> None:
    if not hasattr(dataset, "dtype"):
        raise source.error(f"{shown(place)} is a group, not an array")
    if dataset.external or getattr(dataset, "is_virtual", False):
        raise source.error(f"{shown(place)} lies in another file; not followed")
    stored = min(source.path.stat().st_size, dataset.id.get_storage_size())
    if dataset.size * dataset.dtype.itemsize > max(FREE_BYTES, MAX_RATIO * stored):
        problem = f"{shown(place)} claims shape {dataset.shape} but {stored:,} bytes are stored"
        raise source.error(f"{problem}; write the file again", kind=LimitError)


def _read_matrix(source: Source, found: Any, place: str) -> Any:
    if hasattr(found, "dtype"):
        return _read_dense(source, found, place)
    kind = _text(found.attrs.get("encoding-type", ""))
    if kind not in ("csr_matrix", "csc_matrix"):
        raise source.error(
            f"{shown(place)} is stored as {shown(kind)}; csr_matrix, csc_matrix and dense arrays "
            "are read"
        )
    parts = (
        _load(source, _member(source, found, name), f"{place}/{name}")
        for name in ("indptr", "indices", "data")
    )
    return stored_table(source, kind[:3], np.asarray(found.attrs["shape"]), *parts)


def _read_dense(source: Source, dataset: Any, place: str) -> Any:
    if dataset.ndim != 2 or dataset.dtype.kind not in "biuf" or 0 in dataset.shape:
        problem = f"{shown(place)} with shape {dataset.shape} and dtype {dataset.dtype}"
        raise source.error(f"{problem} is no table of counts")
    _check_size(source, dataset, place)
    n_cells, n_genes = dataset.shape
    return dense_table(n_cells, n_genes, dataset.__getitem__)


def _names(source: Source, file: Any, place: str, size: int) -> list[str] | None:
    frame = _member(source, file, place)
    index = _text(frame.attrs.get("_index", "_index"))
    column = frame.get(index)
    if column is None or not hasattr(column, "dtype") or column.shape != (size,):
        return None
    return [_text(value) for value in _load(source, column, f"{place}/{index}")]


def _text(value: Any) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
