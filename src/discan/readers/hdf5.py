# SPDX-License-Identifier: BSD-3-Clause
"""Read HDF5 files safely, through h5py: no links to other files, no claims beyond the file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from discan.data.hdf5 import Group
from discan.errors import LimitError, shown
from discan.readers.source import MAX_RATIO, Source
from discan.typing import Array

__all__ = ["check_dense", "check_stored", "load_array", "opened_hdf5", "plain_text"]

FREE_BYTES = 2**26


@contextmanager
def opened_hdf5(source: Source) -> Iterator[Group]:
    """Open a file of HDF5."""
    try:
        import h5py  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        problem = "reading this file needs the package h5py: pip install h5py"
        raise source.error(problem) from None
    with source.faults("cannot be read as HDF5"), h5py.File(source.path, "r") as file:
        yield Group(source.path, file)


def load_array(source: Source, dataset: Any, place: str) -> Array:
    """Load a dataset whole, unless it claims far more than the file can hold."""
    check_stored(source, dataset, place)
    if not dataset.dtype.hasobject:
        return np.asarray(dataset[()])
    if dataset.dtype.kind != "O" or dataset.ndim != 1:
        problem = f"{shown(place)} with shape {dataset.shape} and dtype {dataset.dtype}"
        raise source.error(f"{problem} is no list of texts")
    return _load_texts(source, dataset, place)


def _load_texts(source: Source, dataset: Any, place: str) -> Array:
    """Load texts of any size, a few at a time: all may be the same long one."""
    stored = source.path.stat().st_size
    limit, step = max(FREE_BYTES, MAX_RATIO * stored), max(MAX_RATIO, FREE_BYTES // stored)
    parts, size = [], 0
    for start in range(0, dataset.size, step):
        parts.append(dataset[start : start + step])
        size += sum(map(sys.getsizeof, parts[-1]))
        if size > limit:
            problem = f"{shown(place)} unpacks to more than {limit:,} bytes"
            raise source.error(f"{problem}; write the file again", kind=LimitError)
    return np.concatenate(parts) if parts else np.zeros(0, dtype=object)


def check_stored(source: Source, dataset: Any, place: str) -> None:
    """Refuse a dataset that lies elsewhere, or claims far more than the file can hold."""
    if not hasattr(dataset, "dtype"):
        raise source.error(f"{shown(place)} is a group, not an array")
    if dataset.external or getattr(dataset, "is_virtual", False):
        raise source.error(f"{shown(place)} lies in another file; not followed")
    stored = min(source.path.stat().st_size, dataset.id.get_storage_size())
    if dataset.size * dataset.dtype.itemsize > max(FREE_BYTES, MAX_RATIO * stored):
        problem = f"{shown(place)} claims shape {dataset.shape} but {stored:,} bytes are stored"
        raise source.error(f"{problem}; write the file again", kind=LimitError)


def check_dense(source: Source, dataset: Any, place: str) -> None:
    """Refuse a dataset that is no dense table of counts."""
    if dataset.ndim != 2 or dataset.dtype.kind not in "biuf" or 0 in dataset.shape:
        problem = f"{shown(place)} with shape {dataset.shape} and dtype {dataset.dtype}"
        raise source.error(f"{problem} is no table of counts")
    check_stored(source, dataset, place)


def plain_text(value: Any) -> str:
    """Return a value of a file as text."""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
