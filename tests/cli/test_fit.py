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
from discan.data.storage import read_file, write_file


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
    assert "10 topics are too many for the data: 20 documents, 6 words, 85 counts" in err
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
    _, err = run("resume", folder)
    assert f"written to {folder}/model.discan; fit was to write it to {path} (see -o)" in err
    assert_same_model(folder / "model.discan", unbroken)
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
    assert f"continue with: discan resume {folder} -o {path}" in err
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


@pytest.fixture
def begun(run, place, tmp_path):
    """A run folder, finished."""
    folder = tmp_path / "run"
    run("fit", place / "corpus.discan", "-o", tmp_path / "m.discan", "--checkpoint", folder,
        "--iterations", 3, "-k", 2)  # fmt: skip
    return folder


@pytest.mark.parametrize("note", ["elsewhere", "../../x", "", "a\0b", "x" * 100_000, None])
def test_a_run_folder_does_not_choose_where_to_write(run, begun, tmp_path, note):
    """Somebody else's folder might name a file of yours."""
    (begun / "output").unlink()
    if note is not None:
        (begun / "output").write_text(note)
    before = sorted(path for path in tmp_path.rglob("*") if begun not in path.parents)
    run("resume", begun)
    assert sorted(path for path in tmp_path.rglob("*") if begun not in path.parents) == before
    assert discan.load(begun / "model.discan").n_iter_ == 3


def test_links_in_a_run_folder_are_refused(run, fails, begun, place, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("precious")
    (begun / "model.discan").symlink_to(mine)
    assert "a link, which is not followed" in fails("resume", begun)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "output").symlink_to(mine)
    assert "a link, which is not followed" in fails(
        "fit", place / "corpus.discan", "-o", tmp_path / "n.discan",
        "--checkpoint", tmp_path / "new",
    )  # fmt: skip
    assert mine.read_text() == "precious"


@pytest.mark.parametrize("settings", [[], "x", {"algorithm": {"x": 1}}])
def test_info_about_a_strange_run_folder(fails, begun, settings):
    header, arrays = read_file(begun / "settings.discan", "settings")
    kept = {key: header[key] for key in ("class", "feature_names", "every")}
    write_file(begun / "settings.discan", "settings", {**kept, "settings": settings}, arrays)
    assert "invalid" in fails("info", begun)


def test_the_number_of_components_is_learnt(run, fails, place, tmp_path):
    path = tmp_path / "m.discan"
    fit = ("fit", place / "texts.jsonl", "-o", path, "-k", "auto")
    out, err = run(*fit, "--json", "--max-components", 5, "--max-iter", 60)
    record = json.loads(out)
    assert record["model"] == "dirichlet-process"
    assert record["most components"] == 5
    low, high = record["used, 90 % interval"]
    assert 1 <= low <= record["used components"] <= high <= 5
    assert record["components"] <= 5
    assert "topics are used (90 % interval" in err
    out, err = run(*fit, "--max-iter", 20)
    assert "at most 6 components are tried; see --max-components" in err
    out, _ = run("show", path)
    assert "topics are used (90 % interval" in out.splitlines()[0]
    assert "concentration" in out.splitlines()[0]
    out, _ = run("info", path)
    assert "used components" in out
    assert "concentration" in out
    assert "--algorithm collapsed or gibbs" in fails(*fit, "--algorithm", "map")
    assert "--max-components 3" in fails(*fit[:-1], 4, "--max-components", 3)


@pytest.mark.parametrize("size", ["0", "-2", "many", "2.5"])
def test_a_number_of_components_is_checked(run, place, tmp_path, size):
    _, err = run(
        "fit", place / "texts.jsonl", "-o", tmp_path / "m.discan", f"--components={size}", code=2
    )
    assert "is not a whole" in err
    assert repr(size) in err
