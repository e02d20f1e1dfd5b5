# SPDX-License-Identifier: BSD-3-Clause
"""Measure the memory of fits, as NumPy's allocations tell: tables of several shapes, algorithms."""

import tracemalloc
from contextlib import contextmanager
from functools import cache

import numpy as np
from scipy import sparse

from discan import (
    MAP,
    Collapsed,
    CollapsedVariational,
    Corpus,
    Gibbs,
    MaximumLikelihood,
    Variational,
)


def corpus(n_documents, n_words, n_tokens, seed=0):
    """Documents of different lengths, words by Zipf's law."""
    rng = np.random.default_rng(seed)
    lengths = rng.multinomial(n_tokens, rng.dirichlet(np.full(n_documents, 2.0)))
    rates = 1.0 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, n_tokens, p=rates / rates.sum())
    documents = np.repeat(np.arange(n_documents), lengths)
    ones = np.ones(n_tokens, dtype=np.int64)
    return Corpus(sparse.csr_array((ones, (documents, words)), shape=(n_documents, n_words)))


@contextmanager
def peak():
    """Yield a list that gets the most bytes that were allocated at once."""
    result = []
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield result
        result.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()


# Documents, words, tokens, components: where the loadings dominate, the scores, or the tokens.
SHAPES = [(400, 6_000, 100_000, 40), (9_000, 300, 60_000, 20), (3_000, 4_000, 300_000, 16)]
KINDS = {
    "ml": MaximumLikelihood(),
    "ml plain": MaximumLikelihood(accelerate=False),
    "ml tempered": MaximumLikelihood(tau="auto"),
    "map": MAP(),
    "map quasi": MAP(accelerate="quasi-newton"),
    "ml quasi": MaximumLikelihood(accelerate="quasi-newton"),
    "map online": MAP(online=True, visits=2),
    "cvb0": CollapsedVariational(),
    "vb": Variational(),
    "vb point": Variational(loadings="point"),
    "vb online": Variational(online=True, visits=2),
    "gibbs": Gibbs(burn_in=2, n_draws=30),
    "exact": Collapsed(burn_in=2, n_draws=30, schedule="exact"),
    "blocked": Collapsed(burn_in=2, n_draws=30, schedule="blocked"),
    "from documents": Collapsed(burn_in=2, n_draws=30, start="documents"),
    "from map": Collapsed(burn_in=2, n_draws=30, start="map"),
}


@cache
def shaped(shape):
    n_documents, n_words, n_tokens, _ = shape
    table = corpus(n_documents, n_words, n_tokens)
    for cached in ("levels", "lengths", "blocks", "integral", "n_tokens", "word_totals"):
        getattr(table, cached)
    return table
