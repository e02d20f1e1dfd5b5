# SPDX-License-Identifier: BSD-3-Clause
"""Write docstrings of estimators that share parameters, so that each parameter is told once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

__all__ = ["joined", "parameters", "sections"]

_SECTION = re.compile(r"^([A-Z][\w ]+)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)


def sections(docstring: str | None) -> dict[str, str]:
    """Split a docstring in the numpydoc form by its titles; what stands before them is ""."""
    first, *rest = _SECTION.split(inspect.cleandoc(docstring or ""))
    titles, texts = rest[0::2], rest[1::2]
    return {"": first.strip(), **dict(zip(titles, map(str.strip, texts), strict=True))}


def parameters(text: str) -> dict[tuple[str, ...], str]:
    """Split the text of a section into entries, by the names that each one describes."""
    entries = [entry.strip() for entry in _ENTRY.split(text) if entry.strip()]
    return {
        tuple(name.strip() for name in entry.split("\n")[0].split(" : ")[0].split(",")): entry
        for entry in entries
    }


def joined(parts: dict[str, str | Iterable[str]]) -> str:
    """Write a docstring of its sections; a section may be a list of entries."""
    written = []
    for title, text in parts.items():
        body = text if isinstance(text, str) else "\n".join(text)
        if body:
            written.append(f"{title}\n{'-' * len(title)}\n{body}" if title else body)
    return "\n\n".join(written)
