# SPDX-License-Identifier: BSD-3-Clause
"""Read any documents of a corpus folder into arrays of their own.

Files are read and not mapped: a mapped file that is cut short would kill the process. A shard is
verified when this process first opens it, and again if the file is not the one that was verified.
"""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.data.drafts import storage_errors
from discan.data.folders.array_file import ArrayFile
from discan.data.folders.format import ROUNDING, SHARDS, Manifest, Shard, load_manifest
from discan.data.folders.pieces import Piece, join_pieces
from discan.data.folders.texts import unpack_texts, with_missing
from discan.data.intake import LARGEST_COUNT, LEAST_COUNT
from discan.data.rules import Rule, faults_of
from discan.errors import InputError, ModelFileError
from discan.typing import Array
from discan.validation import LARGEST, LEAST

__all__ = ["FolderReader", "ShardFile", "load_folder"]

_AT_ONCE = 2**16  # rows of an array

_Signature = tuple[int, int, int, int]


class _Sums(NamedTuple):
    """Totals of the words, (J,) float64; the shards added; those whose counts have fractions."""

    totals: Array
    added: set[str]
    fractions: set[str]


# What this process has verified: the signature of a shard, by the folder as it is described, and
# by the name of the shard.
_verified: dict[tuple[str, str, str], _Signature] = {}
# Sums over the shards that were verified so far, by folder, until all of them were.
_sums: dict[tuple[str, str], _Sums] = {}
_lock = threading.Lock()


class ShardFile(ArrayFile):
    """One shard, as the manifest describes it."""

    def __init__(self, folder: str | os.PathLike[str], shard: Shard) -> None:
        super().__init__(Path(folder) / SHARDS / shard.file, "shard")
        self.shard = shard


class FolderReader:
    """Read documents of a corpus folder; any number of threads may read at once.

    Parameters
    ----------
    path : a corpus folder

    Attributes
    ----------
    path : Path
    manifest : Manifest
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.manifest: Manifest = load_manifest(path)
        self._starts = np.array(self.manifest.starts, dtype=np.int64)
        self._key = (str(path), self.manifest.fingerprint)
        self._files = [ShardFile(path, shard) for shard in self.manifest.shards]

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process as a path; there the folder is opened again."""
        return FolderReader, (str(self.path),)

    def read(self, start: int, stop: int, *, about: bool = False) -> Piece:
        """Return documents ``start .. stop - 1`` in new arrays.

        ``about`` tells whether names and metadata are read, which take longer than counts.
        """
        if not 0 <= start < stop <= self._starts[-1]:
            raise InputError(f"documents {start} to {stop} are outside 0 .. {self._starts[-1]}")
        first = int(np.searchsorted(self._starts, start, side="right")) - 1
        parts = []
        for n in range(first, len(self._files)):
            begin, end = self._starts[n], self._starts[n + 1]
            if begin >= stop:
                break
            low, high = max(start, begin) - begin, min(stop, end) - begin
            parts.append(self._read(self._files[n], int(low), int(high), about))
        return parts[0] if len(parts) == 1 else join_pieces(parts)

    def offsets(self) -> Array:
        """Return where the entries of each document begin in the whole corpus, (I + 1,) int64."""
        result = np.zeros(self._starts[-1] + 1, dtype=np.int64)
        at = before = 0
        for file in self._files:
            os.close(self._opened(file))
            for _, part in file.slices("indptr", first=1):
                result[at + 1 : at + 1 + part.size] = part + before
                at += part.size
            before += file.shard.entries
        return result

    def verify(self) -> None:
        """Read all shards and check them, also those that this process has verified before."""
        for file in self._files:
            with _lock:
                _verified.pop((*self._key, file.shard.file), None)
            os.close(self._opened(file))

    # ---- one shard ----

    def _opened(self, file: ShardFile) -> int:
        """Open a shard, which is verified once in each process."""
        descriptor = file.open()
        try:
            found = os.fstat(descriptor)
            signature = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
            key = (*self._key, file.shard.file)
            with _lock:
                if _verified.get(key) != signature:
                    self._verify(file, descriptor)
                    _verified[key] = signature
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _read(self, file: ShardFile, start: int, stop: int, about: bool) -> Piece:
        descriptor = self._opened(file)
        try:
            indptr = file.read(descriptor, "indptr", start, stop + 1)
            begin, end = int(indptr[0]), int(indptr[-1])
            words = file.read(descriptor, "words", begin, end)
            counts = file.read(descriptor, "counts", begin, end)
            manifest = self.manifest
            return Piece(
                indptr=indptr - begin,
                words=words,
                counts=counts.astype(np.float64 if manifest.wide else np.int32, copy=False),
                exposures=(
                    file.read(descriptor, "exposures", start, stop) if manifest.exposed else None
                ),
                document_names=(
                    tuple(_texts(file, descriptor, "documents", start, stop))
                    if about and manifest.named
                    else None
                ),
                metadata=self._metadata(file, descriptor, start, stop) if about else {},
            )
        finally:
            os.close(descriptor)

    def _metadata(
        self, file: ShardFile, descriptor: int, start: int, stop: int
    ) -> dict[str, Array]:
        found = {}
        for n, column in enumerate(self.manifest.columns):
            name = f"metadata.{n}"
            if column.is_text:
                missing = file.read(descriptor, f"{name}.missing", start, stop)
                texts = _texts(file, descriptor, name, start, stop)
                found[column.name] = with_missing(texts, missing)
            else:
                found[column.name] = file.read(descriptor, name, start, stop)
        return found

    # ---- checks ----

    def _verify(self, file: ShardFile, descriptor: int) -> None:
        """Check the sum of a shard, and that its arrays are what compiled code may trust."""
        with storage_errors(file.path):
            with open(descriptor, "rb", buffering=0, closefd=False) as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != file.shard.sha256:
            problem = "fails its checksum; the file is damaged, or from another corpus"
            raise ModelFileError(f"{file.path}: {problem}; convert the data again")
        totals = np.zeros(self.manifest.layout.n_words)
        with faults_of(file.path):
            self._check_places(file)
            whole = self._check_content(file, descriptor, totals)
        key = self._key
        sums = _sums.setdefault(key, _Sums(np.zeros_like(totals), set(), set()))
        if file.shard.file not in sums.added:
            sums.totals[:] += totals
            sums.added.add(file.shard.file)
            if not whole:
                sums.fractions.add(file.shard.file)
        if len(sums.added) == len(self._files):
            with faults_of(self.path):
                self._check_sums(sums)
            del _sums[key]

    def _check_sums(self, sums: _Sums) -> None:
        """Check what is said of all documents, when each of them was read."""
        manifest = self.manifest
        if manifest.whole == bool(sums.fractions):
            raise ModelFileError(f"whole is {manifest.whole}, which the counts deny")
        error = np.abs(manifest.word_totals - sums.totals)
        if (error > ROUNDING * sums.totals).any():
            raise ModelFileError("word_totals are not the sums of the counts")

    def _check_places(self, file: ShardFile) -> None:
        """Check that all arrays are there, and their types and shapes."""
        n, entries = file.shard.documents, file.shard.entries
        wanted: dict[str, tuple[tuple[int | None, ...], tuple[str, ...]]] = {
            "indptr": ((n + 1,), ("i8",)),
            "words": ((entries,), ("i4",)),
            "counts": ((entries,), ("u1", "u2", "i4", "f8")),
        }
        texts = ["documents"] if self.manifest.named else []
        if self.manifest.exposed:
            wanted["exposures"] = ((n, self.manifest.layout.n_groups), ("f8",))
        for number, column in enumerate(self.manifest.columns):
            name = f"metadata.{number}"
            if column.is_text:
                texts.append(name)
                wanted[f"{name}.missing"] = ((n,), ("b1",))
            else:
                wanted[name] = ((n,), ("f8",))
        for name in texts:
            wanted |= {f"{name}.text": ((None,), ("u1",)), f"{name}.ends": ((n,), ("i8",))}
        if set(wanted) != set(file.places):
            raise ModelFileError("arrays are missing or superfluous")
        for name, (shape, types) in wanted.items():
            place = file.places[name]
            fits = len(place.shape) == len(shape) and all(
                size is None or size == other
                for size, other in zip(shape, place.shape, strict=True)
            )
            if not fits or place.dtype.str[1:] not in types:
                raise ModelFileError(f"{name} has shape {place.shape} and type {place.dtype}")
        if file.places["counts"].dtype.kind == "f" and not self.manifest.wide:
            raise ModelFileError("counts are fractions, which the manifest denies")

    def _check_content(self, file: ShardFile, descriptor: int, totals: Array) -> bool:
        """Check the documents of a shard, and add their counts to ``totals`` of the words (J,).

        Return whether all counts are whole numbers.
        """
        indptr = file.read(descriptor, "indptr", 0, file.shard.documents + 1)
        good = indptr[0] == 0 and indptr[-1] == file.shard.entries
        if not good or (indptr[1:] < indptr[:-1]).any():
            raise ModelFileError(f"indptr does not lead from 0 to {file.shard.entries}")
        layout = self.manifest.layout
        sizes = {"J": layout.n_words}
        step = max(1, _AT_ONCE // max(1, layout.n_groups if self.manifest.exposed else 1))
        start, tokens, is_whole = 0, 0, True
        while start < file.shard.documents:
            limit = indptr[start] + _AT_ONCE
            stop = max(start + 1, int(np.searchsorted(indptr, limit, side="right")) - 1)
            stop = min(stop, start + step)
            begin, end = int(indptr[start]), int(indptr[stop])
            words = file.read(descriptor, "words", begin, end)
            Rule((None,), "i4", low=0, below="J").check("words", words, sizes)
            ascends = words[1:] > words[:-1]
            starts = indptr[start:stop] - begin
            ascends[starts[(starts > 0) & (starts < words.size)] - 1] = True
            if not ascends.all():
                raise ModelFileError("words do not ascend inside documents")
            counts = file.read(descriptor, "counts", begin, end)
            if not ((counts >= LEAST_COUNT) & (counts <= LARGEST_COUNT)).all():
                raise ModelFileError("counts are not all above 0 and finite")
            is_whole = is_whole and (
                counts.dtype.kind != "f" or bool((np.rint(counts) == counts).all())
            )
            tokens += counts.sum(dtype=np.int64 if counts.dtype.kind != "f" else None).item()
            totals += np.bincount(words, counts, totals.size)
            if self.manifest.exposed:
                exposures = file.read(descriptor, "exposures", start, stop)
                sound = (exposures == 0) | ((exposures >= LEAST) & (exposures <= LARGEST))
                rows = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
                seen = exposures[rows, layout.group_of_word[words]] > 0
                if not (sound.all() and seen.all()):
                    raise ModelFileError("exposures are not sound")
                if not np.isin(exposures.sum(axis=1), self.manifest.exposure_levels).all():
                    raise ModelFileError("exposures have sums that exposure_levels lack")
            start = stop
        if abs(tokens - file.shard.tokens) > ROUNDING * tokens:
            raise ModelFileError(f"counts sum to {tokens}, not to {file.shard.tokens}")
        return is_whole


def load_folder(path: str | os.PathLike[str]) -> Corpus:
    """Load a whole corpus folder into memory."""
    reader = FolderReader(path)
    manifest = reader.manifest
    piece = reader.read(0, manifest.n_documents, about=True)
    return Corpus.assemble(
        *piece[:3],
        manifest.layout,
        exposures=piece.exposures,
        document_names=piece.document_names,
        metadata=piece.metadata,
        nouns=manifest.nouns,
        reading=manifest.reading,
        left_out=manifest.left_out,
    )


def _texts(file: ShardFile, descriptor: int, name: str, start: int, stop: int) -> list[str]:
    """Read some texts of a shard."""
    before = start > 0
    ends = file.read(descriptor, f"{name}.ends", start - before, stop)
    begin = int(ends[0]) if before else 0
    ends = ends[before:]
    end = int(ends[-1])
    with faults_of(file.path):
        if not 0 <= begin <= end <= file.places[f"{name}.text"].shape[0]:
            raise ModelFileError(f"the ends of {name} are outside their text")
        data = file.read(descriptor, f"{name}.text", begin, end)
        return unpack_texts(name, data, ends, begin)
