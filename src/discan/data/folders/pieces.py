# SPDX-License-Identifier: BSD-3-Clause
"""Documents in a row, cut from a corpus: what a corpus folder is written and read by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discan.data.intake import offsets
from discan.typing import Array

__all__ = ["Piece", "join_pieces", "part_of"]


class Piece(NamedTuple):
    """Some documents in a row, in canonical form and in arrays of their own.

    Attributes
    ----------
    indptr : (n + 1,) int64 array
        Offsets into ``words`` and ``counts``; the first is 0.
    words : (n_entries,) int32 array
        Ascending inside each document.
    counts : (n_entries,) array
        int32 or float64, never zero.
    exposures : (n, G) float64 array or None
    document_names : tuple of str or None
    metadata : dict of str to (n,) array
        float64, or objects that are str or None.
    """

    indptr: Array
    words: Array
    counts: Array
    exposures: Array | None = None
    document_names: tuple[str, ...] | None = None
    metadata: dict[str, Array] = {}  # noqa: RUF012 - never changed

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.indptr.size - 1)


def join_pieces(pieces: Sequence[Piece]) -> Piece:
    """Join pieces into one."""
    if len(pieces) == 1:
        return pieces[0]
    first = pieces[0]
    names = None
    if first.document_names is not None:
        names = tuple(name for piece in pieces for name in piece.document_names or ())
    exposures = [piece.exposures for piece in pieces if piece.exposures is not None]
    return Piece(
        indptr=offsets(np.concatenate([np.diff(piece.indptr) for piece in pieces])),
        words=np.concatenate([piece.words for piece in pieces]),
        counts=np.concatenate([piece.counts for piece in pieces]),
        exposures=np.concatenate(exposures) if exposures else None,
        document_names=names,
        metadata={
            name: np.concatenate([piece.metadata[name] for piece in pieces])
            for name in first.metadata
        },
    )


def part_of(piece: Piece, start: int, stop: int) -> Piece:
    """Return some documents of a piece."""
    if (start, stop) == (0, piece.n_documents):
        return piece
    begin, end = piece.indptr[start], piece.indptr[stop]
    names = piece.document_names
    return Piece(
        indptr=piece.indptr[start : stop + 1] - begin,
        words=piece.words[begin:end].copy(),
        counts=piece.counts[begin:end].copy(),
        exposures=None if piece.exposures is None else piece.exposures[start:stop],
        document_names=None if names is None else names[start:stop],
        metadata={name: column[start:stop] for name, column in piece.metadata.items()},
    )
