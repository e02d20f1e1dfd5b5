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

__all__ = ["LARGEST_EXPOSURES", "count_answers", "document_names", "make_corpus", "observed"]

LARGEST_EXPOSURES = 2**29


class _Group(NamedTuple):
    """A question: its name, its columns, and for each column the words of each value."""

    name: str
    columns: list[Column]
    words: list[str]
    words_of: list[list[list[int]]]


def make_corpus(
    columns: Sequence[Column],
    plan: Plan,
    nouns: Nouns,
    exposures: bool = True,
    names: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Corpus:
    """Count the answers of a table as a plan says.

    Parameters
    ----------
    columns : all columns of the table
    plan : Plan
    nouns : Nouns
    exposures : whether a document has exposure 0 to the questions that it has no answer to
    names, metadata : of the documents, optional
    """
    groups = [group for group in _groups(columns, plan) if group.words]
    if not groups:
        raise InputError("every cell is missing")
    sizes = [len(group.words) for group in groups]
    starts = offsets(np.array(sizes))
    table, seen = _count(groups, starts)
    return Corpus(
        table,
        groups=np.repeat(np.arange(len(groups)), sizes),
        group_names=[group.name for group in groups],
        word_names=[f"{group.name}={word}" for group in groups for word in group.words],
        exposures=observed(seen) if exposures else None,
        document_names=names,
        metadata=metadata,
        nouns=nouns,
    )


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


def _count(groups: Sequence[_Group], starts: Array) -> tuple[Any, Array]:
    """Return the table of counts (I, J), and which questions have an answer, (I, G) bool."""
    n_rows, n_words = len(groups[0].columns[0].codes), int(starts[-1])
    seen = np.zeros((len(groups), n_rows), dtype=bool)
    if all(len(w) <= 1 for group in groups for of in group.words_of for w in of):
        n_columns = sum(len(group.columns) for group in groups)
        cells = np.empty((n_columns, n_rows), dtype=np.int32)
        j = 0
        for g, group in enumerate(groups):
            for column, of in zip(group.columns, group.words_of, strict=True):
                words = [starts[g] + w[0] if w else -1 for w in of]
                np.take(np.array([*words, -1], dtype=np.int32), column.codes, out=cells[j])
                seen[g] |= cells[j] >= 0
                j += 1
        return count_answers(np.ascontiguousarray(cells.T), n_words), np.ascontiguousarray(seen.T)
    # Cells of several words: count the distinct cells, and multiply by the words of each.
    sizes, words, items, first = [], [], [], 0
    for g, group in enumerate(groups):
        for column, of in zip(group.columns, group.words_of, strict=True):
            lengths = np.array([len(w) for w in of] + [0])
            sizes.append(lengths[:-1])
            words += [starts[g] + n for w in of for n in w]
            codes = np.where(lengths[column.codes] > 0, column.codes + first, -1)
            items.append(codes.astype(np.int32))
            seen[g] |= codes >= 0
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
    for n, name in enumerate(found):
        if times[name] > 1:
            seen[name] += 1
            mark = others.values[others.codes[n]] if others is not None else str(seen[name])
            name = f"{name} ({mark})" if name else f"row {n + 1}"
        result.append(name)
    return result


def _sort_key(value: str) -> tuple[bool, float, str]:
    found = number(value)
    if found is None or found != found:
        return True, 0.0, value
    return False, found, value
