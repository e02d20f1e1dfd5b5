# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a table as codes: they come line by line, and are given by line or by column.

A file of genotypes has a line per variant, but the documents of a corpus are its columns. A table
of answers has a line per document, but what a column holds is only known when all of it was read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from discan.data.folders.runs import Mark, Spool
from discan.typing import Array

__all__ = ["HeldTiles", "TileSpool", "Tiles"]

BAND_CELLS = 2**24
"""Cells that are transposed in memory."""


class Tiles(Protocol):
    """Cells of a table, each a whole number from 0.

    Attributes
    ----------
    n_lines, width : int
        Number of lines, and of cells in each.
    """

    n_lines: int
    width: int

    def columns(self, start: int, stop: int) -> Array:
        """Return some columns, (stop - start, n_lines)."""

    def parts(self, start: int, stop: int) -> Iterator[Array]:
        """Iterate over some columns of some lines each, (stop - start, n), in order."""


class HeldTiles:
    """Cells in memory.

    Parameters
    ----------
    bands : iterator of (n, width) arrays
    """

    def __init__(self, bands: Iterator[Array]) -> None:
        self._cells = np.concatenate(list(bands))
        self.n_lines, self.width = self._cells.shape

    def columns(self, start: int, stop: int) -> Array:
        """Return some columns, (stop - start, n_lines)."""
        return np.ascontiguousarray(self._cells[:, start:stop].T)

    def parts(self, start: int, stop: int) -> Iterator[Array]:
        """Iterate over some columns of some lines each, (stop - start, n), in order."""
        yield self.columns(start, stop)


class TileSpool(Spool):
    """Cells on disk: bands of lines, each stored column by column."""

    UNIT = "cells"
    COUNTED = "codes"

    def __init__(self, folder: Path, key: str = "") -> None:
        super().__init__(folder, key)
        self._bands: list[Array] = []
        self._held = 0

    def add(self, band: Array, mark: Callable[[], Mark]) -> None:
        """Add lines (n, width); ``mark`` tells where reading stands behind them."""
        self._bands.append(band)
        self._held += band.size
        self.n_entries += band.size
        if self._held >= BAND_CELLS:
            self.flush(mark)

    def flush(self, mark: Callable[[], Mark]) -> None:
        """Write the lines that are held."""
        if not self._held:
            return
        kind = np.min_scalar_type(max(int(band.max()) for band in self._bands))
        width = self._bands[0].shape[1]
        codes = np.empty((width, sum(map(len, self._bands))), dtype=kind)
        first = 0
        for band in self._bands:
            codes[:, first : first + len(band)] = band.T
            first += len(band)
        self._bands, self._held = [], 0
        self._write(mark(), {"codes": codes})

    @property
    def n_lines(self) -> int:
        """Number of lines."""
        return sum(run.places["codes"].shape[1] for run in self._runs)

    @property
    def width(self) -> int:
        """Number of cells in each line."""
        return int(self._runs[0].places["codes"].shape[0])

    def columns(self, start: int, stop: int) -> Array:
        """Return some columns, (stop - start, n_lines)."""
        kinds = [run.places["codes"].dtype for run in self._runs]
        result = np.empty((stop - start, self.n_lines), dtype=np.result_type(*kinds))
        first = 0
        for part in self.parts(start, stop):
            result[:, first : first + part.shape[1]] = part
            first += part.shape[1]
        return result

    def parts(self, start: int, stop: int) -> Iterator[Array]:
        """Iterate over some columns of some lines each, (stop - start, n), in order."""
        for run in self._runs:
            descriptor = run.open()
            try:
                part = run.read(descriptor, "codes", start, stop)
            finally:
                os.close(descriptor)
            yield part
