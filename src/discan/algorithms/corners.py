# SPDX-License-Identifier: BSD-3-Clause
"""A start from corners of the cloud of documents: all others are nearly mixtures of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from discan.algorithms.base import Start
from discan.data.corpus import Corpus
from discan.typing import Array

__all__ = ["farthest", "from_corners", "krylov_width"]

# Least share of a component in a document, and least chance of a word that occurs.
LEAST_SHARE = 1e-3
LEAST_CHANCE = 1e-2
# Directions beyond those that are needed, and rounds of the search for principal components.
SPARE = 6
ROUNDS = 8


def from_corners(corpus: Corpus, n_components: int, seed: int) -> Start:
    """Start from the documents that are farthest apart on the first K - 1 principal components.

    Documents are rows of shares of each word in its group, less the mean; a missing group counts as
    the mean. The first corner is the document farthest from the mean. Each other one is the
    farthest from the plane through the corners so far. The scores of a document are its affine
    coordinates between the corners. The loadings fit the shares by least squares.
    """
    with threadpool_limits(1, "blas"):  # products of matrices must not depend on the threads
        cloud = _Cloud.of(corpus)
        places = cloud.principal(n_components - 1, seed)
        padded = np.column_stack([places, np.ones(len(places))])
        corners = padded[farthest(places, n_components)]
        scores = np.linalg.lstsq(corners.T, padded.T, rcond=None)[0].T
        weights = np.linalg.pinv(scores).T
        loadings = cloud.transposed_times(weights)
        loadings += np.outer(cloud.mean, weights.sum(axis=0))
    loadings = np.maximum(loadings, LEAST_CHANCE * (cloud.mean > 0.0)[:, None])
    layout = corpus.layout
    tokens = layout.group_sums(corpus.word_totals[:, None]) / n_components
    loadings *= (tokens / np.maximum(layout.group_sums(loadings), 1e-300))[layout.group_of_word]
    scores = np.maximum(scores, LEAST_SHARE)
    return Start(loadings, scores / scores.sum(axis=1, keepdims=True))


def farthest(rows: Array, n: int) -> Array:
    """Choose n rows, each the farthest from the affine span of those before."""
    chosen = np.empty(n, np.int64)
    chosen[0] = np.einsum("ij,ij->i", rows, rows).argmax()
    rows = rows - rows[chosen[0]]  # distances are from the first corner, not from the origin
    squares = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
    axes = np.zeros((n, rows.shape[1]), rows.dtype)
    for k in range(1, n):
        chosen[k] = squares.argmax()
        axis = rows[chosen[k]].copy()
        for _ in range(2):  # the second time removes rounding errors
            axis -= (axes[:k] @ axis) @ axes[:k]
        length = np.sqrt(axis @ axis)
        if length > 0.0:
            axes[k] = axis / length
            squares = np.maximum(squares - (rows @ axes[k]).astype(np.float64) ** 2, 0.0)
        squares[chosen[k]] = 0.0
    return chosen


def krylov_width(n_components: int, n_documents: int) -> int:
    """Dimensions of the space that principal components are searched in."""
    return ROUNDS * _width(n_components - 1, n_documents)


def _width(n: int, n_documents: int) -> int:
    return min(n + SPARE, n_documents)


@dataclass(frozen=True)
class _Cloud:
    """Shares of words in their groups less their mean, (I, J), as products with sparse tables.

    shares (I, J) and mean (J,); present (I, G) has a one where a document has the group.
    """

    shares: Any
    present: Any
    mean: Array
    indicator: Any

    @classmethod
    def of(cls, corpus: Corpus) -> _Cloud:
        shares, lengths = corpus.to_csr().astype(np.float64), corpus.group_lengths.tocsr(copy=True)
        lengths.sort_indices()
        group = corpus.layout.group_of_word
        present = lengths.copy()
        present.data = np.ones_like(lengths.data)
        shares.data *= (1.0 / lengths.data)[_places(lengths, shares, group)]
        seen = present.sum(axis=0)[group]
        mean = shares.sum(axis=0) / np.maximum(seen, 1.0)
        return cls(shares, present, mean, corpus.layout.indicator)

    def times(self, right: Array) -> Array:
        """Return the product with a (J, n) array, (I, n)."""
        groups = self.indicator.T @ (self.mean[:, None] * right)
        return np.asarray(self.shares @ right - self.present @ groups)

    def transposed_times(self, right: Array) -> Array:
        """Return the transposed product with an (I, n) array, (J, n)."""
        groups = self.indicator @ (self.present.T @ right)
        return np.asarray(self.shares.T @ right - self.mean[:, None] * groups)

    def principal(self, n: int, seed: int) -> Array:
        """Return the places of the documents on the first n principal components, (I, n).

        They are found in a block Krylov space from a random start (Musco and Musco, 2015).
        """
        width = _width(n, self.shares.shape[0])
        rng = np.random.Generator(np.random.Philox(key=int(seed)))
        axes = rng.standard_normal((self.shares.shape[0], width))
        space = []
        for _ in range(ROUNDS):
            axes = np.linalg.qr(self.times(self.transposed_times(axes)))[0]
            space.append(axes)
        axes = np.linalg.qr(np.column_stack(space))[0]
        left, lengths, _ = np.linalg.svd(self.transposed_times(axes).T, full_matrices=False)
        return np.asarray((axes @ left * lengths)[:, :n])


def _places(lengths: Any, shares: Any, group: Array) -> Array:
    """Where the length of each entry's document and group is among those stored, (n_entries,).

    ``lengths[:, group]`` would have a number for every document and word.
    """
    n_groups = lengths.shape[1]
    if n_groups == 1:
        rows = np.flatnonzero(np.diff(lengths.indptr))
        return np.asarray(np.repeat(np.arange(len(rows)), np.diff(shares.indptr)[rows]))
    known = np.repeat(np.arange(lengths.shape[0]), np.diff(lengths.indptr)) * n_groups
    known += lengths.indices
    wanted = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr)) * n_groups
    wanted += group[shares.indices]
    return np.asarray(np.searchsorted(known, wanted))
