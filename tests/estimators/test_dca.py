# SPDX-License-Identifier: BSD-3-Clause
"""Estimators keep scikit-learn's contract, and take the same table in any form."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import not_repeated
from scipy import sparse
from short_fits import CELLS, FEW, X, fitted_bits, make
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
    ConditionalGaP,
    Corpus,
    DiscanError,
    GaP,
    InputError,
)
from discan.algorithms.auto import CHAIN
from discan.models import MODELS

PRESETS = [NMF, PLSI, LDA, MPCA, GaP, ConditionalGaP]


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


@pytest.mark.parametrize("cls", [discan.LDA, discan.NMF, discan.DCAClassifier, discan.DCAFeatures])
def test_an_unknown_argument_is_refused_in_the_name_of_the_class(cls):
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\(\) got an unexpected .* 'foo'"):
        cls(2, foo=1)
    if issubclass(cls, discan.DCA):
        with pytest.raises(TypeError, match=rf"^{cls.__name__}\(\) got an unexpected .* 'model'"):
            cls(2, model="gp")
