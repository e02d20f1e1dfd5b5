# SPDX-License-Identifier: BSD-3-Clause
"""Read the files that MALLET writes: states, weights of words, shares of documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from discan.errors import InputError, shown
from discan.estimators.result_files import StrPath, read_lines, read_numbers
from discan.typing import Array

__all__ = ["State", "read_shares", "read_state", "read_weights"]

NO_NAME = ("", "NA", "null-source", "no-name")


class State(NamedTuple):
    """What a state tells.

    components (K, J): counts and beta; words (J,); alpha (K,); shares (I, K): counts and alpha;
    lengths (I,); names (I,) or None.
    """

    components: Array
    words: list[str]
    alpha: Array
    shares: Array
    lengths: Array
    names: list[str] | None


def read_state(path: StrPath, lines: Iterable[str]) -> State:
    """Read a state: a line per token, with its document, word and topic."""
    alpha: Array | None = None
    beta = 0.01
    counts: dict[tuple[int, str], float] = {}
    documents: dict[tuple[int, int], float] = {}
    names: dict[int, str] = {}
    for line in lines:
        if line.startswith("#alpha"):
            alpha = read_numbers(path, [line.partition(":")[2].split()])[0]
        elif line.startswith("#beta"):
            beta = float(read_numbers(path, [line.partition(":")[2].split()])[0, 0])
        elif line.strip():
            parts = line.split(" ")
            try:
                document, topic, word = int(parts[0]), int(parts[-1]), parts[-2]
            except (ValueError, IndexError):
                raise InputError(f"{path}: {shown(line)} is not a line of a state") from None
            names[document] = " ".join(parts[1:-4])  # a source may hold spaces
            counts[topic, word] = counts.get((topic, word), 0.0) + 1.0
            documents[document, topic] = documents.get((document, topic), 0.0) + 1.0
    entries = [(topic, word, n) for (topic, word), n in counts.items()]
    components, words = _table(path, entries, 0 if alpha is None else len(alpha))
    prior = np.full(len(components), 0.1) if alpha is None else alpha
    table = np.zeros((max(names) + 1, len(components)))
    for (document, topic), n in documents.items():
        table[document, topic] = n
    labels = [names.get(document, "") for document in range(len(table))]
    lengths = table.sum(axis=1)
    return State(components + beta, words, prior, table + prior, lengths, _named(labels))


def read_weights(path: StrPath, lines: Iterable[str]) -> tuple[Array, list[str]]:
    """Read the weights of words in topics: (K, J), and the words."""
    rows = [line.split("\t") for line in lines if line.strip()]
    if not all(len(row) == 3 for row in rows):
        raise InputError(f"{path}: neither a state of MALLET nor weights of words of topics")
    for row in rows:
        if not row[0].isdecimal():
            raise InputError(f"{path}: {shown(row[0])} is not the number of a topic")
    weights = [read_numbers(path, [[row[2]]])[0, 0] for row in rows]
    entries = [(int(row[0]), row[1], float(x)) for row, x in zip(rows, weights, strict=True)]
    return _table(path, entries)


def read_shares(path: StrPath, n_components: int) -> tuple[Array, list[str] | None]:
    """Read the shares of topics in documents, (I, K), and the names of the documents.

    A line has the number and the name of a document, and then the shares of all topics; or pairs of
    a topic and its share, the largest first, as MALLET wrote them up to version 2.0.7 and still
    does with a threshold or a limit. Small shares may be missing then. The two forms can have the
    same first line, so the rows tell which it is: a share has a decimal point.
    """
    names, rows = [], []
    for line in read_lines(path):
        if line.startswith("#") or not line.strip():
            continue
        parts = (line.rstrip("\t ").split("\t")) if "\t" in line else line.split()
        if len(parts) < 3:
            raise InputError(f"{path}: {shown(line)} has no shares of topics")
        names.append(parts[1])
        rows.append(parts[2:])
    if not rows:
        raise InputError(f"{path}: there are no documents in it")
    if not all(row[0].isdecimal() for row in rows):
        return read_numbers(path, rows), _named(names)
    table = np.zeros((len(rows), n_components))
    for i, row in enumerate(rows):
        topics, shares = row[::2], read_numbers(path, [row[1::2]])[0]
        if len(topics) != len(shares) or not all(
            topic.isdecimal() and int(topic) < n_components for topic in topics
        ):
            raise InputError(
                f"{path}: document {names[i]} has topics other than 0 to {n_components - 1}"
            )
        table[i, [int(topic) for topic in topics]] = shares
    return table, _named(names)


def _named(names: list[str]) -> list[str] | None:
    """Names of documents; a document without one gets its number, and None if all have none."""
    if all(name in NO_NAME for name in names):
        return None
    return [str(i) if name in NO_NAME else name for i, name in enumerate(names)]


def _table(
    path: StrPath, entries: list[tuple[int, str, float]], least: int = 0
) -> tuple[Array, list[str]]:
    """Make a table (K, J) of weights of words in topics; words are in alphabetical order."""
    if not entries or min(k for k, _, _ in entries) < 0:
        raise InputError(f"{path}: there are no topics and words in it")
    words = sorted({word for _, word, _ in entries})
    place = {word: j for j, word in enumerate(words)}
    table = np.zeros((max(max(k for k, _, _ in entries) + 1, least), len(words)))
    for k, word, value in entries:
        table[k, place[word]] = value
    return table, words
