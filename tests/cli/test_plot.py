# SPDX-License-Identifier: BSD-3-Clause
"""Drawing models: every kind of figure, its options, and what is refused."""

import re

import numpy as np
import pytest

import discan
from discan.cli.plot import FIGURES, parse_components
from discan.data.nouns import VOTES


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    """A model whose documents have metadata."""
    rng = np.random.default_rng(0)
    camp = rng.integers(0, 2, 40)
    yea = rng.random((40, 6)) < np.where(camp[:, None] == 1, 0.9, 0.1)
    corpus = discan.Corpus(
        np.stack([yea, ~yea], axis=2).reshape(40, 12).astype(int), groups=np.repeat(range(6), 2),
        word_names=[f"v{g}={a}" for g in range(6) for a in ("yea", "nay")],
        group_names=[f"v{g}" for g in range(6)], nouns=VOTES,
        metadata={"party": np.where(camp == 1, "D", "R"), "age": rng.uniform(30, 80, 40),
                  "born": [f"{1930 + n}-05-01" for n in range(40)], "state": list("abcde") * 8},
    )  # fmt: skip
    path = tmp_path_factory.mktemp("votes") / "votes.discan"
    fit = discan.MPCA(
        3, algorithm="map", random_state=0, max_iter=20, n_chains=2, progress=False
    ).fit(corpus)
    fit.name_components({3: "the rest, others"})
    fit.save(path)
    return path


@pytest.mark.parametrize("kind", FIGURES)
def test_plot(run, votes, tmp_path, kind):
    file = tmp_path / "figure.svg"
    given = ["--labels", "party"] if kind == "labels" else []
    out, err = run("plot", votes, kind, "-o", file, "--title", "Fruit", *given)
    assert out == ""
    assert err.endswith(f"figure written to {file}\n")
    text = file.read_text("utf-8")
    assert ">Fruit</text>" in text
    assert re.search(r"<(rect|path|circle) [^>]*(fill|stroke)=\"#", text)


@pytest.mark.parametrize("ending", ["html", "svg", "pdf"])
def test_formats(run, votes, tmp_path, ending):
    file = tmp_path / f"figure.{ending}"
    run("plot", votes, "sizes", "-o", file, "-q")
    start = {"html": b"<!DOCTYPE html>", "svg": b"<svg ", "pdf": b"%PDF-1.4"}[ending]
    assert file.read_bytes().startswith(start)
    assert file.stat().st_size < 30_000


def test_labels(run, votes, tmp_path):
    file, labels = tmp_path / "figure.svg", tmp_path / "labels.txt"
    run("plot", votes, "structure", "-o", file, "--labels", "party", "-q")
    assert ">D</text>" in file.read_text("utf-8")
    labels.write_text("fruit\nboats\n" * 20)
    run("plot", votes, "structure", "-o", file, "--labels", labels, "--order", "age", "-q")
    assert ">boats</text>" in file.read_text("utf-8")
    run("plot", votes, "structure", "-o", file, "--labels", "party", "--labels", labels, "-q")
    text = file.read_text("utf-8")
    assert text.count(">boats</text>") == 2
    assert ">R</text>" in text
    _, err = run("plot", votes, "time", "-o", file)
    assert err.startswith("time: by the column 'born'\n")


def test_components_and_words(run, votes, tmp_path):
    file = tmp_path / "figure.svg"
    run("plot", votes, "words", "-o", file, "--components", "1,the rest, others", "-q", code=1)
    run("plot", votes, "words", "-o", file, "--components", "the rest, others", "-q")
    text = file.read_text("utf-8")
    assert "the rest, others, " in text
    assert "bloc 1" not in text
    run("plot", votes, "words", "-o", file, "--components", "1-2", "--words", 2, "-q")
    text = file.read_text("utf-8")
    assert len(re.findall(r">v\d: (?:yea|nay)</text>", text)) == 4
    run("plot", votes, "membership", "-o", file, "--components", "1", "-q")
    assert ">2 others</text>" in file.read_text("utf-8")


def test_parse_components(votes):
    fit = discan.load(votes).fit_
    assert parse_components("1-2, 3", fit) == [1, 2, 3]
    assert parse_components("bloc 2,1", fit) == ["bloc 2", 1]
    assert parse_components("the rest, others", fit) == ["the rest, others"]


def test_plot_fails_in_a_line(run, fails, place, votes, tmp_path):
    model, file = place / "model", tmp_path / "figure.svg"
    assert "must end in" in fails("plot", model, "map", "-o", tmp_path / "figure.jpg")
    (tmp_path / "short.txt").write_text("one\n")
    short = fails("plot", model, "structure", "-o", file, "--labels", tmp_path / "short.txt")
    assert "20 labels, one for each of the documents, not 1" in short
    absent = fails("plot", votes, "structure", "-o", file, "--labels", "absent.txt")
    assert "no such column and no such file" in absent
    assert "party, age, born and state" in absent
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe")
    binary = fails("plot", model, "squares", "-o", file, "--labels", tmp_path / "binary.txt")
    assert "UTF-8" in binary
    only = fails("plot", model, "trace", "-o", file, "--labels", "x")
    assert "--labels applies only to structure, squares, labels and time, not to trace" in only
    assert "--labels FILE" in fails("plot", model, "labels", "-o", file)
    assert "--labels party or state" in fails("plot", votes, "labels", "-o", file)
    assert "no component 9" in fails("plot", model, "map", "-o", file, "--components", "9")
    assert "no component 'x'" in fails("plot", model, "map", "-o", file, "--components", "x")
    order = fails("plot", votes, "structure", "-o", file, "--order", "x")
    assert "--order x; use one of similar, given, name, size, party, age, born" in order
    assert "'pie'; use one of sizes" in run("plot", model, "pie", "-o", file, code=2)[1]
    assert not file.exists()
