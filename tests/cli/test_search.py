# SPDX-License-Identifier: BSD-3-Clause
"""The commands that find documents."""

import json

import pytest

import discan


def test_search(run, place):
    data = place / "corpus.discan"
    out, _ = run("search", place / "model", data, "ship sail", "-n", 3)
    assert out.splitlines()[0].split()[:3] == ["document", "log", "probability"]
    assert len(out.splitlines()) == 4
    rows = json.loads(run("search", place / "model", data, "ship sail", "--json", "-q")[0])
    hits = discan.load(place / "model").search("ship sail", discan.read(data))
    assert [row["log probability"] for row in rows] == [hit.log_probability for hit in hits]
    assert rows[0]["words held"] == 2
    assert rows[0]["explained by"] == hits[0].explained
    one = json.loads(run("search", place / "model", data, "plum", "--lambda", 0, "--json", "-q")[0])
    two = json.loads(
        run("search", place / "model", data, "plum", "--word-weight", 1, "--mu", 3, "--json", "-q")[
            0
        ]
    )
    assert one[0]["log probability"] != two[0]["log probability"]


def test_index(run, fails, place, tmp_path):
    assert "discan index" in fails("search", place / "model", "ship sail")
    _, err = run("index", place / "model", place / "corpus.discan", "-o", tmp_path / "x.index")
    assert "20 documents indexed" in err
    out, _ = run("search", place / "model", tmp_path / "x.index", "ship sail", "-q")
    data = place / "corpus.discan"
    direct, _ = run("search", place / "model", data, "ship sail", "-q")
    assert [line.split()[0] for line in out.splitlines()] == [
        line.split()[0] for line in direct.splitlines()
    ]
    assert "must end in .index" in fails("index", place / "model", data, "-o", tmp_path / "x.csv")
    (place / "model" / "model.index").write_bytes((tmp_path / "x.index").read_bytes())
    try:
        beside, _ = run("search", place / "model", "ship sail", "-q")
    finally:
        (place / "model" / "model.index").unlink()
    assert beside == out


@pytest.mark.parametrize("distance", ["hellinger", "jensen-shannon"])
def test_similar(run, fails, place, distance):
    arguments = ("similar", place / "model", place / "corpus.discan")
    rows = json.loads(run(*arguments, "3", "--distance", distance, "-n", 4, "--json", "-q")[0])
    found = discan.load(place / "model").similar(
        3, discan.read(place / "corpus.discan"), 4, distance=distance
    )
    assert [row["distance"] for row in rows] == [one.distance for one in found]
    assert "there is no document 'nosuch'" in fails(*arguments, "nosuch")


def test_answers(run, fails, survey, place):
    arguments = ("search", survey / "m.discan", survey / "answers.csv")
    out, _ = run(*arguments, "vote=yes; pet=cat", "-n", 2, "-q")
    assert "respondent" in out
    assert "answers held" in out
    assert "did you mean" in fails(*arguments, "vote=ye")
    assert "did you mean 'vote=no', 'vote=yes'" in fails(*arguments, "vote")
    assert "the model has no answer 'nothing'" in fails(*arguments, "nothing")
    texts = ("search", place / "model", place / "corpus.discan")
    assert "knows no word of the query 'nothing'" in fails(*texts, "nothing")
