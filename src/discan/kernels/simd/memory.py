# SPDX-License-Identifier: BSD-3-Clause
"""Ask for memory before it is needed, and room to work in.

Kernels jump from word to word, and a row of a large matrix is seldom in the cache. The words to
come are known, so their rows can be on the way while the present one is worked on: twice the speed.
It never changes a result.
"""

import math

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ..compile import kernel, part

__all__ = [
    "aligned", "copy", "copy_tail", "fill", "prefetch", "prefetch_row", "prefetch_row_behind",
    "work_rows",
]  # fmt: skip

_APART = 128  # numbers: more than are worked on at a time
_LINE = 64  # bytes of a cache line, on every machine we know of
# From row to row there are this many numbers and any number of times 1024, a page or two: rows are
# then at least 512 bytes from a whole number of pages apart, in single and in double precision.
_PAGE, _BEYOND = 1024, 144


def _fetching(level):
    """Make a function that fetches into a cache: 3 is the nearest, 2 the one behind it."""

    @intrinsic
    def fetch(context, array, offset):
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
    """Fetch a row into the second cache, lest it push what is worked on out of the first."""
    width = matrix.shape[1]
    for column in range(0, width, _LINE // matrix.itemsize):
        _prefetch_behind(matrix, row * width + column)


@kernel()
def work_rows(n, width, dtype):
    """Make n + 2 rows to work in, of at least ``width``; the first and the last are not for use.

    A compiled loop that writes to one array and reads from another looks at their addresses: if
    one begins shortly behind the other it goes number by number, with other roundings. Rows that
    are far from each other, and from whatever lies beside them, never come to that: small arrays
    made one by one would, depending on what else the process has in memory.

    Nor are rows nearly a whole number of pages apart: a processor that reads one shortly behind
    where it wrote another would take them for the same, and wait.
    """
    room = max(width, _APART)
    return np.empty((n + 2, room + (_BEYOND - room) % _PAGE), dtype)


@part()
def copy(source, n, out):
    """Copy the first n numbers: compiled in a fraction of the time of a slice."""
    for m in range(n):
        out[m] = source[m]


@part()
def fill(out, value):
    """Set all numbers to the same: again, faster to compile than a slice."""
    for m in range(out.shape[0]):
        out[m] = value


def aligned(shape, dtype):
    """Make zeros that begin with a cache line: sixteen numbers across two are read slower."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + _LINE, dtype=np.uint8)
    first = -room.ctypes.data % _LINE
    return room[first : first + n_bytes].view(dtype).reshape(shape)


def copy_tail(matrix, n_lanes):
    """Copy the end of a matrix, with room behind it, and say where in its flat elements it begins.

    Rows that are read so many numbers at a time are read beyond their end: of the last ones, from
    here.
    """
    flat = matrix.reshape(-1)
    width = -(-matrix.shape[1] // n_lanes) * n_lanes
    start = max(0, len(flat) - width)
    tail = np.zeros(2 * width, dtype=matrix.dtype)
    tail[: len(flat) - start] = flat[start:]
    return tail, start
