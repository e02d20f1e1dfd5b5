# SPDX-License-Identifier: BSD-3-Clause
"""Runs of whole documents: the unit of work, in memory or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discan.typing import Array

__all__ = ["BLOCK_ENTRIES", "Block", "BlockRef", "cuts"]

BLOCK_ENTRIES = 2**16
"""Non-zeros in a block, about; it fixes the numbering of blocks, hence the answer's bits."""


@dataclass(frozen=True, eq=False)
class BlockRef:
    """Where a run of whole documents is; ``Corpus.read`` returns the documents themselves.

    Attributes
    ----------
    index : int
        Number of the block in its corpus.
    start, stop : int
        Documents `start .. stop - 1`.
    token_start, token_stop : int
        The block's tokens in the numbering of all tokens; both 0 when counts are fractional.
    """

    index: int
    start: int
    stop: int
    token_start: int
    token_stop: int


@dataclass(frozen=True, eq=False)
class Block(BlockRef):
    """A run of whole documents: the unit of work.

    Attributes
    ----------
    indptr : (stop - start + 1,) int64 array
        Offsets into `words` and `counts`; the first need not be 0.
    words, counts : arrays
        Those of the whole corpus, if it is in memory; else those of the block.
    levels : (stop - start,) int32 array
        Index of each document's total exposure in `Corpus.exposure_levels`.
    """

    indptr: Array
    words: Array
    counts: Array
    levels: Array


def cuts(indptr: Array, n_entries: int) -> list[int]:
    """Cut documents into runs of at least one document and about ``n_entries`` non-zeros.

    Parameters
    ----------
    indptr : (I + 1,) array
        Where the entries of each document begin.
    n_entries : int

    Returns
    -------
    list of int
        The first document of each run, then I.
    """
    n_documents = len(indptr) - 1
    starts = [0]
    while starts[-1] < n_documents:
        limit = indptr[starts[-1]] + n_entries
        stop = int(np.searchsorted(indptr, limit, side="right")) - 1
        starts.append(max(starts[-1] + 1, stop))
    return starts
