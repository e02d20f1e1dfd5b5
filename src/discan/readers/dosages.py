# SPDX-License-Identifier: BSD-3-Clause
"""Read counts of an allele per individual and SNP, 0 to 2: .012, .geno, .lfmm, and tables."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np

from discan.data.columns import number
from discan.data.corpus import Corpus
from discan.errors import Argument, shown
from discan.readers.allele_codes import Exposures, dosage_corpus
from discan.readers.csv_rows import Delimiter
from discan.readers.guess import reader
from discan.readers.snp_tables import ABSENT_COUNTS, SnpTable, delimiter_of, is_snp, snp_table
from discan.readers.source import Source
from discan.readers.tables import Describing, Table, open_table
from discan.typing import Array

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
    if source.name.endswith(".geno"):
        return _read_geno(source, exposures)
    if source.name.endswith((".012", ".lfmm")):
        rows = [(line, text.split()) for line, text in source.lines() if text.strip()]
        numbered = source.name.endswith(".012")
        counts = _table(source, [(line, row[1:] if numbered else row) for line, row in rows])
        if not numbered:
            return dosage_corpus(source, counts, None, None, None, exposures)
        people = _column(source, f"{source.path.name}.indv", 0)
        places = _column(source, f"{source.path.name}.pos", 0, 1)
        pairs = [("alt", "ref")] * counts.shape[1]
        return dosage_corpus(source, counts, people, places, pairs, exposures)
    table = open_table(source, None, delimiter or delimiter_of(source), True, numeric=True)
    found = snp_table(source)
    if transpose is None:
        transpose = found is not None and found.in_rows
    if transpose:
        if found is None or not found.in_rows:
            found = SnpTable(in_rows=True, counted=True, first=1, names=(0,))
        return _read_transposed(source, table, found, exposures)
    if found is not None:
        remark = "%s: 0, 1 and 2 count an allele, as the titles name SNPs; if they do not, use %s"
        log.info(remark, source.path, Argument("format", "categorical"))
    return _read_table(source, table, exposures)


def _read_table(source: Source, table: Table, exposures: bool) -> Corpus:
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
    lines, names = [], []
    for line, row in table.rows:
        lines.append((line, [row[j].strip() for j in kept]))
        names.append(row[0].strip())
        describing.add([row[j] for j in others])
    snps = [titles[j] for j in kept] if table.has_titles else None
    counts = _table(source, lines)
    people = names if named else None
    facts = describing.metadata()
    return dosage_corpus(source, counts, people, snps, None, exposures, facts)


def _describes(table: Table, j: int) -> bool:
    """Tell whether a column holds no counts: it has no number, or no title of a SNP as others."""
    cells = {row[j].strip() for row in table.sample if j < len(row)} - ABSENT_COUNTS
    if cells and all(number(cell) is None for cell in cells):
        return True
    n_snps = sum(map(is_snp, table.titles))
    return n_snps > 0.5 * len(table.titles) and not is_snp(table.titles[j])


def _read_transposed(source: Source, table: Table, found: SnpTable, exposures: bool) -> Corpus:
    """Read a table with a row per SNP."""
    first = found.first
    people = table.titles[first:] if table.has_titles else None
    n_people = len(table.titles) - first
    log.info("%s: a row is a SNP, and %d columns are individuals", source.path, n_people)
    lines, snps = [], []
    for line, row in table.rows:
        lines.append((line, [cell.strip() for cell in row[first:]]))
        snps.append(":".join(row[j].strip() for j in found.names))
    return dosage_corpus(source, _table(source, lines).T, people, snps, None, exposures)


def _read_geno(source: Source, exposures: bool) -> Corpus:
    """Read one row per SNP, one digit per individual."""
    with source.open() as stream:
        if stream.read(len(_PACKED)) == _PACKED:
            raise source.error("a packed .geno; write it as EIGENSTRAT with convertf first")
    rows = [(line, list(text.strip())) for line, text in source.lines() if text.strip()]
    counts = _table(source, rows).T
    stem = source.path.name[: len(source.name)].removesuffix(".geno")
    people, populations = (_column(source, f"{stem}.ind", n) for n in (0, 2))
    snps, one, two = (_column(source, f"{stem}.snp", n) for n in (0, 4, 5))
    pairs = list(zip(one, two, strict=True)) if one and two else None
    facts = {"population": populations} if populations else {}
    return dosage_corpus(source, counts, people, snps, pairs, exposures, facts)


def _table(source: Source, rows: Sequence[tuple[int, list[str]]]) -> Array:
    """Return counts (rows, columns), NaN if missing."""
    if not rows:
        raise source.error("no genotypes")
    width = len(rows[0][1])
    known = {"0": 0.0, "1": 1.0, "2": 2.0, **dict.fromkeys(ABSENT_COUNTS, np.nan)}
    result = np.empty((len(rows), width))
    for n, (line, cells) in enumerate(rows):
        if len(cells) != width:
            raise source.error(f"{len(cells)} genotypes, expected {width}", line)
        for j, cell in enumerate(cells):
            value = known.get(cell)
            if value is None:
                value = number(cell)
                if value is None or not 0 <= value <= 2:
                    problem = f"{shown(cell)} is no count of alleles from 0 to 2, or missing"
                    raise source.error(problem, line)
                known[cell] = value
            result[n, j] = value
    return result


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
