# SPDX-License-Identifier: BSD-3-Clause
"""Fits and answers stay within a stated amount of memory, as NumPy's allocations tell."""

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from conftest import cells
from scipy import sparse

from discan import DCA, Collapsed, Corpus, Gibbs

K = 100


def corpus(n_documents, n_words, n_tokens, seed=0):
    """Documents of different lengths, words by Zipf's law."""
    rng = np.random.default_rng(seed)
    lengths = rng.multinomial(n_tokens, rng.dirichlet(np.full(n_documents, 2.0)))
    rates = 1.0 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, n_tokens, p=rates / rates.sum())
    documents = np.repeat(np.arange(n_documents), lengths)
    ones = np.ones(n_tokens, dtype=np.int64)
    return Corpus(sparse.csr_array((ones, (documents, words)), shape=(n_documents, n_words)))


@contextmanager
def peak():
    """Yield a list that gets the most bytes that were allocated at once."""
    result = []
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield result
        result.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()


def limit(table, n_components=K):
    """What collapsed Gibbs may need: a component a token and its word, counts, documents."""
    loadings = table.n_words * n_components
    return 1.3 * (6 * table.n_tokens + 8 * loadings + 16 * table.n_documents)


@pytest.fixture(scope="module")
def text():
    table = corpus(2_000, 2_000, 200_000)
    for cached in ("levels", "lengths", "blocks", "integral", "n_tokens"):
        getattr(table, cached)
    return table


def chain(model, schedule, **options):
    """An estimator whose kernels are loaded."""
    algorithm = Collapsed(schedule=schedule, **options)
    fixed = {"model": model, "random_state": 0, "learn": ()}
    estimator = DCA(K, algorithm=algorithm, **fixed)
    short = Collapsed(schedule=schedule, burn_in=1, n_draws=1)
    DCA(K, algorithm=short, **fixed).fit(corpus(20, 30, 500))
    return estimator


@pytest.mark.parametrize("schedule", ["exact", "blocked"])
@pytest.mark.parametrize("model", ["dm", "gp"])
def test_collapsed_gibbs_keeps_to_its_limit(text, model, schedule):
    peaks = []

    def watch(run):
        peaks.append(tracemalloc.get_traced_memory()[1])
        return run.cycle == 3

    estimator = chain(model, schedule, burn_in=3, n_draws=1).set_params(callback=watch)
    with peak():
        estimator.fit(text)
    assert max(peaks) <= limit(text)
    # it is the start that takes the most: the sweeps leave room
    assert len(peaks) == 3


@pytest.mark.parametrize("schedule", ["exact", "blocked"])
@pytest.mark.parametrize("model", ["dm", "gp", "cgp"])
def test_draws_take_what_is_said(text, model, schedule):
    """8 bytes a loading; for each component that a document ever used, 10 or 14; a block."""
    during, entries, block = [], [], []

    def watch(run):
        block.append(max(block.stop - block.start for block in run.schedule.blocks))
        during.append(tracemalloc.get_traced_memory()[1])
        if run.draws is not None:
            entries.append(sum(len(part.components) for part in run.draws.documents.parts))

    estimator = chain(model, schedule, burn_in=1, n_draws=4).set_params(callback=watch)
    with peak() as whole:
        estimator.fit(text)
    assert len(entries) == 4
    assert entries == sorted(entries)
    assert entries[-1] <= 4 * text.n_tokens
    averages = 8 * text.n_words * K + (14 if model == "cgp" else 10) * entries[-1]
    averages += 2 * 8 * block[0] * K  # its counts, and its sums as they were and as they will be
    assert max(during) <= limit(text) + averages
    # the result reads the averages where they are
    assert whole[0] <= limit(text) + averages
    with peak() as reading:
        assert estimator.components_.shape == (K, text.n_words)
    assert reading[0] <= 8.1 * text.n_words * K
    dense = 8 * text.n_documents * K
    with peak() as reading:
        assert estimator.scores_.shape == (text.n_documents, K)
    assert reading[0] <= 1.1 * dense + 12 * 8 * block[0] * K  # worked out block by block
    assert estimator.scores_ is estimator.scores_


@pytest.mark.parametrize("schedule", ["exact", "blocked"])
@pytest.mark.parametrize(
    ("n_tokens", "n_components"), [(300_000, 30), (60_000, 100), (60_000, 400)]
)
def test_a_fit_with_its_draws_keeps_to_the_limit_where_loadings_dominate(
    n_tokens, n_components, schedule
):
    table = corpus(100, 8_000, n_tokens)
    assert 8 * table.n_words * n_components > table.n_tokens * 6
    algorithm = Collapsed(schedule=schedule, burn_in=2, n_draws=8)
    estimator = DCA(n_components, algorithm=algorithm, random_state=0)
    for cached in ("levels", "lengths", "blocks", "integral", "n_tokens"):
        getattr(table, cached)
    estimator.fit(table.select(slice(0, 5)))  # kernels are loaded
    with peak() as whole:
        estimator.fit(table)
    assert whole[0] <= limit(table, n_components)
    needed = algorithm.plan(table, n_components, np.uint64(0)).bytes
    assert whole[0] <= needed <= 2 * limit(table, n_components)


CELLS = cells()


@pytest.fixture(scope="module")
def wide():
    return corpus(4_000, 4_000, 500_000)


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_no_table_of_entries_by_components_or_documents_by_words(wide, model, algorithm):
    n_components = 16
    forbidden = min(
        4 * wide.n_entries * n_components,  # even in single precision
        wide.n_documents * wide.n_words,  # even as booleans
    )
    assert forbidden > 8 * 8 * n_components * (wide.n_documents + wide.n_words)
    if algorithm.whole_counts:
        algorithm = type(algorithm)(burn_in=1, n_draws=2)
    estimator = DCA(
        n_components, model=model, algorithm=algorithm, random_state=0, init="random", max_iter=3
    )
    few = wide.select(slice(0, 10))
    with peak() as fitting:  # after a first time, when the kernels are loaded
        estimator.fit(few)
        tracemalloc.reset_peak()
        estimator.fit(wide)
    assert fitting[0] < forbidden


@pytest.mark.parametrize(("model", "algorithm"), CELLS)
def test_answers_need_no_such_table_either(model, algorithm):
    long = corpus(400, 3_000, 60_000)
    n_components = 64
    forbidden = min(
        4 * long.n_entries * n_components,
        long.n_documents * long.n_words * 8,  # a dense copy of the documents
    )
    assert forbidden > 2 * 8 * n_components * (long.n_documents + long.n_words)
    rng = np.random.default_rng(0)
    components = rng.dirichlet(np.full(3_000, 0.5), n_components)
    options = {} if model == "dm" else {"beta": 0.1}
    estimator = DCA.from_components(
        components, model=model, algorithm=algorithm, random_state=0, **options
    )
    answers = [estimator.transform, estimator.score]
    if algorithm.uses_prior:
        answers += [estimator.log_likelihood, lambda X: estimator.log_likelihood(X, "bound")]
    few = long.select(slice(0, 2))
    for answer in answers:
        answer(few)
        with peak() as answering:
            answer(few if algorithm.whole_counts or model == "cgp" else long)
        assert answering[0] < forbidden


def test_scoring_goes_by_pieces():
    """All entries times all components at once would take 32 MB."""
    table = corpus(200, 500, 40_000)
    n_components = 200
    components = np.random.default_rng(0).dirichlet(np.full(500, 0.1), n_components)
    estimator = DCA.from_components(components, algorithm="map", random_state=0)
    estimator.score(table.select(slice(0, 2)))
    with peak() as scoring:
        estimator.score(table)
    assert scoring[0] < 8 * table.n_entries * n_components / 2


def test_a_gibbs_sampler_keeps_only_counts_and_scores(text):
    """Counts and scores (I, K), loadings and lanes (J, K), and the sums of the draws."""
    algorithm = Gibbs(burn_in=1, n_draws=2)
    estimator = DCA(K, algorithm=algorithm, random_state=0)
    estimator.fit(corpus(20, 30, 500))
    with peak() as whole:
        estimator.fit(text)
    lanes = algorithm.plan(text, K, np.uint64(0)).lanes
    tables = 2 * text.n_documents + (lanes + 6) * text.n_words
    assert whole[0] <= 1.3 * 8 * K * tables + 16 * text.n_words * K + 20 * text.n_tokens
