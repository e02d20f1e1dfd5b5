# SPDX-License-Identifier: BSD-3-Clause
"""Help, completion and the way a process ends."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discan

COMMANDS = [
    "fit", "resume", "show", "plot", "report", "transform", "predict", "impute", "score", "info",
    "convert", "datasets", "formats", "demo",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    out, err = run(command, "--help")
    assert "Example: discan " in out
    assert err == ""


def test_main_help_names_every_command_and_the_words_used(run):
    out, _ = run("--help")
    assert all(re.search(rf"^│ {command}\b", out, re.MULTILINE) for command in COMMANDS)
    assert all(word in out for word in ("documents", "words", "component"))
    assert run("--version")[0] == f"discan {discan.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("tr",), ["transform"]),
        (("fit", "x", "--algorithm", ""), ["auto", "cvb0", "gibbs"]),
        (("fit", "x", "--model", ""), ["dm", "gp", "cgp"]),
        (("fit", "x", "--format", ""), ["jsonl", "mtx"]),
        (("fit", "x", "--init", ""), ["documents"]),
        (("plot", "x", ""), ["heatmap"]),
    ],
    ids=lambda value: value[-2] if len(value) > 1 else value[0],
)
def test_completion(environment, shell, words, expected):
    line = " ".join(("discan", *words))
    environment = {**environment, "_DISCAN_COMPLETE": f"complete_{shell}"}
    environment |= {"_TYPER_COMPLETE_ARGS": line, "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    environment |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    code = "from discan.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert all(name in done.stdout for name in expected)


def test_help_and_completion_import_no_numpy(environment):
    code = (
        "import sys, discan.cli.fit as fit\n"
        "names = fit.registered('discan.algorithms')['autocompletion']()\n"
        "print(len(names), 'numpy' in sys.modules, 'numba' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["6", "False", "False"]


def test_a_full_disk(run, place):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "discan", "show", place / "model"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(Path(discan.__file__).parents[1])},
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "error: output: No space left on device\n"


def test_errors_of_a_real_process(start, tmp_path):
    process = start("fit", tmp_path / "missing", "-o", tmp_path / "m.discan")
    assert process.communicate() == ("", f"error: {tmp_path}/missing: no such file or folder\n")
    assert process.returncode == 1
    assert not list(tmp_path.iterdir())


def test_python_runs_the_package():
    done = subprocess.run(
        [sys.executable, "-m", "discan", "--version"],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(discan.__file__).parents[1])},
    )  # fmt: skip
    assert done.stdout.split() == ["discan", discan.__version__]
