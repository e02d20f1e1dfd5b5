# SPDX-License-Identifier: BSD-3-Clause
"""Where annealing may begin: independent tokens, near the posterior (theory 6.3)."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from discan.engines import Engine
from discan.evaluation.labellings import MOST_COMPONENTS, Labellings
from discan.evaluation.problem import Base, Chain, Problem, warmed
from discan.typing import Array

__all__ = ["TRIED", "fitted_base", "label_weight"]

TRIED, DRAWS = 4, 100  # chains, and sweeps of each that are averaged
BOUND_DRAWS = 10
WARM_UP = (200, 1000, 20_000_000)  # least and most sweeps before these, and token updates between


def fitted_base(problem: Problem, first_run: int, engine: Engine) -> tuple[float, Base]:
    """Average the counts of a chain, the best of four by its bound; return bound and base."""
    least, most, work = WARM_UP
    n_warm = int(np.clip(work // max(1, int(problem.corpus.n_tokens)), least, most))

    def one(run: int) -> tuple[float, Base]:
        chain = warmed(problem, run, n_warm)
        words = np.zeros(chain.loading_counts.shape)
        documents = np.zeros((problem.corpus.n_documents, problem.n_components))
        for _ in range(DRAWS):
            chain.sweep(np.ones(1))
            words += chain.loading_counts
            documents += chain.component_counts
        rows = problem.table.rows(problem.corpus.levels)
        scores = np.ascontiguousarray((documents / DRAWS + rows.shape) / rows.rate)
        base = Base(problem.prior.mean(words / DRAWS), scores)
        # the mean of log p(W, z) - log q(z) over q is a lower bound on log p(W)
        bound = Chain(problem, run, base).sweep(np.zeros(1), BOUND_DRAWS).mean()
        return float(bound), base

    found = engine.run(one, range(first_run, first_run + TRIED))
    return max(found, key=lambda pair: pair[0])


def label_weight(problem: Problem, chain: Chain, base: Base) -> tuple[float, bool]:
    """Factor by which a weight counts all labellings, in logs, and whether z kept its labels.

    The base q prefers one labelling of the components; the posterior p prefers none, or another if
    the priors differ. The factor is

        [ sum over permutations of p(relabelled z) ] / p(z)
        x q(z) / [ sum over permutations of q(relabelled z) ].

    Its mean over the posterior is 1, so it makes no bias. It is nearly K! where the priors are
    equal and the labellings are well apart. For more than six components, it is that.
    """
    corpus, ways = problem.corpus, problem.labellings
    documents = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
    logs = np.log(base.loadings[corpus.words]) + np.log(base.scores[documents])
    entry = np.repeat(np.arange(corpus.n_entries), corpus.counts)
    # scores of the tokens of a component, if they were of another: (from, to)
    of_base: Array = np.array(
        [np.bincount(chain.assignments, column[entry], problem.n_components) for column in logs.T]
    ).T
    kept = bool(np.array_equal(ways.best(of_base), np.arange(problem.n_components)))
    if problem.n_components > MOST_COMPONENTS:
        return ways.log_number, kept
    rows, counts = problem.table.rows(corpus.levels), chain.component_counts[:, :, None]
    shape, rate, present = (part[:, None, :] for part in rows)
    factors = gammaln(counts + shape) - (counts + shape) * np.log(rate)
    factors -= np.where(counts == 0, np.log(present), 0.0)
    everything = Labellings.every(problem.n_components)
    of_posterior = factors.sum(axis=0)
    result = everything.log_mean(of_posterior) - np.trace(of_posterior)
    return float(result + np.trace(of_base) - everything.log_mean(of_base)), kept
