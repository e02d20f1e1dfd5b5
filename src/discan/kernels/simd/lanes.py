# SPDX-License-Identifier: BSD-3-Clause
"""Draw one of many components by their weights, sixteen at a time.

Places are dealt out to lanes: place k is in lane k mod 16. Running sums of all lanes grow together,
a vector at a time, and are written down; then one lane is found among sixteen sums, and one place
among the lane's. There is no branch that depends on the data, so nothing is guessed wrong. Written
in LLVM's own language, because a loop would not become this: vectors of sixteen are cut to whatever
the machine has, with the same results.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

__all__ = [
    "GLANCE",
    "LANES",
    "count_at",
    "draw_component",
    "draw_listed",
    "glance",
    "high_start",
    "lowest",
]

LANES = 16
GLANCE = 64  # numbers that are looked at together

_FLOAT, _INT, _LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_FLOATS, _INTS = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)
_PAIR, _REAL_PAIR = types.UniTuple(types.int64, 2), types.UniTuple(types.float32, 2)
_ZEROS = ir.Constant(_FLOATS, [0.0] * LANES)


@intrinsic
def draw_component(
    context, slot, weights, factors, first_factor, counts, offset, highs, high_offset, tail,
    tail_start, prior, n_steps, old, own, at, late, late_weights, ends,
):  # fmt: skip
    """Draw k with probability proportional to weights[k] factors[k] (counts[offset + k] + prior).

    Same as twins.draw_component. Component ``old`` has probability proportional to ``own``
    instead. On the way the two components of ``late`` get their new weights.

    Parameters
    ----------
    slot : int64
    weights : (n, 16 n_steps) float32
        Row ``slot`` is read; 0 from the last component on.
    factors : array of float32
        16 n_steps are read from the flat element ``first_factor`` on.
    counts : array of integers
        16 n_steps are read from the flat element ``offset`` on.
    highs : array of float32, or None
        What is to be added to the counts, from the flat element ``high_offset`` on.
    tail : array of integers
        What is read instead from the flat element ``tail_start`` of the counts on.
    prior, own : float32
    at : float32
        Uniform in (0, 1).
    late : pair of int64
        Components whose weights are not yet written down; the second goes before the first.
    late_weights : pair of float32
    ends : (n, 16 n_steps) float32
        Row ``slot`` is room for the running sums.

    Returns
    -------
    int64
        A component; by rounding, once in millions of draws, one without weight or beyond the last.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        slot, first_factor, offset, high_offset, tail_start = (
            arguments[n] for n in (0, 3, 5, 7, 9)
        )
        prior, n_steps, old, own, at, late, late_weights = arguments[10:17]
        weights, factors, counts, tail, ends = (
            _data(context, builder, signature, arguments, n) for n in (1, 2, 4, 8, 17)
        )
        high_row = None
        if signature.args[6] is not types.none:
            high_row = builder.gep(_data(context, builder, signature, arguments, 6), [high_offset])
        start = builder.mul(slot, builder.mul(n_steps, _LONG(LANES)))
        weights, ends = builder.gep(weights, [start]), builder.gep(ends, [start])
        factors = builder.gep(factors, [first_factor])
        row = builder.select(
            builder.icmp_signed("<", offset, tail_start),
            builder.gep(counts, [offset]),
            builder.gep(tail, [builder.sub(offset, tail_start)]),
        )
        priors = _spread(builder, prior, _FLOATS)
        excluded = _spread_component(builder, old)
        changes = _changes(builder, late, late_weights)

        def body(step: Any, sums: Any, components: Any) -> tuple[Any, Any]:
            start = builder.mul(step, _LONG(LANES))
            count = _load_numbers(builder, signature.args[4].dtype, row, start)
            count = builder.sitofp(count, _FLOATS)
            if high_row is not None:
                high = builder.load(_vector(builder, high_row, start, _FLOATS), align=4)
                count = builder.fadd(count, high)
            place = _vector(builder, weights, start, _FLOATS)
            weight = _changed(builder, builder.load(place, align=4), components, changes)
            builder.store(weight, place, align=4)
            factor = builder.load(_vector(builder, factors, start, _FLOATS), align=4)
            weight = builder.fmul(weight, factor)
            weight = builder.fmul(weight, builder.fadd(count, priors))
            itself = builder.icmp_signed("==", components, excluded)
            sums = builder.fadd(sums, builder.select(itself, _ZEROS, weight))
            builder.store(sums, _vector(builder, ends, start, _FLOATS), align=4)
            return sums, builder.add(components, ir.Constant(_INTS, [LANES] * LANES))

        first = ir.Constant(_INTS, list(range(LANES)))
        sums, _ = _loop(builder, n_steps, (_ZEROS, first), body)
        through = _sums_of_lanes(builder, sums)
        total = builder.fadd(_last(builder, through), own)
        goal = builder.fsub(builder.fmul(at, total), own)
        place = _place(builder, sums, through, ends, n_steps, goal)
        return builder.select(builder.fcmp_ordered("<", goal, _FLOAT(0.0)), old, place)

    long, real = types.int64, types.float32
    signature = long(
        long, weights, factors, long, counts, long, highs, long, tail, long, real, long, long, real,
        real, _PAIR, _REAL_PAIR, ends,
    )  # fmt: skip
    return signature, generate


@intrinsic
def high_start(context, high_first, word):
    """Tell where the high parts of a word's counts begin; 0 if no count has any."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if signature.args[0] is types.none:
            return _LONG(0)
        start = builder.load(
            builder.gep(_data(context, builder, signature, arguments, 0), [arguments[1]])
        )
        return builder.zext(start, _LONG)

    return types.int64(high_first, types.int64), generate


@intrinsic
def count_at(context, counts, offset, highs, high_offset):
    """Read one count as ``draw_component`` does."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low = builder.load(
            builder.gep(_data(context, builder, signature, arguments, 0), [arguments[1]])
        )
        count = builder.uitofp(low, _FLOAT)
        if signature.args[2] is types.none:
            return count
        high = builder.load(
            builder.gep(_data(context, builder, signature, arguments, 2), [arguments[3]])
        )
        return builder.fadd(count, high)

    return types.float32(counts, types.int64, highs, types.int64), generate


@intrinsic
def draw_listed(
    context, slot, weights, components, shares, offset, n_steps, old, own, norm, prior, rest, at,
    late, late_weights, ends,
):  # fmt: skip
    """Draw a place in a list with probability proportional to weights[component] share.

    Same as twins.draw_listed. Component ``old`` is not in the list for this, but has
    probability proportional to own (prior + count - 1), where count = share norm; ``rest`` is for
    all that is not listed.

    Parameters
    ----------
    slot : int64
    weights : (n, width) float32
        Row ``slot`` is read, but for the two components of ``late``, which have the weights
        ``late_weights``; the second goes before the first.
    components, shares : arrays of integers and of float32
        The list: 16 n_steps places from ``offset`` on, the last ones with shares of 0.
    own, norm, prior, rest, at : float32
    ends : (n, width) float32
        Row ``slot`` is room for the running sums, width at least 16 n_steps.

    Returns
    -------
    place : int64
        In the list; -1 for ``old``; by rounding, once in millions of draws, one with share 0.
    beyond : float32
        How far the draw went beyond the list, into ``rest``; negative if it did not.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        slot, offset, n_steps, old, own, norm, prior, rest, at, late, late_weights = (
            arguments[0], *arguments[4:14]
        )  # fmt: skip
        weights, ends = (
            builder.gep(
                _data(context, builder, signature, arguments, n),
                [builder.mul(slot, _width(context, builder, signature, arguments, n))],
            )
            for n in (1, 14)
        )
        components, shares = (
            builder.gep(_data(context, builder, signature, arguments, n), [offset]) for n in (2, 3)
        )
        excluded = _spread_component(builder, old)
        changes = _changes(builder, late, late_weights)

        def body(step: Any, sums: Any, kept: Any) -> tuple[Any, Any]:
            start = builder.mul(step, _LONG(LANES))
            component = _load_numbers(builder, signature.args[2].dtype, components, start)
            share = builder.load(_vector(builder, shares, start, _FLOATS), align=4)
            weight = _changed(
                builder,
                _gather(builder, weights, builder.gep(components, [start])),
                component,
                changes,
            )
            itself = builder.icmp_signed("==", component, excluded)
            weight = builder.select(itself, _ZEROS, builder.fmul(weight, share))
            sums = builder.fadd(sums, weight)
            kept = builder.fadd(kept, builder.select(itself, share, _ZEROS))
            builder.store(sums, _vector(builder, ends, start, _FLOATS), align=4)
            return sums, kept

        sums, kept = _loop(builder, n_steps, (_ZEROS, _ZEROS), body)
        count = _round(builder, builder.fmul(_last(builder, _sums_of_lanes(builder, kept)), norm))
        own = builder.fmul(own, builder.fadd(prior, builder.fsub(count, _FLOAT(1.0))))
        through = _sums_of_lanes(builder, sums)
        listed = _last(builder, through)
        total = builder.fadd(builder.fadd(listed, own), rest)
        goal = builder.fsub(builder.fmul(at, total), own)
        place = _place(builder, sums, through, ends, n_steps, goal)
        itself = builder.fcmp_ordered("<", goal, _FLOAT(0.0))
        place = builder.select(itself, _LONG(-1), place)
        return context.make_tuple(
            builder, signature.return_type, [place, builder.fsub(goal, listed)]
        )

    long, real = types.int64, types.float32
    signature = types.Tuple((long, real))(
        long, weights, components, shares, long, long, long, real, real, real, real, real, _PAIR,
        _REAL_PAIR, ends,
    )  # fmt: skip
    return signature, generate


@intrinsic
def glance(context, numbers, start):
    """Tell which of 64 whole numbers from the flat element ``start`` on are not 0, by bits.

    Same as twins.glance; the first number has the lowest bit.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(ir.IntType(signature.args[0].dtype.bitwidth), GLANCE)
        data = _data(context, builder, signature, arguments, 0)
        place = _vector(builder, data, arguments[1], kind)
        found = builder.load(place, align=kind.element.width // 8)
        return builder.bitcast(
            builder.icmp_unsigned("!=", found, ir.Constant(kind, [0] * GLANCE)), _LONG
        )

    return types.uint64(numbers, types.int64), generate


@intrinsic
def lowest(context, bits):
    """Give the number of the lowest bit of a uint64 that is set. Same as twins.lowest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


def _changes(builder: Any, late: Any, late_weights: Any) -> list[tuple[Any, Any]]:
    return [
        (
            _spread_component(builder, builder.extract_value(late, n)),
            _spread(builder, builder.extract_value(late_weights, n), _FLOATS),
        )
        for n in (0, 1)
    ]


def _changed(builder: Any, weight: Any, components: Any, changes: list[tuple[Any, Any]]) -> Any:
    """Put in weights that are not yet written down."""
    for component, late_weight in changes:
        itself = builder.icmp_signed("==", components, component)
        weight = builder.select(itself, late_weight, weight)
    return weight


def _place(builder: Any, sums: Any, through: Any, ends: Any, n_steps: Any, goal: Any) -> Any:
    """Find where the goal falls, lane after lane."""
    passed = builder.fcmp_ordered("<=", through, _spread(builder, goal, _FLOATS))
    lane = _count_bits(builder, passed)
    last = _LONG(LANES - 1)
    lane = builder.select(builder.icmp_signed("<", lane, last), lane, last)
    before = builder.extract_element(builder.fsub(through, sums), builder.trunc(lane, _INT))
    step = _steps_passed(builder, ends, lane, builder.fsub(goal, before), n_steps)
    return builder.add(builder.mul(step, _LONG(LANES)), lane)


def _sums_of_lanes(builder: Any, sums: Any) -> Any:
    """Add to every lane those before it.

    In runs of 2, 4, 8 and 16 lanes, the upper half of a run takes the last sum of its lower half.
    Shifts by 1, 2, 4 and 8 would do as well, but shifting in zeros is slow on some machines.
    """
    half = 1
    while half < LANES:
        upper = [lane // half % 2 for lane in range(LANES)]
        source = [lane // half * half - 1 if upper[lane] else lane for lane in range(LANES)]
        moved = builder.shuffle_vector(sums, sums, ir.Constant(_INTS, source))
        taken = ir.Constant(_FLOATS, [float(here) for here in upper])
        sums = builder.fadd(sums, builder.fmul(moved, taken))
        half *= 2
    return sums


def _steps_passed(builder: Any, ends: Any, lane: Any, goal: Any, n_steps: Any) -> Any:
    """Count the partial sums of the lane that are not above the goal, the last one aside."""

    def body(step: Any, passed: Any) -> tuple[Any]:
        place = builder.add(builder.mul(step, _LONG(LANES)), lane)
        end = builder.load(builder.gep(ends, [place]))
        below = builder.fcmp_ordered("<=", end, goal)
        return (builder.add(passed, builder.zext(below, _LONG)),)

    return _loop(builder, builder.sub(n_steps, _LONG(1)), (_LONG(0),), body)[0]


# ---- the language ----


def _loop(builder: Any, n: Any, values: tuple[Any, ...], body: Callable[..., Any]) -> list[Any]:
    """Call ``body(step, *values)``, which returns the next values, n times; return the last."""
    before = builder.block
    head, inside, after = (builder.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    step = builder.phi(_LONG)
    current = [builder.phi(value.type) for value in values]
    for phi, value in zip([step, *current], [_LONG(0), *values], strict=True):
        phi.add_incoming(value, before)
    builder.cbranch(builder.icmp_signed("<", step, n), inside, after)
    builder.position_at_end(inside)
    changed = body(step, *current)
    for phi, value in zip([step, *current], [builder.add(step, _LONG(1)), *changed], strict=True):
        phi.add_incoming(value, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return current


def _data(context: Any, builder: Any, signature: Any, arguments: Any, which: int) -> Any:
    return context.make_array(signature.args[which])(context, builder, arguments[which]).data


def _width(context: Any, builder: Any, signature: Any, arguments: Any, which: int) -> Any:
    array = context.make_array(signature.args[which])(context, builder, arguments[which])
    return builder.extract_value(array.shape, 1)


def _vector(builder: Any, start: Any, at: Any, kind: Any) -> Any:
    return builder.bitcast(builder.gep(start, [at]), kind.as_pointer())


def _load_numbers(builder: Any, dtype: Any, start: Any, at: Any) -> Any:
    """Load sixteen whole numbers of at most 32 bits."""
    kind = ir.VectorType(ir.IntType(dtype.bitwidth), LANES)
    numbers = builder.load(_vector(builder, start, at, kind), align=dtype.bitwidth // 8)
    return numbers if dtype.bitwidth == 32 else builder.zext(numbers, _INTS)


def _gather(builder: Any, start: Any, places: Any) -> Any:
    """Load sixteen floats, one by one: machines' own gathering is no faster.

    The places are loaded one by one, too: taking them out of a vector is slower.
    """
    result = ir.Constant(_FLOATS, ir.Undefined)
    for lane in range(LANES):
        place = builder.zext(builder.load(builder.gep(places, [_INT(lane)])), _LONG)
        value = builder.load(builder.gep(start, [place]))
        result = builder.insert_element(result, value, _INT(lane))
    return result


def _last(builder: Any, sums: Any) -> Any:
    return builder.extract_element(sums, _INT(LANES - 1))


def _round(builder: Any, value: Any) -> Any:
    nearest = builder.module.declare_intrinsic("llvm.rint", [_FLOAT])
    return builder.call(nearest, [value])


def _spread(builder: Any, value: Any, kind: Any) -> Any:
    """Put one value into all lanes."""
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, value, _INT(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(_INTS, [0] * LANES))


def _spread_component(builder: Any, component: Any) -> Any:
    return _spread(builder, builder.trunc(component, _INT), _INTS)


def _count_bits(builder: Any, truths: Any) -> Any:
    bits = builder.bitcast(truths, ir.IntType(LANES))
    count = builder.module.declare_intrinsic("llvm.ctpop", [bits.type])
    return builder.zext(builder.call(count, [bits]), _LONG)
