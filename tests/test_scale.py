# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark's section on data on disk; no time is asserted."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discan import Corpus
from discan.data.folders.writer import write_corpus

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in [path.stem for path in FOLDER.glob("*.py")]:
        sys.modules.pop(name, None)


def results(tmp_path, rows):
    from store import Results

    found = Results(tmp_path / "results.json", {"date": ""})
    found.rows = [{"section": "scale", "repeat": 0, **row} for row in rows]
    return found


def test_verdicts(tmp_path):
    from verdicts import verdicts

    rows = [
        {"cell": "pass", "tool": "3 MB", "tokens": 100, "processor_seconds": 1.0,
         "peak_bytes": 1e8},
        {"cell": "pass", "tool": "12 MB", "tokens": 400, "processor_seconds": 4.4,
         "peak_bytes": 1.2e8},
        {"cell": "speed-up", "tool": "1 threads", "wall_seconds": 3.0},
        {"cell": "speed-up", "tool": "2 threads", "wall_seconds": 1.6},
        {"cell": "speed-up", "tool": "1 workers", "wall_seconds": 3.0, "path_seconds": 2.0},
        {"cell": "speed-up", "tool": "2 workers", "path_seconds": 1.25},
    ]  # fmt: skip
    time, memory, threads, workers = verdicts(results(tmp_path, rows), "scale")
    assert time.ratio == pytest.approx(1.1)
    assert time.met
    assert memory.ratio == pytest.approx(1.2)
    assert not memory.met
    assert threads.ratio == pytest.approx(1.875)
    assert workers.ratio == pytest.approx(1.6)
    assert workers.note.startswith("processor time")
    assert verdicts(results(tmp_path, rows[:1]), "scale") == []


def test_a_fit_is_measured_in_a_process_of_its_own(tmp_path):
    counts = np.random.default_rng(0).poisson(0.5, (300, 40))
    write_corpus(Corpus(counts), tmp_path / "big")
    done = subprocess.run(
        [sys.executable, str(FOLDER / "scale.py"), str(tmp_path / "big"), "3", "1", "0", "4"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    row = json.loads(done.stdout.splitlines()[-1])
    assert row["tokens"] == counts.sum()
    assert (row["documents"], row["words"], row["components"]) == (300, 40, 3)
    assert row["processor_seconds"] > 0.0
    assert row["path_seconds"] == row["processor_seconds"]
    assert row["peak_bytes"] > 1e7
    assert row["io_bytes"] > 5 * row["entries"]  # counts and words are read in every pass


def test_text_is_made_and_converted(tmp_path):
    import scale

    row = scale._convert(0.3, tmp_path / "text")
    assert row["bytes"] == pytest.approx(3e5, rel=0.1)
    assert row["seconds"] > 0.0
    assert (tmp_path / "text" / "manifest.json").exists()
