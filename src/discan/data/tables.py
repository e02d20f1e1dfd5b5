# SPDX-License-Identifier: BSD-3-Clause
"""Write tables of documents, block by block: CSV, Parquet or .npy, all or nothing."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.data.csv_text import plain_cell, to_csv
from discan.data.drafts import Place, replace_file, storage_errors
from discan.errors import InputError
from discan.typing import Array

__all__ = ["ENDINGS", "Rows", "check_ending", "write_rows"]

ENDINGS = (".csv", ".parquet", ".npy")
VALUES_AT_ONCE = 2**22  # numbers in a row group of Parquet: 32 MB, whatever the blocks


class Rows(NamedTuple):
    """Some rows of a table.

    Attributes
    ----------
    facts : sequence of (n,) arrays
        Columns before the numbers: names and metadata, as objects that are str or None, or float64.
    values : (n, V) array
        Columns of numbers.
    """

    facts: Sequence[Array]
    values: Array


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse a file that no table can be written to, or not without pyarrow."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: name a file that ends in {', '.join(ENDINGS[:-1])} or .npy")
    if ending == ".parquet":
        _arrow()


def write_rows(
    path: str | os.PathLike[str], facts: Sequence[str], values: Sequence[str], n_rows: int,
    blocks: Iterable[Rows],
) -> None:  # fmt: skip
    """Write a table as its blocks come; the file appears when all are written, or never.

    Parameters
    ----------
    path : file that ends in .csv, .parquet or .npy
        A .npy file holds the numbers alone, (n_rows, V).
    facts, values : sequences of str
        Titles of the columns.
    n_rows : int
    blocks : iterable of Rows
    """
    check_ending(path)
    ending = Path(path).suffix.lower()
    parts: Iterable[bytes | memoryview]
    if ending == ".csv":
        parts = _csv(facts, values, blocks)
    elif ending == ".npy":
        parts = _npy(n_rows, len(values), blocks)
    else:
        parts = _parquet(facts, values, _regrouped(blocks, len(values)))
    place = Place.of(path)
    if not place.is_special:
        replace_file(place, parts)
        return
    with storage_errors(place.path), open(place.path, "wb") as stream:
        stream.writelines(parts)


# ---- CSV ----


def _csv(facts: Sequence[str], values: Sequence[str], blocks: Iterable[Rows]) -> Iterator[bytes]:
    yield _encoded(to_csv([*facts, *values], ()))
    for block in blocks:
        columns = [map(plain_cell, column) for column in block.facts]
        facts_of = zip(*columns, strict=True) if columns else iter([()] * len(block.values))
        rows = zip(facts_of, block.values.tolist(), strict=True)
        yield _encoded(to_csv(None, ([*fact, *numbers] for fact, numbers in rows)))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


# ---- .npy ----


def _npy(n_rows: int, n_values: int, blocks: Iterable[Rows]) -> Iterator[bytes | memoryview]:
    head = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, n_values)}
    np.lib.format.write_array_header_2_0(head, described)
    yield head.getvalue()
    for block in blocks:
        yield np.ascontiguousarray(block.values, dtype="<f8").reshape(-1).view(np.uint8).data


# ---- Parquet ----


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow; install discan[parquet]") from None
    return pyarrow


def _regrouped(blocks: Iterable[Rows], n_values: int) -> Iterator[Rows]:
    """Cut rows into groups of the same number, which depends on the number of columns alone."""
    size = max(1, VALUES_AT_ONCE // max(1, n_values))
    held: list[Rows] = []
    n_held = 0
    for block in blocks:
        held.append(block)
        n_held += len(block.values)
        if n_held < size:
            continue
        whole = _joined(held)
        full = n_held - n_held % size
        for start in range(0, full, size):
            yield _part(whole, start, start + size)
        held, n_held = [_part(whole, full, n_held)], n_held - full
    if n_held:
        yield _joined(held)


def _joined(blocks: Sequence[Rows]) -> Rows:
    facts = [np.concatenate(column) for column in zip(*(b.facts for b in blocks), strict=True)]
    return Rows(facts, np.concatenate([block.values for block in blocks]))


def _part(rows: Rows, start: int, stop: int) -> Rows:
    return Rows([column[start:stop] for column in rows.facts], rows.values[start:stop])


class _Sink(io.RawIOBase):
    """Collects what Parquet's writer writes, until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def tell(self) -> int:
        """Number of bytes written."""
        return self._at

    def write(self, data: Any) -> int:
        """Keep some bytes."""
        kept = bytes(data)
        self._parts.append(kept)
        self._at += len(kept)
        return len(kept)

    def taken(self) -> bytes:
        """Return the bytes since the last time."""
        result = b"".join(self._parts)
        self._parts.clear()
        return result


def _parquet(
    facts: Sequence[str], values: Sequence[str], blocks: Iterable[Rows]
) -> Iterator[bytes]:
    arrow = _arrow()
    sink, writer = _Sink(), None
    titles = _distinct([*facts, *values])
    for block in blocks:
        columns = [_column(arrow, column) for column in block.facts]
        # a column of the table is not contiguous
        columns += [arrow.array(np.ascontiguousarray(column)) for column in block.values.T]
        if writer is None:
            types = [(title, column.type) for title, column in zip(titles, columns, strict=True)]
            writer = arrow.parquet.ParquetWriter(arrow.PythonFile(sink, "w"), arrow.schema(types))
        writer.write_table(arrow.table(columns, schema=writer.schema), len(block.values))
        yield sink.taken()
    if writer is None:  # no rows
        empty = arrow.schema([(title, arrow.float64()) for title in titles])
        writer = arrow.parquet.ParquetWriter(arrow.PythonFile(sink, "w"), empty)
    writer.close()
    yield sink.taken()


def _column(arrow: Any, column: Array) -> Any:
    """Texts, or numbers in which NaN is a missing value."""
    if column.dtype == object:
        return arrow.array(column.tolist(), type=arrow.string())
    return arrow.array(column, from_pandas=True)


def _distinct(titles: Sequence[str]) -> list[str]:
    """Number titles that stand twice, because a table has each name once."""
    found: list[str] = []
    seen: set[str] = set()
    for title in titles:
        name, n = title, 2
        while name in seen:
            name, n = f"{title} ({n})", n + 1
        seen.add(name)
        found.append(name)
    return found
