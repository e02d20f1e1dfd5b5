# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the averages over draws."""

import numpy as np

__all__ = ["add_counts", "average_loadings", "average_used", "union_sizes"]


def union_sizes(used, indptr, components):
    """Offsets (n + 1,) of the entries once the components that a draw uses are added."""
    ever = _entries(indptr, components, used.shape) | used
    return np.concatenate(([0], np.cumsum(ever.sum(axis=1))))


def add_counts(
    component_counts, levels, shape, rate, present, total, components, indptr, sums, moments
):
    """Add a draw to sparse sums; return components, sums and moments of all entries."""
    c = component_counts.astype(np.int64)
    before = _entries(indptr, components, c.shape)
    used = before | (c > 0)
    a, r, p = shape[levels], rate[levels], present[levels]
    q = r**2
    if len(total):
        r, q = r * total[:, None], q * (total * (total + 1.0))[:, None]
    excess = (
        (c + a) / r - p * a / r,
        (c + a) * (c + a + 1.0) / q - p * a * (a + 1.0) / q,
        1.0 - p,
    )

    def added(past, draw):
        dense = np.zeros(c.shape, dtype=past.dtype)
        dense[before] = past
        return (dense + np.where(c > 0, draw, 0).astype(past.dtype))[used]

    new_sums = [added(row, draw) for row, draw in zip(sums, (c, c * c, c > 0), strict=False)]
    new_moments = [added(row, draw) for row, draw in zip(moments, excess, strict=False)]
    n_entries = used.sum()
    return (
        np.nonzero(used)[1],
        np.array(new_sums, dtype=sums.dtype).reshape(-1, n_entries),
        np.array(new_moments).reshape(-1, n_entries),
    )


def average_loadings(
    loading_counts, totals, group_of_word, gamma, gamma_totals, n_draws, mean, variance
):
    """Add a draw to running means and variances of the loadings; return both."""
    t = (gamma_totals[:, None] + totals)[group_of_word]
    x = (gamma[:, None] + loading_counts) / t
    new = mean + (x - mean) / n_draws
    square = (x - mean) * (x - new) + x * (1.0 - x) / (t + 1.0)
    average = variance + (square - variance) / n_draws
    return new.astype(mean.dtype), average.astype(variance.dtype)


def average_used(
    loading_counts, totals, group_of_word, gamma, gamma_totals, n_draws, relative, unused,
    components, indptr, moments,
):  # fmt: skip
    """Add a draw to means and variances of used loadings; return components and moments of all."""
    before = _entries(indptr, components, loading_counts.shape)
    used = before | (loading_counts > 0)
    mean, variance, first, second = unused[:, group_of_word]
    r = relative[:, None]
    past = [r * mean, r * (np.maximum(first - r * second, 0.0) + r * variance)]
    for dense, entries in zip(past, moments, strict=True):
        dense[before] = entries
    now = average_loadings(
        loading_counts, totals, group_of_word, gamma, gamma_totals, n_draws, *past
    )
    return np.nonzero(used)[1], np.array([dense[used] for dense in now]).astype(moments.dtype)


def _entries(indptr, components, shape):
    """Dense mask of the entries."""
    mask = np.zeros(shape, dtype=bool)
    mask[np.repeat(np.arange(shape[0]), np.diff(indptr)), components] = True
    return mask
