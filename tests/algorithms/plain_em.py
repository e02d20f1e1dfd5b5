# SPDX-License-Identifier: BSD-3-Clause
"""Plain EM for the Dirichlet-multinomial, in NumPy: a complete algorithm in one file."""

from dataclasses import dataclass, replace

import numpy as np

from discan.algorithms.base import ALGORITHMS, Algorithm, Cycle, Posterior
from discan.algorithms.schedule import Schedule
from discan.errors import InputError
from discan.typing import Array


@dataclass
class Counts:
    component_counts: Array  # expected, of a block's documents, (n, K)


@ALGORITHMS.register
@dataclass(frozen=True)
class PlainEM(Algorithm):
    """Maximum a posteriori by plain EM steps."""

    name = "plain-em"
    short = "em"

    def refusal(self, model, learn, corpus=None):
        error = InputError("plain-em fits proportions with fixed priors", use={"model": "dm"})
        return error if learn or not model.normalised else None

    def plan(self, corpus, n_components, seed):
        size = 8 * n_components * (corpus.n_documents + 3 * corpus.n_words)
        return Schedule(corpus, [corpus.blocks], lanes=1, bytes=size, state_type=Counts)

    def init(self, params, schedule, start, clock):
        shape, counts = (schedule.corpus.n_words, params.n_components), start.loading_counts
        if counts is None:
            counts = np.random.default_rng(int(clock.seed)).exponential(size=shape)
        return replace(params, loadings=params.prior.mean(counts))

    def init_state(self, params, block, start, clock, lane):
        return Counts(np.ones((block.stop - block.start, params.n_components)))

    def step(self, params, block, state, clock, lane):
        sums = lane.sums(params.loadings.shape, params.loadings.dtype)
        for i, words, counts in documents(block):
            weights = weigh(params, words, state.component_counts[i])
            totals = weights.sum(axis=1, keepdims=True)
            sums[words] += counts[:, None] * weights / totals
            lane.objective += float(counts @ np.log(totals[:, 0]))
            state.component_counts[i] = counts @ (weights / totals)
        lane.n_documents += block.stop - block.start

    def update(self, params, stats, fraction, clock, engine):
        return replace(params, loadings=params.prior.mean(stats.loading_sums))

    def finish(self, before, params, stats, clock, schedule, engine):
        return Cycle(params, stats.objective)

    def read(self, params, block, state):
        counts, rows = state.component_counts, params.table.rows(block.levels)
        return Posterior(counts, *params.model.moments(counts, rows))

    def infer(self, params, block, seed):
        state = self.init_state(params, block, None, None, None)
        for i, words, counts in documents(block):
            for _ in range(200):
                weights = weigh(params, words, state.component_counts[i])
                state.component_counts[i] = counts @ (weights / weights.sum(axis=1, keepdims=True))
        return self.read(params, block, state)


def weigh(params, words, component_counts):
    scores = component_counts + params.model.alpha
    return params.loadings[words] * scores / scores.sum()


def documents(block):
    parts = map(slice, block.indptr[:-1], block.indptr[1:])
    return ((i, block.words[part], block.counts[part]) for i, part in enumerate(parts))
