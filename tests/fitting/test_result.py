# SPDX-License-Identifier: BSD-3-Clause
"""A fit is a value with verbs, and the estimator that holds it gives the same answers."""

import re
from dataclasses import replace

import numpy as np
import pytest
from conftest import cells, counted, make_run, planted

import discan
from discan.algorithms import MAP
from discan.models import MODELS, LoadingsPrior

RNG = np.random.default_rng(1)
COMPONENTS, PROPORTIONS = planted(RNG, (40, 12), 3, 0.3, 0.4)
X = counted(RNG, np.full(40, 25), PROPORTIONS, COMPONENTS)
GROUPS = np.repeat([0, 1, 2], 4)
NEW = discan.Corpus(X[:5], groups=GROUPS)
SHORT = {"gibbs": discan.Gibbs(3, 4), "collapsed": discan.Collapsed(3, 4)}


def of(algorithm):
    return SHORT.get(algorithm.name, algorithm())


@pytest.mark.parametrize(("model", "algorithm"), cells(of))
def test_the_estimator_forwards_to_its_fit(model, algorithm):
    estimator = discan.DCA(
        3, model=model, algorithm=algorithm, groups=GROUPS, max_iter=8, random_state=0
    ).fit(X)
    fit = estimator.fit_
    for name in ("components", "scores", "proportions", "component_counts", "trace", "settings"):
        assert getattr(estimator, f"{name}_") is getattr(fit, name)
    np.testing.assert_array_equal(fit.infer(NEW).scores, estimator.transform(NEW))
    total, tokens = fit.completion(NEW).sum(axis=1)
    assert total / tokens == estimator.score(NEW)
    np.testing.assert_array_equal(fit.predict_group(NEW, 1), estimator.predict_group_proba(NEW, 1))
    assert fit.describe()["components"] == 3
    assert [component.size for component in fit.summary()] == sorted(
        (component.size for component in fit.summary()), reverse=True
    )


@pytest.mark.parametrize("model", ["dm", "gp"])
def test_the_unigram_is_one_component_for_all(model):
    fit = discan.DCA(3, model=model, groups=GROUPS, max_iter=8, random_state=0).fit(X).fit_
    overall = fit.component_counts.sum(axis=0) @ fit.components
    single = discan.DCA.from_components(
        overall[None], groups=GROUPS, algorithm="map", random_state=0
    )
    assert fit.unigram_score(NEW) == pytest.approx(single.score(NEW), rel=1e-12)
    assert fit.unigram_score(NEW) < fit.score(NEW)


def test_a_fit_has_a_short_repr():
    fit = discan.DCA(3, max_iter=3, random_state=0).fit(X).fit_
    assert repr(fit).startswith("<Fit: 3 components of 12 words, dirichlet-multinomial by ")
    assert len(repr(fit)) < 120


def test_an_estimator_that_is_not_fitted_has_no_results():
    estimator = discan.DCA(3)
    with pytest.raises(AttributeError, match="not fitted"):
        estimator.components_  # noqa: B018
    assert not hasattr(estimator, "n_iter_")


# ---- the order of components ----

TABLES = ("component_counts", "scores")
OPTIONAL = ("components_sd", "scores_sd", "component_counts_sd", "absent")
HYPERPARAMETERS = ("alpha", "beta", "rho")


def assert_permuted(fit, other, order):
    """All tables of the other fit are those of the first, with the components in this order."""
    np.testing.assert_array_equal(other.components, fit.components[order])
    np.testing.assert_array_equal(other.mean_loadings, fit.mean_loadings[:, order])
    np.testing.assert_array_equal(other.loadings.mean, fit.loadings.mean[:, order])
    for name in TABLES:
        np.testing.assert_array_equal(getattr(other, name), getattr(fit, name)[:, order])
    # divided by sums that are added in another order
    np.testing.assert_allclose(other.proportions, fit.proportions[:, order], rtol=1e-14)
    for name in OPTIONAL:
        mine, theirs = getattr(fit, name), getattr(other, name)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            columns = mine[order] if name == "components_sd" else mine[:, order]
            np.testing.assert_array_equal(theirs, columns)
    for name in HYPERPARAMETERS:
        value = fit.hyperparameter(name)
        if value is not None:
            np.testing.assert_array_equal(other.hyperparameter(name), value[order])


def run_of(model, algorithm, **options):
    """A run with its components in any order, the largest last."""
    corpus = discan.Corpus(X, groups=GROUPS)
    prepared = MODELS.find(model).prepare(3, corpus)
    algorithm = replace(algorithm, keep_draws=True) if algorithm.whole_counts else algorithm
    start = COMPONENTS[np.argsort(PROPORTIONS.sum(axis=0))]
    run = make_run(
        corpus, prepared, algorithm, LoadingsPrior.of(0.5, corpus.layout), init=start, **options
    )
    run.advance(8, 0.0, progress=False)
    return run


@pytest.mark.parametrize(("model", "algorithm"), cells(of))
def test_components_by_size(model, algorithm):
    run = run_of(model, algorithm)
    fit, ordered = run.result(), run.result(by_size=True)
    order = np.argsort(-fit.sizes, kind="stable")
    assert_permuted(fit, ordered, order)
    assert_permuted(fit, fit.by_size(), order)
    assert_permuted(fit, run.result(), np.arange(3))  # the run keeps its order
    assert (np.diff(ordered.sizes) <= 0).all()
    np.testing.assert_allclose(ordered.sizes, ordered.component_counts.sum(axis=0) / X.sum())
    if ordered.draws is not None:
        for mine, theirs in zip(fit.draws.loadings, ordered.draws.loadings, strict=True):
            np.testing.assert_array_equal(theirs, mine[:, order])
        for mine, theirs in zip(
            fit.draws.component_counts, ordered.draws.component_counts, strict=True
        ):
            np.testing.assert_array_equal(theirs, mine[:, order])
        for mine, theirs in zip(
            fit.draws.hyperparameters, ordered.draws.hyperparameters, strict=True
        ):
            np.testing.assert_array_equal(theirs["alpha"], mine["alpha"][order])
            np.testing.assert_array_equal(theirs["gamma"], mine["gamma"])


def test_at_least_one_case_changes_the_order():
    fit = run_of("dm", MAP()).result()
    assert not (np.diff(fit.sizes) <= 0).all()


@pytest.mark.parametrize("learn", [("alpha",), ()])
def test_sums_over_draws_can_be_put_in_order(learn, monkeypatch):
    """Sparse means of the loadings, in single precision, and learnt hyperparameters."""
    monkeypatch.setattr("discan.fitting.draws.SINGLE_MEANS_FROM", 1)
    monkeypatch.setattr("discan.fitting.loading_draws.FILLED", 1.0)
    monkeypatch.setattr("discan.fitting.loading_draws.WORDS_PER_GROUP", 1)
    run = run_of("cgp", discan.Collapsed(3, 4), learn=learn)
    fit = run.result()
    assert hasattr(fit.loadings, "unused")
    assert_permuted(fit, fit.by_size(), np.argsort(-fit.sizes, kind="stable"))


def test_the_order_goes_with_the_answers():
    fit = run_of("dm", MAP()).result()
    order = np.argsort(-fit.sizes, kind="stable")
    np.testing.assert_allclose(
        fit.by_size().infer(NEW).scores, fit.infer(NEW).scores[:, order], rtol=1e-9
    )
    named = fit.named(["a", "b", "c"])
    assert named.by_size().component_names == tuple("abc"[k] for k in order)


@pytest.mark.parametrize(
    "given",
    [{"init": COMPONENTS[::-1]}, {"alpha": [0.1, 0.1, 0.5]}, {"alpha": [0.5, 0.1, 0.1]}],
    ids=["init", "alpha", "alpha-2"],
)
def test_given_components_keep_their_order(given):
    estimator = discan.DCA(3, algorithm="map", max_iter=40, random_state=0, **given).fit(X)
    if "alpha" in given:
        np.testing.assert_array_equal(estimator.alpha_, given["alpha"])
    else:
        distance = np.abs(estimator.components_[:, None] - given["init"]).sum(axis=2)
        assert distance.argmin(axis=1).tolist() == [0, 1, 2]


def test_a_fit_that_is_continued_keeps_its_bits():
    """A warm start continues the run, whose order is its own."""
    options = {"algorithm": "map", "tol": 0.0, "random_state": 4}
    warm = discan.DCA(3, max_iter=5, warm_start=True, **options).fit(X)
    warm.set_params(max_iter=25).fit(X)
    whole = discan.DCA(3, max_iter=25, **options).fit(X)
    assert warm.components_.tobytes() == whole.components_.tobytes()
    assert warm.scores_.tobytes() == whole.scores_.tobytes()


def test_learnt_priors_in_words():
    words = discan.LDA(3, algorithm=discan.Collapsed(5, 5), random_state=0).fit(X).fit_.learnt
    assert re.fullmatch(r"alpha \S+ to \S+ \(sum \S+\), gamma [\d.]+", words)
    assert discan.LDA(3, learn=(), max_iter=5, random_state=0).fit(X).fit_.learnt == ""
