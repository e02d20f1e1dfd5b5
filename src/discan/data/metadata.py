# SPDX-License-Identifier: BSD-3-Clause
"""Columns that describe documents, such as party, date or author, and their place in files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from discan.data.intake import reason
from discan.data.left_out import NOTHING
from discan.data.nouns import Nouns
from discan.data.remembered import checked_reading
from discan.data.rules import Rule, checked_names
from discan.errors import InputError, ModelFileError, shown
from discan.typing import Array

__all__ = ["EXCERPT", "decode_about", "encode_about", "read_metadata", "select_metadata"]

EXCERPT = "excerpt"
"""The column that holds the beginning of each text."""


def read_metadata(given: Any, n_documents: int) -> dict[str, Array]:
    """Read columns that describe the documents.

    Parameters
    ----------
    given : mapping of str to (I,) array-like, or data frame, or None
    n_documents : int
        I.

    Returns
    -------
    dict of str to (I,) array
        float64 for numbers, where NaN is missing; else objects of type str, where None is missing.
        Dates are written as text, 2005-01-31 or 2005-01-31T12:00:00.
    """
    if given is None:
        return {}
    names = given.columns if hasattr(type(given), "columns") else given
    if not isinstance(given, Mapping) and names is given:
        raise InputError(
            f"metadata is a {type(given).__name__}; pass a data frame, or a dict of columns"
        )
    result: dict[str, Array] = {}
    for name in names:
        column = _column(str(name), given[name])
        if column.shape != (n_documents,):
            raise InputError(
                f"metadata column {str(name)!r} has shape {column.shape}, expected "
                f"({n_documents},): one value per document"
            )
        result[str(name)] = column
    return result


def select_metadata(metadata: Mapping[str, Array], rows: Array) -> dict[str, Array]:
    """Return the same columns of some documents."""
    return {name: column[rows] for name, column in metadata.items()}


def _column(name: str, values: Any) -> Array:
    """Return a column as float64 or as objects, str or None."""
    if hasattr(values, "to_list"):  # pandas and polars: their own missing values become ours
        values = values.to_list()
    if not isinstance(values, np.ndarray):
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InputError(f"metadata column {name!r} must be a sequence, one value per document")
        return _of_objects(list(values))
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        return _of_objects([None if np.isnat(value) else _date(value) for value in values])
    return _of_objects(values.tolist()) if values.ndim == 1 else values


def _of_objects(items: list[Any]) -> Array:
    """Return numbers as float64 if there is nothing else, and text otherwise."""
    cleaned = [None if _is_missing(item) else item for item in items]
    present = [item for item in cleaned if item is not None]
    if present and all(isinstance(item, Real) and not isinstance(item, bool) for item in present):
        try:
            return np.array([math.nan if item is None else float(item) for item in cleaned])
        except (OverflowError, ValueError) as error:
            raise InputError(f"a number of the metadata cannot be read ({reason(error)})") from None
    result = np.empty(len(cleaned), dtype=object)
    result[:] = [None if item is None else _text(item) for item in cleaned]
    return result


def _is_missing(item: Any) -> bool:
    if item is None or (isinstance(item, str) and not item):
        return True
    if type(item).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(item, float) and math.isnan(item)


def _text(item: Any) -> str:
    if hasattr(item, "isoformat"):
        return str(item.isoformat()).removesuffix("T00:00:00")
    return str(item)


def _date(value: np.datetime64) -> str:
    seconds = value.astype("datetime64[s]")
    whole_day = seconds == value.astype("datetime64[D]")
    return str(value.astype("datetime64[D]") if whole_day else seconds)


# ---- files ----


def encode_about(owner: Any, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return what is known of a corpus or a fit as JSON; numbers go to ``arrays``."""
    columns: list[dict[str, Any]] = []
    for n, (name, column) in enumerate(owner.metadata.items()):
        if column.dtype == object:
            columns.append({"name": name, "values": column.tolist()})
        else:
            arrays[f"metadata.{n}"] = column
            columns.append({"name": name, "array": f"metadata.{n}"})
    nouns = owner.nouns
    if owner.left_out.size:
        arrays["left_out"] = owner.left_out
    return {
        "metadata": columns,
        "nouns": [nouns.document, nouns.word, nouns.component],
        "reading": owner.reading,
    }


def decode_about(
    header: Mapping[str, Any], arrays: Mapping[str, Array], n_documents: int
) -> dict[str, Any]:
    """Return what is known of a corpus or a fit from a file, checked.

    An older file has the defaults.
    """
    metadata = {}
    for column in header.get("metadata", ()):
        metadata[column["name"]] = _saved_column(column, arrays, n_documents)
    nouns = Nouns()
    if "nouns" in header:
        nouns = Nouns(*(checked_names("nouns", header["nouns"], 3) or ()))
    reading = checked_reading(header.get("reading", {}))
    left_out = arrays.get("left_out", NOTHING)
    Rule((None,), "u4").check("left_out", left_out, {})
    return {"metadata": metadata, "nouns": nouns, "reading": reading, "left_out": left_out}


def _saved_column(
    column: Mapping[str, Any], arrays: Mapping[str, Array], n_documents: int
) -> Array:
    """Return a column of metadata from a file: numbers, or text, with missing values."""
    name = f"metadata {shown(column['name'])}"
    if not isinstance(column["name"], str):
        raise ModelFileError(f"{name} is not a name")
    if "array" in column:
        value = arrays[column["array"]]
        if value.shape != (n_documents,) or value.dtype != np.float64:
            raise ModelFileError(f"{name} is not one number per document")
        return value
    values = column["values"]
    if not isinstance(values, list) or not all(v is None or isinstance(v, str) for v in values):
        raise ModelFileError(f"{name} is not a list of texts")
    if len(values) != n_documents:
        raise ModelFileError(f"{name} has {len(values)} values for {n_documents} documents")
    result = np.empty(n_documents, dtype=object)
    result[:] = values
    return result
