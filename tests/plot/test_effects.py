# SPDX-License-Identifier: BSD-3-Clause
"""Effects: dots with intervals by label, bands over time, contrasts."""

import numpy as np
import pytest

from discan import plot
from discan.evaluation.effects import effects

LABELS = ["left"] * 20 + ["right"] * 19 + ["alone"]


def test_labels(texts, overlapping):
    figure = plot.effects(texts, LABELS)
    found = effects(texts.fit_, LABELS)
    lines, discs = figure.data[:2]
    np.testing.assert_allclose(discs.x, found.mean[:, 0])
    np.testing.assert_allclose(np.reshape(lines.x, (3, 3))[:, 0], found.low[:, 0])
    assert list(figure.layout.yaxis.ticktext) == ["alone", "left", "right"]
    assert "taken as known" in figure.layout.annotations[0].text
    assert overlapping(figure) == []
    assert "nan" not in plot.to_svg(figure)


def test_time_and_contrast(texts, overlapping):
    years = [2000 + i % 5 for i in range(40)]
    figure = plot.effects(texts, time=years)
    found = effects(texts.fit_, time=years)
    np.testing.assert_allclose(figure.data[1].y, found.mean[:, 0])
    assert max(figure.data[0].y) == pytest.approx(found.high[:, 0].max())
    assert overlapping(figure) == []
    pair = plot.effects(found, contrast=("2000", "2004"))
    difference = found.contrast("2000", "2004").difference
    np.testing.assert_allclose(pair.data[1].x, difference)
    assert "2000 minus 2004" in pair.layout.title.text
    assert overlapping(pair) == []


def test_bad_input_is_refused(refused, shares, texts):
    refused(lambda: plot.effects(shares, list("abab")), "need a fit")
    refused(lambda: plot.effects(texts, "party"), "no metadata")
    refused(lambda: plot.effects(texts, [f"label {i}" for i in range(40)]), "40 labels, too many")
