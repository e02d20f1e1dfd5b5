# SPDX-License-Identifier: BSD-3-Clause
"""Bars of membership: the right shares in the right order."""

import numpy as np
import pandas
import pytest

import discan
from discan import plot


def test_membership(shares, names):
    figure = plot.membership(shares, names, component_names=["x", "y", "z"])
    traces = figure.data[::-1]  # the first component is on top
    assert [trace.name for trace in traces] == ["x", "y", "z"]
    for k, trace in enumerate(traces):
        np.testing.assert_allclose(trace.y, shares[:, k])
        np.testing.assert_array_equal(trace.x, range(4))
    assert figure.layout.barmode == "stack"
    assert list(figure.layout.xaxis.ticktext) == [
        "Ann", "Bob", "Cy &amp; &lt;b&gt;Co&lt;/b&gt;", "D\ufffd[31m\ufffd",
    ]  # fmt: skip
    assert figure.data[1].hovertext[0] == "Ann<br>y: 20.0 %"


def test_membership_in_order(shares):
    by_number = plot.membership(shares, order=[3, 1, 2, 0])
    np.testing.assert_allclose(by_number.data[-1].y, shares[[3, 1, 2, 0], 0])
    # the first component is the largest, so its documents come first, the purest of them in front
    similar = plot.membership(shares, order="similar")
    np.testing.assert_allclose(similar.data[-1].y, shares[[3, 0, 1, 2], 0])


def test_membership_of_amounts_frames_and_estimators(texts, shares, names):
    amounts = plot.membership(shares * [[10], [1], [3], [0.1]])
    np.testing.assert_allclose(amounts.data[0].y, shares[:, 2])
    frame = pandas.DataFrame(shares, index=names, columns=["x", "y", "z"])
    given = plot.membership(frame)
    assert [trace.name for trace in given.data] == ["z", "y", "x"]
    assert given.layout.xaxis.ticktext[0] == "Ann"
    fitted = plot.membership(texts)
    largest = texts.component_counts_.sum(axis=0).argmax()
    np.testing.assert_allclose(fitted.data[-1].y, texts.proportions_[:, largest])
    assert fitted.layout.xaxis.ticktext[39] == "text 39"
    words = {trace.name.partition(": ")[2].split(", ")[0] for trace in fitted.data}
    assert words <= {"apple", "boat", "ship"}
    assert len(words) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda shares: plot.membership("x"), "proportions='x'"),
        (lambda shares: plot.membership([1.0, 2.0]), "shape"),
        (lambda shares: plot.membership(np.empty((0, 2))), "shape"),
        (lambda shares: plot.membership([[0.5, np.nan]]), r"proportions\[0, 1\] = nan"),
        (lambda shares: plot.membership([[0.5, -1]]), "not negative"),
        (lambda shares: plot.membership([[1, 0], [0, 0]]), "row 1 of proportions is all zero"),
        (lambda shares: plot.membership(shares, ["a"]), "names must be 4 labels"),
        (lambda shares: plot.membership(shares, "abcd"), "names must be 4 labels"),
        (lambda shares: plot.membership(shares, order="age"), "order='age'; use one of 'similar'"),
        (lambda shares: plot.membership(shares, order=[1, 2]), "4 numbers"),
        (lambda shares: plot.membership(shares, component_names=["a"]),
         "component_names must be 3 labels"),
        (lambda shares: plot.membership(np.ones((1001, 2))), "draw the figure structure"),
        (lambda shares: plot.membership(discan.LDA(2)), "no training documents"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message, refused, shares):
    refused(lambda: call(shares), message)
