# SPDX-License-Identifier: BSD-3-Clause
"""Exact answers for tiny problems, by enumeration, in plain NumPy and SciPy.

Nothing here uses the package under test. Shapes: I documents, J features, K components, G groups;
counts ``W`` (I, J), loadings ``theta`` (J, K), token splits ``V`` (I, J, K), scores (I, K).
``groups`` is (J,) with values 0..G-1 (default: one group), ``exposures`` is (I, G), or (G,) for a
single document (default: ones). Exposures are ignored by the ``"dm"`` model, which conditions on
the group totals. Gamma distributions are given by shape and rate.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize, root
from scipy.special import digamma, gammaln, logsumexp, softmax, xlog1py, xlogy

MODELS = ("gp", "cgp", "dm")
KINDS = (
    "doc_fixed_theta",
    "doc_fixed_theta_groups",
    "corpus_theta_integrated",
    "corpus_theta_integrated_groups",
)


@dataclass(eq=False)
class Prior:
    """Prior of the scores: alpha (K,), beta (K,) unless "dm", rho (K,) for "cgp" only."""

    model: str
    alpha: np.ndarray
    beta: np.ndarray | None = None
    rho: np.ndarray | None = None

    def __post_init__(self):
        """Convert to arrays, and check that the model has just what it needs."""
        if self.model not in MODELS:
            raise ValueError(f"unknown model {self.model!r}")
        self.alpha = np.asarray(self.alpha, float)
        for name, wanted in (("beta", self.model != "dm"), ("rho", self.model == "cgp")):
            value = getattr(self, name)
            if wanted != (value is not None):
                raise ValueError(f"{name} must {'' if wanted else 'not '}be given for {self.model}")
            if wanted:
                setattr(self, name, np.broadcast_to(np.asarray(value, float), self.alpha.shape))

    @property
    def K(self):
        """Number of components."""
        return len(self.alpha)


@dataclass(eq=False)
class Case:
    """Inputs of one problem.

    ``W`` is (I, J) with I = 1 for the kinds ``doc_*``; ``groups`` (J,) and ``exposures`` (I, G) are
    None without groups (``exposures`` also for "dm"); ``gamma`` (J,) is None for the kinds
    ``doc_*`` and ``theta`` (J, K) for the kinds ``corpus_*``.
    """

    prior: Prior
    W: np.ndarray
    groups: np.ndarray | None
    exposures: np.ndarray | None
    gamma: np.ndarray | None
    theta: np.ndarray | None


# ------------------------------------------------------------------------------ small tools


def _layout(n_features, groups, exposures, n_documents):
    """Return groups (J,), indicator (J, G) and exposures (I, G) with defaults filled in."""
    groups = np.zeros(n_features, int) if groups is None else np.asarray(groups, int)
    if groups.shape != (n_features,):
        raise ValueError("groups must have one entry for each feature")
    n_groups = groups.max() + 1
    if exposures is not None:
        exposures = np.asarray(exposures, float)
        n_groups = max(n_groups, exposures.shape[-1])
    exposures = np.broadcast_to(1.0 if exposures is None else exposures, (n_documents, n_groups))
    return groups, np.eye(n_groups)[groups], exposures


def _one_document(n_features, groups, exposures):
    """As `_layout` for one document: groups (J,), indicator (J, G), exposures (G,)."""
    groups, indicator, exposures = _layout(n_features, groups, exposures, 1)
    return groups, indicator, exposures[0]


def _normalise(log_weights):
    """Return the log of the sum, and the normalised weights (nan if the sum is zero)."""
    total = logsumexp(log_weights)
    if total == -np.inf:
        return total, np.full(np.shape(log_weights), np.nan)
    return total, np.exp(log_weights - total)


def compositions(total, parts):
    """All ways to write ``total`` as an ordered sum of ``parts`` integers >= 0: (S, parts)."""

    def recurse(left, slots):
        if slots == 1:
            yield (left,)
            return
        for first in range(left + 1):
            for rest in recurse(left - first, slots - 1):
                yield (first, *rest)

    return np.array(list(recurse(int(total), parts)), int)


def splits(w, K):
    """All integer splits of the counts w (J,) over K components: (S, J, K)."""
    rows = [compositions(total, K) for total in np.asarray(w, int)]
    return np.array([np.stack(choice) for choice in itertools.product(*rows)])


def log_bag_constant(prior, w, groups=None, exposures=None):
    """Log B of one document w (J,): what turns the factor of a split into the bag form."""
    w = np.asarray(w)
    _, indicator, exposures = _one_document(len(w), groups, exposures)
    totals = w @ indicator
    if prior.model == "dm":
        return gammaln(totals + 1).sum()
    return xlogy(totals, exposures).sum()


# ------------------------------------------------------------------------- scores given counts


def log_document_factor(prior, c, exposure=1.0):
    """Log F(c), the scores integrated out.

    Parameters
    ----------
    prior : Prior
    c : (..., K) component counts
    exposure : (...) total exposure of the document (ignored by "dm")

    Returns
    -------
    (...) array
    """
    c = np.asarray(c, float)
    alpha = prior.alpha
    rising = gammaln(c + alpha) - gammaln(alpha)
    if prior.model == "dm":
        A = alpha.sum()
        return gammaln(A) - gammaln(A + c.sum(-1)) + rising.sum(-1)
    rate = prior.beta + np.asarray(exposure, float)[..., None]
    log_f = rising + alpha * np.log(prior.beta) - (c + alpha) * np.log(rate)
    if prior.model == "cgp":
        with np.errstate(divide="ignore"):
            log_f = np.logaddexp(
                np.log1p(-prior.rho) + log_f, np.where(c == 0, np.log(prior.rho), -np.inf)
            )
    return log_f.sum(-1)


def spike_probability(prior, c, exposure=1.0):
    """P(score = 0 | c), shape (..., K), for c (..., K) and total exposure (...)."""
    c = np.asarray(c)
    if prior.model != "cgp":
        return np.zeros(c.shape)
    rate = prior.beta + np.asarray(exposure, float)[..., None]
    with np.errstate(divide="ignore"):
        spike = np.log(prior.rho)
        slab = np.log1p(-prior.rho) + prior.alpha * (np.log(prior.beta) - np.log(rate))
    return np.where(c == 0, np.exp(spike - np.logaddexp(spike, slab)), 0.0)


def score_parameters(prior, c, exposure=1.0):
    """Shape and rate (..., K) of the gamma (slab) posterior given c; for "dm" (Dirichlet, None)."""
    shape = np.asarray(c) + prior.alpha
    if prior.model == "dm":
        return shape, None
    rate = prior.beta + np.asarray(exposure, float)[..., None]
    return shape, np.broadcast_to(rate, shape.shape)


def score_mean(prior, c, exposure=1.0):
    """Posterior mean of the scores (..., K) given c (..., K)."""
    shape, rate = score_parameters(prior, c, exposure)
    if rate is None:
        return shape / shape.sum(-1, keepdims=True)
    return (1 - spike_probability(prior, c, exposure)) * shape / rate


def log_prior_scores(prior, scores):
    """Log prior density of one score vector (K,).

    For "cgp" a score that is exactly 0 is the spike and counts with its probability.
    """
    s, alpha = np.asarray(scores, float), prior.alpha
    if prior.model == "dm":
        return gammaln(alpha.sum()) - gammaln(alpha).sum() + xlogy(alpha - 1, s).sum()
    log_density = alpha * np.log(prior.beta) - gammaln(alpha) + xlogy(alpha - 1, s) - prior.beta * s
    if prior.model == "cgp":
        log_density = np.where(s == 0, np.log(prior.rho), np.log1p(-prior.rho) + log_density)
    return log_density.sum()


def log_counts_given_scores(prior, w, scores, theta, groups=None, exposures=None):
    """Log p(w | scores, theta), bag form, of one document w (J,)."""
    w = np.asarray(w)
    groups, indicator, exposures = _one_document(len(w), groups, exposures)
    p = np.asarray(theta) @ np.asarray(scores)
    if prior.model == "dm":
        return gammaln(w @ indicator + 1).sum() + (xlogy(w, p) - gammaln(w + 1)).sum()
    mean = exposures[groups] * p
    return (xlogy(w, mean) - mean - gammaln(w + 1)).sum()


def log_counts_and_scores(prior, w, scores, theta, groups=None, exposures=None):
    """Log p(w, scores | theta), bag form, of one document w (J,)."""
    return log_prior_scores(prior, scores) + log_counts_given_scores(
        prior, w, scores, theta, groups, exposures
    )


def log_split_and_scores(prior, V, scores, theta, groups=None, exposures=None):
    """Log p(V, scores | theta), bag form, of one document's split V (J, K)."""
    V, s = np.asarray(V), np.asarray(scores, float)
    groups, _, exposures = _one_document(len(V), groups, exposures)
    out = log_prior_scores(prior, s) + (xlogy(V, theta) - gammaln(V + 1)).sum()
    out += log_bag_constant(prior, V.sum(1), groups, exposures) + xlogy(V.sum(0), s).sum()
    return out if prior.model == "dm" else out - exposures.sum() * s.sum()


def log_split(prior, V, theta, groups=None, exposures=None):
    """Log p(V | theta), scores integrated out, bag form, of one document's split V (J, K)."""
    V = np.asarray(V)
    groups, _, exposures = _one_document(len(V), groups, exposures)
    return (
        log_bag_constant(prior, V.sum(1), groups, exposures)
        + log_document_factor(prior, V.sum(0), exposures.sum())
        + (xlogy(V, theta) - gammaln(V + 1)).sum()
    )


# ------------------------------------------------------------------------------- enumeration


def document(prior, w, theta, groups=None, exposures=None):
    """Exact posterior of one document given the loadings.

    Parameters
    ----------
    prior : Prior
    w : (J,) counts
    theta : (J, K) loadings
    groups : (J,), optional
    exposures : (G,), optional

    Returns
    -------
    dict
        ``logp`` (bag form), ``logp_sequence`` (without the data constants), ``E_V`` (J, K),
        ``E_c`` (K,), ``E_scores`` (K,), ``n_states`` and, for "cgp", ``P_zero`` (K,). Means are
        nan if the counts are impossible.
    """
    w, theta = np.asarray(w, int), np.asarray(theta, float)
    groups, _, exposures = _one_document(len(w), groups, exposures)
    exposure = exposures.sum()
    V = splits(w, prior.K)
    c = V.sum(1)
    log_weights = log_document_factor(prior, c, exposure) + (xlogy(V, theta) - gammaln(V + 1)).sum(
        (1, 2)
    )
    sequence = logsumexp(log_weights) + gammaln(w + 1).sum()
    logp, p = _normalise(log_weights + log_bag_constant(prior, w, groups, exposures))
    out = {
        "logp": logp,
        "logp_sequence": sequence,
        "E_V": np.einsum("s,sjk->jk", p, V),
        "E_c": p @ c,
        "E_scores": p @ score_mean(prior, c, exposure),
        "n_states": len(V),
    }
    if prior.model == "cgp":
        out["P_zero"] = p @ spike_probability(prior, c, exposure)
    return out


def by_component(gamma, K):
    """Dirichlet parameters (J, K) of the loadings: gamma is (J,), or (J, K) if they differ."""
    gamma = np.asarray(gamma, float)
    return np.repeat(gamma[:, None], K, axis=1) if gamma.ndim == 1 else gamma


def log_loadings_factor(n, gamma, groups=None):
    """Log of the product of D_gk, loadings integrated out: n (..., J, K) -> (...)."""
    n, gamma = np.asarray(n, float), by_component(gamma, np.shape(n)[-1])
    _, indicator, _ = _layout(len(gamma), groups, None, 1)
    indicator = indicator[:, indicator.any(0)]
    group_gamma = indicator.T @ gamma
    group_n = np.einsum("...jk,jg->...gk", n, indicator)
    cells = gammaln(gamma + n) - gammaln(gamma)
    totals = gammaln(group_gamma) - gammaln(group_gamma + group_n)
    return cells.sum((-2, -1)) + totals.sum((-2, -1))


def corpus(prior, W, gamma, K, groups=None, exposures=None):
    """Exact posterior of a tiny corpus, loadings and scores integrated out.

    Parameters
    ----------
    prior : Prior, or a list of one per document
    W : (I, J) counts
    gamma : (J,) Dirichlet parameters of the loadings, or (J, K) if components differ
    K : int, number of components (must agree with the prior)
    groups : (J,), optional
    exposures : (I, G), optional

    Returns
    -------
    dict
        ``logp`` (bag form), ``E_c`` (I, K), ``E_theta`` and ``E_theta_sq`` (J, K), ``E_n`` (J, K),
        ``E_V`` (I, J, K), ``E_scores`` (I, K), ``n_states`` and, for "cgp", ``P_zero`` (I, K).
    """
    W, gamma = np.asarray(W, int), by_component(gamma, K)
    n_documents, n_features = W.shape
    priors = [prior] * n_documents if isinstance(prior, Prior) else prior
    if any(K != own.K for own in priors):
        raise ValueError("K does not agree with the prior")
    groups, indicator, exposures = _layout(n_features, groups, exposures, n_documents)
    exposure = exposures.sum(1)
    states = [splits(w, K) for w in W]
    log_weights = np.zeros(())
    n = np.zeros((n_features, K))
    for i, V in enumerate(states):
        own = log_document_factor(priors[i], V.sum(1), exposure[i]) - gammaln(V + 1).sum((1, 2))
        log_weights = log_weights[..., None] + own
        n = n[..., None, :, :] + V
    constant = sum(
        log_bag_constant(own, w, groups, e) for own, w, e in zip(priors, W, exposures, strict=True)
    )
    logp, p = _normalise(log_weights + log_loadings_factor(n, gamma, groups) + constant)
    flat_p, flat_n = p.ravel(), n.reshape(-1, n_features, K)
    shape = gamma + flat_n
    total = (np.einsum("sjk,jg->sgk", shape, indicator))[:, groups]
    marginals = [p.sum(tuple(h for h in range(n_documents) if h != i)) for i in range(n_documents)]
    expected = [np.einsum("s,sjk->jk", q, V) for q, V in zip(marginals, states, strict=True)]
    out = {
        "logp": logp,
        "E_V": np.array(expected),
        "E_c": np.array([v.sum(0) for v in expected]),
        "E_theta": np.einsum("s,sjk->jk", flat_p, shape / total),
        "E_theta_sq": np.einsum("s,sjk->jk", flat_p, shape * (shape + 1) / (total * (total + 1))),
        "E_n": np.einsum("s,sjk->jk", flat_p, flat_n),
        "E_scores": np.array(
            [
                q @ score_mean(own, V.sum(1), e)
                for own, q, V, e in zip(priors, marginals, states, exposure, strict=True)
            ]
        ),
        "n_states": flat_p.size,
    }
    if priors[0].model == "cgp":
        out["P_zero"] = np.array(
            [
                q @ spike_probability(own, V.sum(1), e)
                for own, q, V, e in zip(priors, marginals, states, exposure, strict=True)
            ]
        )
    return out


# ----------------------------------------------------------------------------- token samplers


def log_joint(
    prior,
    tokens,
    groups=None,
    exposures=None,
    gamma=None,
    *,
    theta=None,
    scores=None,
    n_documents=None,
):
    """Log p(tokens, components) in sequence form, without powers of the exposures.

    Parameters
    ----------
    prior : Prior
    tokens : (T, 3) integers: document, feature, component
    groups : (J,), optional
    exposures : (I, G), optional
    gamma : (J,), needed unless ``theta`` is given
    theta : (J, K), optional
        Condition on these loadings instead of integrating them out.
    scores : (I, K), optional
        Condition on these scores instead of integrating them out.
    n_documents : int, optional
        Default: rows of ``exposures`` or of ``scores``, else the last document with a token.
    """
    tokens = np.asarray(tokens, int).reshape(-1, 3)
    n_features = len(gamma) if theta is None else len(theta)
    if n_documents is None:
        if np.ndim(exposures) == 2:
            n_documents = len(exposures)
        elif scores is not None:
            n_documents = len(scores)
        else:
            n_documents = tokens[:, 0].max() + 1
    groups, _, exposures = _layout(n_features, groups, exposures, n_documents)
    c = np.zeros((n_documents, prior.K))
    n = np.zeros((n_features, prior.K))
    np.add.at(c, (tokens[:, 0], tokens[:, 2]), 1)
    np.add.at(n, (tokens[:, 1], tokens[:, 2]), 1)
    if scores is None:
        out = log_document_factor(prior, c, exposures.sum(1)).sum()
    else:
        out = xlogy(c, scores).sum()
        if prior.model != "dm":
            out -= (exposures.sum(1)[:, None] * np.asarray(scores)).sum()
    if theta is None:
        return out + log_loadings_factor(n, gamma, groups)
    return out + xlogy(n, theta).sum()


def token_conditional(
    prior,
    tokens,
    t,
    groups=None,
    exposures=None,
    gamma=None,
    *,
    theta=None,
    scores=None,
    n_documents=None,
):
    """Conditional distribution (K,) of the component of token ``t`` given all other tokens.

    It is computed from K evaluations of `log_joint`, whose parameters it shares.
    """
    trial = np.array(tokens, int).reshape(-1, 3)
    log_weights = np.empty(prior.K)
    for k in range(prior.K):
        trial[t, 2] = k
        log_weights[k] = log_joint(
            prior,
            trial,
            groups,
            exposures,
            gamma,
            theta=theta,
            scores=scores,
            n_documents=n_documents,
        )
    return _normalise(log_weights)[1]


# -------------------------------------------------------------------------- variational bounds


def expected_log_scores(prior, a, b=None):
    """E_q[log score] (K,) for q = Gamma(a, b), or Dirichlet(a) for "dm"."""
    a = np.asarray(a, float)
    return digamma(a) - (digamma(a.sum()) if prior.model == "dm" else np.log(b))


def expected_log_loadings(lam, groups=None):
    """E_q[log theta] (J, K) for columns Dirichlet(lam) inside each group, lam (J, K)."""
    lam = np.asarray(lam, float)
    groups, indicator, _ = _layout(len(lam), groups, None, 1)
    return digamma(lam) - digamma(indicator.T @ lam)[groups]


def variational_responsibilities(prior, theta_log, a, b=None):
    """Optimal N (J, K) given q(scores), for "gp" and "dm"."""
    return softmax(np.asarray(theta_log) + expected_log_scores(prior, a, b), axis=1)


def variational_bound_document(
    prior, w, theta_log, N, a, b=None, r=None, groups=None, exposures=None
):
    """Lower bound on log p(w | theta), bag form, at an arbitrary q.

    Parameters
    ----------
    prior : Prior
    w : (J,) counts
    theta_log : (J, K) log theta, or its expectation under q
    N : (J, K) token probabilities, rows summing to one (rows with w = 0 are ignored)
    a : (K,) gamma shapes, or Dirichlet parameters for "dm"
    b : (K,) gamma rates (ignored by "dm")
    r : (K,) probabilities of the spike for a component without tokens ("cgp" only)
    groups : (J,), optional
    exposures : (G,), optional
    """
    w = np.asarray(w, float)
    theta_log, N, a = (np.asarray(x, float) for x in (theta_log, N, a))
    groups, _, exposures = _one_document(len(w), groups, exposures)
    exposure = exposures.sum()
    alpha, beta = prior.alpha, prior.beta
    used = w[:, None] * N
    cbar = used.sum(0)
    eta = expected_log_scores(prior, a, b)
    out = log_bag_constant(prior, w, groups, exposures) - gammaln(w + 1).sum()
    out += (used * np.where(used > 0, theta_log, 0.0)).sum() - (w[:, None] * xlogy(N, N)).sum()
    if prior.model == "dm":
        out += gammaln(alpha.sum()) - gammaln(alpha).sum()
        out += gammaln(a).sum() - gammaln(a.sum()) + ((cbar + alpha - a) * eta).sum()
        return out
    b = np.asarray(b, float)
    slab = alpha * np.log(beta) - gammaln(alpha) - a * np.log(b) + gammaln(a)
    slab += (alpha - a) * eta + (b - beta - exposure) * a / b
    if prior.model == "gp":
        return out + (cbar * eta + slab).sum()
    r = np.asarray(r, float)
    empty = np.exp(xlog1py(w[:, None], -N).sum(0))
    spike = r * empty
    entropy = -xlogy(r, r) - xlog1py(1 - r, -r)
    out += (xlogy(spike, prior.rho) + xlog1py(1 - spike, -prior.rho)).sum()
    return out + (empty * entropy + cbar * eta + (1 - spike) * slab).sum()


def variational_bound_cgp_by_enumeration(
    prior, w, theta_log, N, a, b, r, groups=None, exposures=None
):
    """Compute the "cgp" bound by summing over all splits and patterns of spikes (tiny documents).

    Parameters are those of `variational_bound_document`.
    """
    w = np.asarray(w, int)
    theta_log, N, a, b, r = (np.asarray(x, float) for x in (theta_log, N, a, b, r))
    groups, _, exposures = _one_document(len(w), groups, exposures)
    mean, mean_log = a / b, digamma(a) - np.log(b)
    out = 0.0
    for V in splits(w, prior.K):
        c = V.sum(0)
        log_q_split = gammaln(w + 1).sum() - gammaln(V + 1).sum() + xlogy(V, N).sum()
        if log_q_split == -np.inf:
            continue
        log_p_split = log_bag_constant(prior, w, groups, exposures) - gammaln(V + 1).sum()
        log_p_split += (V * np.where(V > 0, theta_log, 0.0)).sum()
        for active in itertools.product((False, True), repeat=prior.K):
            active = np.array(active)
            if np.any((c > 0) & ~active):
                continue
            q_active = np.where(c > 0, 1.0, np.where(active, 1 - r, r)).prod()
            if q_active == 0:
                continue
            log_p = np.where(active, np.log1p(-prior.rho), np.log(prior.rho)).sum() + log_p_split
            gamma_p = prior.alpha * np.log(prior.beta) - gammaln(prior.alpha)
            gamma_p += (c + prior.alpha - 1) * mean_log - (prior.beta + exposures.sum()) * mean
            gamma_q = a * np.log(b) - gammaln(a) + (a - 1) * mean_log - b * mean
            gain = log_p - log_q_split - np.log(q_active) + ((gamma_p - gamma_q) * active).sum()
            out += np.exp(log_q_split) * q_active * gain
    return out


def best_bound(prior, w, theta_log, groups=None, exposures=None, rng=None, starts=8):
    """Maximum of `variational_bound_document` over q, by a general optimiser from random starts.

    Returns
    -------
    dict
        ``bound``, ``N`` (J, K), ``a`` (K,), ``b`` (K,), ``r`` (K,), ``pi`` (K,) the probability of
        a zero score and ``E_scores`` (K,) (``b`` is meaningless for "dm", ``r`` unless "cgp").
    """
    rng = np.random.default_rng(0) if rng is None else rng
    w = np.asarray(w)
    J, K = len(w), prior.K
    exposure = _one_document(J, groups, exposures)[2].sum()
    b = np.ones(K) if prior.model == "dm" else prior.beta + exposure

    def unpack(x):
        N = softmax(x[: J * K].reshape(J, K), axis=1)
        r = 1 / (1 + np.exp(-np.clip(x[J * K : J * K + K], -30, 30)))
        return {"N": N, "a": np.exp(np.clip(x[J * K + K :], -30, 30)), "b": b, "r": r}

    def loss(x):
        return -variational_bound_document(
            prior, w, theta_log, **unpack(x), groups=groups, exposures=exposures
        )

    best = None
    for _ in range(starts):
        start = rng.normal(scale=1.5, size=J * K + 2 * K)
        options = {"maxiter": 2000, "maxfun": 200000, "ftol": 1e-15, "gtol": 1e-9}
        fit = minimize(loss, start, method="L-BFGS-B", options=options)
        if best is None or fit.fun < best.fun:
            best = fit
    out = {"bound": -best.fun, **unpack(best.x)}
    out["pi"] = np.zeros(K)
    if prior.model == "cgp":
        out["pi"] = out["r"] * np.exp(xlog1py(w[:, None], -out["N"]).sum(0))
    a = out["a"]
    out["E_scores"] = a / a.sum() if prior.model == "dm" else (1 - out["pi"]) * a / b
    return out


def negative_kl_loadings(gamma, lam, groups=None):
    """Minus the divergence of Dirichlet(lam) from Dirichlet(gamma), summed over groups, components.

    Parameters
    ----------
    gamma : (J,), or (J, K) if components differ
    lam : (J, K)
    groups : (J,), optional
    """
    gamma, lam = by_component(gamma, np.shape(lam)[1]), np.asarray(lam, float)
    _, indicator, _ = _layout(len(lam), groups, None, 1)
    indicator = indicator[:, indicator.any(0)]
    cells = gammaln(lam) - gammaln(gamma) + (gamma - lam) * expected_log_loadings(lam, groups)
    totals = gammaln(indicator.T @ gamma) - gammaln(indicator.T @ lam)
    return cells.sum() + totals.sum()


# ------------------------------------------------------------------ maximum likelihood and MAP


def _normalise_by_group(x, indicator, groups):
    return x / (indicator.T @ x)[groups]


def nmf_step(W, theta, scores, groups=None, exposures=None, alpha=0.0, beta=0.0, gamma=0.0):
    """One simultaneous update of scores (I, K) and loadings (J, K) of the Poisson model.

    With alpha, beta, gamma zero it is maximum likelihood, else MAP in the log basis.
    Returns theta (J, K) and scores (I, K).
    """
    W, theta, scores = (np.asarray(x, float) for x in (W, theta, scores))
    groups, indicator, exposures = _layout(W.shape[1], groups, exposures, len(W))
    R = theta * scores[:, None, :]
    V = W[..., None] * R / R.sum(-1, keepdims=True)
    new_scores = (alpha + V.sum(1)) / (beta + exposures.sum(1)[:, None])
    gamma = np.broadcast_to(gamma, W.shape[1])[:, None]
    return _normalise_by_group(gamma + V.sum(0), indicator, groups), new_scores


def plsi_step(W, theta, m, tau=1.0, groups=None, alpha=0.0, gamma=0.0):
    """One (tempered) EM update of m (I, K) and loadings (J, K); returns theta and m."""
    W, theta, m = (np.asarray(x, float) for x in (W, theta, m))
    groups, indicator, _ = _layout(W.shape[1], groups, None, len(W))
    R = (theta * m[:, None, :]) ** tau
    V = W[..., None] * R / R.sum(-1, keepdims=True)
    new_m = alpha + V.sum(1)
    gamma = np.broadcast_to(gamma, W.shape[1])[:, None]
    theta = _normalise_by_group(gamma + V.sum(0), indicator, groups)
    return theta, new_m / new_m.sum(1, keepdims=True)


def poisson_loglik(W, theta, scores, groups=None, exposures=None):
    """Sum of w log mu - mu - log w! with mu (I, J) the Poisson means."""
    W = np.asarray(W, float)
    groups, _, exposures = _layout(W.shape[1], groups, exposures, len(W))
    mean = exposures[:, groups] * (np.asarray(scores) @ np.asarray(theta).T)
    return (xlogy(W, mean) - mean - gammaln(W + 1)).sum()


def plsi_objective(W, theta, m, tau=1.0):
    """Tempered objective; the log-likelihood (sequence form) at tau = 1."""
    inner = ((np.asarray(theta) * np.asarray(m)[:, None, :]) ** tau).sum(-1)
    return xlogy(np.asarray(W, float), inner).sum() / tau


# ----------------------------------------------------------------------------- hyperparameters


def expected_tables(c, a):
    """Return the expected number of tables: sum over s < c of a / (a + s), elementwise."""
    c = np.asarray(c, int)
    a = np.broadcast_to(np.asarray(a, float), c.shape)[..., None]
    s = np.arange(max(c.max(), 1))
    return np.where(s < c[..., None], a / (a + s), 0.0).sum(-1)


def alpha_fixed_point(c, alpha, shape=1.0, rate=0.0):
    """One fixed-point step for alpha (K,) of "dm" given counts c (I, K), Gamma hyperprior."""
    c, alpha = np.asarray(c, int), np.asarray(alpha, float)
    A = alpha.sum()
    lengths = c.sum(1)
    top = shape - 1 + expected_tables(c, alpha).sum(0)
    return top / (rate + (expected_tables(lengths, A) / A).sum())


def alpha_maximum_likelihood(c):
    """Maximise the "dm" likelihood of the counts c (I, K) over alpha (K,)."""
    c = np.asarray(c, float)
    lengths = c.sum(1)

    def gradient(x):
        alpha = np.exp(x)
        A = alpha.sum()
        totals = (digamma(A) - digamma(A + lengths)).sum()
        return alpha * (totals + (digamma(c + alpha) - digamma(alpha)).sum(0))

    start = minimize(
        lambda x: -log_document_factor(Prior("dm", np.exp(x)), c).sum(), np.zeros(c.shape[1])
    )
    return np.exp(root(gradient, start.x, tol=1e-13).x)


def gamma_maximum_likelihood(sample):
    """Shape and rate of the gamma distribution fitted to a sample by maximum likelihood."""
    x = np.asarray(sample, float)
    gap = np.log(x.mean()) - np.log(x).mean()
    shape = brentq(lambda a: np.log(a) - digamma(a) - gap, 1e-8, 1e8, xtol=1e-14, rtol=1e-14)
    return shape, shape / x.mean()


# ---------------------------------------------------------------------------------- prediction


def log_query(prior, w, q, theta, groups=None, exposures=None):
    """Log p(query tokens q (J,) | document w (J,)), sequence form, exact; "dm" only."""
    if prior.model != "dm":
        raise ValueError("only for dm")
    w, q = np.asarray(w, int), np.asarray(q, int)
    both = document(prior, w + q, theta, groups, exposures)["logp_sequence"]
    return both - document(prior, w, theta, groups, exposures)["logp_sequence"]


def label_probabilities(
    prior, w, theta, theta_labels, groups=None, exposures=None, label_exposure=1.0
):
    """Distribution of exactly one label given the words, by comparing whole documents.

    Parameters
    ----------
    prior : Prior
    w : (J,) counts
    theta : (J, K)
    theta_labels : (Y, K), columns summing to one
    groups : (J,), optional
    exposures : (G,), optional, of the words
    label_exposure : float

    Returns
    -------
    (Y,) array
    """
    theta_labels = np.asarray(theta_labels, float)
    n_labels = len(theta_labels)
    groups, _, exposures = _one_document(len(w), groups, exposures)
    all_theta = np.vstack([theta, theta_labels])
    all_groups = np.append(groups, np.full(n_labels, len(exposures)))
    all_exposures = np.append(exposures, label_exposure)
    logp = [
        document(prior, np.append(w, y), all_theta, all_groups, all_exposures)["logp"]
        for y in np.eye(n_labels, dtype=int)
    ]
    return _normalise(np.array(logp))[1]


# ---------------------------------------------------------------------------------- simulation


def log_gamma_draw(shape, rng):
    """Log of Gamma(shape, 1) draws, safe for tiny shapes; any array shape."""
    shape = np.asarray(shape, float)
    return np.log(rng.gamma(shape + 1)) + np.log1p(-rng.random(shape.shape)) / shape


def _positive(log_x):
    """Exponential that never underflows to zero."""
    return np.maximum(np.exp(log_x), np.finfo(float).tiny)


def draw_scores(prior, c, exposure_totals, rng):
    """Draw the scores (I, K) given counts c (I, K) and total exposures (I,).

    A "cgp" score is exactly 0 if and only if the spike was drawn.
    """
    c = np.asarray(c)
    exposure_totals = np.broadcast_to(np.asarray(exposure_totals, float), c.shape[:-1])
    shape, rate = score_parameters(prior, c, exposure_totals)
    log_draw = log_gamma_draw(shape, rng)
    if rate is None:
        return _positive(log_draw - logsumexp(log_draw, axis=-1, keepdims=True))
    out = _positive(log_draw - np.log(rate))
    if prior.model == "cgp":
        out[rng.random(c.shape) < spike_probability(prior, c, exposure_totals)] = 0.0
    return out


def draw_theta(n, gamma, groups, rng):
    """Draw the loadings (J, K) from Dirichlet(gamma + n) per group, n (J, K), gamma (J,)."""
    n = np.asarray(n, float)
    groups, _, _ = _layout(len(n), groups, None, 1)
    log_draw = log_gamma_draw(np.asarray(gamma, float)[:, None] + n, rng)
    for g in np.unique(groups):
        log_draw[groups == g] -= logsumexp(log_draw[groups == g], axis=0)
    return _positive(log_draw)


def regenerate(prior, theta, scores, groups, exposures, lengths, rng):
    """Draw new counts given loadings and scores.

    Parameters
    ----------
    prior : Prior
    theta : (J, K)
    scores : (I, K)
    groups : (J,) or None
    exposures : (I, G) or None (ignored by "dm")
    lengths : (I, G) totals of each group, for "dm" (otherwise ignored, may be None)
    rng : numpy.random.Generator

    Returns
    -------
    W : (I, J) counts
    V : (I, J, K) their split over components
    """
    theta, scores = np.asarray(theta, float), np.asarray(scores, float)
    groups, _, exposures = _layout(len(theta), groups, exposures, len(scores))
    rates = theta * scores[:, None, :]
    if prior.model != "dm":
        V = rng.poisson(exposures[:, groups, None] * rates)
        return V.sum(-1), V
    V = np.zeros(rates.shape, int)
    lengths = np.asarray(lengths, int)
    for g in np.unique(groups):
        own = np.flatnonzero(groups == g)
        p = rates[:, own].reshape(len(scores), -1)
        draw = rng.multinomial(lengths[:, g], p / p.sum(1, keepdims=True))
        V[:, own] = draw.reshape(len(scores), len(own), -1)
    return V.sum(-1), V


def simulate_prior(prior, gamma, groups, exposures, lengths, rng):
    """Draw loadings, scores and counts from the prior.

    Parameters
    ----------
    prior : Prior
    gamma : (J,)
    groups : (J,) or None
    exposures : (I, G), for "gp" and "cgp" (ignored by "dm", may be None)
    lengths : (I, G) totals of each group, for "dm" (otherwise ignored, may be None)
    rng : numpy.random.Generator

    Returns
    -------
    theta : (J, K)
    scores : (I, K)
    W : (I, J)
    """
    n_documents = len(lengths if prior.model == "dm" else exposures)
    theta = draw_theta(np.zeros((len(gamma), prior.K)), gamma, groups, rng)
    scores = draw_scores(prior, np.zeros((n_documents, prior.K)), np.zeros(n_documents), rng)
    W, _ = regenerate(prior, theta, scores, groups, exposures, lengths, rng)
    return theta, scores, W


# -------------------------------------------------------------------------------- random cases


def random_case(kind, rng, model=None):
    """Make a new small problem.

    Parameters
    ----------
    kind : one of `KINDS`
    rng : numpy.random.Generator
    model : "gp", "cgp" or "dm", optional (default: at random)

    Returns
    -------
    Case
        J is 2-4 (at least 3 with groups), K 2-3, I 1 or 2-3, at most 9 tokens. With groups, the
        features of a group need not be adjacent, and for "gp" and "cgp" one exposure is sometimes
        0 (its group then has no counts in that document).
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}")
    model = MODELS[rng.integers(3)] if model is None else model
    grouped, whole = kind.endswith("_groups"), kind.startswith("corpus")
    J, K = int(rng.integers(3 if grouped else 2, 5)), int(rng.integers(2, 4))
    n_documents = int(rng.integers(2, 4)) if whole else 1
    prior = Prior(
        model,
        rng.uniform(0.2, 2.0, K),
        None if model == "dm" else rng.uniform(0.3, 2.0, K),
        rng.uniform(0.1, 0.8, K) if model == "cgp" else None,
    )
    groups = exposures = gamma = theta = None
    possible = np.ones((n_documents, J), bool)
    if grouped:
        groups = np.sort(np.append([0, 1], rng.integers(0, 2, J - 2)))
        if rng.random() < 0.5:
            groups = rng.permutation(groups)
        if model != "dm":
            exposures = rng.uniform(0.4, 1.8, (n_documents, 2))
            if rng.random() < 0.5:
                exposures[rng.integers(n_documents), rng.integers(2)] = 0.0
            possible = exposures[:, groups] > 0
    W = np.zeros((n_documents, J), int)
    cells = np.flatnonzero(possible.ravel())
    np.add.at(W.reshape(-1), rng.choice(cells, size=rng.integers(3, 10)), 1)
    if whole:
        gamma = rng.uniform(0.3, 1.5, J)
    else:
        theta = draw_theta(np.zeros((J, K)), rng.uniform(0.8, 2.5, J), groups, rng)
    return Case(prior, W, groups, exposures, gamma, theta)
