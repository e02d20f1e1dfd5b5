# SPDX-License-Identifier: BSD-3-Clause
"""Averages over draws of the loadings, dense or for the words and components that ever met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan.algorithms.base import Params
from discan.algorithms.footprint import FILLED
from discan.data.layout import Layout
from discan.data.rules import MOST, ONE, Rule, check_rows, taken
from discan.engines import pieces
from discan.fitting.posterior import KnownLoadings, Loadings, checked_loadings
from discan.kernels.running_means import average_loadings, average_used, union_sizes
from discan.typing import Array

__all__ = ["DenseMeans", "SparseMeans"]

# The sums per group must be small beside those of the words.
WORDS_PER_GROUP = 32
PIECES = 64


class DenseMeans:
    """Running means and variances of all loadings, (J, K) each."""

    def __init__(self, params: Params, mean_type: Any, variance_type: Any) -> None:
        shape = (params.prior.layout.n_words, params.n_components)
        self._mean = np.zeros(shape, dtype=mean_type)
        self._variance = np.zeros(shape, dtype=variance_type)
        self._lent = False  # whether a result reads the two arrays, so that they must not change

    def add(self, params: Params, n_draws: int) -> None:
        """Add the ``n_draws``-th draw."""
        prior = params.prior
        if self._lent:
            self._mean, self._variance = self._mean.copy(), self._variance.copy()
            self._lent = False
        average_loadings(
            params.loading_counts, params.totals, prior.layout.group_of_word, prior.gamma,
            prior.totals, n_draws, self._mean, self._variance,
        )  # fmt: skip

    @property
    def result(self) -> Loadings:
        """Averages over the draws so far; the arrays are lent, not copied."""
        self._lent = True
        return KnownLoadings(self._mean, self._variance)

    def arrays(self) -> dict[str, Array]:
        """Return everything that is needed to continue, by name."""
        return {"averages.loadings": self._mean, "averages.variance": self._variance}

    def restore(self, arrays: Mapping[str, Array], params: Params) -> None:
        """Continue with arrays that were saved."""
        mean, variance = self._mean, self._variance
        rules = {
            "loadings": Rule(mean.shape, mean.dtype.str[1:], low=0, high=ONE),
            "variance": Rule(variance.shape, variance.dtype.str[1:], low=0, high=ONE),
        }
        values = taken(rules, arrays, {}, "averages.")
        checked_loadings("averages.loadings", values["loadings"], params.prior.layout)
        self._mean[...], self._variance[...] = values["loadings"], values["variance"]


_SAVED = ("indptr", "components", "moments")


@dataclass(frozen=True)
class UsedMeans:
    """Running means and variances of some words' loadings, where the word was ever drawn.

    Attributes
    ----------
    start, stop : int
        Words `start .. stop - 1`.
    indptr : (stop - start + 1,) array
        Where the entries of each word begin.
    components : (n,) array
        Ascending inside each word.
    moments : (2, n) array
        Means and variances, in single precision.
    """

    start: int
    stop: int
    indptr: Array
    components: Array
    moments: Array

    def plus(self, params: Params, n_draws: int, relative: Array, unused: Array) -> UsedMeans:
        """Return the means with one more draw, the ``n_draws``-th."""
        prior, words = params.prior, slice(self.start, self.stop)
        counts = np.asarray(params.loading_counts)[words]
        indptr = np.empty_like(self.indptr)
        union_sizes(counts > 0, self.indptr, self.components, indptr)
        components = np.empty(indptr[-1], dtype=self.components.dtype)
        moments = np.empty((2, indptr[-1]), dtype=np.float32)
        average_used(
            counts, params.totals, prior.layout.group_of_word[words], prior.gamma[words],
            prior.totals, n_draws, relative[words], unused,
            self.components, self.indptr, self.moments, components, indptr, moments,
        )  # fmt: skip
        return replace(self, indptr=indptr, components=components, moments=moments)

    def permuted(self, order: Array) -> UsedMeans:
        """Return the means with the components in another order; they then ascend no longer."""
        place = np.empty(len(order), dtype=self.components.dtype)
        place[order] = np.arange(len(order))
        return replace(self, components=place[self.components])

    def restored(self, prefix: str, arrays: Mapping[str, Array], n_components: int) -> UsedMeans:
        """Return means that were saved."""
        indptr, components = arrays[f"{prefix}.indptr"], arrays[f"{prefix}.components"]
        check_rows(prefix, indptr, components, self.stop - self.start, n_components)
        rules = {
            "components": Rule(("n",), self.components.dtype.str[1:]),
            "moments": Rule((2, "n"), "f4", low=0, high=ONE),
        }
        values = taken(rules, arrays, {"n": len(components)}, f"{prefix}.")
        return replace(self, indptr=indptr, **values)


class SparseMeans:
    """Running means and variances of the loadings where a word was ever drawn from a component.

    Elsewhere x = gamma_j / t_gk in every draw: with gamma_j = r_j s, where only s can change from
    draw to draw, all follow from y = s / t_gk, by group and component. Kept of it, (4, G, K), are
    its mean and variance, and the means of y / (t + 1) and y^2 / (t + 1).
    """

    def __init__(self, params: Params) -> None:
        prior = params.prior
        self._layout = prior.layout
        self._relative = prior.gamma / prior.gamma[0]
        self._unused = np.zeros((4, prior.layout.n_groups, params.n_components))
        small = params.n_components <= 2**16
        self._parts = [
            UsedMeans(
                start, stop, np.zeros(stop - start + 1, dtype=np.int64),
                np.zeros(0, dtype=np.uint16 if small else np.uint32),
                np.zeros((2, 0), dtype=np.float32),
            )
            for start, stop in pieces(prior.layout.n_words, PIECES)
        ]  # fmt: skip

    @staticmethod
    def suits(params: Params, word_totals: Array) -> bool:
        """Whether most loadings are alike but for gamma, and gamma stays in proportion.

        A word, of which there are ``word_totals`` (J,) tokens, is in no more components than those.
        """
        layout, n_components = params.prior.layout, params.n_components
        most = np.minimum(word_totals, n_components).sum()
        return (
            bool(most <= FILLED * layout.n_words * n_components)
            and layout.n_groups * WORDS_PER_GROUP <= layout.n_words
            and (params.prior.symmetric or "gamma" not in params.learn)
        )

    def add(self, params: Params, n_draws: int) -> None:
        """Add the ``n_draws``-th draw."""
        for n, part in enumerate(self._parts):  # free the old part before the next is made
            self._parts[n] = part.plus(params, n_draws, self._relative, self._unused)
        t = params.prior.totals[:, None] + np.asarray(params.totals)
        y = params.prior.gamma[0] / t
        mean, variance, first, second = self._unused
        step = y - mean
        new = mean + step / n_draws
        now = (new, step * (y - new), y / (t + 1.0), y * y / (t + 1.0))
        past = (new, variance, first, second)
        self._unused = np.array(
            [before + (value - before) / n_draws for before, value in zip(past, now, strict=True)]
        )

    @property
    def result(self) -> Loadings:
        """Averages over the draws so far; tables are computed when they are read."""
        return SampledLoadings(list(self._parts), self._unused, self._relative, self._layout)

    def arrays(self) -> dict[str, Array]:
        """Return everything that is needed to continue, by name."""
        result = {"averages.unused": self._unused}
        for n, part in enumerate(self._parts):
            result |= {f"averages.words.{n}.{name}": getattr(part, name) for name in _SAVED}
        return result

    def restore(self, arrays: Mapping[str, Array], params: Params) -> None:
        """Continue with arrays that were saved."""
        rule = Rule(self._unused.shape, "f8", low=0, high=MOST)
        self._unused = taken({"unused": rule}, arrays, {}, "averages.")["unused"]
        for n, part in enumerate(self._parts):
            self._parts[n] = part.restored(f"averages.words.{n}", arrays, params.n_components)
        checked_loadings("averages.words", self.result.mean, params.prior.layout)


@dataclass(frozen=True)
class SampledLoadings:
    """Tables of the loadings, computed when they are read; see ``SparseMeans``."""

    parts: list[UsedMeans]
    unused: Array
    relative: Array
    layout: Layout

    @property
    def mean(self) -> Array:
        """Posterior mean in single precision, (J, K)."""
        return self._table(0)

    @property
    def variance(self) -> Array:
        """Posterior variance in single precision, (J, K)."""
        return self._table(1)

    @property
    def sd(self) -> Array:
        """Posterior standard deviation, (J, K)."""
        return np.sqrt(self.variance, dtype=np.float64)

    @property
    def stored(self) -> tuple[Array, Array | None]:
        """The means in order; they are computed when they are read."""
        return self.mean, None

    def permuted(self, order: Array) -> SampledLoadings:
        """Return the same with the components in another order (K,)."""
        parts = [part.permuted(order) for part in self.parts]
        return replace(self, parts=parts, unused=self.unused[:, :, order])

    def _table(self, row: int) -> Array:
        mean, variance, first, second = self.unused
        result = np.empty((self.layout.n_words, mean.shape[1]), dtype=np.float32)
        for part in self.parts:
            groups = self.layout.group_of_word[part.start : part.stop]
            relative = self.relative[part.start : part.stop, None]
            table = result[part.start : part.stop]
            if row == 0:
                table[...] = relative * mean[groups]
            else:
                within = first[groups] - relative * second[groups]
                table[...] = relative * (np.maximum(within, 0.0) + relative * variance[groups])
            words = np.repeat(np.arange(len(table)), np.diff(part.indptr))
            table[words, part.components] = part.moments[row]
        return result
