# SPDX-License-Identifier: BSD-3-Clause
"""A document of text, as readers give it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Document"]


class Document(NamedTuple):
    """A document: its texts, one per field, its name if it has one, and a cell for each fact."""

    texts: Sequence[str]
    name: str | None = None
    cells: Sequence[str] = ()
