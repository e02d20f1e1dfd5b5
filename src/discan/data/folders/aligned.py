# SPDX-License-Identifier: BSD-3-Clause
"""A corpus folder seen in the columns of a fitted model, block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from discan.data.align import Match, align
from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.data.layout import Layout
from discan.data.left_out import NOTHING
from discan.typing import Array

__all__ = ["AlignedFolder"]


class AlignedFolder(FolderCorpus):
    """The documents of a folder in the columns of a model; words it does not have are dropped.

    Only what new documents are asked for has these columns: ``documents``, sizes and the layout.

    Parameters
    ----------
    path : a corpus folder
    layout, max_unseen, left_out, unknown
        As for ``align``, which reports what the model does not know.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        layout: Layout,
        max_unseen: float = 1.0,
        left_out: Array = NOTHING,
        unknown: bool = False,
    ) -> None:
        super().__init__(path)
        align(_as_one_document(self), layout, max_unseen, left_out)  # for its remarks
        self._arguments = (str(self.path), layout, max_unseen, left_out, unknown)
        self._match, self._unknown = Match.of(self.layout, layout, left_out), unknown
        self.layout = layout

    def __reduce__(self) -> Any:
        """Go to another process as a path and the columns."""
        return AlignedFolder, self._arguments

    def documents(self, start: int, stop: int) -> Corpus:
        """Read documents ``start .. stop - 1`` in the columns of the model."""
        return self._match.moved(super().documents(start, stop), self._unknown)

    def parts(self) -> Iterator[Corpus]:
        """Iterate over the documents of each block in the columns of the model."""
        for block in self.blocks:
            yield self.documents(block.start, block.stop)

    def select(self, documents: Any) -> Corpus:
        """Read some documents into memory, in the columns of the model."""
        return self._match.moved(super().select(documents), self._unknown)


def _as_one_document(corpus: FolderCorpus) -> Corpus:
    """Return the totals of all words as one document, which has the same shares of words."""
    words = np.flatnonzero(corpus.word_totals)
    return Corpus.assemble(
        np.array([0, words.size]), words.astype(np.int32), corpus.word_totals[words],
        corpus.layout, nouns=corpus.nouns,
    )  # fmt: skip
