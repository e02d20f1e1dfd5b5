# SPDX-License-Identifier: BSD-3-Clause
"""Weights of documents: a weight multiplies a document's counts."""

import numpy as np
import pytest

import discan
from discan import Corpus, InputError
from discan.estimators.input import weighted

RNG = np.random.default_rng(0)
X = RNG.poisson(1.5, (30, 12))
WEIGHTS = RNG.integers(1, 4, 30)


@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_counts_are_multiplied(model):
    estimator = discan.DCA(2, model=model, algorithm="variational", max_iter=15, random_state=0)
    normalised = model == "dm"
    exposures = None if normalised else WEIGHTS[:, None].astype(float)
    expected = estimator.fit(Corpus(X * WEIGHTS[:, None], exposures=exposures))
    tables = expected.components_, expected.scores_, expected.component_counts_
    found = estimator.fit(X, sample_weight=WEIGHTS)
    for mine, theirs in zip(
        (found.components_, found.scores_, found.component_counts_), tables, strict=True
    ):
        assert mine.tobytes() == theirs.tobytes()


def test_amounts_stay():
    """Two documents in one proportion have the same amounts, whatever their weights."""
    table = np.vstack([X[:1], X[:1], X])
    weights = np.concatenate([[1, 50], np.ones(30)])
    scores = (
        discan.GaP(2, algorithm="map", random_state=0).fit(table, sample_weight=weights).scores_
    )
    np.testing.assert_allclose(scores[0].sum(), scores[1].sum(), rtol=0.25)
    assert scores[1].sum() == pytest.approx(X[0].sum(), rel=0.05)


def test_for_maximum_likelihood_a_weight_is_a_repetition():
    start = RNG.dirichlet(np.ones(12), 2)
    options = {"init": start, "max_iter": 300, "tol": 0.0, "random_state": 0}
    repeated = discan.PLSI(2, **options).fit(np.repeat(X, WEIGHTS, axis=0))
    found = discan.PLSI(2, **options).fit(X, sample_weight=WEIGHTS)
    np.testing.assert_allclose(found.components_, repeated.components_, atol=2e-3)


def test_weight_zero_leaves_a_document_out():
    weights = np.ones(30)
    weights[20:] = 0
    found = discan.LDA(2, algorithm="map", init=np.eye(2, 12) + 0.1, max_iter=20).fit(
        X, sample_weight=weights
    )
    without = discan.LDA(2, algorithm="map", init=np.eye(2, 12) + 0.1, max_iter=20).fit(X[:20])
    np.testing.assert_allclose(found.components_, without.components_, rtol=1e-6)
    np.testing.assert_allclose(found.scores_[20:], 0.5)


@pytest.mark.parametrize("model", ["gp", "cgp"])
def test_weight_zero_for_amounts(model):
    weights = np.ones(30)
    weights[:3] = 0
    found = discan.DCA(2, model=model, max_iter=10, random_state=0).fit(X, sample_weight=weights)
    assert np.isfinite(found.scores_).all()


def test_samplers_need_whole_counts():
    sampler = discan.LDA(2, algorithm=discan.Collapsed(2, 2), random_state=0)
    assert sampler.fit(X, sample_weight=WEIGHTS).n_iter_ == 4
    with pytest.raises(InputError, match=r"not a whole number, and collapsed draws whole tokens"):
        sampler.fit(X, sample_weight=WEIGHTS + 0.5)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(29), r"shape \(29,\), expected \(30,\)"),
        (np.ones((30, 1)), r"shape \(30, 1\)"),
        (2.0, r"shape \(\)"),
        (np.full(30, -1.0), r"sample_weight\[0\] = -1"),
        (np.full(30, np.nan), r"sample_weight\[0\] = nan"),
        (np.zeros(30), "every sample_weight is zero"),
        (["a"] * 30, "not an array of numbers"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(InputError, match=message):
        discan.LDA(2).fit(X, sample_weight=weights)


def test_no_weights_change_nothing():
    corpus = Corpus(X)
    assert weighted(corpus, None, True) is corpus


def test_names_and_the_rest_stay():
    corpus = Corpus(X, document_names=[f"d{i}" for i in range(30)], metadata={"age": range(30)})
    found = weighted(corpus, WEIGHTS, True)
    assert found.document_names == corpus.document_names
    np.testing.assert_array_equal(found.metadata["age"], corpus.metadata["age"])


def test_usual_totals_are_those_without_weights(tmp_path):
    answers = np.kron(np.ones((10, 4), dtype=int), [1, 0])
    groups = np.repeat(np.arange(4), 2)
    options = {"groups": groups, "max_iter": 4, "tol": 0.0, "random_state": 0}
    run = discan.MPCA(2, checkpoint=tmp_path / "run", **options)
    run.fit(answers, sample_weight=np.full(10, 7))
    np.testing.assert_array_equal(run.group_totals_, 1.0)
    resumed = discan.resume(tmp_path / "run")
    np.testing.assert_array_equal(resumed.group_totals_, 1.0)
    hidden = answers.copy()
    hidden[0, :2] = 0
    assert resumed.impute(hidden)[0, :2].sum() == pytest.approx(1.0)


def test_of_the_estimators_around_it():
    labels = np.arange(30) % 2
    table = X.copy()
    table[labels == 1, :6] += 4
    classifier = discan.DCAClassifier(2, algorithm="map", random_state=0)
    assert (
        classifier.fit(table, labels, sample_weight=WEIGHTS).predict(table) == labels
    ).mean() > 0.8
    only = classifier.fit(table, labels, sample_weight=labels)
    assert (only.predict(table) == 1).all()
    features = discan.DCAFeatures(2, max_iter=5, random_state=0).fit(X, sample_weight=WEIGHTS)
    plain = discan.DCA(2, max_iter=5, random_state=0).fit(X, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(features.dca_.components_, plain.components_)
