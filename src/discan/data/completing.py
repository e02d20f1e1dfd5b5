# SPDX-License-Identifier: BSD-3-Clause
"""Answers to questions that were left open: the likeliest ones, and tables that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.data.roles import Plan
from discan.typing import Array

__all__ = ["Answers", "Filling", "answer_table", "answer_texts", "likeliest_answers"]

SEPARATOR = "/"  # of several answers to a question, as of alleles

Answers = dict[tuple[int, int], list[int]]


def likeliest_answers(
    documents: Array, words: Array, values: Array, layout: Layout, totals: Array
) -> Answers:
    """Choose the likeliest answers to each open question.

    Parameters
    ----------
    documents, words, values : (n,) arrays
        Expected counts of the words of each open question.
    layout : Layout
    totals : (G,) array
        Usual number of answers to each question: 1 for a vote, 2 for a genotype.

    Returns
    -------
    dict of (document, group) to list of words
        As many words as is usual, ascending; several are the mode of a multinomial distribution.
    """
    groups = layout.group_of_word[words]
    order = np.lexsort((words, groups, documents))
    documents, words, values, groups = (x[order] for x in (documents, words, values, groups))
    new = (np.diff(documents, prepend=-1) != 0) | (np.diff(groups, prepend=-1) != 0)
    found: Answers = {}
    for begin, end in pairwise([*np.flatnonzero(new), len(order)]):
        n = max(1, round(float(totals[groups[begin]])))
        chosen = _mode(values[begin:end], n)
        found[int(documents[begin]), int(groups[begin])] = [int(words[begin + j]) for j in chosen]
    return found


def answer_texts(layout: Layout) -> list[str]:
    """Return the answer that each word stands for: "yea" of `12=yea`, (J,)."""
    words = layout.word_names or tuple(map(str, range(layout.n_words)))
    groups = layout.group_names
    if groups is None:
        return list(words)
    return [_answer(word, groups[g]) for word, g in zip(words, layout.group_of_word, strict=True)]


def answer_table(corpus: Corpus, answers: Answers) -> Iterator[list[str]]:
    """Iterate over the documents: one cell per question, with the answers given or chosen.

    Several answers are separated by slashes.
    """
    texts = answer_texts(corpus.layout)
    groups = corpus.layout.group_of_word
    chosen: dict[int, list[tuple[int, list[int]]]] = {}
    for (i, g), words in answers.items():
        chosen.setdefault(i, []).append((g, words))
    for i in range(corpus.n_documents):
        entries = slice(corpus.indptr[i], corpus.indptr[i + 1])
        row: list[list[str]] = [[] for _ in range(corpus.n_groups)]
        for j, count in zip(corpus.words[entries], corpus.counts[entries], strict=True):
            row[groups[j]] += [texts[j]] * max(1, round(float(count)))
        for g, words in chosen.get(i, ()):
            row[g] = [texts[j] for j in words]
        yield [SEPARATOR.join(cell) for cell in row]


class Filling:
    """Writes answers into the cells of a table in the form that its columns have.

    Parameters
    ----------
    plan : Plan
        How the columns were read.
    titles : titles of the table
    cells_of : callable
        Returns some cells of a column, given its title.
    """

    def __init__(
        self, plan: Plan, titles: Sequence[str], cells_of: Callable[[str], Iterable[str]]
    ) -> None:
        self._joined = plan.joined
        self._titles = set(titles)
        self._marks = {
            title: _mark(separators, list(cells_of(title)))
            for title, separators in plan.split.items()
            if title in self._titles
        }

    def cells(self, question: str, answers: Sequence[str]) -> dict[str, str]:
        """Return what to write: cells by the titles of their columns.

        The alleles of a locus that has two columns go into both.
        """
        columns = [t for t in self._joined.get(question, (question,)) if t in self._titles]
        if len(columns) > 1:
            return dict(zip(columns, answers, strict=False))
        mark = self._marks.get(question, SEPARATOR)
        if mark.isdecimal():
            text = "".join(answer.rjust(int(mark), "0") for answer in answers)
        else:
            text = mark.join(answers)
        return dict.fromkeys(columns, text)


def _mark(separators: str, cells: Sequence[str]) -> str:
    """Return the separator that the cells of a column use, or the number of digits of a part."""
    if separators.isdecimal():
        return separators
    times = [sum(mark in cell for cell in cells) for mark in separators]
    return separators[times.index(max(times))]


def _mode(chances: Array, n: int) -> list[int]:
    """Return the likeliest outcome of n draws, as sorted places.

    The next draw goes where p / (number so far + 1) is largest.
    """
    if n == 1:
        return [int(np.argmax(chances))]
    counts = np.zeros(len(chances))
    for _ in range(n):
        counts[np.argmax(chances / (counts + 1.0))] += 1
    return [int(j) for j in np.repeat(np.arange(len(chances)), counts.astype(int))]


def _answer(word: str, group: str) -> str:
    for mark in ("=", ": ", ":"):
        if word.startswith(f"{group}{mark}"):
            return word[len(group) + len(mark) :]
    return word.rpartition("=")[2] if "=" in word else word
