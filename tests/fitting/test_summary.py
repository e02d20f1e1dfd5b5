# SPDX-License-Identifier: BSD-3-Clause
"""What sets a component apart: of text by lift, of questions by the most telling answers."""

import numpy as np
import pytest

import discan
from discan.data.layout import Layout
from discan.data.nouns import VOTES
from discan.fitting.summary import fields_of

RNG = np.random.default_rng(0)


def roll_calls(n_members=60, n_calls=12):
    """Two blocs that agree on most calls, and are opposed in the last three."""
    yes = np.full((2, n_calls), 0.97)
    yes[0, -3:], yes[1, -3:] = 0.95, 0.05
    bloc = np.arange(n_members) % 3 == 0
    yea = RNG.random((n_members, n_calls)) < yes[bloc.astype(int)]
    counts = np.stack([yea, ~yea], axis=2).reshape(n_members, -1).astype(int)
    titles = [f"call {n}" for n in range(n_calls)]
    return discan.Corpus(
        counts, groups=np.repeat(titles, 2),
        word_names=[f"{title}={answer}" for title in titles for answer in ("yea", "nay")],
        document_names=[f"m{i}" for i in range(n_members)], nouns=VOTES,
    )  # fmt: skip


@pytest.fixture(scope="module")
def votes():
    return discan.MPCA(2, algorithm="map", alpha=0.1, random_state=0).fit(roll_calls()).fit_


def test_votes_that_all_blocs_cast_alike_set_none_apart(votes):
    first, second = votes.summary(3)
    contested = {"call 9", "call 10", "call 11"}
    for component, answer in ((first, "yea"), (second, "nay")):
        assert component.words == []  # the likeliest answers are those of all blocs
        assert {word.name.partition("=")[0] for word in component.distinctive} == contested
        assert {word.name.partition("=")[2] for word in component.distinctive} == {answer}
        for word in component.distinctive:
            assert word.probability > 0.8
            assert word.others < 0.2
    assert first.name == "bloc 1"
    assert first.size > second.size


def test_at_most_one_answer_of_a_question(votes):
    for component in votes.summary(20):
        questions = [word.name.partition("=")[0] for word in component.distinctive]
        assert len(set(questions)) == len(questions)
        assert all(word.probability > word.others for word in component.distinctive)


def test_the_others_are_the_rest_of_the_data(votes):
    [first, second] = votes.summary(20)
    for word in first.distinctive:
        j = votes.layout.word_names.index(word.name)
        np.testing.assert_allclose(word.probability, votes.components[0, j])
        np.testing.assert_allclose(word.others, votes.components[1, j])
        overall = first.size * word.probability + second.size * word.others
        np.testing.assert_allclose(word.overall, overall)


def test_one_component_is_not_apart():
    fit = discan.MPCA(1, algorithm="map", max_iter=3, random_state=0).fit(roll_calls()).fit_
    [component] = fit.summary()
    assert component.distinctive == []


def test_rare_answers_do_not_come_first():
    """An answer that one person gave is likelier here than elsewhere, but says little."""
    counts = np.zeros((40, 6), dtype=int)
    counts[:20, 0] = counts[20:, 1] = 1  # a question that parts them
    counts[:20, 3] = counts[20:, 3] = 1
    counts[0, 3], counts[0, 2] = 0, 1  # one answer of one person
    counts[:, 4] = 1
    corpus = discan.Corpus(counts, groups=[0, 0, 1, 1, 2, 2], word_names=list("abcdef"))
    fit = discan.MPCA(2, algorithm="map", alpha=0.1, random_state=0).fit(corpus).fit_
    firsts = {component.distinctive[0].name for component in fit.summary()}
    assert firsts == {"a", "b"}


@pytest.mark.parametrize(
    ("sizes", "totals", "fields"),
    [
        ([2, 2, 2], [1, 1, 1], []),  # votes
        ([12, 9, 14], [2, 2, 2], []),  # microsatellites
        ([3_000, 30_000], [6, 150], [0, 1]),  # title and body
        ([30_000, 20], [150, 1], [0]),  # text and a label
        ([40, 30], [9, 4], [0, 1]),  # fields of a small corpus
        ([8, 8], [3, 3], []),  # several answers to a question
        ([200] * 9, [1] * 9, []),  # more lists than one would read
    ],
)
def test_fields_and_questions(sizes, totals, fields):
    groups = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    layout = Layout(len(groups), groups, len(sizes))
    found, questions = fields_of(layout, np.array(totals, dtype=float))
    assert [name for name, _ in found] == [f"group {g}" for g in fields]
    for (_, columns), g in zip(found, fields, strict=True):
        np.testing.assert_array_equal(columns, np.flatnonzero(groups == g))
    np.testing.assert_array_equal(questions, np.flatnonzero(~np.isin(groups, fields)))


def test_each_field_of_text_has_its_own_lists():
    counts = RNG.poisson(np.kron(np.eye(2), np.full((20, 30), 0.8)) + 0.05)
    fields = np.where(np.arange(60) % 3 == 0, "title", "body")
    corpus = discan.Corpus(counts, groups=fields, word_names=[f"{f}:{j}" for j, f in
                                                              enumerate(fields)])  # fmt: skip
    fit = discan.MPCA(2, algorithm="map", max_iter=40, random_state=0).fit(corpus).fit_
    for component in fit.summary(4):
        for words in (component.words, component.distinctive):
            assert [word.field for word in words] == ["title"] * 4 + ["body"] * 4
            assert all(word.name.startswith(f"{word.field}:") for word in words)
        lift = [word.lift for word in component.distinctive[:4]]
        assert lift == sorted(lift, reverse=True)


def test_deviations_are_added_on_request():
    X = RNG.poisson(1.0, (40, 10))
    chain = discan.Collapsed(burn_in=5, n_draws=10)
    fit = discan.LDA(2, algorithm=chain, random_state=0).fit(X).fit_
    for component in fit.summary(sd=True):
        k = component.number - 1
        word = component.words[0]
        assert word.sd == fit.components_sd[k, int(word.name.split()[1])]
        document = component.documents[0]
        assert document.sd == fit.scores_sd[int(document.name.split()[1]), k]
    assert "sd" in component.as_dict()["by_probability"][0]
    [first, *_] = fit.summary()
    assert first.words[0].sd is None
    assert "sd" not in first.as_dict()["by_probability"][0]
