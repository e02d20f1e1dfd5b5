# SPDX-License-Identifier: BSD-3-Clause
"""Results as data frames with real names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discan.errors import InputError
from discan.typing import Array

__all__ = ["frame"]


def frame(
    library: str, values: Array, columns: Sequence[Any], kind: str, names: Sequence[str] | None
) -> Any:
    """Make a pandas frame indexed by name, or a polars frame with the names as first column."""
    names = [str(n) for n in range(len(values))] if names is None else list(names)
    columns = [str(column) for column in columns]
    if library == "pandas":
        import pandas

        return pandas.DataFrame(values, index=pandas.Index(names, name=kind), columns=columns)
    if library == "polars":
        import polars

        return polars.DataFrame({kind: names} | dict(zip(columns, values.T, strict=True)))
    raise InputError(f"library={library!r}; use 'pandas' or 'polars'")
