# SPDX-License-Identifier: BSD-3-Clause
"""Prefetching and scratch buffers.

Kernels that jump from word to word are memory-bound: a row of a large matrix is seldom in the
cache. The next words are known, so their rows are fetched while the current row is used. That
doubles the speed, and never changes a result.
"""

import math

import numpy as np
from llvmlite import ir

from ..compile import intrinsic, part

__all__ = [
    "aligned", "copy", "copy_tail", "fill", "prefetch", "prefetch_row", "prefetch_row_behind",
    "work_rows",
]  # fmt: skip

_APART = 128  # elements: more than one vector instruction uses
_LINE = 64  # bytes of a cache line
# The width of a row is _BEYOND plus a multiple of _PAGE (one or two pages): the distance of two
# rows differs from whole pages by at least 512 bytes, in single and in double precision.
_PAGE, _BEYOND = 1024, 144


def _fetching(level):
    """Make a function that fetches into the first cache (level 3) or the second (level 2)."""

    @intrinsic
    def fetch(types, array, offset):
        """Fetch the cache line of element ``offset`` of a C-contiguous array's flat elements."""

        def generate(context, builder, signature, arguments):
            array_type = signature.args[0]
            data = context.make_array(array_type)(context, builder, arguments[0]).data
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
            shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            call = builder.module.declare_intrinsic("llvm.prefetch", [byte], shape)
            builder.call(call, [address, number(0), number(level), number(1)])  # to read, data
            return context.get_dummy_value()

        return types.void(array, types.intp), generate

    return fetch


prefetch = _fetching(3)
_prefetch_behind = _fetching(2)


@part()
def prefetch_row(matrix, row):
    """Fetch all cache lines of a row of a C-contiguous matrix."""
    width = matrix.shape[1]
    for column in range(0, width, _LINE // matrix.itemsize):
        prefetch(matrix, row * width + column)


@part()
def prefetch_row_behind(matrix, row):
    """Fetch a row into the second cache, so that it evicts nothing from the first."""
    width = matrix.shape[1]
    for column in range(0, width, _LINE // matrix.itemsize):
        _prefetch_behind(matrix, row * width + column)


def work_rows(n, width, dtype):
    """Allocate n + 2 rows of at least ``width``; the first and the last must not be used.

    A compiled loop that writes to one array and reads from another compares their addresses. If one
    begins shortly after the other, the loop takes one element at a time, with different rounding.
    That never happens with rows that are far from each other and from neighbouring memory. It would
    happen with small arrays allocated one by one, depending on what else is in memory.

    The distance of two rows is also not nearly a whole number of pages: a processor that reads from
    one row shortly after it wrote to the same place of another page waits for the write.
    """
    least = max(width, _APART)
    return np.empty((n + 2, least + (_BEYOND - least) % _PAGE), dtype)


@part()
def copy(source, n, out):
    """Copy the first n elements; faster to compile than a slice."""
    for m in range(n):
        out[m] = source[m]


@part()
def fill(out, value):
    """Set all elements to one value; faster to compile than a slice."""
    for m in range(out.shape[0]):
        out[m] = value


def aligned(shape, dtype):
    """Allocate zeros from the start of a cache line: vectors across two lines are read slower."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(n_bytes + _LINE, dtype=np.uint8)
    first = -raw.ctypes.data % _LINE
    return raw[first : first + n_bytes].view(dtype).reshape(shape)


def copy_tail(matrix, n_lanes):
    """Copy the end of a matrix and pad it; return also where in the flat elements the copy begins.

    Vectors of ``n_lanes`` elements reach beyond the end of a row. The last rows are read from this
    copy instead.
    """
    flat = matrix.reshape(-1)
    width = -(-matrix.shape[1] // n_lanes) * n_lanes
    start = max(0, len(flat) - width)
    tail = np.zeros(2 * width, dtype=matrix.dtype)
    tail[: len(flat) - start] = flat[start:]
    return tail, start
