# SPDX-License-Identifier: BSD-3-Clause
"""Sums inside groups of words."""

import numpy as np
import pytest

from discan.data.layout import Layout


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("groups", [[0, 0, 0], [1, 0, 1]])
def test_group_sums(dtype, groups):
    matrix = np.arange(6, dtype=dtype).reshape(3, 2)
    layout = Layout(3, np.array(groups, dtype=np.int32), max(groups) + 1)
    sums = layout.group_sums(matrix)
    assert sums.dtype == (np.int64 if dtype == "i4" else np.float64)
    assert sums.tolist() == ([[6, 9]] if groups == [0, 0, 0] else [[2, 3], [4, 6]])
