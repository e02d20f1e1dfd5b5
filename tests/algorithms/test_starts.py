# SPDX-License-Identifier: BSD-3-Clause
"""Where fits start, and that a start from documents is worth it."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import planted

import discan
from discan import DCA, InputError
from discan.algorithms import MAP, Collapsed
from discan.algorithms.starts import first_pass, from_documents
from discan.data.corpus import Corpus


def make(n_documents=600, n_words=200, n_components=8, seed=0):
    """Documents of a few components each."""
    rng = np.random.default_rng(seed)
    components, proportions = planted(rng, (n_documents, n_words), n_components, 0.05, 0.1)
    return rng.poisson(60 * proportions @ components)


def rounds_of_first_pass(corpus, n_components=8):
    """Rounds of the first pass of a start from documents."""
    schedule = MAP().plan(corpus, n_components, np.uint64(0))
    return first_pass(schedule).plan(corpus, n_components, np.uint64(0)).rounds


def test_each_component_starts_from_its_own_documents():
    corpus = Corpus(make())
    start = from_documents(corpus, 8, seed=1)
    words = corpus.to_csr().sum(axis=0)
    np.testing.assert_allclose(start.loading_counts.sum(), corpus.n_tokens)
    # half of it is all words alike, so whatever was seen stays possible everywhere
    assert (start.loading_counts >= 0.5 * words[:, None] / 8 * (1 - 1e-12)).all()
    profiles = start.loading_counts / start.loading_counts.sum(axis=0)
    apart = np.abs(profiles[:, :, None] - profiles[:, None, :]).sum(axis=0)
    assert apart[~np.eye(8, dtype=bool)].min() > 0.1


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 40)])
def test_fewer_documents_than_components(shape):
    start = from_documents(Corpus(np.ones(shape)), 5, seed=0)
    assert start.loading_counts.shape == (shape[1], 5)
    assert np.isfinite(start.loading_counts).all()


def test_the_first_pass_has_batches_of_enough_documents():
    few, many = Corpus(make(150)), Corpus(make(2000))
    assert len(rounds_of_first_pass(few)) == 1
    rounds = rounds_of_first_pass(many)
    assert 7 <= len(rounds) <= 9
    # every batch comes from all over the corpus
    assert all(part[-1].stop - part[0].start > 1000 for part in rounds)
    seen = sorted((block.start, block.stop) for part in rounds for block in part)
    assert seen[0][0] == 0
    assert seen[-1][1] == 2000
    assert all(before[1] == after[0] for before, after in pairwise(seen))


@pytest.mark.parametrize("model", ["dm", "gp"])
@pytest.mark.parametrize("algorithm", ["map", "ml"])
def test_documents_are_a_better_start_than_chance(model, algorithm):
    X = make(1000)
    settings = {"model": model, "algorithm": algorithm, "random_state": 0, "tol": 0.0}
    for cycles in (1, 10):
        by_chance = DCA(8, init="random", max_iter=cycles, **settings).fit(X)
        start = DCA(8, init="documents", max_iter=cycles, **settings).fit(X)
        default = DCA(8, max_iter=cycles, **settings).fit(X)
        assert start.trace_["objective"][-1] > by_chance.trace_["objective"][-1]
        np.testing.assert_array_equal(default.components_, start.components_)


def test_single_precision_does_not_harm(monkeypatch):
    """Large fits work in single precision: the answer is that of double to many digits."""
    X = make(1000)
    settings = {"algorithm": "map", "random_state": 0, "tol": 0.0, "max_iter": 30, "init": "random"}
    double = DCA(8, **settings).fit(X)
    monkeypatch.setattr("discan.algorithms.expectation.SINGLE_FROM", 0)
    single = DCA(8, **settings).fit(X)
    assert single.fit_.params.loadings.dtype == np.float32
    assert single.components_.dtype == np.float64
    np.testing.assert_allclose(single.components_, double.components_, atol=2e-5)
    np.testing.assert_allclose(single.scores_, double.scores_, atol=2e-4)
    last = double.trace_["objective"][-1]
    np.testing.assert_allclose(single.trace_["objective"][-1], last, rtol=1e-6)
    np.testing.assert_allclose(single.score(X), double.score(X), atol=1e-5)


def test_long_documents_are_in_double_precision(monkeypatch):
    """In single precision, the objective of people with thousands of genotypes would fall."""
    monkeypatch.setattr("discan.algorithms.expectation.SINGLE_FROM", 0)
    X = np.random.default_rng(0).poisson(3.0, (6, 5000)) + 1
    settings = {"algorithm": "map", "random_state": 0, "max_iter": 1}
    for n_words, kind in ((4000, np.float32), (5000, np.float64)):
        fit = DCA(2, **settings).fit(X[:, :n_words])
        assert fit.fit_.params.loadings.dtype == kind


def test_single_precision_has_the_same_bits_on_any_threads(monkeypatch):
    monkeypatch.setattr("discan.algorithms.expectation.SINGLE_FROM", 0)
    X = make(1000)
    fits = [DCA(8, max_iter=5, random_state=0, n_jobs=n).fit(X) for n in (1, 3)]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    np.testing.assert_array_equal(fits[0].scores_, fits[1].scores_)


@pytest.mark.parametrize(
    ("settings", "scale", "expected"),
    [
        ({}, 1, "collapsed"),
        ({"model": "gp"}, 1, "collapsed"),
        ({"model": "cgp"}, 1, "collapsed"),
        ({"learn": ("alpha",)}, 1, "collapsed"),
        ({}, 1000, "maximum-a-posteriori"),  # plenty of tokens per loading and score
        ({"learn": ("alpha",)}, 1000, "collapsed"),  # which MAP cannot learn
        ({"model": "cgp"}, 1000, "collapsed"),
        # tokens cannot be drawn from parts of counts
        ({}, 0.5, "maximum-a-posteriori"),
        ({"n_components": 30}, 0.5, "collapsed-variational"),  # few tokens for so many
        ({"learn": ("alpha",)}, 0.5, "variational"),
        ({"model": "cgp"}, 0.5, "variational"),
    ],
)
def test_auto_goes_by_the_data_and_is_recorded(settings, scale, expected):
    X = make(60) * scale
    estimator = DCA(**{"n_components": 3, "max_iter": 2, "random_state": 0, **settings}).fit(X)
    assert estimator.settings_["algorithm"] == expected


@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_too_many_components_are_joined(model):
    """Eight kinds of words, each in documents of its own; from three documents per component."""
    rng = np.random.default_rng(0)
    kinds = np.kron(np.eye(8), np.ones(12))
    X = rng.poisson(np.repeat(kinds, 10, axis=0))
    settings = {"model": model, "random_state": 0, "init": "joined", "n_components": 8}
    found = DCA(algorithm=Collapsed(burn_in=2, n_draws=3), **settings).fit(X).components_
    shares = found @ kinds.T
    assert (shares.max(axis=1) > 0.9).all()
    assert len(set(shares.argmax(axis=1))) == 8


@pytest.mark.parametrize(
    ("settings", "learnt"),
    [
        ({}, {"alpha", "gamma"}),
        ({"model": "gp"}, {"alpha", "beta", "gamma"}),
        ({"model": "cgp", "rho": 0.3}, {"alpha", "beta", "gamma"}),
        ({"alpha": 0.2}, {"gamma"}),
        ({"alpha": 0.2, "gamma": 0.1}, set()),
        ({"learn": ()}, set()),
        ({"learn": "alpha", "alpha": 0.2}, {"alpha"}),
        ({"algorithm": "cvb0"}, {"gamma"}),
        ({"algorithm": "map"}, set()),
        ({"algorithm": "ml"}, set()),
        ({"algorithm": "variational"}, {"alpha", "gamma"}),
        ({"groups": np.arange(200) % 4}, {"alpha", "gamma"}),
        ({"algorithm": "variational", "groups": np.arange(200) % 4}, set()),
    ],
)
def test_what_is_learnt_if_the_user_does_not_say(settings, learnt):
    X = make(60)
    estimator = DCA(**{"n_components": 3, "max_iter": 12, "random_state": 0, **settings}).fit(X)
    assert estimator.fit_.params.learn == learnt
    assert set(estimator.settings_["learnt"]) == learnt


@pytest.mark.parametrize(("algorithm", "names"), [("map", ("gamma",)), ("cvb0", ("alpha",))])
def test_expected_counts_do_not_learn_what_they_get_wrong(algorithm, names):
    with pytest.raises(InputError, match="cannot learn") as error:
        DCA(3, algorithm=algorithm, learn=names).fit(make(60))
    assert "collapsed" in str(error.value)


def test_a_chosen_chain_is_the_same_after_loading(tmp_path):
    """The file says which algorithm answers for new documents."""
    X = make(60)
    estimator = DCA(30, max_iter=4, random_state=0).fit(X)
    estimator.save(tmp_path / "chain.discan")
    again = discan.load(tmp_path / "chain.discan")
    assert again.algorithm_ == estimator.algorithm_
    assert again.transform(X[:5]).tobytes() == estimator.transform(X[:5]).tobytes()


def test_a_chain_starts_where_it_is_told():
    """From documents the first sweep is far ahead of one from chance."""
    X = make(1000)
    first = [
        DCA(8, algorithm=Collapsed(start=start), max_iter=1, random_state=0).fit(X)
        for start in ("random", "documents")
    ]
    objective = [fit.trace_["objective"][0] for fit in first]
    assert objective[1] > objective[0] + 0.1 * X.sum()
    same = DCA(8, algorithm="collapsed", init="documents", max_iter=1, random_state=0).fit(X)
    np.testing.assert_array_equal(same.components_, first[1].components_)


@pytest.mark.parametrize("model", ["dm", "gp"])
def test_tiny_and_huge_components(model):
    """Loadings that counts cannot be divided by are taken as 0, and huge ones are refused."""
    words = np.array([[0, 3], [1, 1]])
    params = {"model": model, "random_state": 0, **({"beta": 1.0} if model == "gp" else {})}
    tiny = DCA.from_components([[1.0, 1e-320], [1.0, 1e-310]], **params)
    none = DCA.from_components([[1.0, 0.0], [1.0, 0.0]], **params)
    np.testing.assert_array_equal(tiny.transform(words), none.transform(words))
    assert np.isfinite(
        DCA.from_components(np.full((2, 2), 1e-320), **params).transform(words)
    ).all()
    with pytest.raises(InputError, match=r"components\[0, 1\] = 1e\+308"):
        DCA.from_components([[1.0, 1e308], [1.0, 1.0]], **params)
