# SPDX-License-Identifier: BSD-3-Clause
"""Documents given fixed loadings: posterior means, log-likelihoods, held-out scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discan.algorithms import Algorithm, Variational
from discan.algorithms.base import Params, Posterior
from discan.algorithms.sampling import check_tokens
from discan.data.corpus import BLOCK_ENTRIES, Block, Corpus
from discan.data.splits import split_tokens, thin
from discan.engines import Engine
from discan.errors import InputError
from discan.kernels.enumeration import enumerate_counts
from discan.kernels.evidence import chib
from discan.models import ScoreTable
from discan.models.base import proportions
from discan.typing import Array
from discan.validation import one_of

__all__ = ["completion", "infer", "log_likelihood", "unigram_completion"]

CHIB_WORK = 1_000_000  # token x component updates per document
ENUMERATED = 2**14  # states of a document that is summed exactly
AT_ONCE = 2**18  # entries x components that are scored at once
PIECES = 32  # a small corpus is cut into, so that all threads have work
FLOOR = 1e-9  # weight of a uniform distribution, mixed in so that no word is impossible


def infer(
    algorithm: Algorithm, params: Params, corpus: Corpus, engine: Engine, seed: np.uint64
) -> Posterior:
    """Posterior means of each document given the loadings, each on its own."""

    def work(block: Block, params: Params) -> Posterior:
        return algorithm.infer(params, block, seed)

    def whole(block: Block, params: Params) -> Posterior:
        _, counts, empty = _enumerated(block, params.table, params.loadings)
        rows = params.table.rows(block.levels)
        absent = empty * (1.0 - rows.present)
        return Posterior(counts, *params.model.mixed_moments(counts, rows, absent))

    # a sampler's estimate is replaced by the exact sum where that is cheap
    short = _short(corpus, params.n_components) if algorithm.whole_counts else None
    return Posterior(*_divided(corpus, params, short, whole, work, engine))


def log_likelihood(
    method: str, params: Params, loadings: Array, corpus: Corpus, engine: Engine, seed: np.uint64
) -> Array:
    """Log p(w | loadings) of each document, bag form, scores integrated out, (I,).

    Parameters
    ----------
    method : {"chib", "bound"}
        Chib / Murray-Salakhutdinov, unbiased for p, and exact for short documents; or the
        variational lower bound.
    """
    point = replace(params, loadings=loadings, loading_shape=None)
    one_of("method", method, ("chib", "bound"))
    if method == "chib" and not corpus.integral:
        raise InputError("method='chib' needs whole counts", use={"method": "bound"})

    def estimate(block: Block, params: Params) -> tuple[Array]:
        check_tokens(block, {"method": "bound"})
        out = np.empty(block.stop - block.start)
        chib(
            block.indptr, block.words, block.counts, block.levels, *params.table, loadings,
            out, CHIB_WORK, seed,
        )  # fmt: skip
        return (out,)

    def bound(block: Block, params: Params) -> tuple[Array]:
        return (Variational(loadings="point").document_objective(params, block),)

    def whole(block: Block, params: Params) -> tuple[Array]:
        return (_enumerated(block, params.table, loadings)[0],)

    short = _short(corpus, params.n_components) if method == "chib" else None
    logs, *_ = _divided(
        corpus, point, short, whole, estimate if method == "chib" else bound, engine
    )
    constants = params.model.log_constant(corpus.lengths) + params.model.log_bag(corpus)
    impossible = corpus.to_csr() @ (loadings.sum(axis=1) == 0.0)
    return np.where(impossible > 0, -np.inf, logs + constants)


def completion(
    algorithm: Algorithm,
    params: Params,
    loadings: Array,
    corpus: Corpus,
    engine: Engine,
    seed: np.uint64,
) -> Array:
    """Held-out log-likelihood of each document and its number of held-out tokens, (2, I).

    Half of the tokens of each document (a fixed split; of its words, if counts are fractional) give
    its proportions, the other half is scored: sum_j w_j log sum_k E[m_k] theta_jk, within the
    word's group.
    """
    observed, scored = _halves(corpus, params.model.normalised)
    return _predicted(
        proportions(infer(algorithm, params, observed, engine, seed).scores), loadings, scored
    )


def unigram_completion(overall: Array, corpus: Corpus, normalised: bool) -> Array:
    """Score the same half of the tokens by one distribution (J,) for all documents, (2, I)."""
    _, scored = _halves(corpus, normalised)
    return _predicted(np.ones((corpus.n_documents, 1)), overall[:, None], scored)


def _predicted(m: Array, loadings: Array, scored: Corpus) -> Array:
    """Log-likelihood of the tokens to score and their number, (2, I), by proportions (I, K)."""
    if scored.n_tokens == 0:
        raise InputError("no tokens to score: the documents are empty")
    sizes = scored.layout.group_sizes[scored.layout.group_of_word]
    documents = np.repeat(np.arange(scored.n_documents), np.diff(scored.indptr))
    logs = np.empty(scored.n_entries)
    step = max(1, AT_ONCE // m.shape[1])
    for start in range(0, scored.n_entries, step):
        entries = slice(start, start + step)
        rows, words = documents[entries], scored.words[entries]
        chance = np.einsum("tk,tk->t", m[rows], loadings[words])
        chance = (1.0 - FLOOR) * chance + FLOOR / sizes[words]
        logs[entries] = scored.counts[entries] * np.log(chance)
    return np.array(
        [
            np.bincount(documents, weights=weights, minlength=scored.n_documents)
            for weights in (logs, scored.counts)
        ]
    )


def _short(corpus: Corpus, n_components: int) -> Array:
    """Documents with few enough ways to split their tokens over the components, (I,) bool."""
    return np.asarray(n_components * np.log1p(corpus.lengths) <= np.log(ENUMERATED))


def _enumerated(block: Block, table: ScoreTable, loadings: Any) -> tuple[Array, Array, Array]:
    shape = (block.stop - block.start, table.shape.shape[1])
    logs, counts, empty = np.empty(shape[0]), np.zeros(shape), np.zeros(shape)
    enumerate_counts(
        block.indptr, block.words, block.counts, block.levels, *table, loadings,
        logs, counts, empty,
    )  # fmt: skip
    return logs, counts, empty


def _divided(
    corpus: Corpus,
    params: Params,
    chosen: Array | None,
    one: Callable[[Block, Params], Sequence[Array]],
    other: Callable[[Block, Params], Sequence[Array]],
    engine: Engine,
) -> list[Array]:
    """Call ``one`` for the chosen documents and ``other`` for the rest."""

    def done(part: Corpus, work: Callable[[Block, Params], Sequence[Array]]) -> list[Array]:
        here = params.at(part.exposure_levels)
        # a document's answer does not depend on its neighbours, so blocks may be of any size
        pieces = part.blocks_of(min(BLOCK_ENTRIES, max(1, part.n_entries // PIECES)))
        answers = engine.run(lambda block: work(block, here), pieces)
        return [np.concatenate(column) for column in zip(*answers, strict=True)]

    if chosen is None or not chosen.any():
        return done(corpus, other)
    if chosen.all():
        return done(corpus, one)
    columns = []
    for first, second in zip(
        done(corpus.select(chosen), one), done(corpus.select(~chosen), other), strict=True
    ):
        whole = np.empty((corpus.n_documents, *first.shape[1:]))
        whole[chosen], whole[~chosen] = first, second
        columns.append(whole)
    return columns


def _halves(corpus: Corpus, normalised: bool) -> tuple[Corpus, Corpus]:
    """Split tokens, or words if counts are fractional; half the tokens take half the exposure."""
    if corpus.integral:
        return split_tokens(corpus, rng=0) if normalised else thin(corpus, rng=0)
    kept = np.random.default_rng(0).random(corpus.n_entries) < 0.5
    exposures = corpus.exposures
    if not normalised:
        exposures = (
            np.ones((corpus.n_documents, corpus.n_groups)) if exposures is None else exposures
        )
        exposures = exposures / 2.0
    return (
        corpus.with_counts(np.where(kept, corpus.counts, 0.0), exposures),
        corpus.with_counts(np.where(kept, 0.0, corpus.counts), exposures),
    )
