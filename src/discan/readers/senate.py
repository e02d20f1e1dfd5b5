# SPDX-License-Identifier: BSD-3-Clause
"""Read the file of the Senate's roll calls that comes with discan."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from discan.typing import Array

__all__ = ["read_senate"]

_SENATOR = "name party state ballot".split()
_CALL = "number date measure question result yeas nays title".split()


def read_senate(path: Path) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the columns about senators and those about roll calls, by title."""
    rows: dict[str, list[list[str]]] = {"senator": [], "vote": []}
    with path.open(encoding="utf-8", newline="") as stream:
        for kind, *cells in csv.reader(line for line in stream if not line.startswith("#")):
            rows[kind].append(cells)
    senators, calls = (map(np.array, zip(*table, strict=True)) for table in rows.values())
    return dict(zip(_SENATOR, senators, strict=True)), dict(zip(_CALL, calls, strict=True))
