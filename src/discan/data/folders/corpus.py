# SPDX-License-Identifier: BSD-3-Clause
"""A corpus that stays in its folder: documents are read block by block when they are needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from discan.data.blocks import BLOCK_ENTRIES, Block, BlockRef, cuts
from discan.data.corpus import Corpus
from discan.data.folders.format import is_corpus_folder
from discan.data.folders.pieces import Piece, join_pieces
from discan.data.folders.shards import FolderReader, ShardFile, load_folder
from discan.data.selection import read_selection
from discan.data.store import load_corpus
from discan.errors import InputError, LimitError
from discan.typing import Array

__all__ = ["FolderCorpus", "open_corpus"]

# What a corpus in memory has, and one in a folder does not.
_WHOLE = frozenset({"indptr", "words", "counts", "lengths", "levels", "total_exposures"})


def open_corpus(path: str | os.PathLike[str]) -> Corpus:
    """Open a corpus folder, or load a corpus file; raw data are refused."""
    if is_corpus_folder(path):
        return FolderCorpus(path)
    if os.path.isfile(path) and os.fspath(path).endswith(".discan"):
        return load_corpus(path)
    raise InputError(
        f"{os.fspath(path)}: neither a corpus folder nor a corpus file",
        remedy="make one of raw data with: discan convert RAW FOLDER/",
    )


def _with_classes(path: str, classes: Array | None) -> Corpus:
    return FolderCorpus(path).with_classes(classes)


class FolderCorpus(Corpus):
    """A corpus folder, with what a fit asks of a corpus and the same bits as in memory.

    Blocks are cut as in memory, so a block may begin in one shard and end in another. Names and
    metadata of documents stay in the folder.

    Parameters
    ----------
    path : a corpus folder, as ``discan convert`` writes it
    """

    on_disk = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._reader = FolderReader(path)
        self.manifest = manifest = self._reader.manifest
        self.layout = manifest.layout
        self.document_names = None
        self.metadata = {}
        self.nouns, self.reading = manifest.nouns, manifest.reading
        self.left_out = manifest.left_out
        self._blocks: dict[int, tuple[BlockRef, ...]] = {}

    def __reduce__(self) -> Any:
        """Go to another process as a path."""
        return _with_classes, (str(self.path), self.classes)

    def loaded(self) -> Corpus:
        """Read the whole corpus into memory."""
        return load_folder(self.path).with_classes(self.classes)

    def __getattr__(self, name: str) -> Any:
        """Say that a table of all documents is not in memory."""
        if name in _WHOLE:
            self._refuse()
        raise AttributeError(f"a FolderCorpus has no {name}")

    def _refuse(self) -> NoReturn:
        raise LimitError(
            f"{self.path}: the documents stay in the folder, and this needs all of them in memory",
            remedy="take part of them (corpus.select), or all if they fit (corpus.loaded())",
        )

    # ---- sizes ----

    @property
    def n_documents(self) -> int:
        """Number of documents, I."""
        return self.manifest.n_documents

    @property
    def n_entries(self) -> int:
        """Number of non-zero counts."""
        return self.manifest.n_entries

    @property
    def n_tokens(self) -> int | float:
        """Sum of all counts."""
        return self.manifest.n_tokens

    @property
    def integral(self) -> bool:
        """Whether every count is a whole number."""
        return self.manifest.whole

    @property
    def count_type(self) -> Any:
        """Type of the counts that are read: int32 or float64."""
        return np.dtype(np.float64 if self.manifest.wide else np.int32)

    @property
    def word_totals(self) -> Array:
        """Sum of each word's counts, (J,) float64."""
        return self.manifest.word_totals

    @property
    def digest(self) -> str:
        """SHA-256 of the data, as that of the same corpus in memory."""
        return self.manifest.digest

    @cached_property
    def exposure_levels(self) -> Array:
        """Distinct sums of the exposures of a document, ascending, (T,) float64.

        If documents have classes, these are pairs of an exposure and a class, (T, 2).
        """
        if self.classes is None:
            return self.manifest.exposure_levels
        if not self.has_exposures:
            kinds = np.unique(self.classes).astype(np.float64)
            return np.column_stack([np.full(len(kinds), float(self.n_groups)), kinds])
        return np.unique(np.vstack([part.exposure_levels for part in self.parts()]), axis=0)

    @property
    def exposures(self) -> Array | None:  # type: ignore[override]
        """None if all exposures are 1; else they stay in the folder."""
        if self.manifest.exposed:
            self._refuse()
        return None

    @property
    def has_exposures(self) -> bool:
        """Whether documents have exposures of their own."""
        return self.manifest.exposed

    @cached_property
    def length_table(self) -> tuple[Array, Array]:
        """Distinct lengths of documents, ascending, and how many documents have each."""
        lengths, n_documents = np.zeros(0), np.zeros(0, dtype=np.int64)
        for part in self.parts():
            more, n_more = part.length_table
            lengths, place = np.unique(np.append(lengths, more), return_inverse=True)
            n_documents = np.bincount(place, np.append(n_documents, n_more), lengths.size)
        return lengths, n_documents.astype(np.int64)

    @cached_property
    def class_length_table(self) -> tuple[Array, Array]:
        """Distinct pairs of a class and a length (n, 2), ascending, and how many documents each."""
        pairs, n_documents = np.zeros((0, 2)), np.zeros(0, dtype=np.int64)
        for part in self.parts():
            more, n_more = part.class_length_table
            every = np.vstack([pairs, more])
            pairs, place = np.unique(every, axis=0, return_inverse=True)
            n_documents = np.bincount(place.ravel(), np.append(n_documents, n_more), len(pairs))
        return pairs, n_documents.astype(np.int64)

    # ---- parts ----

    @property
    def blocks(self) -> Sequence[BlockRef]:
        """Where the blocks of about ``BLOCK_ENTRIES`` non-zeros are."""
        return self.blocks_of(BLOCK_ENTRIES)

    def blocks_of(self, n_entries: int) -> Sequence[BlockRef]:
        """Cut the corpus as in memory into runs of about ``n_entries`` non-zeros each."""
        if n_entries not in self._blocks:
            self._blocks[n_entries] = tuple(self._cut(n_entries))
        return self._blocks[n_entries]

    def _cut(self, n_entries: int) -> Iterator[BlockRef]:
        offsets = self._reader.offsets()
        starts = cuts(offsets, n_entries)
        tokens = self._tokens_before(offsets[starts])
        for n, (start, stop) in enumerate(pairwise(starts)):
            yield BlockRef(n, start, stop, int(tokens[n]), int(tokens[n + 1]))

    def _tokens_before(self, entries: Array) -> Array:
        """Number of tokens before each of these entries (n,), which ascend; 0 for fractions."""
        result = np.zeros(len(entries), dtype=np.int64)
        if not self.integral:
            return result
        first = total = 0
        for shard in self.manifest.shards:
            for _, counts in ShardFile(self.path, shard).slices("counts"):
                sums = np.cumsum(counts, dtype=np.int64)
                low, high = np.searchsorted(entries, [first + 1, first + len(sums) + 1])
                result[low:high] = total + sums[entries[low:high] - first - 1]
                first, total = first + len(sums), total + int(sums[-1])
        return result

    def read(self, block: BlockRef) -> Block:
        """Read the documents of a block into arrays of their own."""
        if isinstance(block, Block):
            return block
        piece = self._reader.read(block.start, block.stop)
        return Block(
            block.index, block.start, block.stop, block.token_start, block.token_stop,
            piece.indptr, piece.words, piece.counts, self._levels(piece, block.start),
        )  # fmt: skip

    def _levels(self, piece: Piece, start: int) -> Array:
        """Numbers of the levels of documents from ``start`` on, (n,)."""
        if self.classes is not None:
            part = self._corpus(piece, start)
            number = {tuple(pair): n for n, pair in enumerate(self.exposure_levels.tolist())}
            found = [number[tuple(pair)] for pair in part.exposure_levels.tolist()]
            return np.asarray(np.array(found, dtype=np.int32)[part.levels])
        if piece.exposures is None:
            return np.zeros(piece.n_documents, dtype=np.int32)
        totals = piece.exposures.sum(axis=1)
        return np.asarray(np.searchsorted(self.exposure_levels, totals), dtype=np.int32)

    def parts(self) -> Iterator[Corpus]:
        """Iterate over the documents of each block, a corpus in memory each."""
        for block in self.blocks:
            yield self._corpus(self._reader.read(block.start, block.stop), block.start)

    def _corpus(self, piece: Piece, start: int | None = None) -> Corpus:
        """Make a corpus in memory; documents from ``start`` on have their classes."""
        corpus = Corpus.assemble(
            *piece[:3], self.manifest.layout, piece.exposures, piece.document_names,
            dict(piece.metadata), self.nouns, self.reading, self.left_out,
        )  # fmt: skip
        if self.classes is not None and start is not None:
            corpus.classes = self.classes[start : start + piece.n_documents]
        return corpus

    def documents(self, start: int, stop: int) -> Corpus:
        """Read documents ``start .. stop - 1`` with their names and metadata."""
        return self._corpus(self._reader.read(start, stop, about=True), start)

    @property
    def columns(self) -> list[str]:
        """Names of the columns of metadata."""
        return [column.name for column in self.manifest.columns]

    def column(self, name: str) -> Array:
        """Read a column of metadata, (I,) objects; equal values are kept once."""
        values: dict[Any, Any] = {}
        found = np.empty(self.n_documents, dtype=object)
        for block in self.blocks:
            part = self._reader.read(block.start, block.stop, about=True).metadata[name]
            found[block.start : block.stop] = [values.setdefault(v, v) for v in part.tolist()]
        return found

    def select(self, documents: Any) -> Corpus:
        """Read some documents into memory, in the order given, with their names and metadata.

        Parameters
        ----------
        documents : slice, (I,) boolean mask, or array-like of document numbers
        """
        chosen = read_selection(documents, self.n_documents)
        order = np.unique(chosen)
        runs = np.split(order, np.flatnonzero(np.diff(order) > 1) + 1)
        parts = [self._reader.read(int(run[0]), int(run[-1]) + 1, about=True) for run in runs]
        found = self._corpus(parts[0] if len(parts) == 1 else join_pieces(parts))
        found = found.select(np.searchsorted(order, chosen))
        found.classes = None if self.classes is None else self.classes[chosen]
        return found

    def described(self, **changes: Any) -> Corpus:
        """Return the same documents with other nouns or reading; names stay in the folder."""
        refused = set(changes) - {"nouns", "reading"}
        if refused:
            raise InputError(f"{', '.join(sorted(refused))} of a corpus folder cannot be replaced")
        other = FolderCorpus(self.path)
        other.classes = self.classes
        for name, value in changes.items():
            setattr(other, name, value)
        return other

    def to_csr(self) -> Any:
        """Refuse: the documents stay in the folder."""
        self._refuse()

    def __repr__(self) -> str:
        """Describe the corpus in one line."""
        return f"<FolderCorpus {self.path}: {self.description}>"
