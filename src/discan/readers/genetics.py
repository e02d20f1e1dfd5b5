# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes: PLINK's .bed, .bim and .fam."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.data.folders.pieces import Piece
from discan.data.folders.runs import Mark
from discan.data.folders.tiles import Tiles
from discan.data.nouns import ALLELES
from discan.errors import shown
from discan.readers.allele_codes import CELLS_AT_ONCE, column_blocks, dense_pieces, family_facts
from discan.readers.guess import reader
from discan.readers.source import Source
from discan.readers.table_streams import Cells, TableFacts, TableStream, collect_table

__all__ = ["read_plink"]

log = logging.getLogger("discan")

MAGIC = b"\x6c\x1b"
GENOTYPES_AT_ONCE = 2**22

_ALLELES = np.array([[2, 0], [0, 0], [1, 1], [0, 2]], dtype=np.int8)  # code 1 is missing
_MISSING = 1


class _Family(NamedTuple):
    bed: Path
    bim: Path
    fam: Path


def _family(source: Source) -> _Family | None:
    """Find the three files of the family."""
    if source.is_folder:
        beds = sorted(source.path.glob("*.bed"))
        if len(beds) != 1:
            return None
        source = Source(beds[0])
    stem = source.path.name[: len(source.name)].rpartition(".")[0]
    found = [source.beside(f"{stem}.{kind}") for kind in _Family._fields]
    paths = [path for path in found if path is not None]
    return _Family(*paths) if len(paths) == 3 else None


def _is_plink(source: Source) -> bool:
    if not source.is_folder and not source.name.endswith((".bed", ".bim", ".fam")):
        return False
    return _family(source) is not None


@reader(
    "plink",
    "PLINK genotypes, .bed with .bim and .fam beside it; each SNP a group of two alleles",
    endings=(".bed", ".bim", ".fam"),
    sniff=_is_plink,
    table=lambda source, **options: _stream_plink(source, **options),
)
def read_plink(
    source: Source,
    exposures: Annotated[
        bool, "Whether an individual has exposure 0 to the SNPs that were not read."
    ] = True,
) -> Corpus:
    """Read genotypes: one individual per document, with two tokens (alleles) for each SNP."""
    return collect_table(_stream_plink(source, exposures))


def _stream_plink(source: Source, exposures: bool = True) -> TableStream:
    """Read genotypes in pieces."""
    family = _family(source)
    if family is None:
        raise source.error(".bed, .bim and .fam of one name are needed, in one folder")
    heads = list(_fields(source, family.fam, 2))
    people = [fields[1] for fields in heads]
    snps, words = [], []
    for fields in _fields(source, family.bim, 6):
        name = fields[1] if fields[1] != "." else f"{fields[0]}:{fields[3]}"
        snps.append(name)
        words += [f"{name}:{fields[4]}", f"{name}:{fields[5]}"]
    if not people or not snps:
        raise source.error(f"no {'SNPs' if people else 'individuals'}")
    lines = _BedLines(source, family.bed, len(people), len(snps))
    known = TableFacts(
        len(people),
        len(words),
        words,
        people,
        family_facts(heads) | _populations(source, family, len(people)),
        ALLELES,
        groups=np.repeat(np.arange(len(snps)), 2),
        group_names=snps,
    )

    def facts(_: Tiles) -> TableFacts:
        return replace(known, exposed=exposures and lines.n_missing > 0)

    def pieces(tiles: Tiles) -> Iterator[Piece]:
        return dense_pieces(column_blocks(tiles, CELLS_AT_ONCE), _ALLELES.__getitem__)

    bed = Source(family.bed, source.max_unpacked)
    return TableStream(bed, facts, lines=lines, pieces=pieces, how=(len(people), len(snps)))


def _populations(source: Source, family: _Family, n_people: int) -> dict[str, list[str]]:
    """Return the populations of a file .pops or .pop beside the others, one line each."""
    stem = family.fam.name.partition(".fam")[0]
    beside = Source(family.fam).beside(f"{stem}.pops", f"{stem}.pop")
    if beside is None:
        return {}
    labels = [text.strip() for _, text in source.lines(beside)]
    if len(labels) != n_people:
        log.warning("%s: %d lines for %d people; not used", beside, len(labels), n_people)
        return {}
    log.info("%s: populations read from %s", source.path, beside)
    return {"population": labels}


def _fields(source: Source, path: Path, least: int) -> Iterator[list[str]]:
    """Iterate over the fields of each line that is not blank: 6, or at least so many."""
    for line, text in source.lines(path):
        fields = text.split()
        if fields and (len(fields) < least or (least == 6 and len(fields) > 6)):
            raise source.error(f"expected 6 fields, found {shown(text)}", line, path)
        if fields:
            yield fields


class _BedLines:
    """Two-bit codes of genotypes, a line per SNP; the size must agree with the names."""

    def __init__(self, source: Source, path: Path, n_people: int, n_snps: int) -> None:
        self._source, self._path = source, path
        self._n_people, self._n_snps = n_people, n_snps
        self._n_read = 0
        self.n_missing = 0

    def batches(self) -> Iterator[Cells]:
        """Iterate over the codes, from where reading stands."""
        source, path, n_people = self._source, self._path, self._n_people
        width = (n_people + 3) // 4
        with source.open(path) as stream:
            start = stream.read(3)
            if start[:2] != MAGIC:
                raise source.error("is no PLINK .bed file (its first bytes are wrong)", path=path)
            if start[2:] != b"\x01":
                problem = (
                    "individual by individual, an old order that is not read; convert it with "
                )
                raise source.error(f"{problem}plink --make-bed", path=path)
            if path.suffix == ".bed":
                self._check_size(path.stat().st_size)
            seen, step = 3, max(1, GENOTYPES_AT_ONCE // n_people)
            for first in range(0, self._n_snps, step):
                n = min(step, self._n_snps - first)
                raw = stream.read(n * width)
                seen += len(raw)
                if len(raw) != n * width:
                    self._check_size(seen)
                if first < self._n_read:
                    continue
                packed = np.frombuffer(raw, dtype=np.uint8).reshape(n, width, 1)
                codes = (packed >> np.array([0, 2, 4, 6], dtype=np.uint8)) & 3
                codes = codes.reshape(n, 4 * width)[:, :n_people]
                self._n_read += n
                self.n_missing += int(np.count_nonzero(codes == _MISSING))
                yield (codes,)
            self._check_size(seen + len(stream.read(1)))

    def _check_size(self, size: int) -> None:
        expected = 3 + (self._n_people + 3) // 4 * self._n_snps
        if size != expected:
            raise self._source.error(
                f"{size:,} bytes, but {self._n_people:,} individuals and {self._n_snps:,} SNPs "
                f"take {expected:,}; is it cut short, or of another family?",
                path=self._path,
            )

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch."""
        return {"lines": self._n_read, "missing": self.n_missing}

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._n_read, self.n_missing = mark["lines"], mark["missing"]
