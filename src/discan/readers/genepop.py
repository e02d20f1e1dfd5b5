# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes in the format of GENEPOP: alleles of two or three digits, in populations."""

from __future__ import annotations

import logging
import re
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from discan.data.columns import Codes
from discan.data.corpus import Corpus
from discan.errors import shown
from discan.readers.allele_codes import Exposures, allele_corpus
from discan.readers.guess import reader
from discan.readers.source import Source

__all__ = ["read_genepop"]

log = logging.getLogger("discan")

_ENDINGS = (".gen", ".genepop", ".gp")
_POP = re.compile(r"\s*pop\s*,?\s*", re.IGNORECASE)
_PERSON = re.compile(r"[^,]*,\s*\d{2,6}(\s+\d{2,6})*\s*")


class _Person(NamedTuple):
    name: str
    block: int
    genotypes: list[str]


def _is_genepop(source: Source) -> bool:
    lines = source.head.splitlines()[1:]
    place = next((n for n, line in enumerate(lines) if _POP.fullmatch(line)), None)
    return place is not None and any(map(_PERSON.fullmatch, lines[place + 1 : place + 3]))


@reader(
    "genepop",
    "GENEPOP genotypes, alleles of two or three digits, 0 if missing; each locus a group",
    endings=_ENDINGS,
    sniff=_is_genepop,
)
def read_genepop(source: Source, exposures: Exposures = True) -> Corpus:
    """Read a file of GENEPOP; the population of each individual is kept as metadata."""
    loci, people = _read(source)
    digits = _digits(source, people)
    alleles = Codes()
    ploidy = max(len(cell) for person in people for cell in person.genotypes) // digits
    codes = np.full((len(people), len(loci), ploidy), -1, dtype=np.int32)
    for i, person in enumerate(people):
        for j, cell in enumerate(person.genotypes):
            for p in range(0, len(cell), digits):
                allele = cell[p : p + digits].lstrip("0")
                if allele:
                    codes[i, j, p // digits] = alleles[allele]
    blocks = _populations(people)
    remark = "%s: %d individuals in %d populations, %d loci, alleles of %d digits"
    log.info(remark, source.path, len(people), people[-1].block + 1, len(loci), digits)
    names = [person.name for person in people]
    return allele_corpus(
        source, names, loci, alleles, codes, "=", exposures, {"population": blocks}
    )


def _read(source: Source) -> tuple[list[str], list[_Person]]:
    """Read the names of the loci and the individuals."""
    lines = iter(source.lines())
    next(lines, None)  # a title
    loci: list[str] = []
    people: list[_Person] = []
    block = -1
    for number, text in lines:
        if _POP.fullmatch(text):
            block += 1
        elif not text.strip():
            continue
        elif block < 0:
            loci += [name.strip() for name in text.split(",") if name.strip()]
        else:
            people.append(_person(source, number, text, block, len(loci)))
    if not loci or not people:
        raise source.error("not a file of GENEPOP: title, names of loci, Pop, and individuals")
    repeated = next((name for n, name in enumerate(loci) if name in loci[:n]), None)
    if repeated is not None:
        raise source.error(f"two loci are named {shown(repeated)}; rename one")
    return loci, people


def _person(source: Source, number: int, text: str, block: int, n_loci: int) -> _Person:
    name, comma, rest = text.partition(",")
    cells = rest.split()
    if not comma:
        raise source.error("expected a name, a comma and genotypes", number)
    if len(cells) != n_loci:
        raise source.error(f"{len(cells)} genotypes, expected {n_loci}", number)
    wrong = next((cell for cell in cells if not cell.isdecimal()), None)
    if wrong is not None:
        raise source.error(f"genotype {shown(wrong)} is not of digits; correct it", number)
    return _Person(name.strip() or f"individual {number}", block, cells)


def _digits(source: Source, people: list[_Person]) -> int:
    """Return the number of digits of an allele: two or three, diploid or haploid."""
    sizes = {len(cell) for person in people for cell in person.genotypes}
    if sizes <= {2, 4}:
        return 2
    if sizes <= {3, 6}:
        return 3
    raise source.error(
        f"genotypes of {', '.join(map(str, sorted(sizes)))} digits; all must have 4 (or 2 for one "
        "allele), or all 6 (or 3)"
    )


def _populations(people: list[_Person]) -> list[str]:
    """Name each block: by what the names of its individuals begin with, else by number."""
    blocks: list[list[str]] = [[] for _ in range(people[-1].block + 1)]
    for person in people:
        blocks[person.block].append(person.name)
    starts = [re.sub(r"[\s\d_.-]+$", "", _common_start(names)) for names in blocks]
    whole = [names[0] if len(set(names)) == 1 and len(names) > 1 else "" for names in blocks]
    names = [one or start for one, start in zip(whole, starts, strict=True)]
    if not all(names) or len(set(names)) < len(names):
        names = [f"population {n}" for n in range(1, len(blocks) + 1)]
    return [names[person.block] for person in people]


def _common_start(names: list[str]) -> str:
    """Return what all names begin with."""
    pairs = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in pairs)
