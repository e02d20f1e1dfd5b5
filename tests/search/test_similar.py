# SPDX-License-Identifier: BSD-3-Clause
"""Similar documents are those of a plain computation; components of words."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

import discan
from discan.data.corpus import Corpus
from discan.errors import InputError


@pytest.fixture(scope="module")
def corpus():
    counts = np.random.default_rng(0).poisson(0.7, (50, 9))
    words = [f"word{j}" for j in range(9)]
    return Corpus(counts, word_names=words, document_names=[f"doc {i}" for i in range(50)])


@pytest.fixture(scope="module")
def estimator(corpus):
    return discan.LDA(4, algorithm="map", random_state=0, max_iter=20).fit(corpus)


def hellinger(p, q):
    return np.sqrt(np.maximum(1 - np.sqrt(p * q).sum(), 0))


@pytest.mark.parametrize("distance", ["hellinger", "jensen-shannon"])
def test_neighbours_are_those_of_brute_force(estimator, corpus, distance):
    shares = estimator.transform(corpus)
    measure = hellinger if distance == "hellinger" else lambda p, q: jensenshannon(p, q, base=2)
    expected = np.array([measure(row, shares[7]) for row in shares])
    order = [i for i in np.argsort(expected, kind="stable") if i != 7]
    found = estimator.similar("doc 7", corpus, n=49, distance=distance)
    np.testing.assert_allclose([one.distance for one in found], expected[order], atol=1e-7)
    assert [one.number for one in found[:10]] == order[:10]
    assert estimator.similar(7, corpus, n=3, distance=distance) == found[:3]
    shared = np.minimum(shares[7], shares[found[0].number])
    assert max(found[0].shared.values()) == pytest.approx(shared.max())


def test_a_new_document(estimator, corpus):
    row = corpus.to_csr().toarray()[7]
    found = estimator.similar(row, corpus, n=1)
    assert (found[0].number, found[0].distance) == (7, pytest.approx(0, abs=1e-7))
    trained = estimator.similar("doc 7", n=2)
    assert 7 not in [one.number for one in trained]


def test_components_of(estimator):
    found = estimator.components_of("word1 word2")
    chances = estimator.sizes_ * estimator.components_[:, 1] * estimator.components_[:, 2]
    chances /= chances.sum()
    for k, name in enumerate(estimator.component_names_):
        assert found[name] == pytest.approx(chances[k])
    assert list(found.values()) == sorted(found.values(), reverse=True)
    given = discan.DCA.from_components([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]], algorithm="map")
    assert given.components_of([0, 1, 1]) == {"component 2": 1.0, "component 1": 0.0}
    with pytest.raises(InputError, match="no component has all"):
        given.components_of([1, 0, 1])


def test_errors(estimator, corpus):
    renamed = corpus.select([0, 2]).described(document_names=("doc 11", "doc 10"))
    with pytest.raises(InputError, match="did you mean 'doc 11', 'doc 10'"):
        estimator.similar("doc 1", renamed)
    with pytest.raises(InputError, match="there is no document 50"):
        estimator.similar(50, corpus)
    with pytest.raises(InputError, match="distance"):
        estimator.similar(5, corpus, distance="cosine")
