# SPDX-License-Identifier: BSD-3-Clause
"""Scores and likelihoods of new documents."""

import numpy as np
import pytest
from short_fits import CELLS, FEW, SHORT, X, make

import discan
from discan import DCA, LDA, MPCA, NMF, PLSI, Corpus, InputError
from discan.engines.threads import Threads
from discan.readers.datasets import load_senate2005


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
