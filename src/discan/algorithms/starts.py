# SPDX-License-Identifier: BSD-3-Clause
"""Starts of a fit: from documents, or from given components."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.algorithms.base import Algorithm, Start
from discan.algorithms.em import EM
from discan.algorithms.expectation import Expectation, even_batch
from discan.algorithms.schedule import Schedule
from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.models import LoadingsPrior
from discan.typing import Array
from discan.validation import LARGEST

__all__ = ["checked_components", "first_pass", "from_components", "from_documents"]

# Number of batches of the first pass, if each has enough documents.
BATCHES = 8
DOCUMENTS_PER_BATCH = 100
# Given loadings below it are taken as 0: counts divided by them could be infinite.
LEAST_LOADING = 1e-150


def from_documents(
    corpus: Corpus, n_components: int, seed: int, most: int = Algorithm.documents_per_component
) -> Start:
    """Start each component from at most so many documents, mixed half and half with all words.

    Words of one document belong together, so these components differ at once. From noise they
    would take many cycles to differ, and would end up more alike.
    """
    rng = np.random.Generator(np.random.Philox(key=int(seed)))
    each = max(1, min(most, corpus.n_documents // n_components))
    order = rng.permutation(corpus.n_documents)
    drawn = corpus.select(np.resize(order, each * n_components))
    component = np.repeat(np.arange(drawn.n_documents) // each, np.diff(drawn.indptr))
    counts = np.zeros((corpus.n_words, n_components))
    np.add.at(counts, (drawn.words, component), drawn.counts)
    words = corpus.word_totals
    totals = np.maximum(counts.sum(axis=0), 1.0)
    counts *= 0.5 * words.sum() / n_components / totals
    counts += 0.5 * words[:, None] / n_components
    return Start(counts)


def first_pass(schedule: Schedule) -> Expectation:
    """Return the algorithm of one online pass over the documents: the schedule's own, or MAP."""
    if schedule.first_pass is not None:
        chosen: Expectation = schedule.first_pass
        return chosen
    entries = even_batch(schedule.corpus, BATCHES, DOCUMENTS_PER_BATCH)
    return EM(online=True, batch_entries=entries, delay=0.0, decay=0.6, visits=1, inner=6)


def from_components(components: Any, prior: LoadingsPrior, corpus: Corpus, n: int) -> Start:
    """Start from n given components (n, J), all equally frequent."""
    loadings = checked_components(components, prior)
    if loadings.shape[1] != n:
        raise InputError(f"init has {loadings.shape[1]} components; n_components={n}")
    words = corpus.word_totals
    totals = prior.layout.group_sums(words[:, None])[prior.layout.group_of_word]
    return Start(loadings * totals / n)


def checked_components(components: Any, prior: LoadingsPrior) -> Array:
    """Check a (K, J) matrix of components and return normalised loadings (J, K)."""
    try:
        matrix = np.array(components, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("components must be a (K, J) array of numbers") from None
    n_words = prior.layout.n_words
    if matrix.ndim != 2 or matrix.shape[1] != n_words or matrix.shape[0] < 1:
        raise InputError(f"components have shape {matrix.shape}; expected (K, {n_words})")
    bad = ~((matrix >= 0) & (matrix <= LARGEST))
    if bad.any():
        k, j = np.argwhere(bad)[0]
        raise InputError(
            f"components[{k}, {j}] = {matrix[k, j]:g}; components must be finite and at least 0, "
            f"and at most {LARGEST:g}"
        )
    loadings = np.ascontiguousarray(prior.normalise(matrix.T))
    loadings[loadings < LEAST_LOADING] = 0.0
    return loadings
