# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the steps of maximum likelihood, MAP and variational inference."""

import numpy as np
from scipy.special import digamma, gammaln, softmax, xlogy

from .documents import each_document
from .special import exp_digamma

__all__ = [
    "FLOOR",
    "expect",
    "expect_conditional",
    "geometric_mean_loadings",
    "loading_penalty",
    "mean_scores",
    "weighted_log_loadings",
]

FLOOR = 1e-150  # smallest variational weight


def expect(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    geometric_mean, power, n_inner, tolerance,
):  # fmt: skip
    """Update the scores and split every count in expectation (theory 4.1, 4.2).

    Returns the new score_shape (I, K), expected loading counts (J, K) and objective (I,). The
    kernel's sums are these counts divided by the weights.
    """
    score_shape = score_shape.copy()
    loading_counts = np.zeros(weights.shape)
    objective = np.zeros(len(score_shape))
    for i, w, n in each_document(indptr, words, counts):
        alpha, b, a = shape[levels[i]], rate[levels[i]], score_shape[i]
        converged = False
        for _ in range(n_inner):
            split, objective[i] = _expected_split(weights[w], n, alpha, b, a, geometric_mean, power)
            new = alpha + split.sum(axis=0)
            change = np.abs(new - a).sum()
            a[:] = new
            if converged:
                break
            converged = change <= tolerance * new.sum()
        np.add.at(loading_counts, w, split)
    return score_shape, loading_counts, objective


def expect_conditional(
    indptr, words, counts, levels, shape, rate, present, log_weights, score_shape, damping,
    n_inner, tolerance,
):  # fmt: skip
    """Structured variational step for scores that may be exactly zero (theory 4.3).

    Returns score_shape, absent and damping (I, K), loading counts (J, K) and objective (I,).
    """
    score_shape, damping, absent = score_shape.copy(), damping.copy(), np.zeros(damping.shape)
    loading_counts = np.zeros(log_weights.shape)
    objective = np.zeros(len(score_shape))
    with np.errstate(divide="ignore"):
        logit_spikes = np.log1p(-present) - np.log(present)
    for i, w, n in each_document(indptr, words, counts):
        alpha, b, logit_spike = shape[levels[i]], rate[levels[i]], logit_spikes[levels[i]]
        a, T = score_shape[i], log_weights[w]
        possible = (T > -np.inf).any(axis=1)
        T, m = T[possible], n[possible]
        N = softmax(T + digamma(a) - np.log(b) - damping[i], axis=1)  # responsibilities
        bound = -np.inf
        for step in range(n_inner):
            a, eta, push = _conditional_scores(m, N, alpha, b, a, logit_spike)
            for t in range(len(m)):
                N[t] = _conditional_word(t, m, N, T[t], eta, push)
            a, eta, push = _conditional_scores(m, N, alpha, b, a, logit_spike)
            none, c = np.exp(m @ _log_not(N)), m @ N
            previous, bound = bound, _entropy(N, T, m)
            bound += ((c + alpha - a) * eta + gammaln(a) - a * np.log(b) + push * none).sum()
            if step > 0 and bound - previous <= tolerance * (1 + abs(bound)):
                break
        score_shape[i], absent[i], damping[i] = a, -np.expm1(-push) * none, push * none
        objective[i] = bound if possible.all() else -np.inf
        np.add.at(loading_counts, w[possible], m[:, None] * N)
    return score_shape, absent, damping, loading_counts, objective


def geometric_mean_loadings(loading_shape, group_of_word, totals):
    """Exp E[log theta_jk] (J, K) of Dirichlet loadings."""
    return np.maximum(np.exp(digamma(loading_shape) - digamma(totals)[group_of_word]), FLOOR)


def loading_penalty(loading_shape, group_of_word, totals, gamma, gamma_totals):
    """-KL(q(Theta) || prior) of Dirichlet loadings (theory 4.4)."""
    prior, prior_totals = gamma[:, None], gamma_totals[:, None]
    log_theta = digamma(loading_shape) - digamma(totals)[group_of_word]
    cells = gammaln(loading_shape) - gammaln(prior) + (prior - loading_shape) * log_theta
    return cells.sum() + (gammaln(prior_totals) - gammaln(totals)).sum()


def weighted_log_loadings(loadings, gamma):
    """Sum of gamma_j log(theta_jk), the log prior of point loadings in the log basis."""
    return (gamma[:, None] * np.log(np.maximum(loadings, 1e-300))).sum()


def mean_scores(a, b, geometric_mean):
    """Mean or geometric mean of Gamma(a, b) scores."""
    return np.maximum(exp_digamma(a) / b, FLOOR) if geometric_mean else a / b


def _expected_split(weights, n, alpha, b, a, geometric_mean, power):
    """Split counts n (W,) by weights (W, K); return also the objective of this step."""
    scores = mean_scores(a, b, geometric_mean)
    joint = weights * scores**power
    norm = joint.sum(axis=1, keepdims=True)
    split = np.divide(n[:, None] * joint, norm, out=np.zeros(joint.shape), where=norm > 0)
    objective = xlogy(n, norm[:, 0]).sum() / power
    if geometric_mean:
        c = split.sum(axis=0)
        objective += (gammaln(alpha + c) - (alpha + c) * np.log(b) - c * np.log(scores)).sum()
    else:
        objective += xlogy(alpha, scores).sum()
    return split, objective


def _conditional_scores(n, N, alpha, b, a, logit_spike):
    """Update slab a and spike r of each component in turn; return a, eta and D = -log(1 - r)."""

    def best_push(a):
        slab = (alpha - a) * digamma(a) + gammaln(a) - gammaln(alpha)
        return np.logaddexp(0, logit_spike - slab)

    c, log_none = n @ N, n @ _log_not(N)
    push = best_push(a)
    for _ in range(3):
        present = np.exp(-push) + np.expm1(-push) * np.expm1(log_none)  # 1 - r S
        a = alpha + c / present
        push = best_push(a)
    return a, digamma(a) - np.log(b), push


def _conditional_word(t, n, N, T, eta, push):
    """New responsibilities of word t: the stationary point, or the first halved step that gains."""
    old, others = N[t], np.delete(np.arange(len(n)), t)
    log_others = n[others] @ _log_not(N[others])  # log P(no token of another word)

    def part_of_bound(N):
        return _entropy(N, T + eta, n[t]) + (push * np.exp(log_others + n[t] * _log_not(N))).sum()

    new = softmax(T + eta - push * np.exp(log_others + (n[t] - 1) * _log_not(old)))
    for attempt in range(40):
        trial = old + (new - old) * 0.5**attempt
        if part_of_bound(trial) >= part_of_bound(old):
            return trial
    return old


def _log_not(N):
    return np.log1p(-np.minimum(N, 1 - 1e-15))


def _entropy(N, logits, n):
    """sum_jk n_j N_jk (logit_jk - log N_jk), nothing where N_jk = 0."""
    terms = N * np.where(N > 0, logits, 0) - xlogy(N, N)
    return (np.reshape(n, (-1, 1)) * terms).sum()
