# SPDX-License-Identifier: BSD-3-Clause
"""No file can crash the process or give nonsense, even with right checksums (see resigned.py)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "resigned.py"
SOURCE = Path(__file__).parents[2] / "src"
SEED = int(os.environ.get("DISCAN_TEST_SEED", "20"))  # each night has one of its own
N_CASES = {"model": 1000, "run": 500, "corpus": 500, "folder": 500}
FINE = {"refused", "loaded", "unwritable"}


def outcomes(*arguments, timeout=300):
    """Run the script in a process of its own; return {case: outcome}."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-2000:])
    return {case: outcome for what, case, *rest in lines if what == "end" for outcome in rest}


@pytest.fixture(scope="module", params=list(N_CASES))
def files(request, tmp_path_factory):
    """The folder of sound files, their kind, and how they were when they were used."""
    folder = tmp_path_factory.mktemp(request.param)
    return folder, request.param, outcomes(folder, request.param)


def check(found, n_cases):
    assert len(found) == n_cases
    bad = {number: outcome for number, outcome in found.items() if outcome not in FINE}
    assert not bad, bad
    counts = {what: list(found.values()).count(what) for what in FINE}
    print(counts)
    assert counts["refused"] > n_cases / 3  # most changes are noticed,
    assert counts["loaded"] > n_cases / 20  # and some leave a file sound


def test_the_files_are_sound_before_they_are_changed(files):
    assert len(files[2]) >= 2
    assert set(files[2].values()) == {"loaded"}


def test_content_is_checked_behind_right_checksums(files):
    folder, kind, _ = files
    check(outcomes(folder, kind, SEED, 0, N_CASES[kind]), N_CASES[kind])


@pytest.mark.slow
def test_content_is_checked_behind_right_checksums_long(files):
    folder, kind, _ = files
    n_cases = 10 * N_CASES[kind]
    check(outcomes(folder, kind, SEED + 1, 0, n_cases, timeout=3000), n_cases)
