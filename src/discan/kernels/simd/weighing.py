# SPDX-License-Identifier: BSD-3-Clause
"""Weigh the components of a word, eight at a time, and find where a draw falls among them.

Component k is in lane k mod 8. Running sums of all lanes grow together, a vector at a time, and are
written down; then one lane is found among eight sums, and one component among the lane's. Only the
sums are written in LLVM's own language, because a loop would not become this: the compiler cannot
know that the sums are not part of the table, and would not keep them in a register.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ..compile import part

__all__ = ["LANES", "find_component", "make_room", "weigh"]

LANES = 8

_INT, _LONG, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_DOUBLES = ir.VectorType(_DOUBLE, LANES)


@intrinsic
def weigh(context, loadings, row, tail, tail_start, scores, ends, through):
    """Sum the weights loadings[row, k] scores[k] by lanes; return the sum of all.

    Parameters
    ----------
    loadings : (J, K) float32 or float64
    row : int64
    tail : array of the same type
        What is read instead from the flat element ``tail_start`` of the loadings on: lanes reach
        beyond the last row. See ``memory.copy_tail``.
    scores : (8 n,) float64
        0 beyond K; n is K / 8, rounded up.
    ends : (8 + 8 n,) float64
        Gets the running sums of each lane, from its ninth number on; zeros before.
    through : (8,) float64
        Gets the sums of each lane and those before it.
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
        sums = _sum_up(builder, weights, width, scores.data, ends.data)
        sums = _sums_of_lanes(builder, sums)
        builder.store(sums, _eight(builder, through.data, _LONG(0)), align=8)
        return builder.extract_element(sums, _INT(LANES - 1))

    long = types.int64
    return types.float64(loadings, long, tail, long, scores, ends, through), generate


def make_room(n_components):
    """Make (scores, ends, through) for ``weigh`` and ``find_component``."""
    width = -(-n_components // LANES) * LANES
    return np.zeros(width), np.zeros(LANES + width), np.zeros(LANES)


@part()
def find_component(goal, through, ends):
    """Find the component in which the goal falls, of 0 to the sum of all, lane after lane.

    By rounding, once in millions of millions, it is one without weight or beyond the last.
    """
    lane = 0
    for m in range(LANES - 1):
        lane += goal >= through[m]
    left = goal - through[lane] + ends[ends.shape[0] - LANES + lane]
    k = lane
    for n in range(1, ends.shape[0] // LANES - 1):
        k += LANES * (left >= ends[lane + n * LANES])
    return k


def _sum_up(builder: Any, weights: Any, n: Any, scores: Any, ends: Any) -> Any:
    """Add up n weights times scores, eight at a time, and write the sums down."""
    before = builder.block
    head, inside, after = (builder.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    start, sums = builder.phi(_LONG), builder.phi(_DOUBLES)
    start.add_incoming(_LONG(0), before)
    sums.add_incoming(ir.Constant(_DOUBLES, [0.0] * LANES), before)
    builder.cbranch(builder.icmp_signed("<", start, n), inside, after)
    builder.position_at_end(inside)
    kind = weights.type.pointee
    weight = builder.load(_eight(builder, weights, start), align=8 if kind == _DOUBLE else 4)
    score = builder.load(_eight(builder, scores, start), align=8)
    more = builder.fadd(sums, builder.fmul(_as_doubles(builder, weight), score))
    following = builder.add(start, _LONG(LANES))
    builder.store(more, _eight(builder, ends, following), align=8)
    sums.add_incoming(more, inside)
    start.add_incoming(following, inside)
    builder.branch(head)
    builder.position_at_end(after)
    return sums


def _sums_of_lanes(builder: Any, sums: Any) -> Any:
    """Add to every lane those before it.

    In runs of 2, 4 and 8 lanes, the upper half of a run takes the last sum of its lower half.
    """
    half = 1
    while half < LANES:
        upper = [lane // half % 2 for lane in range(LANES)]
        source = [lane // half * half - 1 if upper[lane] else lane for lane in range(LANES)]
        order = ir.Constant(ir.VectorType(_INT, LANES), source)
        moved = builder.shuffle_vector(sums, sums, order)
        taken = ir.Constant(_DOUBLES, [float(here) for here in upper])
        sums = builder.fadd(sums, builder.fmul(moved, taken))
        half *= 2
    return sums


def _eight(builder: Any, start: Any, at: Any) -> Any:
    kind = ir.VectorType(start.type.pointee, LANES)
    return builder.bitcast(builder.gep(start, [at]), kind.as_pointer())


def _as_doubles(builder: Any, values: Any) -> Any:
    return values if values.type == _DOUBLES else builder.fpext(values, _DOUBLES)
