# SPDX-License-Identifier: BSD-3-Clause
"""The prior of the loadings: a Dirichlet for every group and component, perhaps with seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln

from discan.data.layout import Layout
from discan.errors import InputError
from discan.models.hyperparameters import (
    Mode,
    bounded,
    dirichlet,
    seeded_dirichlet,
    symmetric_dirichlet,
)
from discan.models.seeds import Seeds
from discan.typing import Array
from discan.validation import LARGEST, LEAST, POSITIVE, vector

__all__ = ["LoadingsPrior"]

MANY_WORDS = 5000.0  # half of the words from which on the default of gamma is less than 1/2
START_SHARE = 0.25  # weight of a prior to be learnt, relative to the tokens, at most
OWN_VALUE_FROM = 50  # words of a group that has a gamma of its own


@dataclass(frozen=True)
class LoadingsPrior:
    """theta_{B_g, k} ~ Dirichlet(gamma_{B_g} + seeds_{B_g, k}) for every group g and component k.

    Loading counts (J, K) that a method takes hold the tokens of the seeds.

    Attributes
    ----------
    gamma : (J,) array
    layout : Layout
    symmetric : bool
        Gamma is one value for all words of a group, and is learnt as one value. Groups of few words
        share it (see ``classes``).
    seeds : Seeds, optional
        Tokens that were seen beforehand.
    """

    gamma: Array
    layout: Layout
    symmetric: bool
    seeds: Seeds | None = None

    @classmethod
    def of(cls, gamma: Any, layout: Layout) -> LoadingsPrior:
        """Check gamma, one number or one number per word; None is the default.

        The default is Jeffreys' 1/2, or less in a group of many words: 5000 / their number.
        """
        if gamma is None:
            sizes = layout.group_sizes[layout.group_of_word]
            return cls(np.minimum(0.5, MANY_WORDS / sizes), layout, symmetric=True)
        given = vector("gamma", gamma, layout.n_words, "columns", POSITIVE, LEAST, LARGEST)
        full = np.broadcast_to(given, (layout.n_words,)).copy()
        return cls(full, layout, symmetric=given.ndim == 0)

    def lighter(self, tokens: Array, n_components: int) -> LoadingsPrior:
        """Return a prior to start from if gamma is learnt, given the tokens per word (J,).

        In no group does it weigh more than a quarter of a component's tokens. A heavier prior makes
        the first components too alike, and a chain takes long to separate them again.
        """
        share = START_SHARE * self.layout.group_sums(tokens[:, None])[:, 0] / n_components
        factors = np.where(share > 0, np.minimum(1.0, share / self.totals), 1.0)
        return replace(self, gamma=self.gamma * factors[self.layout.group_of_word])

    def at_least(self, least: Array) -> LoadingsPrior:
        """Return the prior with a gamma no smaller than this (J,), in groups than the smallest."""
        if self.symmetric:
            classes = self.classes[self.layout.group_of_word]
            smallest = np.full(len(classes), np.inf)
            np.minimum.at(smallest, classes, least)
            least = smallest[classes]
        return replace(self, gamma=np.maximum(self.gamma, least))

    def with_gamma(self, gamma: Array, flat: bool) -> LoadingsPrior:
        """Return the prior with a gamma (J,) from a file, checked as that of a user is.

        ``flat`` tells that there is no prior: all must be 0, as maximum likelihood has them.
        """
        if gamma.shape != (self.layout.n_words,):
            raise InputError(f"gamma has shape {gamma.shape}, not ({self.layout.n_words},)")
        if flat:
            if gamma.any():
                raise InputError("gamma must be 0 for maximum likelihood")
            return replace(self, gamma=gamma)
        if self.symmetric:
            classes = self.classes[self.layout.group_of_word]
            _, first = np.unique(classes, return_index=True)
            if (gamma != gamma[first][classes]).any():
                raise InputError("a symmetric gamma must be the same for all words of a group")
        checked = LoadingsPrior.of(gamma, self.layout)
        return replace(checked, symmetric=self.symmetric, seeds=self.seeds)

    def permuted(self, order: Array) -> LoadingsPrior:
        """Return the prior of the components in another order (K,)."""
        return self if self.seeds is None else replace(self, seeds=self.seeds.permuted(order))

    @cached_property
    def classes(self) -> Array:
        """Number of the value of gamma that a group has if gamma is symmetric, (G,).

        A group of at least 50 words has a value of its own. The loadings of fewer words do not
        tell it well, so all smaller groups share one.
        """
        own = self.layout.group_sizes >= OWN_VALUE_FROM
        shared = int(not own.all())
        return np.where(own, np.cumsum(own) - 1 + shared, 0)

    @cached_property
    def totals(self) -> Array:
        """Sum of gamma in each group, (G,)."""
        return self.layout.group_sums(self.gamma[:, None])[:, 0]

    # ---- seeds ----

    def add_seeds(self, counts: Array, weight: float = 1.0) -> Array:
        """Add the tokens of the seeds to counts (J, K), in place, and return the counts."""
        if self.seeds is not None:
            self.seeds.add_to(counts, weight)
        return counts

    def without_seeds(self, counts: Array) -> Array:
        """Return counts (J, K) without the tokens of the seeds."""
        return counts if self.seeds is None else self.seeds.removed_from(counts)

    def seed_totals(self, n_components: int) -> Array:
        """Tokens of the seeds in each group and component, (G, K) int64."""
        totals = np.zeros((self.layout.n_groups, n_components), dtype=np.int64)
        if self.seeds is not None:
            cells = self.layout.group_of_word[self.seeds.words], self.seeds.components
            np.add.at(totals, cells, self.seeds.tokens)
        return totals

    @cached_property
    def log_seeds(self) -> float:
        """Log probability of the tokens of the seeds given gamma, loadings integrated out.

        Algorithms count the seeds among the tokens. What they find for all of them, less this, is
        what the data add.
        """
        seeds = self.seeds
        if seeds is None or not self.gamma.any():
            return 0.0
        own, totals = self.gamma[seeds.words], self.totals[:, None]
        sums = self.seed_totals(int(seeds.components.max()) + 1)
        found = (gammaln(own + seeds.tokens) - gammaln(own)).sum()
        return float(found - (gammaln(totals + sums) - gammaln(totals)).sum())

    # ---- loadings ----

    def normalise(self, matrix: Array, out: Array | None = None) -> Array:
        """Make each column of a non-negative (J, K) matrix sum to one inside each group.

        A group whose column is all zero becomes uniform. The result may be written to ``out``,
        which can be the matrix itself.
        """
        groups = self.layout.group_of_word
        totals = self.layout.group_sums(matrix).astype(matrix.dtype)
        if totals.all():
            return np.divide(matrix, self._per_word(totals), out=out)
        uniform = (1.0 / self.layout.group_sizes[groups][:, None]).astype(matrix.dtype)
        normalised = matrix / self._per_word(np.where(totals > 0, totals, 1))
        return np.where(self._per_word(totals) > 0, normalised, uniform)

    def widen(
        self, means: Array, columns: Array | None = None, order: Literal["C", "F"] = "C"
    ) -> Array:
        """Convert means from single to double precision, and make each group sum to one again.

        Parameters
        ----------
        means : (J, K) array
            None of the sums is zero.
        columns : array, optional
            The components of the result, in order.
        order : {"C", "F"}
            Whether the components of a word or the words of a component are adjacent in memory.
        """
        groups, totals = self.layout.group_of_word, self.layout.group_sums(means)
        given = range(means.shape[1]) if columns is None else columns
        result = np.empty((len(means), len(given)), order=order)
        for k, column in enumerate(given):  # one column at a time, to save memory
            result[:, k] = means[:, column]
            result[:, k] /= totals[0, column] if len(totals) == 1 else totals[groups, column]
        return result

    def _per_word(self, totals: Array) -> Array:
        """Repeat rows per group for each word of the group; a single row if there is one group."""
        return totals if len(totals) == 1 else totals[self.layout.group_of_word]

    def mean(self, loading_counts: Array) -> Array:
        """Posterior mean of the loadings given counts (J, K), in the precision of the counts."""
        single = loading_counts.dtype == np.float32
        gamma = self.gamma.astype(np.float32) if single else self.gamma
        sums = gamma[:, None] + loading_counts
        return self.normalise(sums, out=sums)

    def mean_given_data(self, loading_counts: Array) -> Array:
        """Posterior mean of the loadings given the counts (J, K) of the data alone."""
        if self.seeds is None:
            return self.mean(loading_counts)
        return self.mean(self.add_seeds(loading_counts.copy()))

    def mean_square(self, loading_counts: Array) -> Array:
        """Posterior mean of the squared loadings given counts (J, K)."""
        a = self.gamma[:, None] + loading_counts
        total = self.layout.group_sums(a)[self.layout.group_of_word]
        return np.asarray(a * (a + 1.0) / (total * (total + 1.0)))

    def maximise(self, log_loadings: Array) -> LoadingsPrior:
        """M-step of gamma given E[log theta] (J, K)."""
        groups, n_components = self.layout.group_of_word, log_loadings.shape[1]
        seeds, seed_totals = self.seeds, self.seed_totals(n_components)
        if not self.symmetric:
            mean_logs = log_loadings.mean(axis=1)
            if seeds is None:
                return replace(self, gamma=dirichlet(mean_logs, self.gamma, groups))
            pairs = (seeds.words, seeds.tokens)
            gamma = seeded_dirichlet(mean_logs, self.gamma, groups, seed_totals, *pairs)
            return replace(self, gamma=gamma)
        sums, sizes = self.layout.group_sums(log_loadings).sum(axis=1), self.layout.group_sizes
        values = []
        for chosen in self.classes == np.arange(self.classes.max() + 1)[:, None]:
            tokens = None
            if seeds is not None:
                tokens = seed_totals[chosen], seeds.tokens[chosen[groups[seeds.words]]]
            total = float(sums[chosen].sum())
            values.append(symmetric_dirichlet(total, sizes[chosen], n_components, tokens))
        return self._with_values(np.array(values))

    def expected_log_beta(self, totals: Array) -> Array:
        """Sum over components of the mean of log u, u ~ Beta(Gamma_g + S_gk, n_gk), (G,).

        ``totals`` (G, K) hold the tokens of the seeds.
        """
        before = self.totals[:, None] + self.seed_totals(totals.shape[1])
        return np.asarray((digamma(before) - digamma(self.totals[:, None] + totals)).sum(axis=1))

    def resample(
        self, tables: Array, log_beta: Array, prior: tuple[float, float], rng: Generator | Mode
    ) -> LoadingsPrior:
        """Exact draw of gamma given tables (J,) and sums of log u (G,) (theory 5.3)."""
        shape, rate = prior
        if self.symmetric:
            rates = rate - np.bincount(self.classes, self.layout.group_sizes * log_beta)
            sums = np.bincount(self.classes[self.layout.group_of_word], tables)
            return self._with_values(bounded(rng.gamma(shape + sums) / np.maximum(rates, 1e-300)))
        rates = np.maximum(rate - log_beta, 1e-300)[self.layout.group_of_word]
        return replace(self, gamma=bounded(rng.gamma(shape + tables) / rates))

    def _with_values(self, values: Array) -> LoadingsPrior:
        """Return the prior with another gamma for each class of groups."""
        return replace(self, gamma=values[self.classes][self.layout.group_of_word])
