# SPDX-License-Identifier: BSD-3-Clause
"""The special functions equal those of SciPy."""

import numpy as np
import pytest
from entries import entry
from kernels.blocks import close
from numpy.testing import assert_allclose
from scipy.special import digamma

from discan.kernels import special
from discan.kernels.twins import special as twins


def test_digamma():
    x = np.concatenate([np.geomspace(1e-8, 1e8, 2000), np.linspace(0.01, 12, 500)])
    got = np.array([special.digamma(value) for value in x])
    assert_allclose(got, digamma(x), rtol=1e-13, atol=2e-11)
    close([special.exp_digamma(v) for v in x[x > 0.01]], twins.exp_digamma(x[x > 0.01]))


def test_log_and_log_gamma():
    x = np.concatenate((np.logspace(-12, 12, 400), np.linspace(0.5, 3.0, 100)))
    for name in ("log", "log_gamma"):
        got = np.array([getattr(special, name)(value) for value in x])
        assert_allclose(got, getattr(twins, name)(x), rtol=1e-13, atol=2e-14)


def test_exp():
    x = np.concatenate((np.linspace(-699.0, 699.0, 1001), np.linspace(-1.0, 1.0, 100)))
    assert_allclose([special.exp(value) for value in x], twins.exp(x), rtol=4e-16)


@pytest.mark.parametrize("a", [1e-8, 0.3, 5.0, 9.9e5, 1e6, 1e7])
def test_log_rising(a):
    log_rising = entry(special.log_rising)
    for n in (0, 1, 2, 15, 16, 17, 18, 1000):
        expected = np.log(a + np.arange(n)).sum()
        assert_allclose(log_rising(a, n), expected, rtol=1e-10, atol=2e-7 * (a >= 1e6))
        assert_allclose(twins.log_rising(a, n), expected, rtol=1e-7, atol=1e-6 * (a > 1e5))
