# SPDX-License-Identifier: BSD-3-Clause
"""Ticks, and figures with titles of several lines."""

import sys

import numpy as np
import pytest

from discan import InputError, plot
from discan.plot.lettering import text_width
from discan.plot.theme import linear_ticks, number_ticks


def test_ticks():
    np.testing.assert_allclose(linear_ticks(-0.3, 1.02), [-0.25, 0, 0.25, 0.5, 0.75, 1])
    assert number_ticks(-0.3, 1.02)["ticktext"][0] == "-0.25"
    assert number_ticks(-2, 9)["ticktext"][:2] == ["-2", "0"]
    assert number_ticks(10000, 30000)["ticktext"][1] == "15,000"
    np.testing.assert_allclose(linear_ticks(2.0, 2.0), [2.0])


def test_long_titles_are_broken_into_lines(shares):
    plain = plot.membership(shares, title="Short", subtitle="short")
    long = plot.membership(shares, title="Word " * 30, subtitle="word " * 80)
    assert long.layout.title.text.count("<br>") >= 1
    assert long.layout.annotations[0].text.count("<br>") >= 2
    more = long.layout.height - plain.layout.height
    assert more > 50
    assert long.layout.margin.t - plain.layout.margin.t == more  # the plot keeps its size
    for line in long.layout.annotations[0].text.split("<br>"):
        assert text_width(line, 13) <= long.layout.width - 24


def test_without_plotly(monkeypatch, shares):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(InputError, match="pip install plotly"):
        plot.membership(shares)
