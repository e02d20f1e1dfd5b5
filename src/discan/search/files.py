# SPDX-License-Identifier: BSD-3-Clause
"""Write an index to a file and read it again; nothing in the file is trusted."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from discan.data.rules import MOST, ONE, Rule, check_rows, checked_names, faults_of, taken
from discan.data.storage import read_file, write_file
from discan.errors import ModelFileError
from discan.fitting.modelfile import model_path
from discan.fitting.posterior import checked_loadings
from discan.fitting.result import Fit
from discan.search.own_words import OwnWords
from discan.search.shares import AllShares, Shares, TopShares
from discan.search.views import View
from discan.typing import Array

__all__ = ["beside", "is_index", "read_index", "write_index"]

ROUNDING = 2e-2  # of sums of many shares in half precision
_HEADER = {
    "documents": Rule(types="whole", low=1),
    "views": Rule(types="whole", low=1, high=10_000),
    "top": Rule(types="flag"),
    "words": Rule(types="flag"),
    "fit": Rule(types="text"),
}
_FLOATS = ("f2", "f4", "f8")


def beside(model: str | os.PathLike[str]) -> Path:
    """Path of the index that lies beside a model file."""
    file = model_path(model)
    return file.with_name(f"{file.stem}.index")


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether a path names an index, by its ending."""
    return Path(path).suffix == ".index"


Parts = tuple[tuple[View, ...], OwnWords | None, tuple[str, ...] | None]


def write_index(
    path: str | os.PathLike[str], fit: Fit, views: tuple[View, ...], words: OwnWords | None,
    document_names: tuple[str, ...] | None,
) -> None:  # fmt: skip
    """Write the parts of an index, all or nothing."""
    arrays: dict[str, Array] = {}
    for n, view in enumerate(views):
        shares: Any = view.shares
        names = ("components", "values", "rest", "background")
        arrays |= {f"{n}.{name}": getattr(shares, name) for name in names if hasattr(shares, name)}
        arrays[f"{n}.inverse_weight"] = view.inverse_weight
        if view.loadings is not None:
            arrays[f"{n}.loadings"] = view.loadings
    if words is not None:
        for name in ("indptr", "documents", "counts"):
            arrays[f"words.{name}"] = getattr(words, name)
    header = {
        "documents": views[0].shares.shape[0],
        "views": len(views),
        "top": isinstance(views[0].shares, TopShares),
        "words": words is not None,
        "fit": digest(fit),
        "document_names": document_names,
    }
    write_file(path, "index", header, arrays)


def read_index(path: str | os.PathLike[str], fit: Fit) -> Parts:
    """Read the parts of an index of this fit; everything in the file is checked."""
    with faults_of(path):
        header, arrays = read_file(path, "index")
        values = taken(_HEADER, header, {})
        if values["fit"] != digest(fit):
            raise ModelFileError("it is the index of another model; build it again")
        sizes = {
            "I": values["documents"], "J": fit.layout.n_words, "K": fit.n_components,
        }  # fmt: skip
        views = tuple(
            _view(f"{n}.", arrays, sizes, bool(values["top"]), fit) for n in range(values["views"])
        )
        words = _words(arrays, sizes, fit) if values["words"] else None
        names = checked_names("document_names", header["document_names"], sizes["I"])
        return views, words, names


def digest(fit: Fit) -> str:
    """Checksum of the components of a fit, to tell whether an index is of it."""
    found = hashlib.sha256(repr(fit.components.shape).encode())
    found.update(np.ascontiguousarray(fit.mean_loadings).data)
    return found.hexdigest()


def _view(
    prefix: str, arrays: dict[str, Array], sizes: dict[str, int], top: bool, fit: Fit
) -> View:
    kind = _type(arrays, f"{prefix}values", _FLOATS)
    rules = {
        "values": Rule(("I", None if top else "K"), kind, low=0, high=ONE + ROUNDING),
        "inverse_weight": Rule(("I",), low=0, high=MOST),
        "loadings": Rule(("J", "K"), "f8", low=0, high=ONE, optional=True),
    }
    kept = taken(rules, arrays, sizes, prefix)
    values = kept["values"]
    loadings = kept.get("loadings")
    if loadings is not None:
        checked_loadings(f"{prefix}loadings", loadings, fit.layout)
    shares: Shares
    if not top:
        _check_sums(prefix, values.sum(axis=1, dtype=np.float64))
        return View(AllShares(values), kept["inverse_weight"], loadings)
    sizes = {**sizes, "L": values.shape[1]}
    rules = {
        "components": Rule(("I", "L"), "i", low=0, below="K"),
        "rest": Rule(("I",), low=0, high=ONE),
        "background": Rule(("K",), "f8", low=0, high=ONE),
    }
    others = taken(rules, arrays, sizes, prefix)
    steps = np.diff(others["components"].astype(np.int64))
    if not (1 <= sizes["L"] <= sizes["K"]) or (steps < 1).any():
        raise ModelFileError(f"{prefix}components do not ascend")
    _check_sums(prefix, values.sum(axis=1, dtype=np.float64) + others["rest"])
    _check_sums(f"{prefix}background of ", others["background"].sum()[None])
    shares = TopShares(others["components"], values, others["rest"], others["background"])
    return View(shares, kept["inverse_weight"], loadings)


def _words(arrays: dict[str, Array], sizes: dict[str, int], fit: Fit) -> OwnWords:
    documents, indptr = arrays["words.documents"], arrays["words.indptr"]
    Rule((None,), "i4", low=0, below="I").check("words.documents", documents, sizes)
    check_rows("words", indptr, documents, sizes["J"], sizes["I"])
    kind = _type(arrays, "words.counts", ("f8", "i4", "i8"))
    counts = arrays["words.counts"]
    Rule(("n",), kind, low=0, high=MOST).check("words.counts", counts, {"n": len(documents)})
    return OwnWords(fit.layout, sizes["I"], indptr, documents, counts)


def _type(arrays: dict[str, Array], name: str, types: tuple[str, ...]) -> str:
    """Return the type of an array if it is one of some."""
    value = arrays.get(name)
    if value is None:
        raise ModelFileError(f"{name} is missing")
    if value.dtype.str[1:] not in types:
        raise ModelFileError(f"{name} has type {value.dtype}")
    return value.dtype.str[1:]


def _check_sums(prefix: str, sums: Array) -> None:
    if (np.abs(sums - 1.0) > ROUNDING).any():
        raise ModelFileError(f"{prefix}shares do not sum to 1")
