# SPDX-License-Identifier: BSD-3-Clause
"""Names of components: numbers by default, given in several ways, kept in files."""

import numpy as np
import pytest
from conftest import counted, planted

import discan
from discan import InputError
from discan.data.nouns import TEXT
from discan.fitting.modelfile import rename
from discan.fitting.naming import words_by_lift

RNG = np.random.default_rng(3)
COMPONENTS, PROPORTIONS = planted(RNG, (60, 15), 3, 0.2, [0.8, 0.3, 0.1])
X = counted(RNG, np.full(60, 30), PROPORTIONS, COMPONENTS)
WORDS = [f"w{j}" for j in range(15)]


@pytest.fixture(scope="module")
def fit():
    corpus = discan.Corpus(X, word_names=WORDS, nouns=TEXT)
    return discan.LDA(3, algorithm="map", max_iter=30, random_state=0).fit(corpus).fit_


def test_numbers_by_default(fit):
    assert fit.component_names == ("topic 1", "topic 2", "topic 3")
    plain = discan.LDA(2, max_iter=2, random_state=0).fit(X)
    assert plain.component_names_ == ("component 1", "component 2")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({1: "law"}, ("law", "topic 2", "topic 3")),
        ({"3": " sport \n news ", "topic 2": "art"}, ("topic 1", "art", "sport news")),
        (["a", None, ""], ("a", "topic 2", "topic 3")),
        (["topic 1", "b", "topic 3"], ("topic 1", "b", "topic 3")),
        (("x", "x", "x"), ("x", "x (2)", "x (3)")),
        ({1: "topic 2"}, ("topic 2 (2)", "topic 2", "topic 3")),
    ],
)
def test_given(fit, names, expected):
    assert fit.named(names).component_names == expected
    assert fit.component_names == ("topic 1", "topic 2", "topic 3")  # a fit is a value


def test_other_names_stay_and_can_be_taken_away(fit):
    named = fit.named({1: "law", 2: "art"})
    assert named.named({"law": "court"}).component_names == ("court", "art", "topic 3")
    assert named.named({"topic 1": None}).component_names == ("topic 1", "art", "topic 3")
    assert named.named({3: "law"}).component_names == ("law", "art", "law (2)")


def test_a_function_gets_words_lift_and_documents(fit):
    seen = []

    def name(component):
        seen.append(component)
        return f"about {component.words[0].name}" if component.number > 1 else None

    named = fit.named(name)
    assert [c.number for c in seen] == [1, 2, 3]
    assert seen[0].distinctive[0].lift > 1
    assert seen[0].documents[0].share > 0.5
    likeliest = fit.components.argmax(axis=1)
    assert named.component_names == ("topic 1", *(f"about w{j}" for j in likeliest[1:]))


def test_the_plain_default_is_words_by_lift(fit):
    named = fit.named()
    assert named.component_names == tuple(map(words_by_lift, fit.summary()))
    assert all(len(name.split(", ")) == 3 for name in named.component_names)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], "1 names for 3 components"),
        ({4: "a"}, "no component 4; they are numbered 1 to 3"),
        ({0: "a"}, "no component 0"),
        ({"topic": "a"}, "no component 'topic'"),
        ({True: "a"}, "no component True"),
        ({1: 5}, "5 is not a name"),
        (lambda component: 3.5, r"3\.5 is not a name"),
        ({1: "x" * 201}, "201 characters"),
        ("abc", "names cannot be 'abc'"),
        (7, "names cannot be 7"),
    ],
)
def test_refused(fit, names, message):
    with pytest.raises(InputError, match=message):
        fit.named(names)


def test_names_stay_in_the_file(fit, tmp_path):
    estimator = discan.LDA(3, max_iter=5, random_state=0).fit(discan.Corpus(X, nouns=TEXT))
    estimator.name_components({2: "law"})
    estimator.save(tmp_path / "m.discan")
    loaded = discan.load(tmp_path / "m.discan")
    assert loaded.component_names_ == ("topic 1", "law", "topic 3")
    assert list(loaded.get_feature_names_out()) == ["topic 1", "law", "topic 3"]
    before = loaded.transform(X)
    rename(tmp_path / "m.discan", (None, None, "art"), tmp_path / "n.discan")
    other = discan.load(tmp_path / "n.discan")
    assert other.component_names_ == ("topic 1", "topic 2", "art")
    np.testing.assert_array_equal(other.transform(X), before)
    assert other.settings_ == loaded.settings_
    assert discan.load(tmp_path / "m.discan").component_names_ == ("topic 1", "law", "topic 3")


def test_a_function_gets_words_lift_and_typical_texts():
    X = np.kron(np.eye(2, dtype=int), np.full((5, 2), 3))
    texts = [f"text {i}" for i in range(10)]
    corpus = discan.Corpus(X, word_names=list("abcd"), metadata={"excerpt": texts})
    seen = []

    def name(component):
        seen.append(component)
        return f"{component.distinctive[0].name} {component.documents[0].text}"

    model = discan.LDA(2, algorithm="map", max_iter=30, alpha=0.1, random_state=0).fit(corpus)
    model.name_components(name)
    assert [component.number for component in seen] == [1, 2]
    for component, given in zip(seen, model.component_names_, strict=True):
        first = component.documents[0]
        assert first.text == f"text {first.name.split()[-1]}"
        assert component.distinctive[0].lift > 1.5
        assert given.endswith(first.text)
