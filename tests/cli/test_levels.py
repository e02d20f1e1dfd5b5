# SPDX-License-Identifier: BSD-3-Clause
"""Parents of components on the command line: fit, show, transform, info, resume."""

import csv
import io
import json
import re

import pytest

import discan

CHAIN = ("--algorithm", "gibbs", "--burn-in", 5, "--draws", 5)


@pytest.fixture(scope="module")
def model(run, place, tmp_path_factory):
    target = tmp_path_factory.mktemp("levels") / "m.discan"
    run("fit", place / "corpus.discan", "-o", target, "-k", 4, "--parents", 2, *CHAIN)
    return target


def test_show(run, model):
    out, _ = run("show", model, "--words", 3, "--documents", 1)
    paragraphs = out.split("\n\n")
    assert len(paragraphs) == 6, "two parents, four components"
    first = paragraphs[0].splitlines()
    assert re.fullmatch(r"parent 1: [\d.]+ % of a document on average", first[0])
    assert re.fullmatch(r"  topics  topic \d \(\d+%\)(, topic \d \(\d+%\))*", first[1])
    assert first[2].startswith("  words   ")
    assert paragraphs[2].startswith("topic 1: ")


def test_show_lists_the_topics_of_a_parent(run, place, tmp_path):
    model = tmp_path / "m.discan"
    run("fit", place / "corpus.discan", "-o", model, "-k", 2, "--parents", 1, *CHAIN)
    out, _ = run("show", model, "--words", 3, "--documents", 1)
    assert re.match(r"  topics  topic \d \(\d+%\), topic \d \(\d+%\)", out.splitlines()[1])


def test_show_for_programs(run, model):
    found = json.loads(run("show", model, "--json")[0])
    assert [record.get("component") for record in found[:4]] == [f"topic {n}" for n in (1, 2, 3, 4)]
    parents = found[4:]
    assert [parent["parent"] for parent in parents] == ["parent 1", "parent 2"]
    assert all(parent["components"] and parent["words"] for parent in parents)
    assert sum(parent["size"] for parent in parents) == pytest.approx(1.0)
    rows = list(csv.DictReader(io.StringIO(run("show", model, "--csv")[0])))
    assert {row["list"] for row in rows if row["component"] == "parent 1"} == {
        "components",
        "words",
    }


def test_transform(run, model, place):
    out, _ = run("transform", model, place / "corpus.discan", "--parents", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    for row in rows:
        assert float(row["parent 1"]) + float(row["parent 2"]) == pytest.approx(1.0, abs=1e-4)
    assert len(rows) == len(discan.load(model).scores_)


def test_info(run, model):
    assert json.loads(run("info", model, "--json")[0])["parents"] == 2


def test_resume(run, place, tmp_path, model):
    folder = tmp_path / "run"
    run("fit", place / "corpus.discan", "-o", tmp_path / "a.discan", "-k", 4, "--parents", 2,
        *CHAIN, "--checkpoint", folder)  # fmt: skip
    run("resume", folder, "-o", tmp_path / "b.discan")
    assert (discan.load(tmp_path / "b.discan").parents_ == discan.load(model).parents_).all()


def test_refusals(run, fails, place, tmp_path, model):
    fit = ("fit", place / "corpus.discan", "-o", tmp_path / "m", "-k", 3, "--parents", 2)
    assert "--algorithm auto or gibbs" in fails(*fit, "--algorithm", "map")
    assert "--model dm or gp" in fails(*fit, "--model", "cgp")
    err = fails("transform", place / "model", place / "corpus.discan", "--parents")
    assert "no parents; fit a model with parents" in err  # --parents here takes no number
    run("transform", model, place / "corpus.discan", "--parents", "--sd", code=2)
    run("transform", model, place / "corpus.discan", "--parents", "-o", tmp_path / "x.h5ad", code=2)
    run(*fit[:-1], 0, code=2)
