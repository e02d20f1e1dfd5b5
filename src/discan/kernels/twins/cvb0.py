# SPDX-License-Identifier: BSD-3-Clause
"""Twins of collapsed variational inference."""

import numpy as np
from scipy.special import digamma

from .documents import each_document

__all__ = ["KEPT", "count_tables", "expect_others", "renew_counts", "renew_loadings"]

KEPT = 0.3  # fraction of the counts of a plain step that a long step leaves


def expect_others(
    indptr, words, counts, levels, shape, rate, loadings, group_of_word, gamma, gamma_totals,
    inverse_totals, score_shape, stride, n_inner, tolerance,
):  # fmt: skip
    """Split every count given all other tokens (collapsed variational inference).

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


def renew_counts(new, factor, way, least, group_of_word, first, last, counts):
    """Move counts (J, K) towards new ones; return them and the totals of the moved ones."""
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


def _split_by_others(theta, gamma, gamma_total, inverse_total, n, alpha, b, a):
    """Split counts n (W,) of words with loadings (W, K); return also the objective."""
    joint = theta * a / b
    norm = joint.sum(axis=1, keepdims=True)
    token = np.minimum(n, 1)[:, None]  # of a fraction of a token, only that fraction is left out
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
