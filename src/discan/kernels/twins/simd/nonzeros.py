# SPDX-License-Identifier: BSD-3-Clause
"""Twins of finding the counts that are not 0."""

import numpy as np

__all__ = ["AT_A_TIME", "list_nonzeros", "lowest_bit", "nonzero_bits"]

AT_A_TIME = 64  # counts


def list_nonzeros(row):
    """Places of the counts of a row that are not 0."""
    return np.flatnonzero(row)


def nonzero_bits(counts, start):
    """Set the bits of those of 64 counts from the flat element ``start`` on that are not 0."""
    places = list_nonzeros(counts.ravel()[start : start + AT_A_TIME])
    return sum(1 << place for place in places.tolist())


def lowest_bit(bits):
    """Place of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1
