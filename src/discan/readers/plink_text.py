# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes in PLINK's files of text: .ped with .map, and .raw."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from discan.data.columns import Codes, number
from discan.data.corpus import Corpus
from discan.errors import shown
from discan.readers.allele_codes import (
    Exposures,
    allele_corpus,
    distinct_names,
    family_facts,
)
from discan.readers.dosage_lines import About, DosageLines, dosage_stream
from discan.readers.guess import reader
from discan.readers.source import Source
from discan.readers.table_streams import TableStream, collect_table
from discan.typing import Array

__all__ = ["read_ped", "read_raw"]

log = logging.getLogger("discan")

_TITLES = ["FID", "IID", "PAT", "MAT", "SEX", "PHENOTYPE"]
_COUNTED = re.compile(r"(.+)_([^_(]+)(?:\(/(.+)\))?")


@reader(
    "ped",
    "PLINK genotypes in text, .ped with .map beside it; each SNP a group of alleles",
    endings=(".ped",),
    sniff=lambda source: source.name.endswith(".ped"),
)
def read_ped(
    source: Source,
    missing: Annotated[str, "Mark of a missing allele."] = "0",
    exposures: Exposures = True,
) -> Corpus:
    """Read a .ped file: six columns about the individual, then two alleles per SNP."""
    alleles = Codes()
    heads: list[list[str]] = []
    rows: list[Array] = []
    for line, text in source.lines():
        cells = text.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) < 8 or len(cells) % 2 or (rows and len(cells) - 6 != rows[0].size):
            expected = rows[0].size + 6 if rows else "6 columns and two per SNP"
            raise source.error(f"{len(cells)} columns, expected {expected}", line)
        heads.append(cells[:6])
        rows.append(np.fromiter(map(alleles.__getitem__, cells[6:]), np.int32, len(cells) - 6))
    if not rows:
        raise source.error("no individuals")
    codes = np.stack(rows).reshape(len(rows), -1, 2)
    absent = alleles.pop(str(missing), None)
    if absent is not None:
        codes[codes == absent] = -1
    loci = _loci(source, codes.shape[1])
    people = [head[1] for head in heads]
    facts = family_facts(heads)
    return allele_corpus(source, people, loci, alleles, codes, ":", exposures, facts)


def _loci(source: Source, n_loci: int) -> list[str]:
    """Return the names of the SNPs, of the .map file beside the .ped file."""
    stem = source.path.name[: len(source.name)].rpartition(".")[0]
    path = source.beside(f"{stem}.map")
    if path is None:
        log.warning("%s: no %s.map beside it; the SNPs are numbered", source.path, stem)
        return [f"SNP {n}" for n in range(1, n_loci + 1)]
    names = []
    for line, text in source.lines(path):
        cells = text.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) not in (3, 4):
            raise source.error(f"expected 3 or 4 columns, found {shown(text)}", line, path)
        names.append(cells[1] if cells[1] != "." else f"{cells[0]}:{cells[-1]}")
    if len(names) != n_loci:
        problem = f"{len(names):,} SNPs, but {source.path} has {n_loci:,}"
        raise source.error(problem, path=path)
    return distinct_names(names)


@reader(
    "raw",
    "PLINK allele counts, .raw, as plink --recode A writes it; each SNP a group of two alleles",
    endings=(".raw",),
    sniff=lambda source: source.head.split()[:6] == _TITLES,
    table=lambda source, **options: _stream_raw(source, **options),
)
def read_raw(source: Source, exposures: Exposures = True) -> Corpus:
    """Read a .raw file: counts of one allele of each SNP, 0 to 2, or NA."""
    return collect_table(_stream_raw(source, exposures))


def _stream_raw(source: Source, exposures: bool = True) -> TableStream:
    """Read a .raw file in pieces; what describes the individuals stays in memory."""
    lines = iter(source.lines())
    titles = next(lines, (0, ""))[1].split()
    if titles[:6] != _TITLES or len(titles) < 7:
        raise source.error(f"the first line must begin with {' '.join(_TITLES)}", 1)
    kept = [j for j in range(6, len(titles)) if not titles[j].endswith("_HET")]
    heads: list[list[str]] = []

    def rows() -> Iterator[tuple[int, list[str]]]:
        for line, text in lines:
            cells = text.split()
            if not cells:
                continue
            if len(cells) != len(titles):
                raise source.error(f"{len(cells)} columns, expected {len(titles)}", line)
            heads.append(cells[:6])
            yield line, [cells[j] for j in kept]
        if not heads:
            raise source.error("no individuals")

    def about(_: int) -> About:
        found = [_COUNTED.fullmatch(titles[j]) for j in kept]
        snps = [m[1] if m else titles[j] for m, j in zip(found, kept, strict=True)]
        pairs = [(m[2], m[3] or "other") if m else ("counted", "other") for m in found]
        return About([head[1] for head in heads], snps, pairs, family_facts(heads))

    return dosage_stream(source, DosageLines(source, rows(), _count), about, exposures)


def _count(cell: str) -> float | None:
    """Return a count of an allele, NaN if missing; None if it is none."""
    value = np.nan if cell in ("NA", "-9") else number(cell)
    return None if value is None or value < 0 or value > 2 else value
