# SPDX-License-Identifier: BSD-3-Clause
"""Tell tables of counts from tables of answers, by a sample of their rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from discan.data.alleles import allele_digits, allele_pairs
from discan.data.columns import MISSING, Codes, clean, number, unique_titles
from discan.typing import Array

__all__ = ["are_questions", "holds_counts", "may_be_codes"]

MISSING_COUNTS = 0.05  # share of cells without a number, above which a column is not of counts
LARGEST_CODE = 10.0  # of an answer to a numbered question
FEW_CODES, FEW_QUESTIONS = 4.0, 100  # numbers up to so many, in so many columns, may be codes

_QUESTION = re.compile(r"(q|question|frage|pregunta)[ ._-]?\d+([ ._-]?\w{1,3})?", re.IGNORECASE)


def holds_counts(columns: Sequence[Sequence[str]], titles: Sequence[str]) -> bool:
    """Tell whether most columns are counts; some may describe the rows."""
    values = [[number(cell) for cell in column] for column in columns]
    shares = [sum(v is None for v in column) / len(column) for column in values]
    numeric = [n for n, share in enumerate(shares) if share <= MISSING_COUNTS]
    if not numeric or len(numeric) < 2 / 3 * len(columns):
        return False
    found = {n: np.array([v for v in values[n] if v is not None]) for n in numeric}
    # Cells that are not counts are left to the reader of counts, which says where they are.
    found = {n: column[column >= 0] for n, column in found.items()}
    measured = [n for n in numeric if (np.rint(found[n]) != found[n]).any()]
    if len(measured) >= 0.5 * len(numeric):
        return True
    left = [n for n in numeric if n not in measured]
    if _are_genotypes([columns[n] for n in left], [titles[n] for n in left]):
        return False
    counts, complete = np.concatenate([found[n] for n in left]), not any(shares[n] for n in left)
    if counts.size and counts.max() <= LARGEST_CODE and are_questions([titles[n] for n in left]):
        return False
    return bool(counts.size) and _look_counted(counts, [columns[n] for n in left], complete)


def may_be_codes(columns: Sequence[Sequence[str]]) -> bool:
    """Tell whether counts are so small that they may be answers in codes, or counts of alleles."""
    found = {number(cell) for column in columns for cell in column} - {None}
    largest = max((n for n in found if n is not None), default=0.0)
    return largest <= 2 or (largest <= FEW_CODES and len(columns) <= FEW_QUESTIONS)


def are_questions(titles: Sequence[str]) -> bool:
    """Tell whether titles are those of numbered questions: Q1, q2_3."""
    return sum(_QUESTION.fullmatch(title) is not None for title in titles) > 0.5 * len(titles)


def _are_genotypes(columns: Sequence[Sequence[str]], titles: Sequence[str]) -> bool:
    cleaned = []
    for title, column in zip(unique_titles(titles)[0], columns, strict=True):
        codes = Codes()
        numbers = np.array([codes[cell] for cell in column], dtype=np.int32)
        cleaned.append(clean(title, numbers, list(codes), MISSING)[0])
    return bool(allele_digits(cleaned) or allele_pairs(cleaned))


def _look_counted(values: Array, columns: Sequence[Sequence[str]], complete: bool) -> bool:
    """Tell counts from codes of answers; a table with missing cells must be mostly zeros."""
    zeros = float((values == 0).mean())
    if values.max() > 1 and zeros >= 0.5:
        return True
    if not complete:
        return False
    if values.max() <= 1:
        return zeros >= 0.8 and len(columns) >= 50
    if float(np.mean([len(set(column)) > 12 for column in columns])) > 0.5:
        return True
    # Few rows: most columns hold both 0 and numbers larger than codes of answers.
    numbers = [[number(cell) or 0.0 for cell in column] for column in columns]
    return float(np.mean([min(map(abs, n)) == 0 and max(n) > 10 for n in numbers])) >= 0.5
