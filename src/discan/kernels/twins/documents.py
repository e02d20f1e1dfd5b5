# SPDX-License-Identifier: BSD-3-Clause
"""Iterate over the documents and tokens of a block."""

from itertools import pairwise

import numpy as np

__all__ = ["each_document", "each_token"]


def each_document(indptr, *arrays):
    """Yield the index of each document and its part of each array."""
    for i, (start, stop) in enumerate(pairwise(indptr)):
        yield i, *(array[start:stop] for array in arrays)


def each_token(indptr, *arrays, counts):
    """Document of each token, and arrays with one entry per stored count, repeated per token."""
    documents = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    stored = slice(indptr[0], indptr[-1])
    n = counts[stored]
    return np.repeat(documents, n), *(np.repeat(array[stored], n) for array in arrays)
