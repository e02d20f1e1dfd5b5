# SPDX-License-Identifier: BSD-3-Clause
"""What a fit knows of its documents and loadings, computed now or when it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discan.typing import Array

__all__ = ["Documents", "Draws", "KnownDocuments", "KnownLoadings", "Loadings", "SavedLoadings"]


@dataclass
class Draws:
    """Posterior draws that were kept, one entry per draw."""

    component_counts: list[Array] = field(default_factory=list)
    loadings: list[Array] = field(default_factory=list)
    hyperparameters: list[dict[str, Array]] = field(default_factory=list)


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


@dataclass(frozen=True)
class KnownDocuments:
    """Documents whose tables are already computed."""

    component_counts: Array
    scores: Array
    scores_sd: Array | None
    absent: Array | None
    component_counts_sd: Array | None = None


class Loadings(Protocol):
    """Tables (J, K) of the loadings, perhaps computed when they are read.

    Point estimate or posterior mean, and posterior standard deviation in double precision (None for
    point estimates). The means of a chain may be in single precision.
    """

    @property
    def mean(self) -> Array: ...  # noqa: D102
    @property
    def sd(self) -> Array | None: ...  # noqa: D102


@dataclass(frozen=True)
class KnownLoadings:
    """Loadings whose tables are already computed."""

    mean: Array
    variance: Array | None = None

    @property
    def sd(self) -> Array | None:
        """Posterior standard deviation, (J, K); None for point estimates."""
        return None if self.variance is None else np.sqrt(self.variance, dtype=np.float64)


@dataclass(frozen=True)
class SavedLoadings:
    """Loadings read from a file."""

    mean: Array
    sd: Array | None = None
