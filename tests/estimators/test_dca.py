# SPDX-License-Identifier: BSD-3-Clause
"""Estimators keep scikit-learn's contract, and take the same table in any form."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import cells, not_repeated
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import discan
from discan import (
    DCA,
    LDA,
    MPCA,
    NMF,
    PLSI,
    Collapsed,
    ConditionalGaP,
    Corpus,
    DiscanError,
    GaP,
    Gibbs,
    InputError,
)
from discan.algorithms.auto import CHAIN
from discan.engines.threads import Threads
from discan.models import MODELS
from discan.readers.datasets import load_senate2005

PRESETS = [NMF, PLSI, LDA, MPCA, GaP, ConditionalGaP]
SHORT = {"gibbs": Gibbs(burn_in=5, n_draws=5), "collapsed": Collapsed(burn_in=5, n_draws=5)}
CELLS = cells(lambda algorithm: algorithm.name)


def planted(n_documents=120, n_words=24, n_components=3, length=60, seed=0):
    """Counts of documents that mix a few components with words of their own."""
    rng = np.random.default_rng(seed)
    components = rng.dirichlet(np.full(n_words // n_components, 2.0), n_components)
    components = np.vstack(
        [np.roll(np.pad(row, (0, n_words - row.size)), k * row.size)
         for k, row in enumerate(components)]
    )  # fmt: skip
    proportions = rng.dirichlet(np.full(n_components, 0.3), n_documents)
    lengths = rng.poisson(length, n_documents) + 1
    return np.vstack(
        [rng.multinomial(n, p) for n, p in zip(lengths, proportions @ components, strict=True)]
    )


X = planted()
FEW = X[:6]  # samplers take their time over every new document


def make(model="dm", algorithm="variational", **params):
    params = {"n_components": 3, "random_state": 0, "max_iter": None, "learn": (), **params}
    if algorithm not in SHORT and params["max_iter"] is None:
        params["max_iter"] = 15
    return DCA(model=model, algorithm=SHORT.get(algorithm, algorithm), **params)


def fitted_bits(estimator):
    arrays = (estimator.components_, estimator.component_counts_, estimator.scores_)
    return b"".join(array.tobytes() for array in arrays)


# ---- scikit-learn's contract ----


@parametrize_with_checks(
    [
        DCA(),
        NMF(),
        PLSI(),
        LDA(),
        MPCA(),
        GaP(),
        ConditionalGaP(n_components=2, max_iter=10),
    ],
    expected_failed_checks=not_repeated,
    xfail_strict=False,  # a fit of one component passes
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", [DCA, *PRESETS])
def test_parameters(cls):
    given = {"n_components": 4, "gamma": 0.1, "learn": ("alpha",), "random_state": 3}
    estimator = cls(**given)
    assert given.items() <= estimator.get_params().items()
    copy = clone(estimator)
    assert type(copy) is cls
    assert copy.get_params() == estimator.get_params()
    copy.set_params(n_components=7, tol=0.5)
    assert (copy.n_components, copy.tol) == (7, 0.5)
    assert estimator.n_components == 4
    with pytest.raises(ValueError, match="Invalid parameter"):
        copy.set_params(nonsense=1)
    with pytest.raises(TypeError):
        cls(nonsense=1)
    assert repr(estimator).startswith(f"{cls.__name__}(")
    assert "n_components=4" in repr(estimator)


@pytest.mark.parametrize("cls", PRESETS)
def test_presets_fix_the_model(cls):
    assert "model" not in cls().get_params()
    assert set(cls().get_params()) == set(DCA().get_params()) - {"model"}
    with pytest.raises(TypeError):
        cls(model="gp")
    with pytest.raises(ValueError, match="Invalid parameter"):
        cls().set_params(model="gp")


@pytest.mark.parametrize(
    ("cls", "model", "algorithm"),
    [
        (NMF, "gp", "ml"),
        (PLSI, "dm", "ml"),
        (LDA, "dm", CHAIN),
        (MPCA, "dm", CHAIN),
        (GaP, "gp", CHAIN),
        (ConditionalGaP, "cgp", CHAIN),
    ],
)
def test_presets_are_dca(cls, model, algorithm):
    preset = cls(3, max_iter=5, random_state=0).fit(X)
    plain = DCA(3, model=model, algorithm=algorithm, max_iter=5, random_state=0).fit(X)
    assert fitted_bits(preset) == fitted_bits(plain)
    assert "\n" in repr(preset) or repr(preset).startswith(cls.__name__)


def test_init_checks_nothing():
    DCA(n_components="many", model=3, algorithm=None, alpha="x", learn=7, init=object())


@pytest.mark.parametrize(
    "method",
    [
        "transform",
        "component_counts",
        "prob_absent",
        "log_likelihood",
        "score",
        "inverse_transform",
    ],
)
def test_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(DCA(model="cgp"), method)(X)


# ---- in company ----


def test_pipeline_on_digits():
    counts, labels = load_digits(return_X_y=True)
    counts, labels = counts[:400], labels[:400]
    pipeline = make_pipeline(
        FunctionTransformer(np.rint),
        GaP(12, max_iter=30, random_state=0),
        LogisticRegression(max_iter=2000),
    )
    pipeline.fit(counts[:300], labels[:300])
    assert pipeline.score(counts[300:], labels[300:]) > 0.6
    assert list(pipeline[1].get_feature_names_out()) == [f"component {k}" for k in range(1, 13)]


def test_grid_search_on_a_corpus():
    """Cross-validation indexes a corpus by rows, with names, groups, exposures and metadata."""
    rng = np.random.default_rng(0)
    exposures = rng.uniform(0.5, 2.0, (12, 2))
    corpus = discan.Corpus(
        rng.poisson(2.0, (12, 6)), groups=[0, 0, 0, 1, 1, 1], exposures=exposures,
        document_names=[f"d{i}" for i in range(12)], metadata={"n": np.arange(12)},
    )  # fmt: skip
    seen = []

    class Spy(discan.GaP):
        def fit(self, X, y=None):
            seen.append(X)
            return super().fit(X, y)

    spy = Spy(max_iter=3, random_state=0)
    grid = GridSearchCV(spy, {"n_components": [1, 2]}, cv=3, error_score="raise")
    found = grid.fit(corpus).best_estimator_
    assert len(seen) == 7
    for part in seen:
        rows = part.metadata["n"].astype(int)
        assert part.document_names == tuple(f"d{i}" for i in rows)
        assert np.array_equal(part.exposures, exposures[rows])
        assert part.n_groups == 2
    assert found.fit_.metadata["n"].tolist() == list(range(12))


def test_grid_search_by_score():
    search = GridSearchCV(
        LDA(max_iter=30, random_state=0), {"n_components": [1, 3]}, cv=3, error_score="raise"
    )
    search.fit(X)
    assert search.best_params_ == {"n_components": 3}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(("kind", "module"), [("pandas", pd), ("polars", pl)])
def test_set_output(kind, module):
    estimator = LDA(3, max_iter=5, random_state=0).fit(X)
    plain = estimator.transform(X)
    frame = estimator.set_output(transform=kind).transform(X)
    assert isinstance(frame, module.DataFrame)
    assert list(frame.columns) == ["component 1", "component 2", "component 3"]
    assert frame.to_numpy().tobytes() == plain.tobytes()


def test_set_output_keeps_the_index():
    table = pd.DataFrame(X, index=[f"d{i}" for i in range(len(X))]).rename(columns=str)
    frame = LDA(3, max_iter=5, random_state=0).set_output(transform="pandas").fit_transform(table)
    assert list(frame.index) == list(table.index)


# ---- one table, many forms ----

NAMES = [f"w{j}" for j in range(X.shape[1])]
FORMS = {
    "int32": lambda: X.astype(np.int32),
    "float64": lambda: X.astype(np.float64),
    "fortran": lambda: np.asfortranarray(X),
    "list": lambda: X.tolist(),
    "csr_matrix": lambda: sparse.csr_matrix(X),
    "csr_array": lambda: sparse.csr_array(X),
    "csc": lambda: sparse.csc_array(X),
    "coo": lambda: sparse.coo_array(X),
    "pandas": lambda: pd.DataFrame(X, columns=NAMES),
    "pandas-sparse": lambda: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=NAMES),
    "polars": lambda: pl.DataFrame(X, schema=NAMES),
    "corpus": lambda: Corpus(X),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("algorithm", ["variational", "gibbs"])
def test_same_bits_from_any_form(form, algorithm):
    expected = make(algorithm=algorithm).fit(X)
    table = FORMS[form]()
    estimator = make(algorithm=algorithm).fit(table)
    assert fitted_bits(estimator) == fitted_bits(expected)
    assert estimator.n_features_in_ == X.shape[1]
    if algorithm == "variational":
        assert estimator.transform(table).tobytes() == expected.transform(X).tobytes()
        assert estimator.score(table) == expected.score(X)


def test_feature_names():
    frame = pd.DataFrame(X, columns=NAMES)
    estimator = make().fit(frame)
    assert list(estimator.feature_names_in_) == NAMES
    assert list(estimator.get_feature_names_out()) == ["component 1", "component 2", "component 3"]
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(frame.rename(columns={"w0": "other"}))
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(frame[NAMES[::-1]])
    estimator.fit(X)
    assert not hasattr(estimator, "feature_names_in_")


def test_feature_names_are_forgotten_when_a_corpus_is_fitted():
    estimator = make().fit(pd.DataFrame(X, columns=NAMES))
    estimator.fit(Corpus(X[:, :10]))
    assert len(getattr(estimator, "feature_names_in_", range(10))) == 10


def test_input_is_left_alone():
    table = sparse.csr_array(X.astype(np.float64))
    before = [a.tobytes() for a in (table.data, table.indices, table.indptr)]
    make().fit(table).transform(table)
    assert [a.tobytes() for a in (table.data, table.indices, table.indptr)] == before
    frozen = X.copy()
    frozen.flags.writeable = False
    make().fit(frozen).transform(frozen)


# ---- every cell ----


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_fit_and_answers(model, algorithm):
    estimator = make(model, algorithm).fit(X)
    n_documents, n_words = X.shape
    assert estimator.components_.shape == (3, n_words)
    np.testing.assert_allclose(estimator.components_.sum(axis=1), 1.0, rtol=1e-9)
    assert estimator.component_counts_.shape == (n_documents, 3)
    np.testing.assert_allclose(estimator.component_counts_.sum(axis=1), X.sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(estimator.proportions_.sum(axis=1), 1.0, rtol=1e-9)
    transformed = estimator.transform(FEW)
    assert transformed.shape == (len(FEW), 3)
    assert np.isfinite(transformed).all()
    assert (transformed >= 0).all()
    normalised = MODELS.find(model).normalised
    if normalised:
        np.testing.assert_allclose(transformed.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(
        estimator.component_counts(FEW).sum(axis=1), FEW.sum(axis=1), rtol=1e-6
    )
    expected = estimator.inverse_transform(transformed)
    assert expected.shape == FEW.shape
    np.testing.assert_allclose(expected, transformed @ estimator.components_)
    if not normalised:  # expected counts: they add up to about the counts that were seen
        assert expected.sum() == pytest.approx(FEW.sum(), rel=0.1)
    with pytest.raises(InputError):
        estimator.inverse_transform(np.ones((2, 4)))


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_pickle_keeps_the_bits(model, algorithm):
    estimator = make(model, algorithm, warm_start=True).fit(X)
    copy = pickle.loads(pickle.dumps(estimator))
    assert fitted_bits(copy) == fitted_bits(estimator)
    assert copy.transform(FEW).tobytes() == estimator.transform(FEW).tobytes()
    assert copy.score(FEW) == estimator.score(FEW)
    assert copy.settings_ == estimator.settings_
    assert list(copy.trace_) == list(estimator.trace_)


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_from_components(model, algorithm):
    fitted = make(model, algorithm).fit(X)
    prior = {
        name: getattr(fitted, f"{name}_")
        for name in ("alpha", "beta", "rho")
        if getattr(fitted, f"{name}_") is not None and np.all(getattr(fitted, f"{name}_") > 0)
    }
    if algorithm == "maximum-likelihood" and model == "gp":
        prior = {"beta": 1.0}
    if fitted.fit_.params.model.levels > 1:  # the parents are part of the model
        prior, model = {}, replace(fitted.fit_.params.model, alpha=None)
    ready = DCA.from_components(
        5.0 * fitted.components_, model=model, algorithm=algorithm, random_state=0, **prior
    )
    np.testing.assert_allclose(ready.components_, fitted.components_, rtol=1e-12)
    assert ready.transform(FEW).shape == (len(FEW), 3)
    # a fitted q(Theta) also weighs how uncertain it is, so it need not agree to the last digit
    loose = 0.05 * ready.transform(FEW).max() if algorithm == "variational" else 1e-8
    np.testing.assert_allclose(ready.transform(FEW), fitted.transform(FEW), atol=loose, rtol=1e-6)
    assert np.isfinite(ready.score(FEW))
    assert ready.inverse_transform(ready.transform(FEW)).shape == FEW.shape


@pytest.mark.parametrize("cls", PRESETS)
def test_from_components_of_presets(cls):
    components = np.eye(3, 6) + 0.1
    prior = {"beta": 1.0} if cls in (NMF, GaP, ConditionalGaP) else {}
    estimator = cls.from_components(components, **prior)
    assert type(estimator) is cls
    assert estimator.n_components == 3
    assert estimator.n_features_in_ == 6
    scores = estimator.transform(np.array([[9, 0, 0, 0, 0, 0], [0, 9, 0, 0, 0, 0]]))
    assert list(scores.argmax(axis=1)) == [0, 1]
    assert len(estimator.get_feature_names_out()) == 3


def test_from_components_of_nmf_needs_no_prior():
    """Maximum likelihood has no prior, so there is no beta to ask for."""
    assert NMF.from_components(np.eye(2, 4) + 0.1).transform(np.ones((1, 4))).shape == (1, 2)


def test_from_components_with_groups():
    groups = [0, 0, 1, 1, 1]
    ready = DCA.from_components(np.ones((2, 5)), groups=groups, random_state=0)
    np.testing.assert_allclose(ready.components_[0], [0.5, 0.5, 1 / 3, 1 / 3, 1 / 3])
    assert ready.transform(np.ones((3, 5))).shape == (3, 2)


@pytest.mark.parametrize(
    "components",
    [np.ones(3), np.ones((0, 3)), [[1, -1]], [[1, np.nan]], [["a", "b"]], [[1], [1, 2]]],
)
def test_from_components_refuses(components):
    with pytest.raises(DiscanError) as caught:
        DCA.from_components(components)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_absence_is_for_the_conditional_model(model, algorithm):
    estimator = make(model, algorithm, max_iter=5).fit(X)
    if estimator.rho_ is not None:
        absent = estimator.prob_absent(X[:20])
        assert absent.shape == (20, 3)
        assert ((absent >= 0) & (absent <= 1)).all()
        assert absent.max() > 0.5  # planted documents lack components
    else:
        with pytest.raises(InputError, match="model='cgp'"):
            estimator.prob_absent(X)


# ---- likelihoods ----


@pytest.mark.parametrize("cls", [NMF, PLSI])
def test_maximum_likelihood_has_no_log_likelihood(cls):
    with pytest.raises(InputError, match=r"no prior.*score\(X\)"):
        cls(3, max_iter=5, random_state=0).fit(X).log_likelihood(X)


@pytest.mark.parametrize("cls", [NMF, PLSI])
def test_maximum_likelihood_scores_unseen_words(cls):
    counts = X.copy()
    counts[:, :4] = 0
    estimator = cls(3, max_iter=10, random_state=0).fit(counts)
    assert np.isfinite(estimator.score(X))
    assert np.isfinite(estimator.transform(X)).all()
    only_unseen = np.zeros((1, X.shape[1]), dtype=int)
    only_unseen[0, :4] = 7
    assert np.isfinite(estimator.transform(only_unseen)).all()
    assert np.isfinite(estimator.score(only_unseen))


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_score_beats_unigrams(model, algorithm):
    train, test = X[:80], X[80:90]
    estimator = make(model, algorithm, max_iter=None if algorithm in SHORT else 60).fit(train)
    if algorithm in SHORT:
        options = type(SHORT[algorithm])(burn_in=40, n_draws=20)
        estimator = make(model, options).fit(train)
    share = (train.sum(axis=0) + 0.5) / (train.sum() + 0.5 * train.shape[1])
    unigrams = (test @ np.log(share)).sum() / test.sum()
    assert estimator.score(test) > unigrams + 0.2
    assert estimator.score(test) < 0


@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_log_likelihood(model):
    estimator = make(model, max_iter=30).fit(X)
    few = X[:6]
    chib, bound = estimator.log_likelihood(few), estimator.log_likelihood(few, method="bound")
    assert chib.shape == bound.shape == (6,)
    assert np.isfinite(chib).all()
    assert (bound <= chib + 0.5).all()
    assert (chib < 0).all()
    with pytest.raises(InputError, match="method='x'"):
        estimator.log_likelihood(few, method="x")
    with pytest.raises(InputError, match="whole counts"):
        estimator.log_likelihood(few + 0.5)
    assert np.isfinite(estimator.log_likelihood(few + 0.5, method="bound")).all()


@pytest.mark.parametrize("algorithm", list(SHORT))
@pytest.mark.parametrize("method", ["transform", "component_counts", "score"])
def test_samplers_refuse_fractions_of_new_documents(algorithm, method):
    estimator = make(algorithm=algorithm).fit(X)
    with pytest.raises(InputError, match="whole"):
        getattr(estimator, method)(X[:5] + 0.5)


def test_a_document_alone_gets_the_same_answer():
    for algorithm, n_components in (
        ("variational", 3), ("variational", 20), ("gibbs", 3), ("map", 3), ("map", 20),
    ):  # fmt: skip
        estimator = make(algorithm=algorithm, n_components=n_components).fit(X)
        together = estimator.transform(FEW)
        for i in range(len(FEW)):
            assert estimator.transform(FEW[i : i + 1]).tobytes() == together[i].tobytes()
        assert estimator.transform(FEW[::-1])[::-1].tobytes() == together.tobytes()


def test_few_documents_are_work_for_all_threads(monkeypatch):
    estimator = make(n_jobs=2).fit(X)
    pieces = []
    run = Threads.run

    def noted(self, work, items):
        pieces.append(len(items))
        return run(self, work, items)

    monkeypatch.setattr(Threads, "run", noted)
    together = estimator.log_likelihood(FEW)
    assert pieces[-1] >= 2
    alone = [estimator.log_likelihood(FEW[i : i + 1])[0] for i in range(len(FEW))]
    assert together.tobytes() == np.array(alone).tobytes()


def test_groups():
    groups = np.repeat(["a", "b"], X.shape[1] // 2)
    estimator = make(groups=groups).fit(X)
    half = X.shape[1] // 2
    np.testing.assert_allclose(estimator.components_[:, :half].sum(axis=1), 1.0)
    np.testing.assert_allclose(estimator.components_[:, half:].sum(axis=1), 1.0)
    same = make().fit(Corpus(X, groups=groups))
    assert fitted_bits(same) == fitted_bits(estimator)


def test_names_at_the_top():
    assert discan.DCA is DCA


@pytest.fixture(scope="module")
def senate():
    """Roll calls of 2005, a tenth of the votes held out."""
    return discan.split_entries(load_senate2005().corpus, 0.1, rng=1)


def test_held_out_votes_are_predicted_from_the_others(senate):
    """With more blocs they are predicted better; without the other votes that is not seen."""
    train, test = senate
    with_others, alone = [], []
    for n_components in (2, 4, 8):
        estimator = MPCA(n_components, random_state=0, max_iter=300).fit(train)
        with_others.append(-estimator.score(test, given=train))
        alone.append(-estimator.score(test))
    assert with_others[0] > with_others[1] > with_others[2]
    assert with_others == pytest.approx([0.211, 0.204, 0.199], abs=0.008)
    assert alone[1] > with_others[1] + 0.005
    assert alone[2] > with_others[2] + 0.01


@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_score_given_other_tokens(model):
    """The score of held-out tokens is that of proportions by ``transform`` of the given ones."""
    rng = np.random.default_rng(0)
    corpus = Corpus(rng.poisson(2.0, (30, 8)), groups=[0, 0, 0, 0, 1, 1, 1, 1])
    train, test = discan.split_entries(corpus, 0.3)
    estimator = DCA(2, model=model, algorithm="variational", random_state=0).fit(train)
    scores = estimator.transform(train)
    shares = scores / scores.sum(axis=1, keepdims=True)
    logs = test.to_csr().multiply(np.log(shares @ estimator.components_))
    expected = logs.sum() / test.n_tokens
    assert estimator.score(test, given=train) == pytest.approx(expected, rel=1e-6)


def test_given_tokens_must_be_of_the_same_documents():
    corpus = Corpus(np.ones((4, 3), int), document_names=list("abcd"))
    train, test = discan.split_tokens(corpus)
    estimator = LDA(1, random_state=0).fit(train)
    with pytest.raises(InputError, match="3 documents to score and 4 given"):
        estimator.score(test[:3], given=train)
    with pytest.raises(InputError, match="document 0 to score is 'd', and 'a' is given"):
        estimator.score(test[::-1], given=train)
    with pytest.raises(InputError, match="are the ones given"):
        estimator.score(test, given=test)
