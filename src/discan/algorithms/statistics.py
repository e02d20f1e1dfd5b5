# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of blocks of documents, which are added up in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from discan.typing import Array

__all__ = ["Stats"]


@dataclass
class Stats:
    """Statistics of a set of blocks.

    Attributes
    ----------
    objective, log_likelihood : float
    n_documents : int
    loading_sums : (J, K) array or None
        Expected loading counts; until ``finished``, divided by ``divisor`` if there is one.
    divisor : (J, K) array or None
    scores : sums of score statistics, or None
    products : array or None
        Inner products of what the blocks remember, or other sums, of a shape that the algorithm
        knows.
    moves : list of tuples of arrays
        Tokens that changed their component: words, old and new components, change of the totals.
    buffer : (J, K) array or None
        Memory in which ``loading_sums`` may be made.
    """

    objective: float = 0.0
    log_likelihood: float = 0.0
    n_documents: int = 0
    loading_sums: Array | None = None
    divisor: Array | None = None
    scores: Any = None
    moves: list[tuple[Array, ...]] = field(default_factory=list)
    buffer: Array | None = None
    products: Array | None = None

    def sums(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return ``loading_sums``; if there are none yet, zeros of this shape and type."""
        if self.loading_sums is None:
            buffer, self.buffer = self.buffer, None
            if buffer is None or (buffer.shape, buffer.dtype) != (shape, dtype):
                buffer = np.empty(shape, dtype)
            buffer.fill(0)
            self.loading_sums = buffer
        return self.loading_sums

    def add_scores(self, sums: Any) -> None:
        """Add sums of score statistics."""
        self.scores = sums if self.scores is None else self.scores + sums

    def add_products(self, products: Array) -> None:
        """Add inner products, or other sums."""
        self.products = products if self.products is None else self.products + products

    def finished(self) -> Self:
        """Finish the sums of a lane, so that what leaves the lane is a statistic."""
        if self.loading_sums is not None and self.divisor is not None:
            self.loading_sums *= self.divisor
        self.divisor = None
        return self

    def without_counts(self) -> Stats:
        """Return what a cycle needs of the statistics of a round."""
        return Stats(self.objective, self.log_likelihood, self.n_documents, scores=self.scores)

    def add(self, other: Stats) -> None:
        """Add the finished statistics of the next lane or round; the first sums are taken over."""
        self.objective += other.objective
        self.log_likelihood += other.log_likelihood
        self.n_documents += other.n_documents
        if self.loading_sums is None:
            self.loading_sums = other.loading_sums
        elif other.loading_sums is not None:
            self.loading_sums += other.loading_sums
        if other.scores is not None:
            self.add_scores(other.scores)
        if other.products is not None:
            self.add_products(other.products)
        self.moves += other.moves
