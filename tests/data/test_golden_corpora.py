# SPDX-License-Identifier: BSD-3-Clause
"""Corpora that each release wrote, as files and as folders, can be read for ever."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import discan
from discan.data.folders.corpus import open_corpus
from discan.data.store import load_corpus

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "corpora"
SCRIPT = ROOT / "scripts" / "make_golden.py"


def check(place):
    """The file and the folder hold the counts and the digest that were noted."""
    expected = json.loads(place.with_name(f"{place.name}.json").read_text())
    for corpus in (
        load_corpus(place.with_name(f"{place.name}.discan")),
        open_corpus(place).loaded(),
    ):
        assert corpus.digest == expected["digest"]
        np.testing.assert_array_equal(corpus.to_csr().toarray(), expected["X"])


@pytest.mark.parametrize(
    "name",
    sorted(path.name for path in GOLDEN.glob("*") if path.is_dir()) if GOLDEN.exists() else [],
)
def test_corpora_of_every_release_can_be_read(name):
    check(GOLDEN / name)


def test_the_script_makes_golden_files(tmp_path, capsys):
    main = runpy.run_path(str(SCRIPT))["main"]
    main([str(tmp_path), "--only", "lda-map", "map", "full", "plain"])
    release = ".".join(discan.__version__.split(".")[:2])
    assert "golden files" in capsys.readouterr().out
    for name in ("full", "plain"):
        check(tmp_path / "corpora" / f"{release}-{name}")
    model = discan.load(tmp_path / "models" / f"{release}-lda-map.discan")
    expected = json.loads((tmp_path / "models" / f"{release}-lda-map.json").read_text())
    np.testing.assert_array_equal(model.transform(np.array(expected["X"])), expected["transform"])
    run = tmp_path / "runs" / f"{release}-map"
    whole = np.load(run / "expected.npz")
    np.testing.assert_array_equal(discan.resume(run).trace_["objective"], whole["objective"])
    with pytest.raises(SystemExit, match="never made again"):
        main([str(tmp_path), "--only", "full"])
