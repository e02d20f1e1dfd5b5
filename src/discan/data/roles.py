# SPDX-License-Identifier: BSD-3-Clause
"""Tell which columns of a table are answers, which describe the rows, and how to read each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from discan.data.alleles import allele_digits, allele_marks, allele_pairs, looks_like_alleles
from discan.data.bins import quantile_edges
from discan.data.columns import Column
from discan.data.nouns import ALLELES, ANSWERS, VOTES, Nouns

__all__ = ["DOCUMENT", "WORD", "Plan", "key", "make_plan", "noun_of"]

ENOUGH_ROWS = 10  # fewer rows tell little about a column
NEARLY = 0.9  # of the values are distinct
MANY_NUMBERS = 15  # distinct numbers, above which a column does not hold answers
MANY_VALUES = 20  # the same for dates and texts
MANY_FRACTIONS = 10  # the same for numbers that are not whole
A_BLOCK = 5  # columns with the same answers make a block
PROSE = 4.0  # spaces per value

# Titles as `key` writes them.
NAMES = set(
    "name fullname member membername senator legislator representative deputy judge justice "
    "respondent participant person patient student individual ind indiv animal sample sampleid "
    "sampleno code label bioname title headline mp mep abgeordnete abgeordneter nom nombre naam "
    "namn".split()
)
IDENTIFIERS = set("id key index row number no nr uid uuid docid documentid".split())
DESCRIBING = NAMES | IDENTIFIERS | set(
    "party partyname partycode state stateabbrev district districtcode chamber congress icpsr "
    "cqlabel caucus faction term cluster group class classname target year date country "
    "countrycode memberstate ms epg epgroup politicalgroup groupcode np nationalparty region "
    "constituency riding canton land gender sex fraktion partei parti partido partito wahlkreis "
    "groupe".split()
)  # fmt: skip
DOCUMENT = set(
    "document doc docid documentid user userid username customer customerid visitor visitorid "
    "session sessionid order orderid basket basketid transaction transactionid invoice invoiceno "
    "client clientid member memberid reviewer reviewerid household householdkey sample cell "
    "d".split()
)
WORD = set(
    "word term token wordid feature item itemid artist artistid gene movie movieid product "
    "productid book bookid isbn song songid track trackid business businessid asin sku stockcode "
    "article articleid goods url page".split()
)
_BALLOTS = ({"yea", "nay"}, {"yes", "no"}, {"y", "n"}, {"aye", "no"}, {"aye", "nay"},
            {"for", "against"}, {"in favour", "against"}, {"+", "-"}, {"ja", "nein"},
            {"oui", "non"}, {"pour", "contre"}, {"sí", "no"}, {"si", "no"}, {"ja", "nej"},
            {"ja", "nee"})  # fmt: skip
_PARLIAMENT = set(
    "party partycode senator legislator deputy congress icpsr chamber bill rollcall rollnumber yea "
    "nay yeas nays mep bill fraktion abgeordnete abgeordneter".split()
)
_NOUNS = set(
    "senator legislator member representative deputy judge justice respondent participant person "
    "patient student individual animal sample user customer cell country state judge voter house "
    "household employee bill motion".split()
)


@dataclass(frozen=True)
class Plan:
    """How to read the columns of a table, by their titles; it is kept as JSON.

    Attributes
    ----------
    answers : titles of the columns that are counted
    document : title of the column that names the rows, or None
    split : {title: separators of several answers in a cell, or "3" for three digits each}
    joined : {name of a locus: titles of the columns that hold its alleles}
    no_allele : marks of missing alleles
    bins : {title: limits of intervals of numbers}
    """

    answers: tuple[str, ...] = ()
    document: str | None = None
    split: Mapping[str, str] = field(default_factory=dict)
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    no_allele: tuple[str, ...] = ()
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return asdict(self)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Plan:
        """Return the plan of a JSON object."""
        return cls(
            answers=tuple(given["answers"]),
            document=given.get("document"),
            split=given.get("split", {}),
            joined={name: tuple(titles) for name, titles in given.get("joined", {}).items()},
            no_allele=tuple(given.get("no_allele", ())),
            bins=given.get("bins", {}),
        )


def key(title: str) -> str:
    """Return a title in lower case, letters only."""
    return re.sub(r"[^a-z]", "", title.lower())


def noun_of(title: str) -> str | None:
    """Return what a title such as "Respondent ID" calls the rows; None if it does not."""
    found = re.sub(r"(id|name|no|nr|number|code)$", "", key(title))
    if found in ("roll", "rollcall"):
        return "roll call"
    return found if found in _NOUNS else None


def make_plan(
    columns: Sequence[Column],
    document: str | None,
    has_titles: bool = True,
    n_bins: int | Mapping[str, Any] | None = None,
) -> tuple[Plan, dict[str, str], Nouns]:
    """Decide about every column.

    Parameters
    ----------
    columns : columns that may be answers
    document : title of the column that names the rows, not among them
    has_titles : whether the titles are those of the table, not made up
    n_bins : number of intervals of numbers, for all columns or by title

    Returns
    -------
    plan : Plan
    reasons : {title: why the column is not counted}
    nouns : what rows and answers are called
    """
    joined = allele_pairs(columns)
    paired = {title for titles in joined.values() for title in titles}
    allelic = [c for c in columns if c.title not in paired and looks_like_alleles(c)]
    allelic = allelic if len(allelic) > 1 else []
    split = {c.title: "/|" for c in allelic}
    if not allelic and not joined:
        split = allele_digits(columns)
        allelic = [c for c in columns if c.title in split]
    genetic = paired | set(split)
    bins = _bins(columns, genetic, n_bins)
    reasons: dict[str, str] = {}
    for column in columns:
        if column.title not in genetic and column.title not in bins:
            reason = "not alleles" if genetic else _describes(column)
            if reason:
                reasons[column.title] = reason
    left = [c for c in columns if c.title not in reasons]
    core: set[str] = set()
    if not genetic:
        core, others = _block([c for c in left if c.title not in bins])
        known = DESCRIBING if _are_votes(core) and has_titles else set()
        if _are_votes(core) and (not has_titles or _is_parliament(core, columns, document)):
            known = {key(column.title) for column in others}
        for column in others:
            if key(column.title) in known:
                reasons[column.title] = "unlike the other columns"
        left = [c for c in left if c.title not in reasons]
        plain = [c for c in left if c.title not in bins]
        split |= {c.title: mark for c in plain for mark in ",;" if _holds_several(c, mark)}
    marks = allele_marks([c for c in columns if c.title in genetic], split) if genetic else ()
    plan = Plan(tuple(c.title for c in left), document, split, joined, marks, bins)
    return plan, reasons, _nouns(bool(genetic), core, document, columns)


def _describes(column: Column) -> str:
    """Return why a column describes the rows, or "" if it may be a list of answers."""
    n_present, n_values = column.n_present, len(column.values)
    if column.is_constant:
        return "constant"
    if n_values == 0:
        return ""
    if n_present >= ENOUGH_ROWS and n_values >= NEARLY * n_present:
        return "all different" if n_values == n_present else "nearly all different"
    if column.is_distinct and key(column.title) in NAMES | IDENTIFIERS:
        return "all different"
    numbers = column.numbers
    if numbers is not None:
        whole = bool((np.rint(numbers) == numbers).all())
        return "numbers" if n_values > (MANY_NUMBERS if whole else MANY_FRACTIONS) else ""
    if n_values > MANY_VALUES:
        if column.dates is not None:
            return "dates"
        if column.words_per_value() > PROSE and n_values > 0.3 * n_present:
            return "text"
    return ""


def _bins(
    columns: Sequence[Column], genetic: set[str], wanted: int | Mapping[str, Any] | None
) -> dict[str, list[float]]:
    """Return the limits of intervals of the columns of numbers that are to be cut."""
    if wanted is None:
        return {}
    if not isinstance(wanted, Mapping):
        wanted = {c.title: wanted for c in columns if c.title not in genetic and _is_measured(c)}
    result = {}
    for column in columns:
        size, numbers = wanted.get(column.title), column.numbers
        if size is not None and numbers is not None:
            is_size = isinstance(size, int)
            found = quantile_edges(numbers, column.counts, size) if is_size else map(float, size)
            result[column.title] = sorted(found)
    return result


def _is_measured(column: Column) -> bool:
    """Tell whether a column holds many different numbers that do not name the rows."""
    numbers = column.numbers
    if numbers is None or not _describes(column) or column.is_constant:
        return False
    return not (column.is_distinct and bool((np.rint(numbers) == numbers).all()))


def _block(columns: Sequence[Column]) -> tuple[set[str], list[Column]]:
    """Return the answers that most columns share, and the columns that have none of them.

    Nothing is returned unless most columns make a block, as roll calls do.
    """
    shared = Counter(value.casefold() for c in columns for value in c.values)
    core = {value for value, n in shared.items() if n >= max(A_BLOCK, 0.5 * len(columns))}
    inside = [c for c in columns if any(value.casefold() in core for value in c.values)]
    if len(inside) < max(A_BLOCK, 2 / 3 * len(columns)):
        return set(), []
    titles = {c.title for c in inside}
    return core, [c for c in columns if c.title not in titles and c.values]


def _are_votes(answers: set[str]) -> bool:
    """Tell whether answers are those of votes: yea, nay and others, or codes of one digit."""
    digits = all(len(answer) == 1 and answer.isdecimal() for answer in answers)
    return digits or any(ballot <= answers for ballot in _BALLOTS)


def _is_parliament(core: set[str], columns: Sequence[Column], document: str | None) -> bool:
    """Tell whether votes are those of a parliament: yea and nay, or titles tell."""
    titles = {key(c.title) for c in columns} | {key(document or "")}
    return bool(core & {"yea", "nay", "aye"} or titles & _PARLIAMENT)


def _holds_several(column: Column, mark: str) -> bool:
    """Tell whether cells list answers with a mark between: the same ones in several combinations.

    Commas may belong to an answer ("Yes, often"), so lists with commas must differ in length, and
    all their parts must occur again.
    """
    cells = [[p.strip() for p in v.split(mark) if p.strip()] for v in column.values]
    several = [parts for parts in cells if len(parts) > 1]
    if len(several) < 2 or column.words_per_value() > 20 or column.numbers is not None:
        return False
    uses = Counter(part for parts in cells for part in set(parts))
    listed = {part for parts in several for part in parts}
    again = sum(uses[part] > 1 for part in listed)
    if mark == ",":
        varied = len({len(parts) for parts in cells}) > 1 and len(uses) < len(cells)
        return varied and again == len(listed) and column.dates is None
    return again >= 0.5 * len(listed)


def _nouns(genetic: bool, core: set[str], document: str | None, columns: Sequence[Column]) -> Nouns:
    """Return what rows, answers and components are called."""
    nouns = ALLELES if genetic else ANSWERS
    if core and _are_votes(core) and _is_parliament(core, columns, document):
        nouns = VOTES
    row = noun_of(document) if document else None
    return Nouns(row or nouns.document, nouns.word, nouns.component)
