# SPDX-License-Identifier: BSD-3-Clause
"""Starts of a fit: from documents, or from given components."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from discan.algorithms.base import Algorithm, Start
from discan.algorithms.em import EM
from discan.algorithms.expectation import Expectation
from discan.algorithms.online import even_batch
from discan.algorithms.schedule import Schedule
from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.models import LoadingsPrior
from discan.models.seeds import Seeds
from discan.typing import Array
from discan.validation import LARGEST

__all__ = [
    "checked_components", "first_pass", "from_components", "from_documents", "matched",
    "seeded_documents", "with_seeds",
]  # fmt: skip

# Number of batches of the first pass, if each has enough documents.
BATCHES = 8
# Documents that a component with seeds starts from, at most.
SEEDED_DOCUMENTS = 100
# Weight of all words in its start: what has nothing to do with the seeds goes to the others.
SEEDED_MIX = 0.05
DOCUMENTS_PER_BATCH = 100
# Given loadings below it are taken as 0: counts divided by them could be infinite.
LEAST_LOADING = 1e-150


def from_documents(
    corpus: Corpus,
    n_components: int,
    seed: int,
    most: int = Algorithm.documents_per_component,
    seeds: Seeds | None = None,
) -> Start:
    """Start each component from a few documents, mixed half and half with all words.

    Words of one document belong together, so these components differ at once. From noise they
    would take many cycles to differ, and would end up more alike. A component that has seeds starts
    from documents that have many of them.
    """
    rng = np.random.Generator(np.random.Philox(key=int(seed)))
    each = max(1, min(most, corpus.n_documents // n_components))
    order = rng.permutation(corpus.n_documents)
    drawn = corpus.select(np.resize(order, each * n_components))
    component = np.repeat(np.arange(drawn.n_documents) // each, np.diff(drawn.indptr))
    counts = np.zeros((corpus.n_words, n_components))
    np.add.at(counts, (drawn.words, component), drawn.counts)
    mixed = np.full(n_components, 0.5)
    if seeds is not None:
        for k, words_of_documents in _by_seeds(corpus, seeds, n_components).items():
            counts[:, k] = words_of_documents
            mixed[k] = SEEDED_MIX
    words = corpus.word_totals
    totals = counts.sum(axis=0)
    totals = np.where(totals > 0.0, totals, 1.0)
    counts *= (1.0 - mixed) * (words.sum() / n_components / totals)
    counts += mixed * (words[:, None] / n_components)
    return Start(counts)


def _by_seeds(corpus: Corpus, seeds: Seeds, n_components: int) -> dict[int, Array]:
    """Share of each word (J,) in documents that have many seeds, by component.

    Documents weigh by their scores, not by their lengths.
    """
    most = max(1, min(SEEDED_DOCUMENTS, corpus.n_documents // n_components))
    result = {}
    for k, (documents, scores) in seeded_documents(corpus, seeds, most).items():
        part = corpus.select(documents)
        weights = np.maximum(scores, 1e-9) ** 2 / np.maximum(part.lengths, 1.0)
        entries = np.repeat(weights, np.diff(part.indptr)) * part.counts
        result[k] = np.bincount(part.words, entries, corpus.n_words)
    return result


def seeded_documents(
    corpus: Corpus, seeds: Seeds, each: int
) -> dict[int, tuple[Array, Array]]:  # fmt: skip
    """Return, for each component with seeds, the documents that have the most of them, and scores.

    A seed of a document counts by the logarithm of its lift, how much more frequent it is among the
    seeds of its component than in the data, and by log(1 + count). Longer documents have more seeds
    by chance, so the sum is divided by the square root of the number of their words.
    """
    layout = corpus.layout
    groups = layout.group_of_word[seeds.words]
    tokens = layout.group_sums(corpus.word_totals[:, None])[groups, 0]
    frequency = np.maximum(corpus.word_totals[seeds.words], 1.0) / np.maximum(tokens, 1.0)
    components, place = np.unique(seeds.components, return_inverse=True)
    totals = np.zeros((len(components), layout.n_groups))
    np.add.at(totals, (place, groups), seeds.tokens)
    weights = np.zeros((corpus.n_words, len(components)))
    weights[seeds.words, place] = np.log(seeds.tokens / totals[place, groups] / frequency)
    scores = []
    for part in corpus.parts():
        present = sparse.csr_array(
            (np.log1p(part.counts), part.words, part.indptr),
            shape=(part.n_documents, corpus.n_words),
        )
        lengths = np.sqrt(np.maximum(np.diff(part.indptr), 1.0))
        scores.append((present @ weights) / lengths[:, None])
    found = {}
    for k, score in zip(components.tolist(), np.concatenate(scores).T, strict=True):
        order = np.argsort(-score, kind="stable")[:each]
        order = order[score[order] > 0.0] if score[order[0]] > 0.0 else order[:1]
        found[k] = order, score[order]
    return found


def with_seeds(start: Start, prior: LoadingsPrior, corpus: Corpus) -> Start:
    """Return a start from words in an order that suits the seeds, and that holds the seeds.

    Half of a component with seeds comes from documents that have them: the words that the start
    found may hold no seed.
    """
    found, seeds = matched(start, prior), prior.seeds
    counts = found.loading_counts
    if seeds is None or counts is None:
        return found
    counts = counts.copy()
    for k, words in _by_seeds(corpus, seeds, counts.shape[1]).items():
        total = counts[:, k].sum()
        counts[:, k] = 0.5 * counts[:, k] + 0.5 * total * words / max(words.sum(), 1e-300)
    return Start(counts)


def matched(start: Start, prior: LoadingsPrior) -> Start:
    """Return a start with its components in an order that suits the seeds.

    The components that have seeds get those of the start under which the seeds are the likeliest.
    """
    seeds, counts = prior.seeds, start.loading_counts
    if seeds is None or counts is None:
        return start
    from scipy.optimize import linear_sum_assignment  # slow to import, and needed for this alone

    n_components = counts.shape[1]
    logs = np.log(prior.mean(counts.astype(np.float64)))
    cost = np.zeros((n_components, n_components))
    np.add.at(cost, seeds.components, seeds.tokens[:, None] * logs[seeds.words])
    with_seeds = np.unique(seeds.components)
    chosen = linear_sum_assignment(cost[with_seeds], maximize=True)[1]
    order = np.full(n_components, -1)
    order[with_seeds] = chosen
    order[order < 0] = np.setdiff1d(np.arange(n_components), chosen)
    scores = start.scores[:, order] if isinstance(start.scores, np.ndarray) else None
    return Start(np.ascontiguousarray(counts[:, order]), scores)


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
