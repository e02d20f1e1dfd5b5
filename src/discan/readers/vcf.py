# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes in VCF, the variant call format, packed or not."""

from __future__ import annotations

import logging
import re
from collections import Counter
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from discan.data.answers import count_answers
from discan.data.columns import Codes
from discan.data.corpus import Corpus
from discan.data.intake import bounded_int, offsets
from discan.data.nouns import ALLELES
from discan.errors import Argument, shown
from discan.readers.allele_codes import CELLS_AT_ONCE, Exposures, distinct_names
from discan.readers.guess import reader
from discan.readers.source import Source
from discan.typing import Array

__all__ = ["read_vcf"]

log = logging.getLogger("discan")

_FIRST = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
_CALL = re.compile(r"(\.|\d{1,4})([/|](\.|\d{1,4}))*")
_PASSED = {"PASS", ".", ""}
MANY_CODES = 2**15
MOST_ALLELES = 2**10
"""In a call: individuals have a few, pools of individuals some hundreds."""


@reader(
    "vcf",
    "VCF genotypes, packed or not; each variant a group with one word per allele",
    endings=(".vcf",),
    sniff=lambda source: source.head.startswith("##fileformat=VCF"),
)
def read_vcf(
    source: Source,
    passed: Annotated[bool, "Whether to leave out variants that failed a filter."] = False,
    exposures: Exposures = True,
) -> Corpus:
    """Read a VCF: one individual per document, one token per allele of a call."""
    people: list[str] = []
    calls = Codes()
    names: list[str] = []
    alleles: list[list[str]] = []
    codes: list[Array] = []
    n_failed = 0
    for line, text in source.lines():
        if text.startswith("##") or not text:
            continue
        fields = text.split("\t")
        if text.startswith("#"):
            people = _people(source, line, fields)
            continue
        if not people:
            raise source.error("no line of titles, #CHROM POS ID ...", line)
        if len(fields) != 9 + len(people):
            problem = f"{len(fields)} columns, expected {9 + len(people)}; is it cut short?"
            raise source.error(problem, line)
        if fields[6] not in _PASSED:
            n_failed += 1
            if passed:
                continue
        codes.append(_calls(source, line, fields, calls))
        names.append(fields[2] if fields[2] not in (".", "") else f"{fields[0]}:{fields[1]}")
        alleles.append([fields[3], *(a for a in fields[4].split(",") if a != ".")])
    if not codes:
        raise source.error("holds no genotypes of variants")
    if n_failed and not passed:
        remark = "%s: %d of %d variants failed a filter and are read; %s leaves them out"
        log.info(remark, source.path, n_failed, len(names), Argument("passed", True))
    return _corpus(source, people, names, alleles, np.stack(codes, axis=1), calls, exposures)


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


def _corpus(
    source: Source,
    people: list[str],
    names: list[str],
    alleles: list[list[str]],
    codes: Array,
    calls: Codes,
    exposures: bool,
) -> Corpus:
    """Make the corpus of calls (individuals, variants)."""
    parts = [[bounded_int(a) for a in re.findall(r"\d+", call)] for call in calls]
    ploidy = max(1, max(map(len, parts)))
    alleles_of = np.full((len(parts), ploidy), -1, dtype=np.int32)
    for n, found in enumerate(parts):
        alleles_of[n, : len(found)] = found
    starts = offsets(np.array([len(found) for found in alleles]))
    seen = np.asarray((alleles_of >= 0).any(axis=1))[codes]
    if not seen.any():
        raise source.error("every genotype is missing")
    step = max(1, CELLS_AT_ONCE // (len(names) * ploidy))
    tables: list[Any] = []
    for first in range(0, len(people), step):
        block = alleles_of[codes[first : first + step]]
        words = np.where(block >= 0, block + starts[:-1, None], -1).astype(np.int32)
        tables.append(count_answers(words.reshape(len(block), -1), int(starts[-1])))
    _remark(source, parts, alleles, seen)
    names = _distinct_variants(names)
    return source.corpus(
        sparse.vstack(tables, format="csr"),
        groups=np.repeat(np.arange(len(names)), np.diff(starts)),
        exposures=None if not exposures or seen.all() else seen,
        document_names=distinct_names(people),
        word_names=[f"{n}:{a}" for n, found in zip(names, alleles, strict=True) for a in found],
        group_names=names,
        nouns=ALLELES,
    )


def _remark(source: Source, parts: list[list[int]], alleles: list[list[str]], seen: Array) -> None:
    several = sum(len(found) > 2 for found in alleles)
    missing = 1.0 - float(seen.mean())
    ploidies = sorted({len(found) for found in parts if found})
    log.info(
        "%s: %d individuals, %d variants (%d of them with more than two alleles), %.2g %% of the "
        "calls missing, %s alleles per call",
        source.path, seen.shape[0], seen.shape[1], several, 100 * missing,
        " or ".join(map(str, ploidies)),
    )  # fmt: skip


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
