# SPDX-License-Identifier: BSD-3-Clause
"""compare, quality and export."""

import json
import re
import signal
import time

import numpy as np
import pytest

import discan


@pytest.fixture(scope="module")
def models(run, place, tmp_path_factory):
    """Models of the texts with two and three components."""
    folder = tmp_path_factory.mktemp("models")
    for k in (2, 3):
        run("fit", place / "corpus.discan", "-o", folder / f"k{k}.discan", "-k", k, "--alpha", 0.1,
            "--algorithm", "map", "--quiet")  # fmt: skip
    return folder


def test_compare_prints_a_table_and_a_verdict(run, models):
    out, _ = run("compare", models / "k2.discan", models / "k3.discan")
    assert out.splitlines()[0].split() == ["first", "second", "distance", "relation"]
    assert "matched topics are the same" in out
    assert "only in the second" in out


def test_compare_json(run, models):
    out, _ = run("compare", models / "k2.discan", models / "k3.discan", "--json")
    found = json.loads(out)
    assert np.shape(found["distances"]) == (2, 3)
    assert found["models"][0].endswith("k2.discan")
    assert len(found["components"]) == 3
    out, _ = run("compare", *[models / f"k{k}.discan" for k in (2, 3, 2)], "--json")
    assert len(json.loads(out)) == 2


def test_compare_csv_of_several(run, models):
    out, _ = run("compare", *[models / f"k{k}.discan" for k in (2, 3, 2)], "--csv")
    head, *rows = out.splitlines()
    assert head == '"model","next model","first","second","distance","relation"'
    assert len(rows) == 6


def test_compare_draws_the_flow(run, models, tmp_path):
    figure = tmp_path / "flow.svg"
    run("compare", models / "k2.discan", models / "k3.discan", "--figure", figure)
    assert "K = 3" in figure.read_text("utf-8")


def test_compare_needs_two_models_of_the_same_kind(run, fails, models, survey):
    run("compare", models / "k2.discan", code=2)
    assert "no word in common" in fails("compare", models / "k2.discan", survey / "m.discan")


def test_quality(run, place, models):
    out, err = run("quality", models / "k2.discan", place / "corpus.discan")
    head = out.splitlines()[0]
    for column in ("size", "npmi", "u_mass", "exclusivity", "lift", "nearest", "flags"):
        assert column in head
    out, err = run("quality", models / "k2.discan")
    assert "npmi" not in out
    assert "coherence needs documents" in err
    data = (models / "k2.discan", place / "corpus.discan")
    rows = json.loads(run("quality", *data, "--words", 2, "--json")[0])
    assert all(np.isfinite(row["npmi"]) and row["npmi"] > 0.5 for row in rows)


def test_a_twin_is_said(run, tmp_path):
    counts = np.kron(np.eye(2, dtype=int), np.full((10, 5), 3))
    init = np.repeat(np.kron(np.eye(2), np.ones((1, 5))) + 1e-6, [2, 1], axis=0)
    estimator = discan.LDA(3, algorithm="map", alpha=0.5, init=init, max_iter=2, progress=False)
    estimator.fit(counts).save(tmp_path / "twins.discan")
    out, err = run("quality", tmp_path / "twins.discan", "--csv")
    assert [row.rsplit(",", 1)[1] for row in out.splitlines()[1:]] == ['"twin"', '"twin"', '""']
    assert "nearly equal to the nearest one" in err


def test_export(run, fails, survey, tmp_path):
    fit = discan.load(survey / "m.discan").fit_
    run("export", survey / "m.discan", "-o", tmp_path / "pop", "--quiet")
    shares = np.loadtxt(tmp_path / "pop.2.Q")
    np.testing.assert_allclose(shares, fit.proportions, atol=1e-6)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=3e-6)
    frequencies = np.loadtxt(tmp_path / "pop.2.P")
    np.testing.assert_allclose(frequencies, fit.components[:, 1::2].T, atol=1e-6)
    run("export", survey / "m.discan", "-o", tmp_path / "only.Q")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["only.Q", "pop.2.P", "pop.2.Q"]
    discan.LDA.from_components(np.ones((2, 4))).save(tmp_path / "given.discan")
    assert "no documents" in fails("export", tmp_path / "given.discan", "-o", tmp_path / "x")


@pytest.fixture(scope="module")
def several(run, survey, tmp_path_factory):
    """A model by three short chains."""
    model = tmp_path_factory.mktemp("chains") / "m.discan"
    _, err = run(
        "fit", survey / "answers.csv", "-o", model, "-k", 2, "--format", "categorical",
        "--chains", 3, "--algorithm", "collapsed", "--burn-in", 20, "--draws", 20, "--keep-draws",
    )  # fmt: skip
    return model, err


def test_fit_reports_chains(several):
    model, err = several
    assert "chains agree" in err
    assert "is used: it predicts best" in err
    fit = discan.load(model).fit_
    assert fit.chains.n_chains == 3
    assert len(fit.draws.loadings) == 20


def test_chains_prints_the_report(run, several, fails, models):
    model, _ = several
    out, _ = run("chains", model)
    assert "chains agree" in out
    assert "stability" in out
    assert "R-hat" in out
    found = json.loads(run("chains", model, "--json")[0])
    assert found["agree"] in (True, False)
    assert {row["quantity"] for row in found["quantities"]} >= {"log p", "entropy of the sizes"}
    assert len(found["stability"]) == 2
    rows = run("chains", model, "--csv")[0].splitlines()
    assert rows[0].startswith('"quantity","mean","sd"')
    run("chains", models / "k2.discan", code=1)  # one start of MAP


def test_plot_chains(run, several, fails, tmp_path, models):
    run("plot", several[0], "chains", "-o", tmp_path / "chains.svg")
    assert "(used)" in (tmp_path / "chains.svg").read_text("utf-8")
    assert "--chains 4" in fails("plot", models / "k2.discan", "chains", "-o", tmp_path / "x.svg")


def test_draws_are_kept_of_samplers_only(run, survey, tmp_path):
    run("fit", survey / "answers.csv", "-o", tmp_path / "m", "--algorithm", "map", "--keep-draws",
        code=2)  # fmt: skip


def test_show_interval(run, several, fails, models):
    out, _ = run("show", several[0], "--interval", 0.9)
    assert re.search(r"% \[[\d.]+% to [\d.]+%\]", out)
    run("show", several[0], "--interval", 0.9, "--json", code=2)
    assert "no standard deviations" in fails("show", models / "k2.discan", "--interval", 0.9)


def test_ctrl_c_stops_all_chains(start, counts, tmp_path):
    """All chains end after their cycle, and the best so far is written."""
    model = tmp_path / "m.discan"
    process = start(
        "fit", counts, "-o", model, "-k", 5, "--chains", 3, "--threads", 2, "--algorithm",
        "collapsed", "--burn-in", 100000, "--checkpoint", tmp_path / "run", "--every", 5,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "chain-2" / "state.discan").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "model written" in err
    assert discan.load(model).chains_.n_chains == 3
