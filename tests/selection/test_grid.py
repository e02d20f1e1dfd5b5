# SPDX-License-Identifier: BSD-3-Clause
"""All fits are done, errors come out, remarks of single fits do not."""

import threading

import pytest

import discan
from discan.selection import grid

SETTINGS = {"folds": 2, "max_iter": 5}


def test_an_error_of_a_fit_comes_out(votes, monkeypatch):
    def broken(*given):
        raise discan.InputError("this fit is broken")

    monkeypatch.setattr(grid, "fitted", broken)
    with pytest.raises(discan.InputError, match="this fit is broken"):
        discan.select_components(votes, (2, 3), n_jobs=2, **SETTINGS)


def test_remarks_of_single_fits_are_left_out(votes, caplog):
    caplog.set_level("INFO")
    discan.DCA(39, max_iter=5, random_state=0).fit(votes)
    assert "components" in caplog.text  # a remark on too many components
    remark = caplog.messages[0]
    caplog.clear()
    discan.select_components(votes, (2, 39), n_jobs=2, **SETTINGS)
    assert remark not in caplog.messages


def test_few_fits_share_the_threads(votes, monkeypatch):
    seen = []

    def noting(job, fold, corpus, n_threads, stopped):
        seen.append((n_threads, threading.current_thread().name))
        return original(job, fold, corpus, n_threads, stopped)

    original = grid.fitted
    monkeypatch.setattr(grid, "fitted", noting)
    one = discan.select_components(votes, (2,), seeds=1, n_jobs=4, folds=1, max_iter=5)
    assert [n for n, _ in seen] == [4]
    seen.clear()
    many = discan.select_components(votes, (2, 3), seeds=2, n_jobs=2, folds=1, max_iter=5)
    assert [n for n, _ in seen] == [1] * 4
    assert one.rows[0]["bits_per_token"] == many.rows[0]["bits_per_token"]


def test_a_progress_bar_counts_the_fits(votes, capsys):
    discan.select_components(votes, (2,), n_jobs=1, progress=True, **SETTINGS)
    shown = capsys.readouterr().err
    assert "4/4" in shown
    assert "left:" in shown
