# SPDX-License-Identifier: BSD-3-Clause
"""Two more judges, which share no approximation with ``judge.py``; give them the model's alpha.

Left to right: the likelihood of whole documents, token after token, by particles (Buntine 2009).
The tokens before are drawn again only once per token, so beyond two tokens it is a little low,
alike for all models. Gibbs completion: as in ``judge.py``, but the proportions are the mean of
collapsed Gibbs draws over the observed half. Every document has its own stream of random numbers,
so threads change nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import judge
import numba
import numpy as np
from scipy import sparse

__all__ = ["JUDGES", "all_judges", "gibbs_completion", "left_to_right"]

PIECES = 16  # of the documents, shared out between the threads


def left_to_right(
    components: Any, counts: Any, alpha: Any, n_documents: int = 150, n_particles: int = 5,
    longest: int = 120, seed: int = 3,
) -> float:  # fmt: skip
    """Return the perplexity per token of whole held-out documents.

    Parameters
    ----------
    components : (K, J) array
        Non-negative, on any scale.
    counts : (I, J) sparse matrix
        Held-out documents, whole counts.
    alpha : float or (K,) array
        Dirichlet parameter of the proportions.
    n_documents : int
        Documents that are drawn to be judged.
    n_particles : int
    longest : int
        Tokens of a document that are judged, drawn without replacement.
    """
    rng = np.random.default_rng(seed)
    chosen = _chosen(counts, n_documents, rng)
    documents = [rng.permutation(_tokens(chosen[[i]]))[:longest] for i in range(chosen.shape[0])]
    starts = np.concatenate([[0], np.cumsum([len(words) for words in documents])])
    tables = judge.smoothed(components, counts), judge.vector(alpha, components)
    words = np.concatenate(documents)

    def part(first: int, last: int) -> float:
        return _left_to_right(*tables, starts, words, first, last, n_particles, seed)

    return float(np.exp(-_in_pieces(part, len(documents)) / starts[-1]))


def gibbs_completion(
    components: Any, counts: Any, alpha: Any, n_documents: int = 600, burn_in: int = 100,
    n_draws: int = 200, seed: int = 11,
) -> float:  # fmt: skip
    """Return the perplexity per token of the scored halves, given the observed halves.

    Parameters
    ----------
    components, counts, alpha, n_documents
        As for ``left_to_right``.
    burn_in, n_draws : int
        Sweeps over the observed half before and during averaging.
    """
    chosen = _chosen(counts, n_documents, np.random.default_rng(seed))
    observed, scored = judge.halves(chosen, seed)
    words = _tokens(observed)
    starts = np.concatenate([[0], np.cumsum(np.asarray(observed.sum(axis=1)).ravel())])
    tables = judge.smoothed(components, counts), judge.vector(alpha, components)
    targets = judge.arrays(scored)

    def part(first: int, last: int) -> float:
        return _complete(*tables, starts, words, *targets, first, last, burn_in, n_draws, seed)

    return float(np.exp(-_in_pieces(part, chosen.shape[0]) / scored.sum()))


JUDGES: dict[str, Callable[..., float]] = {
    "completion": judge.perplexity,
    "left-to-right": left_to_right,
    "Gibbs completion": gibbs_completion,
}


def all_judges(components: Any, counts: Any, alpha: Any) -> dict[str, float]:
    """Return the perplexity by each judge."""
    return {name: function(components, counts, alpha) for name, function in JUDGES.items()}


def _chosen(counts: Any, n_documents: int, rng: np.random.Generator) -> Any:
    """Return some of the documents, in their order."""
    whole = sparse.csr_array(counts)
    size = min(n_documents, whole.shape[0])
    return whole[np.sort(rng.choice(whole.shape[0], size, replace=False))]


def _tokens(documents: Any) -> Any:
    """Return the word of each token, document by document."""
    return np.repeat(documents.indices, documents.data.astype(np.int64)).astype(np.int64)


def _in_pieces(part: Callable[[int, int], float], n_documents: int) -> float:
    """Add up a function of ranges of documents, on all cores and in a fixed order."""
    edges = np.linspace(0, n_documents, PIECES + 1).astype(int).tolist()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(part, edges[:-1], edges[1:]))


@numba.njit(nogil=True, cache=True)
def _draw(row, counts, alpha, sums):  # type: ignore[no-untyped-def]
    """Draw the component of a token; return it, and the total of the weights."""
    total = 0.0
    for k in range(alpha.shape[0]):
        total += row[k] * (counts[k] + alpha[k])
        sums[k] = total
    k = np.searchsorted(sums, np.random.random() * total, side="right")  # noqa: NPY002 - all that Numba can seed
    return min(k, alpha.shape[0] - 1), total


@numba.njit(nogil=True, cache=True)
def _left_to_right(loadings, alpha, starts, words, first, last, n_particles, seed):  # type: ignore[no-untyped-def]
    n_components, concentration, log_likelihood = alpha.shape[0], alpha.sum(), 0.0
    counts, sums = np.empty(n_components), np.empty(n_components)
    for i in range(first, last):
        np.random.seed(seed + i)  # noqa: NPY002
        document = words[starts[i] : starts[i + 1]]
        chances, given = np.zeros(len(document)), np.empty(len(document), np.int64)
        for _ in range(n_particles):
            counts[:] = 0.0
            for n in range(len(document)):
                for m in range(n):  # what came before is drawn again
                    counts[given[m]] -= 1.0
                    given[m], _ = _draw(loadings[document[m]], counts, alpha, sums)
                    counts[given[m]] += 1.0
                given[n], total = _draw(loadings[document[n]], counts, alpha, sums)
                counts[given[n]] += 1.0
                chances[n] += total / (concentration + n)
        log_likelihood += np.log(chances / n_particles).sum()
    return log_likelihood


@numba.njit(nogil=True, cache=True)
def _complete(loadings, alpha, starts, words, sptr, swords, scounts, first, last, burn_in, n_draws,
              seed):  # type: ignore[no-untyped-def]  # fmt: skip
    n_components, log_likelihood = alpha.shape[0], 0.0
    sums = np.empty(n_components)
    for i in range(first, last):
        np.random.seed(seed + i)  # noqa: NPY002
        document = words[starts[i] : starts[i + 1]]
        given = np.full(len(document), -1)
        counts, mean = np.zeros(n_components), np.zeros(n_components)
        for sweep in range(1 + burn_in + n_draws):  # the first one starts the chain
            for n in range(len(document)):
                if given[n] >= 0:
                    counts[given[n]] -= 1.0
                given[n], _ = _draw(loadings[document[n]], counts, alpha, sums)
                counts[given[n]] += 1.0
            if sweep > burn_in:
                mean += counts + alpha
        mean /= mean.sum()
        for t in range(sptr[i], sptr[i + 1]):
            log_likelihood += scounts[t] * np.log(np.dot(mean, loadings[swords[t]]))
    return log_likelihood
