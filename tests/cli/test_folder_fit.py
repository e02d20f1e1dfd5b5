# SPDX-License-Identifier: BSD-3-Clause
"""Fit a corpus folder from the command line."""

import json
import os

import numpy as np
import pytest

import discan
from discan.data.corpus import Corpus
from discan.data.folders.writer import write_corpus


@pytest.fixture
def big(tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(40 * rng.dirichlet(np.full(30, 0.2), 3)[rng.integers(0, 3, 200)])
    names = [f"w{n}" for n in range(30)]
    write_corpus(Corpus(counts, word_names=names), tmp_path / "big", 500)
    return tmp_path / "big"


def test_fit_and_resume(run, big, tmp_path):
    model, place = tmp_path / "m.discan", tmp_path / "run"
    options = ["-k", 3, "--algorithm", "cvb0", "--max-iter", 4, "--tol", 0]
    _, told = run("fit", big, *options, "-o", model, "--checkpoint", place)
    assert "a corpus folder, whose documents stay on disk" in told
    assert "200 documents x 30 words" in told
    assert not (place / "corpus.discan").exists()
    in_memory = tmp_path / "n.discan"
    run("convert", big, tmp_path / "c.discan")
    run("fit", tmp_path / "c.discan", *options, "-o", in_memory)
    one, other = discan.load(model), discan.load(in_memory)
    np.testing.assert_array_equal(one.components_, other.components_)
    run("resume", place, "-o", tmp_path / "again.discan")
    again = discan.load(tmp_path / "again.discan")
    np.testing.assert_array_equal(one.components_, again.components_)
    shown, _ = run("show", model)
    assert "w1" in shown
    found, _ = run("info", model, "--json")
    assert json.loads(found)["documents"] == 200


def test_a_dry_run_makes_nothing(run, big, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    arguments = ("fit", big, "-k", 3, "-o", tmp_path / "m/", "--checkpoint", tmp_path / "run")
    out, _ = run(*arguments, "--dry-run")
    assert [line.split(":")[0] for line in out.splitlines()] == [
        "algorithm", "memory", "disk", "time",
    ]  # fmt: skip
    found = json.loads(run(*arguments, "--dry-run", "--json")[0])
    assert found["algorithm"] == "collapsed"
    assert found["disk"] > 0
    assert sorted(tmp_path.rglob("*")) == before


def test_options_of_reading_are_refused(run, big, tmp_path):
    _, told = run("fit", big, "-o", tmp_path / "m", "--option", "min_df=2", code=1)
    assert "discan convert" in told
    assert len(told.splitlines()) == 1


def test_a_damaged_folder_gives_one_line(run, big, tmp_path):
    shard = sorted((big / "shards").iterdir())[0]
    os.truncate(shard, shard.stat().st_size // 2)
    _, told = run("fit", big, "-k", 2, "-o", tmp_path / "m.discan", code=1)
    assert "00000-" in told.splitlines()[-1]
    assert not (tmp_path / "m.discan").exists()
