# SPDX-License-Identifier: BSD-3-Clause
"""Draw shares in a terminal: shaded blocks, colours, and a console that any stream can take."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, TextIO

from rich import box
from rich.console import Console

__all__ = ["BRIGHT", "DEEP", "SHADES", "Terminal", "clean", "colours", "shade"]

SHADES = " ░▒▓█"
"""Less than 1/8, to 3/8, to 5/8, to 7/8, more."""

Stops = tuple[tuple[float, tuple[int, int, int]], ...]
DEEP: Stops = (
    (0.0, (23, 79, 140)),
    (0.4, (134, 182, 224)),
    (0.6, (243, 193, 122)),
    (1.0, (190, 78, 26)),
)
"""For white paper."""
BRIGHT: Stops = ((0.0, (59, 138, 216)), *DEEP[1:3], (1.0, (217, 112, 46)))
"""For terminals, dark or light."""

_PLAIN = str.maketrans(
    {"░": ".", "▒": "+", "▓": "*", "█": "#", "…": "...", "–": "-", "—": "-", "·": ".",
     "─": "-", "×": "x", "’": "'"}
)  # fmt: skip
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


class Terminal(Console):
    """A Rich console that writes plain letters where the stream cannot take block characters."""

    def __init__(self, stream: TextIO, width: int | None = None) -> None:
        encoding = getattr(stream, "encoding", None) or "utf-8"
        self.plain = not _takes(encoding)
        super().__init__(
            file=_Plain(stream, encoding) if self.plain else stream,  # type: ignore[arg-type]
            width=width,
            highlight=False,
            markup=False,
            emoji=False,
        )

    @property
    def box(self) -> box.Box:
        """Lines of a table: one under the head, nothing else."""
        return box.ASCII2 if self.plain else box.SIMPLE_HEAD


class _Plain:
    """A stream that replaces what its encoding lacks."""

    def __init__(self, stream: TextIO, encoding: str) -> None:
        self._stream, self.encoding = stream, encoding

    def write(self, text: str) -> int:
        text = text.translate(_PLAIN)
        return self._stream.write(text.encode(self.encoding, "replace").decode(self.encoding))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def shade(share: float) -> str:
    """One character for a share from 0 to 1."""
    return SHADES[min(max(int(share * 4 + 0.5), 0), 4)]


def colours(n: int, stops: Stops = DEEP) -> list[str]:
    """Make n colours from blue to orange, told apart by colour-blind readers too."""
    positions = [k / (n - 1) if n > 1 else 0.0 for k in range(n)]
    return [_colour(position, stops) for position in positions]


def clean(text: object) -> str:
    """Replace characters that would steer a terminal or turn the order of a line."""
    return _CONTROL.sub("\ufffd", str(text))


def _colour(position: float, stops: Stops) -> str:
    for (left, first), (right, second) in pairwise(stops):
        if position <= right:
            t = (position - left) / (right - left)
            mixed = (round(a + t * (b - a)) for a, b in zip(first, second, strict=True))
            return "#" + "".join(f"{value:02x}" for value in mixed)
    raise AssertionError(position)


def _takes(encoding: str) -> bool:
    try:
        SHADES.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
