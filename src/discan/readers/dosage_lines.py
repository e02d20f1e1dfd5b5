# SPDX-License-Identifier: BSD-3-Clause
"""Counts of one of two alleles, 0 to 2, line by line: what readers of them have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from discan.data.columns import Codes
from discan.data.folders.pieces import Piece
from discan.data.folders.runs import Mark
from discan.data.folders.tiles import Tiles
from discan.data.nouns import ALLELES
from discan.errors import shown
from discan.readers.allele_codes import (
    CELLS_AT_ONCE,
    column_blocks,
    dense_pieces,
    distinct_names,
    line_blocks,
)
from discan.readers.source import Source
from discan.readers.table_streams import Cells, TableFacts, TableStream
from discan.typing import Array

__all__ = ["About", "DosageLines", "dosage_stream"]


class About(NamedTuple):
    """What is known of counts besides them.

    Attributes
    ----------
    people : (I,) names, or None
    snps : (L,) names, or None for numbers
    pairs : (L,) names of the allele that is counted and of the other one, or None
    metadata : columns that describe the individuals
    """

    people: Sequence[str] | None = None
    snps: Sequence[str] | None = None
    pairs: Sequence[tuple[str, str]] | None = None
    metadata: Mapping[str, Any] | None = None


class DosageLines:
    """Codes of the distinct cells of lines, and the count that each stands for.

    Parameters
    ----------
    source : Source
    rows : iterator of a line's number and its cells
        All lines; what else they hold is learnt while they are read, even if they were coded before
        a conversion was interrupted.
    count : function of a cell
        Returns the count, NaN if it is missing, and None if it is none.
    """

    def __init__(
        self,
        source: Source,
        rows: Iterator[tuple[int, Sequence[str]]],
        count: Callable[[str], float | None],
    ) -> None:
        self._source, self._rows, self._count = source, rows, count
        self._codes = Codes()
        self._counts: list[float] = []  # of each code
        self._occurs = np.zeros(0, dtype=np.int64)  # how often each code does
        self._n_lines = self._marked = 0

    def batches(self) -> Iterator[Cells]:
        """Iterate over the codes, from where reading stands."""
        width, done = -1, self._n_lines
        lines: list[Array] = []
        for n, (line, cells) in enumerate(self._rows):
            width = len(cells) if n == 0 else width
            if len(cells) != width:
                raise self._source.error(f"{len(cells)} genotypes, expected {width}", line)
            if n < done:
                continue
            lines.append(self._coded(line, cells))
            if len(lines) * width >= CELLS_AT_ONCE:
                yield self._batch(lines)
                lines = []
        if width < 0:
            raise self._source.error("no genotypes")
        if lines:
            yield self._batch(lines)

    def _coded(self, line: int, cells: Sequence[str]) -> Array:
        """Return the codes of a line, and note the counts of new cells."""
        known = len(self._codes)
        codes = np.fromiter(map(self._codes.__getitem__, cells), np.int32, len(cells))
        for cell in islice(self._codes, known, None):
            count = self._count(cell)
            if count is None:
                problem = f"{shown(cell)} is no count of alleles from 0 to 2, or missing"
                raise self._source.error(problem, line)
            self._counts.append(count)
        return codes

    def _batch(self, lines: list[Array]) -> Cells:
        self._n_lines += len(lines)
        cells = np.stack(lines)
        occurs = np.bincount(cells.ravel(), minlength=len(self._codes))
        occurs[: self._occurs.size] += self._occurs
        self._occurs = occurs
        return (cells,)

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch, and what is new since the last."""
        first, self._marked = self._marked, len(self._codes)
        cells = list(islice(self._codes, first, None))
        return {"lines": self._n_lines, "cells": cells, "occurs": self._occurs.tolist()}

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._n_lines = mark["lines"]
        self._occurs = np.array(mark["occurs"], dtype=np.int64)
        self._coded(0, mark["cells"])
        self._marked = len(self._codes)

    @property
    def has_missing(self) -> bool:
        """Whether a count is missing."""
        return bool(self._occurs[np.isnan(self._counts)].any())

    @property
    def all_missing(self) -> bool:
        """Whether every count is missing."""
        return not self._occurs[~np.isnan(self._counts)].any()

    @property
    def pairs(self) -> Array:
        """Numbers of both alleles of each code, (codes, 2); 0 if missing."""
        counts = np.array(self._counts)
        return np.where(np.isnan(counts), 0.0, [counts, 2.0 - counts]).T


def dosage_stream(
    source: Source,
    lines: DosageLines,
    about: Callable[[int], About],
    exposures: bool,
    by_snp: bool = False,
) -> TableStream:
    """Read counts of one of two alleles in pieces; each SNP is a group of two words.

    Parameters
    ----------
    source : Source
    lines : DosageLines
    about : function of the number of SNPs, called when all lines were read
    exposures : whether an individual has exposure 0 where its count is missing
    by_snp : whether lines are SNPs; they are individuals otherwise
    """

    def facts(tiles: Tiles) -> TableFacts:
        n_people, n_snps = tiles.n_lines, tiles.width
        if by_snp:
            n_people, n_snps = n_snps, n_people
        people, snps, pairs, metadata = about(n_snps)
        for what, names, size in (("individuals", people, n_people), ("SNPs", snps, n_snps)):
            if names is not None and len(names) != size:
                raise source.error(f"{len(names):,} names of {what}, but {size:,} {what}")
        if lines.all_missing:
            raise source.error("every genotype is missing")
        snps = distinct_names(snps or [f"SNP {n}" for n in range(1, n_snps + 1)])
        pairs = pairs or [("counted", "other")] * n_snps
        return TableFacts(
            n_people,
            2 * n_snps,
            [f"{s}:{a}" for s, pair in zip(snps, pairs, strict=True) for a in pair],
            None if people is None else distinct_names(people),
            metadata,
            ALLELES,
            groups=np.repeat(np.arange(n_snps), 2),
            group_names=snps,
            exposed=exposures and lines.has_missing,
        )

    def pieces(tiles: Tiles) -> Iterator[Piece]:
        blocks = column_blocks if by_snp else line_blocks
        return dense_pieces(blocks(tiles, CELLS_AT_ONCE), lines.pairs.__getitem__)

    return TableStream(source, facts, lines=lines, pieces=pieces)
