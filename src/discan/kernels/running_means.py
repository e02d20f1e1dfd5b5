# SPDX-License-Identifier: BSD-3-Clause
"""Averages over draws: sparse sums of the documents' counts, running means of the loadings."""

import numpy as np

from .compile import kernel
from .simd.nonzeros import list_nonzeros

__all__ = ["add_counts", "average_loadings", "average_used", "union_sizes"]


@kernel()
def union_sizes(used, indptr, components, out_indptr):
    """Offsets of the entries once the components of this draw are added to those of past draws.

    Same as twins.running_means.union_sizes. ``used`` (n, K) tells which components this draw uses;
    ``indptr`` (n + 1,) and ``components`` list, per document and ascending, those that any past
    draw has used.
    """
    out_indptr[0] = 0
    for i in range(used.shape[0]):
        size = indptr[i + 1] - indptr[i]
        for k in range(used.shape[1]):
            if used[i, k]:
                size += 1
        for e in range(indptr[i], indptr[i + 1]):
            if used[i, components[e]]:
                size -= 1  # already counted
        out_indptr[i + 1] = out_indptr[i] + size


@kernel()
def add_counts(
    component_counts, levels, shape, rate, present, total,
    components, indptr, sums, moments,
    out_components, out_indptr, out_sums, out_moments,
):  # fmt: skip
    """Copy the sums over past draws to new arrays and add a draw with counts (n, K).

    Same as twins.running_means.add_counts. An entry is a document and a component that some draw
    used in it. ``sums`` (2 or 3, entries) holds the sums of c, c^2 and, if it has a third row,
    1(c > 0). ``moments`` (0 or 3, entries) holds by how much the moments of the score exceed those
    of an unused component,

        (c + a) / r - p a / r,  (c + a)(c + a + 1) / q - p a (a + 1) / q,  1 - p,

    a, p = shape, present; r = rate_k total_i, q = rate_k^2 total_i (total_i + 1) for scores that
    sum to one. For other scores ``total`` is empty, r = rate_k and q = rate_k^2.
    """
    n_components = component_counts.shape[1]
    n_sums, n_moments = sums.shape[0], moments.shape[0]
    for i in range(component_counts.shape[0]):
        level = levels[i]
        old, last, new = indptr[i], indptr[i + 1], out_indptr[i]
        for k in range(n_components):
            c = component_counts[i, k]
            known = old < last and components[old] == k
            if c == 0 and not known:
                continue
            out_components[new] = k
            for row in range(n_sums):
                out_sums[row, new] = sums[row, old] if known else 0
            for row in range(n_moments):
                out_moments[row, new] = moments[row, old] if known else 0.0
            if c > 0:
                out_sums[0, new] += c
                out_sums[1, new] += float(c) * c  # may exceed 64 bits
                if n_sums > 2:
                    out_sums[2, new] += 1
                if n_moments > 0:
                    a, p, r = shape[level, k], present[level, k], rate[level, k]
                    q = r * r
                    if total.shape[0] > 0:
                        r *= total[i]
                        q *= total[i] * (total[i] + 1.0)
                    out_moments[0, new] += (c + a * (1.0 - p)) / r
                    out_moments[1, new] += ((c + a) * (c + a + 1.0) - p * a * (a + 1.0)) / q
                    out_moments[2, new] += 1.0 - p
            old += known
            new += 1


@kernel()
def average_loadings(
    loading_counts, totals, group_of_word, gamma, gamma_totals, n_draws, mean, variance
):
    """Add draw ``n_draws`` (1, 2, ...) to the mean and the variance of the loadings.

    Same as twins.running_means.average_loadings. Given counts n_jk the loadings have the mean
    x = (gamma_j + n_jk) / t, t = Gamma_g + n_gk, and the variance x (1 - x) / (t + 1). The variance
    of x over draws is averaged from differences (Welford), so that no digits cancel. ``mean`` and
    ``variance`` may be in single precision: the arithmetic is in double precision, and the results
    are rounded when stored.
    """
    fraction = 1.0 / n_draws
    for j in range(loading_counts.shape[0]):
        g = group_of_word[j]
        for k in range(loading_counts.shape[1]):
            t = gamma_totals[g] + totals[g, k]
            x = (gamma[j] + loading_counts[j, k]) / t
            step = x - mean[j, k]
            new = mean[j, k] + step * fraction
            mean[j, k] = new
            square = step * (x - new) + x * (1.0 - x) / (t + 1.0)
            variance[j, k] += (square - variance[j, k]) * fraction


@kernel(lambda counts, *others: (np.empty(counts.shape[1] + 1, dtype=np.int64),))
def average_used(
    loading_counts, totals, group_of_word, gamma, gamma_totals, n_draws, relative, unused,
    components, indptr, moments, out_components, out_indptr, out_moments, drawn,
):  # fmt: skip
    """Copy the moments over past draws to new arrays and add draw ``n_draws``.

    Same as twins.running_means.average_used, and as ``average_loadings`` for every entry. An entry
    is a word and a component to which some draw assigned tokens of the word; ``moments``
    (2, entries) holds mean and variance. A new entry begins with the moments of the past draws,
    which had no tokens: with r_j = ``relative`` and the rows M, V, P, Q of ``unused`` (4, G, K),
    the mean r M and the variance r (P - r Q + r V).
    """
    fraction = 1.0 / n_draws
    n_components = loading_counts.shape[1]
    for j in range(loading_counts.shape[0]):
        g, r = group_of_word[j], relative[j]
        old, last, new = indptr[j], indptr[j + 1], out_indptr[j]
        drawn[list_nonzeros(loading_counts[j], np.int64(0), drawn)] = n_components
        at = 0
        while new < out_indptr[j + 1]:  # merge two lists
            k = drawn[at]
            known = old < last and components[old] <= k
            if known:
                k = np.int64(components[old])
                mean, variance = float(moments[0, old]), float(moments[1, old])
            else:
                mean = r * unused[0, g, k]
                within = max(unused[2, g, k] - r * unused[3, g, k], 0.0)
                variance = r * (within + r * unused[1, g, k])
            t = gamma_totals[g] + totals[g, k]
            x = (gamma[j] + loading_counts[j, k]) / t
            step = x - mean
            mean += step * fraction
            square = step * (x - mean) + x * (1.0 - x) / (t + 1.0)
            out_components[new] = k
            out_moments[0, new] = mean
            out_moments[1, new] = variance + (square - variance) * fraction
            old += known
            at += k == drawn[at]
            new += 1
