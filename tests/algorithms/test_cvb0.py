# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed variational inference: what it promises of data whose truth is known."""

import numpy as np
import pytest
from conftest import counted, planted

from discan import DCA, MAP, Collapsed, CollapsedVariational, InputError

K, J = 6, 120


def short_documents(n_documents, length, alpha=0.15, seed=0):
    """Short documents of a few components, each with its own words and some that all share."""
    rng = np.random.default_rng(seed)
    theta, proportions = planted(rng, (n_documents, J), K, 0.05, alpha)
    lengths = np.full(n_documents, length)
    return counted(rng, lengths, proportions, theta), theta, proportions


def perplexity(model, X):
    return np.exp(-model.score(X))


def test_short_documents_are_not_fitted_to_their_noise():
    """Held-out quality as an average over draws has, where a point estimate overfits."""
    documents, *_ = short_documents(3000, 8)
    X, new = documents[:1500], documents[1500:]
    options = {"alpha": 0.15, "gamma": 0.05, "random_state": 0, "max_iter": 150, "tol": 0.0}
    exact = Collapsed(burn_in=150, n_draws=100, start="map")
    judge = {"alpha": 0.15, "algorithm": "collapsed", "random_state": 0}

    def judged(algorithm):
        """All components are judged alike, by averages over draws of the proportions."""
        fitted = DCA(K, algorithm=algorithm, **options)
        if isinstance(algorithm, Collapsed):
            fitted.set_params(max_iter=None)
        components = fitted.fit(X).components_
        return perplexity(DCA.from_components(components, **judge), new)

    point, collapsed, draws = (judged(a) for a in (MAP(), CollapsedVariational(), exact))
    assert collapsed < 0.99 * point
    assert collapsed < 1.01 * draws


def test_planted_components_are_found():
    X, theta, _ = short_documents(800, 60)
    model = DCA(K, algorithm="cvb0", alpha=0.15, gamma=0.05, random_state=0).fit(X)
    unit = [
        rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (model.components_, theta)
    ]
    likeness = unit[0] @ unit[1].T
    assert sorted(likeness.argmax(axis=1)) == list(range(K))
    assert likeness.max(axis=1).min() > 0.97


@pytest.mark.parametrize("groups", [None, np.arange(J) % 3])
def test_one_component_is_leave_one_out_exactly(groups):
    """With one component a token's share is 1: the chance of each given all others is closed."""
    X, *_ = short_documents(40, 30)
    gamma = 0.3
    model = DCA(1, algorithm="cvb0", gamma=gamma, groups=groups, max_iter=3, tol=0.0).fit(X)
    of = np.zeros(J, int) if groups is None else groups
    n = X.sum(axis=0)
    N = np.bincount(of, weights=n)[of]
    size = np.bincount(of)[of]
    logs = np.log((n - 1 + gamma) / (N - 1 + gamma * size), where=n > 0, out=np.zeros(J))
    np.testing.assert_allclose(model.trace_["objective"][-1], (n * logs).sum(), rtol=1e-10)


def test_gamma_is_learnt_from_counts():
    X, theta, _ = short_documents(3000, 40)
    learnt = [
        DCA(
            K, algorithm=algorithm, alpha=0.3, gamma=0.5, learn=("gamma",), init=theta,
            random_state=0, max_iter=60, tol=0.0,
        ).fit(X).gamma_[0]
        for algorithm in ("cvb0", "collapsed")
    ]  # fmt: skip
    np.testing.assert_allclose(*learnt, rtol=0.25)


def test_more_cycles_raise_what_tokens_say_of_each_other():
    X, *_ = short_documents(400, 20)
    for stride in (1.0, 1.7):
        algorithm = CollapsedVariational(stride=stride)
        trace = DCA(K, algorithm=algorithm, random_state=0, max_iter=60, tol=0.0).fit(X).trace_
        objective = trace["objective"] / X.sum()
        assert objective[-1] > objective[0] + 0.05
        assert np.diff(objective)[20:].min() > -1e-3


def test_fractions_are_welcome_and_absence_is_not():
    X, *_ = short_documents(50, 20)
    half = DCA(3, algorithm="cvb0", random_state=0, max_iter=20).fit(X * 0.5)
    np.testing.assert_allclose(half.component_counts_.sum(axis=1), 10.0)
    with pytest.raises(InputError, match="atom at zero"):
        DCA(3, model="cgp", algorithm="cvb0").fit(X)
    for stride in (0.9, 2.0, "long"):
        with pytest.raises(InputError, match="stride"):
            CollapsedVariational(stride=stride)
