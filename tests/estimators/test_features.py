# SPDX-License-Identifier: BSD-3-Clause
"""Components as features: tf-idf of component-generated word counts."""

import numpy as np
import pandas as pd
import pytest
from conftest import not_repeated
from estimators.test_classifier import X, Y
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import discan
from discan import LDA, Corpus, DCAFeatures, InputError

NAMES = [f"w{j}" for j in range(X.shape[1])]


@parametrize_with_checks(
    [DCAFeatures(), DCAFeatures(3, words=False, model="gp")],
    expected_failed_checks=not_repeated,
    xfail_strict=False,  # a fit of one component passes
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_features_are_weighted_counts_of_words_and_components():
    features = DCAFeatures(4, random_state=0, max_iter=20).fit(X)
    found = features.transform(X)
    assert isinstance(found, sparse.csr_array)
    assert found.shape == (len(X), X.shape[1] + 4)
    assert found.indices.dtype == found.indptr.dtype == np.int32  # or LIBLINEAR refuses them
    dca = LDA(4, random_state=0, max_iter=20).fit(X)
    np.testing.assert_array_equal(features.dca_.components_, dca.components_)
    words = TfidfTransformer().fit_transform(X)
    np.testing.assert_allclose(found[:, : X.shape[1]].toarray(), words.toarray(), rtol=1e-12)
    counts = dca.component_counts(X)
    counts[counts < 0.01] = 0.0
    present = (dca.component_counts_ >= 0.01).sum(axis=0)
    expected = counts * (1.0 + np.log((1 + len(X)) / (1 + present)))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found[:, X.shape[1] :].toarray(), expected, rtol=1e-12)
    assert features.idf_.shape == (X.shape[1] + 4,)


def test_small_components_are_left_out():
    kept = []
    for threshold in (0.0, 0.01, 1.0):
        features = DCAFeatures(
            6, words=False, threshold=threshold, algorithm="map", alpha=0.1, random_state=0,
            max_iter=40,
        )  # fmt: skip
        found = features.fit_transform(X)
        assert found.shape == (len(X), 6)
        kept.append(found.nnz)
    assert kept[0] > kept[1] > kept[2] > 0
    for threshold in (-1, "x", np.nan):
        with pytest.raises(InputError, match="threshold"):
            DCAFeatures(threshold=threshold).fit(X)


def test_names():
    frame = pd.DataFrame(X, columns=NAMES)
    features = DCAFeatures(2, random_state=0, max_iter=3).fit(frame)
    components = ["component 1", "component 2"]
    assert list(features.get_feature_names_out()) == [*NAMES, *components]
    features.set_params(words=False).fit(X)
    assert list(features.get_feature_names_out()) == components
    features.set_params(words=True).fit(X)
    assert list(features.get_feature_names_out())[-3:] == ["x59", *components]
    features.fit(Corpus(X, word_names=NAMES))
    assert list(features.get_feature_names_out())[:2] == NAMES[:2]


def test_set_output():
    frame = pd.DataFrame(X, columns=NAMES)
    features = DCAFeatures(2, random_state=0, max_iter=3).set_output(transform="pandas")
    with pytest.raises(ValueError, match="sparse matrix"):  # as scikit-learn's own vectorisers
        features.fit_transform(frame)


def test_pipeline_with_a_support_vector_machine():
    texts = [
        " ".join(name for name, n in zip(NAMES, row, strict=True) for _ in range(n)) for row in X
    ]
    for words in (True, False):
        pipeline = make_pipeline(
            CountVectorizer(),
            DCAFeatures(8, words=words, random_state=0, max_iter=30),
            LinearSVC(random_state=0),
        )
        assert cross_val_score(pipeline, texts, Y, cv=2).mean() > 0.8


def test_empty_documents_have_no_features_of_words():
    features = DCAFeatures(3, random_state=0, max_iter=5).fit(X)
    found = features.transform(np.zeros((1, X.shape[1]), dtype=int))
    assert found.nnz == 0


def test_not_fitted():
    with pytest.raises(NotFittedError):
        DCAFeatures().transform(X)
    with pytest.raises(NotFittedError):
        DCAFeatures().get_feature_names_out()


@pytest.mark.parametrize("words", [True, False])
def test_save_and_load(tmp_path, words):
    features = DCAFeatures(3, words=words, threshold=0.1, random_state=0, max_iter=10).fit(X)
    features.save(tmp_path / "f.discan")
    loaded = discan.load(tmp_path / "f.discan")
    assert type(loaded) is DCAFeatures
    assert (loaded.words, loaded.threshold) == (words, 0.1)
    np.testing.assert_array_equal(loaded.transform(X).toarray(), features.transform(X).toarray())
    assert list(loaded.get_feature_names_out()) == list(features.get_feature_names_out())
