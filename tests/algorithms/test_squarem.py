# SPDX-License-Identifier: BSD-3-Clause
"""Long strides of EM lead where short ones do, sooner, and never down."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import make_run, planted

from discan import Corpus, DirichletMultinomial, GammaPoisson, InputError, MaximumLikelihood
from discan.algorithms import squarem
from discan.models import LoadingsPrior

MODELS = pytest.mark.parametrize("model", [GammaPoisson, DirichletMultinomial])


def corpus(seed=0, n_documents=80, n_words=30, groups=None):
    rng = np.random.default_rng(seed)
    components, proportions = planted(rng, (n_documents, n_words), 3, 0.2, 0.4)
    return Corpus(rng.poisson(40 * proportions @ components), groups=groups)


def start(table, model, algorithm, seed=0, **options):
    prior = LoadingsPrior.of(0.1, table.layout)
    return make_run(table, model().prepare(3, table), algorithm, prior, seed=seed, **options)


def rises(run):
    objective = run.trace["objective"]
    assert np.all(np.diff(objective) >= -1e-10 * np.abs(objective[1:]))


@MODELS
@pytest.mark.parametrize("groups", [None, [0] * 10 + [1] * 20])
def test_same_optimum_in_fewer_cycles(model, groups):
    table = corpus(groups=groups)
    plain = start(table, model, MaximumLikelihood(accelerate=False))
    plain.advance(4000, tol=1e-10)
    fast = start(table, model, MaximumLikelihood(accelerate="squarem"))
    fast.advance(4000, tol=1e-10)
    assert plain.converged
    assert fast.converged
    rises(fast)
    ends = [run.trace["objective"][-1] for run in (plain, fast)]
    assert ends[1] >= ends[0] - 1e-4 * abs(ends[0])
    assert fast.cycle < plain.cycle


@MODELS
@pytest.mark.parametrize("tau", [1.0, 0.8])
def test_overshooting_is_made_good(monkeypatch, model, tau):
    if tau < 1.0 and not model.normalised:
        pytest.skip("tempering is for proportions")
    monkeypatch.setattr(squarem, "_stride", lambda *_: (1000.0, 4000.0))
    repeats, update = [], squarem.Squarem.update

    def watched(*arguments):
        params = update(*arguments)
        repeats.append(params.repeat)
        return params

    monkeypatch.setattr(squarem.Squarem, "update", watched)
    run = start(corpus(), model, MaximumLikelihood(tau=tau, accelerate="squarem"))
    run.advance(60)
    assert any(repeats)
    rises(run)


@MODELS
def test_totals_are_kept(model):
    table = corpus()
    run = start(table, model, MaximumLikelihood(accelerate="squarem"))
    for cycle in range(1, 12):
        run.advance(cycle)
        scores = np.concatenate([run.states.get(block).old for block in run.schedule.blocks])
        np.testing.assert_allclose(scores.sum(axis=1), table.lengths)
        np.testing.assert_allclose(run.params.memory.begun.sum(axis=0), 1.0)


def test_accelerate_is_yes_or_no():
    with pytest.raises(InputError, match="accelerate"):
        replace(MaximumLikelihood(accelerate="squarem"), accelerate=2)
