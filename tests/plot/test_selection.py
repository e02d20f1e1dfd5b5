# SPDX-License-Identifier: BSD-3-Clause
"""The choice of K: the curve, its errors, its marks and its flat part."""

import numpy as np
import pytest

import discan
from discan import plot

TABLE = [
    {"K": k, "bits": bits, "gap": bits - 1.0, "gap_error": error, "stability": 0.9}
    for k, bits, error in ((2, 1.5, 0.1), (3, 1.05, 0.1), (4, 1.0, 0.0), (6, 1.2, 0.05))
]
FOUND = {"best": 4, "smallest": 3, "flat": [3, 4], "verdict": "Flat.", "table": TABLE}


def test_the_curve_and_its_marks():
    figure = plot.selection(FOUND)
    curve, best, smallest = figure.data
    np.testing.assert_array_equal(curve.x, [2, 3, 4, 6])
    np.testing.assert_array_equal(curve.y, [1.5, 1.05, 1.0, 1.2])
    np.testing.assert_array_equal(curve.error_y.array, [0.1, 0.1, 0.0, 0.05])
    assert (best.x[0], best.y[0]) == (4, 1.0)
    assert (smallest.x[0], smallest.y[0]) == (3, 1.05)
    assert [shape.x0 for shape in figure.layout.shapes] == [3, 4]
    assert figure.layout.meta["flat"] == [3, 4]
    assert "0.5 ± 0.1 more than the best" in curve.hovertext[0]
    assert "Flat from 3 to 4" in figure.layout.annotations[0].text.replace("<br>", " ")
    assert "Flat." in figure.layout.meta["description"]


def test_a_clear_answer_has_one_mark():
    figure = plot.selection({**FOUND, "smallest": 4, "flat": None})
    assert [trace.name for trace in figure.data] == ["mean over starts", "best: 4"]
    assert not figure.layout.shapes


def test_starts_are_dots():
    counts = np.kron(np.eye(2, dtype=int), np.full((12, 4), 4))
    found = discan.select_components(counts, (1, 2), folds=2, max_iter=10, n_jobs=1)
    figure = found.plot(title="Mine")
    dots = figure.data[0]
    assert len(dots.x) == 4
    assert figure.layout.title.text == "Mine"
    assert figure.layout.yaxis.title.text == "bits per held-out word"
    plot.to_svg(figure)


def test_one_size():
    plot.to_svg(plot.selection({"best": 2, "smallest": 2, "flat": None, "table": TABLE[:1]}))


@pytest.mark.parametrize("source", [{}, {"table": []}, 3, None])
def test_nothing_to_draw(source):
    with pytest.raises(discan.InputError, match="nothing to draw"):
        plot.selection(source)
