# SPDX-License-Identifier: BSD-3-Clause
"""BM25, as the package bm25s computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["bm25"]


def bm25(corpus: Any) -> Callable[[Any], Any]:
    """Rank by BM25 of a library, on the same words."""
    import bm25s

    words = corpus.layout.word_names
    table = corpus.to_csr()
    documents = [
        np.repeat(table.indices[a:b], table.data[a:b]).tolist()
        for a, b in zip(table.indptr[:-1], table.indptr[1:], strict=True)
    ]
    library = bm25s.BM25()
    library.index([[words[j] for j in row] for row in documents], show_progress=False)
    return lambda counts: library.get_scores(
        [words[j] for j in np.repeat(np.arange(len(counts)), counts)]
    )
