# SPDX-License-Identifier: BSD-3-Clause
"""Read what stands at the margins of a table: groups of words, exposures, and names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.intake import as_array
from discan.errors import InputError, LimitError
from discan.typing import Array
from discan.validation import LARGEST, LEAST

__all__ = ["read_exposures", "read_groups", "read_names"]


def read_groups(groups: Any, n_words: int) -> tuple[Array, int, list[str] | None]:
    """Return group numbers (J,) int32, how many groups there are, and their labels if any."""
    if groups is None:
        return np.zeros(n_words, dtype=np.int32), 1, None
    if isinstance(groups, str):
        raise InputError("groups must be one number or label per word, not a string")
    labels = as_array(groups, "groups cannot be read", "pass one label per word")
    if labels.shape != (n_words,):
        raise InputError(f"groups have shape {labels.shape}, expected ({n_words},): one per word")
    if labels.dtype.kind == "f":
        whole = (np.abs(labels) < 2.0**62) & (np.rint(labels) == labels)
        if not whole.all():
            j = int(np.argmin(whole))
            value = "NaN" if np.isnan(labels[j]) else f"{labels[j]}"
            raise InputError(f"group of word {j} is {value}; use whole numbers from 0, or strings")
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iu":
        return _number_labels(labels)
    if labels.min() < 0:
        j = int(np.argmax(labels < 0))
        raise InputError(f"group of word {j} is {labels[j]}; number the groups from 0")
    n_groups = int(labels.max()) + 1
    present = np.unique(labels)
    if present.size != n_groups:
        gap = int(np.argmax(np.append(present != np.arange(present.size), True)))
        raise InputError(
            f"group {gap} owns no word although the largest group is {n_groups - 1}; number the "
            "groups 0 .. G-1 without gaps"
        )
    return labels.astype(np.int32), n_groups, None


def _number_labels(labels: Array) -> tuple[Array, int, list[str]]:
    numbers: dict[str, int] = {}
    codes = np.empty(labels.size, dtype=np.int32)
    for j, label in enumerate(labels.tolist()):
        if label is None or label != label:
            raise InputError(f"group of word {j} is {label} (NaN or None); give it a label")
        codes[j] = numbers.setdefault(str(label), len(numbers))
    return codes, len(numbers), list(numbers)


def read_exposures(exposures: Any, n_documents: int, n_groups: int) -> Array | None:
    """Read exposures as a new (I, G) float64 array."""
    if exposures is None:
        return None
    if sparse.issparse(exposures):
        raise InputError("exposures must be a dense array; convert them with .toarray()")
    values = as_array(exposures, "exposures cannot be read", "pass numbers")
    if values.dtype.kind not in "biuf":
        raise InputError(f"exposures have dtype {values.dtype}; convert them to numbers")
    if values.ndim == 1 and n_groups == 1:
        values = values[:, np.newaxis]
    if values.shape != (n_documents, n_groups):
        raise InputError(
            f"exposures have shape {values.shape}, expected ({n_documents}, {n_groups}): "
            "documents by groups"
        )
    values = np.array(values, dtype=np.float64, order="C")
    good = np.isfinite(values) & (values >= 0)
    if not good.all():
        i, g = np.unravel_index(int(np.argmin(good)), good.shape)
        raise InputError(
            f"exposure of document {i} to group {g} is {values[i, g]}; it must be finite and 0 or "
            "more (0 means not observed)"
        )
    good = (values == 0) | ((values >= LEAST) & (values <= LARGEST))
    if not good.all():
        i, g = np.unravel_index(int(np.argmin(good)), good.shape)
        raise LimitError(
            f"exposure of document {i} to group {g} is {values[i, g]}, not from {LEAST:g} to "
            f"{LARGEST:g}; measure exposures in other units"
        )
    return values


def read_names(names: Iterable[Any] | None, size: int, what: str) -> tuple[str, ...] | None:
    """Read the names of documents, words or groups as strings."""
    if names is None:
        return None
    if isinstance(names, str):
        raise InputError(f"{what}_names is a single string; pass a sequence of {size} names")
    try:
        strings = tuple(str(name) for name in names)
    except TypeError:
        raise InputError(f"{what}_names is not a sequence; pass {size} names") from None
    if len(strings) != size:
        raise InputError(f"{what}_names holds {len(strings)} names, expected {size}")
    return strings
