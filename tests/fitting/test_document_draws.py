# SPDX-License-Identifier: BSD-3-Clause
"""What is summed over draws gives the averages that a user would take of the draws themselves."""

import numpy as np
import pytest
from conftest import make_run

import discan
from discan import DCA, Collapsed, Corpus, Gibbs
from discan.fitting.loading_draws import SampledLoadings
from discan.models import MODELS, LoadingsPrior

X = np.random.default_rng(0).poisson(0.6, (30, 12))
X[4] = 0
EXPOSURES = np.random.default_rng(1).choice([0.5, 1.0, 2.0], (30, 1))
TABLES = ("component_counts", "component_counts_sd", "scores", "scores_sd", "absent")


def follow(model, algorithm, learn, table=X, stop=7):
    """Run a chain; return its result, and the moments of each draw by the model's own formulas."""
    corpus = Corpus(table, exposures=EXPOSURES if model != "dm" else None)
    run = make_run(
        corpus, MODELS.find(model).prepare(5, corpus), algorithm,
        LoadingsPrior.of(0.3, corpus.layout), learn=learn, seed=3,
    )  # fmt: skip
    moments, loadings = [], []

    def watch(run):
        if run.draws is None:
            return run.cycle == stop
        parts = [
            run.algorithm.read(run.params, block, run.states.get(block))
            for block in sorted(run.schedule.blocks, key=lambda block: block.start)
        ]
        moments.append([np.concatenate(column) for column in zip(*parts, strict=True)])
        prior, counts = run.params.prior, run.params.loading_counts
        loadings.append([prior.mean(counts), prior.mean_square(counts)])
        return run.cycle == stop

    run.advance(callback=watch, progress=False)
    return run, np.array(moments, dtype=float), np.array(loadings)


@pytest.mark.parametrize("learning", [False, True])
@pytest.mark.parametrize("algorithm", [Gibbs(2, 5), Collapsed(2, 5, schedule="blocked")])
@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_averages_are_those_of_the_draws(model, algorithm, learning):
    names = next(cls for cls in MODELS if cls.short == model).hyperparameters
    learn = (*names, "gamma") if learning else ()
    run, moments, loadings = follow(model, algorithm, learn)
    assert len(moments) == run.draws.n_draws == 5
    fit = run.result()
    counts, scores, squares, absent = moments.mean(axis=0)
    expected = {
        "component_counts": counts,
        "component_counts_sd": moments[:, 0].std(axis=0),
        "scores": scores,
        "scores_sd": np.sqrt(squares - scores**2),
        "absent": absent,
    }
    for name in TABLES:
        np.testing.assert_allclose(
            getattr(fit.documents, name), expected[name], rtol=1e-9, atol=1e-7, err_msg=name
        )
    np.testing.assert_allclose(fit.scores, scores, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(fit.component_counts, counts, rtol=1e-15)
    mean, square = loadings.mean(axis=0)
    np.testing.assert_allclose(fit.loadings.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(fit.loadings.sd, np.sqrt(square - mean**2), rtol=1e-9)


def test_variances_of_many_loadings_are_kept_in_single_precision(monkeypatch):
    monkeypatch.setattr("discan.fitting.draws.SINGLE_FROM", 1)
    run, _, loadings = follow("dm", Collapsed(2, 5, schedule="blocked"), ())
    fit = run.result()
    assert fit.loadings.variance.dtype == np.float32
    mean, square = loadings.mean(axis=0)
    np.testing.assert_allclose(fit.loadings.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(fit.loadings.sd, np.sqrt(square - mean**2), rtol=1e-6)


@pytest.fixture(params=["dense", "sparse"])
def single(request, monkeypatch):
    """Return a function that has means kept in single precision, all or where words were drawn."""

    def use():
        monkeypatch.setattr("discan.fitting.draws.SINGLE_FROM", 1)
        monkeypatch.setattr("discan.fitting.draws.SINGLE_MEANS_FROM", 1)
        monkeypatch.setattr("discan.fitting.loading_draws.FILLED", float(request.param == "sparse"))
        monkeypatch.setattr("discan.fitting.loading_draws.WORDS_PER_GROUP", 1)
        return request.param

    return use


def is_sparse(tables):
    return isinstance(tables, SampledLoadings)


SAMPLERS = [Gibbs(2, 200), Collapsed(2, 200, schedule="blocked")]


@pytest.mark.parametrize("learn", [(), ("gamma",)])
@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_means_of_many_loadings_are_kept_in_single_precision(single, algorithm, learn):
    """Over enough draws that rounding adds up."""
    kind = single()
    run, _, loadings = follow("dm", algorithm, learn, stop=202)
    assert run.draws.n_draws == len(loadings) == 200
    fit = run.result()
    assert is_sparse(fit.loadings) == (kind == "sparse")
    assert fit.loadings.mean.dtype == np.float32
    mean, square = loadings.mean(axis=0)
    np.testing.assert_allclose(fit.loadings.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(fit.loadings.sd, np.sqrt(square - mean**2), rtol=1e-5)


def wide_chain():
    """Few tokens, many components: a chain whose words are in few of them."""
    table = np.random.default_rng(2).poisson(0.2, (40, 50))
    return DCA(60, algorithm=Collapsed(2, 6), random_state=0), table


def test_only_loadings_of_drawn_words_take_room(monkeypatch):
    monkeypatch.setattr("discan.fitting.draws.SINGLE_MEANS_FROM", 1)
    estimator, table = wide_chain()
    used = np.zeros((50, 60), dtype=bool)

    def watch(run):
        if run.draws is not None:
            used[...] |= run.params.loading_counts > 0

    tables = estimator.set_params(callback=watch).fit(table).fit_.loadings
    assert sum(len(part.components) for part in tables.parts) == used.sum() < used.size / 2
    monkeypatch.setattr("discan.fitting.loading_draws.FILLED", 0.0)
    estimator, table = wide_chain()
    dense = estimator.fit(table).fit_.loadings
    np.testing.assert_allclose(tables.mean, dense.mean, rtol=1e-6)
    np.testing.assert_allclose(tables.variance, dense.variance, rtol=1e-5)


def test_gamma_that_changes_by_word_needs_all_means(monkeypatch):
    monkeypatch.setattr("discan.fitting.draws.SINGLE_MEANS_FROM", 1)
    monkeypatch.setattr("discan.fitting.loading_draws.FILLED", 1.0)
    algorithm = Collapsed(2, 3, schedule="blocked")
    by_word = {"gamma": np.linspace(0.1, 0.5, 40), "algorithm": algorithm, "random_state": 0}
    table = np.random.default_rng(2).poisson(0.4, (30, 40))
    assert is_sparse(DCA(3, **by_word).fit(table).fit_.loadings)
    assert not is_sparse(DCA(3, **by_word, learn=("gamma",)).fit(table).fit_.loadings)
    many = {"groups": np.arange(40) // 2, "algorithm": algorithm, "random_state": 0}
    assert not is_sparse(DCA(3, **many).fit(table).fit_.loadings)


def test_means_too_small_for_single_precision_are_kept_in_double(monkeypatch):
    monkeypatch.setattr("discan.fitting.draws.SINGLE_MEANS_FROM", 1)
    table = np.append(X, np.zeros((30, 1), dtype=int), axis=1)  # a word that is never seen
    estimators = [
        DCA(3, gamma=gamma, algorithm=Collapsed(1, 3), random_state=0).fit(table)
        for gamma in (1e-45, 1e-20)
    ]
    assert [estimator.fit_.loadings.mean.dtype for estimator in estimators] == [
        np.float64,
        np.float32,
    ]
    assert all((estimator.components_ > 0).all() for estimator in estimators)


GROUPS = np.repeat([0, 1, 0], 4)


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("algorithm", [Gibbs(2, 5), Collapsed(2, 5, schedule="blocked")])
def test_users_read_and_kernels_get_double_precision(single, tmp_path, algorithm, groups):
    gamma = np.linspace(0.1, 0.5, 12)
    settings = {"groups": groups, "gamma": gamma, "algorithm": algorithm, "random_state": 0}
    double = DCA(3, **settings).fit(X)
    kind = single()
    single = DCA(3, **settings).fit(X)
    assert is_sparse(single.fit_.loadings) == (kind == "sparse")
    components = single.components_
    assert components.dtype == np.float64
    for g in (0,) if groups is None else (0, 1):
        inside = slice(None) if groups is None else groups == g
        np.testing.assert_allclose(components[:, inside].sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert not np.array_equal(components, double.components_)  # they are rounded, no more
    np.testing.assert_allclose(components, double.components_, rtol=1e-6)
    np.testing.assert_allclose(single.components_sd_, double.components_sd_, rtol=1e-5)
    assert single.fit_.mean_loadings.flags.c_contiguous
    np.testing.assert_array_equal(single.fit_.mean_loadings, components.T)
    assert single.fit_.inference.loadings is single.fit_.mean_loadings
    short = X.copy()
    short[:, 4:] = 0  # so short that they are summed exactly
    for name in ("transform", "log_likelihood"):
        np.testing.assert_allclose(
            getattr(single, name)(short), getattr(double, name)(short), rtol=1e-5
        )
    assert single.score(X) == pytest.approx(double.score(X), rel=1e-2)
    single.save(tmp_path / "model")
    loaded = discan.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.components_, components)
    np.testing.assert_array_equal(loaded.transform(X), single.transform(X))
    assert loaded.score(X) == single.score(X)
    assert (loaded.fit_.loadings.mean.dtype, loaded.fit_.mean_loadings.dtype) == (
        np.float32,
        np.float64,
    )


@pytest.mark.parametrize("learn", [(), ("alpha", "gamma")])
@pytest.mark.parametrize("algorithm", [Gibbs(2, 8), Collapsed(2, 8, schedule="blocked")])
def test_single_precision_keeps_the_bits_the_same(single, tmp_path, algorithm, learn):
    kind = single()
    settings = {"algorithm": algorithm, "learn": learn, "random_state": 0}
    whole = DCA(3, **settings).fit(X)
    others = [DCA(3, n_jobs=n_jobs, **settings).fit(X) for n_jobs in (2, 3)]

    class Died(Exception):
        pass

    def die(run):
        if run.cycle == 8:
            raise Died

    with pytest.raises(Died):
        DCA(3, checkpoint=tmp_path, checkpoint_every=3, callback=die, **settings).fit(X)
    others.append(discan.resume(tmp_path, n_jobs=2))
    for other in others:
        assert is_sparse(other.fit_.loadings) == (kind == "sparse")
        assert other.fit_.loadings.mean.dtype == np.float32
        np.testing.assert_array_equal(other.fit_.loadings.mean, whole.fit_.loadings.mean)
        np.testing.assert_array_equal(other.components_, whole.components_)
        np.testing.assert_array_equal(other.components_sd_, whole.components_sd_)
        np.testing.assert_array_equal(other.transform(X), whole.transform(X))


def test_sparse_results_stay_as_they_are_when_draws_are_added(monkeypatch):
    monkeypatch.setattr("discan.fitting.draws.SINGLE_MEANS_FROM", 1)
    monkeypatch.setattr("discan.fitting.loading_draws.FILLED", 1.0)
    monkeypatch.setattr("discan.fitting.loading_draws.WORDS_PER_GROUP", 1)
    run, _, _ = follow("dm", Collapsed(2, 5, schedule="blocked"), ())
    before = run.result()
    known = before.loadings.mean, before.loadings.variance
    run.add_to([run.draws])
    np.testing.assert_array_equal(before.loadings.mean, known[0])
    np.testing.assert_array_equal(before.loadings.variance, known[1])
    assert not np.array_equal(run.result().loadings.mean, known[0])


def test_results_stay_as_they_are_when_draws_are_added():
    run, _, _ = follow("dm", Collapsed(2, 5, schedule="blocked"), ())
    before = run.result()
    known = before.loadings.mean.copy(), before.loadings.variance.copy()
    assert run.result().loadings.mean is before.loadings.mean  # read where they are
    run.add_to([run.draws])
    after = run.result()
    np.testing.assert_array_equal(before.loadings.mean, known[0])
    np.testing.assert_array_equal(before.loadings.variance, known[1])
    assert after.loadings.mean is not before.loadings.mean
    assert not np.array_equal(after.loadings.mean, before.loadings.mean)


@pytest.mark.parametrize("model", ["dm", "cgp"])
def test_long_documents_are_summed_in_double_precision(model):
    """Squares beyond 32 bits: the spread must not suffer."""
    table = X.copy()
    table[0] += 90_000
    run, moments, _ = follow(model, Gibbs(2, 5), (), table)
    documents = run.result().documents
    assert {part.sums.dtype.name for part in documents.parts} == {"float64"}
    np.testing.assert_array_equal(documents.component_counts, moments[:, 0].mean(axis=0))
    spread = moments[:, 0].std(axis=0)
    assert spread[0].max() > 10
    np.testing.assert_allclose(documents.component_counts_sd, spread, rtol=1e-6, atol=1e-6)


def test_sums_widen_on_the_way():
    table = X.copy()
    table[0] += 4_000  # the squares of one draw fit into 32 bits, those of two do not
    _, moments, _ = follow("dm", Gibbs(2, 5), (), table)
    run, _, _ = follow("dm", Gibbs(2, 5), (), table, stop=3)
    narrow = run.result().documents
    assert {part.sums.dtype.name for part in narrow.parts} == {"uint32"}
    before = narrow.component_counts
    run.advance(progress=False)
    wide = run.result().documents
    assert {part.sums.dtype.name for part in wide.parts} == {"float64"}
    np.testing.assert_allclose(wide.component_counts, moments[:, 0].mean(axis=0))
    # what was reported before stays as it was
    np.testing.assert_array_equal(narrow.component_counts, before)


def test_the_spread_of_well_known_loadings_does_not_suffer():
    """A loading known to four digits: nothing is left of them if its mean square is rounded."""
    table = np.array([[4_000_000, 1_000_000], [1, 1]])
    run, _, loadings = follow_one(table)
    mean, square = loadings.mean(axis=0)
    exact = np.sqrt(square - mean**2)
    np.testing.assert_allclose(run.result().loadings.sd, exact, rtol=1e-5)
    assert exact.max() < 1e-3


def follow_one(table):
    corpus = Corpus(table)
    run = make_run(
        corpus, MODELS.find("dm").prepare(1, corpus), Gibbs(1, 4),
        LoadingsPrior.of(0.5, corpus.layout), seed=0,
    )  # fmt: skip
    loadings = []

    def watch(run):
        prior, counts = run.params.prior, run.params.loading_counts
        loadings.append([prior.mean(counts), prior.mean_square(counts)])

    run.advance(5, callback=watch, progress=False)
    return run, None, np.array(loadings)


def test_only_used_components_take_room():
    run, moments, _ = follow("dm", Gibbs(2, 5), ())
    used = (moments[:, 0] > 0).any(axis=0)
    parts = run.draws.documents.parts
    assert sum(len(part.components) for part in parts) == used.sum() < used.size
    assert all(part.sums.shape[0] == 2 for part in parts)


def test_a_chain_that_is_still_burning_in_reports_its_state():
    run, _, _ = follow("gp", Gibbs(20, 5), (), stop=3)
    assert run.draws is None
    np.testing.assert_array_equal(run.result().component_counts.sum(axis=1), X.sum(axis=1))


def test_tables_are_made_when_read_and_renewed_by_a_fit():
    estimator = DCA(3, algorithm=Collapsed(2, 3), random_state=0).fit(X)
    assert "scores_" not in vars(estimator)
    first = estimator.scores_
    assert estimator.scores_ is first
    assert estimator.set_params(random_state=1).fit(X).scores_ is not first
    assert not np.array_equal(estimator.scores_, first)
    assert not hasattr(DCA(3), "scores_")
    ready = DCA.from_components(np.eye(3), algorithm="map")
    assert not hasattr(ready, "scores_")
    assert not hasattr(ready, "components_sd_")
