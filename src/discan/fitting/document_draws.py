# SPDX-License-Identifier: BSD-3-Clause
"""Average posterior draws: means and standard deviations of counts, scores and loadings.

While a chain runs, only sums are kept: of the documents' counts, sparse, because a document uses
few of many components; and of the loadings. The tables that a user reads, documents by components,
are made of them when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Params
from discan.data.corpus import Block, Corpus
from discan.fitting.loading_draws import DenseMeans, SparseMeans
from discan.fitting.result import Draws, Loadings
from discan.kernels.running_means import add_counts, union_sizes
from discan.models import Model, ScoreTable
from discan.typing import Array

__all__ = ["Averages", "SampledDocuments"]

# From this many loadings on, their variances are kept in single precision, and so are their means.
SINGLE_FROM = 2**17
SINGLE_MEANS_FROM = 2**17


@dataclass(frozen=True)
class CountSums:
    """Sums over draws of a block's documents, an entry for each component that a document used.

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
        What the used component adds to mean, mean square and presence of the score; needed only
        if they do not follow from the sums, because hyperparameters changed between draws.
    """

    start: int
    stop: int
    longest: float
    indptr: Array
    components: Array
    sums: Array
    moments: Array

    @classmethod
    def none(cls, block: Block, lengths: Array, params: Params, absence: bool) -> CountSums:
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
        union_sizes(counts, self.indptr, self.components, indptr)
        components = np.empty(indptr[-1], dtype=self.components.dtype)
        new_sums = np.empty((len(sums), indptr[-1]), dtype=sums.dtype)
        moments = np.empty((len(self.moments), indptr[-1]))
        add_counts(
            counts, block.levels, *table, totals,
            self.components, self.indptr, sums, self.moments,
            components, indptr, new_sums, moments,
        )  # fmt: skip
        return replace(self, indptr=indptr, components=components, sums=new_sums, moments=moments)

    def dense(self, entries: Array, n_components: int) -> Array:
        """Spread values of the entries over a (n, K) table."""
        result = np.zeros((self.stop - self.start, n_components))
        rows = np.repeat(np.arange(len(result)), np.diff(self.indptr))
        result[rows, self.components] = entries
        return result


@dataclass(frozen=True)
class SampledDocuments:
    """What the draws say of the documents; the tables, each (I, K), are worked out when read.

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
    exposure_levels : (T,) array
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
    def _unused(self) -> tuple[Array, Array, Array]:
        """Moments of components without tokens: a row a draw if scores sum to one, else a level.

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
        """What the used components add, if the hyperparameters were the same in every draw."""
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


class Averages:
    """Sums over draws.

    Parameters
    ----------
    corpus : Corpus
    blocks : its blocks, in order
    params : Params
        Those of the first draw.
    keep_draws : bool
    """

    def __init__(
        self, corpus: Corpus, blocks: Sequence[Block], params: Params, keep_draws: bool
    ) -> None:
        self.n_draws = 0
        self._corpus = corpus
        present = params.model.score_table(corpus.exposure_levels).present
        # if hyperparameters change, absence is among the moments
        absence = bool((present < 1.0).any()) and not params.learns_scores
        self._parts = {
            block.index: CountSums.none(block, corpus.lengths, params, absence) for block in blocks
        }
        size = corpus.n_words * params.n_components
        single = size >= SINGLE_MEANS_FROM and _fit_single(corpus, params)
        self._means = (
            SparseMeans(params)
            if single and SparseMeans.suits(params, corpus.word_totals)
            else DenseMeans(
                params,
                np.float32 if single else np.float64,
                np.float32 if size >= SINGLE_FROM else np.float64,
            )
        )
        self._hyper: dict[str, Array] = {}
        self._models: list[Model] = []
        self.draws = Draws() if keep_draws else None
        self._counts: Array | None = None

    # ---- adding a draw ----

    def begin(self, params: Params) -> None:
        """Start a draw."""
        self.n_draws += 1
        if params.learns_scores or not self._models:
            self._models.append(params.model)
        if self.draws is not None:
            self._counts = np.empty((self._corpus.n_documents, params.n_components))

    def add_block(self, block: Block, table: ScoreTable, counts: Array) -> None:
        """Add the counts (n, K) of a block's documents."""
        model = self._models[-1]
        totals = np.zeros(0)
        if model.normalised:
            totals = self._corpus.lengths[block.start : block.stop] + np.sum(model.alpha)
        part = self._parts[block.index]
        self._parts[block.index] = part.plus(counts, self.n_draws, block, table, totals)
        if self._counts is not None:
            self._counts[block.start : block.stop] = counts

    def end(self, algorithm: Algorithm, params: Params) -> None:
        """Add what the draw says of the loadings and the hyperparameters."""
        self._means.add(params, self.n_draws)
        values = {**params.model.values(), "gamma": params.prior.gamma}
        for name, value in values.items():
            self._hyper[name] = self._hyper.get(name, 0.0) + value
        if self.draws is not None and self._counts is not None:
            self.draws.component_counts.append(self._counts)
            self.draws.loadings.append(algorithm.mean_loadings(params))
            self.draws.hyperparameters.append(values)

    # ---- writing down and taking up ----

    def arrays(self) -> dict[str, Array]:
        """All sums and kept draws by name."""
        result = self._means.arrays()
        result |= {f"averages.hyper.{name}": value for name, value in self._hyper.items()}
        for name in self._models[0].hyperparameters:
            result[f"averages.models.{name}"] = np.array(
                [model.values()[name] for model in self._models]
            )
        for index, part in self._parts.items():
            for name in _SPARSE:
                result[f"averages.{index}.{name}"] = getattr(part, name)
        if self.draws is not None:
            result["draws.component_counts"] = np.array(self.draws.component_counts)
            result["draws.loadings"] = np.array(self.draws.loadings)
            for name in self._hyper:
                values = [draw[name] for draw in self.draws.hyperparameters]
                result[f"draws.{name}"] = np.array(values)
        return result

    def restore(self, n_draws: int, params: Params, arrays: dict[str, Array]) -> None:
        """Take up sums and draws again."""
        self.n_draws = n_draws
        self._means.restore(arrays)
        prefix = "averages.hyper."
        self._hyper = {
            name.removeprefix(prefix): value
            for name, value in arrays.items()
            if name.startswith(prefix)
        }
        names = params.model.hyperparameters
        rows = zip(*(arrays[f"averages.models.{name}"] for name in names), strict=True)
        self._models = [
            replace(params.model, **dict(zip(names, row, strict=True)))  # type: ignore[type-var]
            for row in rows
        ]
        for index, part in self._parts.items():
            values: Any = {name: arrays[f"averages.{index}.{name}"] for name in _SPARSE}
            self._parts[index] = replace(part, **values)
        if "draws.loadings" in arrays:
            columns = {name: arrays[f"draws.{name}"] for name in self._hyper}
            self.draws = Draws(
                list(arrays["draws.component_counts"]),
                list(arrays["draws.loadings"]),
                [{name: column[n] for name, column in columns.items()} for n in range(n_draws)],
            )

    # ---- what they say ----

    @property
    def documents(self) -> SampledDocuments:
        """What the draws so far say of the documents."""
        corpus = self._corpus
        return SampledDocuments(
            list(self._parts.values()), self.n_draws, list(self._models),
            corpus.lengths, corpus.levels, corpus.exposure_levels,
        )  # fmt: skip

    @property
    def loadings(self) -> Loadings:
        """What the draws so far say of the loadings."""
        return self._means.result

    def inference_params(self, params: Params) -> Params:
        """Posterior means of the hyperparameters; new documents read the loadings of the result."""
        hyper = {name: value / self.n_draws for name, value in self._hyper.items()}
        gamma = hyper.pop("gamma")
        return replace(
            params,
            model=replace(params.model, **hyper),  # type: ignore[type-var]
            prior=replace(params.prior, gamma=gamma),
            loadings=None,
        )


_SPARSE = ("indptr", "components", "sums", "moments")


def _fit_single(corpus: Corpus, params: Params) -> bool:
    """Whether no mean can be too small for single precision."""
    prior = params.prior
    least = prior.gamma.min() / (prior.totals.max() + corpus.n_tokens)
    return bool(least >= np.finfo(np.float32).tiny)


def _sd(mean: Array, mean_square: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(mean_square - mean**2, 0.0)))
