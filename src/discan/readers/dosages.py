# SPDX-License-Identifier: BSD-3-Clause
"""Read counts of an allele per individual and SNP, 0 to 2: .012, .geno, .lfmm, and tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np

from discan.data.columns import number
from discan.data.corpus import Corpus
from discan.errors import Argument, shown
from discan.readers.allele_codes import Exposures
from discan.readers.csv_rows import Delimiter
from discan.readers.dosage_lines import About, DosageLines, dosage_stream
from discan.readers.guess import reader
from discan.readers.snp_tables import ABSENT_COUNTS, SnpTable, delimiter_of, is_snp, snp_table
from discan.readers.source import Source
from discan.readers.table_streams import TableStream, collect_table
from discan.readers.tables import Describing, Table, open_table

__all__ = ["read_dosages"]

log = logging.getLogger("discan")

LISTED = 8

_PACKED = b"GENO"  # begins a packed .geno


def _is_table(source: Source) -> bool:
    if source.name.endswith((".012", ".geno", ".lfmm")):
        return True
    found = snp_table(source)
    return found is not None and found.counted


@reader(
    "dosages",
    "counts of an allele, 0 to 2: vcftools' .012, EIGENSTRAT's .geno, LEA's .lfmm, or a table",
    endings=(".012", ".geno", ".lfmm"),
    sniff=_is_table,
    family=("table",),
    table=lambda source, **options: _stream_dosages(source, **options),
)
def read_dosages(
    source: Source,
    transpose: Annotated[
        bool | None,
        "Whether the rows of a table are SNPs and its columns individuals; told by the titles if "
        "not given.",
    ] = None,
    delimiter: Delimiter = None,
    exposures: Exposures = True,
) -> Corpus:
    """Read counts of one allele of each SNP; names are read from the files beside it."""
    return collect_table(_stream_dosages(source, transpose, delimiter, exposures))


def _stream_dosages(
    source: Source,
    transpose: bool | None = None,
    delimiter: str | None = None,
    exposures: bool = True,
) -> TableStream:
    """Read counts of one allele of each SNP in pieces."""
    if source.name.endswith(".geno"):
        return _stream_geno(source, exposures)
    if source.name.endswith((".012", ".lfmm")):
        return _stream_numbers(source, exposures)
    table = open_table(source, None, delimiter or delimiter_of(source), True, numeric=True)
    found = snp_table(source)
    if transpose is None:
        transpose = found is not None and found.in_rows
    if transpose:
        if found is None or not found.in_rows:
            found = SnpTable(in_rows=True, counted=True, first=1, names=(0,))
        return _stream_transposed(source, table, found, exposures)
    if found is not None:
        remark = "%s: 0, 1 and 2 count an allele, as the titles name SNPs; if they do not, use %s"
        log.info(remark, source.path, Argument("format", "categorical"))
    return _stream_table(source, table, exposures)


def _stream_numbers(source: Source, exposures: bool) -> TableStream:
    """Read one row per individual, without titles; those of .012 are numbered."""
    numbered = source.name.endswith(".012")
    rows = ((n, text.split()[numbered:]) for n, text in source.lines() if text.strip())

    def about(n_snps: int) -> About:
        if not numbered:
            return About()
        people = _column(source, f"{source.path.name}.indv", 0)
        places = _column(source, f"{source.path.name}.pos", 0, 1)
        return About(people, places, [("alt", "ref")] * n_snps)

    return dosage_stream(source, DosageLines(source, rows, _count), about, exposures)


def _stream_table(source: Source, table: Table, exposures: bool) -> TableStream:
    """Read a table with a row per individual."""
    titles = table.titles
    named = any(number(row[0]) is None for row in table.sample) or titles[0] == "column 1"
    named = named or (is_snp(titles[1]) and not is_snp(titles[0]) if len(titles) > 1 else False)
    others = [j for j in range(int(named), len(titles)) if _describes(table, j)]
    if others:
        some = ", ".join(shown(titles[j]) for j in others[:LISTED])
        log.info("%s: kept as metadata, not counted: %s", source.path, some)
    kept = [j for j in range(int(named), len(titles)) if j not in others]
    describing = Describing([titles[j] for j in others])
    names: list[str] = []

    def cells() -> Iterator[tuple[int, list[str]]]:
        for line, row in table.rows:
            names.append(row[0].strip())
            describing.add([row[j] for j in others])
            yield line, [row[j].strip() for j in kept]

    def about(_: int) -> About:
        snps = [titles[j] for j in kept] if table.has_titles else None
        return About(names if named else None, snps, metadata=describing.metadata())

    return dosage_stream(source, DosageLines(source, cells(), _count), about, exposures)


def _describes(table: Table, j: int) -> bool:
    """Tell whether a column holds no counts: it has no number, or no title of a SNP as others."""
    cells = {row[j].strip() for row in table.sample if j < len(row)} - ABSENT_COUNTS
    if cells and all(number(cell) is None for cell in cells):
        return True
    n_snps = sum(map(is_snp, table.titles))
    return n_snps > 0.5 * len(table.titles) and not is_snp(table.titles[j])


def _stream_transposed(
    source: Source, table: Table, found: SnpTable, exposures: bool
) -> TableStream:
    """Read a table with a row per SNP."""
    first, snps = found.first, []
    people = table.titles[first:] if table.has_titles else None
    n_people = len(table.titles) - first
    log.info("%s: a row is a SNP, and %d columns are individuals", source.path, n_people)

    def cells() -> Iterator[tuple[int, list[str]]]:
        for line, row in table.rows:
            snps.append(":".join(row[j].strip() for j in found.names))
            yield line, [cell.strip() for cell in row[first:]]

    def about(_: int) -> About:
        return About(people, snps)

    return dosage_stream(
        source, DosageLines(source, cells(), _count), about, exposures, by_snp=True
    )


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
    if cell in ABSENT_COUNTS:
        return np.nan
    value = number(cell)
    return value if value is not None and 0 <= value <= 2 else None


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
