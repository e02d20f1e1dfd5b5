# SPDX-License-Identifier: BSD-3-Clause
"""Structure: areas of shares, group after group, with labels that never overlap."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest

import discan
from discan import plot
from discan.data.nouns import Nouns

SVG = "{http://www.w3.org/2000/svg}"


def pointed(figure):
    """The first line of the text under the pointer, by column."""
    return [text.split("<br>")[0] for text in figure.data[-1].hovertext]


def test_structure(shares):
    figure = plot.structure(shares, ["a", "b", "a", "b"], names=list("wxyz"), order="name")
    assert list(figure.layout.xaxis.ticktext) == ["a", "b"]
    np.testing.assert_allclose(figure.layout.xaxis.tickvals, [1, 3])
    assert [shape.x0 for shape in figure.layout.shapes] == [2]
    # a has more of the third component than b, and y most of it; b of the second, and x
    order = [2, 0, 1, 3]
    assert pointed(figure) == ["y, a", "w, a", "x, b", "z, b"]
    top = np.ones(4)
    for k in range(3):
        x, y = figure.data[k].x, figure.data[k].y
        np.testing.assert_array_equal(x, [0, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 2, 2, 1, 1, 0])
        np.testing.assert_allclose(y[:8:2], top, atol=1e-5)
        top = top - shares[order, k]
        np.testing.assert_allclose(y[:7:-1][::2], top, atol=1e-5)
    given = plot.structure(shares, ["a", "b", "a", "b"], order="given")
    assert pointed(given)[2] == "document 1, b"


@pytest.mark.parametrize(
    ("order", "labels"),
    [("similar", "bca"), ("given", "abc"), ("name", "abc"), ("size", "cab"),
     ([5, 1, 1, 2, 2, 2], "bca")],
)  # fmt: skip
def test_order_of_labels(order, labels):
    """Of the labels a, b and c, b has most of the first component, then c."""
    shares = [[0.1, 0.9], [0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.8, 0.2], [0.7, 0.3]]
    figure = plot.structure(shares, list("abaccc"), order=order)
    assert "".join(figure.layout.xaxis.ticktext) == labels


def test_structure_of_thousands_has_few_traces():
    shares = np.random.default_rng(0).dirichlet([0.2] * 4, 1900)
    figure = plot.structure(shares)
    assert len(figure.data) == 5
    main = shares.argmax(axis=1)
    largest = np.argsort(-shares.sum(axis=0))
    first = [int(re.match(r"document (\d+)", t)[1]) for t in figure.data[-1].hovertext]
    assert sorted(first) == list(range(1900))
    assert list(dict.fromkeys(main[first])) == list(largest)
    root = ElementTree.fromstring(plot.to_svg(figure))
    assert len(root.findall(f".//{SVG}path")) == 4


def test_of_very_many_neighbours_are_averaged():
    rng = np.random.default_rng(0)
    shares, labels = rng.dirichlet([0.2] * 3, 9000), np.repeat(["a", "b"], [8990, 10])
    figure = plot.structure(shares, labels, order="given")
    edges = figure.data[-1].customdata
    assert len(edges) - 1 <= 2001
    assert 8990 in edges  # a column does not reach from one group into the next
    n = int(edges[1])
    assert figure.data[-1].hovertext[0].startswith(f"mean of {n} documents, a")
    np.testing.assert_allclose(1 - figure.data[1].y[0], shares[:n, 0].mean(), atol=1e-5)
    assert "mean of up to 5 neighbours" in figure.layout.annotations[0].text
    assert len(plot.to_svg(figure)) < 400_000


@pytest.fixture
def populations():
    """79 populations of 2 to 45 individuals in seven regions, and their shares."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, 46, 79)
    names = np.repeat([f"Population {n} of the world" for n in range(79)], sizes)
    regions = np.repeat(np.sort(rng.integers(0, 7, 79)), sizes)
    return rng.dirichlet([0.2] * 7, len(names)), names, [f"Region {n}" for n in regions]


def test_79_labels_do_not_overlap(populations, overlapping):
    shares, names, regions = populations
    figure = plot.structure(shares, names)
    assert len(figure.layout.xaxis.ticktext) == 79
    assert overlapping(figure) == []
    both = plot.structure(shares, [regions, names])
    assert overlapping(both) == []
    shown = {note.text for note in both.layout.annotations}
    assert set(regions) <= shown
    # populations of a region are neighbours
    region_of = dict(zip(names, regions, strict=True))
    runs = [region_of[name] for name in both.layout.xaxis.ticktext]
    assert len(list(dict.fromkeys(runs))) == sum(a != b for a, b in pairwise(runs)) + 1


def test_more_labels_go_on_below(overlapping):
    shares = np.random.default_rng(0).dirichlet([0.5] * 3, 400)
    names = [f"label {n // 2}" for n in range(400)]
    figure = plot.structure(shares, names, order="name")
    assert [len(figure.layout[f"xaxis{n}"].ticktext) for n in ("", 2, 3)] == [67, 66, 67]
    assert figure.layout.xaxis3.ticktext[-1] == "label 199"
    assert overlapping(figure) == []
    keys = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert len([key for key in keys if key]) == 3


def test_metadata_and_nouns_of_a_fit():
    rng = np.random.default_rng(0)
    corpus = discan.Corpus(
        rng.poisson(1.0, (12, 8)), nouns=Nouns("senator", "vote", "bloc"),
        metadata={"party": list("DDDRRRDDDRRR"), "age": np.arange(12.0)},
    )  # fmt: skip
    fit = discan.LDA(2, max_iter=3, random_state=0, progress=False).fit(corpus)
    figure = plot.structure(fit, "party", order="age")
    assert sorted(figure.layout.xaxis.ticktext) == ["D", "R"]
    assert pointed(figure)[0] == "senator 0, D"
    assert "12 senators in 2 groups" in figure.layout.annotations[0].text
    assert figure.layout.title.text == "Blocs of the senators"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"], "labels must be 4 labels, one for each of the documents, not 1"),
        ("party", "no column 'party'"),
    ],
)
def test_bad_input_is_refused(refused, shares, labels, message):
    refused(lambda: plot.structure(shares, labels), message)


def test_too_many_labels_are_refused(refused):
    labels = [f"label {n}" for n in range(500)]
    refused(lambda: plot.structure(np.ones((500, 2)), labels), "500 different values, too many")
