# SPDX-License-Identifier: BSD-3-Clause
"""Write a corpus folder piece by piece, in memory for one shard."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from discan import __version__
from discan.data.blocks import BLOCK_ENTRIES
from discan.data.corpus import Corpus
from discan.data.drafts import storage_errors
from discan.data.folders.array_file import file_sha256
from discan.data.folders.format import (
    SHARDS,
    Column,
    Manifest,
    Shard,
    check_links,
    remove_files,
    save_manifest,
    save_words,
    shard_name,
)
from discan.data.folders.pieces import Piece, join_pieces, part_of
from discan.data.folders.shards import ShardFile
from discan.data.folders.texts import pack_texts
from discan.data.intake import LARGEST_INT32
from discan.data.layout import Layout
from discan.data.left_out import NOTHING
from discan.data.nouns import Nouns
from discan.data.storage import read_file, write_file
from discan.errors import DiscanError, InputError, LimitError
from discan.typing import Array

__all__ = ["SHARD_ENTRIES", "FolderWriter", "write_corpus"]

SHARD_ENTRIES = 2**24
"""Non-zeros, documents and exposures in a shard, together, about."""

_TYPES = (np.uint8, np.uint16, np.int32)
LARGEST_TOTAL = 2**63 - 1


class FolderWriter:
    """Write the documents of a corpus one piece after another, then what describes all of them.

    What is written does not depend on the sizes of the pieces. Until ``finish`` is called, the
    folder holds no corpus, or the one that it held before.

    Parameters
    ----------
    path : folder to write; it is made if there is none
    shard_entries : int
        Non-zeros, documents and exposures in a shard, together, about.
    """

    def __init__(self, path: str | os.PathLike[str], shard_entries: int = SHARD_ENTRIES) -> None:
        self.path = Path(path)
        self._limit = shard_entries
        check_links(self.path)
        with storage_errors(path):
            (self.path / SHARDS).mkdir(parents=True, exist_ok=True)
        self._pieces: list[Piece] = []
        self._held = 0  # non-zeros, documents and exposures of the pieces
        self._shards: list[Shard] = []
        self._columns: tuple[Column, ...] | None = None
        self._named = self._exposed = False
        self._whole, self._wide = True, False
        self._n_words = 0  # at least
        self._levels = np.zeros(0)
        self._n_documents = 0

    def add(self, piece: Piece) -> None:
        """Add the next documents, in canonical form."""
        if not piece.n_documents:
            return
        self._check_alike(piece)
        self._n_documents += piece.n_documents
        self._n_words = max(self._n_words, int(piece.words.max(initial=-1)) + 1)
        if piece.exposures is not None:
            totals = np.asarray(piece.exposures.sum(axis=1))
            self._levels = np.union1d(self._levels, totals)
        self._pieces.append(piece._replace(counts=_smallest(piece.counts)))
        self._held += int(_sizes(piece)[-1])
        if self._held > self._limit:
            self._flush()

    def finish(
        self,
        layout: Layout,
        nouns: Nouns | None = None,
        reading: dict[str, Any] | None = None,
        left_out: Array = NOTHING,
    ) -> Manifest:
        """Write what is left, the words and the manifest; then the folder is a corpus."""
        if not self._n_documents:
            raise InputError(f"{self.path}: there are no documents to write")
        if self._n_words > layout.n_words:
            problem = f"word {self._n_words - 1} is beyond the {layout.n_words} words"
            raise InputError(f"{self.path}: {problem}")
        if self._pieces:
            self._write(join_pieces(self._pieces))
        levels = self._levels if self._exposed else np.array([float(layout.n_groups)])
        digest, totals, n_tokens = self._measured(layout)
        manifest = Manifest(
            digest=digest,
            n_tokens=n_tokens,
            whole=self._whole,
            wide=self._wide,
            exposed=self._exposed,
            named=self._named,
            columns=self._columns or (),
            shards=tuple(self._shards),
            layout=layout,
            word_totals=totals,
            exposure_levels=levels,
            nouns=nouns or Nouns(),
            reading=reading or {},
            left_out=left_out,
        )
        words = save_words(self.path, layout, totals, levels, left_out)
        save_manifest(self.path, manifest, words)
        remove_files(self.path, {words, *(shard.file for shard in self._shards)})
        return manifest

    # ---- shards ----

    def _check_alike(self, piece: Piece) -> None:
        """Refuse a piece that lacks what the others have."""
        columns = tuple(Column(n, c.dtype == object) for n, c in piece.metadata.items())
        named, exposed = piece.document_names is not None, piece.exposures is not None
        if self._columns is None:
            self._columns, self._named, self._exposed = columns, named, exposed
        if (columns, named, exposed) != (self._columns, self._named, self._exposed):
            raise InputError(
                f"{self.path}: the documents from number {self._n_documents} on have other names, "
                "exposures or metadata than those before; make them alike"
            )

    def _flush(self) -> None:
        """Write whole shards; where one ends depends on the documents alone."""
        whole = join_pieces(self._pieces)
        ends = _sizes(whole)
        start = 0
        while ends[-1] - ends[start] > self._limit:
            limit = ends[start] + self._limit
            stop = max(start + 1, int(np.searchsorted(ends, limit, side="right")) - 1)
            self._write(part_of(whole, start, stop))
            start = stop
        rest = part_of(whole, start, whole.n_documents)
        self._pieces = [rest] if rest.n_documents else []
        self._held = int(_sizes(rest)[-1])

    def _write(self, piece: Piece) -> None:
        """Write a shard."""
        counts = _smallest(piece.counts)
        if counts.dtype == np.float64:
            self._wide = True
            self._whole = self._whole and bool((np.rint(counts) == counts).all())
        arrays = {"indptr": piece.indptr, "words": piece.words, "counts": counts}
        if piece.exposures is not None:
            arrays["exposures"] = piece.exposures
        if piece.document_names is not None:
            arrays["documents.text"], arrays["documents.ends"], _ = pack_texts(piece.document_names)
        for n, column in enumerate(piece.metadata.values()):
            if column.dtype == object:
                text, ends, missing = pack_texts(column.tolist())
                arrays[f"metadata.{n}.text"], arrays[f"metadata.{n}.ends"] = text, ends
                arrays[f"metadata.{n}.missing"] = missing
            else:
                arrays[f"metadata.{n}"] = column
        content = hashlib.sha256()
        for name, array in arrays.items():
            content.update(f"{name} {array.dtype.str} {array.shape} ".encode())
            content.update(np.ascontiguousarray(array).data)
        name = shard_name(len(self._shards), content.hexdigest())
        path = self.path / SHARDS / name
        if not _is_written(path):
            write_file(path, "shard", {}, arrays)
        kind = np.float64 if counts.dtype.kind == "f" else np.int64
        tokens = counts.sum(dtype=kind).item()
        entry = Shard(name, piece.n_documents, piece.words.size, tokens, file_sha256(path))
        self._shards.append(entry)

    # ---- what is known of all documents ----

    def _measured(self, layout: Layout) -> tuple[str, Array, int | float]:
        """Return the digest, the totals of the words and the number of tokens.

        They have the bits of the same corpus in memory. The shards are read again, because the
        digest takes all offsets before all words, and all words before all counts.
        """
        files = [ShardFile(self.path, shard) for shard in self._shards]
        digest = hashlib.sha256(bytes(8))
        before = 0
        for file, shard in zip(files, self._shards, strict=True):
            for _, array in file.slices("indptr", first=1):
                digest.update((array + before).data)
            before += shard.entries
        for file in files:
            for _, array in file.slices("words"):
                digest.update(array.data)
        counts = np.float64 if self._wide else np.int32
        for file in files:
            for _, array in file.slices("counts"):
                digest.update(array.astype(counts).data)
        digest.update(np.ascontiguousarray(layout.group_of_word).data)
        if self._exposed:
            for file in files:
                for _, array in file.slices("exposures"):
                    digest.update(array.data)
        totals = np.zeros(layout.n_words)
        for words, values in _aligned(files):
            totals += np.bincount(words, values, layout.n_words)
        if self._whole:
            n_tokens: int | float = sum(int(shard.tokens) for shard in self._shards)
        else:
            n_tokens = _sum_as_numpy(files, before)
        if n_tokens > 0.999 * LARGEST_TOTAL:
            raise LimitError(f"the counts sum to {n_tokens:.6g}, above 2**63 - 1; rescale them")
        return digest.hexdigest(), totals, n_tokens


def write_corpus(
    corpus: Corpus, path: str | os.PathLike[str], shard_entries: int = SHARD_ENTRIES
) -> Manifest:
    """Write a corpus that is in memory to a folder."""
    writer = FolderWriter(path, shard_entries)
    for block in corpus.blocks:
        rows, entries = slice(block.start, block.stop), slice(block.indptr[0], block.indptr[-1])
        names = corpus.document_names
        writer.add(
            Piece(
                indptr=block.indptr - block.indptr[0],
                words=corpus.words[entries],
                counts=corpus.counts[entries],
                exposures=None if corpus.exposures is None else corpus.exposures[rows],
                document_names=None if names is None else names[rows],
                metadata={name: column[rows] for name, column in corpus.metadata.items()},
            )
        )
    return writer.finish(corpus.layout, corpus.nouns, corpus.reading, corpus.left_out)


def _sizes(piece: Piece) -> Array:
    """Return what documents before each, and all of them, add to the size of a shard, (n + 1,)."""
    n_groups = 0 if piece.exposures is None else piece.exposures.shape[1]
    return piece.indptr + (1 + n_groups) * np.arange(piece.indptr.size)


def _is_written(path: Path) -> bool:
    """Tell whether a conversion that was interrupted has written a shard of this name, whole."""
    try:
        header, _ = read_file(path, "shard")
    except DiscanError:
        return False
    return bool(header["library"] == __version__)


def _smallest(counts: Array) -> Array:
    """Return counts in the smallest type that holds them all: whole ones in 1, 2 or 4 bytes."""
    largest = counts.max(initial=0)
    if counts.dtype.kind == "f" and not (
        largest <= LARGEST_INT32 and (np.rint(counts) == counts).all()
    ):
        return counts
    return counts.astype(next(t for t in _TYPES if largest <= np.iinfo(t).max), copy=False)


def _aligned(files: list[ShardFile]) -> Iterator[tuple[Array, Array]]:
    """Iterate over words and counts in the parts in which ``Corpus.word_totals`` adds them."""
    words, values = np.zeros(0, dtype=np.int32), np.zeros(0)
    for file in files:
        parts = zip(file.slices("words"), file.slices("counts"), strict=True)
        for (_, more), (_, counts) in parts:
            words, values = np.append(words, more), np.append(values, counts)
            whole = words.size - words.size % BLOCK_ENTRIES
            for start in range(0, whole, BLOCK_ENTRIES):
                part = slice(start, start + BLOCK_ENTRIES)
                yield words[part], values[part]
            words, values = words[whole:], values[whole:]
    if words.size:
        yield words, values


def _sum_as_numpy(files: list[ShardFile], n_entries: int) -> float:
    """Sum fractional counts as NumPy sums one array: halves of halves, so with the same bits."""
    parts = (array for file in files for _, array in file.slices("counts"))
    ready = np.zeros(0)

    def total(size: int) -> float:
        nonlocal ready
        if size > BLOCK_ENTRIES:
            half = size // 2
            half -= half % 8
            left = total(half)
            return left + total(size - half)
        while ready.size < size:
            ready = np.append(ready, next(parts).astype(np.float64))
        values, ready = ready[:size], ready[size:]
        return float(values.sum())

    return total(n_entries)
