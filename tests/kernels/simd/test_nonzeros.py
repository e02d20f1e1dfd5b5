# SPDX-License-Identifier: BSD-3-Clause
"""The counts that are not 0 are found."""

import numba
import numpy as np
import pytest
from entries import entry
from numpy.testing import assert_array_equal

from discan.kernels.simd import nonzeros
from discan.kernels.twins.simd import nonzeros as twins


@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
def test_nonzero_bits(dtype):
    """Bits tell which counts are not zero; the lowest comes first."""

    @numba.njit
    def places(counts, start):
        bits, found = nonzeros.nonzero_bits(counts, start), []
        first = bits
        while bits != 0:
            found.append(nonzeros.lowest_bit(bits))
            bits &= bits - np.uint64(1)
        return first, found

    rng = np.random.default_rng(0)
    for rate in (0.01, 0.2, 5.0):
        counts = rng.poisson(rate, (3, 60)).astype(dtype)
        counts[1, 20] = 1
        for start in (0, 7, 3 * 60 - twins.AT_A_TIME):
            bits, found = places(counts, start)
            assert bits == twins.nonzero_bits(counts, start)
            assert found[0] == twins.lowest_bit(int(bits))
            expected = np.flatnonzero(counts.ravel()[start : start + twins.AT_A_TIME])
            assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [1, 63, 64, 150])
def test_list_nonzeros(n):
    row = np.random.default_rng(n).poisson(0.3, n).astype(np.uint16)
    places, expected = np.full(n + 3, -1), twins.list_nonzeros(row)
    assert entry(nonzeros.list_nonzeros)(row, 2, places) == len(expected)
    assert_array_equal(places[2 : 2 + len(expected)], expected)
