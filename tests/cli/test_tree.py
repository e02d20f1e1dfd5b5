# SPDX-License-Identifier: BSD-3-Clause
"""tree: text, costs, files, merged models."""

import json

import pytest

import discan


@pytest.fixture(scope="module")
def model(run, place, tmp_path_factory):
    """A model of the texts with three components."""
    path = tmp_path_factory.mktemp("tree") / "k3.discan"
    run("fit", place / "corpus.discan", "-o", path, "-k", 3, "--alpha", 0.1, "--algorithm", "map",
        "--quiet")  # fmt: skip
    return path


def test_text_and_costs(run, place, model):
    out, err = run("tree", model)
    assert len(out.splitlines()) == 5
    assert "all 3 topics" in out
    assert "Hellinger distance of the loadings, ward linkage" in err
    out, _ = run("tree", model, place / "corpus.discan", "--cut", 2, "--words", 1)
    assert "+" in out
    rows = [line.split() for line in out.splitlines()[-2:]]
    assert [row[0] for row in rows] == ["3", "2"]
    assert float(rows[0][3]) == 0
    everything = run("tree", model, place / "corpus.discan")[0].splitlines()
    assert [line.split()[0] for line in everything[-3:]] == ["3", "2", "1"]


def test_json_and_csv(run, place, model):
    found = json.loads(run("tree", model, place / "corpus.discan", "--height", 2, "--json")[0])
    assert len(found["nodes"]) == 5
    assert found["cut"] == [5]
    assert [row["components"] for row in found["costs"]] == [3, 1]
    rows = run("tree", model, "--csv", "--linkage", "complete")[0].splitlines()
    assert rows[0].startswith('"id","parent","children","height","name"')
    assert len(rows) == 6


def test_files(run, fails, model, tmp_path):
    run("tree", model, "-o", tmp_path / "t.nwk", "-q")
    assert (tmp_path / "t.nwk").read_text("utf-8").count("topic") == 3
    run("tree", model, "-o", tmp_path / "t.json", "--distance", "jensen-shannon")
    assert json.loads((tmp_path / "t.json").read_text("utf-8"))["distance"] == "jensen-shannon"
    run("tree", model, "-o", tmp_path / "t.svg", "--cut", 2)
    assert "2 branches" in (tmp_path / "t.svg").read_text("utf-8")
    run("tree", model, "-o", tmp_path / "m.discan", "--cut", 2)
    assert discan.load(tmp_path / "m.discan").components_.shape[0] == 2
    assert "--cut" in fails("tree", model, "-o", tmp_path / "m.discan")
    assert ".nwk" in fails("tree", model, "-o", tmp_path / "t.txt")
    assert "cannot have 4" in fails("tree", model, "--cut", 4)
    run("tree", model, "--cut", 2, "--height", 1, code=2)
    run("tree", model, "--linkage", "nosuch", code=2)
