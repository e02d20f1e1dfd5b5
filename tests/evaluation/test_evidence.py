# SPDX-License-Identifier: BSD-3-Clause
"""Every estimate of the evidence against exact enumeration, within its stated error."""

import logging

import numpy as np
import oracle
import pandas as pd
import pytest
from conformance.bridge import parameters, table_of

import discan
from discan import log_evidence
from discan.evaluation.chib import ChibLoadings
from discan.evaluation.evidence import EVIDENCE_METHODS
from discan.evaluation.evidence_methods import AIS, TI, VariationalBound

RANDOM = [AIS(300, 24), AIS(200, 24, "chain"), TI(24, 60, 24), ChibLoadings(60, 24)]
MODELS = pytest.mark.parametrize("model", oracle.MODELS)


def of_case(case, method, **more):
    """The evidence of a problem of the oracle."""
    corpus = table_of(case.W, case.groups, case.exposures)
    settings = {**parameters(case.prior), "gamma": case.gamma, "model": case.prior.model}
    return log_evidence(corpus, case.prior.K, method=method, **(settings | more))


def small(model, K, grouped, seed):
    """A problem of the oracle with K components, unequal or equal priors by turns."""
    rng = np.random.default_rng([K, grouped, seed, *map(ord, model)])
    while True:
        kind = oracle.KINDS[2 + grouped]
        case = oracle.random_case(kind, rng, model)
        if case.W.sum() <= 7:
            break
    values = {
        name: np.full(K, value[0]) if seed % 2 else rng.uniform(0.3, 0.9, K)
        for name, value in parameters(case.prior).items()
    }
    prior = oracle.Prior(model, **values)
    return oracle.Case(prior, case.W, case.groups, case.exposures, case.gamma, None)


@MODELS
@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("grouped", [0, 1], ids=["one group", "groups"])
@pytest.mark.parametrize("seed", [0, 1], ids=["unequal priors", "equal priors"])
def test_every_method_against_enumeration(model, K, grouped, seed):
    case = small(model, K, grouped, seed)
    exact = oracle.corpus(case.prior, case.W, case.gamma, K, case.groups, case.exposures)["logp"]
    for method in RANDOM:
        found = of_case(case, method)
        assert abs(found.value - exact) <= 4 * found.error + 1e-9, (method, found, exact)
        # a base near one mode of so small data leaves more to chance than the prior does
        assert found.error < (0.5 if getattr(method, "base", "") == "chain" else 0.15)
        assert found.converged
        if K == 1:
            assert found.error == 0
            assert "exact" in found.kind
        else:
            assert found.kind == method.kind
            assert len(found.runs) == 24
    bound = of_case(case, VariationalBound(2))
    assert bound.value <= exact + 1e-9
    assert bound.value >= exact - 4
    assert "lower bound" in bound.kind
    if K == 1:
        assert bound.value == pytest.approx(exact)
    else:
        assert ("labelling is in it" in bound.labels) == bool(seed)


@pytest.mark.parametrize("base", ["prior", "chain"])
@pytest.mark.parametrize("seed", [0, 1], ids=["unequal priors", "equal priors"])
def test_ais_is_unbiased(base, seed):
    """The mean of p over many short runs is the exact p, although its log is low."""
    case = small("cgp", 2, 1, seed)
    exact = oracle.corpus(case.prior, case.W, case.gamma, 2, case.groups, case.exposures)["logp"]
    found = of_case(case, AIS(4, 4000 if base == "prior" else 800, base))
    ratios = np.exp(found.runs - exact)
    assert abs(ratios.mean() - 1) <= 4 * ratios.std() / np.sqrt(len(ratios))
    assert ratios.std() > 0.1
    assert found.runs.mean() < exact - 0.01


def test_models_are_compared_on_the_same_event():
    """GP of equal rates is DM times a model of the totals."""
    X = np.array([[3, 1, 0], [0, 2, 2], [1, 1, 1]])
    dm = log_evidence(X, 2, alpha=[0.4, 0.9], method=AIS(500, 16))
    gp = log_evidence(X, 2, alpha=[0.4, 0.9], beta=0.3, model="gp", method=AIS(500, 16))
    assert dm.event == "counts given the totals"
    assert gp.event == "counts and totals"
    assert dm.given_totals == dm.value
    assert gp.given_totals == pytest.approx(dm.value, abs=4 * np.hypot(dm.error, gp.error))
    assert gp.value < gp.given_totals - 1
    assert "labelling" in gp.labels


@pytest.mark.parametrize("alpha", [[0.2, 0.2], [0.2, 0.25]], ids=["alike", "unlike"])
def test_chains_that_keep_their_labels(alpha):
    """Two kinds of documents that never change places: both labellings belong to the evidence."""
    W, gamma = np.array([[14, 0], [14, 0], [0, 14], [0, 14]]), np.array([0.3, 0.3])
    exact = oracle.corpus(oracle.Prior("dm", alpha), W, gamma, 2)["logp"]
    for method in (AIS(3000, 32), AIS(300, 16, "chain"), TI(40, 100, 32), ChibLoadings(100, 16)):
        found = log_evidence(W, 2, alpha=alpha, gamma=gamma, method=method)
        if method.name == "chib" and alpha[0] != alpha[1]:
            assert "priors tell the components apart" in found.labels
            assert "the runs disagree" in found.warning  # each chain keeps the way that it chose
            continue
        assert found.error < 0.15
        # a base near one mode does not see the last thousandth of p, in others
        missed = 1e-3 if getattr(method, "base", "") == "chain" else 0.0
        assert abs(found.value - exact) <= 4 * found.error + missed


def test_labels_of_many_components():
    """Seven alike: the labellings are not enumerated, and their number is added."""
    X = np.kron(np.eye(7, dtype=int), np.full((2, 2), 6))
    found = log_evidence(X, 7, alpha=0.1, method=ChibLoadings(20, 4))
    assert "8.525 nats, is added" in found.labels
    few = log_evidence(X, 3, alpha=0.1, method=ChibLoadings(20, 4))
    assert "all 6 labellings" in few.labels
    unequal = log_evidence(X, 3, alpha=[0.1, 0.1, 0.3], method=ChibLoadings(20, 4))
    assert "all 2 labellings" in unequal.labels
    near = log_evidence(X, 7, alpha=0.1, method=AIS(50, 4, "chain"))
    assert "8.525 nats, is added" in near.labels
    far = log_evidence(X, 7, alpha=0.1, method=AIS(3000, 8, "prior"))
    assert abs(near.value - far.value) < 4 * np.hypot(near.error, far.error) + 1


def test_what_has_not_converged_is_said(caplog):
    rng = np.random.default_rng(1)
    X = np.repeat(rng.multinomial(60, rng.dirichlet(np.full(40, 0.1), 4)), 5, axis=0)
    with caplog.at_level(logging.WARNING, "discan"):
        found = log_evidence(X, 4, method=AIS(10, 3, "prior"))
    assert not found.converged
    assert "doubling the ladder from 5 to 10 temperatures moved it by" in found.warning
    assert found.warning in caplog.text
    assert found.warning in repr(found)
    bound = log_evidence(X, 4, method="bound")
    assert found.value < bound.value
    assert bound.converged
    assert len(bound.runs) == 5
    assert bound.value == bound.runs.max()
    assert bound.bits == pytest.approx(-bound.value / np.log(2))


def test_two_threads_give_the_same_bits():
    X = np.random.default_rng(1).poisson(0.7, (6, 5))
    for method in RANDOM:
        one, two = (log_evidence(X, 2, method=method, n_jobs=n) for n in (1, 2))
        assert one.value == two.value
        assert one.error == two.error
    assert log_evidence(X, 2, method=RANDOM[0], random_state=1).value != one.value


def test_hyperparameters_of_a_fit():
    X = np.random.default_rng(1).poisson(0.7, (20, 5))
    fitted = discan.GaP(2, algorithm="collapsed", random_state=0).fit(X)
    ours = log_evidence(X, fit=fitted, method=AIS(50, 4))
    assert ours.model == "gamma-poisson"
    assert ours.n_components == 2
    same = log_evidence(
        X, 2, model="gp", method=AIS(50, 4), alpha=fitted.alpha_, beta=fitted.beta_,
        gamma=fitted.gamma_,
    )  # fmt: skip
    assert ours.value == same.value
    assert log_evidence(X, fit=fitted.fit_, method=AIS(50, 4)).value == ours.value
    with pytest.raises(discan.InputError, match="4 columns; the fit has 5 words"):
        log_evidence(X[:, :4], fit=fitted)
    with pytest.raises(discan.InputError, match="maximum likelihood has no priors"):
        log_evidence(X, fit=discan.NMF(2, max_iter=3).fit(X))
    with pytest.raises(discan.InputError, match="fitted estimator"):
        log_evidence(X, fit=3)


def test_frames_of_answers():
    frame = pd.DataFrame({"vote": ["yes", "no", "yes", None], "pet": ["cat", "dog", "cat", "dog"]})
    found = log_evidence(frame, 2, method=AIS(200, 8))
    assert np.isfinite(found.value)
    assert found.n_tokens == 7


def test_wrong_arguments():
    X = np.ones((2, 3), int)
    for method in EVIDENCE_METHODS:
        assert "warning" in log_evidence(X, 1, method=method).describe()
    with pytest.raises(discan.InputError, match="'bound', 'ais', 'ti', 'chib'"):
        log_evidence(X, 2, method="harmonic")
    with pytest.raises(discan.InputError, match=r"whole counts; use method='bound'"):
        log_evidence(X + 0.5, 2)
    assert np.isfinite(log_evidence(X + 0.5, 2, method="bound").value)
    with pytest.raises(discan.InputError, match="has no beta"):
        log_evidence(X, 2, beta=1.0)
    with pytest.raises(discan.InputError, match="n_temperatures=0"):
        log_evidence(X, 2, method=AIS(0))
    with pytest.raises(discan.InputError, match="'auto', 'prior', 'chain'"):
        log_evidence(X, 2, method=AIS(base="x"))
    with pytest.raises(discan.InputError, match="n_components=0"):
        log_evidence(X, 0)


def test_annealing_from_a_chain_converges_sooner():
    """From 2,000 tokens on the prior is too far; both agree where the prior has many steps."""
    rng = np.random.default_rng(2)
    components = rng.dirichlet(np.full(20, 0.3), 3)
    X = np.array([rng.multinomial(40, m @ components) for m in rng.dirichlet([0.3] * 3, 50)])
    near, far = (log_evidence(X, 3, alpha=0.3, method=AIS(200, 8, b)) for b in ("chain", "prior"))
    assert near.converged
    assert not far.converged
    bound = log_evidence(X, 3, alpha=0.3, method="bound")
    assert near.value > max(far.value, bound.value) + 10
    assert near.error < 1
    auto = log_evidence(X, 3, alpha=0.3, method=AIS(200, 8))
    assert auto.value == near.value
