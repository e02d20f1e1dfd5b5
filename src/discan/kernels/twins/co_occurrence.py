# SPDX-License-Identifier: BSD-3-Clause
"""Twin of the co-occurrences of words."""

import numpy as np

from .documents import each_document

__all__ = ["add_co_occurrences"]


def add_co_occurrences(indptr, words, counts, columns, signs, company, totals):
    """Add what stands beside each word of the documents; return the company (J, M), totals (J,)."""
    company, totals = company.copy(), totals.copy()
    for _, w, n in each_document(indptr, words, counts):
        beside = n[None, :] * (1 - np.eye(len(w)))  # of each word, all the others
        share = n / n.sum()
        for j, row, part in zip(w, beside, share, strict=True):
            np.add.at(company[j], columns[w], part * signs[w] * row)
            totals[j] += part * row.sum()
    return company, totals
