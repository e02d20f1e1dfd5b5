# SPDX-License-Identifier: BSD-3-Clause
"""Splits: expected counts of a component, fitted again."""

import logging

import numpy as np
import pytest

import discan
from discan import InputError
from discan.hierarchy import inside


def test_expected_counts_add_up(flat, counts):
    corpus = discan.Corpus(counts[:80])
    parts = [inside(flat.fit_, k, corpus).to_csr().toarray() for k in range(6)]
    np.testing.assert_allclose(sum(parts), counts[:80], atol=0.06)  # small entries are left out
    scores = flat.transform(counts[:80])
    j = int(np.argmax(counts[0]))
    chance = scores[0] * flat.components_[:, j]
    expected = counts[0, j] * chance / chance.sum()
    found = np.array([part[0, j] for part in parts])
    np.testing.assert_allclose(found[expected >= 0.01], expected[expected >= 0.01])


def test_a_merged_component_is_split_again(counts, pairs, caplog):
    """Three components hold a planted pair each; a split finds the pair."""
    rough = np.array([pairs[:2].mean(0), pairs[2:4].mean(0), pairs[4:].mean(0)])
    est = discan.LDA(3, algorithm="map", alpha=0.1, init=rough, max_iter=30, random_state=0,
                     progress=False).fit(counts)  # fmt: skip
    with caplog.at_level(logging.INFO, "discan"):
        parts = est.split(1, counts, 2)
    assert "a heuristic" in caplog.text
    assert parts.component_names_ == ("component 1.1", "component 1.2")
    cosine = parts.components_ @ pairs[:2].T
    cosine /= np.linalg.norm(parts.components_, axis=1)[:, None]
    cosine /= np.linalg.norm(pairs[:2], axis=1)
    assert max(cosine[[0, 1], [0, 1]].min(), cosine[[0, 1], [1, 0]].min()) > 0.9
    assert len(parts.scores_) == len(counts)


def test_samplers_are_replaced(sampled, counts):
    parts = sampled.split("component 2", counts[:80], 2)
    assert not parts.algorithm_.whole_counts
    assert parts.component_names_[0] == "component 2.1"


def test_bad_input_is_refused(flat, counts):
    for component in (0, 7, "no", True, 1.5):
        with pytest.raises(InputError, match="from 1 to 6"):
            flat.split(component, counts)
    with pytest.raises(InputError, match="n=0"):
        flat.split(1, counts, 0)
    with pytest.raises(InputError, match="nothing to split"):
        flat.split(1, np.zeros_like(counts[:2]))
