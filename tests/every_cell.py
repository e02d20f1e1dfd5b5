# SPDX-License-Identifier: BSD-3-Clause
"""Fit every cell of models and algorithms at small sizes, and write what came out.

``python tests/every_cell.py OUTPUT K [K ...]`` fits each cell with each number of components, asks
for new documents, and saves the answers as arrays. With GUARDED=1 in the environment, a page that
nobody may touch follows every array (see guarded.py). NUMBA_BOUNDSCHECK=1 and NUMBA_DISABLE_JIT=1
are Numba's own switches.
"""

import os
import sys
import warnings
from dataclasses import replace

import numpy as np

import discan
import discan.algorithms.collapsed
import discan.algorithms.expectation
import discan.algorithms.gibbs
import discan.algorithms.levels
import discan.algorithms.sampling
import discan.fitting.draws
from discan.algorithms import ALGORITHMS
from discan.data.corpus import Corpus
from discan.models import MODELS

SHAPE = 9, 17
CHAIN = {"burn_in": 1, "n_draws": 2}


def table(grouped):
    """A few documents, one without words and one with a long word list, and large counts."""
    counts = np.random.default_rng(1).poisson(0.6, SHAPE)
    counts[2], counts[5, 3] = 0, 300
    if not grouped:
        return Corpus(counts)
    exposures = np.where(np.arange(SHAPE[0])[:, None] % 2, 1.0, [0.5, 1.0, 2.0])
    return Corpus(counts, groups=np.arange(SHAPE[1]) % 3, exposures=exposures)


def algorithms():
    """Every algorithm, and the ways in which it uses other kernels."""
    for cls in ALGORITHMS:
        yield cls.short, cls(**CHAIN) if cls.whole_counts else cls()
    yield "blocked", discan.Collapsed(**CHAIN, schedule="blocked")
    yield "drawn", discan.Collapsed(**CHAIN, fold_in="gibbs")
    yield "tempered", discan.MaximumLikelihood(tau=0.8)
    yield "online", discan.Variational(online=True, batch_entries=20)


def answers(corpus, model, algorithm, n_components, learn):
    """What a fit says of its documents and of new ones."""
    chain = algorithm.whole_counts
    estimator = discan.DCA(
        n_components, model=model.short, algorithm=algorithm, learn=learn, random_state=3,
        max_iter=None if chain else 2,
    ).fit(corpus)  # fmt: skip
    yield "components", estimator.components_
    yield "counts", estimator.component_counts_
    yield "trace", estimator.trace_["objective"]
    yield "scores", estimator.transform(corpus.select(slice(0, 6)))


def main(output, *sizes):
    """Fit all cells."""
    if os.environ.get("GUARDED"):
        import guarded

        guarded.install()
    warnings.simplefilter("ignore")
    # what large corpora get, already for small ones: lists of components, means of those in use
    discan.algorithms.collapsed.LISTED_FROM = 8
    discan.algorithms.sampling.FOLD_IN_BURN_IN, discan.algorithms.sampling.FOLD_IN_WORK = 1, 500
    discan.algorithms.levels.FOLD_IN_SWEEPS = {"fast": (1, 2), "gibbs": (1, 3)}
    single = (discan.algorithms.expectation, discan.algorithms.gibbs, discan.fitting.draws)
    found = {}
    for n in map(int, sizes):
        for module in single:  # both precisions
            module.SINGLE_FROM = 0 if n % 2 else 10**9
        # small steps, so that answers differ by rounding and not by where a fold-in ends
        discan.algorithms.sampling.TOLERANCE = 1e-6 if n % 2 else 1e-9
        for grouped in (False, True):
            corpus = table(grouped)
            for model in MODELS:
                for name, algorithm in algorithms():
                    learn = frozenset({*model.hyperparameters, "gamma"} if grouped else ())
                    prepared = model().prepare(n, corpus)
                    if algorithm.refusal(prepared, learn, corpus):
                        learn = frozenset()
                    if algorithm.refusal(prepared, learn, corpus):
                        continue
                    cell = f"{model.short}-{name}-{n}-{'groups' if grouped else 'plain'}"
                    print(cell, flush=True)
                    for what, value in answers(corpus, model, replace(algorithm), n, tuple(learn)):
                        found[f"{cell} {what}"] = np.asarray(value)
    np.savez(output, **found)
    if os.environ.get("GUARDED"):
        sys.stdout.flush()
        os._exit(0)  # arrays that are freed while Python ends would call the allocator in vain


if __name__ == "__main__":
    main(*sys.argv[1:])
