# SPDX-License-Identifier: BSD-3-Clause
"""Remember which words were left out when data were read, in four bytes per word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

import numpy as np

from discan.typing import Array

__all__ = ["NOTHING", "are_left_out", "checksums"]

NOTHING = np.zeros(0, dtype=np.uint32)


def checksums(words: Iterable[str]) -> Array:
    """Return the sorted 32-bit checksums of words, (n,) uint32.

    Of a million words, one other word in four thousand has the checksum of one of them.
    """
    return np.unique(np.fromiter(map(_checksum, words), dtype=np.uint32))


def are_left_out(words: Sequence[str], left_out: Array) -> Array:
    """Tell which words are among those left out, (len(words),) bool."""
    if not left_out.size:
        return np.zeros(len(words), dtype=bool)
    found = np.fromiter(map(_checksum, words), dtype=np.uint32, count=len(words))
    return np.isin(found, left_out)


def _checksum(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))
