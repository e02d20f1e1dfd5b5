# SPDX-License-Identifier: BSD-3-Clause
"""Components are joined where the data do not tell them apart, and nowhere else."""

import numpy as np
import pytest

from discan.algorithms.merging import Tokens
from discan.data.corpus import Corpus
from discan.models import LoadingsPrior

K, TRUE = 6, 3
RNG = np.random.default_rng(0)


def tokens_of(assign, seed=0, n_documents=80, n_words=40, length=50, groups=None):
    """Tokens of planted documents, with components by ``assign(true component, rng)``."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(n_words, 0.1), TRUE)
    if groups is not None:  # two words per group, as the two alleles of a locus
        theta = rng.beta(0.7, 0.7, (TRUE, n_words // 2))
        theta = np.stack([theta, 1 - theta], axis=2).reshape(TRUE, n_words) / (n_words // 2)
    shares = rng.dirichlet(np.full(TRUE, 0.2), n_documents)
    documents = np.repeat(np.arange(n_documents), length)
    true = np.array([rng.choice(TRUE, p=shares[i]) for i in documents])
    words = np.array([rng.choice(n_words, p=theta[k]) for k in true])
    order = np.lexsort((words, documents))
    documents, words, true = documents[order], words[order], true[order]
    components = assign(true, documents, words, rng)
    n, c = np.zeros((n_words, K)), np.zeros((n_documents, K))
    np.add.at(n, (words, components), 1)
    np.add.at(c, (documents, components), 1)
    layout = Corpus(np.ones((1, n_words)), groups=groups).layout
    prior = LoadingsPrior.of(0.3, layout)
    return Tokens(documents, words, components, n, c, np.full(K, 0.1), prior), true


def same(components, true):
    """Whether two ways to label tokens are the same but for the labels."""
    pairs = set(zip(components.tolist(), true.tolist(), strict=True))
    return len(pairs) == len(set(components.tolist())) == len(set(true.tolist()))


SPLITS = {
    "at random": lambda true, documents, words, rng: true + TRUE * (rng.random(len(true)) < 0.5),
    "by documents": lambda true, documents, words, rng: true + TRUE * (documents % 2),
    "by words": lambda true, documents, words, rng: true + TRUE * (words % 2),
}
LAYOUTS = [None, np.repeat(np.arange(20), 2)]


@pytest.mark.parametrize("groups", LAYOUTS, ids=["plain", "groups"])
@pytest.mark.parametrize("how", ["at random", "by documents"])
def test_split_components_are_joined(how, groups):
    tokens, true = tokens_of(SPLITS[how], groups=groups)
    assert tokens.merge() == TRUE
    assert same(tokens.components, true)


def test_components_split_by_words_are_joined():
    tokens, true = tokens_of(SPLITS["by words"])
    assert tokens.merge() == TRUE
    assert same(tokens.components, true)


@pytest.mark.parametrize("groups", LAYOUTS, ids=["plain", "groups"])
def test_true_components_stay(groups):
    tokens, true = tokens_of(lambda true, *rest: true.copy(), groups=groups)
    assert tokens.merge() == 0
    assert tokens.dissolve(np.random.default_rng(0)) == 0
    assert same(tokens.components, true)


def test_a_component_of_leftovers_is_dissolved():
    """A small component that takes a part of one document's tokens, of all its components."""

    def assign(true, documents, words, rng):
        return np.where((documents == 3) & (rng.random(len(true)) < 0.6), TRUE, true)

    tokens, _ = tokens_of(assign)
    assert tokens.sizes[TRUE] > 0
    assert tokens.dissolve(np.random.default_rng(0)) == 1
    assert tokens.sizes[TRUE] == 0


def test_counts_stay_those_of_the_tokens():
    tokens, _ = tokens_of(SPLITS["at random"], groups=LAYOUTS[1])
    tokens.merge()
    tokens.dissolve(np.random.default_rng(0))
    n, c = np.zeros_like(tokens.loading_counts), np.zeros_like(tokens.component_counts)
    np.add.at(n, (tokens.words, tokens.components), 1)
    np.add.at(c, (tokens.documents, tokens.components), 1)
    np.testing.assert_array_equal(n, tokens.loading_counts)
    np.testing.assert_array_equal(c, tokens.component_counts)
