# SPDX-License-Identifier: BSD-3-Clause
"""The two parts of a split add up to the whole."""

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.data.splits import (
    document_folds,
    entry_folds,
    fold_numbers,
    split_documents,
    split_entries,
    split_tokens,
    thin,
    token_folds,
)
from discan.errors import InputError

SPLITS = [split_documents, split_entries, split_tokens, thin]


@pytest.fixture
def corpus():
    random = np.random.default_rng(0)
    names = [f"d{i}" for i in range(40)]
    table = random.poisson(1.5, size=(40, 12))
    return Corpus(table, groups=np.arange(12) // 3, document_names=names)


def dense(corpus):
    return corpus.to_csr().toarray()


@pytest.mark.parametrize("split", SPLITS)
def test_seed_decides(split, corpus):
    first, again, generator, other = (
        dense(split(corpus, 0.4, rng=rng)[1]) for rng in (7, 7, np.random.default_rng(7), 8)
    )
    assert np.array_equal(first, again)
    assert np.array_equal(first, generator)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("split", SPLITS)
def test_a_table_is_split_like_its_corpus(split):
    table = np.random.default_rng(0).poisson(1.5, size=(40, 12))
    parts = zip(split(table, 0.4), split(Corpus(table), 0.4), strict=True)
    assert all(np.array_equal(dense(one), dense(other)) for one, other in parts)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("fraction", [0, 1, -0.1, np.nan])
def test_bad_fraction(split, corpus, fraction):
    with pytest.raises(InputError, match="fraction"):
        split(corpus, fraction)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("rng", [-1, "x", 0.5])
def test_bad_seed(split, corpus, rng):
    with pytest.raises(InputError, match="rng"):
        split(corpus, rng=rng)


@pytest.mark.parametrize("split", [split_entries, split_tokens, thin])
def test_parts_add_up(split, corpus):
    first, second = split(corpus, 0.3)
    assert np.array_equal(dense(first) + dense(second), dense(corpus))
    assert first.document_names == second.document_names == corpus.document_names
    assert first.layout is second.layout is corpus.layout
    assert first.counts.dtype == second.counts.dtype == np.int32
    assert (first.counts > 0).all()
    assert (second.counts > 0).all()


def test_documents(corpus):
    train, test = split_documents(corpus, 0.25)
    assert (len(train), len(test)) == (30, 10)
    assert sorted(train.document_names + test.document_names) == sorted(corpus.document_names)
    numbers = [int(name[1:]) for name in train.document_names]
    assert numbers == sorted(numbers)
    assert [len(part) for part in split_documents(corpus.select([0, 1]), 0.01)] == [1, 1]
    with pytest.raises(InputError, match="single document"):
        split_documents(corpus.select([0]))


def test_tokens_share():
    corpus = Corpus(np.full((100, 20), 50))
    _, scored = split_tokens(corpus, 0.2)
    assert abs(scored.n_tokens / corpus.n_tokens - 0.2) < 0.01
    assert scored.exposures is None


@pytest.mark.parametrize("exposures", [None, np.full((40, 4), 2.0)])
def test_entries(corpus, exposures):
    corpus = Corpus(corpus.to_csr(), groups=corpus.layout.group_of_word, exposures=exposures)
    train, held_out = split_entries(corpus, 0.2)
    level = 1.0 if exposures is None else 2.0
    assert np.array_equal(train.exposures + held_out.exposures, np.full((40, 4), level))
    assert ((train.exposures == 0) | (held_out.exposures == 0)).all()
    assert ((held_out.exposures > 0) == (held_out.group_lengths.toarray() > 0)).all()
    assert (train.group_lengths.toarray()[train.exposures == 0] == 0).all()
    n_pairs = (corpus.group_lengths.toarray() > 0).sum()
    assert (held_out.exposures > 0).sum() == round(0.2 * n_pairs)


def test_thin_exposures(corpus):
    train, test = thin(corpus, 0.25)
    assert np.array_equal(train.exposures, np.full((40, 4), 0.75))
    assert np.array_equal(test.exposures, np.full((40, 4), 0.25))


def test_fractional_counts():
    corpus = Corpus([[0.5, 1.0], [2.0, 0.25]])
    for split in (split_tokens, thin):
        with pytest.raises(InputError, match="fractional"):
            split(corpus)
    train, test = split_entries(corpus, 0.5)
    assert np.array_equal(dense(train) + dense(test), dense(corpus))


def test_nothing_to_split():
    with pytest.raises(InputError, match="at least 2"):
        split_entries(Corpus(np.zeros((3, 3))))


@pytest.mark.parametrize("folds", [document_folds, entry_folds, token_folds])
@pytest.mark.parametrize("n_folds", [1, 2, 5])
def test_folds(corpus, folds, n_folds):
    found = folds(corpus, n_folds, 3)
    assert len(found) == n_folds
    tested = sum(test.n_tokens for _, test in found)
    assert tested == corpus.n_tokens if n_folds > 1 else 0 < tested < 0.25 * corpus.n_tokens
    for train, test in found:
        assert train.n_tokens + test.n_tokens == corpus.n_tokens
        assert test.n_tokens > 0
    again = folds(corpus, n_folds, 3)
    for (_, test), (_, same) in zip(found, again, strict=True):
        assert test.digest == same.digest


def test_fold_numbers():
    number = fold_numbers(23, 4, 0)
    assert sorted(np.bincount(number)) == [5, 6, 6, 6]
    assert np.bincount(fold_numbers(30, 1, 0)).tolist() == [3, 27]
    with pytest.raises(InputError, match="fewer folds"):
        fold_numbers(3, 4, 0)
    with pytest.raises(InputError, match="single document"):
        document_folds(Corpus([[1, 2]]), 1)
    with pytest.raises(InputError, match="fractional"):
        token_folds(Corpus([[0.5, 1.0]]), 2)
