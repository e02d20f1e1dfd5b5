# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of blocks of documents, which are added up in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Self

import numpy as np

from discan.engines import Engine
from discan.typing import Array

__all__ = ["Stats"]

PIECE_BYTES = 2**18


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

    @classmethod
    def merged(cls, parts: Sequence[Stats], engine: Engine) -> Stats:
        """Add up in order, the largest arrays in pieces; the arrays of the first are reused."""
        sums = [part.loading_sums for part in parts if part.loading_sums is not None]

        def add(rows: slice) -> None:
            for other in sums[1:]:
                sums[0][rows] += other[rows]

        if len(sums) > 1:
            engine.run(add, _pieces(sums[0]))
        return cls(
            sum(part.objective for part in parts),
            sum(part.log_likelihood for part in parts),
            sum(part.n_documents for part in parts),
            sums[0] if sums else None,
            None,
            reduce(_sum, [part.scores for part in parts]),
            [move for part in parts for move in part.moves],
            products=reduce(_sum, [part.products for part in parts]),
        )


def _pieces(matrix: Array) -> list[slice]:
    """Cut the rows of a matrix into runs that fit into a processor's own cache."""
    rows = max(1, PIECE_BYTES // max(1, matrix[:1].nbytes))
    return [slice(start, start + rows) for start in range(0, len(matrix), rows)]


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b
