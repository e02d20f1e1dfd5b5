# SPDX-License-Identifier: BSD-3-Clause
"""Read single cells as Cell Ranger (.h5) and loompy (.loom) write them, through h5py."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from discan.data.annotated import unique_names
from discan.data.corpus import Corpus
from discan.data.hdf5 import Group
from discan.data.nouns import CELLS
from discan.errors import shown
from discan.readers.guess import reader
from discan.readers.hdf5 import check_dense, load_array, opened_hdf5, plain_text
from discan.readers.numbers import dense_table, stored_table
from discan.readers.source import Source
from discan.typing import Array

__all__ = ["read_loom", "read_tenx"]

log = logging.getLogger("discan")

_EXPRESSION = "Gene Expression"


@reader(
    "tenx",
    "Cell Ranger's .h5 of 10x Genomics, genes by cells (needs h5py); its folder is read as mtx",
    endings=(".h5",),
)
def read_tenx(source: Source) -> Corpus:
    """Read the counts of a file of Cell Ranger, of any version; other features are left out."""
    with opened_hdf5(source) as file:
        groups = ["matrix"] if "matrix" in file else sorted(file)
        found = [name for name in groups if hasattr(file[name], "keys") and "indptr" in file[name]]
        if len(found) != 1:
            listed = ", ".join(map(shown, groups[:8])) or "nothing"
            raise source.error(f"no matrix of Cell Ranger; the file holds {listed}")
        [place] = found
        group = file[place]
        parts = (
            load_array(source, group[name], f"{place}/{name}")
            for name in ("shape", "indptr", "indices", "data")
        )
        shape, *arrays = parts
        table = stored_table(source, "csr", shape.ravel()[::-1], *arrays)
        where = "features/name" if "features" in group else "gene_names"
        names = _texts(source, group, where, table.shape[1])
        cells = _texts(source, group, "barcodes", table.shape[0])
        types = None
        if "features" in group and "feature_type" in group["features"]:
            types = np.array(_texts(source, group, "features/feature_type", table.shape[1]))
    if types is not None and (types == _EXPRESSION).any() and (types != _EXPRESSION).any():
        others = ", ".join(sorted({str(kind) for kind in types if kind != _EXPRESSION}))
        n_others = int((types != _EXPRESSION).sum())
        log.info("%s: %d features are left out: %s", source.path, n_others, others)
        checked = source.corpus(table).to_csr()  # before compiled code of SciPy sees it
        table = checked[:, np.flatnonzero(types == _EXPRESSION)]
        names = [name for name, kind in zip(names, types, strict=True) if kind == _EXPRESSION]
    names = unique_names(names, str(source.path))
    return source.corpus(table, word_names=names, document_names=cells, nouns=CELLS)


def _texts(source: Source, group: Any, place: str, size: int) -> list[str]:
    values = load_array(source, group[place], place)
    if values.shape != (size,):
        raise source.error(f"{shown(place)} has {values.size:,} names, expected {size:,}")
    return [plain_text(value) for value in values.tolist()]


@reader(
    "loom",
    "loompy's .loom, genes by cells (needs h5py)",
    endings=(".loom",),
)
def read_loom(source: Source) -> Corpus:
    """Read the counts of a loom file, and what describes the cells."""
    with opened_hdf5(source) as file:
        matrix = file["matrix"]
        check_dense(source, matrix, "matrix")
        n_genes, n_cells = matrix.shape
        table = dense_table(n_cells, n_genes, lambda rows: np.asarray(matrix[:, rows]).T)
        genes = _attributes(source, file, "row_attrs", n_genes)
        cells = _attributes(source, file, "col_attrs", n_cells)
    words = _first(genes, "Gene", "gene", "Accession", "var_names")
    names = _first(cells, "CellID", "cell_id", "obs_names")
    if (np.rint(table.data) != table.data).any():
        log.warning("%s: matrix holds fractions, so it may be normalised", source.path)
    facts = {
        title: values for title, values in cells.items() if title not in ("CellID", "obs_names")
    }
    word_names = None
    if words is not None:
        word_names = unique_names(list(map(plain_text, words)), str(source.path))
    return source.corpus(
        table,
        word_names=word_names,
        document_names=None if names is None else list(map(plain_text, names)),
        metadata=facts,
        nouns=CELLS,
    )


def _attributes(source: Source, file: Any, place: str, size: int) -> dict[str, Any]:
    """Return the attributes of rows or columns that have one value each."""
    group = file.get(place)
    found: dict[str, Any] = {}
    for name in group if isinstance(group, Group) else ():
        values = group[name]
        if getattr(values, "shape", None) == (size,):
            loaded = load_array(source, values, f"{place}/{name}")
            is_number = loaded.dtype.kind in "iuf"
            found[name] = loaded if is_number else [plain_text(v) for v in loaded.tolist()]
    return found


def _first(attributes: dict[str, Any], *names: str) -> Array | list[str] | None:
    return next((attributes[name] for name in names if name in attributes), None)
