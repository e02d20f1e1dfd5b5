# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a table: words, and the groups that they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from discan.data.intake import offsets
from discan.typing import Array

__all__ = ["Layout"]


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a table: words, and the group each one belongs to.

    Attributes
    ----------
    n_words, n_groups : int
        J and G.
    group_of_word : (J,) int32 array
        Number of the group that owns each word.
    word_names, group_names : tuple of str or None
    """

    n_words: int
    group_of_word: Array
    n_groups: int
    word_names: tuple[str, ...] | None = None
    group_names: tuple[str, ...] | None = None

    @cached_property
    def group_sizes(self) -> Array:
        """Number of words of each group, (G,) int64."""
        return np.bincount(self.group_of_word, minlength=self.n_groups).astype(np.int64)

    @cached_property
    def indicator(self) -> Any:
        """Sparse (J, G) table with a one where the group owns the word."""
        rows = np.arange(self.n_words + 1)
        ones = np.ones(self.n_words)
        shape = (self.n_words, self.n_groups)
        return sparse.csr_array((ones, self.group_of_word, rows), shape=shape)

    def group_sums(self, matrix: Array) -> Array:
        """Sum the rows of a (J, K) matrix inside each group.

        Returns
        -------
        (G, K) array, int64 for whole-number types and float64 otherwise.
        """
        dtype = np.dtype(np.int64 if matrix.dtype.kind in "biu" else np.float64)
        if self.n_groups == 1:
            return np.asarray(matrix.sum(axis=0, keepdims=True, dtype=dtype))
        order, starts = self._by_group
        rows = matrix if order is None else matrix[order]
        return np.asarray(np.add.reduceat(rows, starts, axis=0, dtype=dtype))

    @cached_property
    def _by_group(self) -> tuple[Array | None, Array]:
        """Order that sorts words by group (None if sorted), and where each group begins."""
        groups = self.group_of_word
        sorted_already = bool((groups[1:] >= groups[:-1]).all())
        order = None if sorted_already else np.argsort(groups, kind="stable")
        return order, offsets(self.group_sizes)[:-1]
