# SPDX-License-Identifier: BSD-3-Clause
"""Rankings are those of a plain computation in NumPy."""

import itertools
from math import prod

import numpy as np
import pytest
from scipy.special import poch

import discan
from discan.data.corpus import Corpus
from discan.errors import InputError, ModelFileError
from discan.search import build_index, learn_weights, load_index
from discan.search.learning import average_precision, discounted_gain
from discan.search.query import read_query

WORDS = ("apple", "pear", "plum", "boat", "ship", "sail", "tree", "sea")


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    mix = rng.dirichlet([0.4] * 3, 60)
    topics = rng.dirichlet([0.3] * len(WORDS), 3)
    counts = np.array([rng.multinomial(rng.integers(3, 40), p) for p in mix @ topics])
    return Corpus(counts, word_names=WORDS, document_names=[f"d{i}" for i in range(60)])


@pytest.fixture(scope="module")
def estimator(corpus):
    return discan.LDA(3, algorithm="map", random_state=0, max_iter=30).fit(corpus)


def by_enumeration(share, weight, loadings, own):
    """p(query | document): sum over the component of each token, or its own word."""
    a = share * weight
    total = 0.0
    n_components = len(share)
    for path in itertools.product(range(-1, n_components), repeat=len(loadings)):
        counts = np.bincount([k for k in path if k >= 0], minlength=n_components)
        term = prod(own[t] if k < 0 else loadings[t, k] for t, k in enumerate(path))
        total += term * np.prod(poch(a, counts)) / poch(weight, counts.sum())
    return total


def brute_force(estimator, corpus, words, weight, mu):
    """The formulas of the documentation, document by document."""
    counts = corpus.to_csr().toarray()
    shares = estimator.transform(corpus)
    theta = estimator.components_.T
    overall = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1])
    mu = counts.sum() / (counts.sum(axis=1) > 0).sum() if mu is None else mu
    found = []
    for row, share in zip(counts, shares, strict=True):
        own = (row[words] + mu * overall[words]) / (row.sum() + mu)
        a = row.sum() + estimator.alpha_.sum()
        found.append(by_enumeration(share, a, (1 - weight) * theta[words], weight * own))
    return np.log(found)


@pytest.mark.parametrize("query", ["apple", "boat sea", "apple apple ship", "tree sail boat pear"])
@pytest.mark.parametrize(("weight", "mu"), [(0.0, None), (0.7, None), (0.4, 7.0), (1.0, 20.0)])
def test_ranking_is_that_of_brute_force(estimator, corpus, query, weight, mu):
    words = np.array([WORDS.index(word) for word in query.split()])
    expected = brute_force(estimator, corpus, words, weight, mu)
    hits = estimator.search(query, corpus, n=60, word_weight=weight, mu=mu)
    np.testing.assert_array_equal(
        [hit.number for hit in hits], np.argsort(-expected, kind="stable")
    )
    found = [hit.log_probability for hit in hits]
    np.testing.assert_allclose(found, np.sort(expected)[::-1], rtol=1e-9)
    few = estimator.search(query, corpus, n=5, word_weight=weight, mu=mu)
    assert [hit.number for hit in few] == [hit.number for hit in hits[:5]]
    assert few[0].document == f"d{few[0].number}"


def test_long_queries_are_close_to_the_exact_probability(estimator, corpus):
    query = "apple pear boat ship sea tree"
    words = np.array([WORDS.index(word) for word in query.split()])
    index = estimator.search_index(corpus)
    for weight in (0.0, 0.5):
        expected = brute_force(estimator, corpus, words, weight, None)
        found = index.log_probability(query, word_weight=weight)
        assert np.abs(found - expected).max() < 0.1
        plug_in = estimator.transform(corpus) @ estimator.components_[:, words]
        if weight == 0.0:
            assert (
                np.abs(found - expected).mean()
                < 0.5 * np.abs(np.log(plug_in).sum(axis=1) - expected).mean()
            )


def test_two_tokens_one_by_one_are_exact(estimator, corpus, monkeypatch):
    index = estimator.search_index(corpus)
    expected = [index.log_probability("boat sea", word_weight=w) for w in (0.0, 0.6)]
    monkeypatch.setattr("discan.search.likelihood.EXACT", 1)
    found = [index.log_probability("boat sea", word_weight=w) for w in (0.0, 0.6)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_one_word_is_the_mean(estimator, corpus):
    index = estimator.search_index(corpus)
    expected = estimator.transform(corpus) @ estimator.components_[:, 3]
    np.testing.assert_allclose(np.exp(index.log_probability("boat", word_weight=0)), expected)


def test_draws_are_averaged_as_probabilities(corpus):
    algorithm = discan.Collapsed(burn_in=10, n_draws=4, keep_draws=True)
    estimator = discan.LDA(3, algorithm=algorithm, random_state=0).fit(corpus)
    query = "boat sea"
    for X in (corpus, None):
        index = estimator.search_index(X)
        assert len(index.views) == 4
        parts = [type(index)(index.fit, (view,)) for view in index.views]
        logs = [part.log_probability(query, word_weight=0) for part in parts]
        found = index.log_probability(query, word_weight=0)
        np.testing.assert_allclose(np.exp(found), np.exp(logs).mean(axis=0))
        assert len(estimator.search_index(X, draws=0).views) == 1
    drawn = estimator.draws_.component_counts[0]
    alpha = estimator.draws_.hyperparameters[0]["alpha"]
    expected = (drawn + alpha) / (drawn + alpha).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(index.views[0].shares.rows(slice(None)), expected)


def test_maximum_likelihood_takes_the_shares_as_known(corpus):
    estimator = discan.PLSI(3, random_state=0, max_iter=20).fit(corpus)
    found = estimator.search_index(corpus).log_probability("boat sea pear", word_weight=0)
    chances = estimator.transform(corpus) @ estimator.components_[:, [3, 7, 1]]
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(np.exp(found), chances.prod(axis=1), rtol=1e-9, atol=1e-300)


def test_hits_are_explained(estimator, corpus):
    hit = estimator.search("boat sea", corpus, n=1, word_weight=0)[0]
    assert sum(hit.explained.values()) == pytest.approx(1.0, abs=0.02)
    share = estimator.transform(corpus)[hit.number]
    parts = [share * estimator.components_[:, j] for j in (3, 7)]
    expected = sum(part / part.sum() for part in parts) / 2
    best = estimator.component_names_[expected.argmax()]
    assert next(iter(hit.explained.items())) == (best, pytest.approx(expected.max()))
    row = corpus.to_csr().toarray()[hit.number]
    assert hit.held == int(row[3] > 0) + int(row[7] > 0)
    mixed = estimator.search("boat sea", corpus, n=1)[0]
    assert 0 < sum(mixed.explained.values()) < 1
    assert estimator.search("boat", None, n=1)[0].held is None


@pytest.mark.parametrize("precision", ["float64", "float32", "float16"])
@pytest.mark.parametrize("top", [None, 2, 3])
def test_index_file(estimator, corpus, tmp_path, precision, top):
    index = estimator.search_index(corpus, precision=precision, top=top)
    index.save(tmp_path / "x.index")
    again = load_index(tmp_path / "x.index", estimator.fit_)
    for query in ("apple", "boat sea", "apple pear boat ship sea tree"):
        assert again.search(query, 10) == index.search(query, 10)
        exact = estimator.search_index(corpus).log_probability(query, word_weight=0)
        if top != 2:
            np.testing.assert_allclose(
                index.log_probability(query, word_weight=0), exact, atol=0.02
            )
    assert again.similar("d3", 4) == index.similar("d3", 4)
    rows = index.views[0].shares.rows(slice(None))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=2e-3)


def test_an_index_of_all_components_loses_nothing(estimator, corpus):
    index = estimator.search_index(corpus, top=3)
    rows = index.views[0].shares.rows(slice(None))
    np.testing.assert_allclose(rows, estimator.transform(corpus), atol=1e-12)


def test_other_models_and_damage_are_refused(estimator, corpus, tmp_path):
    path = tmp_path / "x.index"
    estimator.search_index(corpus).save(path)
    other = discan.LDA(3, algorithm="map", random_state=1, max_iter=3).fit(corpus)
    with pytest.raises(ModelFileError, match="another model"):
        other.load_index(path)
    data = path.read_bytes()
    path.write_bytes(data[:-9] + b"\x01" + data[-8:])
    with pytest.raises(ModelFileError, match="checksum"):
        estimator.load_index(path)
    with pytest.raises(ModelFileError, match="no such file"):
        estimator.load_index(tmp_path / "none.index")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("0.values", lambda a: a * 2),
        ("0.values", lambda a: a - 0.5),
        ("0.values", lambda a: a[:, :1]),
        ("0.inverse_weight", lambda a: a[:-1]),
        ("0.inverse_weight", lambda a: a * np.nan),
        ("words.documents", lambda a: a + 60),
        ("words.documents", lambda a: a[::-1].copy()),
        ("words.indptr", lambda a: a[::-1].copy()),
        ("words.counts", lambda a: -a),
        ("words.counts", lambda a: a[:-1]),
    ],
)
def test_hostile_files_are_refused(estimator, corpus, tmp_path, name, change):
    from discan.data.storage import HEAD, read_file, write_file

    path = tmp_path / "x.index"
    estimator.search_index(corpus).save(path)
    header, arrays = read_file(path, "index")
    arrays[name] = change(arrays[name])
    kept = {key: value for key, value in header.items() if key not in HEAD}
    write_file(path, "index", kept, arrays)
    with pytest.raises(ModelFileError):
        load_index(path, estimator.fit_)


def test_queries(estimator, corpus):
    fit = estimator.fit_
    assert read_query("Apples, a PEAR & the boat!", fit).tolist() == [1, 3]
    assert read_query(["boat", "Sea"], fit).tolist() == [3, 7]
    assert read_query({"boat": 2, "sea": 1, "tree": 0}, fit).tolist() == [3, 3, 7]
    assert read_query("boat; sea", fit).tolist() == [3, 7]
    assert read_query(np.eye(8, dtype=int)[2], fit).tolist() == [2]
    for query in (
        "",
        "nosuch words",
        ["nosuch"],
        3,
        np.ones((2, 8)),
        {"boat": -1},
        np.full(8, 0.5),
    ):
        with pytest.raises(InputError):
            read_query(query, fit)
    with pytest.raises(InputError, match="whole number"):
        estimator.search("boat", corpus, n=0)
    with pytest.raises(InputError, match="word_weight"):
        estimator.search("boat", corpus, word_weight=2)
    with pytest.raises(InputError, match="no words"):
        estimator.search("boat", word_weight=0.5)


def test_groups():
    rng = np.random.default_rng(1)
    side = rng.integers(0, 2, 40)
    votes = np.where(rng.random((40, 6)) < 0.9, side[:, None], 1 - side[:, None])
    counts = np.zeros((40, 12), dtype=int)
    counts[np.arange(40)[:, None], 2 * np.arange(6) + votes] = 1
    counts[7, 0:2] = 0  # a senator who did not vote
    names = [f"{bill}={vote}" for bill in range(6) for vote in ("nay", "yea")]
    corpus = Corpus(counts, groups=np.repeat(np.arange(6), 2), word_names=names)
    estimator = discan.MPCA(2, algorithm="map", random_state=0, max_iter=40).fit(corpus)
    hits = estimator.search("0=yea; 1=Nay", corpus, n=40)
    chances = estimator.search_index(corpus).log_probability(["0=yea", "1=nay"])
    assert [hit.number for hit in hits] == np.argsort(-chances, kind="stable").tolist()
    one = estimator.search_index(corpus).log_probability("0=yea")
    np.testing.assert_allclose(
        np.exp(one), estimator.transform(corpus) @ estimator.components_[:, 1]
    )
    # the own vote counts if it is asked for, with the weight of the group's one token
    own = estimator.search_index(corpus).log_probability("0=yea", word_weight=1.0, mu=2.0)
    overall = (counts[:, 1].sum() + 0.5) / (counts[:, :2].sum() + 1.0)
    expected = (counts[:, 1] + 2 * overall) / (counts[:, :2].sum(axis=1) + 2)
    np.testing.assert_allclose(np.exp(own), expected)


def test_weights_are_learnt(estimator, corpus):
    index = estimator.search_index(corpus)
    counts = corpus.to_csr().toarray()
    queries = ["boat", "apple pear", "sea"]
    relevant = [counts[:, 3] > 3, (counts[:, :2] > 2).all(axis=1), np.flatnonzero(counts[:, 7] > 2)]
    found = learn_weights(index, queries, relevant, mus=(None, 5.0), weights=(0.0, 0.5, 1.0))
    assert len(found.tried) == 5
    assert found.precision == max(found.tried.values()) == found.tried[found.mu, found.word_weight]
    values = index.log_probability("boat", word_weight=0.0)
    order = np.argsort(-values, kind="stable")
    ranks = np.flatnonzero(relevant[0][order]) + 1
    expected = np.mean(np.arange(1, len(ranks) + 1) / ranks)
    assert average_precision(values, relevant[0]) == pytest.approx(expected)
    with pytest.raises(InputError):
        learn_weights(index, [], [])


def test_measures_of_rankings():
    values = np.array([5.0, 4.0, 3.0, 2.0])
    relevant = np.array([False, True, False, True])
    assert average_precision(values, relevant) == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert average_precision(values, relevant, without=0) == pytest.approx((1 + 2 / 3) / 2)
    gain = (1 / np.log2(3) + 1 / np.log2(5)) / (1 + 1 / np.log2(3))
    assert discounted_gain(values, relevant, 10) == pytest.approx(gain)
    assert discounted_gain(values, np.zeros(4, dtype=bool)) == 0.0


def test_training_documents_need_no_data(estimator, corpus):
    found = build_index(estimator.fit_).log_probability("boat")
    np.testing.assert_allclose(np.exp(found), estimator.proportions_ @ estimator.components_[:, 3])
    given = discan.DCA.from_components(estimator.components_, alpha=0.1)
    with pytest.raises(InputError, match="no training documents"):
        given.search([1, 0, 0, 0, 0, 0, 0, 0])
