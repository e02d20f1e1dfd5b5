# SPDX-License-Identifier: BSD-3-Clause
"""Read which documents of a corpus are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.errors import InputError
from discan.typing import Array

__all__ = ["read_selection"]


def read_selection(documents: Any, n_documents: int) -> Array:
    """Return numbers of documents (n,) given by a slice, a mask or a list of numbers."""
    if isinstance(documents, slice):
        chosen = np.arange(n_documents)[documents]
    else:
        chosen = np.asarray(documents)
        if chosen.dtype.kind == "b":
            if chosen.shape != (n_documents,):
                raise InputError(f"mask has shape {chosen.shape}, expected ({n_documents},)")
            chosen = np.flatnonzero(chosen)
    if chosen.size == 0:
        raise InputError("no documents selected; select at least one")
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError("select documents by a slice, a mask or a list of whole numbers")
    chosen = chosen.astype(np.int64)
    outside = (chosen < -n_documents) | (chosen >= n_documents)
    if outside.any():
        raise InputError(f"document {chosen[np.argmax(outside)]} is outside 0 .. {n_documents - 1}")
    return chosen % n_documents
