# SPDX-License-Identifier: BSD-3-Clause
"""Means, paired standard errors, and the variance over starts, against plain formulas."""

import numpy as np
import pytest
from scipy import sparse

from discan.selection.jobs import Job, Outcome, Setting
from discan.selection.measures import measure, paired_gap
from discan.selection.protocols import Fold

SETTINGS = [Setting(f"K{k}", {"n_components": k}) for k in (2, 3)]


def outcome(nats, tokens):
    return Outcome(
        np.array([nats, tokens], float), sparse.csr_array((1, 1)), *[0.0] * 3, 1, True, {}
    )


def measured(table, tokens, given=None):
    """Measure nats (S, n_seeds, n_folds, I)."""
    n_settings, n_seeds, n_folds, _ = table.shape
    outcomes = {
        Job(SETTINGS[s], seed, fold): outcome(table[s, seed, fold], tokens[fold])
        for s in range(n_settings)
        for seed in range(n_seeds)
        for fold in range(n_folds)
    }
    folds = [Fold(None, None, given)] * n_folds
    baselines = [np.array([-5.0 * t, t]) for t in tokens]
    return measure(SETTINGS[:n_settings], range(n_seeds), outcomes, folds, baselines)


def test_one_start_pairs_over_documents():
    rng = np.random.default_rng(0)
    tokens = np.full((2, 50), 1.0)
    table = -rng.gamma(2.0, 1.0, (2, 1, 2, 50))
    found = measured(table, tokens)
    flat = -table.reshape(2, 100) / np.log(2)
    np.testing.assert_allclose(found.bits, flat.mean(axis=1))
    np.testing.assert_allclose(found.error, flat.std(axis=1, ddof=1) / 10)
    difference = flat[0] - flat[1]
    gap, error = paired_gap(found, 0, 1)
    assert gap == pytest.approx(difference.mean())
    assert error == pytest.approx(difference.std(ddof=1) / 10)
    assert found.gap[found.best] == found.gap_error[found.best] == 0.0
    assert np.isnan(found.starts).all()
    assert found.baseline == pytest.approx(5.0 / np.log(2))


def test_the_same_documents_in_all_folds_are_one_unit():
    tokens = np.ones((3, 40))
    once = -np.random.default_rng(1).gamma(2.0, 1.0, (2, 1, 1, 40))
    thrice = np.repeat(once, 3, axis=2)
    apart, together = measured(thrice, tokens), measured(thrice, tokens, given=0)
    # copies of a document tell nothing new
    np.testing.assert_allclose(together.error, measured(once, tokens[:1]).error)
    np.testing.assert_allclose(together.error, np.sqrt(3) * apart.error, rtol=0.02)


def test_documents_count_by_their_tokens():
    tokens = np.array([[1.0, 3.0, 0.0]])
    table = np.array([[[[-1.0, -9.0, 0.0]]]])
    found = measured(table, tokens)
    assert found.bits[0] == pytest.approx(10.0 / 4.0 / np.log(2))
    assert np.isfinite(found.error[0])


def test_starts_add_to_the_error():
    tokens = np.ones((2, 30))
    base = -np.random.default_rng(2).gamma(2.0, 1.0, (1, 1, 2, 30))
    shift = np.array([-0.3, 0.3]).reshape(1, 2, 1, 1)  # seeds
    table = np.concatenate([base + shift, base + shift - 0.1])
    found = measured(table, tokens)
    assert found.starts == pytest.approx(0.3 * np.sqrt(2) / np.log(2))
    # documents differ by exactly 0.1, so that the starts are all of the error
    gap, error = paired_gap(found, 1, 0)
    assert gap == pytest.approx(0.1 / np.log(2))
    one = 0.18 / np.log(2) ** 2 / 2 / 2  # variance of a start / starts / folds
    assert error == pytest.approx(np.sqrt(2 * one))
