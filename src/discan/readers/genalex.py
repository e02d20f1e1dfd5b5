# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes in the format of GenAlEx: two columns per locus under three lines of titles."""

from __future__ import annotations

import logging
from functools import lru_cache
from itertools import islice

import numpy as np

from discan.data.alleles import marks_among
from discan.data.columns import Codes
from discan.data.corpus import Corpus
from discan.data.intake import bounded_int
from discan.errors import DiscanError, shown
from discan.readers.allele_codes import Exposures, allele_corpus
from discan.readers.csv_rows import csv_rows
from discan.readers.guess import reader
from discan.readers.source import Source

__all__ = ["read_genalex"]

log = logging.getLogger("discan")

_ENDINGS = (".csv", ".tsv", ".txt")


@lru_cache(maxsize=1)
def _is_genalex(source: Source) -> bool:
    if source.is_folder or not source.name.endswith(_ENDINGS):
        return False
    if not source.head.lstrip("\ufeff\"' ")[:1].isdecimal():
        return False
    try:
        rows = [row for _, row in islice(csv_rows(source), 4)]
    except DiscanError:
        return False
    if len(rows) < 4 or not all(cell.strip().isdecimal() for cell in rows[0][:3]):
        return False
    n_loci = bounded_int(rows[0][0])
    titles = [cell.strip() for cell in rows[2]]
    named = [title for title in titles[2::2] if title][:n_loci]
    second = titles[3 : 2 + 2 * n_loci : 2]
    return len(named) == n_loci > 0 and not any(second) and len(rows[3]) >= 2 + 2 * n_loci


@reader(
    "genalex",
    "GenAlEx genotypes, two columns per locus under three lines of titles; each locus a group",
    sniff=_is_genalex,
)
def read_genalex(source: Source, exposures: Exposures = True) -> Corpus:
    """Read a table of GenAlEx; the population of each individual is kept as metadata."""
    if not _is_genalex(source):
        raise source.error(
            "not a table of GenAlEx: numbers of loci, individuals and populations in the first "
            "line, names of loci over every other column in the third"
        )
    rows = csv_rows(source)
    head = [row for _, row in islice(rows, 3)]
    n_loci, n_people = map(bounded_int, head[0][:2])
    loci = [cell.strip() for cell in head[2][2 : 2 + 2 * n_loci : 2]]
    alleles = Codes()
    names, populations, cells = [], [], []
    for line, row in rows:
        found = [cell.strip() for cell in row[: 2 + 2 * n_loci]]
        if not any(found):
            continue
        if len(found) < 2 + 2 * n_loci:
            raise source.error(f"{len(found)} cells, expected {2 + 2 * n_loci}", line)
        names.append(found[0] or f"row {line}")
        populations.append(found[1])
        cells.append([alleles[cell] for cell in found[2:]])
    if len(cells) != n_people:
        remark = "%s: the first line says %d individuals; there are %d"
        log.warning(remark, source.path, n_people, len(cells))
    codes = np.array(cells, dtype=np.int32).reshape(len(cells), n_loci, 2)
    marks = {"", *marks_among(alleles.keys())} & set(alleles)
    codes = np.where(np.isin(codes, [alleles.pop(mark) for mark in sorted(marks)]), -1, codes)
    if marks - {""}:
        listed = ", ".join(map(shown, sorted(marks - {""})))
        log.info("%s: alleles %s are read as missing", source.path, listed)
    facts = {"population": populations} if len(set(populations)) > 1 else {}
    return allele_corpus(source, names, loci, alleles, codes, "=", exposures, facts)
