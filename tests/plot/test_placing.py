# SPDX-License-Identifier: BSD-3-Clause
"""Places of labels: none over another, and near what they name."""

import numpy as np
import pytest

from discan.plot.placing import around, spread


@pytest.mark.parametrize("seed", range(5))
def test_labels_on_a_line(seed):
    rng = np.random.default_rng(seed)
    places, widths = np.sort(rng.uniform(0, 1000, 40)), rng.uniform(5, 24, 40)
    moved = spread(places, widths, 0, 1000)
    gaps = np.diff(moved) - (widths[1:] + widths[:-1]) / 2
    assert gaps.min() > -1e-9
    assert moved[0] - widths[0] / 2 >= -1e-9
    assert moved[-1] + widths[-1] / 2 <= 1000 + 1e-9
    # least squares: any of the conditions is met, and moving all by a little is no better
    inside = moved[0] - widths[0] / 2 > 1 and moved[-1] + widths[-1] / 2 < 999
    if inside:
        assert abs(np.sum(moved - places)) < 1e-6 * len(places)


def test_labels_that_need_not_move():
    places = np.array([10.0, 50.0, 90.0])
    np.testing.assert_allclose(spread(places, np.full(3, 20.0), 0, 100), places)
    np.testing.assert_allclose(spread(np.array([50.0, 50.0]), np.full(2, 20.0), 0, 100), [40, 60])
    np.testing.assert_allclose(spread(np.array([99.0, 99.0]), np.full(2, 20.0), 0, 100), [70, 90])
    crowded = spread(np.array([1.0, 2.0, 3.0]), np.full(3, 60.0), 0, 100)
    np.testing.assert_allclose(crowded, [30, 90, 150])  # beyond the end, but apart


def frame(place, size):
    return (place.x - size[0] / 2, place.y - size[1] / 2, place.x + size[0] / 2,
            place.y + size[1] / 2)  # fmt: skip


def meets(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize("seed", range(3))
def test_labels_around_discs(seed):
    rng = np.random.default_rng(seed)
    points, across = rng.normal(0, 120, (30, 2)), rng.uniform(8, 40, 30)
    sizes = [(float(rng.uniform(60, 120)), 31.0)] * 30
    places = around(points, across, sizes, (-600, -500, 600, 500))
    assert None not in places
    frames = [frame(place, size) for place, size in zip(places, sizes, strict=True)]
    discs = [(x - d / 2, y - d / 2, x + d / 2, y + d / 2)
             for (x, y), d in zip(points, across, strict=True)]  # fmt: skip
    for k, box in enumerate(frames):
        assert not any(meets(box, other) for other in frames[k + 1 :])
        assert not any(meets(box, disc) for disc in discs)
        if places[k].leader is not None:
            steps = np.linspace(0, 1, 200)[:, None]
            start, end = np.array(places[k].leader[:2]), np.array(places[k].leader[2:])
            for x, y in start + steps * (end - start):
                for other in (*frames[:k], *frames[k + 1 :]):
                    assert not (other[0] < x < other[2] and other[1] < y < other[3])


def test_a_label_inside_its_disc_and_one_without_a_place():
    (inside,) = around(np.zeros((1, 2)), np.array([100.0]), [(40.0, 20.0)], (-60, -60, 60, 60))
    assert inside.inside
    assert (inside.x, inside.y) == (0, 0)
    (none,) = around(np.zeros((1, 2)), np.array([50.0]), [(80.0, 20.0)], (-30, -30, 30, 30))
    assert none is None
