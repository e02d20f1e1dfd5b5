# SPDX-License-Identifier: BSD-3-Clause
"""Components of two fits are matched by optimal assignment."""

from itertools import permutations

import numpy as np
import pytest

import discan
from discan.data.corpus import Corpus
from discan.evaluation.distances import MEASURES, distances
from discan.evaluation.matching import agreement, match, match_components

RNG = np.random.default_rng(0)


def components(n, n_words=30):
    return RNG.dirichlet(np.full(n_words, 0.2), n)


@pytest.mark.parametrize("measure", MEASURES)
def test_distances_are_0_of_equal_and_1_of_disjoint_components(measure):
    first = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.1, 0.9]])
    np.testing.assert_allclose(distances(first, first, measure=measure), 1 - np.eye(2), atol=1e-7)


def test_distances_by_hand():
    p, q = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])
    hellinger = np.sqrt(1 - (np.sqrt(0.45) + np.sqrt(0.05)))
    np.testing.assert_allclose(distances(p, q), hellinger)
    middle = [0.7, 0.3]
    bits = sum(
        0.5 * sum(x * np.log2(x / m) for x, m in zip(row, middle, strict=True)) for row in (*p, *q)
    )
    np.testing.assert_allclose(distances(p, q, measure="jensen-shannon"), np.sqrt(bits))


@pytest.mark.parametrize("measure", MEASURES)
def test_groups_are_averaged_by_weight(measure):
    """Squared distances of groups are averaged; a group of weight 0 does not count."""
    layout = Corpus(np.ones((1, 5)), groups=[0, 0, 1, 1, 1]).layout
    p, q = (np.hstack([RNG.dirichlet([1, 1], 2), RNG.dirichlet([1, 1, 1], 2)]) for _ in range(2))
    parts = [distances(p[:, c], q[:, c], measure=measure) ** 2 for c in ([0, 1], [2, 3, 4])]
    for weights in ([1, 1], [3, 1], [0, 2]):
        expected = np.sqrt(np.average(parts, axis=0, weights=weights))
        found = distances(p, q, layout, np.array(weights), measure)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_permutation_is_found_again():
    first = components(7)
    order = RNG.permutation(7)
    found = match_components(first, first[order])
    np.testing.assert_array_equal(order[found.pairs[:, 1]], np.arange(7))
    np.testing.assert_allclose(found.matched, 0, atol=1e-7)
    assert found.similarity == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(first[order][found.order], first)


def test_the_sum_is_the_least_of_all():
    first, second = components(4, 6), components(4, 6)
    found = match_components(first, second)
    least = min(found.distances[np.arange(4), list(p)].sum() for p in permutations(range(4)))
    assert found.matched.sum() == pytest.approx(least)


@pytest.mark.parametrize("sizes", [(3, 5), (5, 3), (1, 4)])
def test_any_numbers_of_components(sizes):
    everything = components(5)
    first, second = everything[: sizes[0]], everything[::-1][: sizes[1]]
    found = match_components(first, second)
    assert len(found.pairs) == min(sizes)
    assert len(found.only_first) == max(0, sizes[0] - sizes[1])
    assert len(found.only_second) == max(0, sizes[1] - sizes[0])
    assert sorted(found.order) == list(range(sizes[1]))
    assert found.similarity <= min(sizes) / max(sizes) + 1e-12


def test_fits_agree_with_themselves_in_another_order():
    counts = RNG.multinomial(40, components(3, 12)[RNG.integers(0, 3, 50)])
    fits = [
        discan.LDA(3, algorithm="map", alpha=0.1, random_state=seed).fit(counts).fit_
        for seed in (0, 1)
    ]
    mixed = discan.LDA(3, algorithm="map", alpha=0.1, init=fits[0].components[[2, 0, 1]])
    again = mixed.fit(counts).fit_  # the order of given components stays
    assert match(fits[0], again).order.tolist() == [1, 2, 0]
    similar = agreement([*fits, again])
    np.testing.assert_allclose(similar, similar.T)
    assert similar[0, 2] > 0.95
    assert match(fits[0], again).measure == "hellinger"


def test_an_unknown_measure_is_refused():
    with pytest.raises(discan.InputError, match="hellinger"):
        distances(components(2), components(2), measure="cosine")
