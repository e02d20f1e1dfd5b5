# SPDX-License-Identifier: BSD-3-Clause
"""Every sampler is calibrated: true values rank among its draws as draws do (see calibration.py).

Seeds are fixed, so a failure is not chance. The short form has few data sets and finds gross
errors; the long form finds subtle ones. `test_planted_errors` proves it for some of each. An error
that hardly moves the posterior, such as a token that counts itself, is left to the joint test.
"""

from importlib import import_module

import calibration
import numpy as np
import pytest
from calibration import LargerCell
from planted import mutated, with_table

from discan.models import ConditionalGammaPoisson, DirichletMultinomial, GammaPoisson

COLLAPSED = import_module("discan.algorithms.collapsed")
GIBBS = import_module("discan.algorithms.gibbs")
SAMPLING = import_module("discan.algorithms.sampling")

CELLS = [
    LargerCell(model, sampler, grouped, learn)
    for model in ("dm", "gp", "cgp")
    for sampler in ("gibbs", "collapsed")
    for grouped in (False, True)
    for learn in ((), {"dm": ("alpha",), "gp": ("alpha", "beta"), "cgp": ("rho", "gamma")}[model])
    if not learn or not grouped
]
# Data sets, draws, cycles between draws, cycles before the first.
SHORT, LONG = (100, 31, 3, 15), (1000, 99, 4, 40)
MOST = 4.5  # standard errors


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_calibrated(cell):
    name, z = calibration.worst(cell, *SHORT, seed=1)
    print(f"{cell}: {z:.1f} ({name})")
    assert z < MOST, name


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_calibrated_long(cell):
    name, z = calibration.worst(cell, *LONG, seed=2)
    print(f"{cell}: {z:.1f} ({name})")
    assert z < MOST, name


def test_ranks_of_the_prior_are_uniform():
    """Truth and draws from the same distribution: deviations are standard normal."""
    rng = np.random.default_rng(0)
    z = []
    for _ in range(100):
        truth, draws = rng.normal(size=60), rng.normal(size=(60, 19))
        places = ((draws < truth[:, None]).sum(axis=1) + rng.random(60)) / 20
        z.extend(calibration.deviations({"x": places}).values())
    assert np.std(z) == pytest.approx(1.0, abs=0.15)
    assert np.abs(z).max() < MOST


# ---- planted errors ----


def table_change(model, change):
    return lambda monkeypatch: with_table(monkeypatch, model, change)


def kernel_change(*changes):
    return lambda monkeypatch: monkeypatch.setattr(
        COLLAPSED, "sweep", mutated(COLLAPSED.sweep, *changes)
    )


def gamma_off_by_one(monkeypatch):
    original = GIBBS.draw_loadings
    monkeypatch.setattr(
        GIBBS, "draw_loadings", lambda n, gamma, *rest: original(n, gamma + 1.0, *rest)
    )


def swapped_loadings(monkeypatch):
    """Counts are split by the loadings of the other component."""
    kernel = GIBBS.sweep
    monkeypatch.setattr(
        GIBBS, "sweep",
        lambda *args: kernel(*args[:7], np.ascontiguousarray(args[7][:, ::-1]), *args[8:]),
    )  # fmt: skip


def swapped_tables(monkeypatch):
    """Tables of gamma drawn with the counts of the words in reverse."""
    kernel = SAMPLING.augment_loadings
    monkeypatch.setattr(
        SAMPLING, "augment_loadings", lambda n, *rest: kernel(n[::-1].copy() * 3, *rest)
    )


PLANTED = {
    "alpha off by one": (
        LargerCell("dm", "collapsed", False),
        table_change(
            DirichletMultinomial, lambda m, table, e: table._replace(shape=table.shape + 1.0)
        ),
    ),
    "rate without exposure": (
        LargerCell("gp", "gibbs", True),
        table_change(
            GammaPoisson,
            lambda m, table, e: table._replace(
                rate=np.broadcast_to(m.beta + 1.0, table.rate.shape).copy()
            ),
        ),
    ),
    "no absence": (
        LargerCell("cgp", "collapsed", False),
        table_change(
            ConditionalGammaPoisson,
            lambda m, table, e: table._replace(present=np.ones_like(table.present)),
        ),
    ),
    "gamma off by one": (LargerCell("gp", "gibbs", False), gamma_off_by_one),
    "counts of the wrong word": (
        LargerCell("dm", "collapsed", False),
        kernel_change(
            (
                "weights[k] = document_weight[k] * (prior + row[k])",
                "weights[k] = document_weight[k] * (prior + loading_counts[j - 1, k])",
            )
        ),
    ),
    "total of the wrong group": (
        LargerCell("dm", "collapsed", True),
        kernel_change(("inverse[g], gamma[j]", "inverse[0], gamma[j]")),
    ),
    "level of the wrong document": (
        LargerCell("gp", "collapsed", True),
        kernel_change(("level = levels[i]", "level = 0")),
    ),
    "swapped loadings": (LargerCell("gp", "gibbs", False), swapped_loadings),
    "tables of other words": (LargerCell("dm", "gibbs", False, ("gamma",)), swapped_tables),
}
IN_EVERY_RUN = ("alpha off by one", "rate without exposure", "counts of the wrong word")


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
    for sizes in (SHORT, LONG):
        name, z = calibration.worst(cell, *sizes, seed=3)
        print(f"{error}: {z:.1f} ({name}), {sizes[0]} data sets")
        if z > MOST:
            return
    pytest.fail(f"the error was not found: {z:.1f} ({name})")
