# SPDX-License-Identifier: BSD-3-Clause
"""Twins of direct Gibbs sampling and of the auxiliary draws."""

import math

import numpy as np
from scipy.special import gammaln

from .documents import each_document
from .random import AUGMENT, LOADINGS, POOL, START, SWEEP, Stream, exp_or_zero

__all__ = [
    "augment_loadings",
    "augment_scores",
    "draw_loadings",
    "draw_log_loadings",
    "draw_scores",
    "log_factor",
    "split",
    "sweep",
]

_TINY = 1e-300  # sums of products of loadings and scores below this are computed in logs
_MANY = 2  # a count above this times K is split by binomials, not token by token


def sweep(
    indptr, words, counts, levels, shape, rate, present, loadings, component_counts,
    seed, cycle, first_document,
):  # fmt: skip
    """Draw the scores given counts, then the split of each count (theory 4.5).

    Returns component_counts and scores (I, K), loading counts (J, K), log fit and log factor (I,).
    """
    new_counts = np.zeros_like(component_counts)
    scores = np.zeros(component_counts.shape)
    loading_counts = np.zeros(loadings.shape, dtype=np.int64)
    log_fit = np.zeros(len(scores))
    for i, w, n in each_document(indptr, words, counts):
        stream = Stream(seed, SWEEP, cycle, first_document + i)
        a, b, p = (x[levels[i]] for x in (shape, rate, present))
        asked = (component_counts[i] == 0) & (p < 1)
        absent = [ask and stream.uniform() >= p_k for ask, p_k in zip(asked, p, strict=True)]
        log_gamma = stream.log_gammas(np.where(absent, 0.0, component_counts[i] + a))
        log_score = log_gamma - np.log(b)
        scores[i] = exp_or_zero(log_gamma) / b
        for j, count in zip(w, n, strict=True):
            draws, log_mean = _split(stream, count, loadings[j], scores[i], log_score)
            new_counts[i] += draws
            loading_counts[j] += draws
            log_fit[i] += count * log_mean
    table = shape[levels], rate[levels], present[levels]
    return new_counts, scores, loading_counts, log_fit, log_factor(new_counts, *table)


def split(indptr, words, counts, loadings, scores, seed, first_document):
    """Split every count by given loadings and scores; return counts (I, K) and (J, K)."""
    component_counts = np.zeros(scores.shape, dtype=np.int64)
    loading_counts = np.zeros(loadings.shape, dtype=np.int64)
    for i, w, n in each_document(indptr, words, counts):
        stream = Stream(seed, START, 0, first_document + i)
        for j, count in zip(w, n, strict=True):
            log_score = np.log(np.where(scores[i] > 0, scores[i], _TINY))
            draws, _ = _split(stream, count, loadings[j], scores[i], log_score)
            component_counts[i] += draws
            loading_counts[j] += draws
    return component_counts, loading_counts


def draw_loadings(loading_counts, gamma, group_of_word, seed, cycle):
    """Draw Gamma(gamma_j + n_jk, 1), (J, K); return also the largest of each group, (G, K)."""
    logs = draw_log_loadings(loading_counts, gamma, seed, cycle)
    draws = np.array([exp_or_zero(row) for row in logs])
    groups = range(group_of_word.max() + 1)
    return draws, np.array([draws[group_of_word == g].max(axis=0) for g in groups])


def draw_log_loadings(loading_counts, gamma, seed, cycle):
    """Draw log Gamma(gamma_j + n_jk, 1), (J, K)."""
    streams = [Stream(seed, LOADINGS, cycle, j) for j in range(len(gamma))]
    shapes = gamma[:, None] + loading_counts
    return np.array([s.log_gammas(row) for s, row in zip(streams, shapes, strict=True)])


def augment_scores(
    component_counts, levels, class_of_level, shape, present, seed, cycle, first_document
):
    """Draw presence, tables and log u of every document (theory 5.3).

    Returns sums of tables (C, K) by class, presences (T, K) by level, c + shape of present
    components (T, K) by level, and log u (C,).
    """
    n_documents, n_components = component_counts.shape
    n_classes = class_of_level.max() + 1
    tables = np.zeros((n_classes, n_components), dtype=np.int64)
    active = np.zeros(shape.shape, dtype=np.int64)
    shapes, log_beta = np.zeros(shape.shape), np.zeros(n_classes)
    for i in range(n_documents):
        stream, level, c = (
            Stream(seed, AUGMENT, cycle, first_document + i),
            levels[i],
            component_counts[i],
        )
        own = class_of_level[level]
        for k in range(n_components):
            a, p = shape[level, k], present[level, k]
            if c[k] == 0 and p < 1 and stream.uniform() >= p:
                continue
            active[level, k] += 1
            tables[own, k] += stream.tables(c[k], a)
            shapes[level, k] += c[k] + a
        if c.sum() > 0:
            log_beta[own] += stream.log_beta(np.cumsum(shape[level])[-1], float(c.sum()))
    return tables, active, shapes, log_beta


def draw_scores(shapes, rate, class_of_level, seed, cycle):
    """Draw the sums of the present scores of each class, (C, K), given sums of shapes (T, K)."""
    scores = np.zeros((class_of_level.max() + 1, shapes.shape[1]))
    stream = Stream(seed, POOL, cycle, 0)
    for level, k in zip(*np.nonzero(shapes), strict=True):
        score = math.exp(stream.log_gamma_draw(shapes[level, k])) / rate[level, k]
        scores[class_of_level[level], k] += score
    return scores


def augment_loadings(loading_counts, totals, gamma, gamma_totals, seed, cycle):
    """Draw tables of every word (J,) and log u of every group (G,), summed over components."""
    n_words, n_groups = len(gamma), len(gamma_totals)
    tables, log_beta = np.zeros(n_words, dtype=np.int64), np.zeros(n_groups)
    for j in range(n_words):
        stream = Stream(seed, AUGMENT, cycle, -1 - j)
        tables[j] = sum(stream.tables(n, gamma[j]) for n in loading_counts[j])
    for g in range(n_groups):
        stream = Stream(seed, AUGMENT, cycle, -1 - n_words - g)
        log_beta[g] = sum(stream.log_beta(gamma_totals[g], float(n)) for n in totals[g] if n > 0)
    return tables, log_beta


def log_factor(component_counts, shape, rate, present):
    """Log F(c) up to the model's constant, for counts (..., K)."""
    a = component_counts + shape
    terms = gammaln(a) - a * np.log(rate)
    return (terms - np.where(component_counts == 0, np.log(present), 0.0)).sum(axis=-1)


def _split(stream, count, row, scores, log_score):
    """Split one count over components in proportion to theta_jk l_k; return also log sum_k."""
    row, top = row.astype(float), 0.0
    weights = row * scores
    if not _TINY < weights.sum() < np.inf:
        logits = np.log(np.maximum(row, _TINY)) + log_score
        top = logits.max()
        weights = np.exp(logits - top)
    total = np.cumsum(weights)[-1]  # left to right
    if count > _MANY * len(row):
        draws = stream.multinomial(int(count), weights, total)
    else:
        components = np.arange(len(row))
        by_lanes = np.lexsort((components, components % 8))
        tokens = [by_lanes[stream.choose(weights[by_lanes], total)] for _ in range(count)]
        draws = np.bincount(tokens, minlength=len(row)).astype(np.int64)
    return draws, math.log(total) + top
