# SPDX-License-Identifier: BSD-3-Clause
"""The part of the samplers' objective that depends on the loading counts."""

import math

import numpy as np

from .compile import kernel
from .simd.nonzeros import AT_A_TIME, lowest_bit, nonzero_bits
from .special import log_rising

__all__ = ["log_loadings"]

_TABLE = 256  # smaller counts are looked up in a table


@kernel(lambda *arguments: (np.empty(_TABLE),))
def log_loadings(loading_counts, group_totals, gamma, gamma_totals, table):
    """Log D, the probability of the words given their components, loadings integrated out.

    Same as twins.objective.log_loadings: sum_gk log D_gk (theory 2.4). Most counts are zero or
    small, and most words have the same gamma: log gamma (gamma + 1) ... (gamma + n - 1) is looked
    up in a table, which is extended when needed and started again when gamma changes.
    """
    n_words, n_components = loading_counts.shape
    table[0] = 0.0
    known = 0
    result = 0.0
    for g in range(group_totals.shape[0]):
        for k in range(n_components):
            result -= log_rising(gamma_totals[g], group_totals[g, k])
    for j in range(n_words):
        if j > 0 and gamma[j] != gamma[j - 1]:
            known = 0
        row = 0.0
        for start in range(0, n_components, AT_A_TIME):
            if start + AT_A_TIME <= n_components:
                bits = nonzero_bits(loading_counts, j * n_components + start)
            else:
                bits = np.uint64(0)
                for k in range(start, n_components):
                    bits |= np.uint64(loading_counts[j, k] != 0) << np.uint64(k - start)
            while bits != 0:  # most counts are zero: their bits are not set
                n = np.int64(loading_counts[j, np.uint64(start) + lowest_bit(bits)])
                bits &= bits - np.uint64(1)
                if n >= _TABLE:
                    row += log_rising(gamma[j], n)
                    continue
                while known < n:
                    table[known + 1] = table[known] + math.log(gamma[j] + known)
                    known += 1
                row += table[n]
        result += row
    return result
