# SPDX-License-Identifier: BSD-3-Clause
"""Text of figures: safe, short, and of a known width."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence

__all__ = [
    "an", "clean", "label", "lines_of", "one_line", "percent", "plain_width", "shortened",
    "text_width", "widest", "wrapped",
]  # fmt: skip

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
# Widths of the characters from space to "~" in Helvetica, and in fonts made to its measure (Arial,
# Liberation Sans), in thousandths of the size.
_REGULAR, _BOLD = (
    tuple(map(int, widths.split()))
    for widths in (
        "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 "
        "556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 "
        "556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 "
        "556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 "
        "500 500 500 334 260 334 584",
        "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 "
        "556 556 556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 "
        "611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 "
        "611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 "
        "556 556 500 389 280 389 584",
    )
)
_WIDE = {"…": 1000, "—": 1000, "\ufffd": 1000, "±": 549, "·": 333, "×": 584, "−": 584}


def clean(text: object) -> str:
    """Replace control characters, and characters that change the direction of text."""
    return _CONTROL.sub("\ufffd", str(text))


def label(name: object, longest: int | None = None, keep_end: bool = False) -> str:
    """Make a name safe as text of a figure: no control characters, no markup, a limited length.

    ``keep_end`` shortens in the middle, for names that differ at the end, such as file names.
    """
    text = " ".join(clean(name).split())
    if longest is not None:
        text = shortened(text, longest, longest * 2 // 3 if keep_end else 0)
    return html.escape(text, quote=False)


def shortened(text: str, longest: int, end: int = 0) -> str:
    """Cut a text to a length; its last ``end`` characters stay."""
    if len(text) <= longest:
        return text
    return text[: longest - 1 - end].rstrip() + "…" + text[len(text) - end :]


def an(noun: str) -> str:
    """Return a noun with its article: "a cell", "an individual"."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def percent(part: float) -> str:
    """Write a part of a whole in per cent, with as many digits as say something."""
    value = 100 * float(part)
    return f"{value:.1f} %" if value >= 0.1 or value == 0 else f"{value:.2g} %"


def lines_of(text: object) -> list[str]:
    """Return the lines of Plotly's text, without its markup."""
    return [
        html.unescape(re.sub(r"</?\w[^>]*>", "", line))
        for line in re.split(r"<br ?/?>", str(text or ""))
    ]


def one_line(text: object) -> str:
    """Return Plotly's text in one line, without its markup."""
    return " ".join(lines_of(text))


def text_width(text: str, size: float) -> float:
    """Return the width of a line of Plotly's text in pixels, as Helvetica and Arial have it."""
    return plain_width(one_line(text), size)


def plain_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line of text without markup in pixels."""
    widths = _BOLD if bold else _REGULAR
    return size / 1000 * sum(_width(character, widths) for character in text)


def widest(texts: Sequence[str], size: float) -> float:
    """Return the width of the widest of some texts in pixels, 0 if there are none."""
    return max((text_width(text, size) for text in texts), default=0.0)


def wrapped(text: str, size: float, width: float) -> list[str]:
    """Break a text between words into lines of at most this many pixels; a long word stays."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def _width(character: str, widths: tuple[int, ...]) -> int:
    if " " <= character <= "~":
        return widths[ord(character) - 32]
    if character in _WIDE:
        return _WIDE[character]
    base = unicodedata.normalize("NFKD", character)[0]  # an accent does not change the width
    if " " <= base <= "~":
        return widths[ord(base) - 32]
    if unicodedata.combining(character):
        return 0
    return 1000 if unicodedata.east_asian_width(character) in "WF" else 600
