# SPDX-License-Identifier: BSD-3-Clause
"""Texts as arrays: their bytes one after another, and where each text ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from discan.errors import ModelFileError
from discan.typing import Array

__all__ = ["pack_texts", "unpack_texts", "with_missing"]

_ERRORS = "surrogatepass"  # names of files may hold any bytes


def pack_texts(texts: Iterable[str | None]) -> tuple[Array, Array, Array]:
    """Return the bytes of texts, where each ends, and which are missing.

    Returns
    -------
    (n_bytes,) uint8 array, (n,) int64 array and (n,) bool array
    """
    parts = [None if text is None else text.encode("utf-8", _ERRORS) for text in texts]
    data = np.frombuffer(b"".join(part for part in parts if part), dtype=np.uint8)
    ends = np.cumsum([len(part or b"") for part in parts], dtype=np.int64)
    return data, ends, np.array([part is None for part in parts], dtype=bool)


def unpack_texts(what: str, data: Array, ends: Array, start: int = 0) -> list[str]:
    """Return texts of their bytes, of which the first is at ``start``; ``what`` names them."""
    limits = [start, *ends.tolist()]
    sound = all(a <= b for a, b in pairwise(limits))
    if not sound or limits[-1] - start != data.size:
        raise ModelFileError(f"{what} are no texts: their ends do not ascend to {data.size}")
    whole = data.tobytes()
    try:
        return [whole[a - start : b - start].decode("utf-8", _ERRORS) for a, b in pairwise(limits)]
    except UnicodeDecodeError:
        raise ModelFileError(f"{what} are not UTF-8") from None


def with_missing(texts: Sequence[str], missing: Array) -> Array:
    """Return texts as a column of metadata: objects, None where a text is missing."""
    column = np.empty(len(texts), dtype=object)
    column[:] = texts
    column[missing] = None
    return column
