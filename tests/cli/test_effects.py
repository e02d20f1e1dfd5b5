# SPDX-License-Identifier: BSD-3-Clause
"""effects: labels from the metadata or a file, contrasts, figures."""

import json

import pytest


@pytest.fixture(scope="module")
def model(run, tmp_path_factory):
    """A sampled model of the Senate of 2005, draws kept."""
    path = tmp_path_factory.mktemp("effects") / "senate.discan"
    run("fit", "dataset:senate2005", "-o", path, "-k", 2, "--algorithm", "collapsed", "--burn-in",
        10, "--draws", 10, "--keep-draws", "--quiet")  # fmt: skip
    return path


def test_labels(run, model):
    out, err = run("effects", model, "--labels", "party")
    head, *rows = out.splitlines()
    assert head.split() == ["party", "bloc", "senators", "mean", "low", "high"]
    assert len(rows) == 6
    assert rows[2].split() == ["I", "bloc", "1", "1", rows[2].split()[-1]]  # no interval
    assert "cover the sampling of senators, and the posterior by 10 draws" in err
    found = json.loads(run("effects", model, "--labels", "party", "--of", "documents", "--json")[0])
    assert all(0 <= row["low"] < row["mean"] < row["high"] <= 1 for row in found)


def test_contrast(run, fails, model):
    out, err = run("effects", model, "--labels", "party", "--contrast", "D", "R")
    assert out.splitlines()[0].split() == ["bloc", "D", "-", "R", "low", "high"]
    assert "2 of 2 intervals do not hold 0; by chance alone about 0.2 would not" in err
    rows = run("effects", model, "--labels", "party", "--contrast", "D", "R", "--csv",
               "--level", 0.5)[0].splitlines()  # fmt: skip
    assert rows[0] == '"bloc","difference","low","high"'
    assert "--contrast X is not among the labels" in fails(
        "effects", model, "--labels", "party", "--contrast", "D", "X"
    )


def test_files_and_time(run, fails, model, tmp_path):
    years = tmp_path / "years.txt"
    years.write_text("".join(f"{2000 + i % 3}\n" for i in range(100)))
    figure = tmp_path / "time.svg"
    out, _ = run("effects", model, "--time", years, "--figure", figure)
    assert "over time" in figure.read_text("utf-8")
    assert {line.split()[0] for line in out.splitlines()[1:]} == {"2000", "2001", "2002"}
    assert "no such column" in fails("effects", model, "--time", "nosuch")
    assert "(100,)" in fails("effects", model, "--labels", __file__)
    run("effects", model, code=2)
    run("effects", model, "--labels", "party", "--time", "year", code=2)
    run("effects", model, "--labels", "party", "--of", "nosuch", code=2)


def test_an_answer_that_was_counted_is_no_label(fails, survey, tmp_path):
    model = survey / "m.discan"
    for command in (("effects", model), ("plot", model, "structure", "-o", tmp_path / "x.svg")):
        assert "it was counted, so" in (line := fails(*command, "--labels", "colour"))
        assert "fit again with --metadata colour" in line
