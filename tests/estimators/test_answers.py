# SPDX-License-Identifier: BSD-3-Clause
"""Names, lists and data frames of a fitted estimator."""

import importlib.util

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import counted, planted
from sklearn.exceptions import NotFittedError

import discan
from discan import Corpus, InputError
from discan.data.nouns import Nouns

RNG = np.random.default_rng(5)
COMPONENTS, PROPORTIONS = planted(RNG, (50, 18), 3, 0.2, [0.9, 0.4, 0.2])
X = counted(RNG, np.full(50, 40), PROPORTIONS, COMPONENTS)
WORDS = [f"w{j}" for j in range(18)]
PEOPLE = [f"p{i}" for i in range(50)]
PARTY = np.array(["D", "R"] * 25, dtype=object)


@pytest.fixture(scope="module")
def estimator():
    corpus = Corpus(
        X, word_names=WORDS, document_names=PEOPLE, metadata={"party": PARTY, "age": range(50)},
        nouns=Nouns("senator", "vote", "bloc"),
    )  # fmt: skip
    return discan.LDA(3, algorithm="map", max_iter=40, random_state=0).fit(corpus)


NAMES = ["bloc 1", "bloc 2", "bloc 3"]


def test_sizes(estimator):
    np.testing.assert_allclose(estimator.sizes_, estimator.component_counts_.sum(axis=0) / X.sum())
    assert (np.diff(estimator.sizes_) <= 0).all()
    assert estimator.sizes_.sum() == pytest.approx(1.0)


def test_top_words(estimator):
    found = estimator.top_words(4)
    assert list(found) == NAMES
    for row, words in zip(estimator.components_, found.values(), strict=True):
        assert words == [WORDS[j] for j in np.argsort(-row, kind="stable")[:4]]
    by_lift = estimator.top_words(2, by="lift")
    lift = estimator.components_ / (estimator.sizes_ @ estimator.components_)
    for k, words in enumerate(by_lift.values()):
        assert all(lift[k, WORDS.index(word)] > 1 for word in words)
    with pytest.raises(InputError, match="by='x'; use one of 'probability', 'lift'"):
        estimator.top_words(by="x")
    with pytest.raises(InputError, match="n=0"):
        estimator.top_words(0)


def test_perplexity(estimator):
    assert estimator.perplexity(X[:20]) == np.exp(-estimator.score(X[:20]))
    assert 1 < estimator.perplexity(X[:20]) < 18


def test_frames_of_pandas(estimator):
    words = estimator.components_frame("pandas")
    assert isinstance(words, pd.DataFrame)
    assert (words.index.name, list(words.index), list(words.columns)) == ("vote", WORDS, NAMES)
    np.testing.assert_array_equal(words.to_numpy(), estimator.components_.T)
    scores = estimator.scores_frame("pandas")
    assert (scores.index.name, list(scores.index), list(scores.columns)) == (
        "senator", PEOPLE, NAMES,
    )  # fmt: skip
    np.testing.assert_array_equal(scores.to_numpy(), estimator.scores_)
    documents = estimator.documents_frame("pandas")
    assert list(documents.columns) == ["party", "age", "largest bloc", "largest share", *NAMES]
    assert list(documents["party"]) == list(PARTY)
    np.testing.assert_array_equal(documents["age"], np.arange(50))
    main = estimator.proportions_.argmax(axis=1)
    assert list(documents["largest bloc"]) == [NAMES[k] for k in main]
    np.testing.assert_array_equal(documents["largest share"], estimator.proportions_.max(axis=1))
    np.testing.assert_array_equal(documents[NAMES].to_numpy(), estimator.proportions_)


def test_frames_of_polars(estimator):
    for method, noun, names in (
        ("components_frame", "vote", WORDS),
        ("scores_frame", "senator", PEOPLE),
        ("documents_frame", "senator", PEOPLE),
    ):
        mine = getattr(estimator, method)("polars")
        theirs = getattr(estimator, method)("pandas")
        assert isinstance(mine, pl.DataFrame)
        assert mine.columns == [noun, *theirs.columns]
        assert mine[noun].to_list() == names
        for column in theirs.columns:
            assert mine[column].to_list() == theirs[column].to_list()


@pytest.mark.parametrize(
    ("installed", "expected"), [(("pandas", "polars"), pd), (("polars",), pl), (("pandas",), pd)]
)
def test_the_library_that_is_installed(estimator, monkeypatch, installed, expected):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec",
        lambda name: find(name) if name in installed else None,
    )  # fmt: skip
    assert isinstance(estimator.scores_frame(), expected.DataFrame)


def test_no_library(estimator, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="install pandas or polars"):
        estimator.documents_frame()
    with pytest.raises(InputError, match="library='dask'; use one of 'pandas', 'polars'"):
        estimator.documents_frame("dask")


def test_columns_of_one_name():
    corpus = Corpus(
        X, metadata={"component 1": range(50), "document": range(50), "largest share": range(50)}
    )
    estimator = discan.LDA(2, max_iter=3, random_state=0).fit(corpus)
    for library in ("pandas", "polars"):
        columns = list(estimator.documents_frame(library).columns)
        assert len(set(columns)) == len(columns)
        assert "component 1 (metadata)" in columns


def test_names_everywhere(estimator):
    named = discan.LDA(3, algorithm="map", max_iter=5, random_state=0).fit(X)
    assert named.name_components(["a", "b", "c"]) is named
    assert list(named.get_feature_names_out()) == ["a", "b", "c"]
    assert list(named.components_frame().columns) == ["a", "b", "c"]
    assert list(named.set_output(transform="pandas").transform(X).columns) == ["a", "b", "c"]
    assert [component.name for component in named.fit_.summary()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "method",
    ["name_components", "top_words", "components_frame", "scores_frame", "documents_frame"],
)
def test_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(discan.LDA(), method)()


@pytest.mark.parametrize("method", ["recommend", "perplexity", "transform_sd"])
def test_new_documents_need_a_fit(method):
    with pytest.raises(NotFittedError):
        getattr(discan.LDA(), method)(X)


@pytest.mark.parametrize(
    "cls",
    [discan.LDA, discan.MPCA, discan.NMF, discan.PLSI, discan.GaP, discan.ConditionalGaP,
     discan.DCAClassifier, discan.DCAFeatures, discan.DCA],
)  # fmt: skip
def test_the_docstring_explains_every_parameter_and_result(cls):
    text = cls.__doc__
    listed = text.partition("Parameters\n")[2].partition("Attributes\n")[0]
    described = {
        name.strip()
        for line in listed.splitlines()
        if " : " in line and not line.startswith("        ")
        for name in line.split(" : ")[0].split(",")
    }
    assert set(cls().get_params()) <= described
    if issubclass(cls, discan.DCA):
        for name in ("components_", "sizes_", "component_names_", "scores_", "converged_"):
            assert f"\n{name}" in text.replace("    ", "") or f", {name}" in text
        assert f"discan.{cls.__name__}(2, random_state=0)" in text
    assert text.count("Parameters\n") == text.count("Attributes\n") == 1
