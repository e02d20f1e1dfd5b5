# SPDX-License-Identifier: BSD-3-Clause
"""Fast fold-in of new documents: expected counts, each token given all other tokens."""

from __future__ import annotations

import numpy as np

from discan.algorithms.base import Params
from discan.data.blocks import Block
from discan.kernels.new_documents import split_new
from discan.kernels.simd.weighted_draws import LANES
from discan.typing import Array

__all__ = ["TOLERANCE", "fold_in_others"]

# Fraction of a document's tokens that the last step moves, at most. Held-out prediction is the same
# to five digits with a thousandth of it.
TOLERANCE = 1e-4
STEPS = 1000
STRIDE = 1.8  # factor by which a step goes further than the plain one
SINGLE_FROM = 1e-6  # single precision is exact enough for tolerances from this on
ROW_BYTES = 2**20  # of the loadings of a document's words; a longer document is not copied


def fold_in_others(
    params: Params, block: Block, tolerance: float, stride: float = STRIDE
) -> tuple[Array, Array]:
    """Posterior means of c and of 1(c = 0) of a block's documents, each (n, K) (theory 4.7).

    A document's answer depends on the document alone. Where no score can be absent, the second
    table is not computed and holds ones.
    """
    shape = (block.stop - block.start, params.n_components)
    precision = np.dtype(np.float32 if tolerance >= SINGLE_FROM else np.float64)
    width = -(-params.n_components // LANES) * LANES
    longest = int(np.diff(block.indptr).max(initial=1))
    rows = np.empty(
        (max(1, min(longest, ROW_BYTES // (width * precision.itemsize))), width), precision
    )
    counts, empty = np.empty(shape), np.ones(shape)
    split_new(
        block.indptr, block.words, block.counts, block.levels, *params.table, params.loadings,
        rows, counts, empty, stride, STEPS, tolerance,
    )  # fmt: skip
    return counts, empty
