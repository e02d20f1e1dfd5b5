# SPDX-License-Identifier: BSD-3-Clause
"""Two fits are compared: the same, split, merged, new; words are matched by name."""

import numpy as np
import pytest

import discan
from discan.evaluation.comparison import compare, mixing

RNG = np.random.default_rng(0)
WORDS = [f"w{j}" for j in range(40)]
TOPICS = np.full((4, 40), 1e-4)
for k in range(4):
    TOPICS[k, 10 * k : 10 * k + 10] = RNG.dirichlet(np.full(10, 2.0))
TOPICS /= TOPICS.sum(axis=1, keepdims=True)
COUNTS = RNG.multinomial(60, RNG.dirichlet([0.1] * 4, 150) @ TOPICS)


def fitted(init, counts=COUNTS, words=WORDS, groups=None, **options):
    corpus = discan.Corpus(counts, word_names=words, groups=groups)
    options = {"algorithm": "map", "alpha": 0.1, "max_iter": 1, "init": init} | options
    return discan.LDA(len(init), random_state=0, progress=False, **options).fit(corpus)


@pytest.fixture(scope="module")
def four():
    return fitted(TOPICS)


@pytest.fixture(scope="module")
def three():
    return fitted(np.vstack([TOPICS[2:3], TOPICS[0] + TOPICS[1], TOPICS[3]]))


def test_a_fit_is_the_same_as_itself(four):
    found = compare(four, four)
    assert [row.relation for row in found.relations] == ["same"] * 4
    assert found.similarity == pytest.approx(1, abs=1e-6)
    assert (found.splits, found.merges) == ([], [])
    np.testing.assert_allclose(found.flow, np.diag(four.sizes_), atol=0.01)
    assert found.sentences[0].startswith("4 of 4 matched components are the same")
    assert len(found.sentences) == 1


def test_a_split_is_seen_and_a_merge_from_the_other_side(three, four):
    found = compare(three, four)
    [(whole, parts)] = found.splits
    assert (whole, set(parts)) == (1, {0, 1})
    assert found.merges == []
    assert any("component 2 of the first splits into" in text for text in found.sentences)
    back = compare(four, three)
    [(whole, parts)] = back.merges
    assert (whole, set(parts)) == (1, {0, 1})
    assert any("of the first merge into component 2" in text for text in back.sentences)
    assert dict(found.matching.pairs.tolist()) | {1: None} == {0: 2, 1: None, 2: 3}


def test_the_flow_has_the_sizes_at_its_edges(three, four):
    flow = compare(three, four).flow
    np.testing.assert_allclose(flow.sum(axis=1), three.sizes_, atol=1e-3)
    np.testing.assert_allclose(flow.sum(axis=0), four.sizes_, atol=1e-3)
    assert flow.sum() == pytest.approx(1)


def test_what_only_one_has_is_said():
    a, b = fitted(TOPICS[:3]), fitted(TOPICS[[0, 1, 2, 2]])
    other = np.roll(TOPICS[:1], 5, axis=1)
    b = discan.LDA.from_components(np.vstack([TOPICS[:2], other]))
    a = discan.LDA.from_components(TOPICS[:3])
    found = compare(a, b)
    assert [row.relation for row in found.relations] == ["same", "same", "different"]
    assert any("the second has nothing like component 3" in text for text in found.sentences)
    assert any("the first has nothing like component 3" in text for text in found.sentences)


def test_words_are_matched_by_name_in_any_order(four):
    order = RNG.permutation(40)
    moved = fitted(TOPICS[:, order], COUNTS[:, order], [WORDS[j] for j in order])
    assert compare(four, moved).matching.matched.max() < 0.01
    fewer = fitted(TOPICS[:, :38], COUNTS[:, :38], WORDS[:38])
    found = compare(four, fewer)
    assert found.matching.matched.max() < 0.1
    assert found.sentences[-1].startswith("words that only one of the two knows")


def test_groups_with_names():
    words = [f"q{g}={a}" for g in range(20) for a in "ab"]
    groups = [f"q{g}" for g in range(20) for _ in "ab"]
    answers = RNG.random((3, 20)) < 0.5
    camps = np.stack([np.where(answers, 0.9, 0.1), np.where(answers, 0.1, 0.9)], axis=2)
    camps = camps.reshape(3, 40)
    yes = RNG.random((90, 20)) < camps[np.arange(90) % 3, ::2]
    counts = np.stack([yes, ~yes], axis=2).reshape(90, 40).astype(int)
    one = fitted(camps, counts, words, groups)
    two = fitted(camps[[2, 0, 1], :30], counts[:, :30], words[:30], groups[:30])
    found = compare(one, two)
    assert dict(found.matching.pairs.tolist()) == {0: 1, 1: 2, 2: 0}
    assert found.matching.matched.max() < 0.05


def test_mixing_finds_the_shares_of_a_mixture():
    shares = np.array([[0.7, 0.3, 0, 0], [0, 0, 0.5, 0.5]])
    np.testing.assert_allclose(mixing(shares @ TOPICS, TOPICS), shares, atol=1e-3)


def test_as_dict_is_plain(three, four):
    import json

    found = json.loads(json.dumps(compare(three, four).as_dict()))
    assert found["measure"] == "hellinger"
    assert found["splits"][0]["first"] == "component 2"
    assert np.shape(found["distances"]) == np.shape(found["flow"]) == (3, 4)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (lambda: fitted(TOPICS, words=[f"x{j}" for j in range(40)]), "no word in common"),
        (lambda: discan.LDA.from_components(TOPICS[:, :30]), "without names"),
        (lambda: "model.discan", "must be a fit"),
    ],
)
def test_what_cannot_be_compared_is_refused(four, second, message):
    with pytest.raises(discan.InputError, match=message):
        compare(four, second())
