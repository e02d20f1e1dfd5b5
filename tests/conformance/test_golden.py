# SPDX-License-Identifier: BSD-3-Clause
"""The package against the golden cases: exact where it is deterministic, close where it samples."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import oracle
import pytest
from conformance.bridge import (
    averaged,
    batch_error,
    estimator,
    exact_corpus,
    exact_document,
    model_of,
    table_of,
)
from conftest import fit_run, make_run
from scipy import stats
from scipy.special import digamma, gammaln, xlogy

from discan import Collapsed, Gibbs, MaximumLikelihood, Variational
from discan.algorithms.base import Clock, Params
from discan.algorithms.score_states import ScoreState
from discan.algorithms.statistics import Stats
from discan.algorithms.word_index import WordIndex
from discan.engines import Threads
from discan.kernels import blocked, gibbs
from discan.kernels.objective import log_loadings
from discan.models import DirichletMultinomial, GammaPoisson, LoadingsPrior
from discan.models.hyperparameters import (
    FLAT,
    AugmentedScores,
    ExpectedScores,
    Hyperprior,
    Mode,
    expected_tables,
    gamma_shape,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["cases"]
CLOCK = Clock(np.uint64(0), 0)
CLOSE = 0.03  # a few Monte Carlo standard errors of fold-in and of Chib's estimator


def of_kind(*kinds):
    cases = [case for case in GOLDEN if case["kind"] in kinds]
    assert cases
    return pytest.mark.parametrize("case", cases, ids=lambda case: case["id"])


def prior_of(inputs, model=None):
    model = (model or inputs["model"]).lower()
    wanted = {"gp": ("alpha", "beta"), "cgp": ("alpha", "beta", "rho"), "dm": ("alpha",)}[model]
    return oracle.Prior(model, **{name: inputs[name] for name in wanted})


def match(actual, golden, rel_tol):
    np.testing.assert_allclose(actual, golden, rtol=rel_tol, atol=rel_tol)


def test_no_case_is_left_out():
    assert len(GOLDEN) == 20
    assert {case["kind"] for case in GOLDEN} == {
        "doc_fixed_theta", "doc_fixed_theta_groups", "corpus_theta_integrated",
        "corpus_theta_integrated_groups", "rb_gibbs_conditionals", "direct_gibbs_conditionals",
        "joint_densities", "variational_document", "variational_document_cgp",
        "variational_full", "nmf_plsi", "hyperparameters", "prediction",
    }  # fmt: skip


# ---------------------------------------------------------------------- documents, given loadings


def settings_of(case):
    """(exposures, golden outputs) of a document case, one or two of them."""
    if case["kind"] == "doc_fixed_theta":
        return [(None, case["outputs"])]
    inputs, outputs = case["inputs"], case["outputs"]
    return [
        (inputs["exposures_observed"], outputs["last_group_observed_but_zero"]),
        (inputs["exposures_missing"], outputs["last_group_missing_exposure0"]),
    ]


@of_kind("doc_fixed_theta", "doc_fixed_theta_groups")
def test_document(case):
    inputs = case["inputs"]
    prior, groups = prior_of(inputs), inputs.get("groups")
    scores = "E_m" if prior.model == "dm" else "E_l"
    fitted = {
        algorithm: estimator(prior, inputs["theta"], groups, algorithm)
        for algorithm in ("collapsed", "gibbs", "variational")
    }
    for exposures, golden in settings_of(case):
        exact = exact_document(prior, inputs["w"], inputs["theta"], groups, exposures)
        for ours, theirs in (
            ("logp", "logp"),
            ("E_V", "E_V"),
            ("E_c", "E_c"),
            ("E_scores", scores),
        ):
            match(exact[ours], golden[theirs], case["rel_tol"])
        X = table_of(inputs["w"], groups, exposures)
        for algorithm in ("collapsed", "gibbs"):
            of = (prior, inputs["theta"], groups, X, algorithm)
            counts, error = averaged("component_counts", *of)
            assert error.max() < 0.02
            np.testing.assert_allclose(counts, golden["E_c"], atol=CLOSE)
            np.testing.assert_allclose(averaged("transform", *of)[0], golden[scores], atol=CLOSE)
        chib = fitted["collapsed"].log_likelihood(X, method="chib")[0]
        np.testing.assert_allclose(chib, golden["logp"], atol=CLOSE)
        for any_of_them in fitted.values():
            assert any_of_them.log_likelihood(X, method="bound")[0] <= golden["logp"] + 1e-9
        if prior.model == "cgp":
            match(exact["P_zero"], golden["P_zero"], case["rel_tol"])
            absent, _ = averaged("prob_absent", *of)
            np.testing.assert_allclose(absent, golden["P_zero"], atol=CLOSE)


# -------------------------------------------------------------------- corpora, loadings integrated


@of_kind("corpus_theta_integrated", "corpus_theta_integrated_groups")
def test_corpus(case):
    inputs, golden = case["inputs"], case["outputs"]
    prior = prior_of(inputs)
    layout = {"groups": inputs.get("groups"), "exposures": inputs.get("exposures")}
    exact = exact_corpus(prior, inputs["W"], inputs["gamma"], **layout)
    scores = "E_m" if prior.model == "dm" else "E_l"
    pairs = {name: name for name in ("logp", "E_c", "E_theta", "E_theta_sq", "E_n")}
    pairs["E_scores"] = scores
    if prior.model == "cgp":
        pairs["P_zero"] = "P_zero"
    for ours, theirs in pairs.items():
        match(exact[ours], golden[theirs], case["rel_tol"])

    corpus = table_of(inputs["W"], **layout)
    model, loadings = model_of(prior), LoadingsPrior.of(inputs["gamma"], corpus.layout)
    bound = fit_run(corpus, model, Variational(), loadings, max_iter=300, seed=1).trace["objective"]
    assert bound.max() <= golden["logp"] + 1e-9
    for sampler in (Collapsed(100, 1200, keep_draws=True), Gibbs(100, 1200, keep_draws=True)):
        chain = fit_run(corpus, model, sampler, loadings, seed=1)
        error = batch_error(chain.draws.component_counts)
        assert np.all(np.abs(chain.component_counts - golden["E_c"]) <= 5 * error + 1e-12)
        error = batch_error(chain.draws.loadings)
        assert np.all(np.abs(chain.loadings.mean - golden["E_theta"]) <= 5 * error + 1e-12)
        np.testing.assert_allclose(chain.scores, golden[scores], atol=0.1)
        spread = np.sqrt(np.array(golden["E_theta_sq"]) - np.square(golden["E_theta"]))
        np.testing.assert_allclose(chain.loadings.sd, spread, atol=0.02)
        if prior.model == "cgp":
            np.testing.assert_allclose(chain.absent, golden["P_zero"], atol=CLOSE)


# ------------------------------------------------------------------------------------- samplers


@of_kind("rb_gibbs_conditionals")
@pytest.mark.parametrize("name", ["GP", "CGP", "DM"])
@pytest.mark.parametrize("listed", [False, True])
def test_collapsed_conditionals(case, name, listed):
    inputs, golden = case["inputs"], case["outputs"][name]
    tokens, K = np.array(inputs["tokens"]), inputs["K"]
    prior = prior_of(inputs, name)
    counts = np.zeros((inputs["I"], inputs["J"]), int)
    np.add.at(counts, (tokens[:, 0], tokens[:, 1]), 1)
    corpus = table_of(counts, inputs["groups"], inputs["exposures"])
    model, loadings = model_of(prior), LoadingsPrior.of(inputs["gamma"], corpus.layout)

    def log_joint(components):
        c = np.zeros((inputs["I"], K), int)
        n = np.zeros((inputs["J"], K), int)
        np.add.at(c, (tokens[:, 0], components), 1)
        np.add.at(n, (tokens[:, 1], components), 1)
        words = log_loadings(n, corpus.layout.group_sums(n), loadings.gamma, loadings.totals)
        return model.log_marginal(c, corpus.total_exposures).sum() + words, n

    now, n = log_joint(tokens[:, 2])
    match(now, golden["log_joint_sequence_without_exposure_powers"], case["rel_tol"])
    table = model.score_table(corpus.exposure_levels)
    copies = 40_000
    for t, (i, _, _) in enumerate(tokens):
        trial = tokens[:, 2].copy()
        log_p = []
        for k in range(K):
            trial[t] = k
            log_p.append(log_joint(trial)[0])
        p = np.exp(np.array(log_p) - max(log_p))
        match(p / p.sum(), golden["conditional_per_token"][t], case["rel_tol"])
        # many copies of the document, this token first, loadings frozen: one draw from each
        own = np.flatnonzero(tokens[:, 0] == i)
        order = np.append(t, own[own != t])
        state = np.tile(tokens[order, 2], copies).astype(np.uint16)
        moved = [np.empty(len(state), np.int32), *np.empty((2, len(state)), np.uint16)]
        totals = corpus.layout.group_sums(n)
        params = Params.of(
            model, loadings, corpus.exposure_levels,
            loading_counts=n.astype(np.int32), totals=totals,
        )  # fmt: skip
        index = WordIndex.of(params.loading_counts, listed)
        if listed:
            index.fill(params, Threads(1))
        (blocked.sweep_by_lists if listed else blocked.sweep_by_rows)(
            np.arange(copies + 1) * len(order), np.tile(tokens[order, 1], copies).astype(np.int32),
            np.ones(len(state), np.int32), np.full(copies, corpus.levels[i], np.int32), *table,
            corpus.layout.group_of_word, loadings.gamma, loadings.totals, totals,
            params.loading_counts, *index.read, state, *moved, np.empty(copies),
            np.uint64(3), 0, 0,
        )  # fmt: skip
        share = np.bincount(state[:: len(order)], minlength=K) / copies
        np.testing.assert_allclose(share, golden["conditional_per_token"][t], atol=0.0125)


@of_kind("direct_gibbs_conditionals")
def test_direct_conditionals(case):
    inputs, golden, rel_tol = case["inputs"], case["outputs"], case["rel_tol"]
    c, theta = np.array([inputs["c"]]), np.array(inputs["theta"])
    for name in ("GP", "CGP"):
        model = model_of(prior_of(inputs, name))
        table = model.score_table(np.ones(1))
        part = f"{name}_l" if name == "GP" else "CGP_slab"
        match(table.shape[0] + c[0], golden[f"{part}_shape"], rel_tol)
        match(table.rate[0], golden[f"{part}_rate"], rel_tol)
    moments = model.moments(c, table)
    match(moments.absent[0], golden["CGP_prob_zero"], rel_tol)
    match(moments.mean[0], golden["CGP_posterior_mean_l"], rel_tol)
    table = model_of(prior_of(inputs, "DM")).score_table(np.ones(1))
    match(table.shape[0] + c[0], golden["DM_m_dirichlet"], rel_tol)
    np.testing.assert_array_equal(table.rate, 1.0)

    corpus = table_of([1, 1, 1])
    loadings = LoadingsPrior.of(inputs["gamma"], corpus.layout)
    shape = np.array(golden["theta_dirichlet_parameters"])
    match(loadings.mean(np.array(inputs["counts_jk"])), shape / shape.sum(0), rel_tol)
    square = shape * (shape + 1) / (shape.sum(0) * (shape.sum(0) + 1))
    match(loadings.mean_square(np.array(inputs["counts_jk"])), square, rel_tol)
    rows = split_of(theta, inputs["l"], [1, 1, 1])
    match(rows, golden["V_row_probabilities"], rel_tol)
    many = 10**6  # a count this large is split by its expectation, to a few thousandths
    v, by_word = np.zeros((1, 2), np.int64), np.zeros((3, 2), np.int64)
    gibbs.split(
        np.array([0, 3]), np.arange(3, dtype=np.int32), np.full(3, many, np.int32), theta,
        np.array([inputs["l"]]), v, by_word, np.uint64(0), 0,
    )  # fmt: skip
    np.testing.assert_allclose(by_word / many, golden["V_row_probabilities"], atol=0.003)
    np.testing.assert_array_equal(v[0], by_word.sum(0))


def split_of(theta, scores, w):
    """Expected split of the counts w at these loadings and scores, by maximum likelihood."""
    flat = GammaPoisson(np.ones(2), np.ones(2)).flat()
    corpus = table_of(w)
    params, lane = Params.of(flat, None, np.ones(1), loadings=np.array(theta)), Stats()
    state = ScoreState(np.array([scores]) * params.table.rate)
    MaximumLikelihood().step(params, corpus.blocks[0], state, CLOCK, lane)
    return lane.finished().loading_sums


@of_kind("joint_densities")
def test_joint_densities(case):
    inputs, golden, rel_tol = case["inputs"], case["outputs"], case["rel_tol"]
    theta, V = np.array(inputs["theta"]), np.array(inputs["V"])
    c, w = V.sum(0)[None], V.sum(1)
    corpus = table_of(w)
    split = (xlogy(V, theta) - gammaln(V + 1)).sum() + gammaln(w + 1).sum()
    for name in ("GP", "CGP", "DM"):
        model = model_of(prior_of(inputs, name))
        log_p_V = (model.log_marginal(c, np.ones(1)) + model.log_bag(corpus))[0] + split
        match(log_p_V, golden["log_p_V"][name], rel_tol)
        if name == "CGP":
            continue
        s = np.array(inputs["m" if name == "DM" else "l"])
        prior, posterior = (density_of(model, x) for x in (0.0, 1.0))
        # p(V, s) = p(V) p(s | V) and p(w, s) = p(s) p(w | s)
        letter = "m" if name == "DM" else "l"
        match(log_p_V + posterior(s, c[0]), golden[f"{name}_log_p_V_{letter}"], rel_tol)
        given = xlogy(w, theta @ s).sum() + model.log_bag(corpus)
        given += model.log_total(s.sum(), w.sum(), np.ones(1))
        match(given[0] + prior(s, 0 * c[0]), golden[f"{name}_log_p_w_{letter}"], rel_tol)


def density_of(model, exposure):
    """Log density of the scores given component counts, from the score table."""
    shape, rate, _ = (rows[0] for rows in model.score_table(np.array([exposure])))
    if model.normalised:
        return lambda s, c: stats.dirichlet.logpdf(s / s.sum(), shape + c)
    return lambda s, c: stats.gamma.logpdf(s, shape + c, scale=1 / rate).sum()


# ---------------------------------------------------------------------------------- variational


def step_at(model, theta_log, w, a, N=None):
    """One variational step on a document: (bound, state, split, expected log scores at a).

    With ``N`` the step is made to find just these responsibilities; the bound is still that of
    ``theta_log``.
    """
    w, a = np.asarray(w, float), np.array([a], float)
    corpus = table_of(w)
    algorithm = Variational(loadings="point")
    at_a = ScoreState(a.copy())
    prior = LoadingsPrior.of(1.0, corpus.layout)
    learn = frozenset({"alpha"})
    params = Params.of(model, prior, np.ones(1), learn=learn, loadings=np.exp(theta_log))
    eta = algorithm.score_sums(params, corpus.blocks[0], at_a).log_scores
    extra = 0.0
    if N is not None:
        made = np.maximum(N, 1e-100) / np.exp(eta)
        params = replace(params, loadings=made)
        extra = (w[:, None] * np.asarray(N) * (theta_log - np.log(made))).sum()
    lane = Stats()
    algorithm.step(params, corpus.blocks[0], at_a, CLOCK, lane)
    constants = model.log_constant(corpus.lengths) + model.log_bag(corpus)
    return (
        lane.objective + constants[0] + extra,
        at_a.score_shape[0],
        lane.finished().loading_sums,
        eta,
    )


def divergence(model, a, b, shape, rate):
    """KL(q(a, b) || q(shape, rate)): what a bound loses if q(scores) is not the best one."""
    a, b, shape, rate = map(np.asarray, (a, b, shape, rate))
    if model.normalised:
        out = gammaln(a.sum()) - gammaln(shape.sum()) - (gammaln(a) - gammaln(shape)).sum()
        return out + ((a - shape) * (digamma(a) - digamma(a.sum()))).sum()
    out = (a - shape) * digamma(a) - gammaln(a) + gammaln(shape)
    return (out + shape * (np.log(b) - np.log(rate)) + a * (rate - b) / b).sum()


@of_kind("variational_document")
@pytest.mark.parametrize("name", ["GP", "DM"])
def test_variational_document(case, name):
    inputs, golden, rel_tol = case["inputs"], case["outputs"][name], case["rel_tol"]
    prior = prior_of(inputs, name)
    model, w, a = model_of(prior), inputs["w"], np.array(inputs["a"])
    log_theta = np.log(inputs["theta"])
    bound, shape, _, eta = step_at(model, log_theta, w, a)
    match(eta, golden["E_log_score_at_a"], rel_tol)
    match(shape, golden["a_after_one_update"], rel_tol)
    match(bound, golden["bound_after_one_update"], rel_tol)
    match(step_at(model, log_theta, [1, 1, 1], a)[2], golden["N_from_a"], rel_tol)
    # at any q(scores) the bound is lower by the divergence from the best one given N
    rate = model.score_table(np.ones(1)).rate[0]
    match(bound - divergence(model, a, rate, shape, rate), golden["bound_paper_form_at_a"], rel_tol)
    bound, shape, _, _ = step_at(model, log_theta, w, a, inputs["N"])
    there = bound - divergence(model, a, inputs["b"], shape, rate)
    match(there, golden["bound_at_given_q"], rel_tol)

    variational = estimator(prior, inputs["theta"], algorithm="variational")
    converged = variational.log_likelihood([w], method="bound")[0]
    match(converged, golden["converged_bound"], rel_tol)
    assert converged <= golden["exact_logp"] + 1e-9
    shape = prior.alpha + variational.component_counts([w])[0]
    np.testing.assert_allclose(shape, golden["converged_a"], rtol=1e-5)  # fold-in stops at 1e-7
    match(exact_document(prior, w, inputs["theta"])["logp"], golden["exact_logp"], rel_tol)


@of_kind("variational_document_cgp")
def test_variational_document_cgp(case):
    inputs, golden = case["inputs"], case["outputs"]
    prior = prior_of(inputs, "CGP")
    variational = estimator(prior, inputs["theta"], algorithm="variational")
    X = [inputs["w"]]
    bound = variational.log_likelihood(X, method="bound")[0]
    assert golden["converged_bound"] - 1e-6 <= bound <= golden["exact_logp"] + 1e-9
    assert golden["bound_at_given_q"] <= bound
    exact = exact_document(prior, inputs["w"], inputs["theta"])["logp"]
    match(exact, golden["exact_logp"], case["rel_tol"])
    # the answer behind the bound; flat there, so the place is known less well than the height
    np.testing.assert_allclose(variational.prob_absent(X)[0], golden["converged_pi"], atol=1e-4)
    np.testing.assert_allclose(variational.transform(X)[0], golden["converged_E_l"], atol=1e-3)
    # and no higher than a general optimiser gets
    best = oracle.best_bound(prior, inputs["w"], np.log(inputs["theta"]), starts=3)
    assert bound <= best["bound"] + 1e-6


@of_kind("variational_full")
@pytest.mark.parametrize("name", ["GP", "DM"])
def test_variational_full(case, name):
    inputs, golden, rel_tol = case["inputs"], case["outputs"][name], case["rel_tol"]
    model = model_of(prior_of(inputs, name))
    corpus = table_of(inputs["W"])
    loadings = LoadingsPrior.of(inputs["gamma"], corpus.layout)
    algorithm, lam = Variational(), np.array(inputs["lam"])
    none = Params.of(model, loadings, np.ones(1))
    params = algorithm.with_counts(none, lam - loadings.gamma[:, None])
    match(params.loading_shape, lam, rel_tol)
    match(np.log(params.loadings), golden["E_log_theta"], rel_tol)
    nothing = table_of(np.zeros((1, 3)))
    constants = model.log_constant(nothing.lengths) + model.log_bag(nothing)
    schedule = algorithm.plan(nothing, len(model.alpha), CLOCK.seed)
    ended = algorithm.finish(params, params, Stats(), CLOCK, schedule, Threads(1))
    penalty = ended.objective - constants.sum()
    match(penalty, golden["neg_kl_theta"], rel_tol)

    rate, total, counts = model.score_table(np.ones(1)).rate[0], penalty, 0.0
    for w, N, a in zip(inputs["W"], inputs["N"], inputs["a"], strict=True):
        bound, shape, split, _ = step_at(model, np.log(params.loadings), w, a, N)
        total += bound - divergence(model, a, rate, shape, rate)
        counts = counts + split
    match(total, golden["bound"], rel_tol)
    stats = Stats(loading_sums=counts)
    after = algorithm.update(params, stats, 1.0, CLOCK, Threads(1))
    match(after.loading_shape, golden["lambda_after_update_from_N"], rel_tol)


# ---------------------------------------------------------------------------- maximum likelihood


@of_kind("nmf_plsi")
def test_nmf_plsi(case):
    inputs, golden, rel_tol = case["inputs"], case["outputs"], case["rel_tol"]
    corpus, scores = table_of(inputs["W"]), np.array(inputs["l"])
    loadings = LoadingsPrior.of(1.0, corpus.layout)
    m = scores / scores.sum(1, keepdims=True)
    bag = DirichletMultinomial().log_bag(corpus).sum()

    def start(model, tau, first):
        components = np.transpose(inputs["theta"])
        run = make_run(corpus, model, MaximumLikelihood(tau=tau), loadings, init=components)
        match(run.params.loadings, inputs["theta"], 1e-14)
        run.states.states[0].score_shape[:] = first
        return run

    gp, dm = GammaPoisson(1.0, 1.0).prepare(2), DirichletMultinomial(1.0).prepare(2)
    run = start(gp, 1.0, scores)
    run.advance(1)
    fitted = run.result()
    match(fitted.loadings.mean, golden["nmf_theta"], rel_tol)
    match(fitted.scores, golden["nmf_l"], rel_tol)
    # the reported value takes it that each total is met, as it is after any step
    lengths, total = corpus.lengths, scores.sum(1)
    before = run.trace["objective"][0] + (lengths + gp.log_total(total, lengths, 1.0)).sum()
    match(before, golden["poisson_loglik_before"], rel_tol)

    for name, tau, objective in (
        ("plsi", 1.0, "plsi_loglik"), ("tempered", inputs["tau"], "tempered_objective"),
    ):  # fmt: skip
        run = start(dm, tau, lengths[:, None] * m)
        run.advance(1)
        fitted = run.result()
        match(fitted.loadings.mean, golden[f"{name}_theta"], rel_tol)
        match(fitted.scores, golden[f"{name}_m"], rel_tol)
        run.advance(2)
        values = run.trace["objective"] - bag
        match(values, [golden[f"{objective}_before"], golden[f"{objective}_after"]], rel_tol)

    run = start(gp, 1.0, lengths[:, None] * m)  # a PLSI step is an NMF step from l = L m
    run.advance(1)
    match(run.result().loadings.mean, golden["plsi_theta"], rel_tol)
    match(run.result().scores, lengths[:, None] * np.array(golden["plsi_m"]), rel_tol)


# ------------------------------------------------------------------------------- hyperparameters


@of_kind("hyperparameters")
def test_hyperparameters(case):
    inputs, golden, rel_tol = case["inputs"], case["outputs"], case["rel_tol"]
    c, learn = np.array(inputs["c"]), frozenset({"alpha"})
    n = len(c)
    start = DirichletMultinomial(inputs["a0"]).prepare(2)

    def step(model, hyperprior=FLAT):
        A, lengths = model.alpha.sum(), c.sum(1)
        sums = AugmentedScores(
            expected_tables(c, model.alpha).sum(0), np.full((1, 2), n), np.zeros(2),
            -(digamma(lengths + A) - digamma(A)).sum(), n, np.ones(1),
        )  # fmt: skip
        return model.resample(learn, sums, hyperprior, Mode())

    match(expected_tables(c, start.alpha), golden["expected_tables"], rel_tol)
    match(step(start).alpha, golden["fixed_point_step"], rel_tol)
    hyperprior = Hyperprior(alpha=(inputs["h0"], inputs["hb"]))
    match(step(start, hyperprior).alpha, golden["fixed_point_step_with_hyperprior"], rel_tol)
    match(start.log_marginal(c, np.ones(n)).sum(), golden["loglik_at_a0"], rel_tol)
    best = start
    for _ in range(20_000):
        before, best = best, step(best)
        if np.abs(best.alpha - before.alpha).max() < 1e-12:
            break
    match(best.alpha, golden["alpha_ml"], rel_tol)
    match(best.log_marginal(c, np.ones(n)).sum(), golden["loglik_at_ml"], rel_tol)

    sample = np.array(inputs["l_sample"])
    gap = np.log(sample.mean()) - np.log(sample).mean()
    match(gamma_shape(gap), golden["gamma_shape_ml"], rel_tol)
    sums = ExpectedScores(
        np.log(sample).sum()[None], sample.sum()[None], np.array([len(sample)]), len(sample)
    )
    gamma = GammaPoisson(1.0, 1.0).prepare(1).maximise(frozenset({"alpha", "beta"}), sums)
    match(gamma.alpha[0], golden["gamma_shape_ml"], rel_tol)
    match(gamma.beta[0], golden["gamma_rate_ml"], rel_tol)

    model = GammaPoisson(inputs["alpha_fixed"], 1.0).prepare(2)
    for _ in range(500):
        scores = model.moments(c, model.score_table(np.ones(1))).mean.sum(0)
        sums = ExpectedScores(np.zeros(2), scores, np.full(2, float(n)), n)
        model = model.maximise(frozenset({"beta"}), sums)
    match(model.beta, golden["beta_ml"], rel_tol)
    match(model.log_marginal(c, np.ones(n)).sum(), golden["GP_loglik_at_beta_ml"], rel_tol)


# ------------------------------------------------------------------------------------ prediction


@of_kind("prediction")
def test_prediction(case):
    inputs, golden, rel_tol = case["inputs"], case["outputs"], case["rel_tol"]
    theta, labels = np.array(inputs["theta"]), np.array(inputs["theta_labels"])
    w, q = np.array(inputs["w"]), np.array(inputs["q"])
    dm = prior_of(inputs, "DM")
    bag = DirichletMultinomial().log_bag(table_of([w, w + q]))
    exact = [exact_document(dm, x, theta) for x in (w, w + q)]
    both = np.array([part["logp"] for part in exact])
    match(both[0], golden["log_p_w"], rel_tol)
    match(np.diff(both - bag)[0], golden["log_p_q_given_w"], rel_tol)
    match(exact[0]["E_scores"], golden["E_m"], rel_tol)
    sampler = estimator(dm, theta)
    plugin = xlogy(q, sampler.inverse_transform([golden["E_m"]])[0]).sum()
    match(plugin, golden["plugin_log_p_q"], rel_tol)
    chib = sampler.log_likelihood([w, w + q])
    np.testing.assert_allclose(np.diff(chib - bag)[0], golden["log_p_q_given_w"], atol=CLOSE)
    np.testing.assert_allclose(sampler.transform([w])[0], golden["E_m"], atol=CLOSE)

    groups, together = [0, 0, 0, 1, 1, 1], np.vstack([theta, labels])
    for name in ("DM", "GP"):
        prior = prior_of(inputs, name)
        cases = [np.append(w, y) for y in np.eye(3, dtype=int)]
        exact = [exact_document(prior, x, together, groups)["logp"] for x in cases]
        match(softmax(exact), golden[f"label_probabilities_{name}"], rel_tol)
        sampler = estimator(prior, together, groups)
        guess = softmax(sampler.log_likelihood(cases))
        np.testing.assert_allclose(guess, golden[f"label_probabilities_{name}"], atol=CLOSE)
    # the other way: an empty label group, then the expected share of each label
    unknown = np.append(w, [0, 0, 0])
    sampler = estimator(dm, together, groups)
    guess = sampler.inverse_transform(sampler.transform([unknown]))[0, 3:]
    np.testing.assert_allclose(guess, golden["label_probabilities_DM"], atol=CLOSE)


def softmax(log_weights):
    p = np.exp(np.asarray(log_weights) - np.max(log_weights))
    return p / p.sum()
