# SPDX-License-Identifier: BSD-3-Clause
"""Draw documents from a fitted model."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.models import Model
from discan.typing import Array

__all__ = ["Simulator"]


class Simulator:
    """Documents drawn from a model with known loadings.

    Parameters
    ----------
    model : Model
    loadings : (J, K) array
    layout : Layout
    """

    def __init__(self, model: Model, loadings: Array, layout: Layout) -> None:
        self.model, self.layout = model, layout
        self._order = np.argsort(layout.group_of_word, kind="stable")
        # the loadings of group g fill the interval from g to g + 1
        self._ends = np.cumsum(loadings[self._order], axis=0)

    def scores(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n score vectors from the prior, (n, K); proportions if the model has them."""
        table = self.model.score_table(np.zeros(1))  # without exposure the posterior is the prior
        shape, rate, present = (part[0] for part in table)
        # in logs, because draws of a small shape underflow: G(a) = G(a + 1) U^(1 / a)
        size = (n, len(shape))
        logs = np.log(rng.gamma(shape + 1.0, size=size)) + np.log(1 - rng.random(size)) / shape
        if self.model.normalised:
            scores = np.exp(logs - logs.max(axis=1, keepdims=True))
            return np.asarray(scores / scores.sum(axis=1, keepdims=True))
        return np.asarray(np.where(rng.random(size) < present, np.exp(logs) / rate, 0.0))

    def documents(self, n: int, totals: Array, exposures: Array, seed: list[int]) -> Corpus:
        """Draw n documents that have the totals or the exposures of one document.

        Parameters
        ----------
        n : int
        totals : (G,) whole numbers
            Tokens of each group, for a model that is given them.
        exposures : (G,) array
            Used by the other models, whose documents are of any length.
        seed : list of int
            Names the random numbers.
        """
        rng = np.random.default_rng(seed)
        scores = self.scores(n, rng)
        sums = scores.sum(axis=1)
        lengths = np.broadcast_to(totals, (n, len(totals)))
        if not self.model.normalised:
            lengths = rng.poisson(exposures * sums[:, None])
        cells = np.arange(lengths.size)
        document, group = np.divmod(np.repeat(cells, lengths.ravel()), lengths.shape[1])
        ends = np.cumsum(scores, axis=1)
        place = rng.random(len(document)) * sums[document]
        component = np.minimum((place[:, None] >= ends[document]).sum(axis=1), ends.shape[1] - 1)
        within = rng.random(len(document))
        words = np.empty(len(document), dtype=np.int64)
        for k in range(ends.shape[1]):
            chosen = component == k
            at = np.searchsorted(self._ends[:, k], group[chosen] + within[chosen], side="right")
            words[chosen] = self._order[np.minimum(at, len(self._order) - 1)]
        shape = (n, self.layout.n_words)
        counts = sparse.csr_array((np.ones(len(words), np.int32), (document, words)), shape=shape)
        counts.sum_duplicates()
        return Corpus.assemble(
            counts.indptr.astype(np.int64), counts.indices.astype(np.int32),
            counts.data.astype(np.int32), self.layout, np.tile(exposures, (n, 1)),
        )  # fmt: skip
