# SPDX-License-Identifier: BSD-3-Clause
"""A search that was stopped goes on; a folder of another search is refused."""

import numpy as np
import pytest

import discan
from discan.selection import grid

SETTINGS = {"folds": 2, "max_iter": 20, "n_jobs": 1}


def bits(found):
    return found.frame()["bits_per_token"].tolist()


def test_a_stopped_search_goes_on(votes, tmp_path, monkeypatch):
    whole = discan.select_components(votes, (2, 3), **SETTINGS)
    done = []

    def some(job, *others):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(job)
        return original(job, *others)

    original = grid.fitted
    monkeypatch.setattr(grid, "fitted", some)
    with pytest.raises(KeyboardInterrupt):
        discan.select_components(votes, (2, 3), folder=tmp_path / "s", **SETTINGS)
    assert len(list((tmp_path / "s").glob("K*.discan"))) == 3
    done.clear()
    monkeypatch.setattr(grid, "fitted", lambda *given: (done.append(given), original(*given))[1])
    found = discan.select_components(votes, (2, 3), folder=tmp_path / "s", **SETTINGS)
    assert len(done) == 8 - 3
    assert bits(found) == bits(whole)
    assert found.verdict == whole.verdict
    assert found.frame()["stability"].tolist() == whole.frame()["stability"].tolist()


def test_more_can_be_added(votes, tmp_path, caplog):
    caplog.set_level("INFO")
    first = discan.select_components(votes, (2,), folder=tmp_path, **SETTINGS)
    more = discan.select_components(votes, (2, 3), seeds=3, folder=tmp_path, **SETTINGS)
    assert "4 of 12 fits were in the folder" in caplog.text
    both = more.frame().query("K == 2 and seed < 2")["bits_per_token"].tolist()
    assert both == bits(first)


@pytest.mark.parametrize(
    "change",
    [{"folds": 3}, {"max_iter": 21}, {"alpha": 0.1}, {"model": "gp"}, {"protocol": "thinning"}],
    ids=str,
)
def test_other_settings_are_refused(votes, tmp_path, change):
    discan.select_components(votes, (2,), folder=tmp_path, **SETTINGS)
    with pytest.raises(discan.InputError, match="other data or with other settings"):
        discan.select_components(votes, (2,), folder=tmp_path, **{**SETTINGS, **change})


def test_other_data_are_refused(votes, tmp_path):
    discan.select_components(votes, (2,), folder=tmp_path, **SETTINGS)
    with pytest.raises(discan.InputError, match="other data"):
        discan.select_components(votes.select(slice(1, None)), (2,), folder=tmp_path, **SETTINGS)
    with pytest.raises(discan.InputError, match="other data"):
        discan.compare_models(votes, 2, models=["dm"], folder=tmp_path, **SETTINGS)


def test_a_damaged_file_is_fitted_again(votes, tmp_path, caplog):
    first = discan.select_components(votes, (2,), folder=tmp_path, **SETTINGS)
    path = next(tmp_path.glob("K*.discan"))
    path.write_bytes(path.read_bytes()[:-9])
    again = discan.select_components(votes, (2,), folder=tmp_path, **SETTINGS)
    assert "fitted again" in caplog.text
    assert bits(again) == bits(first)
    (tmp_path / "search.json").write_text("{")
    with pytest.raises(discan.InputError, match="damaged"):
        discan.select_components(votes, (2,), folder=tmp_path, **SETTINGS)


def test_unknown_numbers_survive(votes, tmp_path):
    discan.select_components(votes, (2,), folder=tmp_path, **SETTINGS)
    found = discan.select_components(votes, (2,), folder=tmp_path, **SETTINGS)
    assert np.isnan(found.rows[0]["bound"])
