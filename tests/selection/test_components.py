# SPDX-License-Identifier: BSD-3-Clause
"""How many components: the true number is found, or the data are said not to decide."""

import dataclasses

import numpy as np
import pytest

import discan
from discan.errors import InputError
from discan.selection import components


def contains(found, truth):
    """Whether the verdict names the true K: the best, the smallest, or one of the flat part."""
    low, high = found.flat or (found.best, found.best)
    return truth in (found.best, found.smallest) or low <= truth <= high


@pytest.mark.parametrize("kind", ["text", "votes", "genotypes"])
def test_the_true_number_is_found(makers, kind):
    truth = 3
    corpus = makers[kind](np.random.default_rng(5), truth)
    found = discan.select_components(corpus, range(1, 6), folds=2, max_iter=100)
    assert contains(found, truth), found.verdict
    assert found.best > 1  # one component is not enough, and the verdict sees it
    assert found.flat is None or found.flat[0] > 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("truth", [2, 4, 6])
@pytest.mark.parametrize("kind", ["text", "votes", "genotypes"])
def test_the_true_number_is_found_often(makers, kind, truth, seed):
    corpus = makers[kind](np.random.default_rng(100 * truth + seed), truth, 200)
    found = discan.select_components(corpus, range(1, 10), folds=5)
    assert contains(found, truth), found.verdict


def test_without_components_it_is_said():
    counts = np.random.default_rng(0).multinomial(50, np.full(30, 1 / 30), 60)
    found = discan.select_components(counts, (1, 2, 3), folds=2, max_iter=60)
    assert "no components in these data" in found.verdict
    assert found.smallest == 1


def test_the_result_has_all_parts(searched):
    assert set(searched.to_dict()) == {"best", "smallest", "flat", "verdict", "table"}
    assert "optimal" not in searched.verdict.lower()
    assert str(searched) == searched.verdict
    assert f"K = {searched.best} predicts best" in searched.verdict
    assert [row["K"] for row in searched.table] == [1, 2, 3, 5]
    best = min(searched.table, key=lambda row: row["bits"])
    assert best["K"] == searched.best
    assert best["gap"] == best["gap_error"] == 0.0
    assert all(row["gap_error"] > 0 for row in searched.table if row is not best)
    assert searched.protocol == "entries"
    assert searched.unit == "bits per held-out word"
    assert searched.plot().layout.meta["best"] == searched.best


def test_the_frame_is_tidy(searched):
    frame = searched.frame("pandas")
    assert list(frame.columns) == [
        "K", "seed", "fold", "bits_per_token", "bound", "evidence", "stability", "coherence",
        "seconds", "cycles", "converged",
    ]  # fmt: skip
    assert len(frame) == 4 * 2 * 3
    assert len(frame.drop_duplicates(["K", "seed", "fold"])) == len(frame)
    assert frame["evidence"].isna().all()
    assert frame["coherence"].between(-1, 1).all()
    assert frame["stability"].between(0, 1).all()
    means = frame.groupby("K")["bits_per_token"].mean()
    table = {row["K"]: row["bits"] for row in searched.table}
    np.testing.assert_allclose(means, [table[k] for k in means.index], rtol=0.01)
    assert len(searched.frame("polars")) == len(frame)


def test_same_bits_on_any_number_of_threads(votes, searched):
    again = discan.select_components(votes, (5, 2, 1, 3), folds=3, max_iter=60, n_jobs=1)
    names = ["K", "seed", "fold", "bits_per_token", "stability"]
    assert searched.frame()[names].equals(again.frame()[names])
    assert again.verdict == searched.verdict


def test_one_algorithm_for_all_sizes(text, caplog):
    caplog.set_level("INFO")
    found = discan.select_components(text, (1, 2), folds=2, max_iter=20, n_jobs=1)
    assert set(found.frame()["cycles"]) == {20}
    assert "completion" in caplog.text
    assert "8 fits by collapsed: 2 K x 2 starts x 2 folds" in caplog.text
    assert found.frame()["coherence"].between(-1, 1).all()


def test_a_variational_fit_has_a_bound(text):
    found = discan.select_components(
        text, (2, 3), folds=1, seeds=1, max_iter=20, algorithm="variational", n_jobs=1
    )
    assert (found.frame()["bound"] < 0).all()
    assert "One start per K" in found.verdict
    assert found.frame()["stability"].isna().all()


def test_amounts_are_thinned(text):
    found = discan.select_components(text, (1, 3), folds=2, model="gp", max_iter=40, n_jobs=1)
    assert found.protocol == "thinning"
    assert found.best == 3


def test_fractions_can_be_held_out(text):
    halves = text.with_counts(text.counts / 2.0)
    found = discan.select_components(halves, (1, 3), folds=2, max_iter=30, n_jobs=1)
    assert found.protocol == "completion"
    assert found.best == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"components": []}, "no number of components"),
        ({"components": [0, 2]}, "at least 1"),
        ({"components": None}, "range"),
        ({"seeds": 0}, "seeds"),
        ({"folds": 0}, "folds"),
        ({"folds": 10**6}, "fewer folds"),
        ({"protocol": "magic"}, "protocol"),
        ({"protocol": "entries"}, "groups"),
        ({"alfa": 1.0}, "'alfa' is not an option"),
        ({"n_components": 3}, "'n_components' is not an option"),
    ],
)
def test_wrong_settings(text, settings, message):
    settings = {"components": [2], "max_iter": 5, **settings}
    with pytest.raises(discan.InputError, match=message):
        discan.select_components(text, **settings)


def test_more_folds_than_documents_are_refused(text):
    few = text.select(slice(0, 2))
    with pytest.raises(discan.InputError, match="fewer folds"):
        discan.select_components(few, [1], folds=3, max_iter=5)


def test_every_argument_is_documented():
    text = components.select_components.__doc__
    for name in ("protocol", "seeds", "folds", "folder", "max_iter", "n_jobs", "progress"):
        assert f"{name} :" in text
    fields = {field.name for field in dataclasses.fields(discan.selection.Selection)}
    assert {"best", "smallest", "flat", "verdict", "table", "rows"} <= fields


def test_learning_the_number_is_one_candidate(votes, tmp_path):
    """The verdict is on the numbers; what "auto" does is said after it."""
    how = {"folds": 2, "seeds": 1, "max_iter": 60, "n_jobs": 1, "folder": tmp_path / "search"}
    plain = discan.select_components(votes, (1, 3), **how)
    found = discan.select_components(votes, ("auto", 3, 1), **how)
    assert [row["K"] for row in found.table] == [1, 3, "auto"]
    assert (found.best, found.smallest, found.flat) == (plain.best, plain.smallest, plain.flat)
    assert found.verdict.startswith(plain.verdict)
    text = found.verdict[len(plain.verdict) :]
    own = [row["n_components"] for row in found.rows if row["K"] == "auto"]
    assert f'"auto" uses {min(own)}' in text
    bits = {row["K"]: row["bits"] for row in found.table}
    assert bits["auto"] < bits[1] - 0.01  # it finds components
    assert f"K = {found.best}" in text
    assert list(found.frame("pandas")["K"]) == ["1", "1", "3", "3", "auto", "auto"]
    assert "auto: K is learnt" in [trace.name for trace in found.plot().data]


def test_auto_alone_is_no_search(votes):
    with pytest.raises(InputError, match="no number of components to try"):
        discan.select_components(votes, "auto")
