# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of the samplers' objective equals its twin."""

import numpy as np
import pytest
from kernels.blocks import SIZES, close

from discan.kernels import objective
from discan.kernels.twins import objective as twins


@SIZES
@pytest.mark.parametrize("alike", [True, False])
def test_log_loadings(K, alike):
    rng = np.random.default_rng(K)
    counts = rng.poisson(rng.choice([0.1, 3.0, 300.0], (9, K))).astype(np.int32)
    gamma = np.full(9, 0.3) if alike else rng.uniform(0.01, 2.0, 9)
    groups = np.arange(9) % 2
    totals = np.array([counts[groups == g].sum(axis=0) for g in range(2)], dtype=np.int64)
    arguments = (counts, totals, gamma, np.bincount(groups, weights=gamma))
    close(objective.log_loadings(*arguments), twins.log_loadings(*arguments))
