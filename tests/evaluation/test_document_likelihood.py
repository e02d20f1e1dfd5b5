# SPDX-License-Identifier: BSD-3-Clause
"""Every estimate of a document's probability against exact sums, within its stated error."""

import numpy as np
import oracle
import pytest
from conformance.bridge import estimator, table_of

import discan
from discan import DCA, Collapsed
from discan.evaluation.document_likelihood import (
    METHODS,
    Annealing,
    Bound,
    Chib,
    LeftToRight,
    document_likelihood,
)
from discan.fitting import infer

RANDOM = [Chib(40), LeftToRight(10, 4), Annealing(60)]
MODELS = pytest.mark.parametrize("model", oracle.MODELS)


@pytest.fixture
def no_sums(monkeypatch):
    """No document is so short that it is summed."""
    monkeypatch.setattr(infer, "ENUMERATED", 0.5)


def prior_of(model, K, rng):
    alpha = rng.uniform(0.2, 2.0, K)
    beta = None if model == "dm" else rng.uniform(0.3, 2.0, K)
    return oracle.Prior(model, alpha, beta, rng.uniform(0.1, 0.8, K) if model == "cgp" else None)


def documents(model, K, rng, groups):
    """Prior, loadings and some documents with their exact log p."""
    prior = prior_of(model, K, rng)
    J = 4 if groups is None else len(groups)
    theta = oracle.draw_theta(np.zeros((J, K)), np.full(J, 0.7), groups, rng)
    W = np.array([np.bincount(rng.integers(J, size=n), minlength=J) for n in (0, 1, 4, 7)])
    exposures = None
    if groups is not None and model != "dm":
        exposures = rng.uniform(0.4, 1.8, (len(W), max(groups) + 1))
        exposures[2, 1] = 0.0
        W[2, np.asarray(groups) == 1] = 0
    exact = [
        oracle.document(prior, w, theta, groups, None if exposures is None else exposures[i])
        for i, w in enumerate(W)
    ]
    X = table_of(W, groups, exposures)
    return estimator(prior, theta, groups), X, np.array([one["logp"] for one in exact])


@MODELS
@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("groups", [None, [0, 1, 0, 1, 1]], ids=["one group", "groups"])
def test_every_method_against_exact_sums(no_sums, model, K, groups):
    fitted, X, exact = documents(model, K, np.random.default_rng([K, *map(ord, model)]), groups)
    for method in RANDOM:
        found = fitted.document_likelihood(X, method, n_runs=40)
        assert not found.exact.any()
        assert np.all(np.abs(found.log_likelihood - exact) <= 4 * found.error + 1e-9), method
        assert np.all(found.error < 0.2)
        if K > 1:
            assert found.error[3] > 1e-4
        assert "unbiased" in found.kind
    bound = fitted.document_likelihood(X, "bound")
    assert np.all(bound.log_likelihood <= exact + 1e-9)
    assert np.all(bound.log_likelihood >= exact - 3)
    assert not bound.error.any()
    assert "lower bound" in bound.kind


@MODELS
@pytest.mark.parametrize("J", [8, 30])
def test_chib_at_60_tokens(no_sums, monkeypatch, model, J):
    """150 sweeps are within 0.3 nats of the exact sum, root mean square."""
    rng, K = np.random.default_rng([J, *map(ord, model)]), 3
    more = {} if model == "dm" else {"beta": 0.05}
    more |= {"rho": 0.4} if model == "cgp" else {}
    components = rng.dirichlet(np.full(J, 0.3), K)
    mixes = rng.dirichlet(np.full(K, 0.3), 10)
    X = np.array([rng.multinomial(60, m @ components) for m in mixes])
    fits = [
        DCA.from_components(components, model=model, alpha=0.3, random_state=seed, **more).fit_
        for seed in range(20)
    ]
    corpus = discan.Corpus(X)
    one = [document_likelihood(fit, corpus, Chib(150), n_runs=1).log_likelihood for fit in fits]
    monkeypatch.setattr(infer, "ENUMERATED", 1e9)
    exact = document_likelihood(fits[0], corpus)
    assert exact.exact.all()
    assert not exact.error.any()
    assert np.sqrt(np.mean((np.array(one) - exact.log_likelihood) ** 2)) <= 0.3


def test_short_documents_are_exact_by_chib():
    fitted, X, exact = documents("cgp", 2, np.random.default_rng(3), None)
    found = fitted.document_likelihood(X)
    assert found.exact.all()
    np.testing.assert_allclose(found.log_likelihood, exact)
    np.testing.assert_allclose(found.total, (exact.sum(), 0.0))
    in_order = exact[1:] + X.log_count_factorials[1:]
    np.testing.assert_allclose(found.per_token[1:], in_order / X.lengths[1:])
    assert np.isnan(found.per_token[0])
    assert "chib" in repr(found)


@pytest.mark.parametrize("method", METHODS)
def test_impossible_words(method):
    components = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]])
    fitted = DCA.from_components(components, alpha=0.5, random_state=0)
    X = np.array([[1, 0, 0, 1], [3, 1, 2, 0]])
    found = fitted.document_likelihood(X, method)
    assert found.log_likelihood[0] == -np.inf
    assert np.isfinite(found.log_likelihood[1])
    np.testing.assert_array_equal(found.error[0], 0.0)
    again = fitted.set_params(n_jobs=2).document_likelihood(X, method)
    np.testing.assert_array_equal(again.log_likelihood, found.log_likelihood)


def test_wrong_methods_and_counts():
    fitted = DCA.from_components(np.eye(2) + 0.1, alpha=0.5)
    with pytest.raises(discan.InputError, match="'chib', 'smc', 'ais', 'bound'"):
        fitted.log_likelihood([[1, 2]], "harmonic")
    with pytest.raises(discan.InputError, match="use one of"):
        fitted.log_likelihood([[1, 2]], 3)
    for method in ("smc", "ais"):
        with pytest.raises(discan.InputError, match=r"whole counts; use method='bound'"):
            fitted.log_likelihood([[1.5, 2]], method)
    with pytest.raises(discan.InputError, match="kept none"):
        fitted.document_likelihood([[1, 2]], over_draws=True)
    with pytest.raises(discan.InputError, match="n_particles=0"):
        fitted.log_likelihood([[1, 2]], LeftToRight(0))


def test_draws_are_averaged_as_probabilities():
    """Over draws, p is the mean of the p of each draw, and its log is above the mean log."""
    X = np.random.default_rng(1).poisson(0.8, (12, 5))
    fitted = DCA(
        2, algorithm=Collapsed(burn_in=20, n_draws=6, keep_draws=True), random_state=2
    ).fit(X)  # fmt: skip
    found = fitted.document_likelihood(X, over_draws=True)
    assert (found.n_runs, found.n_draws) == (1, 6)
    draws = fitted.draws_
    logs = np.array(
        [
            DCA.from_components(loadings.T, alpha=hyper["alpha"]).log_likelihood(X)
            for loadings, hyper in zip(draws.loadings, draws.hyperparameters, strict=True)
        ]
    )
    np.testing.assert_allclose(found.log_likelihood, np.log(np.exp(logs).mean(axis=0)))
    assert np.all(found.log_likelihood >= logs.mean(axis=0))
    assert np.all(found.error > 0)
    assert not found.exact.any()
    bound = fitted.document_likelihood(X, Bound(), over_draws=True)
    assert np.all(bound.log_likelihood <= found.log_likelihood + 1e-9)


def test_a_score_averages_over_draws_and_has_an_error():
    X = np.random.default_rng(1).poisson(2.0, (30, 6))
    fitted = DCA(
        2, algorithm=Collapsed(burn_in=20, n_draws=5, keep_draws=True), random_state=2
    ).fit(X)  # fmt: skip
    fit, corpus = fitted.fit_, discan.Corpus(X)
    score, error = fitted.score_with_error(X)
    assert score == fitted.score(X)
    found = fit.completion(corpus)
    ratio = found[0].sum() / found[1].sum()
    residuals = found[0] - ratio * found[1]
    assert score == pytest.approx(ratio)
    assert error == pytest.approx(np.sqrt(30 / 29 * (residuals**2).sum()) / found[1].sum())
    assert np.isnan(fitted.score_with_error(X[:1])[1])
    single = [infer.completion(fit.algorithm, [draw], corpus, _engine(), fit.seed)
              for draw in fit.kept_draws()]  # fmt: skip
    assert len(single) == 5
    # the log of a mean is above the mean of the logs
    assert found[0].sum() > np.mean([one[0].sum() for one in single])
    assert len(fit.kept_draws(2)) == 2


def _engine():
    from discan.engines import Threads

    return Threads(1)
