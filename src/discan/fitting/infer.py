# SPDX-License-Identifier: BSD-3-Clause
"""Documents given fixed loadings: posterior means and held-out scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Params, Posterior
from discan.data.blocks import BLOCK_ENTRIES, Block
from discan.data.corpus import Corpus
from discan.data.splits import split_tokens, thin
from discan.engines import Engine, Threads
from discan.errors import InputError, shown
from discan.fitting.by_block import in_order
from discan.kernels.enumeration import enumerate_counts
from discan.models import ScoreTable
from discan.models.base import proportions
from discan.typing import Array

__all__ = [
    "completion", "divided", "enumerated", "infer", "prediction", "score_and_error",
    "short_documents", "unigram_completion", "unigram_prediction",
]  # fmt: skip

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
        _, counts, empty = enumerated(block, params.table, params.loadings)
        rows = params.table.rows(block.levels)
        absent = empty * (1.0 - rows.present)
        return Posterior(counts, *params.model.mixed_moments(counts, rows, absent))

    # a sampler's estimate is replaced by the exact sum where that is cheap
    exact = algorithm.whole_counts and params.model.levels == 1
    short = short_documents(corpus, params.n_components) if exact else None
    return Posterior(*divided(corpus, params, short, whole, work, engine))


def completion(
    algorithm: Algorithm,
    draws: Sequence[tuple[Params, Array]],
    corpus: Corpus,
    engine: Engine,
    seed: np.uint64,
) -> Array:
    """Held-out log-likelihood of each document and its number of held-out tokens, (2, I).

    Half of the tokens of each document (a fixed split; of its words, if counts are fractional) give
    its proportions, the other half is scored: sum_j w_j log sum_k E[m_k] theta_jk, within the
    word's group. The probability of a token is the mean over ``draws``, each of them the parameters
    for fold-in and the loadings (J, K) to score with.
    """
    halves = _splitter(corpus, draws[0][0].model.normalised)

    def score(pair: tuple[Corpus, Corpus], inner: Engine) -> Array:
        observed, scored = pair
        return _given(algorithm, draws, scored, observed, inner, seed)

    return _scored(corpus, halves, score, engine)


def prediction(
    algorithm: Algorithm,
    draws: Sequence[tuple[Params, Array]],
    scored: Corpus,
    given: Corpus,
    engine: Engine,
    seed: np.uint64,
) -> Array:
    """Log-likelihood and number of each document's tokens, given others of its tokens, (2, I).

    Each token is predicted on its own, given the group that it is in, as by ``completion``. Totals
    and exposures of ``scored`` play no part, so models of proportions and of amounts are scored on
    the same event.
    """
    _check_same_documents(scored, given)
    if not (scored.on_disk or given.on_disk):
        return _checked(_given(algorithm, draws, scored, given, engine, seed))

    def score(first: int, part: Corpus, inner: Engine) -> Array:
        known = given.documents(first, first + part.n_documents)
        _check_names(part, known, first)
        return _given(algorithm, draws, part, known, inner, seed)

    return _checked(np.hstack(list(in_order(scored, score, engine))))


def unigram_completion(overall: Array, corpus: Corpus, normalised: bool) -> Array:
    """Score the same half of the tokens by one distribution (J,) for all documents, (2, I)."""

    def score(pair: tuple[Corpus, Corpus], inner: Engine) -> Array:
        return _by_one(overall, pair[1])

    return _scored(corpus, _splitter(corpus, normalised), score, Threads(1))


def unigram_prediction(overall: Array, scored: Corpus) -> Array:
    """Score all tokens by one distribution (J,) for all documents, (2, I)."""
    if not scored.on_disk:
        return _checked(_by_one(overall, scored))
    parts = in_order(scored, lambda _, part, __: _by_one(overall, part), Threads(1))
    return _checked(np.hstack(list(parts)))


def _by_one(overall: Array, scored: Corpus) -> Array:
    return _predicted([(np.ones((scored.n_documents, 1)), overall[:, None])], scored)


def _scored(
    corpus: Corpus,
    halves: Callable[[Corpus], tuple[Corpus, Corpus]],
    score: Callable[[tuple[Corpus, Corpus], Engine], Array],
    engine: Engine,
) -> Array:
    """Split documents and score a half, all at once or block by block, (2, I).

    Documents are split in order, so both ways draw the same numbers for each.
    """
    if not corpus.on_disk:
        return _checked(score(halves(corpus), engine))
    parts = in_order(corpus, lambda _, pair, inner: score(pair, inner), engine, halves)
    return _checked(np.hstack(list(parts)))


def _checked(found: Array) -> Array:
    """Refuse scores (2, I) of no tokens at all."""
    if found[1].sum() == 0:
        raise InputError("no tokens to score: the documents are empty")
    return found


def score_and_error(found: Array) -> tuple[float, float]:
    """Log-likelihood per token, and its standard error over documents, of sums (2, I).

    The error is that of a ratio of two sums over documents; NaN for fewer than two documents.
    """
    total, tokens = found.sum(axis=1)
    score, n_documents = total / tokens, np.count_nonzero(found[1])
    if n_documents < 2:
        return float(score), float("nan")
    squares = np.sum((found[0] - score * found[1]) ** 2) * n_documents / (n_documents - 1)
    return float(score), float(np.sqrt(squares) / tokens)


def _given(
    algorithm: Algorithm, draws: Sequence[tuple[Params, Array]], scored: Corpus, given: Corpus,
    engine: Engine, seed: np.uint64,
) -> Array:  # fmt: skip
    """Infer the proportions from the tokens given, and score the others, (2, I)."""
    return _predicted(
        [
            (proportions(infer(algorithm, params, given, engine, seed).scores), loadings)
            for params, loadings in draws
        ],
        scored,
    )


def _predicted(draws: Sequence[tuple[Array, Array]], scored: Corpus) -> Array:
    """Log-likelihood of the tokens to score and their number, (2, I).

    The probability of a token is the mean over draws of proportions (I, K) and loadings (J, K).
    """
    sizes = scored.layout.group_sizes[scored.layout.group_of_word]
    documents = np.repeat(np.arange(scored.n_documents), np.diff(scored.indptr))
    logs = np.empty(scored.n_entries)
    step = max(1, AT_ONCE // draws[0][0].shape[1])
    for start in range(0, scored.n_entries, step):
        entries = slice(start, start + step)
        rows, words = documents[entries], scored.words[entries]
        chance = sum(np.einsum("tk,tk->t", m[rows], theta[words]) for m, theta in draws)
        chance = chance / len(draws)  # the logarithm of the mean, not the mean of logarithms
        chance = (1.0 - FLOOR) * chance + FLOOR / sizes[words]
        logs[entries] = scored.counts[entries] * np.log(chance)
    return np.array(
        [
            np.bincount(documents, weights=weights, minlength=scored.n_documents)
            for weights in (logs, scored.counts)
        ]
    )


def short_documents(corpus: Corpus, n_components: int) -> Array:
    """Documents with few enough ways to split their tokens over the components, (I,) bool."""
    return np.asarray(n_components * np.log1p(corpus.lengths) <= np.log(ENUMERATED))


def enumerated(block: Block, table: ScoreTable, loadings: Any) -> tuple[Array, Array, Array]:
    """Exact log p (n,), E[c] (n, K) and P(c = 0) (n, K) of the documents of a block."""
    shape = (block.stop - block.start, table.shape.shape[1])
    logs, counts, empty = np.empty(shape[0]), np.zeros(shape), np.zeros(shape)
    enumerate_counts(
        block.indptr, block.words, block.counts, block.levels, *table, loadings,
        logs, counts, empty,
    )  # fmt: skip
    return logs, counts, empty


def divided(
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


def _splitter(corpus: Corpus, normalised: bool) -> Callable[[Corpus], tuple[Corpus, Corpus]]:
    """Return a function that splits documents of a corpus, called in their order.

    It splits tokens, or words if counts are fractional; half the tokens take half the exposure.
    """
    rng, integral = np.random.default_rng(0), corpus.integral

    def halves(part: Corpus) -> tuple[Corpus, Corpus]:
        if integral:
            return split_tokens(part, rng=rng) if normalised else thin(part, rng=rng)
        kept = rng.random(part.n_entries) < 0.5
        exposures = part.exposures if normalised else part.known_exposures / 2.0
        return (
            part.with_counts(np.where(kept, part.counts, 0.0), exposures),
            part.with_counts(np.where(kept, 0.0, part.counts), exposures),
        )

    return halves


def _check_same_documents(corpus: Corpus, given: Corpus) -> None:
    """Refuse two tables that cannot be two parts of the same documents."""
    if corpus.n_documents != given.n_documents:
        raise InputError(
            f"{corpus.n_documents:,} documents to score and {given.n_documents:,} given; both must "
            "hold the same documents in the same order, e.g. the two parts of split_entries"
        )
    _check_names(corpus, given)
    if corpus is given or corpus.digest == given.digest:
        raise InputError(
            "the counts to score are the ones given; give the other part of the documents"
        )


def _check_names(corpus: Corpus, given: Corpus, first: int = 0) -> None:
    """Refuse documents of other names; ``first`` is the number of the first one."""
    if None not in (corpus.document_names, given.document_names):
        pairs = zip(corpus.document_names or (), given.document_names or (), strict=True)
        for n, (name, other) in enumerate(pairs):
            if name != other:
                raise InputError(
                    f"document {first + n} to score is {shown(name)}, and {shown(other)} is given; "
                    "both must hold the same documents in the same order"
                )
