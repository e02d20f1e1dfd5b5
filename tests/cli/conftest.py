# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command line share: ways to run it, data and models."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

import discan
from discan.cli import app

TEXTS = [
    "apple apple pear plum apple pear", "pear plum apple apple", "boat ship sail boat",
    "ship boat boat",
] * 5  # fmt: skip


@pytest.fixture(scope="session")
def texts():
    """Texts of two kinds."""
    return TEXTS


def in_process(*arguments, code=0):
    done = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="discan")
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr, done.exception)
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="session")
def run():
    """Run a command in this process; return (stdout, stderr)."""
    return in_process


@pytest.fixture(scope="session")
def fails(run):
    """Run a command that must fail; return its one line."""

    def failing(*arguments):
        quiet = () if arguments[0] == "show" else ("--quiet",)  # show has nothing to silence
        out, err = run(*arguments, *quiet, code=1)
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert "a bug in discan" not in err
        return err

    return failing


@pytest.fixture(scope="session")
def environment():
    """The environment of a process that finds this discan."""
    return {**os.environ, "PYTHONPATH": str(Path(discan.__file__).parents[1])}


@pytest.fixture(scope="session")
def start(environment):
    """Start a command in a process of its own."""

    def started(*arguments, **streams):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        command = [sys.executable, "-m", "discan.cli", *map(str, arguments)]
        # a shell ignores SIGINT in what it runs in the background, and processes inherit that
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            return subprocess.Popen(command, text=True, env=environment, **streams)
        finally:
            signal.signal(signal.SIGINT, before)

    return started


@pytest.fixture(scope="session")
def place(run, tmp_path_factory):
    """A folder with data, a model and a corpus."""
    folder = tmp_path_factory.mktemp("cli")
    records = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(TEXTS)]
    (folder / "texts.jsonl").write_text("\n".join(records) + "\n")
    options = ("--option", "id_field=id", "-k", 2, "--alpha", 0.1, "--iterations", 50, "--seed", 1)
    run("fit", folder / "texts.jsonl", "-o", f"{folder}/model/", "--max-df", "1.0", *options)
    run("convert", folder / "texts.jsonl", folder / "corpus.discan", "--max-df", "1.0")
    return folder


@pytest.fixture(scope="session")
def counts(tmp_path_factory):
    """Counts that take a second or so to fit."""
    path = tmp_path_factory.mktemp("counts") / "counts.npz"
    sparse.save_npz(path, sparse.csr_array(np.random.default_rng(0).poisson(0.5, (600, 200))))
    return path


@pytest.fixture(scope="session")
def survey(run, tmp_path_factory):
    """Answers to three questions that go together, some missing, and a model of them."""
    folder = tmp_path_factory.mktemp("survey")
    lines = ["yes,red,cat", "no,blue,dog"] * 10 + ["yes,red,", "no,,dog"]
    (folder / "answers.csv").write_text("\n".join(["vote,colour,pet", *lines]) + "\n")
    (folder / "new.csv").write_text("colour,pet\nred,cat\nblue,dog\nblue,\n")
    run("fit", folder / "answers.csv", "-o", folder / "m.discan", "-k", 2, "--alpha", 0.1,
        "--format", "categorical")  # fmt: skip
    return folder
