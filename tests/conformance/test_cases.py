# SPDX-License-Identifier: BSD-3-Clause
"""The package against the oracle on new random problems of every kind and model."""

import numpy as np
import oracle
import pytest
from conformance.bridge import (
    averaged,
    batch_error,
    estimator,
    exact_corpus,
    exact_document,
    model_of,
    table_of,
)
from conftest import fit_run

from discan import Collapsed, Gibbs, Variational
from discan.models import LoadingsPrior

MODELS = pytest.mark.parametrize("model", oracle.MODELS)
DOCUMENTS = pytest.mark.parametrize("kind", oracle.KINDS[:2])
CORPORA = pytest.mark.parametrize("kind", oracle.KINDS[2:])
NUMBERS = pytest.mark.parametrize("number", range(10))


def case_of(kind, model, number):
    rng = np.random.default_rng([number, oracle.KINDS.index(kind), *map(ord, model)])
    return oracle.random_case(kind, rng, model)


def within(actual, error, exact):
    """Five standard errors, and a little for the start of the chain."""
    assert np.all(np.abs(actual - exact) <= 5 * error + 0.005), (actual, error, exact)


def test_the_cases_have_missing_groups():
    for model in ("gp", "cgp"):
        cases = [case_of("doc_fixed_theta_groups", model, number) for number in range(10)]
        assert any((case.exposures == 0).any() for case in cases)


@MODELS
@DOCUMENTS
@NUMBERS
def test_document(kind, model, number):
    case = case_of(kind, model, number)
    prior, w, theta, groups = case.prior, case.W[0], case.theta, case.groups
    exposures = None if case.exposures is None else case.exposures[0]
    exact = oracle.document(prior, w, theta, groups, exposures)
    ours = exact_document(prior, w, theta, groups, exposures)
    for name in {"logp", "E_V", "E_c", "E_scores", "P_zero"} & exact.keys():
        np.testing.assert_allclose(ours[name], exact[name], rtol=1e-9, atol=1e-12)

    X = table_of(w, groups, exposures)
    chib, error = averaged("log_likelihood", prior, theta, groups, X, n_seeds=3)
    assert error < 0.06
    assert abs(chib - exact["logp"]) < 5 * error + 0.02
    for algorithm in ("variational", "map"):
        if model == "cgp" and algorithm == "map":
            continue
        bound = estimator(prior, theta, groups, algorithm).log_likelihood(X, "bound")[0]
        assert bound <= exact["logp"] + 1e-9
        assert bound >= exact["logp"] - 3.0
    of = (prior, theta, groups, X, ("collapsed", "gibbs")[number % 2])
    within(*averaged("component_counts", *of), exact["E_c"])
    within(*averaged("transform", *of), exact["E_scores"])
    if model == "cgp":
        within(*averaged("prob_absent", *of), exact["P_zero"])


@MODELS
@DOCUMENTS
@pytest.mark.parametrize("number", range(1))
def test_bound_is_the_best_there_is(kind, model, number):
    """A general optimiser finds no better q for GP and DM, where coordinate ascent is concave."""
    case = case_of(kind, model, number)
    exposures = None if case.exposures is None else case.exposures[0]
    X = table_of(case.W[0], case.groups, exposures)
    fitted = estimator(case.prior, case.theta, case.groups, "variational")
    bound = fitted.log_likelihood(X, method="bound")[0]
    best = oracle.best_bound(
        case.prior, case.W[0], np.log(case.theta), case.groups, exposures, starts=2
    )["bound"]
    if model == "cgp":  # several optima
        assert bound >= best - 0.5
    else:
        np.testing.assert_allclose(bound, best, atol=1e-5)


@MODELS
@CORPORA
@NUMBERS
def test_corpus(kind, model, number):
    case = case_of(kind, model, number)
    layout = {"groups": case.groups, "exposures": case.exposures}
    exact = oracle.corpus(case.prior, case.W, case.gamma, case.prior.K, **layout)
    if exact["n_states"] < 1000:
        ours = exact_corpus(case.prior, case.W, case.gamma, **layout)
        names = {"logp", "E_c", "E_n", "E_theta", "E_theta_sq", "E_scores", "P_zero"}
        for name in names & exact.keys():
            np.testing.assert_allclose(ours[name], exact[name], rtol=1e-9, atol=1e-12)
    corpus, prepared = table_of(case.W, **layout), model_of(case.prior)
    loadings = LoadingsPrior.of(case.gamma, corpus.layout)
    for seed in range(3):
        run = fit_run(corpus, prepared, Variational(), loadings, max_iter=100, seed=seed)
        assert run.trace["objective"].max() <= exact["logp"] + 1e-9


@MODELS
@CORPORA
@pytest.mark.parametrize("sampler", [Collapsed, Gibbs])
@pytest.mark.parametrize(
    "number", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 10))]
)
def test_chain(kind, model, sampler, number):
    """Sampled corpora have the exact posterior, labels included: they switch freely here."""
    case = case_of(kind, model, number)
    layout = {"groups": case.groups, "exposures": case.exposures}
    exact = oracle.corpus(case.prior, case.W, case.gamma, case.prior.K, **layout)
    corpus, prepared = table_of(case.W, **layout), model_of(case.prior)
    loadings = LoadingsPrior.of(case.gamma, corpus.layout)
    # absence comes and goes slowly: batches must be longer than its spells
    n_draws = 10_000 if model == "cgp" else 1200
    algorithm = sampler(burn_in=100, n_draws=n_draws, keep_draws=True)
    chain = fit_run(corpus, prepared, algorithm, loadings, seed=number)
    within(chain.component_counts, batch_error(chain.draws.component_counts), exact["E_c"])
    within(chain.loadings.mean, batch_error(chain.draws.loadings), exact["E_theta"])
    spread = np.sqrt(np.maximum(exact["E_theta_sq"] - exact["E_theta"] ** 2, 0.0))
    np.testing.assert_allclose(chain.loadings.sd, spread, atol=0.05)
    rows = prepared.score_table(corpus.exposure_levels).rows(corpus.levels)
    moments = [prepared.moments(c, rows) for c in chain.draws.component_counts]
    for name, ours, theirs in (("mean", "scores", "E_scores"), ("absent", "absent", "P_zero")):
        draws = np.array([getattr(draw, name) for draw in moments])
        np.testing.assert_allclose(
            getattr(chain.documents, ours), draws.mean(0), rtol=1e-9, atol=1e-12
        )
        if theirs in exact:
            within(draws.mean(0), batch_error(draws), exact[theirs])
