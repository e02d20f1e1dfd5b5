# SPDX-License-Identifier: BSD-3-Clause
"""A chain over the components of all tokens at a ladder of temperatures, for the evidence."""

import math

import numpy as np

from .compile import kernel, part
from .random import ANNEAL, START, open_stream, uniform
from .simd.memory import fill
from .special import log_rising

__all__ = ["anneal", "draw_components"]


@kernel()
def draw_components(
    indptr, words, counts, levels, shape, group_of_word,
    out_assignments, out_loading_counts, out_totals, seed, run,
):  # fmt: skip
    """Draw the components of all tokens from the urn scheme of the Dirichlet-multinomial.

    Same as twins.annealing.draw_components. Counts are added to ``out_loading_counts`` (J, K) and
    ``out_totals`` (G, K).
    """
    n_components = shape.shape[1]
    c = np.empty(n_components, dtype=np.int64)
    stream = np.empty(2, dtype=np.uint64)
    token = 0
    for i in range(indptr.shape[0] - 1):
        open_stream(stream, seed, START, run, i)
        fill(c, np.int64(0))
        level, before, total = levels[i], 0, 0.0
        for k in range(n_components):
            total += shape[level, k]
        for t in range(indptr[i], indptr[i + 1]):
            j = words[t]
            for _ in range(counts[t]):
                left = uniform(stream) * (total + before)
                k = 0
                left -= c[0] + shape[level, 0]
                while left >= 0.0 and k < n_components - 1:
                    k += 1
                    left -= c[k] + shape[level, k]
                c[k] += 1
                out_assignments[token] = k
                out_loading_counts[j, k] += 1
                out_totals[group_of_word[j], k] += 1
                before += 1
                token += 1


@kernel()
def anneal(
    indptr, words, counts, levels, shape, rate, present, group_of_word, gamma, gamma_totals,
    base_loadings, base_scores, assignments, loading_counts, totals, ladder, out_energies,
    seed, run, first_sweep,
):  # fmt: skip
    """Sweep over all tokens at each temperature, and note the energy after each sweep.

    Same as twins.annealing.anneal (theory 6.3). At temperature tau token (i, j) gets k with
    probability proportional to

        (c_k + shape_k) [ 1 / rate_k [present_k if c_k = 0] word_k ]^tau,
        word_k = (gamma_j + n_jk) / (Gamma_g + n_gk),

    where all counts are without the token. The energy is log D + log F - log F_DM up to a constant:
    log D minus the sum over documents of c_k log rate_k + 1(c_k = 0) log present_k.

    The path begins at the urn scheme of the Dirichlet-multinomial; or, if ``base_loadings`` (J, K)
    and ``base_scores`` (I, K) are not empty, at independent tokens with probabilities q in
    proportion to their product. Then the weight is (c_k + shape_k)^tau q_k^(1 - tau) [...]^tau, and
    the energy is log D + log F - log q.

    ``out_energies`` (T, S) gets S sweeps at each of the temperatures ``ladder`` (T,). Random
    numbers are named by the run, the number of the sweep and the document.
    """
    n_words, n_components = loading_counts.shape
    n_levels = shape.shape[0]
    c = np.empty(n_components, dtype=np.int64)
    document, weights = np.empty(n_components), np.empty(n_components)
    scale, chance = np.empty((n_levels, n_components)), np.empty((n_levels, n_components))
    powers, inverse = np.empty((n_words, n_components)), np.empty(totals.shape)
    urn = base_loadings.shape[0] == 0
    near = np.empty(base_loadings.shape)  # q, raised to a power
    near_scores = np.empty(n_components)
    fill(near_scores, 1.0)
    stream = np.empty(2, dtype=np.uint64)
    number = first_sweep
    for step in range(ladder.shape[0]):
        tau = ladder[step]
        power = 1.0 if urn else tau
        for level in range(n_levels):
            for k in range(n_components):
                scale[level, k] = rate[level, k] ** -tau
                chance[level, k] = present[level, k] ** tau
        for j in range(n_words):
            for k in range(n_components):
                powers[j, k] = (gamma[j] + loading_counts[j, k]) ** tau
                if not urn:
                    near[j, k] = base_loadings[j, k] ** (1.0 - tau)
                    powers[j, k] *= near[j, k]
        for g in range(totals.shape[0]):
            for k in range(n_components):
                inverse[g, k] = (gamma_totals[g] + totals[g, k]) ** -tau
        for sweep in range(out_energies.shape[1]):
            energy = 0.0
            token = 0
            for i in range(indptr.shape[0] - 1):
                level = levels[i]
                open_stream(stream, seed, ANNEAL, (run << 40) + number, i)
                fill(c, np.int64(0))
                first = token
                for t in range(indptr[i], indptr[i + 1]):
                    for _ in range(counts[t]):
                        c[assignments[token]] += 1
                        token += 1
                token = first
                for k in range(n_components):
                    if not urn:
                        near_scores[k] = base_scores[i, k] ** (1.0 - tau)
                    document[k] = near_scores[k] * _weight(
                        c[k], shape[level, k], scale[level, k], chance[level, k], power
                    )
                for t in range(indptr[i], indptr[i + 1]):
                    j = words[t]
                    g = group_of_word[j]
                    row, group = powers[j], inverse[g]
                    for _ in range(counts[t]):
                        old = np.int64(assignments[token])
                        of_document, of_word, of_group = document[old], row[old], group[old]
                        c[old] -= 1
                        document[old] = near_scores[old] * _weight(
                            c[old], shape[level, old], scale[level, old], chance[level, old], power
                        )
                        row[old] = (gamma[j] + loading_counts[j, old] - 1) ** tau
                        if not urn:
                            row[old] *= near[j, old]
                        group[old] = (gamma_totals[g] + totals[g, old] - 1) ** -tau
                        total = 0.0
                        for k in range(n_components):
                            weights[k] = document[k] * row[k] * group[k]
                            total += weights[k]
                        left = uniform(stream) * total
                        new = 0
                        left -= weights[0]
                        while left >= 0.0 and new < n_components - 1:
                            new += 1
                            left -= weights[new]
                        c[new] += 1
                        if new == old:
                            document[old], row[old], group[old] = of_document, of_word, of_group
                        else:
                            loading_counts[j, old] -= 1
                            totals[g, old] -= 1
                            loading_counts[j, new] += 1
                            totals[g, new] += 1
                            document[new] = near_scores[new] * _weight(
                                c[new], shape[level, new], scale[level, new], chance[level, new],
                                power,
                            )  # fmt: skip
                            row[new] = (gamma[j] + loading_counts[j, new]) ** tau
                            if not urn:
                                row[new] *= near[j, new]
                            group[new] = (gamma_totals[g] + totals[g, new]) ** -tau
                            assignments[token] = new
                        token += 1
                for k in range(n_components):
                    if c[k] == 0:
                        energy -= math.log(present[level, k])
                    else:
                        energy -= c[k] * math.log(rate[level, k])
                        if not urn:
                            energy += log_rising(shape[level, k], c[k])
                if urn:
                    continue
                token = first
                for t in range(indptr[i], indptr[i + 1]):
                    j = words[t]
                    total = 0.0
                    for k in range(n_components):
                        total += base_loadings[j, k] * base_scores[i, k]
                    for _ in range(counts[t]):
                        k = assignments[token]
                        energy -= math.log(base_loadings[j, k] * base_scores[i, k] / total)
                        token += 1
            for j in range(n_words):
                for k in range(n_components):
                    if loading_counts[j, k] > 0:
                        energy += log_rising(gamma[j], loading_counts[j, k])
            for g in range(totals.shape[0]):
                for k in range(n_components):
                    energy -= log_rising(gamma_totals[g], totals[g, k])
            out_energies[step, sweep] = energy
            number += 1


@part()
def _weight(count, shape, scale, chance, power):
    weight = count + shape
    if power != 1.0:
        weight = weight**power
    weight *= scale
    return weight * chance if count == 0 else weight
