# SPDX-License-Identifier: BSD-3-Clause
"""Structure: areas of shares, group after group."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np

from discan import plot

SVG = "{http://www.w3.org/2000/svg}"


def test_structure(shares):
    figure = plot.structure(shares, ["a", "b", "a", "b"], names=list("wxyz"))
    assert list(figure.layout.xaxis.ticktext) == ["a", "b"]
    np.testing.assert_allclose(figure.layout.xaxis.tickvals, [1, 3])
    assert [shape.x0 for shape in figure.layout.shapes] == [2]
    # inside a: w (0.7 of component 0), then y; inside b: z, then x, for component 0 leads there
    order = [0, 2, 3, 1]
    assert [text.split(",")[0] for text in figure.data[-1].hovertext] == ["w", "y", "z", "x"]
    bottom = np.zeros(4)
    for k in range(3):
        x, y = figure.data[k].x, figure.data[k].y
        np.testing.assert_array_equal(x, [0, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 2, 2, 1, 1, 0])
        np.testing.assert_allclose(y[:8:2], bottom + shares[order, k], atol=1e-5)
        np.testing.assert_allclose(y[:7:-1][::2], bottom, atol=1e-5)
        bottom = bottom + shares[order, k]
    unsorted = plot.structure(shares, ["a", "b", "a", "b"], sort=False)
    assert unsorted.data[-1].hovertext[2].startswith("individual 1, b")


def test_structure_of_thousands_has_few_traces():
    shares = np.random.default_rng(0).dirichlet([0.2] * 4, 5000)
    figure = plot.structure(shares)
    assert len(figure.data) == 5
    main = shares.argmax(axis=1)
    largest = np.argsort(-shares.sum(axis=0))
    first = [int(re.match(r"individual (\d+)", t)[1]) for t in figure.data[-1].hovertext]
    assert sorted(first) == list(range(5000))
    assert list(dict.fromkeys(main[first])) == list(largest)
    root = ElementTree.fromstring(plot.to_svg(figure))
    assert len(root.findall(f".//{SVG}path")) == 4


def test_bad_input_is_refused(refused, shares):
    refused(lambda: plot.structure(shares, ["a"]), "groups must be 4 labels")
