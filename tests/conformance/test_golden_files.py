# SPDX-License-Identifier: BSD-3-Clause
"""Corpora that each release wrote, as files and as folders, can be read for ever."""

import runpy
from pathlib import Path

import pytest
from golden_files import check_corpus, check_model, check_run

import discan
from discan.algorithms import ALGORITHMS
from discan.fitting.modelfile import load_fit
from discan.models import MODELS

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "corpora"
SCRIPT = ROOT / "scripts" / "make_golden.py"


@pytest.mark.parametrize(
    "name",
    sorted(path.name for path in GOLDEN.glob("*") if path.is_dir()) if GOLDEN.exists() else [],
)
def test_corpora_of_every_release_can_be_read(name):
    check_corpus(GOLDEN / name)


def test_the_script_makes_golden_files(tmp_path, capsys):
    """Files of every kind are small, name no folder of this machine, and can be read again."""
    script = runpy.run_path(str(SCRIPT))
    script["main"]([str(tmp_path / "made")])
    assert "golden files" in capsys.readouterr().out
    release = ".".join(discan.__version__.split(".")[:2])
    files = [path for path in (tmp_path / "made").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    assert not [path for path in files if bytes(tmp_path) in path.read_bytes()]
    for kind, names, check in (
        ("models", script["MODELS"], check_model),
        ("corpora", script["CORPORA"], check_corpus),
        ("runs", script["RUNS"], lambda place: check_run(place, tmp_path / place.name)),
    ):
        for name in names:
            check(tmp_path / "made" / kind / f"{release}-{name}")
    fits = [load_fit(path)[0] for path in (tmp_path / "made" / "models").glob("*.discan")]
    assert {fit.params.model.name for fit in fits} >= {m.name for m in MODELS}
    assert {fit.algorithm.name for fit in fits} >= {algorithm.name for algorithm in ALGORITHMS}
    with pytest.raises(SystemExit, match="never made again"):
        script["main"]([str(tmp_path / "made"), "--only", "full"])
