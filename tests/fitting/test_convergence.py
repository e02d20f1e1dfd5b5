# SPDX-License-Identifier: BSD-3-Clause
"""Whether a fit has converged, in words, with advice."""

import numpy as np
import pytest
from conftest import counted, planted

import discan
from discan.fitting.convergence import chain_rise, verdict

RNG = np.random.default_rng(1)
COMPONENTS, PROPORTIONS = planted(RNG, (80, 20), 3, 0.3, 0.4)
X = counted(RNG, np.full(80, 40), PROPORTIONS, COMPONENTS)
TOKENS = 3_200.0


def chain(rise, n=300, burn_in=200, noise=3.0, seed=0):
    """Objective of a chain that goes up steeply, then by ``rise`` per token over its draws."""
    rng = np.random.default_rng(seed)
    start = -9e4 * np.exp(-np.arange(burn_in) / 20)
    slope = np.linspace(0, rise * TOKENS, n - burn_in)
    return np.concatenate([start, slope]) + noise * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(5))
def test_a_level_chain_does_not_rise(seed):
    assert chain_rise(chain(0.0, seed=seed), 200, TOKENS) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_a_rising_chain_is_told_from_noise(seed):
    assert chain_rise(chain(0.02, seed=seed), 200, TOKENS) == pytest.approx(0.01, rel=0.2)
    assert chain_rise(chain(0.02, seed=seed, noise=3000.0), 200, TOKENS) == 0.0


def test_a_falling_chain_has_not_stopped_short():
    assert chain_rise(chain(-0.02), 200, TOKENS) == 0.0


def test_a_short_chain_cannot_be_judged():
    assert chain_rise(chain(0.0)[:219], 200, TOKENS) is None
    assert chain_rise(chain(0.0)[:220], 200, TOKENS) is not None


def test_the_first_half_of_a_chain_without_burn_in_is_left_out():
    assert chain_rise(chain(0.0, n=400, burn_in=150), 0, TOKENS) == 0.0


def said(*arguments):
    found = verdict(*arguments)
    return str(found), found.use


def test_words():
    rising = np.linspace(-9e3, -8e3, 50)
    text, use = said(False, "all 50 cycles done", rising, TOKENS, None)
    assert text.startswith("not converged: the objective still rises, by 0.0064 nats per token")
    assert text.endswith("; use max_iter=100, or algorithm='collapsed'")
    _, use = said(False, "all 50 cycles done", rising, 3200.5, None)
    assert use == {"max_iter": 100}  # a sampler would refuse fractions
    text, _ = said(True, "the objective changed by 1e-6", rising, TOKENS, None)
    assert text == "converged: the objective changed by 1e-6"
    text, use = said(False, "interrupted", rising, TOKENS, None)
    assert text == "not converged: interrupted after cycle 50"
    assert not use
    text, use = said(False, "all 300 cycles done", chain(0.02), TOKENS, 200)
    assert "the chain still rises" in text
    assert use == {"burn_in": 400}
    _, use = said(False, "all 300 cycles done", chain(0.08, burn_in=8), TOKENS, 8)
    assert use == {"max_iter": 600}
    text, _ = said(True, "all 300 cycles done", chain(0.0), TOKENS, 200)
    assert text == "converged: the objective of the chain no longer rises"


def test_of_fits(tmp_path):
    short = discan.LDA(3, algorithm="map", max_iter=5, random_state=0).fit(X)
    assert not short.converged_
    assert str(short.fit_.verdict()).startswith("not converged: the objective still rises")
    whole = discan.LDA(3, algorithm="map", max_iter=2000, random_state=0).fit(X)
    assert whole.converged_
    assert str(whole.fit_.verdict()).startswith("converged: the objective changed by")
    sampler = discan.Collapsed(burn_in=60, n_draws=60)
    sampled = discan.LDA(3, algorithm=sampler, init="map", random_state=0).fit(X)
    assert sampled.converged_
    assert "no longer rises" in str(sampled.fit_.verdict())
    whole.save(tmp_path / "m.discan")
    assert str(discan.load(tmp_path / "m.discan").fit_.verdict()) == str(whole.fit_.verdict())
    given = discan.LDA.from_components(whole.components_)
    assert "nothing was fitted" in str(given.fit_.verdict())
