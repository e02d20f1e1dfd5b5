# SPDX-License-Identifier: BSD-3-Clause
"""Data with a known tree: six components in three pairs."""

import numpy as np
import pytest

import discan

N_WORDS = 30


@pytest.fixture(scope="session")
def pairs():
    """Loadings (6, 30): components 2n and 2n + 1 share ten words, in other proportions."""
    rng = np.random.default_rng(3)
    loadings = np.full((6, N_WORDS), 0.02)
    for k in range(6):
        words = slice(10 * (k // 2), 10 * (k // 2) + 10)
        loadings[k, words] += rng.gamma(1.0, size=10) + 0.2
    return loadings / loadings.sum(axis=1, keepdims=True)


@pytest.fixture(scope="session")
def counts(pairs):
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.full(6, 0.1), 120)
    return np.array([rng.multinomial(60, row @ pairs) for row in shares])


@pytest.fixture(scope="session")
def fitted(pairs, counts):
    """Fits that began at the true components, so that component k stays component k."""

    def fit(model, algorithm, n_rows=80, **settings):
        return discan.DCA(
            6, model=model, algorithm=algorithm, init=pairs, random_state=0, progress=False,
            **settings,
        ).fit(counts[:n_rows])  # fmt: skip

    return fit


@pytest.fixture(scope="session")
def flat(fitted):
    return fitted("dm", "map", alpha=0.1, max_iter=30)


@pytest.fixture(scope="session")
def sampled(fitted):
    sampler = discan.Collapsed(burn_in=5, n_draws=6, keep_draws=True)
    return fitted("dm", sampler, alpha=0.1)
