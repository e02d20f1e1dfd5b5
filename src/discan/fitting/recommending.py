# SPDX-License-Identifier: BSD-3-Clause
"""Recommend what documents do not have yet: the likeliest of the words that they lack."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.models.base import proportions
from discan.typing import Array

__all__ = ["Recommended", "recommend"]

_CELLS_AT_ONCE = 2**22


class Recommended(NamedTuple):
    """The likeliest words that documents do not have yet, the likeliest first.

    Attributes
    ----------
    words : (I, n) int array
        Numbers of columns; -1 where a document lacks fewer than n words.
    probabilities : (I, n) array
        That the next token of the document, in the words' group, is this word; NaN beside -1.
    """

    words: Array
    probabilities: Array


def recommend(
    corpus: Corpus, scores: Array, loadings: Array, columns: Array, n: int
) -> Recommended:  # fmt: skip
    """Find the n likeliest words among some columns that each document does not have.

    Parameters
    ----------
    corpus : Corpus
    scores : (I, K) array
        Mean scores of its documents.
    loadings : (J, K) array
    columns : (m,) array
        Columns to choose from, ascending.
    n : int
    """
    n = min(n, len(columns))
    shares, chosen = proportions(scores), loadings[columns]
    table = corpus.to_csr()[:, columns]
    words = np.full((corpus.n_documents, n), -1, dtype=np.int64)
    probabilities = np.full((corpus.n_documents, n), np.nan)
    step = max(1, _CELLS_AT_ONCE // len(columns))
    for start in range(0, corpus.n_documents, step):
        rows = slice(start, start + step)
        chances = shares[rows] @ chosen.T
        has = table[rows].tocoo()
        chances[has.coords] = -1.0
        some = np.argpartition(-chances, n - 1, axis=1)[:, :n]
        inside = np.argsort(-np.take_along_axis(chances, some, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(some, inside, axis=1)
        found = np.take_along_axis(chances, best, axis=1)
        words[rows] = np.where(found >= 0, columns[best], -1)
        probabilities[rows] = np.where(found >= 0, found, np.nan)
    return Recommended(words, probabilities)
