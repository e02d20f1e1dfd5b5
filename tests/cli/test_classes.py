# SPDX-License-Identifier: BSD-3-Clause
"""Classes of documents from the shell."""

import csv
import io
import json

import numpy as np
import pytest

import discan

OPTIONS = ("-k", 2, "--algorithm", "collapsed", "--burn-in", 30, "--draws", 30, "-q")


@pytest.fixture
def table(tmp_path):
    """Answers of two parties, as a table that is read with its column of parties."""
    rng = np.random.default_rng(0)
    rows = ["name,party," + ",".join(f"q{n}" for n in range(8))]
    for i in range(40):
        party = "left" if i % 2 else "right"
        chance = 0.9 if i % 2 else 0.1
        answers = ["yes" if rng.random() < chance else "no" for _ in range(8)]
        rows.append(f"person {i},{party}," + ",".join(answers))
    file = tmp_path / "answers.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def test_fit_show_and_transform(run, table, tmp_path):
    model = tmp_path / "m.discan"
    reading = ("--metadata", "name,party")
    run("fit", table, "--classes", "party", *reading, *OPTIONS, "-o", model)
    fit = discan.load(model).fit_
    assert fit.class_names == ("left", "right")
    alpha = fit.hyperparameter("alpha")
    assert alpha[0].argmax() != alpha[1].argmax()
    shown = run("show", model)[0]
    assert "alpha by class" in shown
    assert f"left ({alpha[0, 0]:.2g})" in shown
    assert json.loads(run("info", model, "--json")[0])["classes"] == 2
    rows = list(csv.reader(io.StringIO(run("transform", model, table, "-q")[0])))
    columns = [rows[0].index(name) for name in fit.component_names]
    found = np.array([[row[c] for c in columns] for row in rows[1:]], dtype=float)
    known = discan.load(model).transform(discan.read(table, metadata="name,party"))
    assert found == pytest.approx(known, abs=1e-6)


def test_labels_from_a_file_and_wrong_columns(run, fails, table, tmp_path):
    labels, model = tmp_path / "labels.txt", tmp_path / "m.discan"
    labels.write_text("left\nright\n" * 20)
    run("fit", table, "--classes", labels, "--metadata", "name,party", *OPTIONS, "-o", model)
    assert discan.load(model).class_names_ == ("left", "right")
    err = fails("fit", table, "--classes", "age", "--metadata", "name,party", "-o", model)
    assert "--classes age: no such column and no such file" in err
    options = ("--classes", "party", "--metadata", "name,party", "--algorithm", "map")
    err = fails("fit", table, *options, "-o", model)
    assert "only if alpha is learnt" in err


def test_columns_that_stay_in_a_folder(run, fails, table, tmp_path):
    big, reading = tmp_path / "big", ("--metadata", "name,party")
    discan.convert(discan.read(table, metadata="name,party"), big)
    run("fit", big, "--classes", "party", *OPTIONS, "-o", tmp_path / "b.discan", "--seed", 1)
    run("fit", table, "--classes", "party", *reading, *OPTIONS, "-o", tmp_path / "m.discan",
        "--seed", 1)  # fmt: skip
    stored, whole = (discan.load(tmp_path / name) for name in ("b.discan", "m.discan"))
    np.testing.assert_array_equal(stored.components_, whole.components_)
    np.testing.assert_array_equal(stored.alpha_, whole.alpha_)
    err = fails("fit", big, "--classes", "age", "-o", tmp_path / "c.discan")
    assert "the columns are: party" in err
