# SPDX-License-Identifier: BSD-3-Clause
"""Component map: distances, places and sizes."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from discan import plot
from discan.plot.component_map import distances, scaling
from discan.plot.inputs import components_of


def test_distances_and_scaling(fruit):
    components = components_of(fruit, None, None, None, None)
    expected = [[jensenshannon(a, b, base=2) for b in fruit] for a in fruit]
    np.testing.assert_allclose(distances(components), expected, atol=1e-7)
    hellinger = distances(components, "hellinger")
    np.testing.assert_allclose(hellinger[0, 1], 1.0)
    place, kept = scaling(hellinger)
    between = np.linalg.norm(place[:, None] - place[None, :], axis=2)
    np.testing.assert_allclose(between, hellinger, atol=1e-7)  # three points fit on a plane
    assert kept == pytest.approx(1.0)
    assert scaling(np.zeros((1, 1)))[0].tolist() == [[0, 0]]


def test_component_map(words, fruit):
    figure = plot.component_map(
        fruit, words=words, sizes=[1, 4, 0], component_names=["x", "y", "z"]
    )
    circles = figure.data[0]
    assert circles.marker.size[1] == pytest.approx(2 * circles.marker.size[0])  # area by share
    assert circles.marker.size[2] > 0  # an empty one can still be seen
    notes = [note.text for note in figure.layout.annotations]
    assert "x<br>apple, pear, plum" in notes
    wide, tall = (
        abs(np.diff(axis.range)[0]) for axis in (figure.layout.xaxis, figure.layout.yaxis)
    )
    margin, layout = figure.layout.margin, figure.layout
    across, up = layout.width - margin.l - margin.r, layout.height - margin.t - margin.b
    assert wide / across == pytest.approx(tall / up, rel=1e-6)  # the same scale either way
    for n in (1, 2):
        assert len(plot.component_map(fruit[:n]).data[0].x) == n


def test_bad_input_is_refused(refused, fruit):
    refused(lambda: plot.component_map(fruit, distance="euclid"), "distance='euclid'")


def test_30_labels_do_not_overlap(overlapping):
    rng = np.random.default_rng(1)
    components = 0.3 * rng.dirichlet([0.05] * 300) + 0.7 * rng.dirichlet([0.05] * 300, 30)
    names = [f"word{j}" for j in range(300)]
    figure = plot.component_map(components, words=names, sizes=rng.uniform(0.2, 3, 30))
    assert len(figure.layout.annotations) == 31  # all of them, and the subtitle
    assert overlapping(figure) == []
    alike = 0.9 * rng.dirichlet([0.05] * 300) + 0.1 * rng.dirichlet([0.05] * 300, 30)
    assert overlapping(plot.component_map(alike, words=names)) == []
    many = plot.component_map(rng.dirichlet([0.05] * 300, 150), sizes=range(1, 151))
    assert "smallest have no label" in many.layout.annotations[0].text
