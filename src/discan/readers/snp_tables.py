# SPDX-License-Identifier: BSD-3-Clause
"""Tell tables of SNPs, and whether their SNPs are in rows or in columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from typing import NamedTuple

from discan.data.columns import number
from discan.data.roles import key
from discan.errors import DiscanError
from discan.readers.csv_rows import table_rows
from discan.readers.source import Source
from discan.readers.table_kinds import ENDINGS
from discan.readers.tables import SAMPLE

__all__ = [
    "ABSENT_COUNTS", "MIXED", "SnpTable", "delimiter_of", "is_snp", "snp_table",
]  # fmt: skip

ABSENT_COUNTS = frozenset({"", "NA", "nan", "NaN", ".", "?", "-1", "-9", "9"})
"""Marks of a missing count of alleles."""
MIXED = dict(zip("RYSWKM", ("AG", "CT", "CG", "AT", "GT", "AC"), strict=True))
"""Two different bases as one letter."""

MOST = 0.9  # of the cells are genotypes
FEWEST_SNPS = 5  # titles of SNPs that tell a table with individuals in rows

_NAMES = set("rs rsid snp snpid snpname marker markerid markername variant variantid".split())
_PLACES = (set("chr chrom chromosome".split()), set("bp pos position".split()))
_FACTS = set(
    "id name alleles strand assembly center protlsid assaylsid panellsid qccode qc ref alt cm "
    "gene maf minor major minorallele majorallele qual filter info format".split()
)
_TWO = re.compile(r"(a|allele)[._ ]?[12ab]", re.IGNORECASE)
_SNP = re.compile(r"(rs|ss|AX-|snp[-_. ]?|(chr)?(\d{1,2}|[XY])[:_]\d\d\d)\d+\S*", re.IGNORECASE)
_ALLELE = r"(\d{1,4}|[ACGTN]{1,30}|[ID*.?+-])"
_GENOTYPE = re.compile(rf"{_ALLELE}[/|]{_ALLELE}|[ACGTNID0-]{{2}}|[ACGT]|{'|'.join(MIXED)}")
_ABSENT = {"", "N", "0", "-", ".", "NA"}


class SnpTable(NamedTuple):
    """What a table of SNPs holds.

    Attributes
    ----------
    in_rows : whether a row is a SNP, not an individual
    counted : whether its cells are counts of an allele, not the alleles
    first : number of columns before those of the individuals, if a row is a SNP
    names : numbers of the columns that name the SNPs, to be joined with colons
    """

    in_rows: bool
    counted: bool
    first: int = 0
    names: tuple[int, ...] = ()


def delimiter_of(source: Source) -> str | None:
    """Return a space if the titles are separated by nothing else, as in HapMap's files."""
    titles = source.head.partition("\n")[0]
    return " " if " " in titles and not set("\t,;|") & set(titles) else None


def is_snp(title: str) -> bool:
    """Tell whether a title is the name of a SNP: rs1234, 1:10020_A."""
    return _SNP.fullmatch(title.strip()) is not None


@lru_cache(maxsize=1)
def snp_table(source: Source) -> SnpTable | None:
    """Return what a table of SNPs holds; None if it is none, or nothing tells."""
    if source.is_folder or not source.name.endswith((*ENDINGS, ".txt", ".hmp", ".hapmap")):
        return None
    try:
        rows = islice(table_rows(source, delimiter_of(source)), SAMPLE)
        titles, *sample = [[cell.strip() for cell in row] for _, row in rows]
    except (DiscanError, ValueError):
        return None
    sample = [row for row in sample if len(row) == len(titles)]
    if len(titles) < 3 or not sample:
        return None
    columns = list(zip(*sample, strict=True))
    return _snps_in_rows(titles, columns) or _snps_in_columns(titles, columns)


def _snps_in_rows(titles: Sequence[str], columns: Sequence[Sequence[str]]) -> SnpTable | None:
    """Return a table if its first columns name and describe SNPs, and the others are genotypes."""
    keys = [key(title) for title in titles]
    facts = _FACTS.union(_NAMES, *_PLACES)
    named = [j for j in range(min(3, len(titles))) if _most(map(is_snp, columns[j]))]
    pair = not {"A3", "a3"} & set(titles)  # individuals may be called A1, A2 and so on

    def describes(j: int) -> bool:
        return j in named or keys[j] in facts or (pair and _TWO.fullmatch(titles[j]) is not None)

    first = len(list(takewhile(describes, range(len(titles)))))
    placed = [next((j for j in range(first) if keys[j] in place), None) for place in _PLACES]
    names = [j for j in range(first) if keys[j] in _NAMES or j in named][:1]
    if not names and None not in placed:
        names = [j for j in range(first) if keys[j] == "id"] or [j for j in placed if j is not None]
    if not names or len(titles) - first < 2:
        return None
    cells = [cell for column in columns[first:] for cell in column]
    counted = _are_counts(cells)
    if counted or _are_genotypes(cells):
        return SnpTable(True, counted, first, tuple(names))
    return None


def _snps_in_columns(titles: Sequence[str], columns: Sequence[Sequence[str]]) -> SnpTable | None:
    """Return a table if most titles are names of SNPs, over counts of an allele."""
    snps = [j for j, title in enumerate(titles) if is_snp(title)]
    if len(snps) < max(FEWEST_SNPS, 2 / 3 * len(titles)):
        return None
    cells = [cell for j in snps for cell in columns[j]]
    return SnpTable(False, True) if _are_counts(cells) else None


def _are_counts(cells: Sequence[str]) -> bool:
    """Tell whether cells are counts of an allele, 0 to 2, or missing; some may be estimates."""
    counts = [n for cell in cells if cell not in ABSENT_COUNTS and (n := number(cell)) is not None]
    if not counts or len(set(counts)) < 2 or not all(0 <= n <= 2 for n in counts):
        return False
    return _most(cell in ABSENT_COUNTS or number(cell) is not None for cell in cells)


def _are_genotypes(cells: Sequence[str]) -> bool:
    """Tell whether cells hold two alleles, or the letter of two."""
    found = [cell for cell in cells if cell not in _ABSENT]
    return bool(found) and _most(_GENOTYPE.fullmatch(cell) is not None for cell in found)


def _most(answers: Iterable[bool]) -> bool:
    found = list(answers)
    return sum(found) >= MOST * len(found)
