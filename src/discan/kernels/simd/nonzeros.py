# SPDX-License-Identifier: BSD-3-Clause
"""Find the counts of a row that are not 0: most are, and 64 of them are tested at a time."""

from typing import Any

import numpy as np
from llvmlite import ir

from ..compile import intrinsic, part
from .llvm import LONG, data, load

__all__ = ["AT_A_TIME", "list_nonzeros", "lowest_bit", "nonzero_bits"]

AT_A_TIME = 64  # counts


@part()
def list_nonzeros(row, first, out_places):
    """List the places of the non-zero counts of a row, ascending; return how many there are.

    They are written to ``out_places`` from element ``first`` on, which needs one element more.
    """
    n_components = row.shape[0]
    begin, start = np.uint64(first), 0
    place = begin
    while start + AT_A_TIME <= n_components:
        bits = nonzero_bits(row, start)
        while bits != 0:
            out_places[place] = np.uint64(start) + lowest_bit(bits)
            place += np.uint64(1)
            bits &= bits - np.uint64(1)
        start += AT_A_TIME
    for k in range(start, n_components):
        out_places[place] = k  # written without a branch; overwritten if the count is 0
        place += np.uint64(row[k] != 0)
    return np.int64(place - begin)


@intrinsic
def nonzero_bits(types, counts, start):
    """Set the bits of those of 64 counts from the flat element ``start`` on that are not 0.

    Same as twins.simd.nonzeros.nonzero_bits. The first count has the lowest bit.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = load(
            builder, data(context, builder, signature, arguments, 0), arguments[1], AT_A_TIME
        )
        zeros = ir.Constant(found.type, [0] * AT_A_TIME)
        return builder.bitcast(builder.icmp_unsigned("!=", found, zeros), LONG)

    return types.uint64(counts, types.int64), generate


@intrinsic
def lowest_bit(types, bits):
    """Place of the lowest bit of a uint64 that is set. Same as twins.simd.nonzeros.lowest_bit."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate
