# SPDX-License-Identifier: BSD-3-Clause
"""Stability and coherence of components."""

import numpy as np
import pytest

import discan
from discan.selection.quality import KEPT_WORDS, coherence, kept_components, stability


def test_the_order_of_components_does_not_matter(text):
    components = np.random.default_rng(0).dirichlet(np.full(60, 0.1), 4)
    one, other = kept_components(components), kept_components(components[[2, 0, 3, 1]])
    assert stability(one, other, text.layout) == pytest.approx(1.0)
    changed = kept_components(np.roll(components, 7, axis=1))
    assert 0.0 <= stability(one, changed, text.layout) < 0.7


def test_answers_that_all_share_do_not_count(votes):
    """Two fits that agree on unanimous votes alone are not alike."""
    rng = np.random.default_rng(0)
    yes = np.full((2, 2, 30), 0.999)
    yes[:, :, :4] = rng.random((2, 2, 4))
    fits = [np.stack([part, 1 - part], axis=2).reshape(2, 60) for part in yes]
    assert stability(*map(kept_components, fits), votes.layout) < 0.95
    assert stability(*[kept_components(fits[0])] * 2, votes.layout) == pytest.approx(1.0)


def test_one_component_is_like_itself(votes):
    one = kept_components(np.full((1, 60), 0.5))
    assert stability(one, one, votes.layout) == pytest.approx(1.0)


def test_of_many_words_the_likeliest_are_kept():
    components = np.random.default_rng(0).dirichlet(np.full(5000, 0.02), 3)
    kept = kept_components(components).toarray()
    assert np.count_nonzero(kept) == 3 * KEPT_WORDS
    for row, whole in zip(kept, components, strict=True):
        assert row.sum() == pytest.approx(np.sort(whole)[-KEPT_WORDS:].sum())
    layout = discan.Corpus(np.ones((1, 5000))).layout
    parts = kept_components(components), kept_components(components[::-1])
    assert stability(*parts, layout) == pytest.approx(1.0)


def test_coherence():
    counts = np.zeros((40, 20), dtype=int)
    counts[:20, :10] = counts[20:, 10:] = 1
    corpus = discan.Corpus(counts)
    true = np.kron(np.eye(2), np.full(10, 0.1))
    mixed = np.tile([0.08, 0.02], (2, 10))
    mixed[1] = mixed[0, ::-1]
    assert coherence(true, corpus) > 0.9
    assert -1.0 <= coherence(mixed, corpus) < 0.3
    assert np.isfinite(coherence(true, discan.Corpus(np.ones((3, 20), int))))


def test_grouped_columns_have_no_coherence(votes):
    assert np.isnan(coherence(np.full((2, 60), 0.5), votes))
