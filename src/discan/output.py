# SPDX-License-Identifier: BSD-3-Clause
"""Print results: tables for people, JSON or CSV for programs, nothing that can hijack either."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

__all__ = ["Style", "emit", "plain", "safe_cell", "to_csv"]


class Style(StrEnum):
    """How to print."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def emit(style: Style, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows on stdout."""
    rows = list(rows)
    if style is Style.JSON:
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        sys.stdout.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
    elif style is Style.CSV:
        sys.stdout.write(to_csv(columns, rows))
    else:
        _print_table(columns, rows)


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """CSV text that a spreadsheet cannot take for formulas."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([safe_cell(column) for column in columns])
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return stream.getvalue()


def safe_cell(cell: Any) -> Any:
    """Guard text that begins like a formula with an apostrophe; numbers stay as they are."""
    if isinstance(cell, (list, tuple)):
        cell = " ".join(str(part) for part in cell)
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + cell
    return cell


def plain(text: str) -> str:
    """Show control characters and escape sequences instead of sending them to the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for index, column in enumerate(columns):
        number = bool(rows) and isinstance(rows[0][index], (int, float))
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(plain(_text(cell))) for cell in row))
    console = Console()
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.4g}"
    if isinstance(cell, (list, tuple)):
        return ", ".join(str(part) for part in cell)
    return str(cell)
