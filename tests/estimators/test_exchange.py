# SPDX-License-Identifier: BSD-3-Clause
"""What pyLDAvis takes."""

import numpy as np
import pytest

import discan
from discan.data.corpus import Corpus
from discan.errors import InputError


def test_to_pyldavis():
    X = np.random.default_rng(0).poisson(0.8, (30, 8))
    X[:, 5] = 0
    X[3] = 0
    corpus = Corpus(X, word_names=list("abcdefgh"))
    estimator = discan.LDA(3, algorithm="map", random_state=0, max_iter=10).fit(corpus)
    given = estimator.to_pyldavis(corpus)
    assert given["vocab"] == list("abcdegh")
    np.testing.assert_array_equal(given["term_frequency"], np.delete(X.sum(axis=0), 5))
    np.testing.assert_array_equal(given["doc_lengths"], np.delete(X.sum(axis=1), 3))
    assert given["doc_topic_dists"].shape == (29, 3)
    for name in ("topic_term_dists", "doc_topic_dists"):
        np.testing.assert_allclose(given[name].sum(axis=1), 1)
    expected = estimator.to_pyldavis()
    assert expected["term_frequency"].sum() == pytest.approx(X.sum())
    with pytest.raises(InputError, match="documents"):
        estimator.to_pyldavis(X[:4])
    with pytest.raises(InputError, match="no training documents"):
        discan.DCA.from_components(estimator.components_).to_pyldavis()


def test_groups_sum_to_one():
    X = np.tile([[1, 0, 2, 0], [0, 1, 0, 2]], (6, 1))
    estimator = discan.MPCA(2, algorithm="map", groups=[0, 0, 1, 1], random_state=0).fit(X)
    np.testing.assert_allclose(estimator.to_pyldavis()["topic_term_dists"].sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("groups", [None, np.repeat([0, 1], 4)], ids=["text", "groups"])
def test_pyldavis_takes_it(groups):
    vis = pytest.importorskip("pyLDAvis")
    X = np.random.default_rng(1).poisson(0.8, (30, 8))
    X[:, 5] = 0
    X[3] = 0
    estimator = discan.DCA(4, groups=groups, algorithm="map", random_state=0, max_iter=10).fit(X)
    for given in (estimator.to_pyldavis(X), estimator.to_pyldavis()):
        page = vis.prepare(**given, n_jobs=1, R=5)
        assert sorted(page.topic_order) == [1, 2, 3, 4]
        assert page.topic_coordinates["Freq"].sum() == pytest.approx(100)
        assert set(page.topic_info["Term"]) <= set(given["vocab"])
    assert "ldavis" in vis.prepared_data_to_html(page)
