# SPDX-License-Identifier: BSD-3-Clause
"""Unusual documents are found, and tail probabilities of the model's own documents are uniform."""

import numpy as np
import pytest

import discan
from discan import DCA
from discan.evaluation.anomalies import find_anomalies
from discan.evaluation.simulation import Simulator

COMPONENTS = np.array([[6, 5, 4, 1, 1, 1], [1, 1, 1, 4, 5, 6]]) / 18


def known(model="dm", **more):
    return DCA.from_components(COMPONENTS, model=model, alpha=0.3, random_state=4, **more)


def drawn(estimator, n, total=20, seed=0):
    fit = estimator.fit_
    simulator = Simulator(fit.params.model, fit.mean_loadings, fit.layout)
    return simulator.documents(n, np.array([total]), np.ones(1), [seed])


@pytest.mark.parametrize(
    ("model", "more"), [("dm", {}), ("gp", {"beta": 0.05}), ("cgp", {"beta": 0.05, "rho": 0.3})]
)
def test_tail_probabilities_are_uniform(model, more):
    """Under the model, P(tail <= x) is x at x = 1/20, 2/20, ..."""
    estimator = known(model, **more)
    # documents of one total share their simulations, so each gets a seed of its own
    fit = estimator.fit_
    found = []
    for n in range(300):
        fit.settings["seed"] = 1000 + n
        found.append(find_anomalies(fit, drawn(estimator, 1, seed=n), n_simulated=19).tail[0])
    found = np.array(found)
    assert found.min() >= 1 / 20
    # ties, as of empty documents, only make the largest ones larger
    for x in (0.05, 0.1, 0.25, 0.5):
        assert abs((found <= x + 1e-9).mean() - x) < 4 * np.sqrt(x * (1 - x) / 300)


def test_a_planted_document_is_first():
    estimator = known()
    X = drawn(estimator, 30).to_csr().toarray()
    X[7] = [0, 10, 0, 0, 0, 10]  # repeats two words; the others of their components are absent
    X[9] *= 3  # longer, and as usual as before
    X[11] = 0
    table = estimator.anomalies(X, n_simulated=99)
    assert table["number"].tolist()[0] == 7
    assert table["tail probability"].iloc[0] <= 0.05
    assert sorted(table["number"]) == list(range(30))
    assert table["tail probability"].is_monotonic_increasing
    empty = table[table["number"] == 11].iloc[0]
    assert empty["tail probability"] == 1.0
    assert np.isnan(empty["nats per token"])
    by = estimator.anomalies(X, 5, by="likelihood", n_simulated=9)
    assert len(by) == 5
    assert by["nats per token"].is_monotonic_increasing
    assert by["nats per token"].iloc[0] == np.nanmin(table["nats per token"])
    polars = estimator.anomalies(X, 2, n_simulated=9, library="polars")
    assert polars.columns[:2] == ["document", "number"]


def test_the_length_counts_for_amounts():
    estimator = known("gp", beta=0.5)  # documents of about one token
    X = np.array([[1, 0, 0, 0, 0, 0], [6, 5, 4, 1, 1, 1]])
    table = estimator.anomalies(X, n_simulated=199)
    assert table["number"].tolist() == [1, 0]
    assert table["tail probability"].tolist()[0] < 0.02


def test_unlikely_words_have_their_names():
    corpus = discan.Corpus([[9, 9, 9, 0, 0, 1]], word_names=list("abcdef"))
    estimator = known()
    found = find_anomalies(estimator.fit_, corpus, n_simulated=9)
    # of one token each, f is the most unlikely in a document of a, b and c
    single = find_anomalies(
        estimator.fit_, discan.Corpus([[1, 1, 1, 0, 0, 1]]), n_simulated=9
    ).words[0]
    assert single[0] == 5
    assert set(found.words[0]) <= {0, 1, 2, 5}


def test_fractions_are_refused():
    with pytest.raises(discan.InputError, match="whole counts"):
        known().anomalies(np.full((2, 6), 0.5))
    with pytest.raises(discan.InputError, match="'tail', 'likelihood'"):
        known().anomalies(np.ones((2, 6), int), by="x")
