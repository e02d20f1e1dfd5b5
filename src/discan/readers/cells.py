# SPDX-License-Identifier: BSD-3-Clause
"""Read single cells: AnnData's .h5ad and MuData's .h5mu, through h5py."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from discan.data.annotated import Place, choose_place, join_modalities, unique_names
from discan.data.corpus import Corpus
from discan.data.folders.pieces import Piece
from discan.data.folders.runs import Mark
from discan.data.intake import read_table, tightest
from discan.data.nouns import CELLS
from discan.errors import shown
from discan.readers.guess import reader
from discan.readers.hdf5 import (
    check_dense,
    check_stored,
    load_array,
    opened_hdf5,
    plain_text,
)
from discan.readers.numbers import CELLS_AT_ONCE, check_table, dense_table, stored_table
from discan.readers.source import Source
from discan.readers.table_streams import Batch, TableFacts, TableStream
from discan.typing import Array

__all__ = ["read_h5ad"]

log = logging.getLogger("discan")


@reader(
    "h5ad",
    "AnnData .h5ad, cells by genes, or MuData .h5mu, each modality a group (needs h5py)",
    endings=(".h5ad", ".h5mu"),
    sniff=lambda source: source.name.endswith((".h5ad", ".h5mu")),
    table=lambda source, **options: _stream_h5ad(source, **options),
)
def read_h5ad(
    source: Source,
    layer: Annotated[
        str | None,
        'Layer that holds the counts, e.g. "counts"; "X" for X. By default X, or if that holds '
        'no whole numbers the layer "counts" or raw.',
    ] = None,
    raw: Annotated[bool, "Whether to read raw/X, with the genes of raw."] = False,
    *,
    like: Any = None,
) -> Corpus:
    """Read the counts of an AnnData or MuData file, and what describes the cells."""
    wanted = _wanted(layer, raw)
    with opened_hdf5(source) as file:
        if "mod" not in file:
            return _read_one(source, file, "", wanted, like)
        listed = file["mod"]
        order = [plain_text(name) for name in listed.attrs.get("mod-order", list(listed))]
        parts = {name: _read_one(source, file[f"mod/{name}"], name, wanted, like) for name in order}
        cells = _names(source, file, "obs", None) or []
        with source.naming():
            return join_modalities(parts, cells, _facts(source, file, len(cells)))


def _stream_h5ad(source: Source, layer: str | None = None, raw: bool = False) -> TableStream | None:
    """Read the counts of an AnnData file in pieces; None for MuData, which is read whole."""
    with opened_hdf5(source) as file:
        if "mod" in file:
            return None
        place, table, facts = _found(source, file, "", _wanted(layer, raw), None, StoredMatrix)
        shape, by_column = table.shape, table.by_column
    known = TableFacts(*shape, **facts)
    if by_column:
        return TableStream(source, lambda: known, _ByGene(source, place))
    return TableStream(source, lambda: known, pieces=lambda: _by_cell(source, place))


@contextmanager
def _stored(source: Source, place: Place) -> Iterator[StoredMatrix]:
    """Open the counts of a file."""
    with opened_hdf5(source) as file, source.naming():
        where = _where(place)
        yield StoredMatrix(source, file[where], where)


def _by_cell(source: Source, place: Place) -> Iterator[Piece]:
    """Iterate over the cells of a file that stores one after the other."""
    with _stored(source, place) as counts:
        yield from counts.pieces()


class _ByGene:
    """Entries of a file that stores one gene after the other."""

    def __init__(self, source: Source, place: Place) -> None:
        self._source, self._place, self._next = source, place, 0

    def batches(self) -> Iterator[Batch]:
        """Iterate over the entries, from where reading stands."""
        with _stored(self._source, self._place) as counts:
            for start, stop in counts.ranges(self._next):
                self._next = stop
                yield counts.batch(start, stop)

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch."""
        return {"gene": self._next}

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._next = mark["gene"]


def _wanted(layer: str | None, raw: bool) -> Place | None:
    return Place(None if layer == "X" else layer, raw) if raw or layer is not None else None


def _where(place: Place) -> str:
    return "raw/X" if place.raw else "X" if place.layer is None else f"layers/{place.layer}"


def _read_one(source: Source, file: Any, modality: str, wanted: Place | None, like: Any) -> Corpus:
    """Read one AnnData, which is a file or a group of it."""
    _, counts, facts = _found(source, file, modality, wanted, like, _read_matrix)
    return source.corpus(counts, **facts)


def _found(
    source: Source,
    file: Any,
    modality: str,
    wanted: Place | None,
    like: Any,
    read: Callable[[Source, Any, str], Any],
) -> tuple[Place, Any, dict[str, Any]]:
    """Return where the counts are, the counts as ``read`` reads them, and what is known of them."""

    def load(place: Place) -> Any:
        where = _where(place)
        return read(source, file[where], where)

    layers = list(file["layers"]) if "layers" in file else []
    before = {} if like is None else like.reading.get("places", {})
    if wanted is None and modality in before:
        found = Place(*before[modality])
        has_raw = "raw" in file or not found.raw
        wanted = found if found.layer in (None, *layers) and has_raw else None
    if wanted is not None:
        place, counts = wanted, load(wanted)
        if not _is_whole(counts):
            log.warning("%s: %s holds fractions, so it may be normalised", source.path, place)
    else:
        has_raw = "raw" in file and "X" in file["raw"]
        origin = f"{source.path}{f', modality {modality}' if modality else ''}"
        with source.naming():
            place, counts = choose_place(load, layers, has_raw, "X" in file, origin)
    words = _names(source, file, "raw/var" if place.raw else "var", counts.shape[1])
    facts = _facts(source, file, counts.shape[0])
    if facts and like is None and not modality:
        listed = ", ".join(map(shown, list(facts)[:8])) + (", ..." if len(facts) > 8 else "")
        log.info("%s: kept as metadata of the cells: %s", source.path, listed)
    return (
        place,
        counts,
        {
            "word_names": None if words is None else unique_names(words, str(source.path)),
            "document_names": _names(source, file, "obs", counts.shape[0]),
            "metadata": facts,
            "nouns": CELLS,
            "reading": {"places": {modality: list(place)}},
        },
    )


def _is_whole(counts: Any) -> bool:
    if isinstance(counts, StoredMatrix):
        return counts.are_whole()
    return counts.data.dtype.kind != "f" or bool((np.rint(counts.data) == counts.data).all())


def _read_matrix(source: Source, found: Any, place: str) -> Any:
    if hasattr(found, "dtype"):
        return _read_dense(source, found, place)
    kind = _check_kind(source, found, place)
    parts = (
        load_array(source, found[name], f"{place}/{name}") for name in ("indptr", "indices", "data")
    )
    return stored_table(source, kind[:3], np.asarray(found.attrs["shape"]), *parts)


def _check_kind(source: Source, found: Any, place: str) -> str:
    kind = plain_text(found.attrs.get("encoding-type", ""))
    if kind not in ("csr_matrix", "csc_matrix"):
        raise source.error(
            f"{shown(place)} is stored as {shown(kind)}; csr_matrix, csc_matrix and dense arrays "
            "are read"
        )
    return kind


def _read_dense(source: Source, dataset: Any, place: str) -> Any:
    check_dense(source, dataset, place)
    n_cells, n_genes = dataset.shape
    return dense_table(n_cells, n_genes, dataset.__getitem__)


class StoredMatrix:
    """A table of counts that stays in its file, and is read in parts."""

    def __init__(self, source: Source, found: Any, place: str) -> None:
        self._source, self._place = source, place
        self._dense = found if hasattr(found, "dtype") else None
        self.by_column = False
        if self._dense is not None:
            check_dense(source, found, place)
            self.shape = tuple(found.shape)
            return
        kind = _check_kind(source, found, place)
        self.by_column = kind == "csc_matrix"
        self._indptr, self._indices, self._data = (
            found[name] for name in ("indptr", "indices", "data")
        )
        for name, part in (("indices", self._indices), ("data", self._data)):
            check_stored(source, part, f"{place}/{name}")
        offsets = load_array(source, self._indptr, f"{place}/indptr")
        shape, types = np.asarray(found.attrs["shape"]), (self._indices.dtype, offsets.dtype)
        self.shape = check_table(source, shape, self._data.dtype, self._data.size, types)
        n_rows = self.shape[self.by_column]
        whole = offsets.dtype.kind in "iu" and offsets.shape == (n_rows + 1,)
        if not whole or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
            raise source.error(f"damaged sparse table: {shown(place)} has offsets that are wrong")
        if {self._indices.shape, self._data.shape} != {(int(offsets[-1]),)}:
            raise source.error(f"damaged sparse table: {shown(place)} has arrays of wrong sizes")
        self._offsets = offsets.astype(np.int64)

    def are_whole(self) -> bool:
        """Tell whether all counts are whole numbers."""
        values = self._data if self._dense is None else self._dense
        if values.dtype.kind != "f":
            return values.dtype.kind in "biu"
        step = CELLS_AT_ONCE if self._dense is None else max(1, CELLS_AT_ONCE // self.shape[1])
        parts = (values[start : start + step] for start in range(0, values.shape[0], step))
        return all(bool((np.rint(part) == part).all()) for part in parts)

    def pieces(self) -> Iterator[Piece]:
        """Iterate over documents, if they are rows."""
        for start, stop in self.ranges():
            table = read_table(self._rows(start, stop))
            yield Piece(table.indptr, table.words, tightest(table.values))

    def batch(self, start: int, stop: int) -> Batch:
        """Return the entries of some columns, if documents are rows and columns are stored."""
        begin, end = int(self._offsets[start]), int(self._offsets[stop])
        documents = np.asarray(self._indices[begin:end])
        if documents.size and not (
            documents.dtype.kind in "iu"
            and documents.min() >= 0
            and documents.max() < self.shape[0]
        ):
            problem = f"{shown(self._place)} has indices outside the table"
            raise self._source.error(f"damaged sparse table: {problem}")
        words = np.repeat(np.arange(start, stop), np.diff(self._offsets[start : stop + 1]))
        counts = np.asarray(self._data[begin:end])
        # checked as a table of one row would be
        row = sparse.csr_array((counts, documents, [0, counts.size]), shape=(1, self.shape[0]))
        read_table(row)
        return documents, words, counts

    def _rows(self, start: int, stop: int) -> Any:
        if self._dense is not None:
            return np.asarray(self._dense[start:stop])
        begin, end = int(self._offsets[start]), int(self._offsets[stop])
        indices, data = np.asarray(self._indices[begin:end]), np.asarray(self._data[begin:end])
        parts = (data, indices, self._offsets[start : stop + 1] - begin)
        return sparse.csr_array(parts, shape=(stop - start, self.shape[1]))

    def ranges(self, start: int = 0) -> Iterator[tuple[int, int]]:
        """Iterate over ranges of rows, or of columns, of about as many entries each."""
        n_rows = self.shape[self.by_column]
        while start < n_rows:
            if self._dense is None:
                limit = self._offsets[start] + CELLS_AT_ONCE
                stop = int(np.searchsorted(self._offsets, limit, side="right")) - 1
                stop = min(n_rows, max(start + 1, stop))
            else:
                stop = min(n_rows, start + max(1, CELLS_AT_ONCE // self.shape[1]))
            yield start, stop
            start = stop


def _names(source: Source, file: Any, place: str, size: int | None) -> list[str] | None:
    frame = file[place]
    index = plain_text(frame.attrs.get("_index", "_index"))
    column = frame.get(index)
    if hasattr(column, "keys"):  # text that may be missing: values and a mask
        column = column.get("values")
    if column is None or not hasattr(column, "dtype") or column.ndim != 1:
        return None
    if size is not None and column.shape != (size,):
        return None
    return [plain_text(value) for value in load_array(source, column, f"{place}/{index}")]


# ---- what describes the cells ----


def _facts(source: Source, file: Any, n_cells: int) -> dict[str, Any]:
    """Return the columns of ``obs``."""
    frame = file["obs"]
    if not hasattr(frame, "keys"):
        return {}
    index = plain_text(frame.attrs.get("_index", "_index"))
    listed = [plain_text(name) for name in frame.attrs.get("column-order", ())]
    found = {name: _column(source, frame, name) for name in listed if name != index}
    return {n: v for n, v in found.items() if v is not None and np.shape(v) == (n_cells,)}


def _column(source: Source, frame: Any, name: str) -> Any:
    """Return a column of obs: numbers, text or categories; None for any other kind."""
    column, place = frame.get(name), f"obs/{name}"
    if column is None:
        return None
    if hasattr(column, "dtype"):
        values = load_array(source, column, place)
        old = frame.get("__categories")
        if old is not None and name in old:  # as AnnData wrote categories before 0.8
            texts = load_array(source, old[name], f"obs/__categories/{name}")
            return _of_categories(values, texts)
        if values.dtype.kind in "iuf":
            return values
        return (
            [plain_text(value) for value in values.tolist()]
            if values.dtype.kind in "OSUb"
            else None
        )
    kind = plain_text(column.attrs.get("encoding-type", ""))
    if kind == "categorical":
        parts = (load_array(source, column[p], place) for p in ("codes", "categories"))
        return _of_categories(*parts)
    if kind.startswith("nullable"):
        values, mask = (load_array(source, column[p], place) for p in ("values", "mask"))
        return [None if m else _plain(v) for v, m in zip(values.tolist(), mask, strict=True)]
    return None


def _of_categories(codes: Array, categories: Array) -> Any:
    if codes.dtype.kind not in "iu" or codes.max(initial=-1) >= len(categories):
        return None
    texts = [*(_plain(value) for value in categories.tolist()), None]
    return [texts[code] if code >= 0 else None for code in codes.tolist()]


def _plain(value: Any) -> Any:
    return plain_text(value) if isinstance(value, bytes | str | bool) else value
