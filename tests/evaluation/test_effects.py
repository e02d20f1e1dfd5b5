# SPDX-License-Identifier: BSD-3-Clause
"""Effects: intervals hold what they claim to, and say what they cover."""

import logging
import re

import numpy as np
import pytest
from scipy import stats

import discan
from discan import InputError
from discan.evaluation.effects import Means, effects


def test_known_shares_give_the_t_interval():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1, 2, 3], 20)
    group = np.repeat([0, 1], [12, 8])
    found = Means.of([shares], group, 2)
    centre, low, high = found.estimate(np.eye(2), 0.9, "population")
    for g in range(2):
        own = shares[group == g]
        expected = stats.t.interval(0.9, len(own) - 1, own.mean(0), stats.sem(own))
        np.testing.assert_allclose([low[g], high[g]], expected)
        np.testing.assert_allclose(centre[g], own.mean(0))
    difference, low, high = (a[0] for a in found.estimate(np.array([[1.0, -1]]), 0.9, "population"))
    welch = stats.ttest_ind(shares[:12], shares[12:], equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose([low, high], welch)
    np.testing.assert_allclose(difference, shares[:12].mean(0) - shares[12:].mean(0))


def test_draws_add_their_variance():
    """With noisy measurements the variance of a mean is (s^2 + e^2) / n, both parts found."""
    rng = np.random.default_rng(1)
    n, n_draws, s, e = 400, 4000, 1.0, 2.0
    seen = rng.normal(0, np.hypot(s, e), n)
    seen = (seen - seen.mean()) / seen.std() * np.hypot(s, e)
    weight = s**2 / (s**2 + e**2)
    draws = []
    for _ in range(n_draws):  # the exact posterior of the true values, their mean unknown
        centre = rng.normal(seen.mean(), np.hypot(s, e) / np.sqrt(n))
        sd = np.sqrt(weight) * e
        draws.append(rng.normal(weight * seen + (1 - weight) * centre, sd)[:, None])
    found = Means.of(draws, np.zeros(n, dtype=int), 1)
    for of, variance in (("population", (s**2 + e**2) / n), ("documents", e**2 / n)):
        _, low, high = found.estimate(np.eye(1), 0.9, of)
        reach = float(high[0, 0] - low[0, 0]) / 2
        assert reach == pytest.approx(stats.norm.ppf(0.95) * np.sqrt(variance), rel=0.05)


@pytest.mark.parametrize("n", [3, 30])
def test_intervals_hold_the_truth_as_often_as_they_say(n):
    rng = np.random.default_rng(2)
    alpha = np.array([2.0, 3.0, 5.0])
    hits = []
    for _ in range(600):
        found = Means.of([rng.dirichlet(alpha, n)], np.zeros(n, dtype=int), 1)
        _, low, high = found.estimate(np.eye(1), 0.9, "population")
        hits.append((low[0] <= alpha / 10) & (alpha / 10 <= high[0]))
    assert np.mean(hits) == pytest.approx(0.9, abs=0.03)


def test_what_is_uncertain_in_both_cancels_in_a_contrast():
    rng = np.random.default_rng(3)
    shares = rng.dirichlet([1, 1], 40)
    draws = [shares + shift for shift in rng.normal(0, 0.5, 50)]
    found = Means.of(draws, np.repeat([0, 1], 20), 2)
    _, low, high = found.estimate(np.eye(2), 0.9, "population")
    assert (high - low > 1).all()
    _, low, high = found.estimate(np.array([[1.0, -1.0]]), 0.9, "population")
    plain = Means.of([shares], np.repeat([0, 1], 20), 2).estimate(
        np.array([[1.0, -1.0]]), 0.9, "population"
    )
    np.testing.assert_allclose(high - low, plain[2] - plain[1], rtol=0.05)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(4)
    loadings = np.array([[5, 3, 2, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 4, 4, 2]])
    loadings /= loadings.sum(axis=1, keepdims=True)
    parties = ["D"] * 20 + ["R"] * 20 + ["I", None]
    shares = [rng.dirichlet([4, 1] if party == "D" else [1, 4]) for party in parties]
    counts = np.array([rng.multinomial(30, share @ loadings) for share in shares])
    years = [2000.0 + i % 4 for i in range(41)] + [np.nan]
    return discan.Corpus(counts, metadata={"party": parties, "year": years, "text": ["x"] * 42})


def fitted(corpus, **settings):
    return discan.DCA(2, random_state=0, progress=False, **settings).fit(corpus)


@pytest.fixture(scope="module")
def point(corpus):
    return fitted(corpus, algorithm="map", alpha=0.5, max_iter=30)


@pytest.fixture(scope="module")
def chain(corpus):
    sampler = discan.Collapsed(burn_in=20, n_draws=20, keep_draws=True)
    return fitted(corpus, algorithm=sampler, alpha=0.5)


def test_labels_of_a_point_estimate(point):
    found = effects(point.fit_, "party")
    assert found.labels == ["D", "I", "R"]
    assert found.n_documents.tolist() == [20, 1, 20]
    assert found.n_missing == 1
    np.testing.assert_allclose(found.mean[0], point.proportions_[:20].mean(axis=0))
    assert np.isnan(found.low[1]).all()
    assert np.isfinite(found.mean[1]).all()
    assert "only; their shares are taken as known (no draws were kept)" in found.covers
    assert (found.low[[0, 2]] >= 0).all()


def test_draws_make_intervals_wider(chain):
    found = effects(chain.fit_, "party")
    assert "the posterior by 20 draws" in found.covers
    documents = effects(chain.fit_, "party", of="documents")
    assert "these documents only" in documents.covers
    wide, narrow = found.high - found.low, documents.high - documents.low
    assert (wide[[0, 2]] > narrow[[0, 2]]).all()
    assert (narrow > 0).all()  # also of the single document
    again = effects(chain.fit_, "party")
    np.testing.assert_array_equal(found.low, again.low)
    pair = found.contrast("D", "R")
    assert pair.apart.all()
    np.testing.assert_allclose(pair.difference, found.mean[0] - found.mean[2])
    other = found.contrast("R", "D")
    np.testing.assert_allclose(other.low, -pair.high)


def test_draws_of_amounts_are_used_where_they_are_draws_of_shares(corpus):
    sampler = discan.Collapsed(burn_in=5, n_draws=5, keep_draws=True)
    settings = {"model": "gp", "algorithm": sampler, "alpha": 0.5, "learn": ()}
    same = fitted(corpus, beta=1.0, **settings)
    assert "5 draws" in effects(same.fit_, "party").covers
    differ = fitted(corpus, beta=[1.0, 2.0], **settings)
    assert "differ in beta or rho" in effects(differ.fit_, "party").covers


def test_periods(point):
    found = effects(point.fit_, time="year")
    assert found.labels == ["2000", "2001", "2002", "2003"]
    assert found.period == ""
    assert found.n_missing == 1
    found = effects(point.fit_, time=["2001-03-01"] * 21 + ["2003-05-01"] * 21)
    assert np.isnan(found.mean[1:-1]).all()
    assert np.isfinite(found.high[[0, -1]]).all()


def test_a_frame(point, chain, caplog):
    with caplog.at_level(logging.INFO, "discan"):
        table = point.effects("party", library="pandas")
    assert "intervals of 90 % cover the sampling of documents only" in caplog.text
    assert table.index.name == "party"
    assert list(table.columns) == ["component", "documents", "mean", "low", "high"]
    assert len(table) == 6
    assert table.groupby(level=0)["mean"].sum().to_numpy() == pytest.approx(1)
    pair = chain.effects("party", contrast=("D", "R"), level=0.5, library="pandas")
    assert list(pair.columns) == ["difference", "low", "high"]
    wider = chain.effects("party", contrast=("D", "R"), level=0.99, library="pandas")
    assert (wider["high"] - wider["low"] > pair["high"] - pair["low"]).all()
    own = point.effects([1, 2] * 21, library="polars")
    assert own.columns[0] == "label"


def test_bad_input_is_refused(point):
    for call, message in (
        (lambda: point.effects("nosuch"), "labels='nosuch' is not a column"),
        (lambda: point.effects(), "either labels or time"),
        (lambda: point.effects("party", time="year"), "either labels or time"),
        (lambda: point.effects(["a"] * 3), "expected (42,)"),
        (lambda: point.effects(time="text"), "no dates that can be read, e.g. 'x'"),
        (lambda: point.effects("party", contrast=("D", "X")), "contrast='X' is not among"),
        (lambda: point.effects("party", contrast=("D", "D")), "given twice"),
        (lambda: point.effects("party", contrast="DR"), "give two labels"),
        (lambda: point.effects("party", level=1.0), "level=1.0"),
        (lambda: point.effects("party", of="documents"), "no draws were kept"),
        (lambda: point.effects("party", of="all"), "of='all'"),
        (lambda: point.effects([None] * 42), "has no values"),
        (lambda: discan.LDA.from_components(np.eye(3)).effects("a"), "were given"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            call()
