# SPDX-License-Identifier: BSD-3-Clause
"""Recommendations: the likeliest words that a document lacks, as plain arithmetic says."""

import numpy as np
import pytest
from conftest import counted, planted

import discan
from discan import InputError

RNG = np.random.default_rng(2)
COMPONENTS, PROPORTIONS = planted(RNG, (30, 40), 3, 0.2, 0.3)
X = counted(RNG, np.full(30, 25), PROPORTIONS, COMPONENTS)


@pytest.mark.parametrize("model", ["dm", "gp"])
def test_equals_a_plain_computation(model, monkeypatch):
    estimator = discan.DCA(3, model=model, algorithm="map", max_iter=30, random_state=0).fit(X)
    monkeypatch.setattr("discan.fitting.recommending._CELLS_AT_ONCE", 200)  # a few rows at a time
    words, chances = estimator.recommend(X, n=5)
    scores = estimator.transform(X)
    expected = scores / scores.sum(axis=1, keepdims=True) @ estimator.components_
    expected[X > 0] = -1
    for i in range(len(X)):
        best = np.argsort(-expected[i], kind="stable")[:5]
        np.testing.assert_array_equal(words[i], best)
        np.testing.assert_allclose(chances[i], expected[i, best])
        assert not X[i, words[i]].any()


def test_a_document_that_lacks_few_words():
    full = np.ones((2, 6), dtype=int)
    full[0, 4] = 0
    estimator = discan.LDA.from_components(np.eye(2, 6) + 0.1)
    words, chances = estimator.recommend(full, n=3)
    assert words.tolist() == [[4, -1, -1], [-1, -1, -1]]
    assert np.isnan(chances).sum() == 5


def test_one_group_of_several():
    groups = ["a"] * 20 + ["b"] * 20
    estimator = discan.DCA(3, groups=groups, max_iter=5, random_state=0).fit(X)
    words, _ = estimator.recommend(X, 4, group="b")
    assert (words >= 20).all()
    with pytest.raises(InputError, match=r"2 groups.*group=\.\.\."):
        estimator.recommend(X)
    with pytest.raises(InputError, match="n=0"):
        estimator.recommend(X, 0, group="a")
