# SPDX-License-Identifier: BSD-3-Clause
"""What a fit knows of its documents and loadings, computed now or when it is read."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.errors import LimitError, ModelFileError
from discan.typing import Array

__all__ = [
    "PER_COMPONENT", "ROUNDING", "Documents", "Draws", "KnownDocuments", "KnownLoadings",
    "Loadings", "SavedLoadings", "StoredDocuments", "checked_loadings", "reorder", "size_order",
]  # fmt: skip

ROWS_AT_ONCE = 2**12
ROUNDING = 1e-3
"""How far from 1 sums of many loadings in single precision may be."""
# A word's largest loading is not smaller, by bytes of a number: counts are divided by it. Geometric
# means are at least 1e-150, and gamma is at least 1e-100.
_LEAST = {4: 1e-30, 8: 1e-160}
PER_COMPONENT = ("alpha", "beta", "rho", "concentration", "parents")
"""Arrays of a model whose first axis is that of the components."""


def size_order(totals: Array) -> Array:
    """Order of the components by their number of tokens (K,), the largest first."""
    return np.argsort(-totals, kind="stable")


def reorder(table: Array | None, order: Array) -> None:
    """Put the columns of a table (n, K) in another order, in place."""
    if table is None or _is_one_number(table):
        return
    for start in range(0, len(table), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        table[rows] = table[rows][:, order]


@dataclass
class Draws:
    """Posterior draws that were kept, one entry per draw."""

    component_counts: list[Array] = field(default_factory=list)
    loadings: list[Array] = field(default_factory=list)
    hyperparameters: list[dict[str, Array]] = field(default_factory=list)

    def permuted(self, order: Array) -> Draws:
        """Return the draws with the components in another order (K,)."""
        return Draws(
            [counts[:, order] for counts in self.component_counts],
            [loadings[:, order] for loadings in self.loadings],
            [
                {n: value[order] if n in PER_COMPONENT else value for n, value in draw.items()}
                for draw in self.hyperparameters
            ],
        )

    def with_parents_in(self, order: Array) -> Draws:
        """Return the draws with the parents in another order (R,)."""
        rows: dict[str, Any] = {
            "parents": (slice(None), order),
            "parent_alpha": order,
            "parent_beta": order,
        }
        hyper = [
            {name: value[rows[name]] if name in rows else value for name, value in draw.items()}
            for draw in self.hyperparameters
        ]
        return replace(self, hyperparameters=hyper)


class Documents(Protocol):
    """Tables (I, K) of the documents, perhaps computed when they are read.

    Posterior means of the counts and scores, their standard deviations (None for point estimates),
    and P(l = 0), which is zero throughout for models without absence.
    """

    @property
    def component_counts(self) -> Array: ...  # noqa: D102
    @property
    def component_counts_sd(self) -> Array | None: ...  # noqa: D102
    @property
    def scores(self) -> Array: ...  # noqa: D102
    @property
    def scores_sd(self) -> Array | None: ...  # noqa: D102
    @property
    def absent(self) -> Array | None: ...  # noqa: D102
    @property
    def totals(self) -> Array:
        """Tokens of each component, (K,)."""
        ...

    def permuted(self, order: Array) -> Documents:
        """Return the same with the components in another order (K,)."""
        ...


@dataclass(frozen=True)
class KnownDocuments:
    """Documents whose tables are already computed."""

    component_counts: Array
    scores: Array
    scores_sd: Array | None
    absent: Array | None
    component_counts_sd: Array | None = None
    parent_scores: Array | None = None
    parent_sizes: Array | None = None

    @property
    def totals(self) -> Array:
        """Tokens of each component, (K,)."""
        return np.asarray(self.component_counts.sum(axis=0))

    def with_parents_in(self, order: Array) -> KnownDocuments:
        """Return the same with the parents in another order (R,)."""
        scores, sizes = self.parent_scores, self.parent_sizes
        return replace(
            self,
            parent_scores=None if scores is None else scores[:, order],
            parent_sizes=None if sizes is None else sizes[order],
        )

    def permuted(self, order: Array) -> KnownDocuments:
        """Return the same with the components in another order (K,)."""

        def moved(values: Array) -> Array:
            # in the order of rows, as they were: sums then have the same bits
            return np.take(values, order, axis=1)

        def table(values: Array | None) -> Array | None:
            return values if values is None or _is_one_number(values) else moved(values)

        return KnownDocuments(
            moved(self.component_counts), moved(self.scores), table(self.scores_sd),
            table(self.absent), table(self.component_counts_sd), self.parent_scores,
            self.parent_sizes,
        )  # fmt: skip

    def reorder(self, order: Array) -> Self:
        """Put the components in another order (K,), in place; for tables that nobody else reads."""
        for table in (
            self.component_counts, self.scores, self.scores_sd, self.absent,
            self.component_counts_sd,
        ):  # fmt: skip
            reorder(table, order)
        return self


@dataclass(frozen=True)
class StoredDocuments:
    """Documents of a corpus folder; of their tables, only the totals are kept.

    Attributes
    ----------
    path, digest : str
        The folder, and the SHA-256 of its data.
    n_documents : int
    totals : (K,) array
        Tokens of each component.
    parent_sizes : (R,) array or None
        Mean share of each parent, if components have parents.
    """

    path: str
    digest: str
    n_documents: int
    totals: Array
    parent_sizes: Array | None = None

    @classmethod
    def of(cls, corpus: Corpus, totals: Array) -> StoredDocuments:
        """Name the folder of a corpus, and keep the totals."""
        path = os.path.abspath(getattr(corpus, "path"))  # noqa: B009
        return cls(path, corpus.digest, corpus.n_documents, totals)

    @property
    def component_counts(self) -> Array:
        """Not kept."""
        return self._refuse()

    @property
    def component_counts_sd(self) -> Array | None:
        """Not kept."""
        return self._refuse()

    @property
    def scores(self) -> Array:
        """Not kept."""
        return self._refuse()

    @property
    def scores_sd(self) -> Array | None:
        """Not kept."""
        return self._refuse()

    @property
    def absent(self) -> Array | None:
        """Not kept."""
        return self._refuse()

    def _refuse(self) -> Array:
        raise LimitError(
            f"a fit to the folder {self.path} keeps no tables of its documents",
            remedy="use transform to compute them",
        )

    def permuted(self, order: Array) -> StoredDocuments:
        """Return the same with the components in another order (K,)."""
        return replace(self, totals=self.totals[order])

    def with_parents_in(self, order: Array) -> StoredDocuments:
        """Return the same with the parents in another order (R,)."""
        sizes = self.parent_sizes
        return replace(self, parent_sizes=None if sizes is None else sizes[order])

    reorder = permuted


class Loadings(Protocol):
    """Tables (J, K) of the loadings, perhaps computed when they are read.

    Point estimate or posterior mean, and posterior standard deviation in double precision (None for
    point estimates). The means of a chain may be in single precision.
    """

    @property
    def mean(self) -> Array: ...  # noqa: D102
    @property
    def sd(self) -> Array | None: ...  # noqa: D102
    @property
    def stored(self) -> tuple[Array, Array | None]:
        """The means as they are kept, and the order (K,) in which to read their columns."""
        ...

    def permuted(self, order: Array) -> Loadings:
        """Return the same with the components in another order (K,)."""
        ...


@dataclass(frozen=True)
class KnownLoadings:
    """Loadings whose tables are already computed.

    Attributes
    ----------
    kept, kept_variance : (J, K) arrays
        Those of a chain are its own, so they are not changed.
    order : (K,) array, optional
        The order of the components, where it is not that of the arrays.
    """

    kept: Array
    kept_variance: Array | None = None
    order: Array | None = None

    @property
    def mean(self) -> Array:
        """Point estimate or posterior mean, (J, K)."""
        return self.kept if self.order is None else self.kept[:, self.order]

    @property
    def variance(self) -> Array | None:
        """Posterior variance, (J, K); None for point estimates."""
        kept = self.kept_variance
        return kept if kept is None or self.order is None else kept[:, self.order]

    @property
    def sd(self) -> Array | None:
        """Posterior standard deviation, (J, K); None for point estimates."""
        variance = self.variance
        return None if variance is None else np.sqrt(variance, dtype=np.float64)

    @property
    def stored(self) -> tuple[Array, Array | None]:
        """The means as they are kept, and the order of their columns."""
        return self.kept, self.order

    def permuted(self, order: Array) -> KnownLoadings:
        """Return the same with the components in another order (K,); nothing is copied."""
        return replace(self, order=order if self.order is None else self.order[order])


@dataclass(frozen=True)
class SavedLoadings:
    """Loadings read from a file."""

    mean: Array
    sd: Array | None = None

    @property
    def stored(self) -> tuple[Array, Array | None]:
        """The means as they are kept, in order."""
        return self.mean, None

    def permuted(self, order: Array) -> SavedLoadings:
        """Return the same with the components in another order (K,)."""
        return SavedLoadings(self.mean[:, order], None if self.sd is None else self.sd[:, order])


def _is_one_number(table: Array) -> bool:
    """Whether a table is one number that was broadcast, and takes no memory."""
    return table.strides == (0, 0)


def checked_loadings(name: str, value: Array, layout: Layout, *, exactly: bool = True) -> Array:
    """Return loadings (J, K) from a file; columns must sum to 1 in each group, or to at most 1."""
    sums = layout.group_sums(value)
    least = 1.0 - ROUNDING if exactly else 0.0
    if not (sums.min() >= least and sums.max() <= 1.0 + ROUNDING):
        raise ModelFileError(f"{name} do not sum to 1 in each group and component")
    largest = value.max(axis=1)
    if ((largest > 0.0) & (largest < _LEAST[value.dtype.itemsize])).any():
        raise ModelFileError(f"{name} of a word are too small")
    return value
