# SPDX-License-Identifier: BSD-3-Clause
"""The commands select and compare-models."""

import csv
import json
import re
import signal
import time

import pytest

QUICK = ("--max-iter", 20, "--threads", 1)


def test_select_prints_a_table_and_a_verdict(run, place, tmp_path):
    out, err = run("select", place / "corpus.discan", "-k", "1:3", "--folds", 2, *QUICK)
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["K", "bits"]
    assert [line.split()[0] for line in lines[1:4]] == ["1", "2", "3"]
    assert "lower is better" in out.lower()
    assert "predicts best" in out
    assert "held out (completion" in err
    assert "12 fits by collapsed: 3 K x 2 starts x 2 folds" in err


def test_select_for_programs(run, place, tmp_path):
    data = ("select", place / "corpus.discan", "-k", "1,2", "--folds", 2, *QUICK)
    found = json.loads(run(*data, "--json")[0])
    assert set(found) == {"best", "smallest", "flat", "verdict", "table"}
    assert found["best"] in (1, 2)
    assert [row["K"] for row in found["table"]] == [1, 2]
    out, err = run(*data, "--csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert float(rows[1]["bits"]) == found["table"][1]["bits"]
    assert found["verdict"] in err
    out, _ = run(*data, "--cv")
    lines = out.splitlines()
    assert len(lines) == 2
    value = re.fullmatch(r"CV error \(K=2\): (\d+\.\d{5})", lines[1])[1]
    assert float(value) == pytest.approx(found["table"][1]["bits"], abs=1e-5)


def test_select_writes_fits_and_a_figure(run, place, tmp_path):
    data = ("select", place / "corpus.discan", "-k", "1:2", "--folds", 1, *QUICK)
    _, err = run(*data, "-o", tmp_path / "fits.csv", "--plot", tmp_path / "k.svg")
    with (tmp_path / "fits.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 2 * 2
    assert list(rows[0])[:4] == ["K", "seed", "fold", "bits_per_token"]
    assert "number of components" in (tmp_path / "k.svg").read_text()
    assert "figure written" in err
    run(*data, "-o", tmp_path / "fits.json", "--quiet")
    assert len(json.loads((tmp_path / "fits.json").read_text())) == 4


def test_select_takes_the_options_of_a_fit(run, survey):
    out, err = run(
        "select", survey / "answers.csv", "-k", "2", "--format", "categorical", "--folds", 2,
        "--algorithm", "collapsed", "--burn-in", 5, "--draws", 5, "--alpha", 0.1, "--json",
    )  # fmt: skip
    assert "held out (entries" in err
    assert json.loads(out)["best"] == 2


def test_a_search_goes_on_in_its_folder(run, fails, place, tmp_path):
    data = ("select", place / "corpus.discan", "--folds", 2, "--folder", tmp_path / "s")
    first, _ = run(*data, "-k", "1:2", *QUICK, "--json")
    again, err = run(*data, "-k", "1:2", *QUICK, "--json")
    assert "8 of 8 fits were in the folder" in err
    assert json.loads(again)["table"] == json.loads(first)["table"]
    line = fails(*data, "-k", "1:2", "--max-iter", 21)
    assert "other data or with other settings" in line


def test_after_an_interrupt_the_fits_are_kept(start, counts, tmp_path):
    folder = tmp_path / "s"
    process = start("select", counts, "-k", "2:60", "--folder", folder, "--max-iter", 100)
    while process.poll() is None and len(list(folder.glob("K*.discan"))) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert re.search(r"stopped; \d+ of 590 fits are kept", err)
    assert "Traceback" not in err


@pytest.mark.parametrize("sizes", ["", "two", "0:3", "5:2", "2:9:0", "2-", "1,,2"])
def test_wrong_sizes(run, place, sizes):
    _, err = run("select", place / "corpus.discan", "-k", sizes, code=2)
    assert "2:40" in err


def test_a_figure_of_an_unknown_kind_is_refused_first(run, place, tmp_path):
    _, err = run("select", place / "corpus.discan", "-k", 2, "--plot", tmp_path / "k.doc", code=2)
    assert ".svg" in err


def test_compare_models(run, fails, place, tmp_path):
    data = ("compare-models", place / "corpus.discan", "-k", 2, "--folds", 2, *QUICK)
    out, _ = run(*data, "-o", tmp_path / "fits.csv")
    assert [line.split()[0] for line in out.splitlines()[1:6]] == ["dm", "gp", "cgp", "plsi", "nmf"]
    assert "predicts best" in out
    assert (tmp_path / "fits.csv").exists()
    found = json.loads(run(*data, "--models", "dm,nmf", "--json")[0])
    assert [row["model"] for row in found["table"]] == ["dm", "nmf"]
    assert set(found) == {"best", "close", "verdict", "table"}
    assert "models" in fails(*data, "--models", "dm,lsa")
