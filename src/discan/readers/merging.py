# SPDX-License-Identifier: BSD-3-Clause
"""Merge the sorted vocabularies of chunks, a part of the alphabet at a time, and choose words.

Both the words of a chunk and the words kept are in alphabetical order, so the table from old
numbers to new ones ascends, and nothing has to be sorted again. The order of UTF-8 bytes is
Python's order of strings.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from discan.data.drafts import storage_errors
from discan.data.folders.array_file import ArrayFile
from discan.readers.choosing import Limits, check_fields, most_frequent, nothing_left
from discan.readers.streams import TextStream
from discan.typing import Array

__all__ = ["Vocabulary", "map_path", "merge_vocabularies", "read_map"]

_WORDS_AT_ONCE = 2**16  # of all chunks together
_FEWEST = 64  # of one chunk


class Vocabulary(NamedTuple):
    """The words that are kept: their names, the fields that they belong to, and those left out."""

    names: tuple[str, ...]
    groups: Array
    left_out: Array
    new_numbers: Array  # of the words that the maps of the chunks name; -1 if left out


class _Run:
    """The words of one field of a chunk, read a part at a time; new numbers go to a file."""

    def __init__(self, file: ArrayFile, field: int, at_once: int) -> None:
        self._file, self._at_once = file, at_once
        descriptor = file.open()
        try:
            limits = file.read(descriptor, "field_starts", field, field + 2).tolist()
        finally:
            os.close(descriptor)
        self._next, self._stop = int(limits[0]), int(limits[1])
        self.words: list[bytes] = []
        self.frequencies = self.totals = np.zeros(0, dtype=np.int64)

    @property
    def is_read(self) -> bool:
        """Whether no more words can be read."""
        return self._next >= self._stop

    def fill(self) -> None:
        """Read more words, if there are none."""
        if self.words or self.is_read:
            return
        start, stop = self._next, min(self._stop, self._next + self._at_once)
        file = self._file
        descriptor = file.open()
        try:
            ends = file.read(descriptor, "words.ends", max(0, start - 1), stop)
            places = [0, *ends.tolist()] if start == 0 else ends.tolist()
            text = file.read(descriptor, "words.text", places[0], places[-1]).tobytes()
            self.frequencies = file.read(descriptor, "frequencies", start, stop)
            self.totals = file.read(descriptor, "totals", start, stop)
        finally:
            os.close(descriptor)
        first = places[0]
        self.words = [text[a - first : b - first] for a, b in pairwise(places)]
        self._next = stop

    def take(self, limit: bytes | None) -> tuple[list[bytes], Array, Array]:
        """Remove and return the words up to a limit, and how frequent they are."""
        n = len(self.words) if limit is None else bisect_right(self.words, limit)
        taken = self.words[:n], self.frequencies[:n], self.totals[:n]
        self.words = self.words[n:]
        self.frequencies, self.totals = self.frequencies[n:], self.totals[n:]
        return taken


def merge_vocabularies(
    files: Sequence[ArrayFile], stream: TextStream, n_documents: int, limits: Limits
) -> Vocabulary:
    """Merge the words of all chunks, and choose those to keep; beside each file, write its map."""
    fields, labels = stream.fields, stream.labels
    names: list[str] = []
    groups: list[Array] = []
    totals: list[Array] = []
    left_out: list[Array] = []
    n_words = n_rare = n_frequent = 0
    for file in files:
        with storage_errors(map_path(file)):
            map_path(file).unlink(missing_ok=True)
    for field in range(max(1, len(fields))):
        is_label = bool(fields) and fields[field] in labels
        start = f"{fields[field]}:".encode() if len(fields) > 1 else b""
        for words, frequencies, sums, maps in _merged(files, field):
            good = limits.allow(frequencies) | is_label
            n_words += len(words)
            n_rare += int((frequencies < limits.lowest).sum())
            n_frequent += int((frequencies > limits.highest).sum())
            numbers = np.where(good, np.cumsum(good) - 1 + len(names), -1).astype(np.int32)
            flags = good.tolist()
            kept = [w for w, keep in zip(words, flags, strict=True) if keep]
            names += [(start + word).decode() for word in kept]
            dropped = (crc32(start + w) for w, keep in zip(words, flags, strict=True) if not keep)
            left_out.append(np.unique(np.fromiter(dropped, dtype=np.uint32)))
            groups.append(np.full(len(kept), field, dtype=np.int32))
            totals.append(sums[good])
            for file, places in zip(files, maps, strict=True):
                if places is not None:
                    _append(map_path(file), numbers[places])
    if not names:
        raise nothing_left(stream.origin, n_documents, n_words, n_rare, n_frequent, limits)
    group_of, new_numbers = np.concatenate(groups), np.arange(len(names), dtype=np.int32)
    if stream.options.max_words is not None:
        counted = ~np.array([name in labels for name in fields or ("",)])[group_of]
        keep = most_frequent(np.concatenate(totals), counted, stream.options.max_words)
        left_out.append(
            np.array(
                [crc32(names[n].encode()) for n in np.flatnonzero(~keep).tolist()], dtype=np.uint32
            )
        )
        new_numbers = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        names = [name for name, kept in zip(names, keep.tolist(), strict=True) if kept]
        group_of = group_of[keep]
    check_fields(stream.origin, fields, group_of)
    return Vocabulary(tuple(names), group_of, np.unique(np.concatenate(left_out)), new_numbers)


def map_path(file: ArrayFile) -> Path:
    """Return the file that holds the new numbers of the words of a chunk."""
    return file.path.with_suffix(".map")


def read_map(file: ArrayFile) -> Array:
    """Return the new number of each word of a chunk, (W,) int32, -1 if it is left out."""
    with storage_errors(map_path(file)):
        if not map_path(file).exists():
            return np.zeros(0, dtype=np.int32)
        return np.fromfile(map_path(file), dtype=np.int32)


def _append(path: Path, numbers: Array) -> None:
    with storage_errors(path), open(path, "ab") as stream:
        stream.write(numbers.tobytes())


def _merged(
    files: Sequence[ArrayFile], field: int
) -> Iterator[tuple[list[bytes], Array, Array, list[Array | None]]]:
    """Iterate over words of a field in order: words, frequencies, totals, places in each chunk."""
    at_once = max(_FEWEST, _WORDS_AT_ONCE // max(1, len(files)))
    runs = [_Run(file, field, at_once) for file in files]
    while True:
        for run in runs:
            run.fill()
        if not any(run.words for run in runs):
            return
        # What all chunks have read reaches to the least of their last words.
        limit = min((run.words[-1] for run in runs if not run.is_read), default=None)
        taken = [run.take(limit) for run in runs]
        words = sorted({word for part, _, _ in taken for word in part})
        place = {word: n for n, word in enumerate(words)}
        frequencies = np.zeros(len(words), dtype=np.int64)
        totals = np.zeros(len(words), dtype=np.int64)
        maps: list[Array | None] = []
        for part, part_frequencies, part_totals in taken:
            if not part:
                maps.append(None)
                continue
            places = np.fromiter(map(place.__getitem__, part), dtype=np.int64, count=len(part))
            frequencies[places] += part_frequencies
            totals[places] += part_totals
            maps.append(places)
        yield words, frequencies, totals, maps
