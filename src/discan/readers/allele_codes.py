# SPDX-License-Identifier: BSD-3-Clause
"""Make a corpus of genotypes: individuals by loci, each with its alleles as codes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from discan.data.answers import count_answers
from discan.data.columns import Codes
from discan.data.corpus import Corpus
from discan.data.folders.pieces import Piece
from discan.data.folders.tiles import Tiles
from discan.data.intake import offsets, tightest
from discan.data.nouns import ALLELES
from discan.readers.source import Source
from discan.typing import Array

__all__ = [
    "CELLS_AT_ONCE", "Exposures", "allele_corpus", "column_blocks", "dense_pieces",
    "distinct_names", "family_facts", "line_blocks",
]  # fmt: skip

log = logging.getLogger("discan")

CELLS_AT_ONCE = 2**20

Exposures = Annotated[bool, "Whether an individual has exposure 0 to the loci that were not read."]


def allele_corpus(
    source: Source,
    people: Sequence[str],
    loci: Sequence[str],
    alleles: Codes,
    codes: Array,
    separator: str,
    exposures: bool = True,
    metadata: Mapping[str, Any] | None = None,
) -> Corpus:
    """Count alleles; each locus is a group, and each of its alleles a word.

    Parameters
    ----------
    source : Source
    people : (I,) names
    loci : (L,) names
    alleles : codes of all alleles, whatever their locus
    codes : (I, L, P) int array
        The alleles of each individual at each locus; -1 if missing.
    separator : what stands between locus and allele in the name of a word
    exposures : whether an individual has exposure 0 where all its alleles are missing
    metadata : columns that describe the individuals
    """
    if not len(people) or not len(loci):
        raise source.error(f"no {'loci' if len(people) else 'individuals'}")
    seen = np.asarray((codes >= 0).any(axis=2))
    if not seen.any():
        raise source.error("every genotype is missing")
    names = sorted(alleles, key=lambda name: (not name.isdecimal(), len(name), name))
    order = np.array([alleles[name] for name in names], dtype=np.int64)
    present = np.stack([(codes == a).any(axis=(0, 2)) for a in order])  # (alleles, loci)
    used = np.asarray(present.any(axis=0))
    sizes = present.sum(axis=0)
    starts = offsets(sizes)[:-1]
    place = np.full((1 + int(order.max()), len(loci)), -1, dtype=np.int32)
    place[order] = np.where(present, starts + np.cumsum(present, axis=0) - 1, -1)
    n_words = int(sizes.sum())
    step = max(1, CELLS_AT_ONCE // (codes.shape[1] * codes.shape[2]))
    columns = np.arange(len(loci))[:, None]
    parts = []
    for first in range(0, len(people), step):
        block = codes[first : first + step]
        words = np.where(block >= 0, place[block, columns], -1)
        parts.append(count_answers(words.reshape(len(block), -1), n_words))
    if not used.all():
        remark = "%s: %d loci without any allele left out, e.g. %s"
        log.warning(remark, source.path, int((~used).sum()), loci[int(np.argmin(used))])
    owned = zip(*np.nonzero(present.T), strict=True)
    words_of = [f"{loci[j]}{separator}{names[n]}" for j, n in owned]
    kept = [name for name, is_used in zip(loci, used, strict=True) if is_used]
    seen = seen[:, used]
    return source.corpus(
        sparse.vstack(parts, format="csr"),
        groups=np.repeat(np.arange(len(kept)), sizes[used]),
        exposures=None if not exposures or seen.all() else seen,
        document_names=distinct_names(people),
        word_names=words_of,
        group_names=kept,
        metadata=metadata,
        nouns=ALLELES,
    )


def column_blocks(tiles: Tiles, cells: int) -> Iterator[Array]:
    """Iterate over codes of individuals (n, L), whose loci are lines, about so many cells each."""
    step = max(1, cells // tiles.n_lines)
    for first in range(0, tiles.width, step):
        yield tiles.columns(first, min(first + step, tiles.width))


def line_blocks(tiles: Tiles, cells: int) -> Iterator[Array]:
    """Iterate over codes of individuals (n, L), which are lines, about so many cells each."""
    step = max(1, cells // tiles.width)
    for part in tiles.parts(0, tiles.width):
        for first in range(0, part.shape[1], step):
            yield np.ascontiguousarray(part[:, first : first + step].T)


def dense_pieces(blocks: Iterable[Array], counts: Callable[[Array], Array]) -> Iterator[Piece]:
    """Iterate over individuals with counts of alleles.

    Parameters
    ----------
    blocks : codes of individuals, (n, L) arrays
    counts : function of codes (n, L) that returns the counts of the alleles of each, (n, L, A)
    """
    for codes in blocks:
        dense = counts(codes).reshape(len(codes), -1)
        found = np.flatnonzero(dense)
        yield Piece(
            indptr=offsets(np.count_nonzero(dense, axis=1)),
            words=(found % dense.shape[1]).astype(np.int32),
            counts=tightest(dense.ravel()[found]),
        )


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return names; those that repeat get a number."""
    times, seen = Counter(names), Counter[str]()
    result = []
    for name in names:
        seen[name] += 1
        result.append(f"{name} ({seen[name]})" if times[name] > 1 else name)
    return result


def family_facts(rows: Sequence[Sequence[str]]) -> dict[str, list[str | None]]:
    """Return what PLINK's first six columns tell: family, sex and phenotype, if they tell any."""
    sexes = {"1": "male", "2": "female"}
    padded = [[*row, "", "", "", "", ""][:6] for row in rows]
    facts: dict[str, list[str | None]] = {
        "family": [row[0] for row in padded],
        "sex": [sexes.get(row[4]) for row in padded],
        "phenotype": [None if row[5] in ("-9", "NA", "") else row[5] for row in padded],
    }
    if [row[0] for row in rows] == [row[1] for row in rows]:
        del facts["family"]  # families of one, named like the individual
    return {title: column for title, column in facts.items() if len(set(column)) > 1}
