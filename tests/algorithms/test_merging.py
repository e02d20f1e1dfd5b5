# SPDX-License-Identifier: BSD-3-Clause
"""Components that are joined for a start: the evidence that decides, and what is joined."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from discan.algorithms.merging import Tokens
from discan.data.corpus import Layout
from discan.models import LoadingsPrior
from discan.models.seeds import Seeds

# Eight tokens of three documents, and others that stay where they are, which tell components apart.
DOCUMENTS = np.array([0, 0, 0, 1, 1, 2, 2, 2, *[0] * 4, *[1] * 4, 2])
WORDS = np.array([0, 1, 2, 2, 3, 0, 3, 1, *[0] * 3, 1, *[3] * 3, 2, 1])
STAY = np.array([*[0] * 4, *[1] * 4, 2])


def tokens_of(documents, words, components, alpha, gamma):
    """Count the tokens of each component."""
    n_words, n_components = int(words.max()) + 1, len(alpha)
    loadings = np.zeros((n_words, n_components))
    np.add.at(loadings, (words, components), 1)
    counts = np.zeros((int(documents.max()) + 1, n_components))
    np.add.at(counts, (documents, components), 1)
    layout = Layout(n_words, np.zeros(n_words, dtype=np.int32), 1)
    prior = LoadingsPrior.of(gamma, layout)
    return Tokens(documents, words, components.copy(), loadings, counts, alpha.copy(), prior)


def test_moves_keep_all_counts():
    """Of documents, of words, and of groups of words; repeated tokens and unmoved ones, too."""
    rng = np.random.default_rng(6)
    documents, words = rng.integers(0, 5, 200), rng.integers(0, 7, 200)
    alpha, layout = np.ones(4), Layout(7, np.array([0, 0, 0, 1, 1, 2, 2], dtype=np.int32), 3)
    tokens = replace(
        tokens_of(documents, words, rng.integers(0, 4, 200), alpha, 0.3),
        prior=LoadingsPrior.of(0.3, layout),
    )
    places = rng.permutation(200)[:150]
    tokens._move(places, rng.integers(0, 4, 150))
    after = replace(tokens_of(documents, words, tokens.components, alpha, 0.3), prior=tokens.prior)
    for name in ("loading_counts", "component_counts", "_totals"):
        np.testing.assert_array_equal(getattr(tokens, name), getattr(after, name))


@pytest.mark.parametrize("n_kinds", [1, 2])
def test_the_evidence_is_the_sum_over_all_components_of_the_tokens(n_kinds):
    """Against enumeration, over draws of the posterior."""
    kinds, alpha = np.arange(n_kinds), np.array([0.9, 0.6, 0.4])
    places = np.arange(len(WORDS) - len(STAY))
    components = np.concatenate([np.zeros(len(places), dtype=int), STAY])
    tokens = tokens_of(DOCUMENTS, WORDS, components, alpha, 0.8)
    rows = np.unique(DOCUMENTS[places])
    states = np.array(list(product(kinds, repeat=len(places))))
    logs = []
    for state in states:
        tokens._move(places, state)
        logs.append(tokens._log_joint(rows, kinds))
    exact = float(np.logaddexp.reduce(logs))
    rng = np.random.default_rng(0)
    chances = np.exp(np.array(logs) - exact)
    found = []
    for state in states[rng.choice(len(states), 400, p=chances / chances.sum())]:
        tokens._move(places, state)
        before = tokens.components.copy(), tokens.loading_counts.copy()
        found.append(tokens._log_evidence(places, kinds, rng))
        np.testing.assert_array_equal(tokens.components, before[0])  # all is put back
        np.testing.assert_array_equal(tokens.loading_counts, before[1])
    assert np.mean(found) == pytest.approx(exact, abs=0.1)


def halves(rng, alike):
    """Tokens of two components that have the same words, or words of their own."""
    documents = np.repeat(np.arange(40), 30)
    components = rng.integers(0, 2, len(documents)) if alike else (documents % 2)
    words = rng.integers(0, 6, len(documents)) + (0 if alike else 6 * components)
    return tokens_of(documents, words, components, np.array([0.5, 0.5, 1e-5]), 0.3)


def test_components_with_the_same_words_are_joined():
    tokens = halves(np.random.default_rng(1), alike=True)
    assert tokens.merge(np.random.default_rng(0)) == 1
    assert sorted(tokens.sizes) == [0, 0, len(tokens.words)]
    assert tokens.alpha.max() == 1.0


def test_components_with_other_words_are_not_joined_unless_so_many_are_wanted():
    rng = np.random.default_rng(2)
    tokens = halves(rng, alike=False)
    tokens._move(np.arange(3), np.ones(3, dtype=int))  # they share words and documents a little
    assert tokens.merge(rng) == 0
    assert tokens.dissolve(rng) == 0
    tokens.reduce(rng, 0)
    assert (tokens.sizes > 0).sum() == 2
    tokens.reduce(rng, 1)
    assert (tokens.sizes > 0).sum() == 1


@pytest.mark.parametrize("way", ["reduce", "join"])
def test_of_too_many_components_the_copy_goes_and_not_one_of_a_pair_in_the_same_documents(way):
    """Two kinds of words that always come together, and one that is in two components."""
    rng = np.random.default_rng(3)
    documents = np.repeat(np.arange(60), 40)
    together = rng.random(len(documents)) < rng.beta(2.0, 2.0, 60)[documents]
    kind = np.where(documents % 2 == 0, together, 2)
    words = rng.integers(0, 6, len(documents)) + 6 * kind
    components = np.where(kind == 2, 2 + rng.integers(0, 2, len(documents)), kind)
    tokens = tokens_of(documents, words, components, np.full(4, 0.1), 0.1)
    tokens.reduce(rng, 1) if way == "reduce" else tokens.join(1)
    sizes = tokens.sizes
    assert sizes[:2].tolist() == np.bincount(kind)[:2].tolist()
    assert sorted(sizes[2:]) == [0, (kind == 2).sum()]


def test_a_component_in_three_parts_is_joined_although_a_pair_takes_two_of_them():
    rng = np.random.default_rng(6)
    documents = np.repeat(np.arange(60), 40)
    kind = documents % 3
    words = rng.integers(0, 6, len(documents)) + 6 * kind
    components = np.where(kind == 2, 2 + rng.integers(0, 3, len(documents)), kind)
    tokens = tokens_of(documents, words, components, np.full(5, 0.1), 0.1)
    tokens.join(2)
    assert sorted(tokens.sizes) == [0, 0, *np.bincount(kind)]
    assert tokens.alpha.sum() >= 0.5  # whose alphas are added
    tokens.join(1)  # the others share neither words nor documents
    assert sorted(tokens.sizes) == [0, 0, *np.bincount(kind)]


def test_the_loss_of_a_pair_as_one_component_is_that_after_it_was_joined():
    tokens = halves(np.random.default_rng(7), alike=False)
    places, kinds = np.arange(len(tokens.words)), np.array([0, 1])
    expected = tokens._loss_as_one(places, kinds)
    tokens._join(0, 1)
    assert tokens._loss(places, kinds[:1]) == pytest.approx(expected, rel=1e-12)


def test_what_is_a_bit_of_everything_is_given_to_all():
    """A tenth of the tokens of four kinds is in a component of its own; it belongs to none."""
    rng = np.random.default_rng(4)
    documents = np.repeat(np.arange(80), 50)
    kind = documents % 4
    words = rng.integers(0, 6, len(documents)) + 6 * kind
    components = np.where(rng.random(len(documents)) < 0.1, 4, kind)
    tokens = tokens_of(documents, words, components, np.full(5, 0.1), 0.1)
    tokens.reduce(rng, 1)
    assert tokens.sizes[4] == 0
    assert (tokens.components == kind).mean() > 0.99


def test_components_with_seeds_stay():
    """The seeds are the words of the second component, which takes the tokens of the first."""
    rng = np.random.default_rng(5)
    tokens = halves(rng, alike=True)
    seeds = np.zeros((6, 3), dtype=int)
    seeds[:, 1] = 4
    prior = replace(tokens.prior, seeds=Seeds.of(seeds))
    tokens = Tokens(
        tokens.documents, tokens.words, tokens.components, tokens.loading_counts + seeds,
        tokens.component_counts, tokens.alpha, prior,
    )  # fmt: skip
    assert tokens.merge(rng) == 1
    assert tokens.sizes.tolist() == [0, len(tokens.words), 0]
    assert tokens.dissolve(rng) == 0
