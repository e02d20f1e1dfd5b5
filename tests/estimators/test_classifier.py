# SPDX-License-Identifier: BSD-3-Clause
"""The classifier keeps scikit-learn's contract, and tells classes apart."""

import json
import pickle

import numpy as np
import oracle
import pandas as pd
import pytest
from conftest import not_repeated
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks
from typer.testing import CliRunner

import discan
from discan import DCA, Collapsed, Corpus, DCAClassifier, InputError
from discan.cli import app


def texts(n_documents=240, n_words=60, seed=0):
    """Counts of three kinds of documents, each a mix of two subjects, and their kinds."""
    rng = np.random.default_rng(seed)
    subjects = rng.dirichlet(np.full(n_words, 0.1), 6)
    kinds = rng.integers(3, size=n_documents)
    mixes = np.zeros((n_documents, 6))
    for i, kind in enumerate(kinds):
        mixes[i, 2 * kind : 2 * kind + 2] = rng.dirichlet([0.8, 0.8])
    mixes = 0.8 * mixes + 0.2 / 6
    lengths = rng.poisson(40, n_documents) + 1
    shares = mixes @ subjects
    counts = np.vstack([rng.multinomial(n, p) for n, p in zip(lengths, shares, strict=True)])
    return counts, np.array(["law", "sport", "money"])[kinds]


X, Y = texts()
TRAIN, TEST = slice(0, 160), slice(160, 240)


@parametrize_with_checks(
    [
        DCAClassifier(),
        DCAClassifier(4, model="gp", weight=2),
    ],
    expected_failed_checks=not_repeated,
    xfail_strict=False,  # a fit of one component passes
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
@pytest.mark.parametrize("algorithm", ["map", "variational", "collapsed"])
def test_kinds_of_texts_are_told_apart(model, algorithm):
    if (model, algorithm) == ("cgp", "map"):
        pytest.skip("has no such estimate")
    chosen = Collapsed(burn_in=40, n_draws=20) if algorithm == "collapsed" else algorithm
    classifier = DCAClassifier(
        8, model=model, algorithm=chosen, weight=5, random_state=0, max_iter=60
    ).fit(X[TRAIN], Y[TRAIN])
    assert list(classifier.classes_) == ["law", "money", "sport"]
    assert classifier.components_.shape == (8, 60)
    np.testing.assert_allclose(classifier.label_components_.sum(axis=1), 1.0)
    chances = classifier.predict_proba(X[TEST])
    assert chances.shape == (80, 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert classifier.score(X[TEST], Y[TEST]) > 0.8


def test_probabilities_are_exact():
    """A fitted classifier's probabilities, by enumeration of a short document."""
    w = np.zeros(60, dtype=int)
    w[[3, 7, 20]] = [2, 1, 2]
    for model in ("dm", "gp", "cgp"):
        classifier = DCAClassifier(
            2, model=model, algorithm=Collapsed(burn_in=3, n_draws=1), random_state=0
        ).fit(X, Y)
        dca = classifier.dca_
        given = {"alpha": dca.alpha_, "beta": dca.beta_, "rho": dca.rho_}
        prior = oracle.Prior(model, **{k: v for k, v in given.items() if v is not None})
        theta = dca.components_.T
        # one label at the mean exposure of one label
        exposure = len(X) / X.sum() if model != "dm" else 1.0
        expected = oracle.label_probabilities(
            prior, w, theta[:60], theta[60:], label_exposure=exposure
        )
        np.testing.assert_allclose(classifier.predict_proba([w])[0], expected, rtol=1e-9)


def test_digits():
    counts, labels = load_digits(return_X_y=True)
    counts, labels = counts[:900], labels[:900]
    classifier = DCAClassifier(40, weight=30, random_state=0, max_iter=60, n_jobs=2)
    classifier.fit(counts[:600], labels[:600])
    assert classifier.score(counts[600:], labels[600:]) > 0.75
    assert classifier.classes_.dtype == labels.dtype


def test_iris_as_a_survey():
    """Each measurement is a question with four answers, short to long."""
    table, labels = load_iris(return_X_y=True)
    answers = KBinsDiscretizer(4, encode="onehot", quantile_method="averaged_inverted_cdf")
    counts = answers.fit_transform(table)
    classifier = DCAClassifier(6, groups=np.repeat(np.arange(4), 4), weight=3, random_state=0)
    assert cross_val_score(classifier, counts, labels, cv=3).mean() > 0.9


def test_weight_makes_components_keep_to_the_classes():
    pure = []
    for weight in (1, 50):
        classifier = DCAClassifier(6, weight=weight, random_state=0, max_iter=60).fit(X, Y)
        sizes = classifier.dca_.component_counts_.sum(axis=0)
        pure.append(np.average(classifier.label_components_.max(axis=1), weights=sizes))
    assert pure[1] > pure[0]
    for weight in (0, 1.5, "x", True):
        with pytest.raises(InputError, match="weight"):
            DCAClassifier(weight=weight).fit(X, Y)


def test_labels_are_tokens_of_a_group_of_their_own():
    weight = 3
    classifier = DCAClassifier(4, weight=weight, random_state=0, max_iter=10).fit(X, Y)
    _, codes = np.unique(Y, return_inverse=True)
    table = np.hstack([X, weight * np.eye(3, dtype=int)[codes]])
    by_hand = DCA(4, groups=[0] * 60 + [1] * 3, random_state=0, max_iter=10, learn=()).fit(table)
    np.testing.assert_array_equal(classifier.dca_.components_, by_hand.components_)
    table[:, 60:] = 0
    np.testing.assert_array_equal(
        classifier.predict_proba(X), by_hand.predict_group_proba(table, 1)
    )


def test_gamma_poisson_labels_do_not_change_lengths():
    classifier = DCAClassifier(3, model="gp", weight=7, random_state=0, max_iter=60).fit(X, Y)
    plain = DCA(3, model="gp", random_state=0, max_iter=60).fit(X)
    assert classifier.dca_.scores_.sum() == pytest.approx(plain.scores_.sum(), rel=0.02)


# ---- in company ----


def test_forms_and_names():
    classifier = DCAClassifier(4, random_state=0, max_iter=10).fit(X, Y)
    expected = classifier.predict_proba(X[TEST])
    for form in (sparse.csr_matrix, sparse.csc_array, Corpus, np.asarray):
        other = DCAClassifier(4, random_state=0, max_iter=10).fit(form(X), list(Y))
        np.testing.assert_array_equal(other.predict_proba(form(X[TEST])), expected)
    names = [f"w{j}" for j in range(60)]
    frame = pd.DataFrame(X, columns=names)
    named = DCAClassifier(4, random_state=0, max_iter=10).fit(frame, pd.Series(Y))
    assert list(named.feature_names_in_) == names
    assert named.dca_.fit_.layout.word_names[-3:] == ("law", "money", "sport")
    assert named.dca_.fit_.layout.group_names == ("0", "label")
    np.testing.assert_array_equal(named.predict_proba(frame[TEST]), expected)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame[names[::-1]])


def test_groups_of_the_words():
    groups = np.repeat([0, 1], 30)
    exposures = np.ones((len(X), 2))
    for model in ("dm", "gp"):
        given = DCAClassifier(4, model=model, groups=groups, random_state=0, max_iter=20).fit(X, Y)
        corpus = Corpus(X, groups=groups, exposures=exposures)
        same = DCAClassifier(4, model=model, random_state=0, max_iter=20).fit(corpus, Y)
        np.testing.assert_allclose(same.predict_proba(corpus), given.predict_proba(X))
        assert given.dca_.fit_.layout.n_groups == 3


def test_given_components_and_priors_are_for_the_words():
    init = np.random.default_rng(0).dirichlet(np.ones(60), 3)
    classifier = DCAClassifier(3, init=init, gamma=np.full(60, 0.2), random_state=0).fit(X, Y)
    assert classifier.score(X, Y) > 0.5
    np.testing.assert_allclose(classifier.dca_.gamma_[[0, -1]], [0.2, 0.5])  # a mean over draws


def test_fractions_are_counts_too():
    classifier = DCAClassifier(6, weight=5, random_state=0, max_iter=40).fit(X / 3, Y)
    assert classifier.score(X / 3, Y) > 0.8


def test_pipeline_grid_search_and_copies():
    pipeline = make_pipeline(FunctionTransformer(), DCAClassifier(random_state=0, max_iter=20))
    grid = {"dcaclassifier__n_components": [1, 8], "dcaclassifier__weight": [5]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, Y)
    assert search.best_params_["dcaclassifier__n_components"] == 8
    classifier = search.best_estimator_[-1]
    copy = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(copy.predict_proba(X), classifier.predict_proba(X))
    again = clone(classifier).fit(X, Y)
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))


def test_threads_do_not_matter():
    answers = [
        DCAClassifier(4, random_state=0, max_iter=10, n_jobs=n).fit(X, Y).predict_proba(X).tobytes()
        for n in (1, 2)
    ]
    assert answers[0] == answers[1]


def test_parameters():
    # an engine works on corpus folders, which have no labels
    not_here = {"warm_start", "checkpoint", "checkpoint_every", "engine"}
    shared = set(DCA().get_params()) - not_here
    assert set(DCAClassifier().get_params()) == shared | {"weight"}
    assert DCAClassifier(7, weight=2).get_params()["n_components"] == 7
    with pytest.raises(TypeError):
        DCAClassifier(nonsense=1)
    with pytest.raises(TypeError):
        DCAClassifier(7, "gp")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y"), (Y[:-1], "240 rows"), (np.linspace(0, 1, 240), "Unknown label"),
        (np.full(240, np.nan), "NaN"),
    ],
)  # fmt: skip
def test_bad_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        DCAClassifier(max_iter=2).fit(X, labels)


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, "b"],
        np.array(["a", np.nan, "b"], dtype=object),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype="category"),
    ],
    ids=["None", "NaN", "NA", "category"],
)
def test_a_missing_label_is_found(labels):
    with pytest.raises(InputError, match="no label in row 1"):
        DCAClassifier(2).fit(np.ones((3, 4)), labels)


def test_labels_of_several_kinds():
    labels = np.array(["a", 1, "b"], dtype=object)
    with pytest.raises(InputError, match="text and numbers"):
        DCAClassifier(2).fit(np.ones((3, 4)), labels)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        DCAClassifier().predict(X)


def test_one_class():
    classifier = DCAClassifier(2, max_iter=5, random_state=0).fit(X, np.zeros(len(X)))
    np.testing.assert_array_equal(classifier.predict(X), np.zeros(len(X)))


# ---- files ----


@pytest.mark.parametrize(
    "labels",
    [Y, Y.astype(object), (Y == "law"), (Y == "law") + 3, np.where(Y == "law", 0.0, -2.0)],
    ids=["text", "objects", "bool", "int", "float"],
)
@pytest.mark.parametrize("model", ["dm", "gp"])
def test_save_and_load(tmp_path, labels, model):
    frame = pd.DataFrame(X, columns=[f"w{j}" for j in range(60)])
    classifier = DCAClassifier(3, model=model, weight=2, max_iter=10, groups=np.arange(60) % 2)
    classifier.fit(frame, labels).save(tmp_path / "c.discan")
    loaded = discan.load(tmp_path / "c.discan")
    assert type(loaded) is DCAClassifier
    assert loaded.classes_.dtype == classifier.classes_.dtype
    assert loaded.predict(frame).tolist() == classifier.predict(frame).tolist()
    np.testing.assert_array_equal(loaded.predict_proba(frame), classifier.predict_proba(frame))
    np.testing.assert_array_equal(loaded.label_components_, classifier.label_components_)
    assert list(loaded.feature_names_in_) == list(frame.columns)
    assert (loaded.weight, loaded.n_iter_, loaded.n_features_in_) == (2, classifier.n_iter_, 60)
    again = loaded.fit(frame, labels)  # the seed was kept
    np.testing.assert_array_equal(again.components_, classifier.components_)


def test_save_refuses_what_it_cannot_keep(tmp_path):
    with pytest.raises(NotFittedError):
        DCAClassifier().save(tmp_path / "c.discan")


def test_the_command_line_reads_it(tmp_path):
    frame = pd.DataFrame(X, columns=[f"w{j}" for j in range(60)])
    DCAClassifier(6, weight=5, random_state=0, max_iter=40).fit(frame, Y).save(
        tmp_path / "c.discan"
    )
    frame[TEST].to_csv(tmp_path / "new.csv", index_label="document")
    runner = CliRunner()
    for command in (["show"], ["info"]):
        assert runner.invoke(app, [*command, f"{tmp_path}/c.discan"]).exit_code == 0
    done = runner.invoke(
        app,
        ["predict", f"{tmp_path}/c.discan", f"{tmp_path}/new.csv", "--group", "label", "--json"],
    )
    said = [row["prediction"] for row in json.loads(done.stdout)]
    assert np.mean(np.array(said) == Y[TEST]) > 0.8
