# SPDX-License-Identifier: BSD-3-Clause
"""Lists of the components that each word has tokens in, for the blocked collapsed sampler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discan.algorithms.base import Params
from discan.engines import Engine, pieces
from discan.kernels.blocked import index_words
from discan.kernels.simd.memory import aligned
from discan.kernels.simd.weighted_draws import LANES
from discan.typing import Array

__all__ = ["WordIndex"]


@dataclass(frozen=True)
class WordIndex:
    """For each word, the components that it has tokens in; see ``kernels.blocked.index_words``.

    Attributes
    ----------
    touched : (J,) array of bool
        Words whose counts have changed since they were listed.
    first, length : (J,) arrays
        Where the list of each word begins, and its length; empty if there are no lists.
    components, counts, fractions : arrays
        The lists.
    """

    touched: Array
    first: Array
    length: Array
    components: Array
    counts: Array
    fractions: Array

    @classmethod
    def of(cls, loading_counts: Array, listed: bool) -> WordIndex:
        """Allocate the lists: a word has tokens in no more components than it has tokens."""
        n_words, n_components = loading_counts.shape
        n_words = n_words if listed else 0
        longest = np.minimum(loading_counts[:n_words].sum(axis=1, dtype=np.int64), n_components)
        ends = np.cumsum((longest // LANES + 1) * LANES)
        size = int(ends[-1]) if listed else 0
        return cls(
            np.ones(len(loading_counts), dtype=bool),
            np.append(0, ends)[:n_words],
            np.zeros(n_words, dtype=np.int32),
            aligned((size,), np.uint16 if n_components <= 2**16 else np.uint32),
            np.zeros(size, dtype=loading_counts.dtype),
            aligned((size,), np.float32),
        )

    @property
    def listed(self) -> bool:
        """Whether there are lists."""
        return len(self.first) > 0

    @property
    def read(self) -> tuple[Array, Array, Array, Array]:
        """Return the arrays that a sweep reads."""
        return self.first, self.length, self.components, self.fractions

    def fill(self, params: Params, engine: Engine) -> None:
        """List the present counts."""
        prior = params.prior

        def index(piece: tuple[int, int]) -> None:
            index_words(
                params.loading_counts, *piece, params.totals, prior.layout.group_of_word,
                prior.totals, self.touched, *self.read[:3], self.counts, self.fractions,
            )  # fmt: skip

        engine.run(index, pieces(prior.layout.n_words))
