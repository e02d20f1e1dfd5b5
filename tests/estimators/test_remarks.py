# SPDX-License-Identifier: BSD-3-Clause
"""Remarks on data that are probably not what was meant, and none on others."""

import logging

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

import discan

RNG = np.random.default_rng(0)
RATES = RNG.gamma(0.3, 1.0, 60)
X = RNG.poisson(RATES * 2, (80, 60))
STARS = np.minimum(X, 5) * np.where(np.arange(60) % 3, 1.0, 0.5)  # some items have half stars


def remarks(caplog, table, n_components=3, **options):
    with caplog.at_level(logging.WARNING, "discan"):
        caplog.clear()
        discan.LDA(n_components, algorithm="map", max_iter=2, random_state=0, **options).fit(table)
    return [r.getMessage() for r in caplog.records if "compiles" not in r.getMessage()]


@pytest.mark.parametrize(
    ("weighting", "why"),
    [
        (TfidfTransformer(), "row has length 1"),
        (TfidfTransformer(sublinear_tf=True), "row has length 1"),
        (TfidfTransformer(norm="l1"), "row sums to 1"),
        (TfidfTransformer(norm=None), "column is a weight times whole numbers"),
    ],
)
def test_weighted_counts_are_noticed(caplog, weighting, why):
    [remark] = remarks(caplog, weighting.fit_transform(sparse.csr_array(X)))
    assert why in remark
    assert "CountVectorizer" in remark


@pytest.mark.parametrize(
    "table",
    [
        X,
        X.astype(float),
        X * 0.5,
        STARS,
        X + (X > 0) * RNG.random(X.shape),
        RNG.gamma(0.5, 2.0, (80, 60)),
        X / np.maximum(X.sum(axis=1, keepdims=True), 1) * 10_000.0,
    ],
    ids=["whole", "float", "halves", "half stars", "fractions", "gamma", "per 10,000"],
)
def test_other_counts_are_not(caplog, table):
    assert remarks(caplog, table) == []


@pytest.mark.parametrize(
    ("shape", "n_components", "groups", "most"),
    [
        ((5, 60), 6, None, 5),  # documents
        ((80, 4), 5, None, 4),  # words
        ((80, 6), 5, [0, 0, 1, 1, 2, 2], 4),  # three questions with two answers
    ],
)
def test_more_components_than_the_data_can_bear(caplog, shape, n_components, groups, most):
    table = RNG.poisson(3.0, shape) + 1
    assert remarks(caplog, table, most, groups=groups) == []
    [remark, *_] = remarks(caplog, table, n_components, groups=groups)
    assert remark.startswith(f"{n_components} components are too many for the data: ")
    assert remark.endswith(f"; use n_components={most}")


def test_too_few_counts(caplog):
    few = np.zeros((40, 30), dtype=int)
    few[np.arange(40), np.arange(40) % 30] = 1
    [remark, *_] = remarks(caplog, few, 5)
    assert "40 counts" in remark
    assert remark.endswith("use n_components=2")


def test_the_nouns_of_the_data(caplog):
    from discan.data.nouns import VOTES

    [remark, *_] = remarks(caplog, discan.Corpus(X[:4], nouns=VOTES), 9)
    assert remark.startswith("9 blocs are too many for the data: 4 members, ")


def test_empty_components(caplog):
    table = np.kron(np.eye(2, dtype=int), np.full((10, 10), 5))
    start = np.vstack([np.kron(np.eye(2), np.ones(10)), np.full(20, 1e-300)])
    with caplog.at_level(logging.WARNING, "discan"):
        discan.PLSI(3, init=start, max_iter=20, random_state=0).fit(table)
    assert "1 of 3 components explain less than one count each; use n_components=2" in caplog.text
