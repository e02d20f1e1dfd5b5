# SPDX-License-Identifier: BSD-3-Clause
"""Options that say where a fit runs; fits on workers are in tests/engines."""

import pytest


def test_half_an_answer_is_refused(run, place, tmp_path):
    arguments = ("fit", place / "corpus.discan", "-k", 2, "-o", tmp_path / "m.discan")
    _, err = run(*arguments, "--engine", "dask", code=2)
    assert "discan makes" in err
    _, err = run(*arguments, "--scheduler", "tcp://127.0.0.1:1", code=2)
    assert "--engine dask" in err
    _, err = run(*arguments, "--engine", "spark", code=2)
    assert "threads" in err


def test_a_scheduler_that_is_not_there(fails, place, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="the extra discan[dask] is not installed")
    monkeypatch.setattr("discan.cli.engines.PATIENCE", 1)
    line = fails(
        "fit", place / "corpus.discan", "-k", 2, "-o", tmp_path / "m.discan",
        "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1",
    )  # fmt: skip
    assert "the scheduler tcp://127.0.0.1:1 cannot be reached" in line
    assert not (tmp_path / "m.discan").exists()


def test_dask_that_is_not_installed(fails, place, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    line = fails(
        "fit", place / "corpus.discan", "-k", 2, "-o", tmp_path / "m.discan",
        "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1",
    )  # fmt: skip
    assert "install discan[dask]" in line
