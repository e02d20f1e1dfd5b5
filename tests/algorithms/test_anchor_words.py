# SPDX-License-Identifier: BSD-3-Clause
"""A start from words finds the components, and online fits that take it need two passes."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from discan import DCA
from discan.algorithms import MAP, CollapsedVariational, Variational
from discan.algorithms.anchor_words import from_words, suits
from discan.data.corpus import Corpus
from discan.fitting import starting

K, J, ALPHA = 10, 300, 0.15


def planted(n_documents, seed, length=30):
    """Short documents, each of several components; the components themselves."""
    components = np.random.default_rng(7).dirichlet(np.full(J, 0.05), K)
    rng = np.random.default_rng(seed)
    proportions = rng.dirichlet(np.full(K, ALPHA), n_documents)
    return rng.poisson(length * proportions @ components), components


def test_words_of_a_component_start_together():
    X, components = planted(3000, seed=1)
    counts = from_words(Corpus(X), K, seed=0).loading_counts
    np.testing.assert_allclose(counts.sum(), X.sum())
    # all of it is given out word by word, but for the share of documents that is mixed in
    np.testing.assert_allclose(counts.sum(axis=1), X.sum(axis=0), rtol=0.2, atol=20.0)
    found = (counts / counts.sum(axis=0)).T
    gaps = 0.5 * np.abs(found[:, None] - components[None]).sum(axis=2)
    assert gaps[linear_sum_assignment(gaps)].mean() < 0.4


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 40)])
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_fewer_words_than_components(shape, scale):
    start = from_words(Corpus(np.full(shape, scale)), 5, seed=0)
    assert start.loading_counts.shape == (shape[1], 5)
    assert np.isfinite(start.loading_counts).all()


def test_documents_of_one_word_each():
    """Nothing stands beside anything: what is left is the start from documents."""
    corpus = Corpus(np.tile(np.eye(6), (5, 1)))
    counts = from_words(corpus, 3, seed=0).loading_counts
    assert np.ptp(counts, axis=1).max() > 0.01  # else components would stay alike for ever


@pytest.mark.parametrize("algorithm", [CollapsedVariational, MAP, Variational])
def test_two_online_passes_are_as_good_as_batch(algorithm):
    """The first pass is the start's, the second the one cycle."""
    X, _ = planted(4000, seed=1)
    new, _ = planted(500, seed=2)
    settings = {"alpha": ALPHA, "gamma": 0.02, "random_state": 1, "tol": 0.0}
    batch = DCA(K, algorithm=algorithm(), max_iter=150, **settings).fit(X)
    online = DCA(K, algorithm=algorithm(online=True), max_iter=1, **settings).fit(X)
    judges = [DCA.from_components(fit.components_, alpha=ALPHA) for fit in (batch, online)]
    perplexity = [np.exp(-judge.score(new)) for judge in judges]
    assert perplexity[1] <= 1.005 * perplexity[0]


@pytest.mark.parametrize("algorithm", [CollapsedVariational, MAP, Variational])
def test_every_token_is_counted_once(algorithm):
    """However often a batch is visited, it counts as much as its share."""
    X, _ = planted(1000, seed=1)
    options = algorithm(online=True, batch_entries=2000)
    counts = []
    settings = {"alpha": ALPHA, "random_state": 0, "max_iter": 2}
    DCA(
        K, algorithm=options, callback=lambda run: counts.append(run.params.loading_counts.sum()),
        **settings,
    ).fit(X)  # fmt: skip
    # batches of equally many documents differ a little in tokens
    np.testing.assert_allclose(counts, X.sum(), rtol=0.02)


def long_texts(n_documents=10, n_words=150, length=100):
    """Documents with as many tokens as told, each of words that differ from one to the next."""
    rng = np.random.default_rng(0)
    return rng.multinomial(length, np.full(n_words, 1 / n_words), n_documents)


def test_a_start_from_words_suits_long_texts_alone():
    """Rules of the data alone: long documents, many words per component, one group."""
    assert suits(Corpus(long_texts()), 3)
    assert not suits(Corpus(long_texts(length=99)), 3)
    assert not suits(Corpus(long_texts()), 4)
    assert not suits(Corpus(long_texts(), groups=np.repeat([0, 1], 75)), 3)


def test_a_start_from_words_suits_no_table_beyond_its_limit(monkeypatch):
    monkeypatch.setattr("discan.algorithms.anchor_words.MOST_BYTES", 100)
    assert not suits(Corpus(long_texts()), 3)


@pytest.mark.parametrize(
    ("length", "n_components", "expected"),
    [
        (100, 3, ("from_words",)),
        (99, 3, ("from_documents", 20)),
        (99, 30, ("from_documents", 10)),
        (99, 200, ("from_documents", 3)),
    ],
)
def test_a_start_by_map_begins_as_suits_the_texts(monkeypatch, length, n_components, expected):
    """Long texts begin from words, others from documents: 300, or 3 to 20 per component."""
    called = []

    def noted(name, function):
        def wrapper(*given):
            called.append((name, *given[3:4]))
            return function(*given)

        return wrapper

    for name in ("from_words", "from_documents"):
        place = f"discan.fitting.starting.{name}"
        monkeypatch.setattr(place, noted(name, getattr(starting, name)))
    settings = {"algorithm": "collapsed", "init": "map", "max_iter": 1}
    DCA(n_components, **settings).fit(long_texts(length=length))
    assert called == [expected]
