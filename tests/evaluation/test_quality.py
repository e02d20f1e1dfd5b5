# SPDX-License-Identifier: BSD-3-Clause
"""Quality of components: exclusivity, lift, documents, dead components and twins."""

import numpy as np
import pytest

import discan
from discan.evaluation.quality import (
    dead_components,
    effective_documents,
    exclusivity,
    first_words,
    lift,
    quality,
)

RNG = np.random.default_rng(0)
# three topics of ten words each, and ten that all share
TOPICS = np.zeros((3, 40))
for k in range(3):
    TOPICS[k, 10 * k : 10 * k + 10] = 0.08
    TOPICS[k, 30:] = 0.02
COUNTS = RNG.multinomial(60, RNG.dirichlet([0.1] * 3, 120) @ TOPICS)


def fitted(init, **options):
    options = {"algorithm": "map", "alpha": 0.1, "max_iter": 1, "init": init} | options
    return discan.LDA(len(init), random_state=0, progress=False, **options).fit(COUNTS)


@pytest.fixture(scope="module")
def topics():
    return fitted(TOPICS + 1e-9)


def test_first_words_of_text_are_the_likeliest(topics):
    for k, words in enumerate(first_words(topics.fit_)):
        assert set(words) == set(range(10 * k, 10 * k + 10))


def test_first_words_of_votes_are_telling_and_of_different_questions():
    yes = np.full((2, 6), 0.97)
    yes[0, 4:], yes[1, 4:] = 0.95, 0.05
    yea = RNG.random((60, 6)) < yes[np.arange(60) % 2]
    counts = np.stack([yea, ~yea], axis=2).reshape(60, -1).astype(int)
    fit = discan.MPCA(2, algorithm="map", groups=np.repeat(np.arange(6), 2), random_state=0)
    for words in first_words(fit.fit(counts).fit_, 4):
        questions = [word // 2 for word in words]
        assert len(set(questions)) == 4
        assert set(questions[:2]) == {4, 5}


def test_measures_by_hand(topics):
    fit = topics.fit_
    lists = [np.array([0, 30])] * 3
    share = fit.components[:, [0, 30]] / fit.components[:, [0, 30]].sum(axis=0)
    np.testing.assert_allclose(exclusivity(fit, lists), share.mean(axis=1))
    overall = fit.sizes @ fit.components
    lifts = fit.components[:, [0, 30]] / overall[[0, 30]]
    np.testing.assert_allclose(lift(fit, lists), np.exp(np.log(lifts).mean(axis=1)))


def test_effective_documents():
    counts = np.array([[3, 0, 5, 0], [3, 0, 0, 0], [3, 4, 0, 0]])
    np.testing.assert_allclose(effective_documents(counts), [3, 1, 1, 0])


def test_good_components_are_not_flagged(topics):
    rows = quality(topics.fit_, discan.Corpus(COUNTS))
    for row in rows:
        assert row.flags == ""
        assert row.npmi > 0.1
        assert row.u_mass <= 0.1
        assert row.exclusivity > 0.9
        assert row.lift > 2
        assert 20 < row.documents < 120
        assert row.distance > 0.5


def test_twins_are_flagged_and_name_each_other():
    fit = fitted(np.vstack([TOPICS, TOPICS[:1]]) + 1e-9).fit_
    rows = quality(fit)
    assert [row.flags for row in rows] == ["twin", "", "", "twin"]
    assert rows[0].nearest == rows[3].component
    assert rows[3].nearest == rows[0].component
    assert rows[0].npmi is None


def test_dead_components_are_flagged():
    wider = np.pad(TOPICS + 1e-9, ((0, 1), (0, 1)))
    wider[3, 40] = 1.0  # a word that no document has
    model = discan.PLSI(4, init=wider, max_iter=3, progress=False)
    fit = model.fit(np.pad(COUNTS, ((0, 0), (0, 1)))).fit_
    assert [row.flags for row in quality(fit)] == ["", "", "", "dead"]
    assert dead_components(np.array([0.0, 100.0])).tolist() == [True, False]


def test_one_component_has_no_nearest():
    [row] = quality(fitted(TOPICS[:1] + 1e-3).fit_)
    assert (row.nearest, row.distance, row.flags) == ("", 1.0, "")
    assert row.exclusivity == pytest.approx(1)


def test_frame(topics):
    frame = topics.quality(COUNTS)
    assert list(frame.index) == list(topics.component_names_)
    assert {"size", "npmi", "u_mass", "exclusivity", "lift", "documents", "flags"} <= set(frame)
    assert "npmi" not in topics.quality()
    assert np.isfinite(frame.select_dtypes("number").to_numpy()).all()


def test_given_components_have_no_quality():
    with pytest.raises(discan.InputError, match="given"):
        quality(discan.LDA.from_components(TOPICS + 1e-9).fit_)
