# SPDX-License-Identifier: BSD-3-Clause
"""Fitting from the shell, and any way that a fit can end."""

import csv
import io
import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

import discan
from discan.data.storage import read_file


def assert_same_model(one, two):
    """All arrays have the same bits, but for the times in the trace."""
    (_, first), (_, second) = read_file(Path(one), "model"), read_file(Path(two), "model")
    assert set(first) == set(second)
    for name, value in first.items():
        columns = slice(0, 3) if name == "trace" else slice(None)
        assert value[..., columns].tobytes() == second[name][..., columns].tobytes(), name


def test_fit_says_what_it_did_on_stderr_only(run, place, tmp_path):
    out, err = run("fit", place / "texts.jsonl", "-o", tmp_path / "m.discan", "--iterations", 2)
    assert out == ""
    assert "read as jsonl" in err
    assert "20 documents x 6 words" in err
    assert f"discan show {tmp_path}/m.discan" in err
    out, err = run("fit", place / "texts.jsonl", "-o", tmp_path / "m.discan", "-q", "--csv")
    assert err == ""
    assert dict(csv.reader(io.StringIO(out)))["components"] == "10"


def test_fit_says_whether_it_converged_and_what_it_replaced(run, place, tmp_path):
    path = tmp_path / "m.discan"
    fit = ("fit", place / "corpus.discan", "-o", path, "-k", 2, "--algorithm", "map")
    _, err = run(*fit, "--max-iter", 3, "--tol", 0)
    assert "3 cycles in " in err
    assert "; not converged: the objective still rises, by " in err
    assert "; use --max-iter 6, or --algorithm collapsed\n" in err
    assert f"model written to {path}; look" in err
    _, err = run(*fit, "--iterations", 500)
    assert "; converged: the objective changed by " in err
    assert f"model written to {path} (replaced the one there); look" in err
    _, err = run("fit", place / "corpus.discan", "-o", path)
    assert "10 topics are more than the data can bear: 20 documents, 6 words, 85 counts" in err
    assert "; use --components 4\n" in err


def test_fit_options_reach_the_estimator(run, place, tmp_path):
    path = tmp_path / "m.discan"
    options = ("--algorithm", "collapsed", "--burn-in", 3, "--draws", 4, "--seed", 9)
    options += ("--model", "gp", "--beta", 2, "--learn", "alpha,gamma", "-k", 3)
    out, _ = run("fit", place / "corpus.discan", "-o", path, "--json", *options)
    record = json.loads(out)
    assert record["cycles"] == 7
    assert (record["seed"], record["model"], record["components"]) == ("9", "gamma-poisson", 3)
    assert record["file"] == str(path)
    estimator = discan.load(path)
    assert (estimator.algorithm_.burn_in, estimator.algorithm_.n_draws) == (3, 4)
    same = tmp_path / "n.discan"
    run("fit", place / "corpus.discan", "-o", same, "--threads", 2, *options)
    assert_same_model(path, same)


SETTINGS = ("-k", 4, "--algorithm", "collapsed", "--burn-in", 40, "--draws", 20, "--seed", 5)


@pytest.fixture(scope="module")
def unbroken(run, counts):
    path = counts.with_name("unbroken.discan")
    run("fit", counts, "-o", path, *SETTINGS)
    return path


def wait_for(process, path):
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


@pytest.mark.parametrize("seed", range(3))
def test_kill_9_then_resume(run, start, counts, unbroken, tmp_path, seed):
    folder, path = tmp_path / "run", tmp_path / "m.discan"
    process = start("fit", counts, "-o", path, "--checkpoint", folder, "--every", 3, *SETTINGS)
    wait_for(process, folder / "settings.discan")
    time.sleep(random.Random(seed).uniform(0, 1.0))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    record = json.loads(run("info", folder, "--json")[0])
    assert record["holds"] == "a run"
    run("resume", folder, "-q")  # goes where fit was to write
    assert_same_model(path, unbroken)
    run("resume", folder, "-o", tmp_path / "again.discan", "-q")  # finished, and stays so
    assert_same_model(tmp_path / "again.discan", unbroken)


def test_sigterm_checkpoints_and_a_second_process_is_refused(run, fails, start, counts, tmp_path):
    folder, path = tmp_path / "run", tmp_path / "m.discan"
    endless = ("--iterations", 10**6, "--tol", 0, "-k", 4)
    process = start("fit", counts, "-o", path, "--checkpoint", folder, "--every", 2, *endless)
    wait_for(process, folder / "state.discan")
    assert f"in use by process {process.pid}" in fails("resume", folder, "-o", path)
    assert "already holds a run" in fails(
        "fit", counts, "-o", path, "--checkpoint", folder, *endless
    )
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 143, err
    assert out == ""
    assert f"continue with: discan resume {folder}" in err
    assert "Traceback" not in err
    assert not path.exists()
    assert sorted(os.listdir(folder)) == [
        "corpus.discan", "lock", "output", "settings.discan", "state.discan",
    ]  # fmt: skip
    assert json.loads(run("info", folder, "--json")[0])["cycles"] >= 2


def test_ctrl_c_keeps_the_results_so_far(start, counts, tmp_path):
    path = tmp_path / "m.discan"
    process = start(
        "fit", counts, "-o", path, "--checkpoint", tmp_path / "run", "--every", 1,
        "--iterations", 10**6, "--tol", 0, "-k", 4, "--json",
    )  # fmt: skip
    wait_for(process, tmp_path / "run" / "state.discan")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert json.loads(out)["stopped"] == "interrupted"
    assert discan.load(path).n_iter_ == json.loads(out)["cycles"]
