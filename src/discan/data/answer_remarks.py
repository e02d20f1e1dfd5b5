# SPDX-License-Identifier: BSD-3-Clause
"""Say what was done with the columns of a table of answers, in as few remarks as possible."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence

from discan.data.alleles import split_cell
from discan.data.bins import bin_names
from discan.data.columns import Column, near_duplicates, number
from discan.data.counted import are_questions
from discan.data.roles import ENOUGH_ROWS, Plan, key
from discan.errors import Argument, shown

__all__ = ["FRAME", "remark_on_columns", "remark_on_values"]

log = logging.getLogger("discan")

FRAME = "the data frame"
LISTED = 8  # titles in a remark
MANY_CATEGORIES = 50
MANY_SNPS = 20
FEW_ROWS_EACH = 10.0

_ABSENT = set(
    "notvoting nv absent excused novote didnotvote noanswer notanswered noresponse dontknow dk "
    "refused refusal notapplicable nichtabgegeben".split()
)
_CODES = set(
    map(float, "-7 -8 -9 -77 -88 -97 -98 -99 -999 77 88 97 98 99 777 888 999 9999".split())
)
"""Codes of missing answers: negative, or far above the others."""
FAR_ABOVE = 5.0
GAP = 3  # between the answers and 7, 8 or 9, which are then codes as well
FEW_TITLES = 3  # after answers that may mean the same
_BASES, _MIXED = set("ACGTN-"), set("RYSWKM")
_ANSWERS, _METADATA = Argument("answers", "NAME"), Argument("metadata", "NAME")
_BINS = Argument("bins", 5)


def remark_on_columns(
    origin: str, plan: Plan, reasons: Mapping[str, str], by_title: Mapping[str, Column]
) -> None:
    """Say which columns describe the rows, name them, or hold several answers per cell."""
    if plan.document is not None:
        untitled = plan.document == "column 1"
        what = "the first column" if untitled else f"column {shown(plan.document)}"
        log.info("%s: %s names the rows", origin, what)
    if reasons:
        by_reason: dict[str, list[str]] = {}
        for title, reason in reasons.items():
            by_reason.setdefault(reason, []).append(title)
        parts = [f"{_listed(titles)} ({reason})" for reason, titles in by_reason.items()]
        one = len(reasons) == 1
        what = "1 column describes" if one else f"{len(reasons)} columns describe"
        count = "is not counted" if one else "are not counted"
        remark = "%s: %s the rows and %s: %s; to choose others use %s or %s"
        arguments = [origin, what, count, ", ".join(parts), _ANSWERS, _METADATA]
        if any(_is_numeric(by_title.get(title)) for title in reasons):
            remark += ", and to cut numbers into intervals %s"
            arguments.append(_BINS)
        log.info(remark + (" of discan.read" if origin == FRAME else ""), *arguments)
    _remark_on_cells(origin, plan, by_title)
    for title, edges in plan.bins.items():
        numbers = by_title[title].numbers
        whole = numbers is not None and all(float(n).is_integer() for n in (*numbers, *edges))
        names = ", ".join(bin_names(edges, whole))
        log.info("%s: column %s is cut into intervals: %s", origin, shown(title), names)


def _is_numeric(column: Column | None) -> bool:
    """Tell whether a column holds numbers that do not name the rows."""
    if column is None or column.numbers is None or column.is_constant:
        return False
    return not column.is_distinct or any(mark in v for v in column.values for mark in ".,")


def _remark_on_cells(origin: str, plan: Plan, by_title: Mapping[str, Column]) -> None:
    """Say which cells hold several answers."""
    kinds: dict[str, list[str]] = {}
    answers = set(plan.answers)
    for title, separators in plan.split.items():
        if title in answers:
            kinds.setdefault(separators, []).append(title)
    for separators, titles in kinds.items():
        found = (cell for title in titles for cell in by_title[title].values)
        cell = next((c for c in found if len(split_cell(c, separators)) > 1), None)
        if cell is not None:
            what = "several answers" if separators in ";," else "alleles"
            parts = " and ".join(split_cell(cell, separators))
            where = f"column {shown(titles[0])}" if len(titles) == 1 else f"{len(titles)} columns"
            log.info("%s: %s in %s is read as %s: %s", origin, shown(cell), where, what, parts)
    if plan.joined:
        locus, pair = next(iter(plan.joined.items()))
        remark = "%s: %d loci have their alleles in two columns each, e.g. %s in %s"
        log.info(remark, origin, len(plan.joined), shown(locus), _listed(pair))
    if plan.no_allele:
        marks = ", ".join(map(shown, plan.no_allele))
        log.info("%s: alleles %s are read as missing", origin, marks)


def remark_on_values(
    origin: str, columns: Sequence[Column], marks: Counter[str], plan: Plan
) -> None:
    """Say which cells are missing, and which categories are suspicious."""
    if marks:
        listed = ", ".join(f"{shown(mark)} ({size:,})" for mark, size in marks.most_common(LISTED))
        log.info("%s: cells read as missing, besides empty ones: %s", origin, listed)
    _remark_on_absence(origin, columns, marks, plan)
    answers = set(plan.answers)
    plain = [c for c in columns if c.title in answers and c.title not in plan.bins]
    counted = [c for c in plain if c.title not in plan.split and not plan.joined]
    if alike := _alike(counted):
        texts = [
            f"{'/'.join(map(shown, same[:LISTED]))} in {_listed(titles, FEW_TITLES)}"
            for same, titles in alike[:LISTED]
        ]
        log.warning(
            "%s: answers that may mean the same are counted apart: %s; correct them, or use %s "
            "to join those that differ only in case, spaces or punctuation",
            origin,
            "; ".join(texts),
            Argument("merge", True),
        )
    many = [c for c in counted if _has_many(c)]
    if many:
        texts = [f"{shown(c.title)} ({len(c.values):,})" for c in many[:LISTED]]
        remark = "%s: columns with very many different answers: %s; %s leaves them out"
        use = Argument("metadata", ",".join(c.title for c in many[:LISTED]))
        log.warning(remark, origin, ", ".join(texts), use)
    if origin != FRAME and len(counted) >= MANY_SNPS and _are_dosages(counted):
        remark = "%s: 0, 1 and 2 are answers here; if they count alleles, use %s"
        log.warning(remark, origin, Argument("format", "dosages"))
    if len(counted) >= MANY_SNPS and (mixed := _mixed_bases(counted)):
        log.warning(
            "%s: %s are answers of their own here; if they stand for two bases, write these (A/G "
            "for R), or SNPs in rows, as format %s has them",
            origin, ", ".join(mixed), shown("hapmap"),
        )  # fmt: skip
    empty = [c.title for c in columns if not c.values]
    if empty:
        remark = "%s: %s without any answer left out: %s"
        what = "1 column" if len(empty) == 1 else f"{len(empty)} columns"
        log.warning(remark, origin, what, _listed(empty))
    single = [c.title for c in counted if len(c.values) == 1]
    if single:
        remark = "%s: every answer is the same, apart from missing cells, in %s"
        log.info(remark, origin, _listed(single))


def _are_dosages(columns: Sequence[Column]) -> bool:
    """Tell whether all columns hold 0, 1 and 2 and nothing else, below no titles of questions."""
    if are_questions([column.title for column in columns]):
        return False
    found = {value for column in columns for value in column.values}
    return {"0", "1", "2"} <= found <= {"0", "1", "2", "9", "-1", "-9"}


def _mixed_bases(columns: Sequence[Column]) -> list[str]:
    """Return the letters that may stand for two bases, if all columns hold letters of bases."""
    found = {value for column in columns for value in column.values}
    mixed = found & _MIXED
    return sorted(mixed) if len(found & _BASES) > 1 and found <= _BASES | _MIXED else []


def _alike(columns: Sequence[Column]) -> list[tuple[list[str], list[str]]]:
    """Return sets of answers that may mean the same, each with the titles of its columns."""
    found: list[tuple[set[str], list[str]]] = []
    for column in columns:
        for same in map(set, near_duplicates(column)):
            titles = [column.title]
            for other in [pair for pair in found if pair[0] & same]:
                found.remove(other)
                same |= other[0]
                titles = list(dict.fromkeys(other[1] + titles))
            found.append((same, titles))
    return [(sorted(same), titles) for same, titles in found]


def _remark_on_absence(
    origin: str, columns: Sequence[Column], marks: Counter[str], plan: Plan
) -> None:
    """Say that "Not Voting", "Refused", 99 and the like are counted as answers."""
    sizes: Counter[str] = Counter()
    alleles = {title for pair in plan.joined.values() for title in pair}
    answers = set(plan.answers) - alleles - set(plan.bins)
    asked = [column for column in columns if column.title in answers]
    ballots = _roll_call_codes(asked)
    for column in asked:
        if column.title not in plan.split or not plan.no_allele:
            codes = [*_missing_codes(column), *ballots]
            for value, size in zip(column.values, column.counts.tolist(), strict=True):
                if key(value) in _ABSENT or value in codes:
                    sizes[value] += size
    if sizes:
        listed = ", ".join(f"{shown(value)} ({size:,})" for value, size in sizes.items())
        use = Argument("missing", ",".join([*sizes, *marks]))  # the given marks replace the usual
        log.info("%s: counted as answers: %s; to read them as missing use %s", origin, listed, use)


def _roll_call_codes(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the codes of absence of roll calls, if 1 (yea) and 6 (nay) are the commonest."""
    sizes: Counter[str] = Counter()
    for column in columns:
        sizes.update(dict(zip(column.values, column.counts.tolist(), strict=True)))
    is_vote = all(len(value) == 1 and value.isdecimal() for value in sizes)
    commonest = {value for value, _ in sizes.most_common(2)}
    return ("0", "7", "8", "9") if is_vote and commonest == {"1", "6"} else ()


def _missing_codes(column: Column) -> list[str]:
    """Return the codes of missing answers among numbers, such as 99 among 1 to 5, or 9 to 2."""
    found = {value: number(value) for value in column.values}
    usual = [n for n in found.values() if n is not None and n not in _CODES]
    if len(usual) < 2 or min(usual) < 0:
        return []
    limit = max(usual) * FAR_ABOVE
    codes = [v for v, n in found.items() if n in _CODES and n is not None and (n < 0 or n > limit)]
    digits = sorted(value for value in column.values if len(value) == 1 and value.isdecimal())
    if len(digits) == len(column.values) and len(column.codes) >= ENOUGH_ROWS:
        gap = next((n for n in range(2, len(digits)) if _are_apart(*digits[n - 1 : n + 1])), None)
        codes += [] if gap is None else digits[gap:]
    return codes


def _are_apart(answer: str, code: str) -> bool:
    """Tell whether no answer is near a digit that may be a code."""
    return code in "789" and int(code) - int(answer) >= GAP


def _has_many(column: Column) -> bool:
    if column.numbers is not None or len(column.values) <= MANY_CATEGORIES:
        return False
    return column.n_present < FEW_ROWS_EACH * len(column.values) or len(column.values) > 1000


def _listed(titles: Sequence[str], most: int = LISTED) -> str:
    more = f" and {len(titles) - most} more" if len(titles) > most else ""
    return ", ".join(map(shown, titles[:most])) + more
