# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of secant pairs equal their twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from discan.kernels import secants
from discan.kernels.twins import secants as twins

PRECISION = pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-5), (np.float64, 1e-12)])
RANGES = pytest.mark.parametrize(("first", "last"), [(0, 1300), (100, 1203), (7, 7)])


def arrays(dtype, n=1300, n_slots=5):
    rng = np.random.default_rng(3)
    points = rng.gamma(1.0, size=(4, n)).astype(dtype)
    steps, bends = rng.normal(size=(2, n_slots, n)).astype(dtype)
    return points, np.array([3, 0, 4, 2, 1]), steps, bends


@PRECISION
@RANGES
@pytest.mark.parametrize("n_slots", [1, 3, 5])
def test_add_pair(dtype, rtol, first, last, n_slots):
    points, slots, steps, bends = arrays(dtype)
    head = (*points, slots, n_slots, slots[n_slots - 1], first, last)
    twin = twins.add_pair(*head, steps, bends)
    products = np.zeros((4, len(slots)))
    secants.add_pair(*head, steps, bends, products)
    assert_array_equal(steps, twin[0])
    assert_allclose(bends, twin[1], rtol=rtol, atol=rtol)
    assert_allclose(products, twin[2], rtol=rtol, atol=1e4 * rtol)
    secants.add_pair(*head, steps, bends, products)  # products are added
    assert_allclose(products, 2 * twin[2], rtol=rtol, atol=1e4 * rtol)


@PRECISION
@RANGES
@pytest.mark.parametrize("n_slots", [0, 2, 4])
def test_jump(dtype, rtol, first, last, n_slots):
    points, slots, steps, bends = arrays(dtype)
    of_steps, of_bends = np.random.default_rng(4).normal(scale=0.2, size=(2, len(slots)))
    base, residual = points[0], points[1] - points[2]
    given = (base, residual, slots, n_slots, steps, bends, of_steps, of_bends, 3.0, 0.5)
    point = np.full(base.shape, np.nan, dtype)
    secants.jump(*given, first, last, point)
    twin = twins.jump(*given)
    assert_allclose(point[first:last], twin[first:last], rtol=rtol, atol=10 * rtol)
    assert np.isnan(np.delete(point, np.s_[first:last])).all()
    if first < last:  # both the step and its limits occur
        limit = dtype(0.5) * np.abs(base + residual)
        at_limit, negative = np.abs(point) == limit, point < 0.0
        assert 0 < np.count_nonzero(at_limit & ~negative) < last - first
        assert 0 < np.count_nonzero(at_limit & negative) < last - first
        assert np.count_nonzero(negative & ~at_limit) > 0
