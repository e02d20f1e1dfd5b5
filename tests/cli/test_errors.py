# SPDX-License-Identifier: BSD-3-Clause
"""Errors: one line, in terms of the shell, before the work where possible."""

import importlib
import inspect
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import discan
from discan.cli import app
from discan.cli.errors import NAMES, shell_wording
from discan.cli.fit import _finish
from discan.cli.printing import Style
from discan.errors import InputError, ModelFileError, StorageError

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def read_only(tmp_path):
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):  # root may write anywhere
        folder = Path("/proc/self")
    yield folder
    if tmp_path in folder.parents:
        folder.chmod(0o700)


def test_unwritable_output_fails_before_the_work(fails, place, tmp_path, read_only, monkeypatch):
    def never(*_, **__):
        raise AssertionError("the data were read first")

    monkeypatch.setattr("discan.cli.reading.find_data", never)
    data, model = place / "corpus.discan", place / "model"
    for target in (read_only / "m.discan", place / "texts.jsonl" / "m.discan"):
        fails("fit", data, "-o", target)
        fails("fit", data, "-o", tmp_path / "m.discan", "--checkpoint", target.parent / "run")
        fails("convert", data, target)
        fails("transform", model, data, "-o", target)
    fails("transform", model, data, "-o", tmp_path)
    assert not (tmp_path / "m.discan").exists()


def test_the_demo_fails_early_too(read_only):
    done = CliRunner().invoke(app, ["demo", "senate", "-o", str(read_only / "x.html")])
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_errors_name_the_option_that_was_given(fails, place):
    line = fails("fit", place / "corpus.discan", "-k", 2, "-o", place / "none", "--threads", 0)
    assert line.startswith("error: --threads 0; ")


def test_an_unexpected_error_is_one_line(run, place, monkeypatch):
    def boom(*_):
        raise ZeroDivisionError("one\ntwo")

    monkeypatch.setattr("discan.fitting.description.summarise", boom)
    out, err = run("show", place / "model", code=1)
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: unexpected ZeroDivisionError: one two; this is a bug")
    monkeypatch.setenv("DISCAN_TRACEBACK", "1")
    assert isinstance(
        CliRunner().invoke(app, ["show", str(place / "model")]).exception, ZeroDivisionError
    )


# ---- wording ----

FLAGS = {"format": "--format", "algorithm": "--algorithm", "threads": "--threads"}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InputError("x: bad", use={"quotes": False}), "x: bad; use --option quotes=False"),
        (
            InputError("x: bad", remedy="convert it", use={"format": ...}),
            "x: bad; convert it, or use --format VALUE",
        ),
        (InputError("a=b: is a file"), "a=b: is a file"),
        (InputError("x", use={"algorithm": "variational"}), "x; use --algorithm variational"),
        (InputError("x", use={"algorithm": ("map", "ml")}), "x; use --algorithm map or ml"),
        (InputError("{} is bad", argument="n_jobs", value=0), "--threads 0 is bad"),
        (
            InputError("{}", argument="format", value="y", use={"format": ("csv", "lines")}),
            "--format y; use one of csv, lines",
        ),
        (
            InputError("{}", argument="ngrams", value=(2, 1), use={"ngrams": ((1, 2),)}),
            "--option ngrams=2,1; use one of 1,2",
        ),
        (InputError("{} is bad", argument="hyperprior", value="x"), "hyperprior='x' is bad"),
    ],
    ids=str,
)
def test_settings_are_worded_as_flags(error, expected):
    assert shell_wording(error, FLAGS) == expected


def test_flags_come_from_the_declared_options(fails, place):
    line = fails("transform", place / "model", place / "texts.jsonl", "--threads", 0)
    assert line.startswith("error: --threads 0; ")


def test_names_that_differ_are_options_of_fit():
    [fit] = [command for command in app.registered_commands if command.callback.__name__ == "fit"]
    assert set(NAMES.values()) <= set(inspect.signature(fit.callback).parameters)
    assert set(NAMES) <= {*inspect.signature(discan.DCA).parameters, "n_draws"}


# ---- outputs that are closed or full, files that never end ----


def shell(line, place):
    """Run a line of a shell, in which $D is discan; return (exit code, stderr)."""
    environment = {**os.environ, "D": f"{sys.executable} -m discan.cli"}
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=place, env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "bug" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has it")
@pytest.mark.parametrize("command", ["show model", "--help", "fit --help", "--version", "formats"])
def test_a_full_output_is_one_line(place, command):
    code, err = shell(f"$D {command} > /dev/full", place)
    assert (code, err) == (1, "error: output: No space left on device\n")


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "| head -c 1"])
def test_a_closed_output_is_no_bug(place, closed):
    assert shell(f"$D show model {closed}", place)[0] in (0, 1)
    assert shell(f"$D show none {closed}", place)[0] == (0 if "head" in closed else 1)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="POSIX alone has it")
@pytest.mark.parametrize(
    "arguments",
    [
        ("effects", "{model}", "--labels"), ("effects", "{model}", "--time"),
        ("name", "{model}"),
        ("fit", "{texts}", "-k", 2, "-o", "{new}", "--seeds"),
        ("fit", "{texts}", "-k", 2, "-o", "{new}", "--seed-labels"),
        ("fit", "{texts}", "-k", 2, "-o", "{new}", "--classes"),
        ("convert", "{texts}", "{new}", "--stop-words"),
        ("show",), ("info",), ("convert", "--format", "lines"), ("transform", "{model}"),
    ],
)  # fmt: skip
def test_a_device_that_never_ends_is_refused(place, tmp_path, arguments):
    """In a process of its own: it would fill the memory of this one."""
    names = {"model": place / "model", "texts": place / "texts.jsonl", "new": tmp_path / "new"}
    words = " ".join(shlex.quote(str(part).format(**names)) for part in arguments)
    last = " x.discan" if arguments[0] == "convert" and "{new}" not in arguments else ""
    limit = f"ulimit -v {6 * 2**20}; "
    code, err = shell(f"{limit}$D {words} /dev/zero{last}", tmp_path)
    assert code == 1, err
    assert re.search("pipe|device|cannot be read|no such file", err), err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--tol", "1e400"), ("--chains", 10**20), ("--chains", 10**9), ("--parents", 10**20),
     ("--parents", 10**9), ("-k", 10**20)],
)  # fmt: skip
def test_numbers_beyond_any_use(fails, place, tmp_path, flag, value):
    line = fails("fit", place / "corpus.discan", "-k", 2, "-o", tmp_path / "m", flag, value)
    assert "bug" not in line
    assert "must be" in line or "at most" in line


@pytest.mark.parametrize("error", [StorageError, ModelFileError])
def test_a_run_that_fails_says_how_to_go_on(tmp_path, caplog, error):
    """A full disk or a damaged corpus ends a fit, but its run is kept."""

    def fail():
        raise error("big/shards/0.discan: no space left on the disk")

    for begun in (False, True):
        if begun:
            (tmp_path / "state.discan").touch()
        caplog.clear()
        with caplog.at_level("INFO", logger="discan"), pytest.raises(error):
            _finish(fail, Path("model"), tmp_path, Style.TABLE)
        assert ("discan resume" in caplog.text) == begun


LOADING = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it in the background

class Finder:
    def find_spec(name, path, target=None):
        if name == "discan.cli.app":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
import discan.cli
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
def test_ctrl_c_while_it_loads_is_silent():
    done = subprocess.run(
        [sys.executable, "-c", LOADING],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGINT
    assert done.stderr == ""


def test_the_handler_of_interrupts_stays():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        importlib.reload(discan.cli)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as nohup leaves it
        importlib.reload(discan.cli)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
