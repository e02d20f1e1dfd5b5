# SPDX-License-Identifier: BSD-3-Clause
"""Ways to name components, and the factor that puts them into an estimate."""

import itertools

import numpy as np
import oracle
import pytest
from conformance.bridge import model_of
from scipy.special import gammaln

from discan import Corpus
from discan.evaluation.bases import label_weight
from discan.evaluation.labellings import Labellings
from discan.evaluation.problem import Base, Chain, Problem
from discan.models import LoadingsPrior


def test_permutations_stay_in_their_classes():
    ways = Labellings(np.array([0, 1, 0]), np.log(2))
    assert ways.all.tolist() == [[0, 1, 2], [2, 1, 0]]
    scores = np.array([[1.0, 9.0, 2.0], [0.0, 3.0, 0.0], [5.0, 9.0, 1.0]])
    assert ways.best(scores).tolist() == [2, 1, 0]
    assert ways.log_mean(scores) == pytest.approx(np.logaddexp(5.0, 10.0) - np.log(2))


def test_many_are_counted():
    number = float(gammaln(8 + 1))
    ways = Labellings(np.zeros(8, int), number)
    assert ways.all is None
    assert ways.log_mean(np.eye(8)) == pytest.approx(8 - number)
    assert f"{number:.4g} nats" in ways.said


def test_the_factor_of_the_labels():
    """P q(z) / sum over labellings of q, for every state of a few tokens; its mean is 1."""
    W = np.array([[2, 1], [0, 1]])
    corpus, prior = Corpus(W), oracle.Prior("dm", [0.4, 0.4])
    problem = Problem(corpus, model_of(prior), LoadingsPrior.of(0.5, corpus.layout), 0)
    rng = np.random.default_rng(0)
    base = Base(rng.random((2, 2)), rng.random((2, 2)))
    chain = Chain(problem, 0)
    tokens = [(0, 0), (0, 0), (0, 1), (1, 1)]
    q = np.array([base.loadings[j] * base.scores[i] for i, j in tokens])
    factors = []
    for z in itertools.product(range(2), repeat=4):
        chain.assignments[:] = z
        own = q[np.arange(4), z].prod()
        other = q[np.arange(4), 1 - np.array(z)].prod()
        log_factor, kept = label_weight(problem, chain, base)
        assert np.exp(log_factor) == pytest.approx(2 * own / (own + other))
        assert kept == (own >= other)
        factors.append(np.exp(log_factor))
    assert np.mean(factors) == pytest.approx(1.0)  # the two labellings of a state sum to 2
