# SPDX-License-Identifier: BSD-3-Clause
"""The sampler of two levels is exact: joint tests, exact posteriors, and planted errors.

`two_levels.py` has the simulators and the exact sums. As in the tests of the other samplers, seeds
are fixed, |z| > 5 fails, and between 4 and 5 the test is run again with four times the length. The
errors that are planted are the likely ones: a parent's exposure that is missing or stale, tables of
the wrong concentration, tables that are not split by the scores, shapes without the parents, a move
with the wrong sum.
"""

from dataclasses import replace
from importlib import import_module

import geweke
import numpy as np
import pytest
import two_levels
from planted import mutated
from two_levels import Cell, Tiny

from discan.models.levels import TwoLevelDirichletMultinomial, TwoLevelGammaPoisson

LEVELS = import_module("discan.algorithms.levels")
CELLS = [Cell(model, grouped) for model in ("dm2", "gp2") for grouped in (False, True)]
LEARNING = [
    Cell("dm2", False, ("alpha",)),
    Cell("dm2", True, ("alpha", "gamma")),
    Cell("gp2", False, ("beta",)),
    Cell("gp2", True, ("alpha", "beta", "gamma")),
]


def joint_test(cell, n, seed):
    """Z of every statistic: n draws of each simulator."""
    record = two_levels.Chain(cell, seed).record(n)
    mine = two_levels.statistics(cell, record) | two_levels.differences(record)
    return geweke.z_scores(two_levels.prior_statistics(cell, n, seed), mine)


def check(cell, n, seed):
    """Fail if the simulators disagree."""
    name, z = geweke.worst(joint_test(cell, n, seed))
    print(f"{cell}: max |z| = {z:.1f} ({name})")
    assert z < 5, f"{name}: |z| = {z:.1f}"
    if z > 4:
        name, z = geweke.worst(joint_test(cell, 4 * n, seed + 1000))
        assert z < 4, f"{name}: |z| = {z:.1f} in the second run"


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_sampler(cell):
    check(cell, 2_500, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_sampler_long(cell):
    check(cell, 25_000, seed=2)


@pytest.mark.parametrize("cell", LEARNING, ids=str)
def test_hyperparameters(cell):
    check(cell, 3_000, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("cell", LEARNING, ids=str)
def test_hyperparameters_long(cell):
    check(cell, 25_000, seed=4)


# ---------------------------------------------------------------------------- exact posterior

TINY = Tiny(
    documents=((0, 0, 1), (1, 2)), n_words=3, n_components=2, model="dm2", exposures=(1.0, 1.0),
    parent_alpha=(0.5, 1.2), parent_beta=(0.4, 0.9), parent_gamma=0.6, beta=0.7, gamma=0.5,
)  # fmt: skip
CASES = {
    "dm2": TINY,
    "gp2": replace(TINY, model="gp2", exposures=(0.6, 1.7)),
    "gp2, an empty document": replace(
        TINY, model="gp2", documents=((0, 0, 1), ()), exposures=(1.5, 2.0)
    ),
}


def compare(tiny, n_sweeps):
    """Compare a chain with the exact posterior, within five standard errors by batch means."""
    exact = tiny.posterior()
    found = two_levels.sampled(tiny, n_sweeps)
    for name, draws in found.items():
        batches = draws.reshape(50, -1).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(50)
        z = (draws.mean() - exact[name]) / max(error, 1e-9)
        print(f"{name}: {draws.mean():.4f}, exact {exact[name]:.4f}, z = {z:.1f}")
        assert abs(draws.mean() - exact[name]) < 5 * error + 1e-9, name


@pytest.mark.parametrize("name", CASES)
def test_posterior_means(name):
    compare(CASES[name], 8_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_posterior_means_long(name):
    compare(CASES[name], 100_000)


# ----------------------------------------------------------------------------- planted errors


def no_exposure(monkeypatch):
    """The documents' lengths do not hold the parents' scores down."""
    monkeypatch.setattr(
        TwoLevelDirichletMultinomial, "parent_exposures", lambda self, e, drawn: 0.0 * drawn
    )


def exposure_of_words(monkeypatch):
    """E / beta in place of log(1 + E / beta)."""
    monkeypatch.setattr(
        TwoLevelGammaPoisson, "parent_exposures", lambda self, e, drawn: e / self.beta[0]
    )


def kernel_change(name, *changes):
    """Replace pieces of the source of a kernel."""

    def plant(monkeypatch):
        kernel = getattr(LEVELS, name)
        wrong = mutated(kernel, *changes)
        monkeypatch.setattr(LEVELS, name, lambda *args: wrong(*args, *kernel.buffers(*args)))

    return plant


def loadings_of_other_parents(monkeypatch):
    """Shapes from the loadings of the parents in reverse."""
    kernel = LEVELS.mix_parents
    monkeypatch.setattr(
        LEVELS, "mix_parents", lambda h, parents, out: kernel(h, parents[::-1].copy(), out)
    )


def prior_off_by_one(monkeypatch):
    """Parents from Dirichlet(parent_gamma + 1 + tables)."""
    original = LEVELS.drawn_loadings
    monkeypatch.setattr(LEVELS, "drawn_loadings", lambda counts, *rest: original(counts + 1, *rest))


def stale_tables(monkeypatch):
    """Parents from the tables of the visit before, too."""
    original = LEVELS.Levels.update

    def update(self, params, stats, *rest):
        before = params.memory.counts
        new = original(self, params, stats, *rest)
        return replace(new, memory=LEVELS.ParentCounts(new.memory.counts + before))

    monkeypatch.setattr(LEVELS.Levels, "update", update)


def wrong_sum(**change):
    """A move given a sum that is wrong: name=function of the sum."""

    def plant(monkeypatch):
        for model in (TwoLevelDirichletMultinomial, TwoLevelGammaPoisson):
            original = model.resample

            def resample(self, learn, sums, *rest, original=original):
                new = {name: f(getattr(sums, name)) for name, f in change.items()}
                return original(self, learn, replace(sums, **new), *rest)

            monkeypatch.setattr(model, "resample", resample)

    return plant


PLANTED = {
    "parents without exposure": (Cell("dm2", False), no_exposure),
    "the words' exposure": (Cell("gp2", False), exposure_of_words),
    "every token is a table": (
        Cell("dm2", False),
        kernel_change("split_tables", ("tables(stream, c, shape[i, k])", "c")),
    ),
    "split by the prior": (
        Cell("gp2", False),
        kernel_change("split_tables", ("k, parent_scores[i], through", "k, alpha, through")),
    ),
    "exposure by the wrong total": (
        Cell("dm2", True),
        kernel_change("split_tables", ("log_beta(stream, total, ", "log_beta(stream, 1.0, ")),
    ),
    "scores without tables": (
        Cell("gp2", True),
        kernel_change("draw_parents", ("parent_counts[i], ", "0 * parent_counts[i], ")),
    ),
    "other parents": (Cell("gp2", False), loadings_of_other_parents),
    "parent_gamma off by one": (Cell("dm2", False), prior_off_by_one),
    "stale tables": (Cell("gp2", False), stale_tables),
    "half the parents' scores": (
        Cell("gp2", False, ("alpha",)),
        wrong_sum(scores=lambda sums: sums / 2),
    ),
    "no scores in the move of beta": (
        Cell("gp2", False, ("beta",)),
        wrong_sum(child_scores=lambda total: total / 2),
    ),
    "no tables in the move of parent_alpha": (
        Cell("dm2", False, ("alpha",)),
        wrong_sum(tables=lambda tables: 0 * tables),
    ),
    "no exposure in the move of parent_alpha": (
        Cell("dm2", False, ("alpha",)),
        wrong_sum(exposures=lambda exposures: 0 * exposures),
    ),
    "no tables in the move of parent_gamma": (
        Cell("dm2", False, ("alpha",)),
        wrong_sum(loading_tables=lambda tables: 0 * tables),
    ),
}
IN_EVERY_RUN = ("parents without exposure", "every token is a table", "other parents")


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(error, marks=[] if error in IN_EVERY_RUN else [pytest.mark.slow])
        for error in PLANTED
    ],
)
def test_planted_errors(monkeypatch, error):
    cell, plant = PLANTED[error]
    plant(monkeypatch)
    for n in (1_000, 4_000, 16_000):
        name, z = geweke.worst(joint_test(cell, n, seed=7))
        print(f"{error}: max |z| = {z:.1f} ({name}), n = {n}")
        if z > 5:
            return
    pytest.fail(f"the error was not found: max |z| = {z:.1f} ({name})")


def test_exact_sums_find_an_error(monkeypatch):
    """The sums over all states are a test of their own: they find an error that is planted."""
    exposure_of_words(monkeypatch)
    with pytest.raises(AssertionError):
        compare(CASES["gp2"], 8_000)
