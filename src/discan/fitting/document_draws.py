# SPDX-License-Identifier: BSD-3-Clause
"""Averages over draws of the documents' counts and scores.

While a chain runs, only sums of the counts are kept. They are sparse, because a document uses few
of many components. The tables that a user reads, documents by components, are computed from the
sums when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discan.algorithms.base import Params
from discan.data.blocks import Block, BlockRef
from discan.data.rules import Rule, check_rows, taken
from discan.errors import ModelFileError
from discan.kernels.running_means import add_counts, union_sizes
from discan.models import Model, ScoreTable
from discan.typing import Array

__all__ = ["CountSums", "SampledDocuments"]


_SAVED = ("indptr", "components", "sums", "moments")


@dataclass(frozen=True)
class CountSums:
    """Sums over draws of a block's documents, one entry per component that a document used.

    Attributes
    ----------
    start, stop : int
        Documents `start .. stop - 1`.
    longest : float
        Most tokens of a document.
    indptr : (stop - start + 1,) array
        Where the entries of each document begin.
    components : (n,) array
        Ascending inside each document.
    sums : (2 or 3, n) array
        Sums of c, c^2 and, if components can be absent, 1(c > 0). They are whole numbers: in 32
        bits while they fit, else in double precision.
    moments : (0 or 3, n) array
        Terms that the used component adds to mean, mean square and presence of the score. They
        are kept only if hyperparameters changed between draws, because then they do not follow
        from the sums.
    """

    start: int
    stop: int
    longest: float
    indptr: Array
    components: Array
    sums: Array
    moments: Array

    @classmethod
    def none(cls, block: BlockRef, lengths: Array, params: Params, absence: bool) -> CountSums:
        """Return the sums over no draws."""
        n_documents = block.stop - block.start
        return cls(
            block.start,
            block.stop,
            float(lengths[block.start : block.stop].max(initial=0.0)),
            np.zeros(n_documents + 1, dtype=np.int64),
            np.zeros(0, dtype=np.uint16 if params.n_components <= 2**16 else np.uint32),
            np.zeros((3 if absence else 2, 0), dtype=np.uint32),
            np.zeros((3 if params.learns_scores else 0, 0)),
        )

    def plus(
        self, counts: Array, n_draws: int, block: Block, table: ScoreTable, totals: Array
    ) -> CountSums:
        """Return the sums with one more draw, the ``n_draws``-th."""
        sums = self.sums
        if sums.dtype == np.uint32 and self.longest**2 * n_draws >= 2.0**32:
            sums = sums.astype(np.float64)
        indptr = np.empty_like(self.indptr)
        union_sizes(counts > 0, self.indptr, self.components, indptr)
        components = np.empty(indptr[-1], dtype=self.components.dtype)
        new_sums = np.empty((len(sums), indptr[-1]), dtype=sums.dtype)
        moments = np.empty((len(self.moments), indptr[-1]))
        add_counts(
            counts, block.levels, *table, totals,
            self.components, self.indptr, sums, self.moments,
            components, indptr, new_sums, moments,
        )  # fmt: skip
        return replace(self, indptr=indptr, components=components, sums=new_sums, moments=moments)

    def permuted(self, order: Array) -> CountSums:
        """Return the sums with the components in another order; they then ascend no longer."""
        place = np.empty(len(order), dtype=self.components.dtype)
        place[order] = np.arange(len(order))
        return replace(self, components=place[self.components])

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Return everything that is needed to continue, by name."""
        return {f"{prefix}.{name}": getattr(self, name) for name in _SAVED}

    def restored(
        self, prefix: str, arrays: Mapping[str, Array], totals: Array, n_components: int
    ) -> CountSums:
        """Return sums that were saved; those of a document's counts must be ``totals`` (n,)."""
        indptr, components = arrays[f"{prefix}.indptr"], arrays[f"{prefix}.components"]
        check_rows(prefix, indptr, components, self.stop - self.start, n_components)
        sizes = {"n": len(components)}
        rules = {
            "components": Rule(("n",), self.components.dtype.str[1:]),
            "sums": Rule((len(self.sums), "n"), arrays[f"{prefix}.sums"].dtype.str[1:], low=0),
            "moments": Rule((len(self.moments), "n"), "f8"),
        }
        values = taken(rules, arrays, sizes, f"{prefix}.")
        if values["sums"].dtype not in (np.uint32, np.float64):
            raise ModelFileError(f"{prefix}.sums has type {values['sums'].dtype}")
        found = self._row_sums(indptr, values["sums"][0])
        if not np.allclose(found, totals, rtol=1e-9, atol=0.0):
            raise ModelFileError(f"{prefix}.sums are not those of the documents")
        return replace(self, indptr=indptr, **values)

    def _row_sums(self, indptr: Array, entries: Array) -> Array:
        rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        return np.bincount(rows, weights=entries, minlength=len(indptr) - 1)

    def dense(self, entries: Array, n_components: int) -> Array:
        """Put values of the entries into a (n, K) table."""
        result = np.zeros((self.stop - self.start, n_components))
        rows = np.repeat(np.arange(len(result)), np.diff(self.indptr))
        result[rows, self.components] = entries
        return result


@dataclass(frozen=True)
class SampledDocuments:
    """Tables of the documents, each (I, K), computed from the sums over draws when read.

    Scores are averaged by their conditional means given the counts of a draw (Rao-Blackwell), and
    their mean squares likewise, so that the standard deviations are those of the posterior, not of
    the means.

    Attributes
    ----------
    parts : list of CountSums
    n_draws : int
    models : list of Model
        With the hyperparameters of each draw; one for all if they were not learnt.
    lengths, levels : (I,) arrays
    exposure_levels : (T,) array, or (T, 2) if documents have classes
    """

    parts: Sequence[CountSums]
    n_draws: int
    models: Sequence[Model]
    lengths: Array
    levels: Array
    exposure_levels: Array

    @property
    def component_counts(self) -> Array:
        """Mean counts."""
        return self._table(lambda part: self._mean(part, 0))

    @property
    def component_counts_sd(self) -> Array:
        """Standard deviations of the counts."""
        return self._table(lambda part: _sd(self._mean(part, 0), self._mean(part, 1)))

    @property
    def scores(self) -> Array:
        """Posterior mean scores."""
        return self._table(lambda part: self._score_moments(part)[0])

    @property
    def scores_sd(self) -> Array:
        """Posterior standard deviations of the scores."""
        return self._table(lambda part: _sd(*self._score_moments(part)[:2]))

    @property
    def absent(self) -> Array:
        """P(l = 0)."""
        return self._table(lambda part: self._score_moments(part)[2])

    @property
    def totals(self) -> Array:
        """Mean tokens of each component, (K,)."""
        n_components = len(self.models[0].alpha)
        sums = np.zeros(n_components)
        for part in self.parts:
            sums += np.bincount(part.components, part.sums[0], n_components)
        return sums / self.n_draws

    def permuted(self, order: Array) -> SampledDocuments:
        """Return the same with the components in another order (K,)."""
        return replace(
            self,
            parts=[part.permuted(order) for part in self.parts],
            models=[model.permuted(order) for model in self.models],
        )

    def _table(self, values: Callable[[CountSums], Array]) -> Array:
        result = np.empty((len(self.lengths), len(self.models[0].alpha)))
        for part in self.parts:
            result[part.start : part.stop] = values(part)
        return result

    def _mean(self, part: CountSums, row: int) -> Array:
        return part.dense(part.sums[row] / self.n_draws, len(self.models[0].alpha))

    def _score_moments(self, part: CountSums) -> tuple[Array, Array, Array]:
        """Mean, mean square and P(l = 0) of a part's scores, each (n, K)."""
        rows = slice(part.start, part.stop)
        levels, lengths = self.levels[rows], self.lengths[rows]
        if self._by_class:
            return self._of_classes(part, levels)
        mean, square, absent = self._unused
        if self.models[0].normalised:
            totals = lengths[:, None] + [np.sum(model.alpha) for model in self.models]
            mean = 1.0 / totals @ mean / len(self.models)
            square = 1.0 / (totals * (totals + 1.0)) @ square / len(self.models)
            absent = np.zeros_like(mean)
        else:
            mean, square, absent = mean[levels], square[levels], absent[levels]
        if len(part.moments):
            n_components = mean.shape[1]
            above = [part.dense(row / self.n_draws, n_components) for row in part.moments]
        else:
            above = self._above_unused(part, levels, lengths)
        return mean + above[0], square + above[1], np.maximum(absent - above[2], 0.0)

    @cached_property
    def _by_class(self) -> dict[int, SampledDocuments]:
        """The same for a model of one class each; empty if there are no classes."""
        model: Any = self.models[0]
        if model.n_classes == 1:
            return {}
        exposures = model.exposure_of_level(self.exposure_levels)
        return {
            c: replace(
                self,
                models=[other.models[c] for other in self.models],  # type: ignore[attr-defined]
                exposure_levels=exposures,
            )
            for c in np.unique(model.class_of_level(self.exposure_levels)).tolist()
        }

    def _of_classes(self, part: CountSums, levels: Array) -> tuple[Array, Array, Array]:
        """Moments of a part whose documents have classes."""
        classes = self.models[0].class_of_level(self.exposure_levels)[levels]
        mean, square, absent = np.empty((3, len(levels), len(self.models[0].alpha)))
        for c in np.unique(classes).tolist():
            own = classes == c
            found = self._by_class[c]._score_moments(part)
            for table, values in zip((mean, square, absent), found, strict=True):
                table[own] = values[own]
        return mean, square, absent

    @cached_property
    def _unused(self) -> tuple[Array, Array, Array]:
        """Moments of components without tokens, by draw if scores sum to one, else by level.

        Scores that sum to one are still to be divided by the documents' totals, which differ by
        draw; their levels are all alike.
        """
        if self.models[0].normalised:
            shape = np.array([model.alpha for model in self.models])
            return shape, shape * (shape + 1.0), np.zeros_like(shape)
        sums = [np.zeros((len(self.exposure_levels), len(self.models[0].alpha))) for _ in range(3)]
        for model in self.models:
            shape, rate, present = model.score_table(self.exposure_levels)
            sums[0] += present * shape / rate
            sums[1] += present * shape * (shape + 1.0) / rate**2
            sums[2] += 1.0 - present
        mean, square, absent = (total / len(self.models) for total in sums)
        return mean, square, absent

    def _above_unused(self, part: CountSums, levels: Array, lengths: Array) -> list[Array]:
        """Terms of the used components, if the hyperparameters were the same in every draw."""
        model = self.models[0]
        shape, rate, present = model.score_table(self.exposure_levels).rows(levels)
        totals = lengths[:, None] + np.sum(model.alpha) if model.normalised else np.ones((1, 1))
        mean, square = self._mean(part, 0), self._mean(part, 1)
        used = self._mean(part, 2) if len(part.sums) > 2 else np.zeros((1, 1))
        absent = used * (1.0 - present)
        factor = totals * (totals + 1.0) if model.normalised else totals
        return [
            (mean + shape * absent) / (rate * totals),
            (square + (2.0 * shape + 1.0) * mean + shape * (shape + 1.0) * absent)
            / (rate**2 * factor),
            absent,
        ]


def _sd(mean: Array, mean_square: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(mean_square - mean**2, 0.0)))
