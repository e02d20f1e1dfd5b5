# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes in VCF, the variant call format, packed or not."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Annotated

import numpy as np

from discan.data.answers import count_answers
from discan.data.columns import Codes
from discan.data.corpus import Corpus
from discan.data.folders.pieces import Piece
from discan.data.folders.runs import Mark
from discan.data.folders.tiles import Tiles
from discan.data.intake import bounded_int, offsets, read_table, tightest
from discan.data.nouns import ALLELES
from discan.errors import Argument, shown
from discan.readers.allele_codes import (
    CELLS_AT_ONCE,
    Exposures,
    column_blocks,
    distinct_names,
)
from discan.readers.guess import reader
from discan.readers.source import Source
from discan.readers.table_streams import Cells, TableFacts, TableStream, collect_table
from discan.typing import Array

__all__ = ["read_vcf"]

log = logging.getLogger("discan")

_FIRST = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
_CALL = re.compile(r"(\.|\d{1,4})([/|](\.|\d{1,4}))*")
_PASSED = {"PASS", ".", ""}
MANY_CODES = 2**15
CALLS_AT_ONCE = 2**20
MOST_ALLELES = 2**10
"""In a call: individuals have a few, pools of individuals some hundreds."""


@reader(
    "vcf",
    "VCF genotypes, packed or not; each variant a group with one word per allele",
    endings=(".vcf",),
    sniff=lambda source: source.head.startswith("##fileformat=VCF"),
    table=lambda source, **options: _stream_vcf(source, **options),
)
def read_vcf(
    source: Source,
    passed: Annotated[bool, "Whether to leave out variants that failed a filter."] = False,
    exposures: Exposures = True,
) -> Corpus:
    """Read a VCF: one individual per document, one token per allele of a call."""
    return collect_table(_stream_vcf(source, passed, exposures))


def _stream_vcf(source: Source, passed: bool = False, exposures: bool = True) -> TableStream:
    """Read a VCF in pieces."""
    lines = _Variants(source, passed)

    def facts(tiles: Tiles) -> TableFacts:
        return lines.facts(tiles, exposures)

    return TableStream(source, facts, lines=lines, pieces=lines.pieces)


class _Variants:
    """Codes of calls, a line per variant; names of variants and alleles stay in memory."""

    def __init__(self, source: Source, passed: bool) -> None:
        self._source, self._passed = source, passed
        self._people: list[str] = []
        self._names: list[str] = []
        self._alleles: list[list[str]] = []
        self._calls = Codes()
        self._occurs = np.zeros(0, dtype=np.int64)  # of each call
        self._n_failed = self._n_lines = 0
        self._marked = (0, 0)  # variants and calls of the last mark

    # ---- lines ----

    def batches(self) -> Iterator[Cells]:
        """Iterate over the codes, from where reading stands."""
        source, n_read = self._source, self._n_lines
        codes: list[Array] = []
        for line, text in source.lines():
            if text.startswith("##") or not text or (line <= n_read and text[0] != "#"):
                continue
            fields = text.split("\t")
            if text.startswith("#"):
                self._people = _people(source, line, fields)
                continue
            if not self._people:
                raise source.error("no line of titles, #CHROM POS ID ...", line)
            if len(fields) != 9 + len(self._people):
                problem = f"{len(fields)} columns, expected {9 + len(self._people)}; is it cut "
                raise source.error(f"{problem}short?", line)
            self._n_lines = line
            if fields[6] not in _PASSED:
                self._n_failed += 1
                if self._passed:
                    continue
            codes.append(_calls(source, line, fields, self._calls))
            named = fields[2] not in (".", "")
            self._names.append(fields[2] if named else f"{fields[0]}:{fields[1]}")
            self._alleles.append([fields[3], *(a for a in fields[4].split(",") if a != ".")])
            if len(codes) * len(self._people) >= CALLS_AT_ONCE:
                yield self._counted(codes)
                codes = []
        if not self._names:
            raise source.error("holds no genotypes of variants")
        if codes:
            yield self._counted(codes)

    def _counted(self, codes: list[Array]) -> Cells:
        """Return lines of codes, and count how often each call occurs."""
        cells = np.stack(codes)
        occurs = np.bincount(cells.ravel(), minlength=len(self._calls))
        occurs[: self._occurs.size] += self._occurs
        self._occurs = occurs
        return (cells,)

    def mark(self) -> Mark:
        """Return where reading stands behind the last batch, and what is new since the last."""
        n_names, n_calls = self._marked
        self._marked = len(self._names), len(self._calls)
        return {
            "lines": self._n_lines,
            "failed": self._n_failed,
            "names": self._names[n_names:],
            "alleles": self._alleles[n_names:],
            "calls": list(islice(self._calls, n_calls, None)),
            "occurs": self._occurs.tolist(),
        }

    def go_on(self, mark: Mark) -> None:
        """Stand where reading stood at a mark."""
        self._n_lines, self._n_failed = mark["lines"], mark["failed"]
        self._names += mark["names"]
        self._alleles += mark["alleles"]
        for call in mark["calls"]:
            self._calls[call] = len(self._calls)
        self._occurs = np.array(mark["occurs"], dtype=np.int64)
        self._marked = len(self._names), len(self._calls)

    # ---- the corpus ----

    @cached_property
    def _alleles_of(self) -> Array:
        """Alleles of each call, (calls, ploidy); -1 if missing."""
        parts = [_alleles_in(call) for call in self._calls]
        result = np.full((len(parts), max(1, *map(len, parts))), -1, dtype=np.int32)
        for n, found in enumerate(parts):
            result[n, : len(found)] = found
        return result

    @cached_property
    def _starts(self) -> Array:
        """Number of the first word of each variant, and of all words."""
        return offsets(np.array([len(found) for found in self._alleles]))

    def facts(self, tiles: Tiles, exposures: bool) -> TableFacts:
        """Return what is known when all variants were read."""
        source, alleles = self._source, self._alleles
        if self._n_failed and not self._passed:
            remark = "%s: %d of %d variants failed a filter and are read; %s leaves them out"
            use = Argument("passed", True)
            log.info(remark, source.path, self._n_failed, len(self._names), use)
        n_missing = int(self._occurs[(self._alleles_of < 0).all(axis=1)].sum())
        n_calls = tiles.n_lines * tiles.width
        if n_missing == n_calls:
            raise source.error("every genotype is missing")
        log.info(
            "%s: %d individuals, %d variants (%d of them with more than two alleles), %.2g %% of "
            "the calls missing, %s alleles per call",
            source.path, tiles.width, tiles.n_lines, sum(len(found) > 2 for found in alleles),
            100 * n_missing / n_calls,
            " or ".join(map(str, sorted({len(_alleles_in(call)) for call in self._calls} - {0}))),
        )  # fmt: skip
        names = _distinct_variants(self._names)
        return TableFacts(
            tiles.width,
            int(self._starts[-1]),
            [f"{n}:{a}" for n, found in zip(names, alleles, strict=True) for a in found],
            distinct_names(self._people),
            nouns=ALLELES,
            groups=np.repeat(np.arange(len(names)), np.diff(self._starts)),
            group_names=names,
            exposed=exposures and n_missing > 0,
        )

    def pieces(self, tiles: Tiles) -> Iterator[Piece]:
        """Iterate over the individuals."""
        alleles_of, starts = self._alleles_of, self._starts
        for codes in column_blocks(tiles, CELLS_AT_ONCE // alleles_of.shape[1]):
            block = alleles_of[codes]
            words = np.where(block >= 0, block + starts[:-1, None], -1).astype(np.int32)
            found = read_table(count_answers(words.reshape(len(block), -1), int(starts[-1])))
            yield Piece(found.indptr, found.words, tightest(found.values))


def _people(source: Source, line: int, titles: list[str]) -> list[str]:
    if titles[:9] != _FIRST or len(titles) < 10:
        problem = "no genotypes: the titles must be #CHROM to FORMAT, then individuals"
        raise source.error(problem, line)
    return titles[9:]


def _calls(source: Source, line: int, fields: list[str], calls: Codes) -> Array:
    """Return the code of each individual's call, (I,) int16."""
    keys = fields[8].split(":")
    if "GT" not in keys:
        raise source.error("no genotypes: FORMAT has no GT", line)
    place = keys.index("GT")
    if len(keys) == 1:
        found = fields[9:]
    elif place == 0:
        found = [cell.partition(":")[0] for cell in fields[9:]]
    else:
        found = [(cell.split(":") + [""] * len(keys))[place] for cell in fields[9:]]
    before = len(calls)
    result = np.fromiter(map(calls.__getitem__, found), np.int32, len(found))
    n_alleles = 1 + len([a for a in fields[4].split(",") if a != "."])
    new = list(calls)[before:] if len(calls) > before else []
    for call in new:
        if len(call) > 5 * MOST_ALLELES:
            raise source.error(f"a genotype of more than {MOST_ALLELES:,} alleles", line)
        if call and _CALL.fullmatch(call) is None:
            raise source.error(f"genotype {shown(call)} is not read; expected e.g. 0/1", line)
    if len(calls) > MANY_CODES:
        raise source.error("too many different genotypes", line)
    largest = max(
        (bounded_int(a) for call in set(found) for a in re.findall(r"\d+", call)), default=0
    )
    if largest >= n_alleles:
        raise source.error(f"allele {largest}, but the variant has {n_alleles}", line)
    return result.astype(np.int16)


def _alleles_in(call: str) -> list[int]:
    return [bounded_int(a) for a in re.findall(r"\d+", call)]


def _distinct_variants(names: list[str]) -> list[str]:
    """Return names of variants; those that repeat get a number."""
    if len(set(names)) == len(names):
        return names
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name}.{seen[name]}")
    return result
