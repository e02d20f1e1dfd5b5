# SPDX-License-Identifier: BSD-3-Clause
"""The joint test finds errors that are planted in a sampler.

Each test plants one error - in the score table of a model, in the prior of the loadings, in what a
kernel is given, or in a line of the kernel itself - and asks that the joint test of the cell report
|z| > 5. If a planted error is not found, the same error could be in the package. The errors are the
usual ones: an alpha off by one, a token that counts itself, a total that is missing, stale or of
the wrong group, a swapped index, tokens visited in an order that depends on their components.

Errors with large effects are planted in every run, subtle ones in the slow run. The longest chain
has 24,000 draws, fewer than the long form of the joint tests.

A kernel is mutated by replacing a piece of its source, which must occur exactly once: when that
fails, the kernel was changed and the mutation must be adapted.
"""

from dataclasses import replace
from importlib import import_module

import geweke
import numpy as np
import pytest
from geweke import Cell
from planted import mutated, with_table

from discan.algorithms import Gibbs
from discan.kernels import gibbs
from discan.models import (
    ConditionalGammaPoisson,
    DirichletMultinomial,
    DirichletProcess,
    GammaPoisson,
    GammaProcess,
    LoadingsPrior,
)
from discan.models.classes import Classed, ClassSums
from discan.models.hyperparameters import AugmentedScores
from discan.models.seeds import Seeds

COLLAPSED = import_module("discan.algorithms.collapsed")
GIBBS = import_module("discan.algorithms.gibbs")
PROCESS = import_module("discan.models.process")
SAMPLING = import_module("discan.algorithms.sampling")


def assert_caught(cell, shuffle=True):
    """Run the joint test, longer and longer, until it finds the error."""
    for n in (1_500, 6_000, 24_000):
        name, z = geweke.worst(geweke.joint_test(cell, n, seed=7, shuffle=shuffle))
        print(f"{cell}: max |z| = {z:.1f} ({name}), n = {n}")
        if z > 5:
            return
    pytest.fail(f"the error was not found: max |z| = {z:.1f} ({name})")


# ---------------------------------------------------------------------------- the score table


@pytest.mark.parametrize("sampler", ["gibbs", "collapsed"])
def test_rate_without_exposure(monkeypatch, sampler):
    """The rate beta + 1 instead of beta + E."""
    with_table(
        monkeypatch, GammaPoisson,
        lambda model, table, exposure: table._replace(
            rate=np.broadcast_to(model.beta + 1.0, table.rate.shape).copy()
        ),
    )  # fmt: skip
    assert_caught(Cell("gp", sampler, True))


@pytest.mark.parametrize("sampler", [pytest.param("gibbs", marks=pytest.mark.slow), "collapsed"])
def test_prior_spike(monkeypatch, sampler):
    """rho in place of rho_hat."""
    with_table(
        monkeypatch, ConditionalGammaPoisson,
        lambda model, table, exposure: table._replace(
            present=np.broadcast_to(1.0 - model.rho, table.rate.shape).copy()
        ),
    )  # fmt: skip
    assert_caught(Cell("cgp", sampler, True))


@pytest.mark.parametrize("sampler", ["gibbs", "collapsed"])
def test_alpha_off_by_one(monkeypatch, sampler):
    with_table(
        monkeypatch, DirichletMultinomial,
        lambda model, table, exposure: table._replace(shape=table.shape + 1.0),
    )  # fmt: skip
    assert_caught(Cell("dm", sampler, False))


@pytest.mark.slow
def test_swapped_components(monkeypatch):
    """The alpha of the other component."""
    with_table(
        monkeypatch, GammaPoisson,
        lambda model, table, exposure: table._replace(shape=table.shape[:, ::-1].copy()),
    )  # fmt: skip
    assert_caught(Cell("gp", "collapsed", False))


def test_swapped_documents(monkeypatch):
    """The exposure of the other document."""
    with_table(
        monkeypatch, GammaPoisson,
        lambda model, table, exposure: table._replace(rate=table.rate[::-1].copy()),
    )  # fmt: skip
    assert_caught(Cell("gp", "collapsed", True))


# ------------------------------------------------------------------------------ the loadings


def test_gamma_off_by_one_in_gibbs(monkeypatch):
    """Loadings drawn from Dirichlet(gamma + 1 + n)."""
    original = GIBBS.draw_loadings
    monkeypatch.setattr(
        GIBBS, "draw_loadings", lambda n, gamma, *rest: original(n, gamma + 1.0, *rest)
    )
    assert_caught(Cell("gp", "gibbs", False))


def test_gamma_off_by_one_in_collapsed(monkeypatch):
    """The words' weights use gamma + 1, with matching totals."""
    kernel = COLLAPSED.sweep

    def sweep(*args):
        args = list(args)
        args[8], args[9] = args[8] + 1.0, args[9] + np.bincount(args[7])
        return kernel(*args)

    monkeypatch.setattr(COLLAPSED, "sweep", sweep)
    assert_caught(Cell("gp", "collapsed", True))


@pytest.mark.slow
def test_normalised_over_all_groups(monkeypatch):
    """Loadings that sum to one over all words instead of inside each group."""
    monkeypatch.setattr(
        LoadingsPrior, "normalise", lambda self, x, out=None: np.divide(x, x.sum(axis=0), out=out)
    )
    assert_caught(Cell("dm", "gibbs", True))


@pytest.mark.slow
def test_stale_loading_counts(monkeypatch):
    """Loadings drawn from counts to which the new ones were added, not which they replaced."""
    original = Gibbs.update

    def update(self, params, stats, share, clock, engine):
        if clock.cycle < 0:  # the first states: there are no counts yet
            return original(self, params, stats, share, clock, engine)
        stats.loading_sums = stats.loading_sums + params.loading_counts
        after = original(self, params, stats, share, clock, engine)
        return replace(after, loading_counts=stats.loading_sums // 2)

    monkeypatch.setattr(Gibbs, "update", update)
    assert_caught(Cell("dm", "gibbs", False))


@pytest.mark.slow
def test_swapped_loadings_in_gibbs(monkeypatch):
    """Counts are split by the loadings of the other component."""
    kernel = GIBBS.sweep
    monkeypatch.setattr(
        GIBBS, "sweep",
        lambda *args: kernel(*args[:7], np.ascontiguousarray(args[7][:, ::-1]), *args[8:]),
    )  # fmt: skip
    assert_caught(Cell("gp", "gibbs", False))


# ------------------------------------------------------------------------ lines of the kernels


def test_component_sorted_tokens():
    """Tokens in the order of their components: the scan depends on the state."""
    assert_caught(Cell("dm", "collapsed", False), shuffle=False)


# Error: cell, then pairs of old and new text. Those after the rule need long chains.
KERNEL_MUTANTS = {
    "own count in the word's counts": (
        Cell("dm", "collapsed", False),
        ("(prior + row[k])", "(prior + row[k] + (k == old))"),
    ),
    "no total": (
        Cell("dm", "collapsed", False),
        ("inverse[g, k] = 1.0 / (", "inverse[g, k] = 1.0 + 0.0 * ("),
        ("inverse[g, old] = 1.0 / (", "inverse[g, old] = 1.0 + 0.0 * ("),
        ("inverse[g, new] = 1.0 / (", "inverse[g, new] = 1.0 + 0.0 * ("),
    ),
    "total of the wrong group": (
        Cell("dm", "collapsed", True),
        ("inverse[g], gamma[j]", "inverse[0], gamma[j]"),
    ),
    "counts of the wrong word": (
        Cell("dm", "collapsed", False),
        (
            "weights[k] = document_weight[k] * (prior + row[k])",
            "weights[k] = document_weight[k] * (prior + loading_counts[j - 1, k])",
        ),
    ),
    "level of the wrong document": (
        Cell("gp", "collapsed", True),
        ("level = levels[i]", "level = 0"),
    ),
    # ---
    "own count in the total": (
        Cell("dm", "collapsed", True),
        ("* group_inverse[k]", "/ (1.0 / group_inverse[k] + (k == old))"),
    ),
    "own count in the document": (
        Cell("dm", "collapsed", False),
        (
            "weights[k] = document_weight[k]",
            "weights[k] = (document_weight[k] + (k == old) / rate[level, k])",
        ),
    ),
    "total of all groups' gamma": (
        Cell("dm", "collapsed", True),
        ("(gamma_totals[g] + totals[g, k])", "(gamma_totals.sum() + totals[g, k])"),
    ),
    "total not brought up to date": (
        Cell("dm", "collapsed", True),
        ("inverse[g, new] = 1.0 / (gamma_totals[g] + totals[g, new])", "pass"),
    ),
    "weight of the new component not brought up to date": (
        Cell("dm", "collapsed", False),
        (
            "component_counts[new], shape[level, new]",
            "component_counts[new] - 1, shape[level, new]",
        ),
    ),
    "absence forgotten when a component empties": (
        Cell("cgp", "collapsed", True),
        (
            "shape[level, old], rate[level, old], present[level, old]",
            "shape[level, old], rate[level, old], 1.0",
        ),
    ),
    "gamma of the wrong word": (
        Cell("dm", "collapsed", True),
        ("inverse[g], gamma[j]", "inverse[g], gamma[j - 2]"),
    ),
}
SLOW = list(KERNEL_MUTANTS).index("own count in the total")


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(error, marks=[pytest.mark.slow] if at >= SLOW else [])
        for at, error in enumerate(KERNEL_MUTANTS)
    ],
)
def test_collapsed_kernel(monkeypatch, error):
    cell, *changes = KERNEL_MUTANTS[error]
    monkeypatch.setattr(COLLAPSED, "sweep", mutated(COLLAPSED.sweep, *changes))
    assert_caught(cell)


def test_gibbs_kernel_forgets_counts(monkeypatch):
    """One component of a document keeps its counts of the last sweep."""
    change = ("component_counts[i, k] = 0", "component_counts[i, k] *= k")
    monkeypatch.setattr(gibbs, "sweep_or_split", mutated(gibbs.sweep_or_split, change))
    assert_caught(Cell("gp", "gibbs", False))


# -------------------------------------------------------------------- hyperparameter moves


def with_sums(monkeypatch, model, **changes):
    """Change the auxiliary sums that a model's move of hyperparameters gets."""
    original = model.resample

    def resample(self, learn, sums: AugmentedScores, prior, rng):
        new = {name: change(sums) for name, change in changes.items()}
        return original(self, learn, replace(sums, **new), prior, rng)

    monkeypatch.setattr(model, "resample", resample)


HYPER_MUTANTS = {
    "alpha: a table short": (
        Cell("gp", "collapsed", False, ("alpha",)), GammaPoisson,
        {"tables": lambda sums: np.maximum(sums.tables - 1, 0)},
    ),
    "alpha: exposure 1": (
        Cell("gp", "gibbs", True, ("alpha",)), GammaPoisson,
        {"exposure_levels": lambda sums: np.ones_like(sums.exposure_levels)},
    ),
    "alpha: no totals": (
        Cell("dm", "collapsed", False, ("alpha",)), DirichletMultinomial,
        {"log_beta": lambda sums: 0.0},
    ),
    "beta: mean instead of sum": (
        Cell("gp", "collapsed", False, ("beta",)), GammaPoisson,
        {"scores": lambda sums: sums.scores / 2},
    ),
    "rho: absent and present swapped": (
        Cell("cgp", "collapsed", False, ("rho",)), ConditionalGammaPoisson,
        {"active": lambda sums: sums.n_documents - sums.active},
    ),
}  # fmt: skip


@pytest.mark.parametrize("error", HYPER_MUTANTS)
def test_hyperparameter_move(monkeypatch, error):
    cell, model, changes = HYPER_MUTANTS[error]
    with_sums(monkeypatch, model, **changes)
    assert_caught(cell)


# Error: cell, function of ``models.process``, then what replaces it, given the function.
DIRICHLET, GAMMA = (
    Cell(model, "collapsed", False, ("alpha", "concentration")) for model in ("dmp", "gpp")
)
PROCESS_MUTANTS = {
    "weights: no concentration": (
        DIRICHLET, "_log_gamma", lambda draw: lambda shape, rng: draw(np.floor(shape) + 1e-3, rng)
    ),
    "weights: the tables of the other component": (
        DIRICHLET, "_log_gamma", lambda draw: lambda shape, rng: draw(shape[::-1], rng)
    ),
    "concentration: no totals": (
        GAMMA, "_concentration", lambda draw: lambda eta, t, _, *rest: draw(eta, t, 0.0, *rest)
    ),
    "concentration: log u of the wrong sign": (
        DIRICHLET, "_concentration", lambda draw: lambda eta, t, s, *rest: draw(eta, t, -s, *rest)
    ),
    "concentration: a table per used component": (
        DIRICHLET, "_concentration",
        lambda draw: lambda eta, t, *rest: draw(eta, (t > 0).astype(int), *rest),
    ),
    "concentration: shared by one component only": (
        DIRICHLET, "_concentration", lambda draw: lambda eta, *rest: draw(len(rest[0]) * eta, *rest)
    ),
}  # fmt: skip


@pytest.mark.parametrize("error", PROCESS_MUTANTS)
def test_process_move(monkeypatch, error):
    cell, name, change = PROCESS_MUTANTS[error]
    monkeypatch.setattr(PROCESS, name, change(getattr(PROCESS, name)))
    assert_caught(cell)


PROCESS_SUMS = {
    "alpha: no totals": (
        Cell("dmp", "gibbs", False, ("alpha",)), DirichletProcess, {"log_beta": lambda sums: 0.0},
    ),
    "alpha: exposure 1": (
        Cell("gpp", "gibbs", True, ("alpha",)), GammaProcess,
        {"exposure_levels": lambda sums: np.ones_like(sums.exposure_levels)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("error", PROCESS_SUMS)
def test_process_sums(monkeypatch, error):
    cell, model, changes = PROCESS_SUMS[error]
    with_sums(monkeypatch, model, **changes)
    assert_caught(cell)


def test_gamma_move_with_counts_of_other_words(monkeypatch):
    """Tables drawn with the counts of the words in reverse."""
    kernel = SAMPLING.augment_loadings
    monkeypatch.setattr(
        SAMPLING, "augment_loadings", lambda n, *rest: kernel(n[::-1].copy(), *rest)
    )
    assert_caught(Cell("dm", "collapsed", False, ("gamma",)))


# -------------------------------------------------------------------------------------- seeds


def test_forgotten_seeds(monkeypatch):
    """New counts of the direct sampler without the tokens of the seeds."""
    monkeypatch.setattr(LoadingsPrior, "add_seeds", lambda self, counts, weight=1.0: counts)
    assert_caught(Cell("gp", "gibbs", False, seeded=True))


def test_seeds_of_the_other_component(monkeypatch):
    original = Seeds.add_to
    swapped = np.array([1, 0])
    monkeypatch.setattr(
        Seeds, "add_to", lambda self, *rest: original(self.permuted(swapped), *rest)
    )
    assert_caught(Cell("dm", "gibbs", True, seeded=True))


@pytest.mark.parametrize("sampler", ["gibbs", "collapsed"])
def test_gamma_learnt_from_seeds(monkeypatch, sampler):
    """The tokens of the seeds among those that gamma is drawn from."""

    def drawn_tables(self, counts, gamma, rng):
        return Seeds(self.words, self.components, 0 * self.tokens).drawn(counts, gamma, rng)

    monkeypatch.setattr(Seeds, "drawn", Seeds.drawn_tables, raising=False)
    monkeypatch.setattr(Seeds, "drawn_tables", drawn_tables)
    assert_caught(Cell("dm", sampler, False, ("gamma",), seeded=True))


# ------------------------------------------------------------------------------------ classes


def test_priors_of_the_other_class(monkeypatch):
    original = Classed.class_of_level

    def swapped(self, levels):
        classes = original(self, levels)
        return np.where(classes > 0, 3 - classes, 0)

    monkeypatch.setattr(Classed, "class_of_level", swapped)
    assert_caught(Cell("dm", "collapsed", False, classed=True))


def test_classes_learnt_from_all_documents(monkeypatch):
    original = Classed.resample

    def resample(self, learn, sums, prior, rng):
        none, a, _ = sums.parts
        return original(self, learn, ClassSums((none, a, a)), prior, rng)

    monkeypatch.setattr(Classed, "resample", resample)
    assert_caught(Cell("dm", "gibbs", False, ("alpha",), classed=True))


def test_without_an_error(monkeypatch):
    """An unchanged copy of the kernel passes."""
    monkeypatch.setattr(COLLAPSED, "sweep", mutated(COLLAPSED.sweep))
    _, z = geweke.worst(geweke.joint_test(Cell("dm", "collapsed", True), 1_500, seed=7))
    assert z < 5
