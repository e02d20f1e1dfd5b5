# SPDX-License-Identifier: BSD-3-Clause
"""Sizes: bars from the largest component to the smallest."""

import numpy as np

from discan import plot


def test_sizes(texts, words, fruit):
    figure = plot.sizes(texts)
    bars, written = figure.data
    totals = texts.component_counts_.sum(axis=0)
    np.testing.assert_allclose(bars.x, np.sort(totals / totals.sum())[::-1])
    assert all(": " in name for name in figure.layout.yaxis.ticktext)
    assert written.text[0] == f"{100 * bars.x[0]:.1f} %"
    given = plot.sizes(fruit, words=words, sizes=[1, 2, 1], component_names=list("xyz"), n_words=1)
    assert list(given.layout.yaxis.ticktext) == ["x: apple", "y: boat", "z: plum"]
    np.testing.assert_allclose(given.data[0].x, [0.25, 0.5, 0.25])  # arrays keep their order
    none = plot.sizes(fruit, words=words, n_words=0)
    assert none.layout.yaxis.ticktext[0] == "component 1"


def test_labels_do_not_overlap(overlapping):
    figure = plot.sizes(np.random.default_rng(0).dirichlet([0.1] * 50, 30), sizes=range(1, 31))
    assert overlapping(figure) == []
