# SPDX-License-Identifier: BSD-3-Clause
"""Which words of a component a page lists, and which components a word belongs to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discan.fitting.summary import fields_of
from discan.plot.subjects import Components
from discan.typing import Array

__all__ = ["Listing", "list_words", "top_of"]

WEIGHTS = np.linspace(0.0, 1.0, 11)  # of the probability, on the slider; the rest is the lift's
EACH = 30  # words of a field for each weight
QUESTIONS = 60  # with all their answers
MOST_ANSWERS = 40  # of a question
ENOUGH = 3.0  # a word must be expected this many times in a component to be listed by lift
LEAST = 1e-4  # probability of an answer that no other component gives


class Listing(NamedTuple):
    """Words of the components: those of component k are ``word[start[k]:start[k + 1]]``."""

    start: Array
    word: Array


def list_words(found: Components, totals: Array, group_totals: Array) -> Listing:
    """List the words that any weight of probability and lift puts among the first, per component.

    Of a field of text these are words by relevance, w log p + (1 - w) log(lift), for eleven values
    of w (Sievert and Shirley); of questions, those that tell most of the component, with all their
    answers.

    Parameters
    ----------
    found : Components
    totals : (K,) array
        Number of tokens of each component.
    group_totals : (G,) array
        Mean count of each group in the documents that have it.
    """
    fields, questions = fields_of(found.layout, group_totals)
    rows = []
    for k in range(len(found.names)):
        parts = [_by_relevance(found, k, columns, totals[k]) for _, columns in fields]
        if len(questions):
            parts.append(_telling(found, k, questions))
        rows.append(np.concatenate(parts) if parts else np.empty(0, dtype=np.int64))
    start = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    return Listing(start, np.concatenate(rows).astype(np.int64))


def top_of(values: Array, n: int) -> Array:
    """Return the columns of the n largest values of each row, the largest first, (rows, n)."""
    width = values.shape[1]
    n = min(n, width)
    result = np.empty((len(values), n), dtype=np.int64)
    for at in range(0, len(values), 4096):
        part = -values[at : at + 4096]
        if n < width:
            first = np.sort(np.argpartition(part, n - 1, axis=1)[:, :n], axis=1)
        else:
            first = np.broadcast_to(np.arange(width), part.shape)
        order = np.argsort(np.take_along_axis(part, first, axis=1), axis=1, kind="stable")
        result[at : at + 4096] = np.take_along_axis(first, order, axis=1)
    return result


def _by_relevance(found: Components, k: int, columns: Array, total: float) -> Array:
    p, overall = found.loadings[k, columns], found.overall[columns]
    likely = np.argsort(-p, kind="stable")[:EACH]
    reliable = np.flatnonzero((p * total / found.layout.n_groups >= ENOUGH) & (overall > 0))
    chosen = {int(j): None for j in likely if p[j] > 0}
    logs = np.log(p[reliable])
    lift = logs - np.log(overall[reliable])
    for weight in WEIGHTS:
        best = np.argsort(-(weight * logs + (1 - weight) * lift), kind="stable")[:EACH]
        chosen |= {int(reliable[n]): None for n in best}
    return columns[np.array(list(chosen), dtype=np.int64)]


def _telling(found: Components, k: int, questions: Array) -> Array:
    p, q = found.loadings[k, questions], found.others(k)[questions]
    group = found.layout.group_of_word[questions]
    evidence = np.where(p > q, p * np.log(np.maximum(p, 1e-300) / np.maximum(q, LEAST)), 0.0)
    best = np.zeros(found.layout.n_groups)
    np.maximum.at(best, group, evidence)
    first = np.argsort(-best, kind="stable")[:QUESTIONS]
    rank = np.full(found.layout.n_groups, -1)
    rank[first] = np.arange(len(first))
    inside = np.flatnonzero(rank[group] >= 0)
    order = inside[np.lexsort((-p[inside], rank[group[inside]]))]
    ranks = rank[group[order]]
    begins = np.flatnonzero(np.concatenate(([True], np.diff(ranks) > 0)))
    place = np.arange(len(order)) - np.repeat(begins, np.diff([*begins, len(order)]))
    return questions[order[place < MOST_ANSWERS]]
