# SPDX-License-Identifier: BSD-3-Clause
"""The log of the mean and its error."""

import numpy as np
import pytest

from discan.evaluation.averages import log_mean


def test_it_is_the_log_of_the_mean():
    chances = np.array([[0.1, 0.2], [0.3, 0.2], [0.2, 0.2]])
    mean, error = log_mean(np.log(chances) - 2000.0)  # far below the smallest number
    np.testing.assert_allclose(mean, np.log([0.2, 0.2]) - 2000.0)
    wanted = np.std(np.log(chances[:, 0]), ddof=1) / np.sqrt(3)
    assert error[0] == pytest.approx(wanted)
    assert error[0] >= np.std(chances[:, 0], ddof=1) / 0.2 / np.sqrt(3)
    assert error[1] == pytest.approx(0.0, abs=1e-12)


def test_one_run_has_no_error_and_the_impossible_stays_so():
    mean, error = log_mean(np.array([[-1.0, -np.inf]]))
    assert mean.tolist() == [-1.0, -np.inf]
    assert np.isnan(error[0])
    assert error[1] == 0.0
    mean, error = log_mean(np.array([[-np.inf, 0.0], [-np.inf, -np.inf]]))
    assert mean[0] == -np.inf
    assert error.tolist() == pytest.approx([0.0, 1.0])
    assert mean[1] == pytest.approx(np.log(0.5))


def test_runs_that_differ_widely_have_a_wide_error():
    _, error = log_mean(np.array([0.0, 10.0, 20.0, 30.0]))
    assert error > 5
