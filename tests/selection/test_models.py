# SPDX-License-Identifier: BSD-3-Clause
"""Models are compared on the same event, and the winner says something about the data."""

import numpy as np
import pytest

import discan
from discan.data.nouns import TEXT
from discan.selection.jobs import Setting
from discan.selection.measures import Measured
from discan.selection.models import sentences


@pytest.fixture(scope="module")
def compared(text):
    return discan.compare_models(text, 3, folds=2, max_iter=60)


def test_all_models_are_compared(compared):
    assert [row["model"] for row in compared.table] == ["dm", "gp", "cgp", "plsi", "nmf"]
    assert compared.best in compared.close
    assert f"{compared.best} predicts best" in compared.verdict
    assert list(compared.frame().columns[:3]) == ["model", "seed", "fold"]
    assert len(compared.frame()) == 5 * 2 * 2
    assert set(compared.to_dict()) == {"best", "close", "verdict", "table"}
    assert compared.protocol == "completion"


def test_priors_help_where_tokens_are_few(compared):
    bits = {row["model"]: row["bits"] for row in compared.table}
    assert bits["dm"] < bits["plsi"]
    assert "Priors help" in compared.verdict


def test_one_component_is_the_same_for_all(text):
    """With one component all models with priors predict the same words from the same tokens."""
    found = discan.compare_models(
        text, 1, models=["dm", "gp"], folds=2, seeds=1, max_iter=40, gamma=0.5, learn=()
    )
    bits = [row["bits"] for row in found.table]
    assert bits[0] == pytest.approx(bits[1], rel=1e-3)
    assert found.baseline == pytest.approx(bits[0], rel=0.01)


def says(bits, error=0.01, baseline=9.0, learnt=None):
    """Sentences on models whose paired differences have this standard error."""
    names = list(bits)
    rows = np.array(list(bits.values()))
    # pairs of models differ by noise of the error that is asked for, whichever they are
    noise = np.random.default_rng(0).normal(0, error * 10 / np.sqrt(2), (len(rows), 100))
    noise -= noise.mean(axis=1, keepdims=True)
    settings = tuple(Setting(name, {"n_components": 3}) for name in names)
    measured = Measured(
        settings, rows, np.full(len(rows), error), np.full(len(rows), np.nan), baseline, 100.0,
        rows[:, None] + noise, np.ones(100), np.zeros(len(rows)),
    )  # fmt: skip
    return " ".join(sentences(names, measured, ["dm"], TEXT, learnt or {}))


def test_what_the_winner_says():
    text = says({"dm": 5.0, "gp": 4.0, "cgp": 3.0}, learnt={"cgp": {"rho": 0.7}})
    assert "cgp predicts best: 3.0000 bits per held-out word" in text
    assert "Amounts predict better than shares, by 2 ± 0.01: totals matter" in text
    assert "Exact zeros help, by 1 ± 0.01: scores are sparse" in text
    assert "probability 0.70" in text
    text = says({"dm": 4.0, "gp": 4.5, "cgp": 5.0, "plsi": 6.0, "nmf": 5.0})
    assert "Shares predict better than amounts, by 0.5" in text
    assert "Exact zeros hurt, by 0.5" in text
    assert "Priors help, by up to 2" in text
    text = says({"dm": 4.0, "gp": 4.001, "cgp": 4.001, "plsi": 4.0, "nmf": 4.0})
    assert "Shares and amounts predict about as well" in text
    assert "Exact zeros make no difference" in text
    assert "Priors make no difference" in text
    text = says({"dm": 4.0, "gp": 5.0}, baseline=4.01)
    assert "no model predicts clearly better than one distribution" in text
    assert "totals" not in text


def test_the_models_come_in_one_order(text):
    found = discan.compare_models(text, 2, models=["nmf", "DM", "dm"], folds=1, max_iter=5)
    assert [row["model"] for row in found.table] == ["dm", "nmf"]


@pytest.mark.parametrize(
    ("models", "message"), [(["lda2vec"], "models"), ([], "no model"), (3, "names of models")]
)
def test_wrong_models(text, models, message):
    with pytest.raises(discan.InputError, match=message):
        discan.compare_models(text, 2, models=models)
