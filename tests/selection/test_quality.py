# SPDX-License-Identifier: BSD-3-Clause
"""Similarity of the components of two starts, and coherence."""

import numpy as np
import pytest

import discan
from discan.selection.quality import KEPT_WORDS, kept_components, mean_coherence, similarity


def test_the_order_of_components_does_not_matter(text):
    components = np.random.default_rng(0).dirichlet(np.full(60, 0.1), 4)
    one, other = kept_components(components, 1), kept_components(components[[2, 0, 3, 1]], 1)
    assert similarity(one, other, text.layout) == pytest.approx(1.0)
    changed = kept_components(np.roll(components, 7, axis=1), 1)
    assert 0.0 <= similarity(one, changed, text.layout) < 0.6


def test_groups_are_kept_whole(votes):
    components = discan.MPCA(2, max_iter=20, random_state=0).fit(votes).components_
    kept = kept_components(components, votes.n_groups)
    np.testing.assert_array_equal(kept.toarray(), components)
    assert similarity(kept, kept, votes.layout) == pytest.approx(1.0)
    other = kept_components(1.0 - components, votes.n_groups)  # everybody votes the other way
    assert similarity(kept, other, votes.layout) < 0.9


def test_of_many_words_the_likeliest_are_kept():
    components = np.random.default_rng(0).dirichlet(np.full(5000, 0.02), 3)
    kept = kept_components(components, 1).toarray()
    assert np.count_nonzero(kept[:, :-1]) == 3 * KEPT_WORDS
    np.testing.assert_allclose(kept.sum(axis=1), 1.0)
    for row, whole in zip(kept, components, strict=True):
        assert set(np.flatnonzero(row[:-1])) == set(np.argsort(whole)[-KEPT_WORDS:])
    layout = discan.Corpus(np.ones((1, 5000))).layout
    parts = kept_components(components, 1), kept_components(components[::-1], 1)
    assert similarity(*parts, layout) == pytest.approx(1.0)


def test_coherence_of_true_components_is_higher(text):
    true = discan.LDA(3, random_state=0, max_iter=100).fit(text).fit_
    one = discan.LDA(1, random_state=0, max_iter=20).fit(text).fit_
    assert -1.0 <= mean_coherence(one, text) < mean_coherence(true, text) <= 1.0
