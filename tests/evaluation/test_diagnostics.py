# SPDX-License-Identifier: BSD-3-Clause
"""R-hat and effective sample sizes: against theory, against ArviZ, and for what goes wrong."""

import numpy as np
import pytest

from discan.evaluation.diagnostics import ess_bulk, ess_tail, rhat

RNG = np.random.default_rng(0)


def autoregressive(rng, phi, shape):
    """Draws of an AR(1) process in its stationary law."""
    x = rng.standard_normal(shape)
    for t in range(1, shape[1]):
        x[:, t] = phi * x[:, t - 1] + np.sqrt(1 - phi**2) * x[:, t]
    return x


def test_independent_draws():
    x = np.random.default_rng(1).standard_normal((4, 1000))
    assert rhat(x) < 1.005
    assert ess_bulk(x) == pytest.approx(4000, rel=0.1)
    assert ess_tail(x) == pytest.approx(4000, rel=0.15)


@pytest.mark.parametrize("phi", [0.5, 0.9, -0.5])
def test_autocorrelated_draws_have_the_size_of_theory(phi):
    x = autoregressive(np.random.default_rng(2), phi, (4, 10_000))
    expected = x.size * (1 - phi) / (1 + phi)
    assert ess_bulk(x) == pytest.approx(expected, rel=0.15)


def test_a_chain_elsewhere_is_seen():
    x = RNG.standard_normal((4, 500))
    x[2] += 3
    assert rhat(x) > 1.3
    assert ess_bulk(x) < 20


def test_a_chain_of_another_width_is_seen():
    """Means agree; only the folded draws tell."""
    x = RNG.standard_normal((4, 500))
    x[1] *= 10
    assert rhat(x) > 1.1


def test_a_drift_within_one_chain_is_seen():
    x = RNG.standard_normal((1, 400)) + np.linspace(0, 6, 400)
    assert rhat(x) > 1.5


def test_ranks_make_heavy_tails_harmless():
    x = np.random.default_rng(3).standard_cauchy((4, 1000))
    assert rhat(x) < 1.01
    assert ess_bulk(x) > 3000


def test_constants():
    assert rhat(np.ones((4, 50))) == 1.0
    assert ess_bulk(np.ones((4, 50))) == 200
    assert ess_tail(np.ones((4, 50))) == 200
    stuck = np.repeat([[1.0], [2.0]], 50, axis=1)
    assert rhat(stuck) == np.inf
    assert ess_bulk(stuck) < 5


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("phi", [0.0, 0.7, -0.4])
@pytest.mark.parametrize("shape", [(4, 200), (2, 101), (3, 64)])
def test_against_arviz(phi, shape):
    az = pytest.importorskip("arviz", reason="ArviZ is not installed")
    x = autoregressive(np.random.default_rng(4), phi, shape)
    assert rhat(x) == pytest.approx(float(az.rhat(x)), rel=1e-9)
    # the sums may end a lag apart in short chains
    assert ess_bulk(x) == pytest.approx(float(az.ess(x, method="bulk")), rel=0.02)
    assert ess_tail(x) == pytest.approx(float(az.ess(x, method="tail")), rel=0.02)
