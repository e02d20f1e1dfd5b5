# SPDX-License-Identifier: BSD-3-Clause
"""Coherence by documents that two words share; smoothed, never NaN."""

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.evaluation.coherence import co_documents, coherence, npmi, u_mass

COUNTS = np.array([[2, 1, 0, 0], [1, 3, 0, 0], [0, 0, 1, 0], [1, 0, 1, 0]])


def test_documents_are_counted_not_tokens():
    [table] = co_documents(Corpus(COUNTS), [np.array([1, 0, 2])])
    np.testing.assert_array_equal(table, [[2, 2, 0], [2, 3, 1], [0, 1, 2]])


def test_values_by_hand():
    corpus = Corpus(COUNTS)
    p0, p1 = 3 / 4, 2 / 4
    both = (2 + p0 * p1) / 5
    expected = np.log(both / (p0 * p1)) / -np.log(both)
    words = [np.array([0, 1])]
    np.testing.assert_allclose(coherence(corpus, words), expected)
    np.testing.assert_allclose(coherence(corpus, words, "u_mass"), np.log(3 / 3))
    np.testing.assert_allclose(coherence(corpus, [np.array([1, 0])], "u_mass"), np.log(3 / 2))


def test_npmi_of_many_documents_is_the_usual_one():
    """The added document does not matter then: independent words have 0, equal ones 1."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 200_000)) < 0.1
    corpus = Corpus(np.column_stack([a, b, a]).astype(int))
    [independent, equal] = coherence(corpus, [np.array([0, 1]), np.array([0, 2])])
    assert abs(independent) < 0.01
    assert equal == pytest.approx(1, abs=1e-4)


def test_words_that_never_meet_are_below_those_that_meet_by_chance():
    never = npmi(np.array([[50.0, 0], [0, 50]]), 100)
    assert -1 <= never < -0.7
    assert npmi(np.array([[50.0, 25], [25, 50]]), 100) == pytest.approx(0, abs=1e-12)
    assert u_mass(np.array([[50.0, 0], [0, 50]]), 100) == pytest.approx(np.log(1 / 50))


@pytest.mark.parametrize("measure", ["npmi", "u_mass"])
@pytest.mark.parametrize(
    "counts",
    [np.zeros((3, 4), int), np.ones((5, 4), int), COUNTS],
    ids=["empty documents", "all words everywhere", "an unseen word"],
)
def test_never_nan(counts, measure):
    lists = [np.array([0, 1, 3]), np.array([2]), np.array([], dtype=int), np.array([3, 2])]
    found = coherence(Corpus(counts), lists, measure)
    assert np.isfinite(found).all()


def test_an_unseen_word_is_the_least_coherent():
    corpus = Corpus(COUNTS)
    unseen, seen = coherence(corpus, [np.array([3, 0]), np.array([2, 1])], "u_mass")
    assert unseen < seen
    assert coherence(corpus, [np.array([3, 0])])[0] == 0
