# SPDX-License-Identifier: BSD-3-Clause
"""Looking at models and data: show and info."""

import csv
import io
import json
import re

import numpy as np
import pytest

import discan

GOLDEN = """\
topic 1: 58.6 % of all counts
  by probability     apple, pear, plum
  by lift            apple, plum, pear
  typical documents  0, 4

topic 2: 41.4 % of all counts
  by probability     boat, ship, sail
  by lift            boat, ship, sail
  typical documents  2, 6
"""


def test_show(run, place):
    assert run("show", place / "model", "--words", 3, "--documents", 2) == (GOLDEN, "")
    components = json.loads(run("show", place / "model", "--json")[0])
    assert [c["component"] for c in components] == ["topic 1", "topic 2"]
    assert components[0]["by_probability"][0]["name"] == "apple"
    rows = list(csv.DictReader(io.StringIO(run("show", place / "model", "--csv")[0])))
    assert {row["list"] for row in rows} == {"probability", "lift", "documents"}
    assert sum(row["list"] == "lift" for row in rows) == 6
    assert len(run("show", place / "model", "--words", 1, "--documents", 0)[0].splitlines()) == 7


def test_votes_are_readable(run, tmp_path):
    run("fit", "dataset:senate2005", "-o", tmp_path / "s.discan", "-k", 2, "--max-iter", 9)
    out, _ = run("show", tmp_path / "s.discan", "--words", 2)
    assert out.startswith("bloc 1: ")
    assert "by probability" not in out  # the same unanimous votes for every bloc
    blocs = json.loads(run("show", tmp_path / "s.discan", "--json")[0])
    telling = [{word["name"] for word in bloc["by_lift"]} for bloc in blocs]
    assert not telling[0] & telling[1]
    for word in blocs[0]["by_lift"] + blocs[1]["by_lift"]:
        assert word["probability"] > 2 * word["others"]
    assert re.search(r": (yea|nay) \([\d.]+%, others [\d.]+%\)$", out, re.MULTILINE)
    assert re.search(r"typical [a-z]+ +\S+ \([DRI]-[A-Z]{2}\), ", out)


def test_fields_have_percentages_that_say_something(run, tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.kron(np.eye(2), np.full((20, 60), 0.4)) + 0.02)
    fields = np.where(np.arange(120) % 3 == 0, "title", "body")
    names = [f"{field}:{j}" for j, field in enumerate(fields)]
    corpus = discan.Corpus(counts, groups=fields, word_names=names)
    discan.MPCA(2, algorithm="map", random_state=0).fit(corpus).save(tmp_path / "m.discan")
    out, _ = run("show", tmp_path / "m.discan", "--words", 3)
    for field in ("title", "body"):
        for kind in ("by probability", "by lift"):
            assert re.search(rf"{field}, {kind} +{field}:\d+ \([\d.]+%, all [\d.]+%\), ", out)
    shares = [float(share) for share in re.findall(r"([\d.]+)%", out)]
    assert min(shares) > 0  # none is rounded to nothing


@pytest.mark.parametrize("option", [("--sd",), ("--interval", 0.9)])
def test_components_that_were_given_have_no_deviations(fails, tmp_path, option):
    discan.LDA.from_components(np.ones((2, 4))).save(tmp_path / "given.discan")
    assert "no training documents" in fails("show", tmp_path / "given.discan", *option)


def test_deviations(run, fails, place, tmp_path):
    run("fit", place / "corpus.discan", "-o", tmp_path / "map", "--algorithm", "map", "-k", 2)
    line = fails("show", tmp_path / "map", "--sd")
    assert line.startswith("error: the algorithm map gives no standard deviations")
    assert line.endswith("; use --algorithm variational, collapsed or gibbs\n")
    path = tmp_path / "m.discan"
    sampling = ("--algorithm", "collapsed", "--burn-in", 5, "--draws", 9, "-k", 2)
    run("fit", place / "corpus.discan", "-o", path, "-q", *sampling)
    out, _ = run("show", path, "--sd", "--words", 2)
    assert re.search(r"by probability +\w+ \([\d.]+% \u00b1[\d.]+%, all [\d.]+%\), ", out)
    assert re.search(r"typical documents +(document )?\d+ \([\d.]+% \u00b1[\d.]+%\), ", out)
    fit = discan.load(path).fit_
    [first, _] = json.loads(run("show", path, "--sd", "--json")[0])
    j = fit.layout.word_names.index(first["by_probability"][0]["name"])
    assert first["by_probability"][0]["sd"] == fit.components_sd[0, j]
    rows = list(csv.DictReader(io.StringIO(run("show", path, "--sd", "--csv")[0])))
    assert float(rows[0]["sd"]) == fit.components_sd[0, j]


def test_hostile_names(run, tmp_path):
    names = ["=HYPERLINK(1)", "\x1b]0;x\x07", "@x", "[bold]b[/bold]", "-1"]
    table = discan.Corpus(
        np.eye(5, dtype=int) * 4 + 1, word_names=names, document_names=names[::-1]
    )
    discan.DCA(2, random_state=0, max_iter=3).fit(table).save(tmp_path / "m.discan")
    out, _ = run("show", tmp_path / "m.discan")
    assert "\x1b" not in out
    assert r"\x1b]0;x\x07" in out
    assert "[bold]b[/bold]" in out
    for row in csv.DictReader(io.StringIO(run("show", tmp_path / "m.discan", "--csv")[0])):
        assert row["name"][0] not in "=@-+"
    assert "\x1b" not in run("show", tmp_path / "m.discan", "--json")[0]


def test_info(run, place, tmp_path):
    record = json.loads(run("info", place / "model", "--json")[0])
    assert (record["holds"], record["components"], record["documents"]) == ("a model", 2, 20)
    record = json.loads(run("info", place / "corpus.discan", "--json")[0])
    assert (record["format"], record["tokens"]) == ("discan", 85)
    assert "words            6" in run("info", place / "texts.jsonl", "--option", "max_df=1.0")[0]
    nameless = tmp_path / "model"  # told by its content
    nameless.write_bytes((place / "model" / "model.discan").read_bytes())
    assert json.loads(run("info", nameless, "--json")[0])["holds"] == "a model"
