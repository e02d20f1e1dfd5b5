# SPDX-License-Identifier: BSD-3-Clause
"""Bad input is refused at the door, in one line that names it; odd input is worked through."""

import json
import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from conftest import cells
from scipy import sparse

import discan
from discan import (
    DCA,
    Collapsed,
    Corpus,
    DiscanError,
    Gibbs,
    Hyperprior,
    InputError,
    LimitError,
    MaximumLikelihood,
    Variational,
)
from discan.algorithms import ALGORITHMS
from discan.models import MODELS

SOURCE = Path(__file__).parents[2] / "src"
NAMES = [algorithm.short for algorithm in ALGORITHMS]
SAMPLERS = [algorithm.short for algorithm in ALGORITHMS if algorithm.whole_counts]
CELLS = cells(lambda algorithm: algorithm.short)
X = np.random.default_rng(0).poisson(0.8, (20, 8))
X[3] = 0

# every name under which the algorithms hold a kernel
MODULES = [
    import_module(f"discan.algorithms.{found.name}")
    for found in pkgutil.iter_modules(discan.algorithms.__path__)
]
KERNELS = [
    (module.__name__, name)
    for module in MODULES
    for name, value in vars(module).items()
    if callable(value) and getattr(value, "__module__", "").startswith("discan.kernels.")
]


@pytest.fixture
def no_kernels(monkeypatch):
    """Nothing may be computed."""

    def computed(*arguments):
        raise AssertionError("a kernel was called")

    for module, name in KERNELS:
        monkeypatch.setattr(import_module(module), name, computed)


def make(algorithm="variational", **params):
    fixed = {"n_components": 3, "algorithm": algorithm, "random_state": 0, "learn": ()}
    return DCA(**{**fixed, **params})


def refused(action, *patterns, kind=DiscanError):
    """Check that an action is refused in one line that holds each pattern."""
    with pytest.raises(kind) as caught:
        action()
    message = str(caught.value)
    assert "\n" not in message, message
    assert len(message) < 400
    for pattern in patterns:
        assert pattern in message, message


def test_the_fixture_sees_kernels(no_kernels):
    for algorithm in NAMES:
        with pytest.raises(AssertionError, match="kernel"):
            make(algorithm).fit(X)


# ---- tables ----


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array, sparse.csc_array])
@pytest.mark.parametrize("value", [-1, np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("algorithm", NAMES)
@pytest.mark.usefixtures("no_kernels")
def test_bad_counts(algorithm, value, form):
    table = X.astype(float)
    table[7, 5] = value
    refused(lambda: make(algorithm).fit(form(table)), "row 7", "column 5", f"{value}")


@pytest.mark.parametrize("algorithm", SAMPLERS)
@pytest.mark.usefixtures("no_kernels")
def test_samplers_refuse_fractions(algorithm):
    table = X.astype(float)
    table[7, 5] = 0.25
    refused(lambda: make(algorithm).fit(table), "0.25", "row 7", "column 5", kind=InputError)


@pytest.mark.parametrize("algorithm", SAMPLERS)
@pytest.mark.usefixtures("no_kernels")
def test_samplers_refuse_counts_beyond_32_bits(algorithm):
    table = X.astype(float)
    table[7, 5] = 3e9
    refused(lambda: make(algorithm).fit(table), "2,147,483,647")


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_samplers_say_what_is_wrong_with_new_counts_beyond_32_bits(algorithm):
    estimator = make(algorithm, max_iter=2).fit(X)
    table = X.astype(float)
    table[7, 5] = 3e9  # a whole number: there is nothing to round
    refused(lambda: estimator.transform(table), "2,147,483,647")


def broken_tables():
    def csr(**changes):
        table = sparse.csr_array(X.astype(float))
        for name, change in changes.items():
            change(getattr(table, name))
        return table

    def put(at, value):
        def change(array):
            array[at] = value

        return change

    yield "indptr falls", csr(indptr=put(3, 10**6))
    yield "indptr negative", csr(indptr=put(3, -5))
    yield "indptr end", csr(indptr=put(-1, 10**6))
    yield "indptr start", csr(indptr=put(0, 2))
    yield "index too large", csr(indices=put(4, X.shape[1]))
    yield "index negative", csr(indices=put(4, -1))
    yield "index huge", csr(indices=put(4, 2**31 - 1))
    table = csr()
    table.indices = table.indices[:-3]
    yield "indices short", table
    table = csr()
    table.data = table.data[:-3]
    yield "data short", table
    table = sparse.coo_array(X)
    table.coords[0][2] = 10**6
    yield "row too large", table


@pytest.mark.parametrize("name_and_table", list(broken_tables()), ids=lambda pair: pair[0])
@pytest.mark.parametrize("algorithm", NAMES)
@pytest.mark.usefixtures("no_kernels")
def test_broken_sparse_tables(algorithm, name_and_table):
    refused(lambda: make(algorithm).fit(name_and_table[1]), "damaged", kind=InputError)


@pytest.mark.parametrize("name_and_table", list(broken_tables()), ids=lambda pair: pair[0])
def test_broken_sparse_tables_at_transform(name_and_table):
    estimator = make(max_iter=2).fit(X)
    refused(lambda: estimator.transform(name_and_table[1]), "damaged", kind=InputError)
    refused(lambda: estimator.score(name_and_table[1]), "damaged", kind=InputError)


@pytest.mark.parametrize("exposures", [-1.0, np.nan, np.inf])
def test_bad_exposures(exposures):
    table = np.ones((20, 1))
    table[4, 0] = exposures
    refused(lambda: Corpus(X, exposures=table), "document 4", "group 0", f"{exposures}")


def test_counts_without_exposure():
    exposures = np.ones((20, 2))
    row = int(np.argmax(X[:, :4].sum(axis=1) > 0))
    exposures[row, 0] = 0
    refused(lambda: Corpus(X, groups=[0] * 4 + [1] * 4, exposures=exposures), f"document {row}")


@pytest.mark.parametrize(
    "groups",
    [
        [0, 1],
        [0] * 7 + [-1],
        [0] * 7 + [5],
        [0.5] * 8,
        [np.nan] * 8,
        [None] * 8,
        "abcdefgh",
        np.zeros((2, 4)),
        3,
        [[0], [1, 2]],
    ],
    ids=str,
)
@pytest.mark.parametrize("algorithm", NAMES)
@pytest.mark.usefixtures("no_kernels")
def test_bad_groups(algorithm, groups):
    refused(lambda: make(algorithm, groups=groups).fit(X), "group", kind=InputError)


def test_groups_against_a_corpus():
    corpus = Corpus(X, groups=[0] * 4 + [1] * 4)
    refused(lambda: make(groups=[0] * 5 + [1] * 3).fit(corpus), "groups differ")


# ---- parameters ----

BAD = {
    "n_components": [0, -1, 2.5, None, "3", True, np.nan, [3]],
    "alpha": [0, -1, np.nan, np.inf, [1, 2], [[1, 1, 1]], "auto", [1, 0, 1], {}, 1j],
    "gamma": [0, -1, np.nan, np.inf, [1, 2], np.ones((1, 8)), "auto", [1] * 7 + [0]],
    "max_iter": [0, -1, 2.5, "x", True, np.nan],
    "tol": [-1, np.nan, "x", None, True],
    "n_jobs": [0, 1.5, "x", True],
    "random_state": [-1, 2**64, 1.5, "x", True],
    "algorithm": ["x", None, 3, object],
    "model": ["x", None, 3, object],
    "init": ["x", None, 3, np.ones((2, 8)), np.ones((3, 7)), -np.ones((3, 8)),
             np.full((3, 8), np.nan), np.full((3, 8), np.inf), [["a"] * 8] * 3, [[1], [1, 2]]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param(name, value, id=f"{name}={value!r}".replace("\n", "")[:40])
        for name, values in BAD.items()
        for value in values
    ],
)
@pytest.mark.parametrize("algorithm", NAMES)
@pytest.mark.usefixtures("no_kernels")
def test_bad_parameters(algorithm, name, value):
    estimator = make(**{"algorithm": algorithm, name: value})  # nothing from __init__
    named = "components" if name == "init" and not isinstance(value, str) else name
    if name == "init" and isinstance(value, np.ndarray) and len(value) == 2:
        named = "init"
    refused(lambda: estimator.fit(X), named, kind=InputError)


@pytest.mark.parametrize("name", ["alpha", "gamma", "beta"])
@pytest.mark.parametrize("value", ["0.5", b"0.5", ["0.5"] * 3], ids=repr)
@pytest.mark.usefixtures("no_kernels")
def test_numbers_in_quotes(name, value):
    if name == "gamma" and isinstance(value, list):
        value = ["0.5"] * 8
    refused(lambda: make(model="gp", **{name: value}).fit(X), name)


@pytest.mark.parametrize("name", ["alpha", "gamma"])
@pytest.mark.usefixtures("no_kernels")
def test_bad_arrays_are_reported_in_one_line(name):
    refused(lambda: make(**{name: np.full((3, 40), "a")}).fit(X), name)


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, [1, 2], "auto"], ids=repr)
@pytest.mark.parametrize(("model", "algorithm"), [c for c in CELLS if "dm" not in c.id])
@pytest.mark.usefixtures("no_kernels")
def test_bad_beta(model, algorithm, value):
    refused(lambda: make(algorithm, model=model, beta=value).fit(X), "beta", kind=InputError)


@pytest.mark.parametrize("value", [-0.1, 1, 2, np.nan, np.inf, [0.1, 0.2], "auto"], ids=repr)
@pytest.mark.parametrize(("model", "algorithm"), [c for c in CELLS if "cgp" in c.id])
@pytest.mark.usefixtures("no_kernels")
def test_bad_rho(model, algorithm, value):
    refused(lambda: make(algorithm, model=model, rho=value).fit(X), "rho", kind=InputError)


@pytest.mark.parametrize(
    ("model", "name"), [("dm", "beta"), ("dm", "rho"), ("gp", "rho")], ids=lambda value: value
)
@pytest.mark.parametrize("algorithm", NAMES)
@pytest.mark.usefixtures("no_kernels")
def test_hyperparameters_of_other_models(algorithm, model, name):
    refused(lambda: make(algorithm, model=model, **{name: 0.5}).fit(X), name, kind=InputError)
    refused(lambda: make(algorithm, model=model, learn=(name,)).fit(X), name, kind=InputError)


@pytest.mark.parametrize("learn", ["eta", ("alpha", "x"), [1], 5, None, (None,)], ids=repr)
@pytest.mark.parametrize("algorithm", NAMES)
@pytest.mark.usefixtures("no_kernels")
def test_bad_learn(algorithm, learn):
    refused(lambda: make(algorithm, learn=learn).fit(X), "learn", kind=InputError)


@pytest.mark.parametrize("algorithm", ["ml", "map"])
@pytest.mark.usefixtures("no_kernels")
def test_cells_that_make_no_sense(algorithm):
    refused(lambda: make(algorithm, model="cgp").fit(X), "makes no sense", "variational")
    refused(lambda: make("ml", learn="alpha").fit(X), "no hyperparameters to learn")
    refused(lambda: make(Variational(loadings="point"), learn="gamma").fit(X), "gamma")
    refused(lambda: make(MaximumLikelihood(tau=0.5), model="gp").fit(X), "tau")
    refused(lambda: make(MaximumLikelihood(tau="auto")).fit(X[:5]), "tau")
    refused(lambda: make(MaximumLikelihood(tau="auto")).fit(X + 0.5), "tau")
    refused(lambda: make(hyperprior=Hyperprior()).fit(X), "hyperprior")


@pytest.mark.parametrize("hyperprior", ["x", 3, (1, 1)], ids=str)
@pytest.mark.usefixtures("no_kernels")
def test_bad_hyperprior(hyperprior):
    refused(lambda: make("gibbs", learn="alpha", hyperprior=hyperprior).fit(X), "hyperprior")


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (Gibbs, {"burn_in": -1}),
        (Gibbs, {"burn_in": 2.5}),
        (Gibbs, {"burn_in": "3"}),
        (Gibbs, {"n_draws": 0}),
        (Gibbs, {"n_draws": None}),
        (Gibbs, {"n_draws": 1.5}),
        (Gibbs, {"thin": 0}),
        (Gibbs, {"thin": float("nan")}),
        (Collapsed, {"schedule": "x"}),
        (Collapsed, {"schedule": None}),
        (Collapsed, {"n_rounds": 0}),
        (Collapsed, {"n_rounds": 2.5}),
        (Collapsed, {"n_rounds": "3"}),
        (Variational, {"loadings": "x"}),
        (Variational, {"decay": 0.5}),
        (Variational, {"decay": 1.5}),
        (Variational, {"decay": float("nan")}),
        (Variational, {"decay": "x"}),
        (Variational, {"delay": -1}),
        (Variational, {"delay": float("inf")}),
        (Variational, {"batch_entries": 0}),
        (Variational, {"batch_entries": "x"}),
        (Variational, {"visits": 0}),
        (Variational, {"inner": 0}),
        (Variational, {"inner": 2.5}),
        (MaximumLikelihood, {"tau": 0}),
        (MaximumLikelihood, {"tau": 1.5}),
        (MaximumLikelihood, {"tau": float("nan")}),
        (MaximumLikelihood, {"tau": "x"}),
        (MaximumLikelihood, {"eta": 1}),
        (MaximumLikelihood, {"eta": "x"}),
    ],
    ids=str,
)
def test_bad_options_of_algorithms(cls, options):
    refused(lambda: cls(**options), next(iter(options)), kind=InputError)


def test_numpy_numbers_are_numbers():
    algorithm = MaximumLikelihood(tau=np.float32(0.5))
    make(algorithm, n_components=np.int32(2), max_iter=np.int64(2), tol=np.float32(0)).fit(X)


# ---- new documents ----


@pytest.mark.parametrize("method", ["transform", "component_counts", "score", "log_likelihood"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, Corpus], ids=lambda f: f.__name__)
def test_other_width(method, form):
    estimator = make(max_iter=2).fit(X)
    with pytest.raises(ValueError, match="7 features") as caught:
        getattr(estimator, method)(form(X[:, :7]))
    assert "\n" not in str(caught.value)


def test_other_groups():
    estimator = make(max_iter=2, groups=[0] * 4 + [1] * 4).fit(X)
    refused(lambda: estimator.transform(Corpus(X, groups=[0] * 5 + [1] * 3)), "groups")
    refused(lambda: estimator.transform(Corpus(X)), "groups")


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, 1e300])
@pytest.mark.parametrize("algorithm", NAMES)
def test_bad_new_counts(algorithm, value):
    estimator = make(algorithm, max_iter=2).fit(X)
    table = X.astype(float)
    table[7, 5] = value
    for method in (estimator.transform, estimator.component_counts, estimator.score):
        refused(lambda method=method: method(table), "row 7", "column 5")


def test_nothing_to_score():
    estimator = make(max_iter=2).fit(X)
    refused(lambda: estimator.score(np.zeros((3, 8))), "no tokens")


# ---- odd but fine ----


def check_fitted(estimator, table, n_components):
    n_documents, n_words = table.shape
    for name in ("components_", "component_counts_", "scores_", "proportions_"):
        assert np.isfinite(getattr(estimator, name)).all(), name
    assert estimator.components_.shape == (n_components, n_words)
    assert estimator.scores_.shape == (n_documents, n_components)
    np.testing.assert_allclose(estimator.components_.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(estimator.proportions_.sum(axis=1), 1.0, atol=1e-6)
    assert np.isfinite(estimator.trace_["objective"]).all()
    transformed = estimator.transform(table)
    assert transformed.shape == (n_documents, n_components)
    assert np.isfinite(transformed).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("n_components", "table"),
    [
        pytest.param(1, X, id="K=1"),
        pytest.param(9, X, id="K>J"),
        pytest.param(8, X, id="K=J"),
        pytest.param(21, X, id="K>I"),
        pytest.param(3, X[:1], id="one document"),
        pytest.param(3, X[:, :1], id="one word"),
        pytest.param(2, np.array([[4]]), id="one cell"),
        pytest.param(3, np.zeros((4, 5), dtype=int), id="all empty"),
        pytest.param(3, np.zeros((1, 1), dtype=int), id="one empty cell"),
        pytest.param(3, np.vstack([X[:5], np.zeros((1, 8), dtype=int)]), id="empty document"),
        pytest.param(3, np.hstack([X, np.zeros((20, 2), dtype=int)]), id="empty word"),
    ],
)
@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_small_shapes(model, algorithm, n_components, table):
    estimator = make(algorithm, model=model, n_components=n_components, max_iter=4).fit(table)
    check_fitted(estimator, table, n_components)


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_an_empty_document_gets_the_prior_mean(model, algorithm):
    estimator = make(algorithm, model=model, max_iter=4).fit(X)
    empty = estimator.transform(np.zeros((1, 8)))[0]
    if algorithm == "ml":
        expected = np.full(3, 1 / 3) if model == "dm" else np.zeros(3)
    elif estimator.beta_ is None:
        expected = estimator.alpha_ / estimator.alpha_.sum()
    elif model in ("dm2", "gp2"):  # the parents' scores are not known, either
        expected = estimator.fit_.params.model.empty_means(np.ones(1))[0][0]
    else:  # one group of exposure 1 was seen to be empty
        rate = estimator.beta_ + 1.0
        spike = np.zeros(3)
        if estimator.rho_ is not None:
            slab = (1 - estimator.rho_) * (estimator.beta_ / rate) ** estimator.alpha_
            spike = estimator.rho_ / (estimator.rho_ + slab)
        expected = estimator.alpha_ / rate * (1 - spike)
    np.testing.assert_allclose(empty, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("learn", [False, True], ids=["", "learn"])
@pytest.mark.parametrize("table", [np.zeros((4, 5), dtype=int), X[:1], X[:, :1]], ids=np.shape)
@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_learning_from_next_to_nothing(model, algorithm, table, learn):
    names = next(cls for cls in MODELS if cls.short == model).hyperparameters
    learnt = set(names) | {"gamma"} if learn and algorithm != "ml" else set()
    learnt -= ALGORITHMS.find(algorithm).cannot_learn
    estimator = make(algorithm, model=model, max_iter=6, learn=learnt).fit(table)
    check_fitted(estimator, table, 3)
    for name in (*names, "gamma"):
        assert np.isfinite(getattr(estimator, f"{name}_")).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("alpha", [1e-8, 1e4])
@pytest.mark.parametrize("gamma", [1e-8, 0.5, 1e4])
@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_extreme_priors(model, algorithm, alpha, gamma):
    estimator = make(algorithm, model=model, alpha=alpha, gamma=gamma, max_iter=6).fit(X)
    assert np.isfinite(estimator.components_).all()
    assert np.isfinite(estimator.scores_).all()
    assert np.isfinite(estimator.trace_["objective"]).all()
    np.testing.assert_allclose(estimator.components_.sum(axis=1), 1.0, atol=1e-6)
    assert np.isfinite(estimator.transform(X[:4])).all()


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_no_exposure_at_all(model, algorithm):
    table = X.copy()
    exposures = np.ones((20, 1))
    exposures[3] = 0  # document 3 is empty
    estimator = make(algorithm, model=model, max_iter=4).fit(Corpus(table, exposures=exposures))
    assert np.isfinite(estimator.scores_).all()
    assert np.isfinite(estimator.components_).all()


# ---- too large, and hostile: in a process of its own ----

HARNESS = """
import json, resource, sys, time
import numpy as np
from scipy import sparse
from discan import DCA, Corpus, DiscanError
from discan.algorithms import ALGORITHMS
X = np.random.default_rng(0).poisson(0.8, (20, 8))
for algorithm in ALGORITHMS:  # compile first, so that times and sizes are those of the case
    DCA(2, algorithm=algorithm.short, max_iter=2, random_state=0).fit(X).transform(X[:1])
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def attempt(name, action):
    began, before = time.perf_counter(), peak()
    try:
        outcome = action()
        kind, message = "returned", str(outcome)[:300]
    except BaseException as error:
        kind, message = type(error).__name__, str(error)
        if isinstance(error, DiscanError):
            kind = "refused:" + kind
    print(json.dumps([name, kind, message, time.perf_counter() - began, peak() - before]),
          flush=True)
"""


def harness(code, timeout=60):
    """Run code after the harness; answer {name: (kind, message, seconds, MiB)}."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", HARNESS + code],
        env=environment, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stdout[-500:], done.stderr[-2000:])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row[0]: row[1:] for row in rows}


@pytest.fixture(scope="module")
def huge_models():
    return harness("""
for algorithm in ("ml", "map", "cvb0", "vb", "gibbs", "collapsed"):
    for k in (10**9, 10**7, 10**30):
        estimator = DCA(k, algorithm=algorithm, max_iter=2, random_state=0)
        attempt(f"{algorithm} {k}", lambda: estimator.fit(np.tile(X, (20, 1))))
""")


@pytest.mark.parametrize("n_components", [10**9, 10**7, 10**30], ids="K={:.0e}".format)
@pytest.mark.parametrize("algorithm", NAMES)
def test_huge_n_components(huge_models, algorithm, n_components):
    name = {"direct": "gibbs", "cgs": "collapsed"}.get(algorithm, algorithm)
    kind, message, _, size = huge_models[f"{name} {n_components}"]
    assert kind == "refused:LimitError", (kind, message)
    assert "\n" not in message
    assert size < 200


@pytest.fixture(scope="module")
def huge_counts():
    return harness("""
def finite(*arrays):
    return all(bool(np.isfinite(a).all()) for a in arrays)
table = X.copy()
table[3, 2] = 2_000_000_000
for algorithm in ("ml", "map", "vb", "gibbs", "collapsed"):
    estimator = DCA(3, algorithm=algorithm, max_iter=4, random_state=0)
    attempt(f"{algorithm} fit", lambda: finite(
        estimator.fit(table).components_, estimator.scores_, estimator.trace_["objective"]))
    estimator.fit(X)
    attempt(f"{algorithm} transform", lambda: finite(estimator.transform(table)))
    attempt(f"{algorithm} score", lambda: finite(estimator.score(table)))
estimator = DCA(3, max_iter=4, random_state=0).fit(X)
attempt("vb bound", lambda: finite(estimator.log_likelihood(table, method="bound")))
attempt("vb chib", lambda: finite(estimator.log_likelihood(table, method="chib")))
""")


@pytest.mark.parametrize("what", ["fit", "transform", "score"])
@pytest.mark.parametrize("algorithm", ["ml", "map", "vb", "gibbs", "collapsed"])
def test_huge_counts(huge_counts, algorithm, what):
    kind, message, _seconds, size = huge_counts[f"{algorithm} {what}"]
    if algorithm != "collapsed" or what != "fit":
        assert (kind, message) == ("returned", "True")
    else:  # it keeps a component for every token: it may refuse, but not run out of memory
        assert (kind, message) == ("returned", "True") or kind == "refused:LimitError", (
            kind,
            message,
        )
    assert size < 500


@pytest.mark.parametrize("method", ["bound", "chib"])
def test_log_likelihood_of_huge_counts(huge_counts, method):
    kind, message, _seconds, size = huge_counts[f"vb {method}"]
    assert (kind, message) == ("returned", "True") or kind == "refused:LimitError", (kind, message)
    assert size < 500


@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_one_word_a_thousand_million_times(model, algorithm):
    """A model that was fitted by a sampler answers for such a document, alone or among others."""
    estimator = make(algorithm, model=model, max_iter=8).fit(X)
    table = X.copy()
    table[3, 2] = 10**9
    together = estimator.transform(table)
    np.testing.assert_array_equal(estimator.transform(table[3:4])[0], together[3])
    np.testing.assert_array_equal(estimator.transform(X)[[0, 9]], together[[0, 9]])
    counts = estimator.component_counts(table)
    # tokens of new documents are split in single precision
    np.testing.assert_allclose(counts.sum(axis=1), table.sum(axis=1), rtol=1e-6)
    assert counts[3].argmax() == estimator.components_[:, 2].argmax()
    assert np.isfinite(estimator.score(table))


def test_tokens_too_many_to_draw_one_by_one():
    algorithm = Collapsed(burn_in=2, n_draws=4, fold_in="gibbs")
    estimator = make(algorithm, max_iter=None).fit(X)
    table = X.copy()
    table[3, 2] = 10**9
    with pytest.raises(LimitError, match=r"more than 10,000,000 tokens.*fold_in"):
        estimator.transform(table)


def test_counts_of_a_word_above_32_bits():
    """Two counts fit in 32 bits each, their sum does not: the word's total must stay right."""
    table = X.copy()
    table[3, 2] = table[4, 2] = 2_000_000_000
    estimator = make("gibbs", max_iter=4).fit(table)
    assert np.isfinite(estimator.components_).all()
    assert estimator.component_counts_.sum() == pytest.approx(float(table.sum(dtype=float)))
    assert estimator.components_.max() > 0.99


def test_nasty_inputs_in_a_process_of_their_own():
    outcomes = harness("""
def broken(**changes):
    table = sparse.csr_array(X.astype(float))
    for name, (at, value) in changes.items():
        getattr(table, name)[at] = value
    return table
def replaced(**arrays):
    table = sparse.csr_array(X.astype(float))
    for name, array in arrays.items():
        setattr(table, name, array)
    return table
good = sparse.csr_array(X.astype(float))
n = good.nnz
rng = np.random.default_rng(0)
nasty = {
    "None": None, "string": "abc", "bytes": b"abc", "object": object(), "dict": {1: 2},
    "set": {1, 2}, "scalar": 3, "nan": float("nan"), "empty list": [], "nested empty": [[]],
    "ragged": [[1], [1, 2]], "1d": X[0], "3d": X[None], "0 rows": X[:0], "0 columns": X[:, :0],
    "strings": [["a", "b"]], "digits": [["1", "2"]], "complex": X + 1j, "objects": X.astype(object),
    "object None": np.array([[1, None]], dtype=object), "object list": np.array([[1, [2]], [3, 4]],
    dtype=object), "datetime": X.astype("datetime64[s]"), "structured": np.zeros(3, dtype="i4,f8"),
    "bool": X > 0, "float16": X.astype(np.float16), "longdouble": X.astype(np.longdouble),
    "masked": np.ma.masked_equal(X, 0), "matrix": np.matrix(X), "generator": (row for row in X),
    "negative strides": X[::-1, ::-1], "big endian": X.astype(">f8"), "uint64": X.astype(np.uint64),
    "uint64 max": np.full((2, 2), 2**64 - 1, dtype=np.uint64),
    "int64 max": np.full((2, 2), 2**63 - 1),
    "int64 min": np.full((2, 2), -2**63), "1e15": np.full((2, 2), 1e15), "tiny": X * 5e-324,
    "1e16 columns": sparse.coo_array(([1.0], ([0], [0])), shape=(2, 10**16)),
    "2**31 columns": sparse.coo_array(([1.0], ([0], [0])), shape=(2, 2**31)),
    "1e12 rows": sparse.coo_array(([1.0], ([0], [0])), shape=(10**12, 2)),
    "indptr up": broken(indptr=(3, 10**6)), "indptr down": broken(indptr=(3, -10**6)),
    "indptr end": broken(indptr=(-1, 2**31 - 1)), "indptr start": broken(indptr=(0, 1)),
    "index up": broken(indices=(0, 8)), "index down": broken(indices=(0, -1)),
    "index far": broken(indices=(n - 1, 2**31 - 1)), "index least": broken(indices=(1, -2**31)),
    "data nan": broken(data=(1, np.nan)), "data inf": broken(data=(1, -np.inf)),
    "indices short": replaced(indices=good.indices[:2]), "data short": replaced(data=good.data[:2]),
    "data empty": replaced(data=good.data[:0]), "indptr short": replaced(indptr=good.indptr[:3]),
    "indptr empty": replaced(indptr=good.indptr[:0]),
    "indptr long": replaced(indptr=np.append(good.indptr, n)),
    "indptr float": replaced(indptr=good.indptr.astype(float)),
    "indices float": replaced(indices=good.indices.astype(float)),
    "indices 2d": replaced(indices=good.indices[None]), "data 2d": replaced(data=good.data[None]),
    "data object": replaced(data=good.data.astype(object)),
    "indices None": replaced(indices=None), "data list": replaced(data=good.data.tolist()),
    "int64 indices": replaced(indices=good.indices.astype(np.int64),
                              indptr=good.indptr.astype(np.int64)),
    "uint64 indices": replaced(indices=good.indices.astype(np.uint64) + np.uint64(2**63)),
    "duplicates": sparse.coo_array((np.ones(6), np.zeros((2, 6), int)), shape=(2, 3)),
    "dok": sparse.dok_array(X), "lil": sparse.lil_array(X), "dia": sparse.dia_array(X),
    "bsr": sparse.bsr_array(X), "memory view": memoryview(X.tobytes()),
}
for r in range(40):
    table = good.copy()
    name = ("indptr", "indices", "data")[r % 3]
    array = getattr(table, name)
    value = rng.choice(np.array([-1, 0, 1, 9, n, 2**31 - 1, -2**31]))
    array[rng.integers(array.size)] = value
    nasty[f"random {r}"] = table
ready = DCA(2, max_iter=2, random_state=0).fit(X)
for name, value in nasty.items():
    for algorithm in ("vb", "gibbs", "collapsed"):
        attempt(f"fit {algorithm} {name}", lambda: DCA(
            2, algorithm=algorithm, max_iter=2, random_state=0).fit(value).components_.shape)
    attempt(f"transform {name}", lambda: ready.transform(value).shape)
    attempt(f"corpus {name}", lambda: Corpus(value))
""")
    assert len(outcomes) > 400
    escaped = {}
    for name, (kind, message, seconds, _) in outcomes.items():
        if seconds > 10:
            escaped[name] = ("slow", seconds)
        if kind == "returned" or kind.startswith("refused:"):
            if kind != "returned" and "\n" in message:
                escaped[name] = ("many lines", message)
        elif name.startswith("corpus ") or not is_scikit_learns(kind, message):
            escaped[name] = (kind, message[:200])
    assert not escaped, "\n".join(f"{name}: {what}" for name, what in escaped.items())


def is_scikit_learns(kind, message):
    """Recognise the wording of scikit-learn's own validation, which its checks insist on."""
    wordings = (
        "Expected 2D array", "Found array with", "dtype='numeric' is not compatible",
        "Unable to convert array", "Complex data not supported", "features, but",
        "setting an array element", "could not convert", "argument must be", "np.matrix",
        "inhomogeneous",
    )  # fmt: skip
    return kind in ("TypeError", "ValueError") and any(word in message for word in wordings)


def test_limit_error_is_public():
    assert issubclass(LimitError, DiscanError)
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize("pair", [(-1.0, 0.0), (0.0, 1.0), (1.0, np.nan), (1.0,), "ab", (1.0, "x")])
def test_a_bad_hyperprior_is_refused_when_made(pair):
    with pytest.raises(InputError, match="hyperprior alpha"):
        Hyperprior(alpha=pair)
