# SPDX-License-Identifier: BSD-3-Clause
"""Twin of the co-occurrences of words."""

import numpy as np

from .documents import each_document

__all__ = ["add_co_occurrences"]


def add_co_occurrences(indptr, words, counts, columns, signs, sums, totals):
    """Add the other words of each word's documents; return the sums (J, M) and totals (J,)."""
    sums, totals = sums.copy(), totals.copy()
    for _, w, n in each_document(indptr, words, counts):
        others = n[None, :] * (1 - np.eye(len(w)))  # per word
        fraction = n / n.sum()
        for j, row, part in zip(w, others, fraction, strict=True):
            np.add.at(sums[j], columns[w], part * signs[w] * row)
            totals[j] += part * row.sum()
    return sums, totals
