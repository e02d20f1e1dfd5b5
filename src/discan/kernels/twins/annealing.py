# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the chain at a ladder of temperatures."""

import numpy as np
from scipy.special import gammaln

from .collapsed import count_tokens, document_counts, document_weight
from .documents import each_token
from .random import ANNEAL, START, Stream

__all__ = ["anneal", "draw_components"]


def draw_components(indptr, words, counts, levels, shape, seed, run):
    """Draw the components of all tokens from the urn scheme of the Dirichlet-multinomial."""
    result, c = [], np.zeros((len(indptr) - 1, shape.shape[1]), dtype=np.int64)
    streams = [Stream(seed, START, run, i) for i in range(len(c))]
    for i in each_token(indptr, counts=counts)[0]:
        weights = c[i] + shape[levels[i]]
        result.append(streams[i].choose(weights, weights.sum()))
        c[i, result[-1]] += 1
    return np.array(result, dtype=np.int64)


def anneal(
    indptr, words, counts, levels, shape, rate, present, group_of_word, gamma, gamma_totals,
    base_loadings, base_scores, assignments, ladder, n_sweeps, seed, run, first_sweep,
):  # fmt: skip
    """Sweep at each temperature; return the assignments and the energies (T, S) (theory 6.3)."""
    n_components, z = shape.shape[1], assignments.copy()
    n = count_tokens(indptr, words, counts, z, len(gamma), n_components)
    indicator = np.eye(len(gamma_totals))[group_of_word].T
    c = document_counts(indptr, counts, z, n_components)
    energies = np.empty((len(ladder), n_sweeps))
    tokens = list(zip(*each_token(indptr, words, counts=counts), strict=True))
    urn = len(base_loadings) == 0
    base = np.array(
        [np.ones(n_components) if urn else base_loadings[j] * base_scores[i] for i, j in tokens]
    )
    base = base.reshape(-1, n_components) / np.maximum(
        base.reshape(-1, n_components).sum(axis=1, keepdims=True), 1e-300
    )
    for step, tau in enumerate(ladder):
        for sweep in range(n_sweeps):
            number = (run << 40) + first_sweep + step * n_sweeps + sweep
            streams = [Stream(seed, ANNEAL, number, i) for i in range(len(c))]
            for token, (i, j) in enumerate(tokens):
                g, level = group_of_word[j], levels[i]
                c[i, z[token]] -= 1
                n[j, z[token]] -= 1
                word = (gamma[j] + n[j]) / (gamma_totals[g] + (indicator @ n)[g])
                weights = document_weight(
                    c[i], shape[level], rate[level] ** tau, present[level] ** tau
                )
                weights = weights * word**tau
                if not urn:
                    weights = (
                        weights * (c[i] + shape[level]) ** (tau - 1) * base[token] ** (1 - tau)
                    )
                z[token] = streams[i].choose(weights, weights.sum())
                c[i, z[token]] += 1
                n[j, z[token]] += 1
            energies[step, sweep] = (
                (gammaln(gamma[:, None] + n) - gammaln(gamma)[:, None]).sum()
                - (
                    gammaln(gamma_totals[:, None] + indicator @ n) - gammaln(gamma_totals)[:, None]
                ).sum()
                - (c * np.log(rate[levels])).sum()
                - np.where(c == 0, np.log(present[levels]), 0.0).sum()
            )
            if not urn:
                rising = gammaln(c + shape[levels]) - gammaln(shape[levels])
                energies[step, sweep] += rising.sum() - np.log(base[np.arange(len(z)), z]).sum()
    return z, energies
