# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of hyperparameters where a distribution has one entry only, and nothing is told."""

import warnings

import numpy as np
import pytest

from discan import DCA
from discan.models.hyperparameters import dirichlet


def test_a_dirichlet_of_one_entry_stays_as_it_is():
    rng = np.random.default_rng(0)
    logs = np.log(rng.dirichlet([0.7, 2.0, 4.0], 500)).mean(axis=0)
    groups = np.array([0, 1, 1, 1, 2])
    mean_logs = np.array([0.0, *logs, 0.0])
    start = np.array([0.3, 1.0, 1.0, 1.0, 5.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = dirichlet(mean_logs, start, groups)
    np.testing.assert_array_equal(found[[0, 4]], [0.3, 5.0])
    np.testing.assert_allclose(found[1:4], dirichlet(logs, np.ones(3)), rtol=1e-9)
    np.testing.assert_allclose(found[1:4], [0.7, 2.0, 4.0], rtol=0.2)


@pytest.mark.parametrize("algorithm", ["variational", "gibbs", "collapsed"])
def test_a_fit_of_one_component_gives_no_warning(algorithm):
    counts = np.random.default_rng(0).poisson(1.0, (30, 8))
    estimator = DCA(1, algorithm=algorithm, learn=("alpha", "gamma"), random_state=0, max_iter=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        estimator.fit(counts)
    np.testing.assert_allclose(estimator.proportions_, 1.0)
    assert np.isfinite(estimator.alpha_).all()
    assert np.isfinite(estimator.trace_["objective"]).all()
