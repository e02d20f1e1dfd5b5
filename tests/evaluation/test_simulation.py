# SPDX-License-Identifier: BSD-3-Clause
"""Documents drawn from a model have the distribution of the model."""

import numpy as np
import oracle
import pytest
from conformance.bridge import model_of

from discan import Corpus
from discan.evaluation.simulation import Simulator

GROUPS = np.array([0, 1, 0, 1, 1])
PRIORS = [
    oracle.Prior("dm", [0.4, 1.1]),
    oracle.Prior("gp", [0.6, 1.5], [0.5, 0.8]),
    oracle.Prior("cgp", [0.6, 1.5], [0.5, 0.8], [0.6, 0.2]),
]


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.model)
def test_frequencies_are_the_exact_probabilities(prior):
    """How often each small document is drawn, against its exact probability."""
    rng = np.random.default_rng(5)
    theta = oracle.draw_theta(np.zeros((5, 2)), np.ones(5), GROUPS, rng)
    layout = Corpus(np.ones((1, 5)), groups=GROUPS).layout
    totals, exposures, n = (
        np.array([1, 2]),
        np.array([0.7, 0.0 if prior.model == "gp" else 1.2]),
        40_000,
    )
    drawn = Simulator(model_of(prior), theta, layout).documents(n, totals, exposures, [1, 2])
    W = drawn.to_csr().toarray()
    if prior.model == "dm":
        assert (W @ np.eye(2)[GROUPS] == totals).all()
    seen, times = np.unique(W, axis=0, return_counts=True)
    checked = 0
    for w, count in zip(seen, times, strict=True):
        if w.sum() > 4:
            continue
        p = np.exp(oracle.document(prior, w, theta, GROUPS, exposures)["logp"])
        assert abs(count / n - p) <= 4.5 * np.sqrt(p * (1 - p) / n)
        checked += p
    assert checked > 0.5
    again = Simulator(model_of(prior), theta, layout).documents(n, totals, exposures, [1, 2])
    assert (again.to_csr() != drawn.to_csr()).nnz == 0


def test_tiny_shapes_do_not_underflow():
    prior = oracle.Prior("dm", [1e-4, 1e-4])
    layout = Corpus(np.ones((1, 2))).layout
    drawn = Simulator(model_of(prior), np.full((2, 2), 0.5), layout)
    scores = drawn.scores(1000, np.random.default_rng(0))
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    assert abs((scores[:, 0] > 0.5).mean() - 0.5) < 0.1
