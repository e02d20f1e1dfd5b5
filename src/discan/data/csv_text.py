# SPDX-License-Identifier: BSD-3-Clause
"""Tables as CSV text; this loads no NumPy."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["plain_cell", "safe_cell", "to_csv"]


def to_csv(columns: Sequence[str] | None, rows: Iterable[Sequence[Any]]) -> str:
    """CSV text in which a spreadsheet finds no formulas; titles are left out if there are none."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    if columns is not None:
        writer.writerow([safe_cell(column) for column in columns])
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return stream.getvalue()


def safe_cell(cell: Any) -> Any:
    """Guard text that begins like a formula with an apostrophe; numbers stay as they are."""
    if isinstance(cell, (list, tuple)):
        cell = "; ".join(str(part) for part in cell)
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n"):
        return "'" + cell
    return cell


def plain_cell(value: Any) -> Any:
    """Return a value of metadata for a table: None if it is missing, whole numbers as such."""
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else int(number) if number.is_integer() else number
