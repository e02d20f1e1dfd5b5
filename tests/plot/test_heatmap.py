# SPDX-License-Identifier: BSD-3-Clause
"""Heat maps: the words and answers that tell components apart."""

import numpy as np
import pytest

import discan
from discan import plot
from discan.plot.heatmap import distinctive_groups
from discan.plot.inputs import components_of

HALVES = [0, 0, 0, 1, 1, 1]  # groups of six words


def test_heatmap_of_text(words, fruit):
    figure = plot.heatmap(fruit[:2], words=words, sizes=[3, 1], n_words=2)
    assert list(figure.layout.yaxis.ticktext) == ["apple", "pear", "boat", "ship"]
    np.testing.assert_allclose(figure.data[0].z, [[1, 0], [1, 0], [0, 1], [0, 1]])
    shared = plot.heatmap([[0.5, 0.5], [1.0, 0.0]], words=["a", "b"], sizes=[1, 1], n_words=1)
    np.testing.assert_allclose(shared.data[0].z, [[1 / 3, 2 / 3]])


def test_heatmap_of_groups(votes):
    figure = plot.heatmap(votes)
    names = list(figure.layout.yaxis.ticktext)
    # of two answers the first, of three all
    assert sorted(names) == [
        "question: a", "question: b", "question: c", "vote 0: yea", "vote 1: yea", "vote 2: yea",
    ]  # fmt: skip
    assert set(names[:2]) == {"vote 0: yea", "vote 2: yea"}  # where the camps differ most
    row = names.index("vote 2: yea")
    np.testing.assert_allclose(figure.data[0].z[row], votes.components_[:, 4])
    assert len(plot.heatmap(votes, n_groups=1).data[0].z) == 1
    chosen = plot.heatmap(votes, group=["vote 1", 0])
    assert list(chosen.layout.yaxis.ticktext) == ["vote 1: yea", "vote 0: yea"]
    two = plot.heatmap(votes, group="question", n_words=2).layout.yaxis.ticktext
    assert len(two) == 2
    assert all(name.startswith("question: ") for name in two)


def test_components_of_another_library(words):
    from sklearn.decomposition import NMF

    counts = np.random.default_rng(0).poisson(3.0, (20, 6))
    theirs = NMF(2, random_state=0).fit(counts)
    figure = plot.heatmap(theirs, words=words, n_words=2)
    assert list(figure.layout.xaxis.ticktext) == ["nmf0", "nmf1"]
    assert set(figure.layout.yaxis.ticktext) <= set(words)


def test_distinctive_groups():
    components = components_of(
        [[0.5, 0.5, 0.9, 0.1, 0.6, 0.4], [0.5, 0.5, 0.1, 0.9, 0.4, 0.6]],
        None, None, None, [0, 0, 1, 1, 2, 2],
    )  # fmt: skip
    assert list(distinctive_groups(components)) == [1, 2, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fruit: plot.heatmap(discan.LDA(2)), "not fitted"),
        (lambda fruit: plot.heatmap(fruit, "vote"), "not in groups"),
        (lambda fruit: plot.heatmap(fruit, words=["a"]), "words must be 6 labels"),
        (lambda fruit: plot.heatmap(fruit, sizes=[1]), "sizes must be 3 numbers"),
        (lambda fruit: plot.heatmap(fruit, sizes=[0, 0, 0]), "sizes are all zero"),
        (lambda fruit: plot.heatmap(fruit, n_words=0), "n_words=0"),
        (lambda fruit: plot.heatmap(fruit, 9, groups=HALVES), "component 0 is all zero"),
        (lambda fruit: plot.heatmap(fruit[2:], 9, groups=HALVES), "group=9 is not known"),
        (lambda fruit: plot.heatmap(fruit[2:], [], groups=HALVES), "empty list"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message, refused, fruit):
    refused(lambda: call(fruit), message)
