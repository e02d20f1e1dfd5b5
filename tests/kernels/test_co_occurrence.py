# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of co-occurrences equals its NumPy twin."""

import numpy as np
import pytest
from kernels.blocks import make_block
from numpy.testing import assert_allclose

from discan.kernels import co_occurrence
from discan.kernels.twins import co_occurrence as twins


@pytest.mark.parametrize("width", [2, 5, 30])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_add_co_occurrences(dtype, width):
    block = make_block(4, dtype=dtype)
    rng = np.random.default_rng(0)
    columns = rng.integers(0, width, block.n_words)
    signs = rng.choice([-1.0, 1.0], block.n_words)
    sums, totals = rng.random((block.n_words, width)), rng.random(block.n_words)
    twin = twins.add_co_occurrences(*block.head, columns, signs, sums, totals)
    co_occurrence.add_co_occurrences(*block.head, columns, signs, sums, totals)
    assert_allclose(sums, twin[0], atol=1e-12)
    assert_allclose(totals, twin[1], atol=1e-12)


def test_a_word_does_not_occur_with_itself():
    """In one document of 3 a, 2 b, 1 c, with a column for each."""
    head = np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([3, 2, 1])
    sums, totals = np.zeros((3, 3)), np.zeros(3)
    co_occurrence.add_co_occurrences(*head, np.arange(3), np.ones(3), sums, totals)
    assert_allclose(sums * 6, [[0, 6, 3], [6, 0, 2], [3, 2, 0]])
    assert_allclose(totals, sums.sum(axis=1))
