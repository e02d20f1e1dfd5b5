# SPDX-License-Identifier: BSD-3-Clause
"""Sum the weights of a word's components, eight at a time, and find where a draw falls among them.

Component k is in lane k mod 8 of a vector. The running sums of all lanes grow together, one vector
per step, and are stored; a draw first finds its lane among eight sums, then its component among the
sums of the lane. The sums are written in LLVM's instructions, because the compiler cannot know that
the sums are not part of the loadings, and would not keep them in a register.
"""

from typing import Any

import numpy as np
from llvmlite import ir

from ..compile import intrinsic, part
from .llvm import INT, LONG, add_lanes_before, load, loop, store

__all__ = [
    "LANES", "find_component", "heaviest_component", "sum_buffers", "sum_given_weights",
    "sum_weights",
]  # fmt: skip

LANES = 8

_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)


@intrinsic
def sum_weights(types, loadings, row, tail, tail_start, scores, ends, through):
    """Sum the weights loadings[row, k] scores[k] by lanes; return the sum of all.

    Parameters
    ----------
    loadings : (J, K) float32 or float64
    row : int64
    tail : array of the same type
        Read in place of the loadings from their flat element ``tail_start`` on, because vectors
        reach beyond the last row. See ``memory.copy_tail``.
    scores : (8 n,) float64
        0 beyond K; n is K / 8, rounded up.
    ends : (8 + 8 n,) float64
        Eight zeros, then an output: the running sums of each lane.
    through : (8,) float64
        Output: the sum of each lane and of those before it.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, tail, scores, ends, through = (
            context.make_array(signature.args[n])(context, builder, arguments[n])
            for n in (0, 2, 4, 5, 6)
        )
        width = builder.extract_value(table.shape, 1)
        offset = builder.mul(arguments[1], width)
        weights = builder.select(
            builder.icmp_signed("<", offset, arguments[3]),
            builder.gep(table.data, [offset]),
            builder.gep(tail.data, [builder.sub(offset, arguments[3])]),
        )

        def body(start: Any, sums: Any) -> tuple[Any]:
            weight, score = (load(builder, x, start, LANES) for x in (weights, scores.data))
            if weight.type != _DOUBLES:
                weight = builder.fpext(weight, _DOUBLES)
            sums = builder.fadd(sums, builder.fmul(weight, score))
            store(builder, sums, ends.data, builder.add(start, LONG(LANES)))
            return (sums,)

        zeros = ir.Constant(_DOUBLES, [0.0] * LANES)
        sums = add_lanes_before(builder, *loop(builder, width, (zeros,), body, LANES))
        store(builder, sums, through.data, LONG(0))
        return builder.extract_element(sums, INT(LANES - 1))

    long = types.int64
    return types.float64(loadings, long, tail, long, scores, ends, through), generate


def sum_buffers(n_components):
    """Make (scores, ends, through) for ``sum_weights`` and ``find_component``."""
    width = -(-n_components // LANES) * LANES
    return np.zeros(width), np.zeros(LANES + width), np.zeros(LANES)


@part()
def find_component(goal, through, ends):
    """Find the component in which the goal, between 0 and the sum of all, falls, lane by lane.

    Through rounding, once in about 10^12 draws, this is a component without weight or beyond the
    last.
    """
    lane = 0
    for m in range(LANES - 1):
        lane += goal >= through[m]
    left = goal - through[lane] + ends[ends.shape[0] - LANES + lane]
    k = lane
    for n in range(1, ends.shape[0] // LANES - 1):
        k += LANES * (left >= ends[lane + n * LANES])
    return k


@part()
def sum_given_weights(weights, out_ends, out_through):
    """Compute the sums of ``sum_weights`` for given weights."""
    n_components = weights.shape[0]
    last = (n_components + LANES - 1) // LANES * LANES
    for k in range(last):
        out_ends[LANES + k] = out_ends[k] + (weights[k] if k < n_components else 0.0)
    total = 0.0
    for lane in range(LANES):
        total += out_ends[last + lane]
        out_through[lane] = total
    return total


@part()
def heaviest_component(ends, n_components):
    """Component with the largest weight, for a draw that rounding led to one without weight."""
    best = 0
    for k in range(n_components):
        if ends[LANES + k] - ends[k] > ends[LANES + best] - ends[best]:
            best = k
    return best
