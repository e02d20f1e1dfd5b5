# SPDX-License-Identifier: BSD-3-Clause
"""The result of a fit: loadings, documents, trace, and how they came about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Params
from discan.data.corpus import Layout
from discan.typing import Array

__all__ = [
    "Documents", "Draws", "Fit", "KnownDocuments", "KnownLoadings", "Loadings", "Trace",
]  # fmt: skip


class Trace:
    """What every cycle did, a row a cycle: ``trace["objective"]`` is a column."""

    columns = ("cycle", "objective", "log_likelihood", "seconds", "tokens_per_second")

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []

    def add(self, *row: float) -> None:
        """Append the row of a cycle."""
        self._rows.append(row)

    def __len__(self) -> int:
        """Return the number of cycles."""
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        """Iterate over rows, each a dict."""
        return (dict(zip(self.columns, row, strict=True)) for row in self._rows)

    def __getitem__(self, column: str) -> Array:
        """Return a column as an array."""
        at = self.columns.index(column)
        return np.array([row[at] for row in self._rows])

    def table(self) -> Array:
        """All rows as one array, (cycles, columns)."""
        return np.array(self._rows, dtype=np.float64).reshape(len(self), len(self.columns))

    def last(self, column: str) -> float:
        """Return the latest value of a column."""
        return self._rows[-1][self.columns.index(column)]

    def __repr__(self) -> str:
        """Describe the trace in one line."""
        if not self._rows:
            return "<Trace: no cycles>"
        first, last = self._rows[0][1], self._rows[-1][1]
        return f"<Trace: {len(self)} cycles, objective {first:.6g} to {last:.6g}>"


@dataclass
class Draws:
    """Posterior draws that were kept: one entry a draw."""

    component_counts: list[Array] = field(default_factory=list)
    loadings: list[Array] = field(default_factory=list)
    hyperparameters: list[dict[str, Array]] = field(default_factory=list)


class Documents(Protocol):
    """What a fit says of the documents: tables (I, K), perhaps worked out only when read.

    Posterior means of the counts and scores, their standard deviations (None for point estimates),
    and P(l = 0), zero throughout for models without absence.
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
    def absent(self) -> Array: ...  # noqa: D102


@dataclass(frozen=True)
class KnownDocuments:
    """Tables that are there: see ``Documents``."""

    component_counts: Array
    scores: Array
    scores_sd: Array | None
    absent: Array
    component_counts_sd: Array | None = None


class Loadings(Protocol):
    """What a fit says of the loadings: tables (J, K), perhaps worked out only when read.

    Point estimate or posterior mean, and posterior variance (None for point estimates). Many means
    of a chain are kept in single precision.
    """

    @property
    def mean(self) -> Array: ...  # noqa: D102
    @property
    def variance(self) -> Array | None: ...  # noqa: D102


@dataclass(frozen=True)
class KnownLoadings:
    """Tables that are there: see ``Loadings``."""

    mean: Array
    variance: Array | None = None


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes
    ----------
    params : Params
        For inference on new documents: hyperparameters, and loadings unless they are those below.
    tables : Loadings
        What is known of the loadings.
    documents : Documents
        What is known of the documents.
    trace, reason, converged, n_cycles, settings, layout
        How it came about: why the fit stopped, and what was decided on the way.
    draws : Draws or None
    """

    algorithm: Algorithm
    params: Params
    layout: Layout
    tables: Loadings
    documents: Documents
    trace: Trace
    reason: str
    converged: bool
    n_cycles: int
    settings: dict[str, Any]
    draws: Draws | None = None

    @property
    def loadings(self) -> Array:
        """Point estimate or posterior mean of the loadings, (J, K)."""
        return self.tables.mean

    @property
    def loadings_variance(self) -> Array | None:
        """Posterior variance of the loadings, (J, K); None for point estimates."""
        return self.tables.variance

    @property
    def loadings_sd(self) -> Array | None:
        """Posterior standard deviation of the loadings, (J, K); None for point estimates."""
        variance = self.loadings_variance
        return None if variance is None else np.sqrt(variance, dtype=np.float64)

    @property
    def component_counts(self) -> Array:
        """Posterior means of the documents' component counts, (I, K)."""
        return self.documents.component_counts

    @property
    def scores(self) -> Array:
        """Posterior means of the documents' scores, (I, K)."""
        return self.documents.scores

    @property
    def absent(self) -> Array:
        """P(l = 0), (I, K)."""
        return self.documents.absent
