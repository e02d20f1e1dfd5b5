# SPDX-License-Identifier: BSD-3-Clause
"""Read the labels of documents: a column that describes them, or a file of one label per line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discan.errors import InputError, StorageError, shown

__all__ = ["read_labels"]


def read_labels(wanted: str, fit: Any) -> list[str]:
    """Return one label per training document.

    Parameters
    ----------
    wanted : title of a column of the fit's metadata, or name of a text file
    fit : Fit
    """
    if wanted in fit.metadata:
        return [_label(value) for value in fit.metadata[wanted]]
    path = Path(wanted)
    if not path.exists() and (fit.metadata or not path.suffix):
        has = ", ".join(map(shown, fit.metadata)) or "none"
        raise InputError(
            f"no column {shown(wanted)} describes the {fit.nouns.documents} of the model (it has "
            f"{has}), and there is no such file"
        )
    try:
        return path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: not text in UTF-8") from None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None


def _label(value: Any) -> str:
    """Return a value of metadata as a label; what is missing is labelled so."""
    if value is None or value != value:
        return "missing"
    if isinstance(value, str):
        return value
    return f"{float(value):.12g}"
