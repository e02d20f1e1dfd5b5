# SPDX-License-Identifier: BSD-3-Clause
"""The hierarchical Dirichlet process without truncation, by direct assignment, in plain NumPy.

Nothing here uses the package under test. Weights b of the used components and of all others
together; a token goes to component k with probability proportional to (c_ik + a b_k) times the
probability of its word, and to a new component with a b_new times the word's prior probability.
Concentrations: a ~ Gamma, of the documents; eta ~ Gamma, of the components. Gamma has a rate.
"""

from __future__ import annotations

import numpy as np

__all__ = ["used_components"]


def tables(counts, concentration, rng):
    """Draw the tables of Chinese restaurants with so many guests: CRT(c, a)."""
    return np.array([
        sum(rng.random() < a / (a + s) for s in range(c))
        for c, a in zip(counts, concentration, strict=True)
    ])  # fmt: skip


def used_components(W, gamma, of_documents, of_components, n_sweeps, seed):
    """Number of used components, a and eta after each sweep, (n_sweeps, 3).

    Parameters
    ----------
    W : (I, J) counts
    gamma : float
    of_documents, of_components : (shape, rate)
        Priors of a and eta.
    """
    rng = np.random.default_rng(seed)
    n_documents, n_words = W.shape
    documents, words = (np.repeat(index, W[W > 0]) for index in np.nonzero(W))
    z = np.zeros(len(words), int)
    c = np.bincount(documents, minlength=n_documents)[:, None].astype(int)
    n = np.bincount(words, minlength=n_words)[:, None].astype(int)
    b, rest, a, eta = np.array([0.5]), 0.5, 1.0, 1.0
    lengths, found = W.sum(axis=1), []
    for _ in range(n_sweeps):
        for t in rng.permutation(len(z)):
            i, j = documents[t], words[t]
            c[i, z[t]] -= 1
            n[j, z[t]] -= 1
            if n[:, z[t]].sum() == 0:
                rest += b[z[t]]
                b, c, n = np.delete(b, z[t]), np.delete(c, z[t], 1), np.delete(n, z[t], 1)
                z[z > z[t]] -= 1
            word = (gamma + n[j]) / (gamma * n_words + n.sum(axis=0))
            weights = np.append((c[i] + a * b) * word, a * rest / n_words)
            k = rng.choice(len(weights), p=weights / weights.sum())
            if k == len(b):
                part = rng.beta(1.0, eta)
                b, rest = np.append(b, part * rest), (1.0 - part) * rest
                c = np.column_stack([c, np.zeros(n_documents, int)])
                n = np.column_stack([n, np.zeros(n_words, int)])
            z[t] = k
            c[i, k] += 1
            n[j, k] += 1
        per_component = sum(tables(row, a * b, rng) for row in c)
        total = per_component.sum()
        *b, rest = rng.dirichlet(np.append(per_component, eta))
        b = np.array(b)
        logs = sum(np.log(rng.beta(a, length)) for length in lengths if length)
        a = rng.gamma(of_documents[0] + total) / (of_documents[1] - logs)
        rate = of_components[1] - np.log(rng.beta(eta + 1.0, total))
        shape = of_components[0] + len(b)
        odds = (shape - 1.0) / (total * rate)
        eta = rng.gamma(shape - (rng.random() >= odds / (1.0 + odds))) / rate
        found.append((len(b), a, eta))
    return np.array(found)
