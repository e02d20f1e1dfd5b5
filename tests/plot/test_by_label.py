# SPDX-License-Identifier: BSD-3-Clause
"""By label: mean shares as bars of few components, as cells of many."""

import re

import numpy as np

from discan import plot
from discan.plot import to_svg
from discan.plot.lettering import plain_width


def test_bars(shares):
    figure = plot.by_label(shares, ["a", "b", "a", "b"], order="name")
    assert len(figure.data) == 3
    means = shares[[0, 2], 0].mean(), shares[[1, 3], 0].mean()
    np.testing.assert_allclose(figure.data[0].x, means)
    assert list(figure.layout.yaxis.ticktext) == ["a (2)", "b (2)"]
    spread = shares[[0, 2], 0].std(ddof=1) / np.sqrt(2)
    assert figure.data[0].hovertext[0].endswith(f"50.0 % ± {100 * spread:.1f} %")
    single = plot.by_label(shares, list("abcd"))
    assert "±" not in single.data[0].hovertext[0]


def test_the_legend_stands_beside_the_last_number():
    """With few labels the legend reaches down to the axis, whose last number is half outside."""
    scene = to_svg(plot.by_label(np.full((4, 8), 1 / 8), ["a", "a", "b", "b"]))
    last = float(re.search(r'<text x="([\d.]+)"[^>]*>100\s%</text>', scene)[1])
    samples = [float(x) for x in re.findall(r'<rect x="([\d.]+)"[^>]*width="13"', scene)]
    assert len(samples) == 8
    assert min(samples) > last + plain_width("100 %", 12) / 2


def test_cells_of_many_components(overlapping):
    shares = np.random.default_rng(0).dirichlet([0.1] * 30, 200)
    labels = [f"newsgroup {n % 20}" for n in range(200)]
    figure = plot.by_label(shares, labels, order="size")
    (cells,) = figure.data
    assert np.shape(cells.z) == (20, 30)
    np.testing.assert_allclose(np.sum(cells.z, axis=1), 1)
    assert cells.zmax >= np.max(cells.z)
    assert overlapping(figure) == []
    some = plot.by_label(shares, labels, components=[1, 2])
    assert [trace.name for trace in some.data] == ["component 1", "component 2", "28 others"]


def test_79_labels(overlapping):
    shares = np.random.default_rng(0).dirichlet([0.5] * 5, 500)
    figure = plot.by_label(shares, [f"population {n % 79}" for n in range(500)])
    assert len(figure.data[0].x) == 79
    assert overlapping(figure) == []
    assert figure.layout.height < 1500
