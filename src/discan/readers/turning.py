# SPDX-License-Identifier: BSD-3-Clause
"""Turn a table of answers whose columns are documents: roll calls in rows, members in columns."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from discan.data.answer_tables import RawColumn, choose_titles
from discan.data.columns import MISSING, Codes, clean, unique_titles
from discan.data.nouns import Nouns
from discan.data.roles import make_plan
from discan.errors import Argument, InputError, shown

__all__ = ["remark_on_roll_calls", "turned"]

log = logging.getLogger("discan")

LISTED = 8


def turned(origin: str, columns: Sequence[RawColumn], names: Any = None) -> list[RawColumn]:
    """Return a column of documents, the titles of before, and a column per row.

    Parameters
    ----------
    origin : str
        Where the table comes from, for remarks.
    columns : columns of a table with a question per row
    names : title or number of the column that names the rows; the first one by default
    """
    titles = [column.title for column in columns]
    if names is None or isinstance(names, bool):
        names = titles[0]
    named = choose_titles(titles, names)[0]
    by_title = {column.title: column for column in columns}
    others = [clean(*column, MISSING)[0] for column in columns if column.title != named]
    plan, reasons, _ = make_plan(others, named)
    kept = [column for column in others if column.title in plan.answers]
    if not kept:
        raise InputError("no columns of answers, which could be documents", use={"transpose": ...})
    if reasons:
        some = ", ".join(map(shown, list(reasons)[:LISTED]))
        log.info("%s: left out, as they describe what is asked: %s", origin, some)
    shared = Codes()
    rows = np.empty((len(kept[0].codes), len(kept)), dtype=np.int32)
    for j, column in enumerate(kept):
        of_value = np.array([shared[cell] for cell in (*column.values, "")], dtype=np.int32)
        rows[:, j] = of_value[column.codes]
    first = by_title[named]
    questions = unique_titles([first.cells[code].strip() for code in first.codes])[0]
    documents = RawColumn(
        "member", np.arange(len(kept), dtype=np.int32), [column.title for column in kept]
    )
    log.info("%s: %d columns are the documents, %d rows the questions", origin, *rows.T.shape)
    cells = list(shared)
    return [documents, *(RawColumn(*pair, cells) for pair in zip(questions, rows, strict=True))]


def remark_on_roll_calls(origin: str, nouns: Nouns) -> None:
    """Say how to explain members, if the rows of a table of votes are roll calls."""
    if nouns.document in ("roll call", "bill", "motion"):
        remark = "%s: %s are explained, by the votes of each member; to explain the members use %s"
        log.info(remark, origin, nouns.documents, Argument("transpose", True))
