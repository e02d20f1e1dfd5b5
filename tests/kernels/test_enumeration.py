# SPDX-License-Identifier: BSD-3-Clause
"""The kernel that sums over all assignments equals its twin."""

import numpy as np
import pytest
from kernels.blocks import SPIKES, all_close, make_block

from discan.kernels import enumeration
from discan.kernels.twins import enumeration as twins


@pytest.mark.parametrize("K", [1, 2, 3])
@SPIKES
def test_enumerate_counts(K, spike):
    block = make_block(K, spike, largest=1, big=False)
    words = block.head[1].copy()
    loadings = block.loadings.copy()
    loadings[words[block.head[0][1]]] = 0.0  # a word that no component has
    loadings[words[-1], 0] *= K == 1
    arguments = (*block.head, block.levels, *block.table, loadings)
    n = len(block.head[0]) - 1
    logs, means, empty = np.empty(n), np.zeros((n, K)), np.zeros((n, K))
    enumeration.enumerate_counts(*arguments, logs, means, empty)
    all_close((logs, means, empty), twins.enumerate_counts(*arguments))
