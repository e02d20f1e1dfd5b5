# SPDX-License-Identifier: BSD-3-Clause
"""Make a corpus of a table of answers: each column is a group of words ``column=value``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from discan.data.alleles import split_cell
from discan.data.bins import bin_names
from discan.data.columns import Column, number
from discan.data.corpus import Corpus
from discan.data.intake import offsets
from discan.data.nouns import Nouns
from discan.data.roles import Plan
from discan.errors import InputError, LimitError
from discan.typing import Array

__all__ = ["LARGEST_EXPOSURES", "Answers", "count_answers", "document_names", "observed"]

LARGEST_EXPOSURES = 2**29
CELLS_AT_ONCE = 2**20


class _Group(NamedTuple):
    """A question: its name, its columns, and for each column the words of each value."""

    name: str
    columns: list[Column]
    words: list[str]
    words_of: list[list[list[int]]]


class Answers:
    """Answers of a table, to be counted as a plan says.

    Parameters
    ----------
    columns : all columns of the table
    plan : Plan
    nouns : Nouns
    exposures : whether a document has exposure 0 to the questions that it has no answer to
    names, metadata : of the documents, optional

    Attributes
    ----------
    group_of_word : (J,) array
    starts : (G + 1,) array
        Number of the first word of each question, and of all words.
    word_names, group_names : list of str
    """

    def __init__(
        self,
        columns: Sequence[Column],
        plan: Plan,
        nouns: Nouns,
        exposures: bool = True,
        names: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self._groups = [group for group in _groups(columns, plan) if group.words]
        if not self._groups:
            raise InputError("every cell is missing")
        self.nouns, self.exposures, self.names, self.metadata = nouns, exposures, names, metadata
        self.reading = {"plan": plan.as_dict()}
        sizes = np.array([len(group.words) for group in self._groups])
        self.starts = offsets(sizes)
        self.group_of_word = np.repeat(np.arange(sizes.size), sizes)
        self.group_names = [group.name for group in self._groups]
        self.word_names = [f"{group.name}={w}" for group in self._groups for w in group.words]
        self._columns = [column for group in self._groups for column in group.columns]
        self.n_rows = self._columns[0].n_rows

    def corpus(self) -> Corpus:
        """Count all answers in memory."""
        table, seen = _count(self._groups, self.starts, [c.codes for c in self._columns])
        return Corpus(
            table,
            groups=self.group_of_word,
            group_names=self.group_names,
            word_names=self.word_names,
            exposures=observed(seen) if self.exposures else None,
            document_names=self.names,
            metadata=self.metadata,
            nouns=self.nouns,
            reading=self.reading,
        )

    def tables(self) -> Iterator[Any]:
        """Iterate over tables of counts (n, J) of some rows each."""
        step = max(1, CELLS_AT_ONCE // len(self._columns))
        for codes in zip(*(column.parts() for column in self._columns), strict=True):
            for first in range(0, len(codes[0]), step):
                rows = [part[first : first + step] for part in codes]
                yield _count(self._groups, self.starts, rows)[0]

    def are_complete(self) -> bool:
        """Tell whether every row has an answer to every question."""
        return all(map(_is_complete, self._groups))


def _groups(columns: Sequence[Column], plan: Plan) -> Iterator[_Group]:
    """Iterate over the questions; the columns of a locus make one question."""
    by_title = {column.title: column for column in columns}
    locus_of = {title: locus for locus, titles in plan.joined.items() for title in titles}
    done: set[str] = set()
    missing = frozenset(plan.no_allele)
    for title in plan.answers:
        name = locus_of.get(title, title)
        if title not in by_title or name in done:
            continue
        done.add(name)
        listed = [t for t in plan.joined.get(name, (title,)) if t in by_title]
        members = [by_title[t] for t in listed]
        if title in plan.bins:
            yield _binned(members[0], plan.bins[title])
            continue
        separators = plan.split.get(title)
        cells = [
            [
                [part for part in _parts(value, separators) if part not in missing]
                if separators or title in locus_of
                else [value]
                for value in column.values
            ]
            for column in members
        ]
        words = sorted({word for of in cells for parts in of for word in parts}, key=_sort_key)
        place = {word: n for n, word in enumerate(words)}
        numbered = [[[place[word] for word in parts] for parts in of] for of in cells]
        yield _Group(name, members, words, numbered)


def _parts(value: str, separators: str | None) -> list[str]:
    return [value] if separators is None else split_cell(value, separators)


def _binned(column: Column, edges: Sequence[float]) -> _Group:
    """Return a question whose answers are intervals; cells without a number are missing."""
    numbers = [number(value) for value in column.values]
    whole = all(n is None or float(n).is_integer() for n in numbers)
    whole = whole and all(float(edge).is_integer() for edge in edges)
    of = [
        [] if n is None or n != n else [int(np.searchsorted(edges, n, side="right"))]
        for n in numbers
    ]
    return _Group(column.title, [column], bin_names(edges, whole), [of])


def _is_complete(group: _Group) -> bool:
    """Tell whether every row has an answer to a question."""
    known = [np.array([*map(len, of), 0]) > 0 for of in group.words_of]
    if len(known) == 1:
        (column,) = group.columns
        return int(column.counts[known[0][:-1]].sum()) == column.n_rows
    parts = zip(*(column.parts() for column in group.columns), strict=True)
    return all(
        bool(np.any([of[codes] for of, codes in zip(known, found, strict=True)], axis=0).all())
        for found in parts
    )


def _count(groups: Sequence[_Group], starts: Array, codes: list[Array]) -> tuple[Any, Array]:
    """Return the table of counts (n, J) of some rows, and which questions have an answer.

    ``codes`` are those of all columns of the groups, one after another.
    """
    n_rows, n_words = len(codes[0]), int(starts[-1])
    owners = [(g, of) for g, group in enumerate(groups) for of in group.words_of]
    seen = np.zeros((len(groups), n_rows), dtype=bool)
    if all(len(w) <= 1 for _, of in owners for w in of):
        cells = np.empty((len(codes), n_rows), dtype=np.int32)
        for j, (g, of) in enumerate(owners):
            words = [starts[g] + w[0] if w else -1 for w in of]
            np.take(np.array([*words, -1], dtype=np.int32), codes[j], out=cells[j])
            seen[g] |= cells[j] >= 0
        return count_answers(np.ascontiguousarray(cells.T), n_words), np.ascontiguousarray(seen.T)
    # Cells of several words: count the distinct cells, and multiply by the words of each.
    sizes, words, items, first = [], [], [], 0
    for column, (g, of) in zip(codes, owners, strict=True):
        lengths = np.array([len(w) for w in of] + [0])
        sizes.append(lengths[:-1])
        words += [starts[g] + n for w in of for n in w]
        places = np.where(lengths[column] > 0, column + first, -1)
        items.append(places.astype(np.int32))
        seen[g] |= places >= 0
        first += len(of)
    lengths = np.concatenate(sizes)
    parts = (np.ones(len(words), dtype=np.int32), np.array(words, dtype=np.int32), offsets(lengths))
    words_of_item = sparse.csr_array(parts, shape=(first, n_words))
    return count_answers(np.column_stack(items), first) @ words_of_item, seen.T


def count_answers(words: Array, n_words: int) -> Any:
    """Make a table of counts of the word in each cell (documents, questions); -1 is missing."""
    present = words >= 0
    found = words[present]
    parts = (np.ones(found.size, dtype=np.int32), found, offsets(present.sum(axis=1)))
    return sparse.csr_array(parts, shape=(len(words), n_words))


def observed(seen: Array) -> Array | None:
    """Return exposures (documents, groups): 1 where an answer was seen; None if all were."""
    if seen.all():
        return None
    if seen.size > LARGEST_EXPOSURES:
        raise LimitError(
            f"{seen.shape[0]:,} rows x {seen.shape[1]:,} columns with missing cells need too "
            "large a table of exposures",
            use={"exposures": False},
        )
    return seen


def document_names(column: Column, others: Column | None = None) -> list[str]:
    """Return the names of the rows; names that repeat get an identifier or a number."""
    names = [*column.values, ""]
    found = [names[code] for code in column.codes]
    if column.is_distinct:
        return found
    times, seen = Counter(found), Counter[str]()
    result = []
    marks = None if others is None else [others.values[code] for code in others.codes]
    for n, name in enumerate(found):
        if times[name] > 1:
            seen[name] += 1
            mark = str(seen[name]) if marks is None else marks[n]
            name = f"{name} ({mark})" if name else f"row {n + 1}"
        result.append(name)
    return result


def _sort_key(value: str) -> tuple[bool, float, str]:
    found = number(value)
    if found is None or found != found:
        return True, 0.0, value
    return False, found, value
