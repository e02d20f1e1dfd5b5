# SPDX-License-Identifier: BSD-3-Clause
"""The words of the documents themselves, and their probabilities smoothed by those of all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.typing import Array

__all__ = ["OwnWords"]


@dataclass(frozen=True)
class OwnWords:
    """Counts by word: the documents that hold each word, and how often.

    Attributes
    ----------
    layout : Layout
    n_documents : int
    indptr : (J + 1,) int64 array
        Where the documents of each word begin.
    documents : (n,) int32 array
        Ascending inside each word.
    counts : (n,) array
    """

    layout: Layout
    n_documents: int
    indptr: Array
    documents: Array
    counts: Array

    @classmethod
    def of(cls, corpus: Corpus) -> OwnWords:
        """Turn the counts of a corpus."""
        table = corpus.to_csr().tocsc()
        table.sort_indices()
        indptr, documents = table.indptr.astype(np.int64), table.indices.astype(np.int32)
        return cls(corpus.layout, corpus.n_documents, indptr, documents, table.data)

    def column(self, word: int) -> Array:
        """Counts of a word in every document, (I,)."""
        entries = slice(self.indptr[word], self.indptr[word + 1])
        result = np.zeros(self.n_documents)
        result[self.documents[entries]] = self.counts[entries]
        return result

    def lengths(self, group: int) -> Array:
        """Tokens of a group in every document, (I,)."""
        if self.layout.n_groups == 1:
            return self._all
        words = np.flatnonzero(self.layout.group_of_word == group)
        result = np.zeros(self.n_documents)
        for word in words:
            result += self.column(int(word))
        return result

    @cached_property
    def _all(self) -> Array:
        return np.bincount(self.documents, self.counts, self.n_documents)

    @cached_property
    def totals(self) -> Array:
        """Tokens of each word in all documents, (J,)."""
        words = np.repeat(np.arange(self.layout.n_words), np.diff(self.indptr))
        return np.bincount(words, self.counts, self.layout.n_words)

    @cached_property
    def overall(self) -> Array:
        """Probability of each word in its group, (J,); half a token is added to each word.

        Without it, a word that no document holds would make all documents equally impossible.
        """
        totals = self.totals + 0.5
        groups = self.layout.group_sums(totals[:, None])[:, 0]
        return np.asarray(totals / groups[self.layout.group_of_word])

    def chances(self, words: Array, mu: float | None) -> Array:
        """Probability of each word in every document, smoothed by Dirichlet's prior, (I, T).

        It is ``(n + mu p) / (L + mu)``, where n is the count of the word in the document, L the
        document's tokens in the word's group, and p the probability of the word in all documents.
        ``mu`` is by default the mean of L over the documents that have the group.
        """
        result = np.empty((self.n_documents, len(words)))
        known: dict[int, Array] = {}
        for t, word in enumerate(words):
            group = int(self.layout.group_of_word[word])
            if group not in known:
                known[group] = self.lengths(group)
            lengths = known[group]
            weight = float(lengths.sum() / max((lengths > 0).sum(), 1)) if mu is None else mu
            weight = max(weight, 1e-9)
            smoothed = self.column(int(word)) + weight * self.overall[word]
            result[:, t] = smoothed / (lengths + weight)
        return result

    def held(self, words: Array, documents: Array) -> Array:
        """How many of these words each of some documents holds, (n,) int."""
        columns = [self.column(int(word))[documents] > 0 for word in np.unique(words)]
        return np.asarray(np.sum(columns, axis=0, dtype=np.int64))
