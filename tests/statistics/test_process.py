# SPDX-License-Identifier: BSD-3-Clause
"""The truncated processes against exact answers, and against a process without truncation.

`test_exact` enumerates all splits of a tiny corpus over three components and integrates alpha and
the concentration by quadrature (points that cover their prior evenly). The chains must agree with
the posterior of the number of used components, of the concentration and of alpha.

`test_without_truncation` compares with the direct-assignment sampler of `hdp.py`, which has no
upper limit of the number of components.
"""

import hdp
import numpy as np
import oracle
import pytest
from scipy.special import gammaln
from scipy.stats import gamma as gamma_distribution
from scipy.stats import qmc

import discan
from discan.models.hyperparameters import Hyperprior

K = 3
W = np.array([[3, 1, 0], [0, 1, 2]])
LOADINGS = np.array([0.4, 0.7, 0.5])
BETA, RHO = 0.8, 0.3
PRIOR = Hyperprior(alpha=(2.0, 1.5), concentration=(2.0, 1.0))
N_BATCHES = 50
# Tokens of words (J, K) that two components had beforehand.
SEEDS = np.array([[2, 0, 0], [0, 0, 0], [0, 3, 0]])


def prior_points(model, n=2**15):
    """Points (n,) of the concentration and (n, K) of alpha that cover their prior evenly."""
    uniform = qmc.Sobol(2 + K, seed=1).random(n)
    shape, rate = PRIOR.concentration
    eta = gamma_distribution.ppf(uniform[:, 0], shape) / rate
    parts = gamma_distribution.ppf(uniform[:, 2:], eta[:, None] / K)
    shape, rate = PRIOR.alpha
    if model != "dmp":
        return eta, parts / rate
    total = gamma_distribution.ppf(uniform[:, 1], shape) / rate
    sums = parts.sum(axis=1, keepdims=True)
    even = np.where(sums > 0, parts / np.where(sums > 0, sums, 1.0), 1.0 / K)
    return eta, total[:, None] * even


def log_factor(model, c, alpha):
    """Log F(c) of a document with counts (S, K), for every alpha (n, K): (S, n)."""
    c, alpha = c[:, None], np.maximum(alpha, 1e-30)
    rising = gammaln(c + alpha) - gammaln(alpha)
    if model == "dmp":
        total = alpha.sum(axis=-1)
        return rising.sum(axis=-1) + gammaln(total) - gammaln(total + c.sum(axis=-1))
    slab = rising + alpha * np.log(BETA) - (c + alpha) * np.log(BETA + 1.0)
    if model == "cgpp":
        spike = np.where(c == 0, np.log(RHO), -np.inf)
        slab = np.logaddexp(np.log1p(-RHO) + slab, spike)
    return slab.sum(axis=-1)


def exact(model, seeds=0):
    """Posterior of the number of used components, and means of eta, its logarithm and max alpha.

    Seeds are tokens (J, K) that are in every split.
    """
    eta, alpha = prior_points(model)
    states = [oracle.splits(w, K) for w in W]
    per_document = []
    for V in states:
        kinds, which = np.unique(V.sum(axis=1), axis=0, return_inverse=True)
        per_document.append((np.exp(log_factor(model, kinds, alpha)), which.ravel()))
    (first, one), (second, two) = per_document
    joint = first[:, None] * second[None]  # by the counts of both documents, and by point
    n = states[0][:, None] + states[1][None]
    ways = -sum(
        gammaln(V + 1.0).sum(axis=(1, 2)).reshape((-1, 1) if d == 0 else (1, -1))
        for d, V in enumerate(states)
    )
    weights = np.exp(ways + oracle.log_loadings_factor(n + seeds, LOADINGS))
    used = (n.sum(axis=2) > 0).sum(axis=2)
    by_kind = np.zeros((K + 1, len(first), len(second)))
    at = np.broadcast_arrays(used, one[:, None], two[None])
    np.add.at(by_kind, tuple(at), weights)
    by_point = np.einsum("uab,abn->un", by_kind, joint)
    total = by_point.sum()
    point = by_point.sum(axis=0) / total
    chances = by_point.sum(axis=1)[1:] / total
    return np.array([*chances, point @ eta, point @ np.log(eta), point @ alpha.max(axis=1)])


def drawn(model, sampler, seed, n_draws=4000, seeds=None):
    """The same of each draw of a chain, (n_draws, K + 3)."""
    options = {"burn_in": 200, "n_draws": n_draws, "thin": 4, "keep_draws": True}
    chosen = {"gibbs": discan.Gibbs, "collapsed": discan.Collapsed}[sampler](**options)
    others = {"dmp": {}, "gpp": {"beta": BETA}, "cgpp": {"beta": BETA, "rho": RHO}}[model]
    fit = discan.DCA(
        K, model=model, algorithm=chosen, gamma=LOADINGS, learn=("alpha", "concentration"),
        hyperprior=PRIOR, random_state=seed, seed_words=seeds, **others,
    ).fit(W).fit_  # fmt: skip
    used = (fit.record.sizes > 0).sum(axis=1)
    eta = fit.record.hyperparameters["concentration"][:, 0]
    alpha = fit.record.hyperparameters["alpha"].max(axis=1)
    return np.column_stack([used[:, None] == np.arange(1, K + 1), eta, np.log(eta), alpha])


def batch_errors(x):
    """Standard errors of the means of draws (n, m), by batches."""
    means = x.reshape(N_BATCHES, -1, x.shape[1]).mean(axis=1)
    return means.std(axis=0, ddof=1) / np.sqrt(N_BATCHES)


@pytest.mark.parametrize("sampler", ["gibbs", "collapsed"])
@pytest.mark.parametrize("model", ["dmp", "gpp", "cgpp"])
def test_exact(model, sampler):
    x = drawn(model, sampler, seed=3)
    gap, error = x.mean(axis=0) - exact(model), batch_errors(x)
    assert np.all(np.abs(gap) < 5 * error + 2e-3), (gap, error)


@pytest.mark.parametrize("sampler", ["gibbs", "collapsed"])
@pytest.mark.parametrize("model", ["dmp", "gpp", "cgpp"])
def test_exact_with_seeds(model, sampler):
    """A component may have seeds; it is used if it has tokens of the data."""
    seeds = {"first": {0: 2}, "second": {2: 3}}
    x = drawn(model, sampler, seed=3, seeds=seeds)
    gap, error = x.mean(axis=0) - exact(model, SEEDS), batch_errors(x)
    assert np.all(np.abs(gap) < 5 * error + 2e-3), (gap, error)
    gap = x.mean(axis=0) - exact(model)
    assert np.any(np.abs(gap) > 5 * error + 2e-3), "the same without seeds"


def test_points_cover_the_prior():
    """More points do not change the exact answer, so its error is small."""
    eta, alpha = prior_points("dmp")
    assert eta.mean() == pytest.approx(2.0, rel=1e-3)
    assert alpha.sum(axis=1).mean() == pytest.approx(2.0 / 1.5, rel=1e-3)
    more = [values[::2] for values in prior_points("gpp", 2**16)]
    assert more[1].mean() == pytest.approx(2.0 / (K * 1.5), rel=3e-3)


# Small documents of two clear kinds, and one of both.
SMALL = np.array([[4, 2, 0, 0], [5, 1, 0, 0], [0, 0, 3, 3], [0, 1, 2, 4], [2, 1, 2, 1]])
TRUNCATION = 60


def compared(n_sweeps, seed):
    """Distribution of the number of used components: truncated, not truncated, and errors."""
    reference = hdp.used_components(SMALL, 0.3, PRIOR.alpha, PRIOR.concentration, n_sweeps, seed)
    options = {"burn_in": 200, "n_draws": 4 * n_sweeps, "schedule": "exact"}
    fit = discan.DCA(
        TRUNCATION, model="dmp", algorithm=discan.Collapsed(**options), gamma=0.3,
        learn=("alpha", "concentration"), hyperprior=PRIOR, random_state=seed,
    ).fit(SMALL).fit_  # fmt: skip
    used = (fit.record.sizes > 0).sum(axis=1)
    kinds = np.arange(1, 6)
    a, b = used[:, None] == kinds, reference[:, :1] == kinds
    return a.mean(axis=0), b.mean(axis=0), np.hypot(batch_errors(a), batch_errors(b))


def test_without_truncation():
    truncated, reference, error = compared(1_500, seed=5)
    assert np.all(np.abs(truncated - reference) < 4 * error + 0.02), (truncated, reference, error)


@pytest.mark.slow
def test_without_truncation_long():
    truncated, reference, error = compared(12_000, seed=6)
    assert np.all(np.abs(truncated - reference) < 4 * error + 0.02), (truncated, reference, error)
