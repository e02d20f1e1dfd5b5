# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes in the format of STRUCTURE: one or two rows per individual."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Annotated, NamedTuple

import numpy as np

from discan.data.alleles import marks_among
from discan.data.columns import Codes
from discan.data.corpus import Corpus
from discan.data.intake import bounded_int
from discan.data.roles import key
from discan.errors import Argument, InputError, shown
from discan.readers.allele_codes import Exposures, allele_corpus
from discan.readers.guess import reader
from discan.readers.source import Source
from discan.typing import Array

__all__ = ["read_structure"]

log = logging.getLogger("discan")

_ENDINGS = (".str", ".stru", ".structure")
_LABELS = set("ind indiv individual individuals id label name sample sampleid genotype".split())
_BEFORE = _LABELS | set(
    "pop pops popdata population populations popid popflag flag locdata location phenotype pheno "
    "site region extra".split()
)
MOST_BEFORE = 7  # columns before the genotypes
FEWEST_ROWS, FEWEST_CELLS = 4, 10  # of a .txt that may be a file of STRUCTURE

Line = tuple[int, list[str]]


class _Shape(NamedTuple):
    """What a file is like: names of loci, rows per individual, columns before the genotypes."""

    loci: list[str]
    n_rows: int
    n_before: int
    titles: list[str]


def _is_structure(source: Source) -> bool:
    """Tell STRUCTURE's files: by their ending, or .txt by rows of codes with -9 among them."""
    if source.is_folder or not source.name.endswith(".txt"):
        return source.name.endswith(_ENDINGS)
    rows = [line.split() for line in source.head.splitlines()[:-1] if line.strip()]
    body = [row for row in rows if len(row) == len(rows[-1])]
    if len(body) < max(FEWEST_ROWS, len(rows) - 2) or len(body[0]) < FEWEST_CELLS:
        return False
    codes = [cell for row in body[1:] for cell in row[MOST_BEFORE:]]
    return "-9" in codes and all(map(_is_code, codes))


@reader(
    "structure",
    "STRUCTURE genotypes, one or two rows per individual, -9 if missing; each locus a group",
    endings=_ENDINGS,
    sniff=_is_structure,
)
def read_structure(
    source: Source,
    rows: Annotated[
        int | None, "Rows per individual, 1 or 2; told by the content if not given."
    ] = None,
    before: Annotated[
        int | None,
        "Number of columns before the genotypes (label, population, ...); told by the content if "
        "not given.",
    ] = None,
    missing: Annotated[
        str | None, "Mark of a missing allele; by default -9, or what looks like one."
    ] = None,
    exposures: Exposures = True,
) -> Corpus:
    """Read a file of STRUCTURE; columns before the genotypes name and describe individuals."""
    if rows not in (None, 1, 2):
        raise InputError("{}", argument="rows", value=rows, use={"rows": (1, 2)})
    heading, body = _parts(source)
    shape = _shape(source, heading, body, rows, before)
    n_loci = len(shape.loci)
    alleles = Codes()
    cells = [row[shape.n_before :] for _, row in body]
    flat = np.array([[alleles[cell] for cell in row] for row in cells], dtype=np.int32)
    if shape.n_rows == 2:
        codes = flat.reshape(-1, 2, n_loci).transpose(0, 2, 1)
    else:
        codes = flat.reshape(-1, n_loci, flat.shape[1] // n_loci)
    marks = marks_among(alleles.keys()) if missing is None else (str(missing),)
    if missing is None and "0" not in marks and _only_in_pairs(codes, alleles.get("0", -1)):
        marks = (*marks, "0")
    absent = [alleles.pop(mark) for mark in marks if mark in alleles]
    codes = np.where(np.isin(codes, absent), -1, codes)
    if set(marks) - {"-9"} and missing is None:
        log.info("%s: alleles %s are read as missing", source.path, ", ".join(map(shown, marks)))
    people = [row[: shape.n_before] for _, row in body[:: shape.n_rows]]
    names, metadata = _describe(people, shape)
    if not heading and rows is None and not shape.n_before and len(body) % 2 == 0:
        other = Argument("rows", 3 - shape.n_rows)
        remark = "%s: no labels tell the rows of an individual; if there are not %d, use %s"
        log.warning(remark, source.path, shape.n_rows, other)
    log.info(
        "%s: %d individuals, %d loci, %s each; columns before the genotypes: %s",
        source.path, len(people), n_loci, "2 rows" if shape.n_rows == 2 else "1 row",
        ", ".join(shape.titles) or "none",
    )  # fmt: skip
    return allele_corpus(source, names, shape.loci, alleles, codes, "=", exposures, metadata)


def _only_in_pairs(codes: Array, code: int) -> bool:
    """Tell whether an allele is never beside another one, though others are: it is none."""
    is_code = codes == code
    mixed = (codes[..., :1] != codes).any(axis=2)
    return bool(is_code.any() and mixed.any() and not (mixed & is_code.any(axis=2)).any())


def _parts(source: Source) -> tuple[list[Line], list[Line]]:
    """Return the lines before the individuals, and those of individuals, as cells."""
    lines = [(number, text) for number, text in source.lines() if text.strip()]
    lines = lines[next((n for n, (_, text) in enumerate(lines) if text[0] != "#"), 0) :]  # remarks
    tabbed = all("\t" in text for _, text in lines[1:]) and len(lines) > 1
    split = [(number, text.split()) for number, text in lines]
    if tabbed:  # a label may hold spaces, and a heading may begin with empty cells
        wide = [(number, [c.strip() for c in text.split("\t")]) for number, text in lines]
        widths = Counter(len(cells) for _, cells in wide[1:])
        if all(all(cells) for _, cells in wide[1:]) and len(widths) <= 2:
            split = [(number, [c for c in cells if c]) for number, cells in wide]
    if len(split) < 2:
        raise source.error("too few lines for a file of STRUCTURE")
    width = Counter(len(cells) for _, cells in split[1:]).most_common(1)[0][0]
    start = next(n for n, (_, cells) in enumerate(split) if len(cells) == width)
    first = split[start][1]
    if start == 0 and _is_heading(first, split[1][1]):
        start = 1
    body = split[start:]
    for number, cells in body:
        if len(cells) != width:
            raise source.error(f"{len(cells)} cells, expected {width}", number)
    return split[:start], body


def _is_heading(first: list[str], second: list[str]) -> bool:
    """Tell whether a first row as wide as the others holds titles."""
    words = sum(not _is_code(cell) for cell in first)
    return words > sum(not _is_code(cell) for cell in second) and words >= 0.5 * len(first)


def _is_code(cell: str) -> bool:
    return cell.lstrip("+-").isdecimal()


def _shape(
    source: Source, heading: list[Line], body: list[Line], rows: int | None, before: int | None
) -> _Shape:
    """Tell the shape of a file from its heading and its rows."""
    titles = heading[0][1] if heading else []
    width = len(body[0][1])
    # the heading may name the columns before the genotypes, too
    n_titled = next((n for n, t in enumerate(titles) if key(t) not in _BEFORE), len(titles))
    if len(titles) == width and before is not None:
        n_titled = before
    front, titles = titles[:n_titled], titles[n_titled:]
    if front and before is None:
        before = n_titled
    n_rows = rows or _rows_per_individual(body, width - len(front), titles)
    if before is None:
        n_loci = len(titles)
        before = width - n_loci * (1 if n_rows == 2 else 2) if n_loci else None
        if before is not None and before < 0 and n_rows == 1:
            before = width - n_loci  # both columns of a locus have a title
        if before is None:
            before = _columns_before(body, n_rows, width)
    n_cells = width - before
    per_locus = 1 if n_rows == 2 else 2
    if before < 0 or before > MOST_BEFORE or n_cells % per_locus or n_cells == 0:
        raise source.error(
            f"{width} columns, {len(titles)} names of loci and {n_rows} rows per individual do not "
            "go together",
            body[0][0],
            use={"rows": (1, 2), "before": ...},
        )
    if len(body) % n_rows:
        raise source.error(f"{len(body)} rows cannot be {n_rows} per individual", use={"rows": 1})
    n_loci = n_cells // per_locus
    loci = titles[::2] if len(titles) == 2 * n_loci else titles
    if titles and len(loci) != n_loci:
        raise source.error(
            f"{len(titles)} names of loci for {n_loci} loci", heading[0][0], use={"before": ...}
        )
    loci = loci or [f"locus {n}" for n in range(1, n_loci + 1)]
    if n_rows == 2:
        _check_pairs(source, body, before)
    people = [row for _, row in body[::n_rows]]
    return _Shape(loci, n_rows, before, front or _titles_before(people, before))


def _rows_per_individual(body: list[Line], width: int, loci: list[str]) -> int:
    """Tell whether each individual has two rows: names of loci tell, or labels in pairs."""
    labels = [cells[0] for _, cells in body]
    paired = len(labels) % 2 == 0 and labels[::2] == labels[1::2]
    if loci and paired and 2 * len(set(labels)) == len(labels):
        return 2
    if loci and (width >= 2 * len(loci) or loci[::2] == loci[1::2] or len(labels) % 2):
        return 1
    if loci:  # labels that all differ have one row each
        return 1 if width > len(loci) and len(set(labels)) == len(labels) else 2
    if paired and len(set(labels)) > 1:
        return 2
    return 2 if _misses_by_rows(body) else 1


def _misses_by_rows(body: list[Line]) -> bool:
    """Tell whether what is missing is missing in two rows, and not in two columns, side by side."""
    if len(body) % 2 or not all(_is_code(cell) for _, cells in body for cell in cells):
        return False
    missing = np.array([[cell == "-9" for cell in cells] for _, cells in body])
    by_rows = bool((missing[::2] == missing[1::2]).all())
    even = missing.shape[1] % 2 == 0
    by_columns = even and bool((missing[:, ::2] == missing[:, 1::2]).all())
    return bool(missing.any()) and by_rows and not by_columns


def _columns_before(body: list[Line], n_rows: int, width: int) -> int:
    """Tell how many columns stand before the genotypes, without names of loci."""
    columns = list(zip(*(cells for _, cells in body), strict=True))
    if n_rows == 2:
        same = (column[::2] == column[1::2] for column in columns)
        return next((n for n, is_same in enumerate(same) if not is_same), width)
    found = 0
    first = columns[0]
    if any(not _is_code(cell) for cell in first) or len(set(first)) == len(first):
        found = 1
    elif not _is_allele_column(first):
        found = 1
    while found < min(MOST_BEFORE, width) and not _is_allele_column(columns[found]):
        found += 1
    return found if (width - found) % 2 == 0 else found + 1


def _is_allele_column(column: tuple[str, ...]) -> bool:
    """Tell whether a column may hold alleles: codes above 9, or -9 among them."""
    return all(map(_is_code, column)) and ("-9" in column or max(map(bounded_int, column)) > 9)


def _check_pairs(source: Source, body: list[Line], before: int) -> None:
    for (_, one), (number, two) in zip(body[::2], body[1::2], strict=True):
        if before and one[0] != two[0]:
            problem = f"label {shown(two[0])} after {shown(one[0])}: an individual has two rows"
            raise source.error(problem, number, use={"rows": 1})


def _titles_before(people: list[list[str]], before: int) -> list[str]:
    """Name the columns before the genotypes: label, population, and numbers for others."""
    titles = ["label", "population", "flag", *(f"column {n}" for n in range(4, 20))]
    if before and len({row[0] for row in people}) < 0.5 * len(people):
        if all(_is_code(row[0]) for row in people):
            titles = titles[1:]  # no labels
    return titles[:before]


def _describe(people: list[list[str]], shape: _Shape) -> tuple[list[str], dict[str, list[str]]]:
    """Return names of individuals, and the other columns before the genotypes."""
    columns = dict(zip(shape.titles, zip(*people, strict=True), strict=True)) if people[0] else {}
    label = next((t for t in columns if key(t) in _LABELS), None)
    names = list(columns.pop(label)) if label is not None else [
        str(n) for n in range(1, len(people) + 1)
    ]  # fmt: skip
    facts = {title: list(column) for title, column in columns.items() if len(set(column)) > 1}
    pop = next((t for t in facts if key(t) in ("pop", "pops", "popdata", "populations")), None)
    if pop is not None:
        facts = {("population" if title == pop else title): c for title, c in facts.items()}
    return names, facts
