# SPDX-License-Identifier: BSD-3-Clause
"""A new algorithm costs one file: `plain_em.py` fits, transforms, saves, resumes, has choices."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import counted
from typer.testing import CliRunner

import discan
from discan.algorithms import ALGORITHMS
from discan.cli import app

FILE = Path(__file__).with_name("plain_em.py")
RNG = np.random.default_rng(0)
COMPONENTS = np.kron(np.eye(3), np.full(4, 0.25))
X = counted(RNG, np.full(60, 40), RNG.dirichlet(np.full(3, 0.2), 60), COMPONENTS)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Register the algorithm for one test."""
    monkeypatch.setattr(ALGORITHMS, "_classes", dict(ALGORITHMS._classes))
    monkeypatch.syspath_prepend(FILE.parent)
    monkeypatch.delitem(sys.modules, FILE.stem, raising=False)
    importlib.import_module(FILE.stem)


def make(**options):
    return discan.DCA(3, algorithm="em", random_state=0, **options)


def test_it_is_one_short_file():
    assert len(FILE.read_text("utf-8").splitlines()) <= 80


def test_it_finds_planted_components_and_its_objective_rises():
    fitted = make(init="documents").fit(X)
    distances = np.abs(fitted.components_[:, None] - COMPONENTS).sum(axis=2)
    assert sorted(distances.argmin(axis=1)) == [0, 1, 2]
    assert distances.min(axis=1).max() < 0.2
    assert fitted.trace_["objective"][-1] > fitted.trace_["objective"][0]
    assert fitted.converged_
    np.testing.assert_allclose(fitted.transform(X), fitted.scores_, atol=0.02)
    assert fitted.score(X) > -np.log(12)


def test_it_agrees_with_map():
    options = {"init": COMPONENTS + 0.01, "max_iter": 300, "tol": 0.0}
    mine = make(**options).fit(X)
    theirs = discan.DCA(3, algorithm="map", random_state=0, **options).fit(X)
    np.testing.assert_allclose(mine.components_, theirs.components_, atol=1e-6)


def test_it_saves_and_resumes(tmp_path):
    whole = make(max_iter=12, tol=0.0).fit(X)
    whole.save(tmp_path / "model.discan")
    loaded = discan.load(tmp_path / "model.discan")
    np.testing.assert_array_equal(loaded.transform(X), whole.transform(X))
    options = {"max_iter": 12, "tol": 0.0, "checkpoint": tmp_path / "run", "checkpoint_every": 1}
    make(**options, callback=lambda run: run.cycle == 5).fit(X)
    resumed = discan.resume(tmp_path / "run")
    assert resumed.n_iter_ == 12
    np.testing.assert_array_equal(resumed.components_, whole.components_)


def test_it_refuses_with_a_sentence():
    with pytest.raises(discan.InputError, match="fixed priors; use model='dm'"):
        discan.DCA(3, model="gp", algorithm="em").fit(X)


def test_the_command_line_offers_it(tmp_path):
    (tmp_path / "x.csv").write_text(
        "a,b,c,d,e,f,g,h,i,j,k,l\n" + "\n".join(",".join(map(str, row)) for row in X)
    )
    arguments = ["fit", str(tmp_path / "x.csv"), "-k", "3", "-o", str(tmp_path / "m"), "--json"]
    done = CliRunner().invoke(app, [*arguments, "--algorithm", "em"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["algorithm"] == "plain-em"
    refused = CliRunner().invoke(app, [*arguments, "--algorithm", "nonsense"])
    assert refused.exit_code == 2
    assert "em, " in refused.stderr
