# SPDX-License-Identifier: BSD-3-Clause
"""Standard deviations of new documents' scores are near those of the posterior."""

import numpy as np
import pytest

import discan
from discan import InputError

RNG = np.random.default_rng(7)
THETA = RNG.dirichlet(np.full(25, 0.4), 4)


def draws(counts, alpha, n=4000):
    """Mean and deviation of the proportions given the components, by Gibbs, one document."""
    rng = np.random.default_rng(0)
    words = np.repeat(np.arange(len(counts)), counts)
    c = np.zeros(len(THETA))
    moments = np.zeros((2, len(THETA)))
    for sweep in range(n + 200):
        p = THETA[:, words].T * rng.dirichlet(alpha + c)
        chosen = (p.cumsum(axis=1) < rng.random((len(p), 1)) * p.sum(axis=1)[:, None]).sum(axis=1)
        c = np.bincount(chosen, minlength=len(THETA)).astype(float)
        if sweep >= 200:
            a, total = alpha + c, (alpha + c).sum()
            moments += a / total, a * (a + 1) / (total * (total + 1))
    mean, square = moments / n
    return mean, np.sqrt(square - mean**2)


@pytest.mark.parametrize("algorithm", ["variational", "map", "collapsed"])
@pytest.mark.parametrize("length", [15, 120])
def test_near_the_posterior(algorithm, length):
    alpha = np.full(4, 0.4)
    estimator = discan.LDA.from_components(THETA, algorithm=algorithm, alpha=0.4, random_state=0)
    X = RNG.multinomial(length, RNG.dirichlet(alpha, 3) @ THETA)
    found = estimator.transform_sd(X)
    for row, counts in zip(found, X, strict=True):
        mean, exact = draws(counts, alpha)
        large = mean > 0.1
        np.testing.assert_allclose(row[large], exact[large], rtol=0.35)
        # tokens whose component is known would make it as small as this, and that is too small
        known = np.sqrt(mean * (1 - mean) / (length + alpha.sum() + 1))
        assert (row[large] > 0.9 * known[large]).all()


@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_longer_documents_are_surer(model):
    prior = {} if model == "dm" else {"beta": 0.1}
    estimator = discan.DCA.from_components(
        THETA, model=model, algorithm="variational", alpha=0.4, random_state=0, **prior
    )
    short = RNG.multinomial(20, RNG.dirichlet(np.full(4, 0.4), 10) @ THETA)
    scores, sd = estimator.transform(10 * short), estimator.transform_sd(10 * short)
    assert np.isfinite(sd).all()
    assert (sd >= 0).all()
    before = estimator.transform_sd(short) / np.maximum(estimator.transform(short), 1e-12)
    main = scores.argmax(axis=1)
    rows = np.arange(10)
    assert (sd[rows, main] / scores[rows, main] < before[rows, main]).all()


def test_nothing_known_is_the_prior():
    estimator = discan.LDA.from_components(THETA, algorithm="map", alpha=0.5, random_state=0)
    sd = estimator.transform_sd(np.zeros((1, 25), dtype=int))
    np.testing.assert_allclose(sd, np.sqrt(0.25 * 0.75 / 3.0))


def test_gamma_poisson_of_disjoint_components_is_exact():
    """Where each word tells its component, the posterior is a gamma distribution."""
    components = np.kron(np.eye(2), [0.5, 0.5])
    estimator = discan.DCA.from_components(
        components, model="gp", algorithm="map", alpha=0.5, beta=0.25, random_state=0
    )
    X = np.array([[3, 4, 0, 2]])
    expected = np.sqrt(np.array([[7.5, 2.5]])) / 1.25
    np.testing.assert_allclose(estimator.transform_sd(X), expected, rtol=1e-6)


def test_maximum_likelihood_has_none():
    X = RNG.poisson(2.0, (20, 10))
    with pytest.raises(InputError, match=r"ml gives no standard deviations of the scores; use alg"):
        discan.PLSI(2, max_iter=5, random_state=0).fit(X).transform_sd(X)
