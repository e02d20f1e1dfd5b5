# SPDX-License-Identifier: BSD-3-Clause
"""Learning alpha and beta together: alpha does not run away."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import discan
from discan.models.gamma_poisson import MOST_SHAPE

DIGITS = load_digits().data[::4].astype(int)


@pytest.mark.parametrize("init", ["random", "documents", "map"])
def test_alpha_of_digits_does_not_run_away(init):
    """Without a limit it goes to thousands from these starts."""
    fitted = discan.GaP(
        10, algorithm="variational", learn=("alpha", "beta"), init=init, max_iter=300,
        random_state=0, progress=False,
    ).fit(DIGITS)  # fmt: skip
    assert fitted.alpha_.max() <= MOST_SHAPE
    objective = fitted.trace_["objective"]
    assert (np.diff(objective) >= -1e-9 * np.abs(objective[1:])).all()
    amounts = fitted.alpha_ / fitted.beta_
    np.testing.assert_allclose(amounts.sum(), DIGITS.sum(axis=1).mean(), rtol=0.05)


@pytest.mark.parametrize("sampler", [discan.Gibbs(40, 20), discan.Collapsed(40, 20)])
def test_samplers_do_not_run_away(sampler):
    fitted = discan.GaP(
        10, algorithm=sampler, learn=("alpha", "beta"), random_state=0, progress=False
    ).fit(DIGITS)
    assert fitted.alpha_.max() < 10
    low, high = fitted.intervals(0.9).hyperparameters["alpha"]
    assert (low < fitted.alpha_).all()
    assert (fitted.alpha_ < high).all()


def test_a_larger_given_alpha_is_not_cut():
    fitted = discan.GaP(
        1, algorithm="variational", alpha=60.0, learn=("alpha", "beta"), random_state=0,
        progress=False,
    ).fit(DIGITS)  # fmt: skip
    assert fitted.alpha_[0] > MOST_SHAPE
    assert (np.diff(fitted.trace_["objective"]) >= -1e-6).all()


def test_alpha_and_rho_of_the_conditional_model_are_told_apart():
    """Half of the components of a document are absent, the others are far from 0."""
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.full((1, 8), 1 / 8))
    present = rng.random((200, 3)) < 0.5
    amounts = present * rng.gamma(4.0, 5.0, (200, 3))
    counts = rng.poisson(amounts @ topics)
    fitted = discan.ConditionalGaP(
        3, algorithm=discan.Collapsed(100, 100), init=topics, random_state=0, progress=False
    ).fit(counts)
    intervals = fitted.intervals(0.98).hyperparameters
    for name, truth in (("rho", 0.5), ("alpha", 4.0)):
        low, high = intervals[name]
        assert ((low < truth) & (truth < high)).sum() >= 2, name
