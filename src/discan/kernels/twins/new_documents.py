# SPDX-License-Identifier: BSD-3-Clause
"""Twin of the expected component counts of new documents."""

import numpy as np

from .documents import each_document

__all__ = ["split_new"]


def split_new(
    indptr, words, counts, levels, shape, rate, present, loadings, stride, n_steps, tolerance
):
    """Split every count of new documents given all other tokens.

    Returns E[c] and P(c = 0), each (I, K).
    """
    size = (len(indptr) - 1, loadings.shape[1])
    component_counts, empty = np.zeros(size), np.ones(size)
    for i, w, n in each_document(indptr, words, counts):
        alpha, b, q = shape[levels[i]], rate[levels[i]], 1 - present[levels[i]]
        theta = loadings[w].astype(float)
        c = np.full(size[1], n.sum() / size[1])
        none = np.exp(-c)
        for _ in range(n_steps):
            split = _split(theta, alpha, b, q, c, none, np.minimum(n, 1)[:, None])
            new = n @ split
            none = np.prod(np.maximum(1 - split, 1e-6) ** n[:, None], axis=0)
            none = none if (present < 1).any() else np.ones(size[1])
            change = np.abs(new - c).sum()
            c = np.maximum(c + stride * (new - c), 0.3 * new)
            c *= new.sum() / c.sum() if c.sum() > 0 else 0
            if change <= tolerance * new.sum():
                break
        component_counts[i], empty[i] = c, none
    return component_counts, empty


def _split(theta, alpha, b, q, c, none, token):
    """Probabilities (W, K) of the components of each word's tokens, given all other tokens."""
    joint = theta * (c + alpha * (1 - q * none)) / b
    norm = joint.sum(axis=1, keepdims=True)
    own = np.divide(token * joint, norm, out=np.zeros(joint.shape), where=norm > 0)
    rest = np.minimum(none / np.maximum(1 - own, 1e-6), 1)
    joint = theta * (np.maximum(c - own, 0) + alpha * (1 - q * rest)) / b
    norm = joint.sum(axis=1, keepdims=True)
    return np.divide(joint, norm, out=np.zeros(joint.shape), where=norm > 0)
