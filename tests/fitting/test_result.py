# SPDX-License-Identifier: BSD-3-Clause
"""A fit is a value with verbs, and the estimator that holds it gives the same answers."""

import numpy as np
import pytest
from conftest import cells, counted, planted

import discan

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
