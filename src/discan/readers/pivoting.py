# SPDX-License-Identifier: BSD-3-Clause
"""Turn a table with one answer per row into a table with one column per question."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from discan.data.answer_tables import RawColumn, choose_titles
from discan.data.roles import noun_of
from discan.errors import Argument, InputError, shown
from discan.typing import Array

__all__ = ["pivoted", "remark_on_single_answers"]

log = logging.getLogger("discan")

MOST_COLUMNS = 12  # of a table that may hold one answer per row
FEWEST = 5  # documents, and questions
MOST_EMPTY = 0.5  # of the cells of the new table, if the old one is to be recognised


def pivoted(origin: str, columns: Sequence[RawColumn], wanted: Any) -> list[RawColumn]:
    """Return a column of documents, one column per question, and those that describe documents.

    Parameters
    ----------
    origin : str
        Where the table comes from, for remarks.
    columns : columns of a table with one answer per row
    wanted : titles or numbers of three columns: document, question and answer
    """
    chosen = choose_titles([column.title for column in columns], wanted)
    if len(chosen) != 3:
        problem = "{}; name three columns: document, question and answer"
        raise InputError(problem, argument="pivot", value=wanted)
    by_title = {column.title: column for column in columns}
    (documents, names), (questions, titles) = (_stripped(by_title[title]) for title in chosen[:2])
    answers, cells = _stripped(by_title[chosen[2]])
    if "" in names or "" in titles:
        title = chosen[0] if "" in names else chosen[1]
        raise InputError(f"column {shown(title)} has an empty cell; fill it, or remove the row")
    table = np.full((len(titles), len(names)), -1, dtype=np.int32)
    table[questions, documents] = answers
    other = np.flatnonzero(table[questions, documents] != answers)
    if other.size:
        n = other[0]
        raise InputError(
            f"{shown(names[documents[n]])} has two answers to {shown(titles[questions[n]])}; "
            "remove one"
        )
    cells = [*cells, ""]  # where there is no answer: the last
    facts = [
        _fact(origin, column, documents, len(names))
        for column in columns
        if column.title not in chosen
    ]
    described = [fact for fact in facts if fact is not None]
    first = RawColumn(chosen[0], np.arange(len(names), dtype=np.int32), names)
    rows = np.where(table < 0, len(cells) - 1, table)
    return [
        first,
        *described,
        *(RawColumn(*pair, cells) for pair in zip(titles, rows, strict=True)),
    ]


def _stripped(column: RawColumn) -> tuple[Array, list[str]]:
    """Return codes and distinct cells without spaces around them."""
    place: dict[str, int] = {}
    new = [place.setdefault(cell.strip(), len(place)) for cell in column.cells]
    return np.array(new, dtype=np.int32)[column.codes], list(place)


def _fact(origin: str, column: RawColumn, documents: Array, n_documents: int) -> RawColumn | None:
    """Return a column that is the same in all rows of a document, with one cell per document."""
    codes = _code_of_each(column.codes, documents, n_documents)
    if codes is None:
        log.info("%s: column %s is left out: it differs inside rows", origin, shown(column.title))
        return None
    return RawColumn(column.title, codes, column.cells)


def _code_of_each(codes: Array, owners: Array, n_owners: int) -> Array | None:
    """Return the code of each owner, (n_owners,); None if one of them has several."""
    result = np.zeros(n_owners, dtype=np.int32)
    result[owners] = codes
    return None if (result[owners] != codes).any() else result


def remark_on_single_answers(origin: str, columns: Sequence[RawColumn]) -> None:
    """Say that each row seems to hold one answer, if two columns tell all rows apart."""
    if not 3 <= len(columns) <= MOST_COLUMNS:
        return
    n_rows = len(columns[0].held)
    sizes = {column.title: len(column.cells) for column in columns}
    repeated = [c for c in columns if FEWEST <= sizes[c.title] <= n_rows / 2]
    # a title such as "legislator" tells the documents
    repeated.sort(key=lambda c: noun_of(c.title) in (None, "roll call"))
    for document, question in permutations(repeated, 2):
        n_cells = sizes[document.title] * sizes[question.title]
        if not MOST_EMPTY * n_cells <= n_rows <= n_cells:
            continue
        pairs = document.codes.astype(np.int64) * sizes[question.title] + question.codes
        if n_rows == np.unique(pairs).size:
            keys = [(c.codes, sizes[c.title]) for c in (document, question)]
            others = [
                c for c in columns if all(_code_of_each(c.codes, *pair) is None for pair in keys)
            ]
            if not others:
                continue
            answer = min(others, key=lambda c: sizes[c.title])
            titles = [document.title, question.title, answer.title]
            log.warning(
                "%s: each row seems to hold one answer, %s, of %s to %s; to count one row per %s "
                "use %s",
                origin, shown(titles[2]), shown(titles[0]), shown(titles[1]), shown(titles[0]),
                Argument("pivot", ",".join(titles)),
            )  # fmt: skip
            return
