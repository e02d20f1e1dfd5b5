# SPDX-License-Identifier: BSD-3-Clause
"""New data in the columns of a model: what it does not know is said, per document on request."""

import logging

import numpy as np
import pytest

from discan.data.align import align
from discan.data.corpus import Corpus
from discan.data.left_out import checksums
from discan.data.nouns import TEXT
from discan.errors import InputError

LAYOUT = Corpus([[1, 1]], word_names=["apple", "pear"]).layout


@pytest.fixture
def said(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)
    caplog.set_level(logging.INFO, "discan")
    return lambda: [record.getMessage() for record in caplog.records]


def corpus():
    counts = [[1, 2, 0, 1], [0, 0, 3, 0], [0, 0, 0, 2], [0, 1, 0, 0]]
    names = ["pear", "rare", "unseen", "apple"]
    documents = ["a", "b", "c", "d"]
    return Corpus(counts, word_names=names, document_names=documents, nouns=TEXT)


def test_words_left_out_at_the_fit_are_told_from_unseen_ones(said):
    found = align(corpus(), LAYOUT, left_out=checksums(["rare"]))
    assert found.to_csr().toarray().tolist() == [[1, 1], [0, 0], [2, 0], [0, 0]]
    first, second, third = said()
    assert first == "30 % of the tokens are words that were left out at the fit, and are ignored"
    assert second.startswith("30 % of the tokens are words that the model never saw")
    assert "'unseen'" in second
    assert third.startswith("2 of 4 documents hold no word that the model knows and get the prior")
    assert third.endswith("'b', 'd'")


def test_known_and_unknown_tokens_per_document():
    found = align(corpus(), LAYOUT, left_out=checksums(["rare"]), unknown=True)
    assert found.metadata["known"].tolist() == [2, 0, 2, 0]
    assert found.metadata["unknown"].tolist() == [0, 3, 0, 0]
    assert align(corpus(), LAYOUT).metadata == {}


def test_the_share_of_unseen_words_does_not_count_those_left_out():
    align(corpus(), LAYOUT, max_unseen=0.4, left_out=checksums(["rare"]))
    with pytest.raises(InputError, match="60 % of the tokens"):
        align(corpus(), LAYOUT, max_unseen=0.4)


def test_nothing_known(said):
    strange = Corpus([[1]], word_names=["zork"])
    with pytest.raises(InputError, match="right model"):
        align(strange, LAYOUT)
    found = align(strange, LAYOUT, any_words=True)
    assert found.shape == (1, 2)
    assert "prior mean" in said()[-1]


def test_the_same_columns_stay(said):
    same = Corpus([[1, 1]], word_names=["apple", "pear"])
    assert align(same, LAYOUT) is same
    unnamed = Corpus(np.ones((1, 2)))
    assert align(unnamed, LAYOUT) is unnamed
    assert said() == []
