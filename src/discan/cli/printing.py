# SPDX-License-Identifier: BSD-3-Clause
"""Print results: tables for people, JSON or CSV for programs, and nothing that harms either."""

from __future__ import annotations

import json
import logging
import math
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from discan.data.csv_text import safe_cell, to_csv
from discan.errors import Argument, DiscanError, python_setting

__all__ = [
    "Style", "check_writable", "emit", "emit_record", "listing", "plain", "safe_cell",
    "set_up_remarks", "terminal_width", "to_csv", "to_json", "write_table",
]  # fmt: skip

LONG_NAME = 28  # characters; names that are longer on average get one line each
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Style(StrEnum):
    """How to print."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


# ---- a table, and a record ----


def emit(style: Style, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows on stdout: a table, a JSON list of objects, or CSV."""
    rows = list(rows)
    if style is Style.TABLE:
        _print_table(columns, rows)
        return
    if style is Style.CSV and sys.stdout.isatty():
        rows = [[plain(c) if isinstance(c, str) else c for c in row] for row in rows]
    sys.stdout.write(_table_text(style, columns, rows))


def write_table(
    path: Path | None, style: Style, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Write rows to a file as JSON or CSV, or print them if no file is given."""
    if path is None:
        emit(style, columns, rows)
    else:
        from discan.data.storage import write_whole

        write_whole(path, _table_text(style, columns, rows))


def emit_record(style: Style, record: Mapping[str, Any]) -> None:
    """Print the properties of one thing on stdout: one line for each, or one JSON object."""
    if style is Style.JSON:
        sys.stdout.write(to_json(dict(record)))
    elif style is Style.CSV:
        emit(style, ("what", "value"), record.items())
    else:
        width = max(map(len, record), default=0)
        for name, value in record.items():
            sys.stdout.write(f"{plain(name):<{width}}  {plain(_text(value))}".rstrip() + "\n")


def to_json(value: Any) -> str:
    """JSON text without control characters; NaN and infinity become null."""
    text = json.dumps(_jsonable(value), ensure_ascii=False, allow_nan=False, indent=1)
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


# ---- text for people ----


def plain(text: str) -> str:
    """Show control characters and escape sequences instead of sending them to the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def terminal_width() -> int | None:
    """Columns of the terminal; None in a pipe or a file, where lines are not wrapped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def listing(
    title: str,
    entries: Mapping[str, Sequence[str]],
    width: int | None,
    by_line: Container[str] = (),
) -> str:
    """Format a title and named lists under it, wrapped between the items.

    Long names, and the items of the lists ``by_line``, get one line each. Nothing is cut.
    """
    lines = [plain(title)]
    gutter = max(map(len, entries), default=0) + 4
    inner = None if width is None else max(width - gutter, 20)
    for name, items in entries.items():
        shown = [plain(item) for item in items]
        if not shown:
            continue
        long = name in by_line or sum(map(len, shown)) > LONG_NAME * len(shown)
        body = shown if long else _packed(shown, inner)
        body = [line for text in body for line in _wrapped(text, inner)]
        heads = [f"  {name}", *[""] * (len(body) - 1)]
        lines += [f"{head:<{gutter}}{text}" for head, text in zip(heads, body, strict=True)]
    return "\n".join(lines) + "\n"


# ---- files and remarks ----


def check_writable(path: Path | None) -> None:
    """Fail before the work starts if a file cannot be written; devices and pipes are not tried."""
    from discan.data.storage import probe

    if path is not None:
        probe(path, directly=True)


def set_up_remarks(setting: Callable[..., str] = python_setting) -> None:
    """Send the remarks of the library to stderr; ``setting`` words an argument and its values."""
    log = logging.getLogger("discan")
    log.setLevel(logging.INFO)
    log.propagate = False
    for handler in [h for h in log.handlers if isinstance(h, _Remarks)]:
        log.removeHandler(handler)
    log.addHandler(_Remarks(setting))


class _Remarks(logging.Handler):
    """Print each remark of the library as one line on stderr."""

    def __init__(self, setting: Callable[..., str]) -> None:
        super().__init__()
        self._setting = setting

    def emit(self, record: logging.LogRecord) -> None:
        text = str(self._worded(record.msg))
        if isinstance(record.args, tuple) and record.args:
            text %= tuple(map(self._worded, record.args))
        sys.stderr.write(plain(text) + "\n")

    def _worded(self, part: Any) -> Any:
        """Word settings, alone or in a message, as the shell takes them."""
        if isinstance(part, DiscanError):
            return part.worded(self._setting, str)
        return part.worded(self._setting) if isinstance(part, Argument) else part


# ---- parts of a table ----


def _packed(items: Sequence[str], width: int | None) -> list[str]:
    """Put items on lines, separated by commas, no item broken unless it fills a line."""
    lines: list[str] = []
    for n, item in enumerate(items):
        text = item + ("," if n < len(items) - 1 else "")
        if lines and (width is None or len(lines[-1]) + 1 + len(text) <= width):
            lines[-1] += " " + text
        else:
            lines.append(text)
    return lines


def _wrapped(text: str, width: int | None) -> list[str]:
    if width is None or len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent="  ")


def _table_text(style: Style, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if style is Style.CSV:
        return to_csv(columns, rows)
    return to_json([dict(zip(columns, row, strict=True)) for row in rows])


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from rich.cells import cell_len, set_cell_size

    cells = [[plain(_text(cell)) for cell in row] for row in rows]
    first = rows[0] if rows else columns
    right = [isinstance(cell, Real) and not isinstance(cell, bool) for cell in first]
    if terminal_width() is not None:
        _print_rich_table(columns, cells, right)
        return
    sizes = [
        max(cell_len(text) for text in column)
        for column in zip(columns, *cells, strict=True)
    ]  # fmt: skip
    for row in (columns, *cells):
        parts = [
            " " * (size - cell_len(text)) + text if r else set_cell_size(text, size)
            for text, size, r in zip(row, sizes, right, strict=True)
        ]
        sys.stdout.write("  ".join(parts).rstrip() + "\n")


def _print_rich_table(
    columns: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool]
) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column, r in zip(columns, right, strict=True):
        table.add_column(column, justify="right" if r else "left", overflow="fold")
    for row in cells:
        table.add_row(*row)
    Console(markup=False, emoji=False).print(table)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Integral):
        return f"{cell:,}"
    if isinstance(cell, Real):
        return f"{cell:.4g}"
    if isinstance(cell, (list, tuple)):
        return ", ".join(str(part) for part in cell)
    return str(cell)


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _jsonable(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if hasattr(value, "tolist"):  # of NumPy
        return _jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
