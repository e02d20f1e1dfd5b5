# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes with SNPs in rows and individuals in columns: HapMap's files, and tables."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

import numpy as np

from discan.data.alleles import marks_among, split_cell
from discan.data.columns import Codes
from discan.data.corpus import Corpus
from discan.errors import shown
from discan.readers.allele_codes import Exposures, allele_corpus, distinct_names
from discan.readers.csv_rows import Delimiter, check_width, table_rows
from discan.readers.guess import reader
from discan.readers.snp_tables import MIXED, delimiter_of, snp_table
from discan.readers.source import Source
from discan.typing import Array

__all__ = ["read_hapmap"]

log = logging.getLogger("discan")

LISTED = 8

_TWO_BASES = re.compile("[ACGTNID0+-]{2}")
_ABSENT = {"", "N", "0", "-", ".", "?", "NA", "NN", "00", "--"}


def _is_hapmap(source: Source) -> bool:
    found = snp_table(source)
    return found is not None and found.in_rows and not found.counted


@reader(
    "hapmap",
    "genotypes with SNPs in rows, individuals in columns: HapMap, TASSEL's .hmp.txt, a table",
    sniff=_is_hapmap,
    family=("table",),
)
def read_hapmap(source: Source, delimiter: Delimiter = None, exposures: Exposures = True) -> Corpus:
    """Read genotypes such as AG, A/G or R; each SNP is a group of alleles.

    A single base stands for two of it, as in TASSEL's files.
    """
    table = snp_table(source)
    if table is None or not table.in_rows:
        problem = (
            "not a table with SNPs in rows: the first column must name them (rs#, SNP, marker), "
            "and there must be a column per individual"
        )
        raise source.error(problem)
    rows = table_rows(source, delimiter or delimiter_of(source))
    titles = [title.strip() for title in next(rows)[1]]
    people, left = titles[table.first :], titles[: table.first]
    what = f"{len(people)} individuals are the columns from {shown(people[0])} on"
    log.info("%s: a row is a SNP, and %s", source.path, what)
    described = [title for j, title in enumerate(left) if j not in table.names]
    if described:
        some = ", ".join(map(shown, described[:LISTED]))
        log.info("%s: left out, as they describe SNPs: %s", source.path, some)
    calls, loci, found = Codes(), [], []
    for line, row in check_width(source, rows, len(titles)):
        before = len(calls)
        cells = [cell.strip() for cell in row[table.first :]]
        found.append(np.fromiter(map(calls.__getitem__, cells), np.int32, len(cells)))
        for cell in list(calls)[before:] if len(calls) > before else ():
            if _alleles(cell) is None:
                problem = f"{shown(cell)} is no genotype such as AG, A/G or R"
                raise source.error(problem, line)
        loci.append(":".join(row[j].strip() for j in table.names))
    if not loci:
        raise source.error("no SNPs")
    alleles = Codes()
    of_call = _codes(list(calls), alleles)
    codes = of_call[np.stack(found, axis=1)]
    return allele_corpus(source, people, distinct_names(loci), alleles, codes, ":", exposures)


def _codes(calls: Sequence[str], alleles: Codes) -> Array:
    """Return the alleles of each distinct cell, (cells, P) int32, -1 if missing."""
    parts = [_alleles(call) or () for call in calls]
    marks = marks_among({allele for found in parts for allele in found})
    kept = [[a for a in found if a not in marks and a != "N"] for found in parts]
    result = np.full((len(kept), max(2, *map(len, kept))), -1, dtype=np.int32)
    for n, found in enumerate(kept):
        result[n, : len(found)] = [alleles[allele] for allele in found]
    return result


def _alleles(cell: str) -> Sequence[str] | None:
    """Return the alleles of a cell, None if it is no genotype."""
    if "/" in cell or "|" in cell:
        return split_cell(cell, "/|")
    if cell in _ABSENT:
        return ()
    if _TWO_BASES.fullmatch(cell):
        return cell
    if cell in MIXED:
        return MIXED[cell]
    return 2 * cell if cell in set("ACGT") else None
