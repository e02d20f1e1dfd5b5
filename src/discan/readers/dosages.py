# SPDX-License-Identifier: BSD-3-Clause
"""Read counts of an allele per individual and SNP, 0 to 2: .012, .geno, .lfmm, and tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from discan.data.columns import number
from discan.data.corpus import Corpus
from discan.readers.allele_codes import Exposures
from discan.readers.dosage_lines import About, DosageLines, dosage_stream
from discan.readers.guess import reader
from discan.readers.source import Source
from discan.readers.table_streams import TableStream, collect_table
from discan.readers.tables import open_table

__all__ = ["read_dosages"]

log = logging.getLogger("discan")

_MARKS = {"", "NA", "nan", "NaN", ".", "?", "-1", "-9", "9"}
_PACKED = b"GENO"  # begins a packed .geno


@reader(
    "dosages",
    "counts of an allele, 0 to 2: vcftools' .012, EIGENSTRAT's .geno, LEA's .lfmm, or a table",
    endings=(".012", ".geno", ".lfmm"),
    table=lambda source, **options: _stream_dosages(source, **options),
)
def read_dosages(source: Source, exposures: Exposures = True) -> Corpus:
    """Read counts of one allele of each SNP; names are read from the files beside it."""
    return collect_table(_stream_dosages(source, exposures))


def _stream_dosages(source: Source, exposures: bool = True) -> TableStream:
    """Read counts of one allele of each SNP in pieces."""
    if source.name.endswith(".geno"):
        return _stream_geno(source, exposures)
    if source.name.endswith((".012", ".lfmm")):
        numbered = source.name.endswith(".012")
        rows = ((n, text.split()[numbered:]) for n, text in source.lines() if text.strip())

        def about(n_snps: int) -> About:
            if not numbered:
                return About()
            people = _column(source, f"{source.path.name}.indv", 0)
            places = _column(source, f"{source.path.name}.pos", 0, 1)
            return About(people, places, [("alt", "ref")] * n_snps)

        return dosage_stream(source, DosageLines(source, rows, _count), about, exposures)
    table = open_table(source, None, None, True, numeric=True)
    named = any(number(row[0]) is None for row in table.sample) or table.titles[0] == "column 1"
    names: list[str] = []

    def cells() -> Iterator[tuple[int, list[str]]]:
        for line, row in table.rows:
            names.append(row[0].strip())
            yield line, [cell.strip() for cell in row[named:]]

    snps = table.titles[named:] if table.has_titles else None
    lines = DosageLines(source, cells(), _count)
    return dosage_stream(source, lines, lambda _: About(names if named else None, snps), exposures)


def _stream_geno(source: Source, exposures: bool) -> TableStream:
    """Read one row per SNP, one digit per individual."""
    with source.open() as stream:
        if stream.read(len(_PACKED)) == _PACKED:
            raise source.error("a packed .geno; write it as EIGENSTRAT with convertf first")
    rows = ((line, text.strip()) for line, text in source.lines() if text.strip())

    def about(_: int) -> About:
        stem = source.path.name[: len(source.name)].removesuffix(".geno")
        people, populations = (_column(source, f"{stem}.ind", n) for n in (0, 2))
        snps, one, two = (_column(source, f"{stem}.snp", n) for n in (0, 4, 5))
        pairs = list(zip(one, two, strict=True)) if one and two else None
        return About(people, snps, pairs, {"population": populations} if populations else {})

    return dosage_stream(source, DosageLines(source, rows, _count), about, exposures, by_snp=True)


def _count(cell: str) -> float | None:
    """Return a count of an allele, NaN if missing; None if it is none."""
    value = np.nan if cell in _MARKS else number(cell)
    return value if cell in _MARKS or (value is not None and 0 <= value <= 2) else None


def _column(source: Source, name: str, *columns: int) -> list[str] | None:
    """Return columns of a file beside the data, joined by colons; None if there is none."""
    path: Path | None = source.beside(name)
    if path is None:
        if columns[0] == 0:
            log.warning("%s: no %s beside it, so there are numbers for names", source.path, name)
        return None
    rows = [text.split() for _, text in source.lines(path) if text.strip()]
    if any(len(row) <= max(columns) for row in rows):
        return None
    return [":".join(row[n] for n in columns) for row in rows]
