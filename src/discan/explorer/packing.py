# SPDX-License-Identifier: BSD-3-Clause
"""Pack numbers and texts for a page: a JSON header and arrays, compressed, as ASCII.

The packed bytes are a little-endian uint32 (the length of the header), the header in UTF-8, and the
arrays, each at a multiple of 8 bytes from the end of the header. ``header["arrays"]`` gives the
type, the place and the number of elements of each array; a list of texts is one array of bytes,
with a line per text.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discan.plot.lettering import clean
from discan.typing import Array

__all__ = ["STEPS", "ascii_of", "log_codes", "one_line", "pack", "share_codes"]

STEPS = 2048
"""Codes of a logarithm per nat: probabilities are exact to 1 part in 4,000."""
ZERO = 65535  # the code of probability 0
ALIGNED = 8


def pack(header: Mapping[str, Any], arrays: Mapping[str, Array | Sequence[str]]) -> bytes:
    """Pack a header that JSON can hold, arrays of numbers, and lists of texts of one line each."""
    places: dict[str, tuple[str, int, int]] = {}
    parts: list[bytes] = []
    at = 0
    for name, values in arrays.items():
        if isinstance(values, np.ndarray):
            kind = values.dtype.str.lstrip("<|=")
            little = values.dtype.newbyteorder("<")
            data, size = np.ascontiguousarray(values, dtype=little).tobytes(), values.size
        else:
            kind, data = "text", "\n".join(values).encode("utf-8")
            size = len(data)
        padding = -len(data) % ALIGNED
        parts.append(data + bytes(padding))
        places[name] = (kind, at, size)
        at += len(data) + padding
    text = json.dumps({**header, "arrays": places}, ensure_ascii=False, allow_nan=False)
    head = text.encode("utf-8")
    head += b" " * (-(len(head) + 4) % ALIGNED)
    return len(head).to_bytes(4, "little") + head + b"".join(parts)


def ascii_of(packed: bytes) -> str:
    """Compress (gzip) and write as base64; the same bytes each time."""
    squeezed = zlib.compressobj(6, zlib.DEFLATED, 31)  # 31: a gzip header without time or name
    return base64.b64encode(squeezed.compress(packed) + squeezed.flush()).decode("ascii")


def log_codes(probabilities: Array) -> Array:
    """Code probabilities by their logarithms in 16 bits; 0 has a code of its own."""
    with np.errstate(divide="ignore"):
        steps = np.rint(-STEPS * np.log(np.minimum(probabilities, 1.0)))
    codes = np.where(probabilities > 0, np.minimum(steps, ZERO - 1), ZERO)
    return np.asarray(codes, dtype=np.uint16)


def share_codes(shares: Array, bits: int) -> Array:
    """Code shares from 0 to 1 in 8 or 16 bits."""
    largest = 2**bits - 1
    return np.asarray(np.rint(np.clip(shares, 0.0, 1.0) * largest), dtype=f"u{bits // 8}")


def one_line(text: object, longest: int = 0) -> str:
    """Return a text in one line without control characters, cut to a length if there is one."""
    line = " ".join(clean(text).split())
    return line if not longest or len(line) <= longest else line[: longest - 1].rstrip() + "…"
