# SPDX-License-Identifier: BSD-3-Clause
"""Joint tests of every sampler: the chain leaves the posterior invariant.

`test_sampler` runs all 12 cells of model, sampler and layout. It finds any error in a conditional
distribution: the shape, rate or spike of a score, the exposure of a document, the group of a word,
the prior or the totals of the loadings, a stale count, a draw from the wrong distribution, streams
of random numbers that repeat, blocks that get each other's state, and wrong posterior moments of a
draw. `test_mutations.py` plants such errors to prove it. It cannot find a sampler that leaves the
posterior invariant but mixes badly, nor an error of the objective.

`test_hyperparameters` does the same with hyperparameters drawn from their prior. It tests the
auxiliary draws, the moves, their order, and that the next cycle uses the new values.

The blocked schedule of the collapsed sampler is an approximation by design and would fail the joint
test; `test_blocked_schedule` only compares its means on one corpus with those of the exact one.

Seeds are fixed, so a failure is not chance. |z| > 5 fails; between 4 and 5 the test is run again
with a new seed and four times the length, and must then stay below 4.
"""

import geweke
import numpy as np
import pytest
from geweke import Cell, K

from discan import DCA, Collapsed, Corpus

CELLS = [
    Cell(model, sampler, grouped)
    for model in ("gp", "cgp", "dm")
    for sampler in ("gibbs", "collapsed")
    for grouped in (False, True)
]
LEARN = {
    "gp": [("alpha",), ("beta",), ("gamma",), ("alpha", "beta", "gamma")],
    "cgp": [("alpha",), ("beta",), ("rho",), ("gamma",), ("alpha", "beta", "rho", "gamma")],
    "dm": [("alpha",), ("gamma",), ("alpha", "gamma")],
    "dmp": [("alpha",), ("alpha", "concentration")],
    "gpp": [("alpha",), ("alpha", "concentration"), ("alpha", "beta", "concentration")],
    "cgpp": [("alpha", "concentration"), ("alpha", "beta", "concentration", "rho")],
}
LEARNING = [
    Cell(model, sampler, grouped, learn, symmetric)
    for model, sets in LEARN.items()
    for learn in sets
    for sampler in ("gibbs", "collapsed")
    for grouped in (False, True)
    for symmetric in ((False, True) if learn == ("gamma",) else (False,))
]
# Every move at least once, and both samplers and layouts with all of them together.
LEARNING_SHORT = [
    Cell("gp", "collapsed", True, ("alpha", "beta", "gamma")),
    Cell("cgp", "gibbs", True, ("alpha", "beta", "rho", "gamma")),
    Cell("dm", "gibbs", False, ("alpha",)),
    Cell("dm", "collapsed", True, ("gamma",), symmetric=True),
    Cell("dmp", "collapsed", False, ("alpha", "concentration")),
    Cell("gpp", "gibbs", True, ("alpha", "beta", "concentration")),
    Cell("cgpp", "collapsed", True, ("alpha", "beta", "concentration", "rho")),
]


# Seeds change the prior of the loadings, so gamma is learnt beside them, as one number and as many.
SEEDED = [
    Cell("dm", "collapsed", True, seeded=True),
    Cell("gp", "gibbs", False, seeded=True),
    Cell("dm", "gibbs", True, ("gamma",), seeded=True),
    Cell("cgp", "collapsed", False, ("gamma",), symmetric=True, seeded=True),
    Cell("dmp", "collapsed", True, ("alpha", "concentration"), seeded=True),
    Cell("gpp", "gibbs", False, ("alpha", "concentration"), seeded=True),
]


CLASSED = [
    Cell("dm", "gibbs", False, classed=True),
    Cell("cgp", "collapsed", True, classed=True),
    Cell("dm", "collapsed", False, ("alpha",), classed=True),
    Cell("gp", "gibbs", True, ("alpha", "beta"), classed=True),
    Cell("cgp", "collapsed", True, ("alpha", "beta", "rho", "gamma"), classed=True),
]


def check(cell, n, seed):
    """Fail if the simulators disagree."""
    name, z = geweke.worst(geweke.joint_test(cell, n, seed))
    print(f"{cell}: max |z| = {z:.1f} ({name})")
    assert z < 5, f"{name}: |z| = {z:.1f}"
    if z > 4:
        name, z = geweke.worst(geweke.joint_test(cell, 4 * n, seed + 1000))
        print(f"{cell}: max |z| = {z:.1f} ({name}), second run")
        assert z < 4, f"{name}: |z| = {z:.1f} in the second run"


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_sampler(cell):
    check(cell, 6_000, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_sampler_long(cell):
    check(cell, 40_000, seed=2)


@pytest.mark.parametrize("cell", LEARNING_SHORT, ids=str)
def test_hyperparameters(cell):
    check(cell, 6_000, seed=3)


@pytest.mark.parametrize("cell", CLASSED, ids=str)
def test_classes(cell):
    check(cell, 6_000, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CLASSED, ids=str)
def test_classes_long(cell):
    check(cell, 40_000, seed=8)


@pytest.mark.parametrize("cell", SEEDED, ids=str)
def test_seeds(cell):
    check(cell, 6_000, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("cell", SEEDED, ids=str)
def test_seeds_long(cell):
    check(cell, 40_000, seed=6)


@pytest.mark.slow
@pytest.mark.parametrize("cell", LEARNING, ids=str)
def test_hyperparameters_long(cell):
    check(cell, 40_000, seed=4)


def test_simulators_of_the_test_itself_agree():
    """Two runs of simulator A give standard normal z: the errors are estimated correctly."""
    z = []
    for seed in range(20):
        cell = Cell("cgp", "either", True)
        a, b = (geweke.prior_statistics(cell, 2_000, 100 * seed + part) for part in (1, 2))
        z.extend(value for value in geweke.z_scores(a, b).values() if value != 0.0)
    assert np.std(z) == pytest.approx(1.0, abs=0.25)
    assert np.max(np.abs(z)) < 5


# ------------------------------------------------------------------------ the blocked schedule


def series_of_fit(schedule, corpus, seed):
    """Label-invariant statistics of each draw, (n_draws, n_statistics)."""
    values = []

    def record(run):
        n = np.asarray(run.params.loading_counts, float)
        theta = run.params.prior.mean(n)
        values.append([(n**2).sum(), n.sum(axis=0).max(), (theta**2).sum()])

    estimator = DCA(
        K, model="dm", algorithm=Collapsed(300, 3000, keep_draws=True, schedule=schedule),
        alpha=0.5, gamma=0.5, random_state=seed, callback=record,
    ).fit(corpus)  # fmt: skip
    assert estimator.settings_["schedule"] == schedule
    c = np.array(estimator.draws_.component_counts)
    objective = estimator.trace_["objective"][300:]
    return np.column_stack([values[300:], (c**2).sum((1, 2)), (c[:, 0] ** 2).sum(1), objective])


def test_blocked_schedule():
    """The blocked schedule is within 2 % of the exact one, or within its standard errors."""
    rng = np.random.default_rng(5)
    theta = rng.dirichlet(np.full(12, 0.4), size=K)
    m = rng.dirichlet(np.full(K, 0.6), size=24)
    corpus = Corpus(rng.multinomial(20, m @ theta))
    exact, blocked = (series_of_fit(s, corpus, seed=6) for s in ("exact", "blocked"))

    def error(x):
        means = x.reshape(geweke.N_BATCHES, -1, x.shape[1]).mean(axis=1)
        return means.std(axis=0, ddof=1) / np.sqrt(geweke.N_BATCHES)

    gap = np.abs(exact.mean(axis=0) - blocked.mean(axis=0))
    allowed = np.maximum(4 * np.hypot(error(exact), error(blocked)), 0.02 * np.abs(exact.mean(0)))
    assert np.all(gap < allowed), (exact.mean(0), blocked.mean(0), allowed)
