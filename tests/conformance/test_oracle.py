# SPDX-License-Identifier: BSD-3-Clause
"""The exact answers of `oracle` agree with the golden cases and with themselves."""

import itertools
import json
from pathlib import Path

import numpy as np
import oracle
import pytest
from oracle import Prior
from scipy.special import gammaln
from scipy.stats import chi2, nbinom

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())


def cases(*kinds):
    """Golden cases of the given kinds, as parameters of a test."""
    found = [pytest.param(c, id=c["id"]) for c in GOLDEN["cases"] if c["kind"] in kinds]
    assert found
    return pytest.mark.parametrize("case", found)


def make_prior(inputs, model=None):
    """Prior from the inputs of a golden case, keeping only what the model has."""
    model = (inputs["model"] if model is None else model).lower()
    return Prior(
        model,
        inputs["alpha"],
        inputs["beta"] if model != "dm" else None,
        inputs["rho"] if model == "cgp" else None,
    )


def agree(got, expected, case, abs_tol=1e-13):
    """Compare at the relative tolerance of the case."""
    np.testing.assert_allclose(got, expected, rtol=case["rel_tol"], atol=abs_tol)


def agree_posterior(got, expected, case):
    """Compare every posterior quantity of a golden output."""
    skipped = {"logp_mpmath", "log_multinomial_coefficient"}
    for key, value in expected.items():
        if key not in skipped:
            agree(got["E_scores" if key in ("E_l", "E_m") else key], value, case)
    assert ("P_zero" in got) == ("P_zero" in expected)


def test_kinds_are_all_covered():
    assert {c["kind"] for c in GOLDEN["cases"]} == {
        "doc_fixed_theta",
        "doc_fixed_theta_groups",
        "corpus_theta_integrated",
        "corpus_theta_integrated_groups",
        "rb_gibbs_conditionals",
        "direct_gibbs_conditionals",
        "joint_densities",
        "variational_document",
        "variational_document_cgp",
        "variational_full",
        "nmf_plsi",
        "hyperparameters",
        "prediction",
    }


# ---------------------------------------------------------------------------- golden cases


@cases("doc_fixed_theta")
def test_document(case):
    x, y = case["inputs"], case["outputs"]
    prior = make_prior(x)
    got = oracle.document(prior, x["w"], x["theta"])
    agree_posterior(got, y, case)
    agree(got["logp"], float(y["logp_mpmath"]), case)
    coefficient = gammaln(np.sum(x["w"]) + 1) - gammaln(np.array(x["w"]) + 1).sum()
    agree(coefficient, y["log_multinomial_coefficient"], case)


@cases("doc_fixed_theta_groups")
def test_document_groups(case):
    x, y = case["inputs"], case["outputs"]
    prior = make_prior(x)
    for exposures, output in (
        ("exposures_observed", "last_group_observed_but_zero"),
        ("exposures_missing", "last_group_missing_exposure0"),
    ):
        got = oracle.document(prior, x["w"], x["theta"], x["groups"], x[exposures])
        agree_posterior(got, y[output], case)


@cases("corpus_theta_integrated", "corpus_theta_integrated_groups")
def test_corpus(case):
    x, y = case["inputs"], case["outputs"]
    prior = make_prior(x)
    got = oracle.corpus(prior, x["W"], x["gamma"], prior.K, x.get("groups"), x.get("exposures"))
    agree_posterior(got, y, case)
    agree(got["E_V"].sum(0), y["E_n"], case)


@cases("rb_gibbs_conditionals")
def test_token_conditionals(case):
    x = case["inputs"]
    for model, y in case["outputs"].items():
        args = x["groups"], x["exposures"], x["gamma"]
        prior = make_prior(x, model)
        for t, expected in enumerate(y["conditional_per_token"]):
            agree(oracle.token_conditional(prior, x["tokens"], t, *args), expected, case)
        got = oracle.log_joint(prior, x["tokens"], *args, n_documents=x["I"])
        agree(got, y["log_joint_sequence_without_exposure_powers"], case)


@cases("direct_gibbs_conditionals")
def test_direct_conditionals(case):
    x, y = case["inputs"], case["outputs"]
    gp, cgp, dm = (make_prior(x, model) for model in ("gp", "cgp", "dm"))
    shape, rate = oracle.score_parameters(gp, x["c"])
    agree(shape, y["GP_l_shape"], case)
    agree(rate, y["GP_l_rate"], case)
    shape, rate = oracle.score_parameters(cgp, x["c"])
    agree(shape, y["CGP_slab_shape"], case)
    agree(rate, y["CGP_slab_rate"], case)
    agree(oracle.spike_probability(cgp, x["c"]), y["CGP_prob_zero"], case)
    agree(oracle.score_mean(cgp, x["c"]), y["CGP_posterior_mean_l"], case)
    agree(oracle.score_parameters(dm, x["c"])[0], y["DM_m_dirichlet"], case)
    tokens = [[0, j, 0] for j in range(3)]
    rows = [
        oracle.token_conditional(gp, tokens, j, theta=x["theta"], scores=[x["l"]]) for j in range(3)
    ]
    agree(rows, y["V_row_probabilities"], case)
    agree(np.array(x["gamma"])[:, None] + x["counts_jk"], y["theta_dirichlet_parameters"], case)


@cases("joint_densities")
def test_joint_densities(case):
    x, y = case["inputs"], case["outputs"]
    V, theta = np.array(x["V"]), x["theta"]
    w = V.sum(1)
    gp, dm = make_prior(x, "gp"), make_prior(x, "dm")
    agree(oracle.log_split_and_scores(gp, V, x["l"], theta), y["GP_log_p_V_l"], case)
    agree(oracle.log_split_and_scores(dm, V, x["m"], theta), y["DM_log_p_V_m"], case)
    agree(oracle.log_counts_and_scores(gp, w, x["l"], theta), y["GP_log_p_w_l"], case)
    agree(oracle.log_counts_and_scores(dm, w, x["m"], theta), y["DM_log_p_w_m"], case)
    for model, expected in y["log_p_V"].items():
        agree(oracle.log_split(make_prior(x, model), V, theta), expected, case)


@cases("variational_document")
@pytest.mark.parametrize("model", ["GP", "DM"])
def test_variational_document(case, model):
    x, y = case["inputs"], case["outputs"][model]
    prior = make_prior(x, model)
    w, T = np.array(x["w"]), np.log(x["theta"])
    b = np.array(x["beta"]) + 1

    def bound(N, a, b):
        return oracle.variational_bound_document(prior, w, T, N, a, b)

    agree(bound(x["N"], x["a"], x["b"]), y["bound_at_given_q"], case)
    a = np.array(x["a"])
    N = oracle.variational_responsibilities(prior, T, a, b)
    agree(N, y["N_from_a"], case)
    agree(oracle.expected_log_scores(prior, a, b), y["E_log_score_at_a"], case)
    agree(bound(N, a, b), y["bound_paper_form_at_a"], case)
    a = prior.alpha + w @ N
    agree(a, y["a_after_one_update"], case)
    agree(bound(N, a, b), y["bound_after_one_update"], case)
    a = np.ones(prior.K)
    for _ in range(5000):
        N = oracle.variational_responsibilities(prior, T, a, b)
        a = prior.alpha + w @ N
    agree(a, y["converged_a"], case)
    agree(bound(N, a, b), y["converged_bound"], case)
    best = oracle.best_bound(prior, w, T, starts=2)
    np.testing.assert_allclose(best["bound"], y["converged_bound"], atol=1e-6)
    exact = oracle.document(prior, w, x["theta"])["logp"]
    agree(exact, y["exact_logp"], case)
    assert best["bound"] <= exact


@cases("variational_document_cgp")
def test_variational_document_cgp(case):
    x, y = case["inputs"], case["outputs"]
    prior = make_prior(x, "cgp")
    T = np.log(x["theta"])
    q = {name: x[name] for name in ("N", "a", "b", "r")}
    direct = oracle.variational_bound_document(prior, x["w"], T, **q)
    agree(direct, y["bound_at_given_q"], case)
    summed = oracle.variational_bound_cgp_by_enumeration(prior, x["w"], T, **q)
    agree(summed, y["bound_at_given_q"], case)
    exact = oracle.document(prior, x["w"], x["theta"])["logp"]
    agree(exact, y["exact_logp"], case)
    best = oracle.best_bound(prior, x["w"], T)
    assert y["converged_bound"] - 1e-6 <= best["bound"] <= exact
    np.testing.assert_allclose(best["pi"], y["converged_pi"], atol=1e-3)
    np.testing.assert_allclose(best["E_scores"], y["converged_E_l"], atol=1e-3)


@cases("variational_full")
@pytest.mark.parametrize("model", ["GP", "DM"])
def test_variational_full(case, model):
    x, y = case["inputs"], case["outputs"][model]
    prior = make_prior(x, model)
    W, N = np.array(x["W"]), np.array(x["N"])
    T = oracle.expected_log_loadings(x["lam"])
    agree(T, y["E_log_theta"], case)
    kl = oracle.negative_kl_loadings(x["gamma"], x["lam"])
    agree(kl, y["neg_kl_theta"], case)
    b = np.array(x["beta"]) + 1
    documents = [
        oracle.variational_bound_document(prior, w, T, n, a, b)
        for w, n, a in zip(W, N, x["a"], strict=True)
    ]
    agree(kl + sum(documents), y["bound"], case)
    statistics = np.einsum("ij,ijk->jk", W, N)
    updated = np.array(x["gamma"])[:, None] + statistics
    agree(updated, y["lambda_after_update_from_N"], case)
    assert kl + sum(documents) <= oracle.corpus(prior, W, x["gamma"], prior.K)["logp"]


@cases("nmf_plsi")
def test_nmf_plsi(case):
    x, y = case["inputs"], case["outputs"]
    W, theta, scores = (np.array(x[name]) for name in ("W", "theta", "l"))
    new_theta, new_scores = oracle.nmf_step(W, theta, scores)
    agree(new_theta, y["nmf_theta"], case)
    agree(new_scores, y["nmf_l"], case)
    agree(oracle.poisson_loglik(W, theta, scores), y["poisson_loglik_before"], case)
    m = scores / scores.sum(1, keepdims=True)
    agree(oracle.plsi_objective(W, theta, m), y["plsi_loglik_before"], case)
    new_theta, new_m = oracle.plsi_step(W, theta, m)
    agree(new_theta, y["plsi_theta"], case)
    agree(new_m, y["plsi_m"], case)
    agree(oracle.plsi_objective(W, new_theta, new_m), y["plsi_loglik_after"], case)
    nmf_theta, nmf_scores = oracle.nmf_step(W, theta, W.sum(1, keepdims=True) * m)
    agree(nmf_theta, new_theta, case)
    agree(nmf_scores, W.sum(1, keepdims=True) * new_m, case)
    tau = x["tau"]
    agree(oracle.plsi_objective(W, theta, m, tau), y["tempered_objective_before"], case)
    new_theta, new_m = oracle.plsi_step(W, theta, m, tau)
    agree(new_theta, y["tempered_theta"], case)
    agree(new_m, y["tempered_m"], case)
    agree(oracle.plsi_objective(W, new_theta, new_m, tau), y["tempered_objective_after"], case)


@cases("hyperparameters")
def test_hyperparameters(case):
    x, y = case["inputs"], case["outputs"]
    c, a0 = np.array(x["c"]), x["a0"]

    def loglik(alpha):
        return oracle.log_document_factor(Prior("dm", alpha), c).sum()

    agree(oracle.alpha_fixed_point(c, a0), y["fixed_point_step"], case)
    step = oracle.alpha_fixed_point(c, a0, x["h0"], x["hb"])
    agree(step, y["fixed_point_step_with_hyperprior"], case)
    alpha = oracle.alpha_maximum_likelihood(c)
    agree(alpha, y["alpha_ml"], case)
    agree(loglik(alpha), y["loglik_at_ml"], case)
    agree(loglik(a0), y["loglik_at_a0"], case)
    shape, rate = oracle.gamma_maximum_likelihood(x["l_sample"])
    agree(shape, y["gamma_shape_ml"], case)
    agree(rate, y["gamma_rate_ml"], case)
    alpha = np.array(x["alpha_fixed"])
    beta = alpha / c.mean(0)
    agree(beta, y["beta_ml"], case)
    agree(
        oracle.log_document_factor(Prior("gp", alpha, beta), c).sum(),
        y["GP_loglik_at_beta_ml"],
        case,
    )
    agree(oracle.expected_tables(c, a0), y["expected_tables"], case)


@cases("prediction")
def test_prediction(case):
    x, y = case["inputs"], case["outputs"]
    gp, dm = make_prior(x, "gp"), make_prior(x, "dm")
    theta = np.array(x["theta"])
    posterior = oracle.document(dm, x["w"], theta)
    agree(posterior["E_scores"], y["E_m"], case)
    agree(posterior["logp"], y["log_p_w"], case)
    agree(oracle.log_query(dm, x["w"], x["q"], theta), y["log_p_q_given_w"], case)
    agree(x["q"] @ np.log(theta @ posterior["E_scores"]), y["plugin_log_p_q"], case)
    for prior, key in ((dm, "label_probabilities_DM"), (gp, "label_probabilities_GP")):
        got = oracle.label_probabilities(prior, x["w"], theta, x["theta_labels"])
        agree(got, y[key], case)


# ------------------------------------------------------------------------- internal agreement


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("model", oracle.MODELS)
def test_random_cases_are_well_formed(kind, model):
    rng = np.random.default_rng(5)
    zero_exposure = 0
    for _ in range(8):
        x = oracle.random_case(kind, rng, model)
        n_documents, J = x.W.shape
        assert 2 <= J <= 4
        assert 2 <= x.prior.K <= 3
        assert x.W.sum() <= 9
        assert (n_documents in (2, 3)) if x.theta is None else n_documents == 1
        assert (x.gamma is None) != (x.theta is None)
        assert (x.groups is not None) == kind.endswith("_groups")
        if x.exposures is not None:
            zero_exposure += (x.exposures == 0).any()
        if x.theta is None:
            got = oracle.corpus(x.prior, x.W, x.gamma, x.prior.K, x.groups, x.exposures)
            np.testing.assert_allclose(got["E_n"].sum(1), x.W.sum(0), atol=1e-12)
            theta = got["E_theta"]
        else:
            exposures = None if x.exposures is None else x.exposures[0]
            got = oracle.document(x.prior, x.W[0], x.theta, x.groups, exposures)
            theta = x.theta
        assert np.isfinite(got["logp"])
        groups = np.zeros(J, int) if x.groups is None else x.groups
        for g in np.unique(groups):
            np.testing.assert_allclose(theta[groups == g].sum(0), 1)
        np.testing.assert_allclose(got["E_c"].sum(-1), x.W.sum(1).squeeze())
    assert (zero_exposure > 0) == (kind.endswith("_groups") and model != "dm")


def test_random_case_is_reproducible():
    first, second = (
        oracle.random_case("corpus_theta_integrated", np.random.default_rng(8)) for _ in range(2)
    )
    assert np.array_equal(first.W, second.W)
    assert first.prior.model == second.prior.model


@pytest.mark.parametrize("seed", range(6))
def test_gp_is_dm_with_negative_binomial_total(seed):
    rng = np.random.default_rng(seed)
    x = oracle.random_case("doc_fixed_theta_groups", rng, "gp")
    e, beta = x.exposures[0], 0.7
    gp = Prior("gp", x.prior.alpha, np.full(x.prior.K, beta))
    args = x.W[0], x.theta, x.groups
    one = oracle.document(gp, *args, e)
    two = oracle.document(Prior("dm", x.prior.alpha), *args)
    totals = x.W[0] @ np.eye(2)[x.groups]
    total = nbinom(gp.alpha.sum(), beta / (beta + e.sum())).logpmf(totals.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(totals > 0, totals * np.log(e / e.sum()), 0).sum()
    shares += gammaln(totals.sum() + 1) - gammaln(totals + 1).sum()
    np.testing.assert_allclose(one["logp"], two["logp"] + total + shares, rtol=1e-12)
    np.testing.assert_allclose(one["E_V"], two["E_V"], rtol=1e-10, atol=1e-13)


def test_cgp_without_spike_is_gp():
    x = oracle.random_case("corpus_theta_integrated_groups", np.random.default_rng(3), "gp")
    cgp = Prior("cgp", x.prior.alpha, x.prior.beta, np.zeros(x.prior.K))
    args = x.W, x.gamma, x.prior.K, x.groups, x.exposures
    one, two = oracle.corpus(x.prior, *args), oracle.corpus(cgp, *args)
    for key, value in one.items():
        np.testing.assert_allclose(two[key], value, rtol=1e-12, atol=1e-14)
    assert np.all(two["P_zero"] == 0)


def test_impossible_counts():
    prior = Prior("gp", [1.0, 0.5], [1.0, 2.0])
    got = oracle.document(prior, [1, 1], np.ones((2, 2)), [0, 1], [1.0, 0.0])
    assert got["logp"] == -np.inf
    assert np.all(np.isnan(got["E_c"]))


def test_document_by_quadrature():
    x = oracle.random_case("doc_fixed_theta_groups", np.random.default_rng(21), "gp")
    keep = slice(0, 2)
    alpha, beta = x.prior.alpha[keep] + 1, x.prior.beta[keep]
    w, theta, e = x.W[0], x.theta[:, keep], x.exposures[0]
    nodes, weights = np.polynomial.legendre.leggauss(80)
    u, weights = (nodes + 1) / 2, weights / 2
    # a smooth map of (0, 1) to the positive half-line
    score, jacobian = u**2 / (1 - u), (2 * u * (1 - u) + u**2) / (1 - u) ** 2
    for prior in (Prior("gp", alpha, beta), Prior("cgp", alpha, beta, [0.4, 0.7])):
        total = 0.0
        points = list(zip(score, jacobian * weights, strict=True))
        points += [(0.0, 1.0)] if prior.model == "cgp" else []
        for (s0, v0), (s1, v1) in itertools.product(points, repeat=2):
            if s0 == s1 == 0 and w.sum():
                continue
            total += (
                v0
                * v1
                * np.exp(oracle.log_counts_and_scores(prior, w, [s0, s1], theta, x.groups, e))
            )
        got = oracle.document(prior, w, theta, x.groups, e)["logp"]
        np.testing.assert_allclose(np.log(total), got, rtol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_cgp_bound_formula_agrees_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    x = oracle.random_case("doc_fixed_theta_groups", rng, "cgp")
    w, K = np.minimum(x.W[0], 2), x.prior.K
    q = {
        "N": rng.dirichlet(np.ones(K), len(w)),
        "a": rng.uniform(0.5, 3, K),
        "b": rng.uniform(0.5, 3, K),
        "r": rng.uniform(0.1, 0.9, K),
        "groups": x.groups,
        "exposures": x.exposures[0],
    }
    q["N"][0] = np.eye(K)[0]
    T = np.log(x.theta)
    direct = oracle.variational_bound_document(x.prior, w, T, **q)
    summed = oracle.variational_bound_cgp_by_enumeration(x.prior, w, T, **q)
    np.testing.assert_allclose(direct, summed, rtol=1e-10)
    assert direct <= oracle.document(x.prior, w, x.theta, x.groups, x.exposures[0])["logp"]


@pytest.mark.parametrize("model", oracle.MODELS)
def test_semi_collapsed_token_conditionals(model):
    rng = np.random.default_rng(11)
    x = oracle.random_case("corpus_theta_integrated_groups", rng, model)
    n_documents, J = x.W.shape
    prior, K = x.prior, x.prior.K
    e = np.ones((n_documents, 2)) if x.exposures is None else x.exposures
    tokens = [
        [i, j, rng.integers(K)]
        for i in range(n_documents)
        for j in range(J)
        for _ in range(x.W[i, j])
    ]
    tokens = np.array(tokens)
    theta = oracle.draw_theta(np.zeros((J, K)), x.gamma, x.groups, rng)
    scores = rng.uniform(0.2, 1.0, (n_documents, K))
    for t, (i, j, _) in enumerate(tokens):
        rest = np.delete(tokens, t, axis=0)
        c = np.bincount(rest[rest[:, 0] == i, 2], minlength=K)
        n = np.zeros((J, K))
        np.add.at(n, (rest[:, 1], rest[:, 2]), 1)
        own = x.groups == x.groups[j]
        word = (x.gamma[j] + n[j]) / (x.gamma[own].sum() + n[own].sum(0))
        doc = c + prior.alpha
        if model != "dm":
            doc = doc / (prior.beta + e[i].sum())
            doc = doc * (1 - oracle.spike_probability(prior, c, e[i].sum()))
        args = prior, tokens, t, x.groups, x.exposures, x.gamma
        for weights, given in (
            (word * doc, {}),
            (theta[j] * doc, {"theta": theta}),
            (word * scores[i], {"scores": scores}),
            (theta[j] * scores[i], {"theta": theta, "scores": scores}),
        ):
            got = oracle.token_conditional(*args, **given, n_documents=n_documents)
            np.testing.assert_allclose(got, weights / weights.sum(), rtol=1e-10)


def test_dm_corpus_probabilities_sum_to_one():
    prior, groups = Prior("dm", [0.4, 1.3]), [0, 1, 0]
    logp = []
    for first in itertools.product(range(3), repeat=3):
        if first[0] + first[2] == 2 and first[1] == 1:
            for second in ([1, 0, 0], [0, 0, 1]):
                got = oracle.corpus(prior, [first, second], [0.3, 0.5, 1.1], 2, groups)
                logp.append(got["logp"])
    np.testing.assert_allclose(np.exp(logp).sum(), 1, rtol=1e-12)


# --------------------------------------------------------------------------------- simulators


def test_log_gamma_draws_with_tiny_shape():
    rng = np.random.default_rng(1)
    shape = 1e-3
    draws = oracle.log_gamma_draw(np.full(100_000, shape), rng)
    assert np.all(np.isfinite(draws))
    # the mean and variance of log Gamma(shape) are digamma and trigamma
    np.testing.assert_allclose(draws.mean() * shape, -1.0006, atol=0.02)
    np.testing.assert_allclose(draws.std() * shape, 1.0, atol=0.03)


@pytest.mark.parametrize("model", oracle.MODELS)
def test_simulated_counts_have_the_exact_distribution(model):
    rng = np.random.default_rng(17)
    prior = Prior(
        model,
        [0.5, 1.2],
        None if model == "dm" else [2.0, 3.0],
        [0.5, 0.3] if model == "cgp" else None,
    )
    gamma, groups = np.array([0.4, 0.9, 0.6]), np.array([0, 1, 0])
    exposures = np.array([[1.0, 0.0], [0.5, 1.3]])
    lengths = np.array([[1, 0], [2, 1]])
    n_draws, seen = 2500, {}
    for _ in range(n_draws):
        theta, scores, W = oracle.simulate_prior(prior, gamma, groups, exposures, lengths, rng)
        seen[W.tobytes()] = seen.get(W.tobytes(), 0) + 1
    assert theta.shape == (3, 2)
    assert scores.shape == (2, 2)
    assert W.shape == (2, 3)
    np.testing.assert_allclose([theta[[0, 2]].sum(0), theta[1]], 1)
    rest, statistic, cells = 1.0, 0.0, 0
    other = n_draws
    for key, count in seen.items():
        table = np.frombuffer(key, dtype=W.dtype).reshape(2, 3)
        if table.sum() > 4:
            continue
        p = np.exp(oracle.corpus(prior, table, gamma, 2, groups, exposures)["logp"])
        if n_draws * p >= 8:
            statistic += (count - n_draws * p) ** 2 / (n_draws * p)
            cells, rest, other = cells + 1, rest - p, other - count
    assert cells >= 6
    if rest > 1e-9:
        statistic += (other - n_draws * rest) ** 2 / (n_draws * rest)
    else:
        assert other == 0
        cells -= 1
    assert chi2.sf(statistic, cells) > 1e-4


@pytest.mark.parametrize("model", oracle.MODELS)
def test_conditional_draws_have_the_exact_means(model):
    rng = np.random.default_rng(23)
    prior = Prior(
        model,
        [0.5, 1.2],
        None if model == "dm" else [1.0, 2.0],
        [0.5, 0.3] if model == "cgp" else None,
    )
    c, exposure, n_draws = np.array([[0, 3], [0, 0]]), np.array([1.4, 0.6]), 20_000
    many = np.repeat(c[None], n_draws, axis=0)
    draws = oracle.draw_scores(prior, many, exposure, rng)
    error = draws.std(0) / np.sqrt(n_draws)
    assert np.all(abs(draws.mean(0) - oracle.score_mean(prior, c, exposure)) < 5 * error)
    zero = oracle.spike_probability(prior, c, exposure)
    np.testing.assert_allclose((draws == 0).mean(0), zero, atol=5 * 0.5 / np.sqrt(n_draws))
    n, gamma, groups = np.array([[2, 0], [1, 1], [0, 3]]), np.array([0.3, 0.5, 0.8]), [0, 1, 0]
    theta = np.array([oracle.draw_theta(n, gamma, groups, rng) for _ in range(1500)])
    shape = gamma[:, None] + n
    expected = shape / np.array([shape[[0, 2]].sum(0), shape[1], shape[[0, 2]].sum(0)])
    assert np.all(abs(theta.mean(0) - expected) < 5 * theta.std(0) / np.sqrt(1500) + 1e-12)
    scores = draws[0]
    lengths, exposures = np.array([[2, 1], [4, 0]]), np.array([[1.0, 0.4], [0.6, 0.0]])
    total = np.zeros((2, 3, 2))
    for _ in range(2000):
        W, V = oracle.regenerate(prior, theta[0], scores, groups, exposures, lengths, rng)
        assert np.array_equal(W, V.sum(-1))
        if model == "dm":
            assert np.array_equal(W @ np.eye(2)[groups], lengths)
        total += V
    effort = (lengths if model == "dm" else exposures)[:, groups]
    expected = effort[..., None] * theta[0] * scores[:, None, :]
    assert np.all(abs(total / 2000 - expected) < 5 * np.sqrt(expected / 2000) + 0.002)
