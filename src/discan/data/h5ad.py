# SPDX-License-Identifier: BSD-3-Clause
"""Write files of AnnData (.h5ad) through h5py, whole or by adding to a copy of another."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.drafts import Place, drafted
from discan.data.hdf5 import Group
from discan.errors import InputError, shown
from discan.typing import Array

__all__ = ["gene_names", "write_h5ad"]


def write_h5ad(
    path: Path,
    corpus: Corpus,
    obsm: Mapping[str, Array],
    varm: Mapping[str, Array],
    uns: Mapping[str, Any],
    source: Path | None = None,
) -> None:
    """Write a file, all or nothing.

    Parameters
    ----------
    path : file to write
    corpus : counts, names and metadata of the cells, if there is no source
    obsm, varm, uns : what to add, by key
    source : file of AnnData, optional
        The new file is a copy of it with ``obsm``, ``varm`` and ``uns`` added.
    """
    h5py = _h5py()
    place = Place.of(path)
    place.check_regular()
    with drafted(place) as (_, draft):
        if source is not None:
            shutil.copyfile(source, draft)
        # the draft is locked already
        with h5py.File(draft, "r+" if source is not None else "w", locking=False) as file:
            if source is None:
                _write_counts(file, corpus)
            for part, entries in (("obsm", obsm), ("varm", varm), ("uns", uns)):
                _add(Group(source or path, file), part, entries)


def _add(file: Group, part: str, entries: Mapping[str, Any]) -> None:
    """Write entries into a part of a file, in the place of those of the same names."""
    found = file.get(part)
    group = _dict(file.inner, part) if found is None else getattr(found, "inner", None)
    if group is None:
        raise InputError(f"{shown(part)} of the data is no group; leave it out of the file")
    for key, value in entries.items():
        if key in list(group):
            del group[key]
        _write(group, key, value)


def gene_names(path: Path) -> list[str]:
    """Return the names of the genes of a file of AnnData, which was read before."""
    with _h5py().File(path, "r") as inner:
        frame = Group(path, inner)["var"]
        column = frame[frame.attrs.get("_index", "_index")]
        if hasattr(column, "keys"):  # text that may be missing: values and a mask
            column = column["values"]
        values = column[()]
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]


def _h5py() -> Any:
    try:
        import h5py  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise InputError("writing .h5ad needs the package h5py: pip install h5py") from None
    return h5py


# ---- AnnData's layout ----


def _write_counts(file: Any, corpus: Corpus) -> None:
    _mark(file, "anndata", "0.1.0")
    counts = corpus.to_csr()
    group = file.create_group("X")
    _mark(group, "csr_matrix", "0.1.0")
    group.attrs["shape"] = np.array(counts.shape, dtype=np.int64)
    for name in ("data", "indices", "indptr"):
        group.create_dataset(name, data=getattr(counts, name))
    words = corpus.layout.word_names or tuple(str(j) for j in range(corpus.n_words))
    cells = corpus.document_names or tuple(str(i) for i in range(corpus.n_documents))
    _write_frame(file, "obs", cells, corpus.metadata)
    _write_frame(file, "var", words, {})
    for name in ("layers", "obsp", "varp"):
        _dict(file, name)


def _write_frame(file: Any, name: str, index: Sequence[str], columns: Mapping[str, Array]) -> None:
    group = file.create_group(name)
    _mark(group, "dataframe", "0.2.0")
    kept = {title.replace("/", "|"): column for title, column in columns.items()}
    kept.pop("_index", None)
    group.attrs["_index"] = "_index"
    group.attrs["column-order"] = np.array(list(kept), dtype=_text_type())
    _write(group, "_index", list(index))
    for title, column in kept.items():
        _write(group, title, ["" if v is None else v for v in column.tolist()]
               if column.dtype == object else column)  # fmt: skip


def _dict(parent: Any, name: str) -> Any:
    group = parent.create_group(name)
    _mark(group, "dict", "0.1.0")
    return group


def _write(group: Any, name: str, value: Any) -> None:
    """Write a value: a dict, text, a list of text, a number or an array."""
    if isinstance(value, Mapping):
        inner = _dict(group, name)
        for key, item in value.items():
            _write(inner, str(key), item)
        return
    if isinstance(value, str):
        _mark(group.create_dataset(name, data=value, dtype=_text_type()), "string", "0.2.0")
    elif isinstance(value, list | tuple):
        data = np.array([str(item) for item in value], dtype=object)
        dataset = group.create_dataset(name, data=data, dtype=_text_type())
        _mark(dataset, "string-array", "0.2.0")
    elif np.ndim(value) == 0:
        _mark(group.create_dataset(name, data=value), "numeric-scalar", "0.2.0")
    else:
        _mark(group.create_dataset(name, data=np.ascontiguousarray(value)), "array", "0.2.0")


def _text_type() -> Any:
    return _h5py().string_dtype(encoding="utf-8")


def _mark(member: Any, kind: str, version: str) -> None:
    member.attrs["encoding-type"] = kind
    member.attrs["encoding-version"] = version
