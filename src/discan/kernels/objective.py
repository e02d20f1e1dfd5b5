# SPDX-License-Identifier: BSD-3-Clause
"""The samplers' objective: what it takes of the words."""

import math

import numpy as np

from .compile import kernel
from .special import log_rising

__all__ = ["log_loadings"]

_TABLE = 256  # counts below this are looked up
_RUN = 8  # counts are looked at in runs of this many


@kernel()
def log_loadings(loading_counts, group_totals, gamma, gamma_totals):
    """Log D, the probability of the words given their components, loadings integrated out.

    Same as reference.log_loadings. Spec 2.4: sum_gk log D_gk. Most counts are zero or small, and
    most words share their gamma: log gamma (gamma + 1) ... (gamma + n - 1) is kept in a table that
    grows as far as it is needed, and is begun anew when gamma changes.
    """
    n_words, n_components = loading_counts.shape
    table = np.zeros(_TABLE)
    known = 0
    result = 0.0
    for g in range(group_totals.shape[0]):
        for k in range(n_components):
            result -= log_rising(gamma_totals[g], group_totals[g, k])
    for j in range(n_words):
        if j > 0 and gamma[j] != gamma[j - 1]:
            known = 0
        row = 0.0
        start = 0
        while start < n_components:
            stop = min(start + _RUN, n_components)
            found = loading_counts[j, start]
            if stop - start == _RUN:  # most runs of many components are of zeros only
                for k in range(start + 1, start + _RUN):
                    found |= loading_counts[j, k]
                stop = stop if found != 0 else start
            for k in range(start, stop):
                n = loading_counts[j, k]
                if n == 0:
                    continue
                if n >= _TABLE:
                    row += log_rising(gamma[j], n)
                    continue
                while known < n:
                    table[known + 1] = table[known] + math.log(gamma[j] + known)
                    known += 1
                row += table[n]
            start += _RUN
        result += row
    return result
