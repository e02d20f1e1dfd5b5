# SPDX-License-Identifier: BSD-3-Clause
"""Draw one of many components by their weights, sixteen at a time.

Place k is in lane k mod 16 of a vector. The running sums of all lanes grow together, one vector per
step, and are stored; a draw first finds its lane among sixteen sums, then its place among the sums
of the lane. No branch depends on the data, so the processor predicts all of them. This is written
in LLVM's instructions, because the compiler would not make it of a loop; vectors of sixteen are cut
to the size that the machine has, with the same results.
"""

from typing import Any

from llvmlite import ir

from ..compile import intrinsic
from .llvm import INT, LONG, add_lanes_before, data, element, load, loop, store

__all__ = ["LANES", "count_at", "draw_component", "draw_listed", "high_start"]

LANES = 16

_FLOAT = ir.FloatType()
_FLOATS, _INTS = ir.VectorType(_FLOAT, LANES), ir.VectorType(INT, LANES)
_ZEROS = ir.Constant(_FLOATS, [0.0] * LANES)


@intrinsic
def draw_component(
    types, slot, weights, factors, first_factor, counts, offset, highs, high_offset, tail,
    tail_start, prior, n_steps, old, own, at, late, late_weights, ends,
):  # fmt: skip
    """Draw k with probability proportional to weights[k] factors[k] (counts[offset + k] + prior).

    Same as twins.simd.weighted_draws.draw_component. Component ``old`` has probability
    proportional to ``own`` instead. The two components of ``late`` get their new weights meanwhile.

    Parameters
    ----------
    slot : int64
    weights : (n, 16 n_steps) float32
        Row ``slot`` is read; it is 0 beyond the last component.
    factors : array of float32
        16 n_steps are read from the flat element ``first_factor`` on.
    counts : array of integers
        16 n_steps are read from the flat element ``offset`` on.
    highs : array of float32, or None
        Added to the counts, from the flat element ``high_offset`` on.
    tail : array of integers
        Read in place of the counts from their flat element ``tail_start`` on.
    prior, own : float32
    at : float32
        Uniform in (0, 1).
    late : pair of int64
        Components whose weights are not yet stored; where both are the same, the second counts.
    late_weights : pair of float32
    ends : (n, 16 n_steps) float32
        Row ``slot`` is a buffer for the running sums.

    Returns
    -------
    int64
        A component. Through rounding, once in millions of draws, it has no weight or is beyond the
        last.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        slot, first_factor, offset, high_offset, tail_start = (
            arguments[n] for n in (0, 3, 5, 7, 9)
        )
        prior, n_steps, old, own, at, late, late_weights = arguments[10:17]
        weights, factors, counts, tail, ends = (
            data(context, builder, signature, arguments, n) for n in (1, 2, 4, 8, 17)
        )
        high_row = None
        if signature.args[6] is not types.none:
            high_row = builder.gep(data(context, builder, signature, arguments, 6), [high_offset])
        start = builder.mul(slot, builder.mul(n_steps, LONG(LANES)))
        weights, ends = builder.gep(weights, [start]), builder.gep(ends, [start])
        factors = builder.gep(factors, [first_factor])
        row = builder.select(
            builder.icmp_signed("<", offset, tail_start),
            builder.gep(counts, [offset]),
            builder.gep(tail, [builder.sub(offset, tail_start)]),
        )
        priors = _broadcast(builder, prior, _FLOATS)
        excluded = _broadcast_component(builder, old)
        changes = _changes(builder, late, late_weights)

        def body(step: Any, sums: Any, components: Any) -> tuple[Any, Any]:
            start = builder.mul(step, LONG(LANES))
            count = builder.sitofp(_load_integers(builder, row, start), _FLOATS)
            if high_row is not None:
                count = builder.fadd(count, load(builder, high_row, start, LANES))
            weight = load(builder, weights, start, LANES)
            weight = _with_changes(builder, weight, components, changes)
            store(builder, weight, weights, start)
            weight = builder.fmul(weight, load(builder, factors, start, LANES))
            weight = builder.fmul(weight, builder.fadd(count, priors))
            itself = builder.icmp_signed("==", components, excluded)
            sums = builder.fadd(sums, builder.select(itself, _ZEROS, weight))
            store(builder, sums, ends, start)
            return sums, builder.add(components, ir.Constant(_INTS, [LANES] * LANES))

        first = ir.Constant(_INTS, list(range(LANES)))
        sums, _ = loop(builder, n_steps, (_ZEROS, first), body)
        through = add_lanes_before(builder, sums)
        total = builder.fadd(_last(builder, through), own)
        goal = builder.fsub(builder.fmul(at, total), own)
        place = _place(builder, sums, through, ends, n_steps, goal)
        return builder.select(builder.fcmp_ordered("<", goal, _FLOAT(0.0)), old, place)

    long, real = types.int64, types.float32
    signature = long(
        long, weights, factors, long, counts, long, highs, long, tail, long, real, long, long, real,
        real, types.UniTuple(long, 2), types.UniTuple(real, 2), ends,
    )  # fmt: skip
    return signature, generate


@intrinsic
def high_start(types, high_first, word):
    """Return where the high parts of a word's counts begin; 0 if no count has any."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if signature.args[0] is types.none:
            return LONG(0)
        first = data(context, builder, signature, arguments, 0)
        return builder.zext(element(builder, first, arguments[1]), LONG)

    return types.int64(high_first, types.int64), generate


@intrinsic
def count_at(types, counts, offset, highs, high_offset):
    """Read one count as ``draw_component`` does."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low = data(context, builder, signature, arguments, 0)
        count = builder.uitofp(element(builder, low, arguments[1]), _FLOAT)
        if signature.args[2] is types.none:
            return count
        high = data(context, builder, signature, arguments, 2)
        return builder.fadd(count, element(builder, high, arguments[3]))

    return types.float32(counts, types.int64, highs, types.int64), generate


@intrinsic
def draw_listed(
    types, slot, weights, components, fractions, offset, n_steps, old, own, norm, prior, rest, at,
    late, late_weights, ends,
):  # fmt: skip
    """Draw a place in a list with probability proportional to weights[component] fraction.

    Same as twins.simd.weighted_draws.draw_listed. Component ``old`` counts as not listed; its
    probability is proportional to own (prior + count - 1), where count = fraction norm. ``rest`` is
    the weight of all that is not listed.

    Parameters
    ----------
    slot : int64
    weights : (n, width) float32
        Row ``slot`` is read, except that the two components of ``late`` have the weights
        ``late_weights``; where both are the same, the second counts.
    components, fractions : arrays of integers and of float32
        The list: 16 n_steps places from ``offset`` on, the last ones with fractions of 0.
    own, norm, prior, rest, at : float32
    ends : (n, width) float32
        Row ``slot`` is a buffer for the running sums; width is at least 16 n_steps.

    Returns
    -------
    place : int64
        In the list; -1 for ``old``. Through rounding, once in millions of draws, the fraction at
        this place is 0.
    beyond : float32
        How far the draw fell beyond the list, into ``rest``; negative if it fell on the list.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        slot, offset, n_steps, old, own, norm, prior, rest, at, late, late_weights = (
            arguments[0], *arguments[4:14]
        )  # fmt: skip
        weights, ends = (
            builder.gep(
                data(context, builder, signature, arguments, n),
                [builder.mul(slot, _width(context, builder, signature, arguments, n))],
            )
            for n in (1, 14)
        )
        components, fractions = (
            builder.gep(data(context, builder, signature, arguments, n), [offset]) for n in (2, 3)
        )
        excluded = _broadcast_component(builder, old)
        changes = _changes(builder, late, late_weights)

        def body(step: Any, sums: Any, kept: Any) -> tuple[Any, Any]:
            start = builder.mul(step, LONG(LANES))
            component = _load_integers(builder, components, start)
            fraction = load(builder, fractions, start, LANES)
            weight = _gather(builder, weights, builder.gep(components, [start]))
            weight = _with_changes(builder, weight, component, changes)
            itself = builder.icmp_signed("==", component, excluded)
            weight = builder.select(itself, _ZEROS, builder.fmul(weight, fraction))
            sums = builder.fadd(sums, weight)
            kept = builder.fadd(kept, builder.select(itself, fraction, _ZEROS))
            store(builder, sums, ends, start)
            return sums, kept

        sums, kept = loop(builder, n_steps, (_ZEROS, _ZEROS), body)
        count = _round(builder, builder.fmul(_last(builder, add_lanes_before(builder, kept)), norm))
        own = builder.fmul(own, builder.fadd(prior, builder.fsub(count, _FLOAT(1.0))))
        through = add_lanes_before(builder, sums)
        listed = _last(builder, through)
        total = builder.fadd(builder.fadd(listed, own), rest)
        goal = builder.fsub(builder.fmul(at, total), own)
        place = _place(builder, sums, through, ends, n_steps, goal)
        itself = builder.fcmp_ordered("<", goal, _FLOAT(0.0))
        place = builder.select(itself, LONG(-1), place)
        return context.make_tuple(
            builder, signature.return_type, [place, builder.fsub(goal, listed)]
        )

    long, real = types.int64, types.float32
    signature = types.Tuple((long, real))(
        long, weights, components, fractions, long, long, long, real, real, real, real, real,
        types.UniTuple(long, 2), types.UniTuple(real, 2), ends,
    )  # fmt: skip
    return signature, generate


def _changes(builder: Any, late: Any, late_weights: Any) -> list[tuple[Any, Any]]:
    """Broadcast the components of ``late`` and their weights."""
    return [
        (
            _broadcast_component(builder, builder.extract_value(late, n)),
            _broadcast(builder, builder.extract_value(late_weights, n), _FLOATS),
        )
        for n in (0, 1)
    ]


def _with_changes(builder: Any, weight: Any, components: Any, changes: Any) -> Any:
    """Insert the weights that are not yet stored."""
    for component, late_weight in changes:
        itself = builder.icmp_signed("==", components, component)
        weight = builder.select(itself, late_weight, weight)
    return weight


def _place(builder: Any, sums: Any, through: Any, ends: Any, n_steps: Any, goal: Any) -> Any:
    """Find where the goal falls, lane by lane."""
    passed = builder.fcmp_ordered("<=", through, _broadcast(builder, goal, _FLOATS))
    lane = _count_bits(builder, passed)
    last = LONG(LANES - 1)
    lane = builder.select(builder.icmp_signed("<", lane, last), lane, last)
    before = builder.extract_element(builder.fsub(through, sums), builder.trunc(lane, INT))
    step = _steps_passed(builder, ends, lane, builder.fsub(goal, before), n_steps)
    return builder.add(builder.mul(step, LONG(LANES)), lane)


def _steps_passed(builder: Any, ends: Any, lane: Any, goal: Any, n_steps: Any) -> Any:
    """Count the partial sums of the lane that are not above the goal, except the last one."""

    def body(step: Any, passed: Any) -> tuple[Any]:
        place = builder.add(builder.mul(step, LONG(LANES)), lane)
        below = builder.fcmp_ordered("<=", element(builder, ends, place), goal)
        return (builder.add(passed, builder.zext(below, LONG)),)

    return loop(builder, builder.sub(n_steps, LONG(1)), (LONG(0),), body)[0]


def _width(context: Any, builder: Any, signature: Any, arguments: Any, which: int) -> Any:
    array = context.make_array(signature.args[which])(context, builder, arguments[which])
    return builder.extract_value(array.shape, 1)


def _load_integers(builder: Any, start: Any, at: Any) -> Any:
    """Load sixteen integers of at most 32 bits."""
    integers = load(builder, start, at, LANES)
    return integers if integers.type == _INTS else builder.zext(integers, _INTS)


def _gather(builder: Any, start: Any, places: Any) -> Any:
    """Load sixteen floats one by one: a machine's gather instruction is no faster.

    The places are loaded one by one, too: extracting them from a vector is slower.
    """
    result = ir.Constant(_FLOATS, ir.Undefined)
    for lane in range(LANES):
        place = builder.zext(element(builder, places, INT(lane)), LONG)
        result = builder.insert_element(result, element(builder, start, place), INT(lane))
    return result


def _last(builder: Any, sums: Any) -> Any:
    return builder.extract_element(sums, INT(LANES - 1))


def _round(builder: Any, value: Any) -> Any:
    nearest = builder.module.declare_intrinsic("llvm.rint", [_FLOAT])
    return builder.call(nearest, [value])


def _broadcast(builder: Any, value: Any, kind: Any) -> Any:
    """Put one value into all lanes."""
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, value, INT(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(_INTS, [0] * LANES))


def _broadcast_component(builder: Any, component: Any) -> Any:
    return _broadcast(builder, builder.trunc(component, INT), _INTS)


def _count_bits(builder: Any, truths: Any) -> Any:
    bits = builder.bitcast(truths, ir.IntType(LANES))
    count = builder.module.declare_intrinsic("llvm.ctpop", [bits.type])
    return builder.zext(builder.call(count, [bits]), LONG)
