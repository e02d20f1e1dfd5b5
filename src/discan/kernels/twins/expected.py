# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the steps in expectation: point estimates, variational, collapsed variational."""

import numpy as np
from scipy.special import digamma, gammaln, xlogy

from .common import FLOOR, each_document, exp_digamma

__all__ = [
    "KEPT",
    "add_neighbours",
    "count_tables",
    "expect",
    "expect_others",
    "loading_geometry",
    "loading_penalty",
    "log_peaks",
    "renew_counts",
    "renew_loadings",
    "settle",
]

KEPT = 0.3  # of a plain step, at least, after a long stride


def expect(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    geometric_mean, power, n_inner, tolerance,
):  # fmt: skip
    """Update the scores and split every count in expectation (spec 4.1, 4.2).

    Returns the new score_shape (I, K), expected loading counts (J, K) and objective (I,). The
    kernel gives the counts divided by the weights.
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


def _expected_split(weights, n, alpha, b, a, geometric_mean, power):
    """Split counts n (W,) by weights (W, K); return also the objective of this step."""
    scores = np.maximum(exp_digamma(a) / b, FLOOR) if geometric_mean else a / b
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


def settle(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    geometric_mean, n_steps, tolerance,
):  # fmt: skip
    """Bring scores to the fixed point of ``expect``; components at rest are left out of most steps.

    Returns the new score_shape (I, K).
    """
    score_shape = score_shape.astype(float)
    for i, w, n in each_document(indptr, words, counts):
        alpha, b, a, T = shape[levels[i]], rate[levels[i]], score_shape[i], weights[w].astype(float)
        n_full, n_few, left = 3, 6, n_steps
        while left > 0:
            for _ in range(min(n_full, left)):
                change = _settling_step(T, n, alpha, b, a, 0.0, geometric_mean)
                left -= 1
            if change <= tolerance or left == 0:
                break
            active = _moving(a, alpha, geometric_mean, tolerance)
            rest = T[:, ~active] @ _mean_scores(a[~active], b[~active], geometric_mean)
            part = a[active]
            given = T[:, active], n, alpha[active], b[active], part, rest, geometric_mean
            left -= _settle_active(*given, min(n_few, left), tolerance)
            a[active] = part
            n_full, n_few = 1, 2 * n_few
    return score_shape


def _settling_step(T, n, alpha, b, a, rest, geometric_mean):
    """Move a, in place, by one step; return the share of its total that this moved."""
    scores = _mean_scores(a, b, geometric_mean)
    norm = T @ scores + rest
    shares = np.divide(n, norm, out=np.zeros(norm.shape), where=norm > 0)
    new = alpha + scores * (shares @ T)
    change = np.abs(new - a).sum() / max(new.sum(), FLOOR)
    a[:] = new
    return change


def _mean_scores(a, b, geometric_mean):
    return np.maximum(exp_digamma(a) / b, FLOOR) if geometric_mean else a / b


def _moving(a, alpha, geometric_mean, tolerance):
    """Components whose count would follow a change of its a, and is not lost in the tolerance."""
    count = a - alpha
    bend = 1.0 + 1.0 / a if geometric_mean else 1.0
    return (count * bend > 0.05 * a) & (count * len(a) > tolerance * a.sum())


def _settle_active(T, n, alpha, b, a, rest, geometric_mean, n_steps, tolerance):
    """Steps, in place, with a stride before every third; return how many."""
    change, path = 1.0, []
    for step in range(n_steps):
        path = [a.copy()] if step % 3 == 0 else [*path, a.copy()]
        if len(path) == 3 and change < 0.01:
            first, bend = path[1] - path[0], path[2] - 2 * path[1] + path[0]
            squares, bends = first @ first, bend @ bend
            stride = max(1.0, np.sqrt(squares / bends)) if squares < 1e6 * bends else 1000.0
            a[:] = path[0] + stride * (2 * first + stride * bend)
            a[:] = np.maximum(a, alpha + 0.1 * (path[2] - alpha))
        last, change = change, _settling_step(T, n, alpha, b, a, rest, geometric_mean)
        if change <= tolerance:
            return step + 1
        if len(path) == 3 and change > last:
            a[:], change = path[2], last
    return n_steps


def expect_others(
    indptr, words, counts, levels, shape, rate, loadings, group_of_word, gamma, gamma_totals,
    inverse_totals, score_shape, stride, n_inner, tolerance,
):  # fmt: skip
    """Split every count by what all other tokens say (collapsed variational inference).

    Returns the new score_shape (I, K), expected loading counts (J, K) and objective (I,).
    """
    score_shape = score_shape.copy()
    loading_counts = np.zeros(loadings.shape)
    objective = np.zeros(len(score_shape))
    for i, w, n in each_document(indptr, words, counts):
        alpha, b, a = shape[levels[i]], rate[levels[i]], score_shape[i]
        given = loadings[w], gamma[w, None], gamma_totals[group_of_word[w], None]
        converged = False
        for _ in range(n_inner):
            split, objective[i] = _split_by_others(
                *given, inverse_totals[group_of_word[w]], n, alpha, b, a
            )
            c, before = split.sum(axis=0), a - alpha
            change = np.abs(c - before).sum()
            ahead = np.maximum(before + stride * (c - before), KEPT * c) if stride > 1 else c
            a[:] = alpha + ahead * (c.sum() / ahead.sum() if ahead.sum() > 0 else 1)
            if converged:
                break
            converged = change <= tolerance * c.sum()
        np.add.at(loading_counts, w, split)
    return score_shape, loading_counts, objective


def _split_by_others(theta, gamma, gamma_total, inverse_total, n, alpha, b, a):
    """Split counts n (W,) of words with loadings (W, K); return also the objective."""
    joint = theta * a / b
    norm = joint.sum(axis=1, keepdims=True)
    token = np.minimum(n, 1)[:, None]  # a fraction of a token speaks for itself less
    own = np.divide(token * joint, norm, out=np.zeros(joint.shape), where=norm > 0)
    scores = np.maximum(a - own, alpha) / b
    theta = np.maximum(theta - own * inverse_total, gamma * inverse_total)
    theta = theta / np.maximum(1 - own * inverse_total, gamma_total * inverse_total)
    joint = scores * theta
    chance = joint.sum(axis=1, keepdims=True)
    possible = norm > 0
    split = np.divide(n[:, None] * joint, chance, out=np.zeros(joint.shape), where=possible)
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(possible, chance, 0) / scores.sum(axis=1, keepdims=True))
    return split, (n * logs[:, 0]).sum()


def renew_counts(new, factor, way, least, group_of_word, first, last, counts):
    """Counts (J, K) moved towards the new ones, and what the moved ones add to the totals."""
    counts, rows = counts.copy(), slice(first, last)
    goal = factor * new[rows]
    counts[rows] = np.maximum(counts[rows] + way * (goal - counts[rows]), least * goal)
    totals = np.zeros((group_of_word.max() + 1, counts.shape[1]))
    np.add.at(totals, group_of_word[rows], counts[rows])
    return counts, totals


def renew_loadings(counts, gamma, group_of_word, inverse_totals, first, last):
    """Loadings (last - first, K) of some words."""
    rows = slice(first, last)
    return (gamma[rows, None] + counts[rows]) * inverse_totals[group_of_word[rows]]


def count_tables(counts, levels, concentration):
    """Expected number of tables of expected counts (I, K)."""
    a, c = concentration[levels], np.maximum(counts, 1e-100)
    some = -np.expm1(-c)
    return some * a * (digamma(c / some + a) - digamma(a))


def add_neighbours(indptr, words, counts, columns, signs, company, totals):
    """Add what stands beside each word of the documents; return the company (J, M), totals (J,)."""
    company, totals = company.copy(), totals.copy()
    for _, w, n in each_document(indptr, words, counts):
        beside = n[None, :] * (1 - np.eye(len(w)))  # of each word, all the others
        share = n / n.sum()
        for j, row, part in zip(w, beside, share, strict=True):
            np.add.at(company[j], columns[w], part * signs[w] * row)
            totals[j] += part * row.sum()
    return company, totals


def loading_geometry(loading_shape, group_of_word, totals):
    """Give exp E[log theta_jk] (J, K) under Dirichlet loadings."""
    return np.maximum(np.exp(digamma(loading_shape) - digamma(totals)[group_of_word]), FLOOR)


def loading_penalty(loading_shape, group_of_word, totals, gamma, gamma_totals):
    """-KL(q(Theta) || prior) of Dirichlet loadings (spec 4.4)."""
    prior, prior_totals = gamma[:, None], gamma_totals[:, None]
    log_theta = digamma(loading_shape) - digamma(totals)[group_of_word]
    cells = gammaln(loading_shape) - gammaln(prior) + (prior - loading_shape) * log_theta
    return cells.sum() + (gammaln(prior_totals) - gammaln(totals)).sum()


def log_peaks(loadings, gamma):
    """Sum of gamma_j log(theta_jk), the log prior of point loadings in the log basis."""
    return (gamma[:, None] * np.log(np.maximum(loadings, 1e-300))).sum()
