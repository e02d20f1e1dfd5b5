# SPDX-License-Identifier: BSD-3-Clause
"""Shares of the components in many documents: the whole table, or the largest of each document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from discan.typing import Array

__all__ = ["AllShares", "Shares", "TopShares", "top_shares"]

ROWS = 2**12  # documents that are worked on at once
FEW_COLUMNS = 2


class Shares(Protocol):
    """Shares of K components in I documents; the shares of a document sum to one."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of components, (I, K)."""
        ...

    def times(self, rows: slice, table: Array) -> Array:
        """Multiply the shares of some documents by a table (K, m), in its precision: (n, m)."""
        ...

    def rows(self, chosen: Any, dtype: Any = np.float64) -> Array:
        """Shares of some documents, (n, K)."""
        ...

    def parts(self, rows: slice, dtype: Any) -> tuple[Array, Array, Array, Array]:
        """Return values, components, rest and background as ``kernels.queries`` takes them."""
        ...


@dataclass(frozen=True)
class AllShares:
    """All shares, (I, K), in half, single or double precision."""

    values: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of components, (I, K)."""
        return self.values.shape[0], self.values.shape[1]

    def times(self, rows: slice, table: Array) -> Array:
        """Multiply the shares of some documents by a table (K, m): (n, m)."""
        return np.asarray(self.values[rows].astype(table.dtype, copy=False) @ table)

    def rows(self, chosen: Any, dtype: Any = np.float64) -> Array:
        """Shares of some documents, (n, K)."""
        return np.asarray(self.values[chosen], dtype=dtype)

    def parts(self, rows: slice, dtype: Any) -> tuple[Array, Array, Array, Array]:
        """Return all values; the others are empty."""
        nothing = np.empty(0, dtype)
        values = np.ascontiguousarray(self.values[rows], dtype=dtype)
        return values, np.empty((0, 0), np.int32), nothing, nothing


@dataclass(frozen=True)
class TopShares:
    """The largest shares of each document; what is left has the shares of the background.

    The share of component k in document i is ``values_ik + rest_i background_k``.

    Attributes
    ----------
    components, values : (I, L) arrays
        Numbers of the components that are kept, ascending, and their shares above the background.
    rest : (I,) array
    background : (K,) array
        Sums to one.
    """

    components: Array
    values: Array
    rest: Array
    background: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of components, (I, K)."""
        return len(self.rest), len(self.background)

    def times(self, rows: slice, table: Array) -> Array:
        """Multiply the shares of some documents by a table (K, m): (n, m)."""
        kept = self._sparse(rows, table.dtype)
        if table.shape[1] > FEW_COLUMNS:
            kept = kept.toarray()  # dense products are quicker, though most factors are zero
        rest = self.rest[rows].astype(table.dtype)
        behind = self.background.astype(table.dtype) @ table
        return np.asarray(kept @ table + np.multiply.outer(rest, behind))

    def rows(self, chosen: Any, dtype: Any = np.float64) -> Array:
        """Shares of some documents, (n, K)."""
        rest, background = self.rest[chosen].astype(dtype), self.background.astype(dtype)
        table = self._sparse(chosen, dtype).toarray()
        table += np.multiply.outer(rest, background)
        return np.asarray(table)

    def parts(self, rows: slice, dtype: Any) -> tuple[Array, Array, Array, Array]:
        """Return the parts of the shares of some documents."""
        values = np.ascontiguousarray(self.values[rows], dtype=dtype)
        numbers = np.ascontiguousarray(self._numbers[rows])
        return values, numbers, self.rest[rows].astype(dtype), self.background.astype(dtype)

    @cached_property
    def _numbers(self) -> Array:
        return self.components.astype(np.int32, copy=False)

    def _sparse(self, rows: Any, dtype: Any) -> Any:
        numbers, values = self._numbers[rows], self.values[rows]
        ends = np.arange(0, numbers.size + 1, numbers.shape[1], dtype=np.int32)
        parts = (values.astype(dtype, copy=False).ravel(), numbers.ravel(), ends)
        return sparse.csr_array(parts, shape=(len(numbers), len(self.background)))


def top_shares(table: Array, n: int, background: Array, dtype: Any = np.float32) -> TopShares:
    """Keep the n largest shares of each document, after as much background as there is in it.

    Parameters
    ----------
    table : (I, K) array
        Shares; rows sum to one.
    n : int
    background : (K,) array
        Sums to one and is positive; e.g. the mean of the prior. If the table holds posterior means,
        a component without tokens has exactly its background, and is lost without a loss.
    dtype : type of the values
    """
    n_documents, n_components = table.shape
    n = min(n, n_components)
    components = np.empty((n_documents, n), np.uint16 if n_components <= 2**16 else np.uint32)
    values = np.empty((n_documents, n), dtype)
    rest = np.empty(n_documents, np.float64 if np.dtype(dtype) == np.float64 else np.float32)
    for rows in pieces(n_documents):
        shares = table[rows]
        least = (shares / background).min(axis=1)
        above = np.maximum(shares - np.multiply.outer(least, background), 0.0)
        if n < n_components:
            chosen = np.sort(np.argpartition(-above, n - 1, axis=1)[:, :n], axis=1)
        else:
            chosen = np.broadcast_to(np.arange(n_components), above.shape)
        kept = np.take_along_axis(above, chosen, axis=1)
        components[rows], values[rows] = chosen, kept
        rest[rows] = np.clip(1.0 - kept.sum(axis=1), 0.0, 1.0)
    return TopShares(components, values, rest, background)


def pieces(n_documents: int, size: int = ROWS) -> list[slice]:
    """Cut documents into runs."""
    starts = range(0, n_documents, size)
    return [slice(start, min(start + size, n_documents)) for start in starts]


def by_pieces(n_documents: int, work: Callable[[slice], Array], engine: Any) -> Array:
    """Run ``work`` on runs of documents and join the results."""
    return np.concatenate(engine.run(work, pieces(n_documents)))
