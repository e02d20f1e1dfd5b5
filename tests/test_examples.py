# SPDX-License-Identifier: BSD-3-Clause
"""Every example runs, or says that its data are absent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").glob("[!_]*.py")  # an underscore: a part of an example
    if path.name != "common.py"
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_or_says_that_data_are_absent(path, tmp_path):
    nowhere = {"DISCAN_DATA": str(tmp_path / "nowhere"), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, str(path), "--quick", "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **nowhere},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = next((tmp_path / "out").glob(f"{path.stem}*.md"), None)
    if page is None:
        assert done.stdout.startswith("data absent")
        assert done.stdout.count("\n") == 1
        return
    text = page.read_text("utf-8")
    for words in ("- date: ", "- discan: ", "- seconds: ", "- machine: "):
        assert words in text
    assert "|---" in text.replace(" ", "")
    assert list((tmp_path / "out").glob("*.svg"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_is_short_and_has_a_main(path):
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) < 200
    assert "def main() -> None:" in lines
