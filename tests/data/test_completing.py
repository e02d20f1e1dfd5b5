# SPDX-License-Identifier: BSD-3-Clause
"""The likeliest answers to open questions, and tables that hold them."""

from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discan
from discan import Corpus
from discan.data.completing import answer_table, answer_texts, likeliest_answers

RNG = np.random.default_rng(0)
LAYOUT = Corpus(
    np.ones((1, 7)), groups=["vote", "vote", "L1", "L1", "L1", "12 on it", "12 on it"],
    word_names=["vote=yea", "vote=nay", "L1=129", "L1=131", "L1=133", "12=yea", "12=nay"],
).layout  # fmt: skip


def test_one_answer():
    filled = (np.array([0, 0, 3, 3]), np.array([0, 1, 5, 6]), np.array([0.3, 0.7, 0.6, 0.4]))
    assert likeliest_answers(*filled, LAYOUT, np.ones(3)) == {(0, 0): [1], (3, 2): [5]}


@pytest.mark.parametrize("n", [2, 3, 4])
def test_several_answers_are_the_likeliest_outcome(n):
    """Against all outcomes of a multinomial distribution."""

    def chance(outcome, p):
        counts = np.bincount(outcome, minlength=len(p))
        return factorial(n) / np.prod([factorial(c) for c in counts]) * np.prod(p**counts)

    for _ in range(50):
        p = RNG.dirichlet(np.ones(3))
        filled = (np.zeros(3, int), np.array([2, 3, 4]), n * p)
        [found] = likeliest_answers(*filled, LAYOUT, np.array([1, n, 1])).values()
        best = max(chance(o, p) for o in combinations_with_replacement(range(3), n))
        assert chance([j - 2 for j in found], p) == pytest.approx(best)


def test_groups_may_be_interleaved():
    layout = Corpus(np.ones((1, 4)), groups=[0, 1, 0, 1]).layout
    filled = (np.zeros(4, int), np.arange(4), np.array([0.2, 0.9, 0.8, 0.1]))
    assert likeliest_answers(*filled, layout, np.ones(2)) == {(0, 0): [2], (0, 1): [1]}


def test_nothing_is_open():
    nothing = np.zeros(0, int)
    assert likeliest_answers(nothing, nothing, np.zeros(0), LAYOUT, np.ones(3)) == {}


def test_texts():
    assert answer_texts(LAYOUT) == ["yea", "nay", "129", "131", "133", "yea", "nay"]
    plain = Corpus(np.ones((1, 2))).layout
    assert answer_texts(plain) == ["0", "1"]


def test_table():
    counts = np.array([[1, 0, 0, 2, 0, 0, 0], [0, 0, 1, 0, 1, 0, 1]])
    corpus = Corpus(
        counts, groups=LAYOUT.group_of_word, word_names=LAYOUT.word_names,
        group_names=LAYOUT.group_names,
    )  # fmt: skip
    rows = list(answer_table(corpus, {(0, 2): [5], (1, 0): [1]}))
    assert rows == [["yea", "131/131", "yea"], ["nay", "129/133", "nay"]]


def genotypes(n=30):
    alleles = ["129", "131", "133"]
    return {
        name: ["/".join(sorted((alleles[i % 3], alleles[i * step % 3]))) for i in range(n)]
        for name, step in (("A", 1), ("B", 2), ("C", 4))
    }


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_of_genotypes_keep_their_form(library):
    table = genotypes()
    table["B"][4] = None
    frame = library.DataFrame(table)
    estimator = discan.MPCA(2, alpha=0.1, random_state=0).fit(frame)
    filled = estimator.impute(frame)
    assert list(filled.columns) == ["A", "B", "C"]
    one, two = list(filled["B"])[4].split("/")
    assert {one, two} <= {"129", "131", "133"}
    others = [cell for i, cell in enumerate(list(filled["B"])) if i != 4]
    assert others == [cell for i, cell in enumerate(table["B"]) if i != 4]
