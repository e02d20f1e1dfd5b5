# SPDX-License-Identifier: BSD-3-Clause
"""Print to a terminal: shaded blocks for shares, and a console for any stream."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table

__all__ = ["Terminal", "shade"]

SHADES = " ░▒▓█"
"""Shares below 1/8, 3/8, 5/8, 7/8, and above."""

_PLAIN = str.maketrans(
    {"░": ".", "▒": "+", "▓": "*", "█": "#", "…": "...", "–": "-", "—": "-", "·": ".",
     "─": "-", "×": "x", "’": "'"}
)  # fmt: skip


class Terminal(Console):
    """A Rich console on a stream, by default stdout; ASCII if the stream cannot encode blocks."""

    def __init__(self, stream: TextIO | None, width: int | None = None, **settings: Any) -> None:
        stream = stream or sys.stdout
        encoding = getattr(stream, "encoding", None) or "utf-8"
        self.plain = not _encodes_blocks(encoding)
        super().__init__(
            file=_Plain(stream, encoding) if self.plain else stream,  # type: ignore[arg-type]
            width=width,
            highlight=False,
            markup=False,
            emoji=False,
            **settings,
        )

    def table(self, title: str, **columns: Any) -> Table:
        """Start a table with one line under its head; each column has a dict of Rich settings."""
        lines = box.ASCII2 if self.plain else box.SIMPLE_HEAD
        table = Table(box=lines, title=title, title_justify="left", title_style="bold")
        for name, settings in columns.items():
            table.add_column(name, **settings)
        return table


class _Plain:
    """A stream that replaces the characters that its encoding lacks."""

    def __init__(self, stream: TextIO, encoding: str) -> None:
        self._stream, self.encoding = stream, encoding

    def write(self, text: str) -> int:
        text = text.translate(_PLAIN)
        return self._stream.write(text.encode(self.encoding, "replace").decode(self.encoding))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def shade(share: float) -> str:
    """Return one character for a share from 0 to 1."""
    return SHADES[min(max(int(share * 4 + 0.5), 0), 4)]


def _encodes_blocks(encoding: str) -> bool:
    try:
        SHADES.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
