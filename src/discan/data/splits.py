# SPDX-License-Identifier: BSD-3-Clause
"""Split a corpus in two, to learn from one part and test on the other."""

from __future__ import annotations

import numpy as np

from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.typing import Array

__all__ = [
    "document_folds", "entry_folds", "fold_numbers", "split_documents", "split_entries",
    "split_tokens", "thin", "token_folds",
]  # fmt: skip

ONE_FOLD = 0.1  # share of the data that is held out if there is a single fold

Random = int | np.random.Generator


def split_documents(
    corpus: Corpus, fraction: float = 0.1, rng: Random = 0
) -> tuple[Corpus, Corpus]:
    """Split off whole documents.

    Parameters
    ----------
    corpus : Corpus or (I, J) counts
        The data to split.
    fraction : float
        Share of the documents in the second part, which holds at least one.
    rng : int or numpy.random.Generator
        Seed, or source of random numbers.

    Returns
    -------
    train, test : Corpus
        Documents in their original order.
    """
    _check_fraction(fraction)
    corpus = Corpus.of(corpus)
    n_documents = corpus.n_documents
    if n_documents < 2:
        raise InputError("a single document cannot be split; use split_tokens instead")
    in_test = _chosen(n_documents, fraction, rng)
    return corpus.select(~in_test), corpus.select(in_test)


def split_tokens(corpus: Corpus, fraction: float = 0.5, rng: Random = 0) -> tuple[Corpus, Corpus]:
    """Split off tokens of every document, for document completion.

    Parameters
    ----------
    corpus : Corpus or (I, J) counts
        Whole counts.
    fraction : float
        Probability that a token goes to the second part.
    rng : int or numpy.random.Generator
        Seed, or source of random numbers.

    Returns
    -------
    observed, scored : Corpus
        The same documents in the same order; exposures are unchanged.
    """
    corpus = Corpus.of(corpus)
    scored = _draw(corpus, fraction, rng)
    observed = corpus.counts - scored
    first, second = (corpus.with_counts(part, corpus.exposures) for part in (observed, scored))
    return first, second


def split_entries(corpus: Corpus, fraction: float = 0.1, rng: Random = 0) -> tuple[Corpus, Corpus]:
    """Split off whole (document, group) pairs, such as single votes or answers.

    Only pairs that hold counts are drawn. In the first part a held-out pair has exposure 0, so
    that it counts as not observed; in the second part all other pairs have exposure 0.

    Parameters
    ----------
    corpus : Corpus or (I, J) counts
        The data to split.
    fraction : float
        Share of the pairs in the second part, which holds at least one.
    rng : int or numpy.random.Generator
        Seed, or source of random numbers.

    Returns
    -------
    train, held_out : Corpus
        The same documents in the same order.
    """
    _check_fraction(fraction)
    corpus = Corpus.of(corpus)
    pairs, entry_pairs = _numbered(corpus.pair_of_entry)
    if pairs.size < 2:
        raise InputError(
            f"{pairs.size} (document, group) pairs hold counts; at least 2 are needed to split them"
        )
    return _cut(corpus, pairs, entry_pairs, _chosen(pairs.size, fraction, rng))


def thin(corpus: Corpus, fraction: float = 0.5, rng: Random = 0) -> tuple[Corpus, Corpus]:
    """Split Poisson counts into two independent Poisson tables of the same scores.

    Tokens are drawn as by `split_tokens`; exposures become (1 - f) e and f e.

    Parameters
    ----------
    corpus : Corpus or (I, J) counts
        Whole counts.
    fraction : float
        The probability f that a token goes to the second part.
    rng : int or numpy.random.Generator
        Seed, or source of random numbers.

    Returns
    -------
    train, test : Corpus
        The same documents in the same order.
    """
    corpus = Corpus.of(corpus)
    drawn = _draw(corpus, fraction, rng)
    exposures = corpus.known_exposures
    return (
        corpus.with_counts(corpus.counts - drawn, (1.0 - fraction) * exposures),
        corpus.with_counts(drawn, fraction * exposures),
    )


def document_folds(corpus: Corpus, n_folds: int, rng: Random = 0) -> list[tuple[Corpus, Corpus]]:
    """Hold out whole documents, each in one of the folds; see ``fold_numbers``.

    Returns
    -------
    list of (train, test)
        One pair per fold; documents in their original order.
    """
    if corpus.n_documents < 2:
        raise InputError("a single document cannot be held out; hold out its tokens instead")
    number = fold_numbers(corpus.n_documents, n_folds, rng)
    return [(corpus.select(number != n), corpus.select(number == n)) for n in range(n_folds)]


def entry_folds(corpus: Corpus, n_folds: int, rng: Random = 0) -> list[tuple[Corpus, Corpus]]:
    """Hold out whole (document, group) pairs, each in one of the folds, as `split_entries` does."""
    pairs, entry_pairs = _numbered(corpus.pair_of_entry)
    number = fold_numbers(pairs.size, n_folds, rng)
    return [_cut(corpus, pairs, entry_pairs, number == n) for n in range(n_folds)]


def token_folds(corpus: Corpus, n_folds: int, rng: Random = 0) -> list[tuple[Corpus, Corpus]]:
    """Hold out single tokens, each in one of the folds; exposures are divided as `thin` does."""
    if not corpus.integral:
        raise InputError("fractional counts have no tokens to hold out; hold out documents instead")
    generator, rest = _generator(rng), corpus.counts.astype(np.int64)
    share, exposures, folds = 1.0 / n_folds if n_folds > 1 else ONE_FOLD, corpus.known_exposures, []
    for n in range(n_folds):
        # of the tokens that no earlier fold has, this one takes its part
        drawn = np.asarray(generator.binomial(rest, min(1.0, share / (1.0 - n * share))))
        rest = rest - drawn
        train = corpus.with_counts(corpus.counts - drawn, (1.0 - share) * exposures)
        folds.append((train, corpus.with_counts(drawn, share * exposures)))
    return folds


def fold_numbers(size: int, n_folds: int, rng: Random = 0) -> Array:
    """Deal ``size`` things at random over folds of equal size, (size,) int.

    One fold holds a tenth of the things; the others, numbered 1, are never held out.
    """
    if size < max(2, n_folds):
        raise InputError(
            f"{size} documents or entries cannot be dealt over {n_folds} folds; use fewer folds"
        )
    order = _generator(rng).permutation(size)
    number = np.empty(size, dtype=np.int64)
    number[order] = np.arange(size) % n_folds
    if n_folds == 1:
        number[order] = np.arange(size) >= max(1, round(ONE_FOLD * size))
    return number


def _cut(
    corpus: Corpus, pairs: Array, entry_pairs: Array, held_out: Array
) -> tuple[Corpus, Corpus]:
    """Move the pairs (document, group) that are held out, a mask, to a second corpus."""
    rows, groups = np.divmod(pairs[held_out], corpus.n_groups)
    train_exposures = corpus.known_exposures
    test_exposures = np.zeros_like(train_exposures)
    test_exposures[rows, groups] = train_exposures[rows, groups]
    train_exposures[rows, groups] = 0.0
    in_test = held_out[entry_pairs]
    return (
        corpus.with_counts(np.where(in_test, 0, corpus.counts), train_exposures),
        corpus.with_counts(np.where(in_test, corpus.counts, 0), test_exposures),
    )


def _numbered(keys: Array) -> tuple[Array, Array]:
    """Distinct keys, ascending, and the place of each key among them; sorts only if needed."""
    if (keys[1:] < keys[:-1]).any():
        return np.unique(keys, return_inverse=True)
    first = np.append(True, keys[1:] != keys[:-1])[: keys.size]
    return keys[first], np.cumsum(first) - 1


def _draw(corpus: Corpus, fraction: float, rng: Random) -> Array:
    """Draw how many of each entry's tokens go to the second part."""
    _check_fraction(fraction)
    if not corpus.integral:
        raise InputError("fractional counts have no tokens to split; round them or use select")
    return np.asarray(_generator(rng).binomial(corpus.counts.astype(np.int64), fraction))


def _chosen(size: int, fraction: float, rng: Random) -> Array:
    """Choose a share of ``size`` things, at least one and not all; return a mask."""
    n_chosen = min(max(1, round(fraction * size)), size - 1)
    chosen = np.zeros(size, dtype=bool)
    chosen[_generator(rng).permutation(size)[:n_chosen]] = True
    return chosen


def _check_fraction(fraction: float) -> None:
    if not 0.0 < fraction < 1.0:
        raise InputError(f"fraction is {fraction}; it must lie between 0 and 1")


def _generator(rng: Random) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InputError(f"rng is {rng!r} ({error}); pass a whole number of 0 or more") from None
