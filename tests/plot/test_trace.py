# SPDX-License-Identifier: BSD-3-Clause
"""Trace: the objective by cycle, and the draws."""

from dataclasses import replace

import numpy as np
import pytest

import discan
from discan import plot
from discan.fitting.trace import Trace


def test_trace(votes, texts):
    figure = plot.trace(votes)
    line, draws = figure.data
    np.testing.assert_array_equal(line.x, range(1, 19))
    np.testing.assert_allclose(line.y, votes.trace_["objective"])
    np.testing.assert_array_equal(draws.x, [12, 14, 16, 18])
    assert figure.layout.shapes[0].x0 == 12
    assert len(plot.trace(texts).data) == 1  # no draws
    late = plot.trace(votes, against="seconds", skip=4)
    np.testing.assert_allclose(late.data[0].x, votes.trace_["seconds"][4:])
    both = plot.trace([votes, texts.trace_, [1.0, 2.0]], names=["a", "b", "c"])
    assert [trace.name for trace in both.data if trace.mode == "lines"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.trace(discan.LDA(2)), "no trace"),
        (lambda: plot.trace([]), "nothing to draw"),
        (lambda: plot.trace([1.0, np.inf]), "finite numbers"),
        (lambda: plot.trace([1.0], against="seconds"), "no seconds"),
        (lambda: plot.trace([1.0], against="time"), "against='time'"),
        (lambda: plot.trace([1.0, 2.0], skip=2), "leaves nothing"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message, refused):
    refused(call, message)


def test_the_first_cycles_do_not_rule(overlapping):
    steep = -1e6 / np.arange(1, 101) ** 2 - 5e5
    figure = plot.trace(steep)
    low, high = figure.layout.yaxis.range
    assert low > steep[9]
    assert high > steep[-1]
    assert "the first 10 cycles, from -1,500,000, not shown" in figure.layout.annotations[0].text
    assert len(figure.data[0].y) == 100  # they are there, below the plot
    assert overlapping(figure) == []  # the title of the axis, and its labels
    level = plot.trace(np.linspace(-2e9, -1e9, 50))
    assert level.layout.yaxis.range[0] < -2e9
    assert "not shown" not in level.layout.annotations[0].text
    assert overlapping(level) == []


def test_a_level_objective():
    figure = plot.trace([-2e3, np.nextafter(-2e3, 0), -2e3])
    low, high = figure.layout.yaxis.range
    assert low < -2e3 < high
    assert len(set(figure.layout.yaxis.ticktext)) == len(figure.layout.yaxis.ticktext)


def test_draws_that_were_dropped_are_not_marked(votes):
    """A chain that forgets averages the last draws alone."""
    fit = replace(votes.fit_, settings={"burn_in": 2, "thin": 2, "draws": 3})
    drawn = plot.trace(fit).data[1]
    np.testing.assert_array_equal(drawn.x, [14, 16, 18])
    many = replace(votes.fit_, trace=Trace.of(np.ones((200, 3))), settings={"thin": 1})
    figure = plot.trace(many)
    assert len(figure.data) == 1
    assert "200 draws are averaged" in figure.layout.annotations[0].text
