# SPDX-License-Identifier: BSD-3-Clause
"""Heat maps: the words and answers that tell components apart."""

import numpy as np
import pytest

import discan
from discan import plot
from discan.plot.heatmap import distinctive_groups
from discan.plot.inputs import components_of
from discan.plot.palette import DIVERGING, SHADES

HALVES = [0, 0, 0, 1, 1, 1]  # groups of six words


def test_heatmap_of_text(words, fruit):
    figure = plot.heatmap(fruit[:2], words=words, sizes=[3, 1], n_words=2)
    assert list(figure.layout.yaxis.ticktext) == ["apple", "pear", "boat", "ship"]
    assert list(figure.layout.xaxis.ticktext) == ["component 1", "component 2"]
    np.testing.assert_allclose(figure.data[0].z, [[1, 0], [1, 0], [0, 1], [0, 1]])
    shared = plot.heatmap([[0.5, 0.5], [1.0, 0.0]], words=["a", "b"], sizes=[1, 1], n_words=1)
    assert list(shared.layout.yaxis.ticktext) == ["b", "a"]  # what sets them apart
    np.testing.assert_allclose(shared.data[0].z, [[1, 0], [1 / 3, 2 / 3]])


def test_many_components_make_no_tower():
    rng = np.random.default_rng(0)
    figure = plot.heatmap(rng.dirichlet([0.02] * 500, 30))
    assert len(figure.data[0].z) <= 60
    assert figure.layout.height < 1200
    assert figure.layout.width < 1400
    few = plot.heatmap(rng.dirichlet([0.02] * 500, 4))
    assert len(few.data[0].z) == 20


def test_yea_and_nay_have_a_diverging_scale(votes):
    figure = plot.heatmap(votes, group=[0, 2])
    assert list(figure.layout.yaxis.ticktext) == ["vote 0", "vote 2"]
    cells = figure.data[0]
    assert list(cells.colorbar.ticktext) == ["all nay", "equal", "all yea"]
    assert [colour for _, colour in cells.colorscale] == [colour for _, colour in DIVERGING]
    flipped = plot.heatmap(
        [[0.9, 0.1], [0.2, 0.8]], words=["rc1=0.0", "rc1=1.0"], groups=["rc1", "rc1"]
    )
    assert list(flipped.layout.yaxis.ticktext) == ["rc1"]
    np.testing.assert_allclose(flipped.data[0].z, [[0.1, 0.8]])  # agreement is blue
    assert list(flipped.data[0].colorbar.ticktext) == ["all 0.0", "equal", "all 1.0"]
    several = plot.heatmap(votes, group=[0, 3])
    assert [colour for _, colour in several.data[0].colorscale] == [c for _, c in SHADES]


def test_heatmap_of_groups(votes):
    figure = plot.heatmap(votes)
    names = list(figure.layout.yaxis.ticktext)
    # of two answers that which agrees, of three all, with the question written once
    assert sorted(names) == ["b", "c", "question: a", "vote 0: yea", "vote 1: yea", "vote 2: yea"]
    at = names.index("question: a")
    assert names[at : at + 3] == ["question: a", "b", "c"]
    assert figure.data[0].hovertext[at + 1][0].startswith("question: b<br>component ")
    assert {at - 0.5, at + 2.5} & {line.y0 for line in figure.layout.shapes}
    assert set(names[:2]) == {"vote 0: yea", "vote 2: yea"}  # where the camps differ most
    row = names.index("vote 2: yea")
    by_size = np.argsort(-votes.component_counts_.sum(axis=0))
    np.testing.assert_allclose(figure.data[0].z[row], votes.components_[by_size, 4])
    assert len(plot.heatmap(votes, n_groups=1).data[0].z) == 1
    chosen = plot.heatmap(votes, group=["vote 1", 0])
    assert list(chosen.layout.yaxis.ticktext) == ["vote 1", "vote 0"]  # the scale says yea and nay
    two = plot.heatmap(votes, group="question", n_words=2).layout.yaxis.ticktext
    assert len(two) == 2
    assert two[0].startswith("question: ")


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
        (lambda fruit: plot.heatmap(fruit, 9, groups=HALVES), "component 1 is all zero"),
        (lambda fruit: plot.heatmap(fruit[2:], 9, groups=HALVES), "group=9 is not known"),
        (lambda fruit: plot.heatmap(fruit[2:], [], groups=HALVES), "empty list"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message, refused, fruit):
    refused(lambda: call(fruit), message)
