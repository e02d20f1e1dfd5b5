# SPDX-License-Identifier: BSD-3-Clause
"""Read a table of answers, of a file or a data frame: roles of columns, counts, metadata."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from discan.data.alleles import allele_marks
from discan.data.answer_remarks import remark_on_columns, remark_on_values
from discan.data.answers import Answers, document_names
from discan.data.columns import MISSING, Column, StoredCodes, clean, read_codes
from discan.data.corpus import Corpus
from discan.data.intake import bounded_int
from discan.data.nouns import Nouns
from discan.data.roles import (
    ENOUGH_ROWS,
    IDENTIFIERS,
    NAMES,
    NEARLY,
    Plan,
    key,
    make_plan,
    noun_of,
)
from discan.errors import InputError, shown
from discan.typing import Array
from discan.validation import whole

__all__ = ["AnswerOptions", "RawColumn", "choose_titles", "find_answers", "read_answers"]

log = logging.getLogger("discan")

MOST_COMMAS = 20  # in a title
MANY_DIGITS = 20  # rows, from which a first column of different whole numbers names the rows


class RawColumn(NamedTuple):
    """A column as it was read: its title, codes (I,) of its cells, and the distinct cells."""

    title: str
    held: Array | StoredCodes
    cells: Sequence[str]

    @property
    def codes(self) -> Array:
        """Index of each cell in ``cells``, (I,); stored ones are read each time."""
        return read_codes(self.held)


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """How to read a table of answers; each field is an option of the reader of such tables."""

    id_column: Any = None
    columns: Any = None
    drop: Any = ()
    metadata: Any = ()
    answers: Any = None
    missing: Iterable[str] = MISSING
    alleles: str | None = None
    bins: Any = None
    merge: bool = False
    exposures: bool = True


def read_answers(
    origin: str,
    raw: Sequence[RawColumn],
    options: AnswerOptions,
    like: Any = None,
    has_titles: bool = True,
) -> Corpus:
    """Make a corpus of the columns of a table, as `find_answers` finds them."""
    return find_answers(origin, raw, options, like, has_titles).corpus()


def find_answers(
    origin: str,
    raw: Sequence[RawColumn],
    options: AnswerOptions,
    like: Any = None,
    has_titles: bool = True,
) -> Answers:
    """Tell what the columns of a table hold.

    Parameters
    ----------
    origin : where the table comes from, for remarks
    raw : all columns
    options : AnswerOptions
    like : a Corpus or a Fit, optional
        The table is read as its data were: the same columns are counted, cut and split.
    has_titles : whether the titles are those of the table, not made up
    """
    missing = options.missing.split(",") if isinstance(options.missing, str) else options.missing
    missing = tuple(missing)
    if options.missing is MISSING and any({"+", "-"} <= set(column.cells) for column in raw):
        missing = tuple(mark for mark in missing if mark != "-")  # a vote against, beside "+"
    titles = [column.title for column in raw]
    marks: Counter[str] = Counter()
    columns = []
    for column in raw:
        cleaned, found = clean(*column, missing, options.merge)
        columns.append(cleaned)
        marks += found
    by_title = {column.title: column for column in columns}
    dropped = set(choose_titles(titles, options.drop))
    kept = titles if options.columns is None else choose_titles(titles, options.columns)
    kept = [title for title in kept if title not in dropped]
    plan = None if like is None else _remembered(by_title, like)
    if plan is not None:
        nouns = like.nouns
    else:
        document = _document(by_title, kept, options.id_column, has_titles)
        candidates = [by_title[title] for title in kept if title != document]
        plan, reasons, nouns = _decide(
            titles, candidates, document, replace(options, missing=missing), has_titles
        )
        remark_on_columns(origin, plan, reasons, by_title)
        remark_on_values(origin, candidates, marks, plan)
    if not any(title in by_title for title in plan.answers):
        if plan.answers:
            problem = f"none of the model's columns ({_some(plan.answers)}) is there"
            raise InputError(f"{problem}; is it the right model?")
        raise InputError("no columns of answers are left")
    absent = [title for title in plan.answers if title not in by_title]
    if absent:
        remark = "%s: %d of the model's %d columns are not there and count as missing: %s"
        log.warning(remark, origin, len(absent), len(plan.answers), _some(absent))
    others = [t for t in (titles if options.columns is None else kept) if t not in dropped]
    taken = {*plan.answers, plan.document}
    metadata = {
        title: by_title[title].as_metadata()
        for title in others
        if title not in taken and by_title[title].values
    }
    metadata |= {title: by_title[title].as_metadata() for title in plan.bins if title in by_title}
    names = _names(by_title, plan.document, explicit=options.id_column is not None)
    return Answers(columns, plan, nouns, options.exposures, names, metadata)


def choose_titles(titles: Sequence[str], wanted: Any) -> list[str]:
    """Return the titles that are wanted: a name, a number, a pattern such as ``q*``, or several.

    A list that was split at the commas of a title is put together again.
    """
    listed: list[Any] = [wanted] if isinstance(wanted, str | int) else list(wanted)
    if len(listed) == 1 and isinstance(listed[0], str) and listed[0] not in titles:
        listed = listed[0].split(",")
    found: list[str] = []
    known = set(titles)
    n = 0
    while n < len(listed):
        last = min(len(listed), n + MOST_COMMAS + 1)
        stop = next((m for m in range(last, n, -1) if _joined(listed[n:m]) in known), None)
        if stop is not None:
            found.append(_joined(listed[n:stop]))
            n = stop
            continue
        found += _matching(titles, listed[n])
        n += 1
    return list(dict.fromkeys(found))


def _joined(parts: Sequence[Any]) -> str:
    return ",".join(map(str, parts)).strip()


def _matching(titles: Sequence[str], wanted: Any) -> list[str]:
    text = str(wanted).strip()
    numbered = isinstance(wanted, int) or (text.isdecimal() and not any(map(str.isdecimal, titles)))
    if numbered and 0 <= bounded_int(text) < len(titles):
        return [titles[int(text)]]
    found = [title for title in titles if fnmatchcase(title, text)]
    found = found or [title for title in titles if title.casefold() == text.casefold()]
    if not found:
        some = ", ".join(shown(title) for title in titles[:10])
        more = ", ..." if len(titles) > 10 else ""
        raise InputError(f"no column {shown(wanted)}; use one of {some}{more}")
    return found


def _some(titles: Sequence[str]) -> str:
    return ", ".join(map(shown, titles[:5])) + (", ..." if len(titles) > 5 else "")


# ---- which column does what ----


def _decide(
    all_titles: Sequence[str],
    columns: Sequence[Column],
    document: str | None,
    options: AnswerOptions,
    has_titles: bool,
) -> tuple[Plan, dict[str, str], Nouns]:
    """Decide about every column: by the options, and what they leave open by its content."""
    titles = [column.title for column in columns]
    is_given = options.metadata is not None and options.metadata != ()
    named = set(choose_titles(all_titles, options.metadata)) if is_given else set()
    bins = _read_bins(all_titles, options.bins)
    open_to = [c for c in columns if c.title not in named]
    reasons = {title: "as you said" for title in titles if title in named}
    plan, found, nouns = make_plan(open_to, document, has_titles, bins)
    if options.answers is not None:
        wanted = set(choose_titles(all_titles, options.answers)) - named
        plan = replace(plan, answers=tuple(title for title in titles if title in wanted))
        found = {title: "not among the answers" for title in titles if title not in wanted | named}
    if options.alleles is not None:
        off = options.alleles.lower() == "none"
        split = {} if off else dict.fromkeys(plan.answers, options.alleles)
        cut = [c for c in columns if c.title in split]
        marks = () if off else (*allele_marks(cut, split), *options.missing)
        plan = replace(plan, split=split, joined={}, no_allele=tuple(dict.fromkeys(marks)))
    kept = {title: value for title, value in plan.bins.items() if title in plan.answers}
    return replace(plan, bins=kept), reasons | found, nouns


def _read_bins(titles: Sequence[str], given: Any) -> int | dict[str, Any] | None:
    """Read ``5``, ``"5"``, ``"age=5,income=4"``, or {"age": 5 or limits}."""
    if given is None:
        return None
    if isinstance(given, str) and not given.strip().isdecimal():
        pairs = [part.rpartition("=") for part in given.split(",")]
        given = {title: size for title, _, size in pairs}
    if not isinstance(given, Mapping):
        return whole("bins", int(given) if isinstance(given, str) else given, 2)
    result: dict[str, Any] = {}
    for title, size in given.items():
        (name,) = choose_titles(titles, title)[:1]
        if isinstance(size, str):
            size = int(size) if size.strip().isdecimal() else [float(e) for e in size.split("/")]
        result[name] = whole("bins", size, 2) if isinstance(size, int) else list(size)
    return result


def _document(
    by_title: Mapping[str, Column], kept: Sequence[str], wanted: Any, has_titles: bool
) -> str | None:
    """Return the title of the column that names the rows."""
    if wanted is False:
        return None
    if wanted is not None and wanted is not True:
        return choose_titles(list(by_title), wanted)[0]
    columns = [by_title[title] for title in kept]
    for column in columns:
        if key(column.title) in NAMES and column.numbers is None and _tells_apart(column):
            return column.title
    for n, column in enumerate(columns):
        if column.is_distinct and (has_titles or column.n_rows > 1):
            title = key(column.title)
            titled = title in IDENTIFIERS | NAMES or noun_of(column.title) is not None
            untitled = n == 0 and column.title == "column 1"
            long = n == 0 and column.n_rows >= MANY_DIGITS and _are_digits(column)
            if titled or untitled or long or (n == 0 and column.numbers is None):
                return column.title if len(columns) > 1 else None
    return None


def _tells_apart(column: Column) -> bool:
    enough = NEARLY if column.n_rows >= ENOUGH_ROWS else 1.0
    return column.n_present == column.n_rows and len(column.values) >= enough * column.n_rows


def _are_digits(column: Column) -> bool:
    return all(value.isdecimal() for value in column.values)


def _names(by_title: Mapping[str, Column], title: str | None, explicit: bool) -> list[str] | None:
    """Return the names of the rows; those that you asked for are left as they are."""
    column = by_title.get(title) if title is not None else None
    if column is None:
        return None
    if explicit:
        return [[*column.values, ""][code] for code in column.codes]
    unique = (c for c in by_title.values() if c.is_distinct and key(c.title) in IDENTIFIERS)
    return document_names(column, next(unique, None))


def _remembered(by_title: Mapping[str, Column], like: Any) -> Plan | None:
    """Return the plan by which the data of a model were read, or one by the model's groups."""
    if "plan" in like.reading:
        return Plan.of(like.reading["plan"])
    answers = tuple(title for title in by_title if title in (like.layout.group_names or ()))
    return Plan(answers) if answers else None
