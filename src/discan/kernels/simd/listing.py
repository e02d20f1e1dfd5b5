# SPDX-License-Identifier: BSD-3-Clause
"""List the components that a word has tokens in: most counts are zero, and cost next to nothing."""

import numpy as np

from ..compile import part
from .lanes import GLANCE, glance, lowest

__all__ = ["list_used"]


@part()
def list_used(row, first, out_components):
    """List the numbers of a row that are not 0, ascending, from place ``first`` on.

    How many there are is returned; there must be room for one place more.
    """
    n_components = row.shape[0]
    begin, start = np.uint64(first), 0
    place = begin
    while start + GLANCE <= n_components:
        bits = glance(row, start)
        while bits != 0:
            out_components[place] = np.uint64(start) + lowest(bits)
            place += np.uint64(1)
            bits &= bits - np.uint64(1)
        start += GLANCE
    for k in range(start, n_components):
        out_components[place] = k  # in any case, and kept if it is used
        place += np.uint64(row[k] != 0)
    return np.int64(place - begin)
