# SPDX-License-Identifier: BSD-3-Clause
"""The probability of the totals against exact sums."""

import numpy as np
import oracle
import pytest
from conformance.bridge import model_of, table_of
from scipy.stats import nbinom

from discan import Corpus
from discan.evaluation import totals
from discan.evaluation.totals import log_totals

PRIORS = [
    oracle.Prior("gp", [0.6, 1.5], [0.5, 0.8]),
    oracle.Prior("cgp", [0.6, 1.5, 0.3], [0.5, 0.8, 2.0], [0.6, 0.2, 0.5]),
]


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.model)
def test_totals_are_the_counts_of_one_word_per_group(prior):
    """With one word per group the counts are the totals, whatever the loadings."""
    groups, W = [0, 1], np.array([[0, 0], [3, 1], [2, 0], [1, 4]])
    exposures = np.array([[1.0, 1.0], [0.3, 1.4], [0.7, 0.0], [0.3, 1.4]])
    theta = np.ones((2, prior.K))
    exact = [
        oracle.document(prior, w, theta, groups, e)["logp"]
        for w, e in zip(W, exposures, strict=True)
    ]
    assert log_totals(model_of(prior), table_of(W, groups, exposures)) == pytest.approx(sum(exact))


def test_equal_rates_are_negative_binomial():
    prior = oracle.Prior("gp", [0.6, 1.5], [0.5, 0.5])
    W = np.array([[400, 800], [3, 5], [0, 0]])
    expected = nbinom(2.1, 0.5 / 1.5).logpmf(W.sum(axis=1)).sum()
    assert log_totals(model_of(prior), Corpus(W)) == pytest.approx(expected)


def test_what_is_given_or_too_long(monkeypatch):
    assert log_totals(model_of(oracle.Prior("dm", [0.6, 1.5])), Corpus([[1, 2]])) == 0.0
    monkeypatch.setattr(totals, "LONGEST", 2)
    assert log_totals(model_of(PRIORS[0]), Corpus([[1, 2]])) is None
