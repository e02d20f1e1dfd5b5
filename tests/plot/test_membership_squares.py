# SPDX-License-Identifier: BSD-3-Clause
"""Squares of membership: rows by kind, and lines where a row is long."""

import numpy as np
import pytest

from discan import plot


def test_squares(shares):
    figure = plot.membership_squares(
        shares, ["a", "b", "c", "d"], ["R", "D", "R", "D"], order=[4, 1, 2, 3]
    )
    assert len(figure.data) == 2
    np.testing.assert_allclose(figure.data[0].z, shares[[1, 3]].T)  # D holds the first, b
    np.testing.assert_allclose(figure.data[1].z, shares[[2, 0]].T)
    assert list(figure.layout.xaxis.ticktext) == ["b", "d"]
    assert list(figure.layout.xaxis2.ticktext) == ["c", "a"]
    assert [note.text for note in figure.layout.annotations[1:]] == ["D", "R"]
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]
    first, second = figure.layout.yaxis.range
    assert first > second  # the first component on top


def test_squares_go_on_below():
    figure = plot.membership_squares(np.ones((100, 2)), labels=["a"] * 95 + ["b"] * 5)
    assert [np.shape(trace.z) for trace in figure.data] == [(2, 80), (2, 15), (2, 5)]
    assert [note.text for note in figure.layout.annotations[1:]] == ["a", "b"]
    assert figure.layout.xaxis2.ticktext[0] == "document 80"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda shares: plot.membership_squares(np.ones((1001, 2))), "draw the figure structure"),
        (lambda shares: plot.membership_squares(shares, labels=["a"]), "labels must be 4 labels"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message, refused, shares):
    refused(lambda: call(shares), message)
