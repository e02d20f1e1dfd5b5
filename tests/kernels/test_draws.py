# SPDX-License-Identifier: BSD-3-Clause
"""Draws of gamma variables equal their twin, and have the right distribution."""

import numpy as np
import pytest
from entries import with_entries
from kernels.streams import P_VALUE, kernels, open_stream, sample, within
from scipy import stats
from scipy.special import gammaln

import discan.kernels.draws
from discan.kernels.twins.random import Stream

draws = with_entries(discan.kernels.draws)


def test_gammas_equal_their_twin():
    stream, twin = open_stream(3), Stream(3, kernels.SWEEP, 0, 0)
    for shape in (1e-3, 0.3, 1.0, 1.7, 250.0):
        got = sample(draws.log_gamma_draw, 100, stream, shape)
        expected = [twin.log_gamma_draw(shape) for _ in range(100)]
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert int(stream[0]) == twin.position


def run_gammas(stream, shapes):
    """Draws and logarithms of a row, these only where the draws are zero."""
    K = len(shapes)
    got, logs = np.full(K, np.nan), np.full(K, np.nan)
    draws.gammas(stream, shapes, got, logs, np.empty(K, dtype=np.int64), np.empty((6, K)))
    return got, logs


@pytest.mark.parametrize("n", [1, 3, 100])
def test_rows_of_gammas_equal_their_twin(n):
    rng = np.random.default_rng(n)
    values = [0.0, 1e-12, 1e-4, 0.01, 0.05, 0.3, 0.97, 1.0, 1.01, 4.2, 3000.0]
    stream, twin = open_stream(13), Stream(13, kernels.SWEEP, 0, 0)
    again = Stream(13, kernels.SWEEP, 0, 0)
    for _ in range(100):
        shapes = rng.choice(values, n)
        got, logs = run_gammas(stream, shapes)
        expected, expected_logs = twin.gammas(shapes), again.log_gammas(shapes)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=0.0)
        zero = expected == 0
        np.testing.assert_allclose(logs[zero], expected_logs[zero], rtol=1e-12)
        assert int(stream[0]) == twin.position


def test_logarithms_and_exponentials_of_rows():
    """The vector functions for rows are right to the last bits."""
    x = np.concatenate([np.geomspace(2.0**-53, 1.4, 5001), 1.0 + np.linspace(-1e-6, 1e-6, 101)])
    logs = np.array([draws._log(value) for value in x])
    np.testing.assert_allclose(logs, np.log(x), rtol=1e-15, atol=0.0)
    y = np.concatenate([-np.linspace(0.0, 707.9, 5001), -np.geomspace(1e-18, 1.0, 101), [0.3]])
    np.testing.assert_allclose([draws._exp(value) for value in y], np.exp(y), rtol=1e-15)
    assert [draws._exp(value) for value in (-708.1, -1e9, -np.inf)] == [0.0, 0.0, 0.0]


def log_gamma_cdf(log_x, shape):
    """Distribution function of the logarithm of a gamma variable."""
    with np.errstate(over="ignore"):
        small = np.exp(shape * log_x - gammaln(shape + 1))
        return np.where(log_x < -40, small, stats.gamma.cdf(np.exp(log_x), shape))


@pytest.mark.parametrize("shape", [0.01, 0.1, 0.5, 0.999, 1.0, 2.5, 10.0, 100.0])
def test_log_gamma(shape):
    x = sample(draws.log_gamma_draw, 50_000, open_stream(2), shape)

    assert np.isfinite(x).all()
    assert stats.kstest(x, lambda log_x: log_gamma_cdf(log_x, shape)).pvalue > P_VALUE
    within(np.exp(x), shape, shape)


@pytest.mark.parametrize("shape", [1e-5, 0.01, 0.05, 0.5, 0.97, 1.0, 2.5])
def test_rows_of_gammas(shape):
    """Rows have the same distribution; the logarithms hold what underflows."""
    stream, mixed = open_stream(14), np.tile([shape, 1.3, 0.2, 0.0], 1000)
    rows = [run_gammas(stream, mixed) for _ in range(50)]
    for at, a in enumerate((shape, 1.3, 0.2)):
        x, logs = (np.concatenate([row[part][at::4] for row in rows]) for part in (0, 1))
        with np.errstate(divide="ignore"):
            logs = np.where(x > 0, np.log(x), logs)
        assert stats.kstest(logs, lambda y, a=a: log_gamma_cdf(y, a)).pvalue > P_VALUE
        if a > 1e-3:  # below, too few draws are large enough to have moments
            within(x, a, a)
    assert all((row[0][3::4] == 0).all() and (row[1][3::4] == -np.inf).all() for row in rows)
