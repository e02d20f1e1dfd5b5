# SPDX-License-Identifier: BSD-3-Clause
"""Whatever step of writing fails, and wherever the process dies, a file is the old or the new."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "faults.py"
SOURCE = Path(__file__).parents[2] / "src"
# What is written, and the least number of steps that can fail, times the ways they can.
WHAT = {
    "model": 20,
    "corpus": 20,
    "table": 16,
    "begun": 40,
    "run": 60,
    "folder run": 100,
    "command": 60,
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes die in forks")
@pytest.mark.parametrize("what", WHAT)
def test_all_or_nothing(what, tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), what],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["problems"], found["problems"]
    print(what, found["tries"])
    assert found["tries"] >= WHAT[what]
