# SPDX-License-Identifier: BSD-3-Clause
"""Planted counts and short fits to them, with every model and algorithm."""

import numpy as np
from conftest import cells

from discan import DCA, Collapsed, Gibbs

SHORT = {"gibbs": Gibbs(burn_in=5, n_draws=5), "collapsed": Collapsed(burn_in=5, n_draws=5)}
CELLS = cells(lambda algorithm: algorithm.name)


def planted(n_documents=120, n_words=24, n_components=3, length=60, seed=0):
    """Counts of documents that mix a few components with words of their own."""
    rng = np.random.default_rng(seed)
    components = rng.dirichlet(np.full(n_words // n_components, 2.0), n_components)
    components = np.vstack(
        [np.roll(np.pad(row, (0, n_words - row.size)), k * row.size)
         for k, row in enumerate(components)]
    )  # fmt: skip
    proportions = rng.dirichlet(np.full(n_components, 0.3), n_documents)
    lengths = rng.poisson(length, n_documents) + 1
    return np.vstack(
        [rng.multinomial(n, p) for n, p in zip(lengths, proportions @ components, strict=True)]
    )


X = planted()
FEW = X[:6]  # samplers take their time over every new document


def make(model="dm", algorithm="variational", **params):
    params = {"n_components": 3, "random_state": 0, "max_iter": None, "learn": (), **params}
    if algorithm not in SHORT and params["max_iter"] is None:
        params["max_iter"] = 15
    return DCA(model=model, algorithm=SHORT.get(algorithm, algorithm), **params)


def fitted_bits(estimator):
    arrays = (estimator.components_, estimator.component_counts_, estimator.scores_)
    return b"".join(array.tobytes() for array in arrays)
