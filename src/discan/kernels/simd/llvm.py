# SPDX-License-Identifier: BSD-3-Clause
"""Building blocks of code in LLVM's instructions: loops, and vectors in arrays."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

__all__ = ["INT", "LONG", "add_lanes_before", "data", "element", "load", "loop", "store"]

INT, LONG = ir.IntType(32), ir.IntType(64)


def loop(
    builder: Any, n: Any, values: tuple[Any, ...], body: Callable[..., Any], by: int = 1
) -> list[Any]:
    """Repeat ``values = body(step, *values)`` for step in range(0, n, by); return the last."""
    before = builder.block
    head, inside, after = (builder.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    step = builder.phi(LONG)
    current = [builder.phi(value.type) for value in values]
    for phi, value in zip([step, *current], [LONG(0), *values], strict=True):
        phi.add_incoming(value, before)
    builder.cbranch(builder.icmp_signed("<", step, n), inside, after)
    builder.position_at_end(inside)
    changed = body(step, *current)
    for phi, value in zip([step, *current], [builder.add(step, LONG(by)), *changed], strict=True):
        phi.add_incoming(value, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return current


def data(context: Any, builder: Any, signature: Any, arguments: Any, which: int) -> Any:
    """Return the address of the first element of an argument that is an array."""
    return context.make_array(signature.args[which])(context, builder, arguments[which]).data


def element(builder: Any, start: Any, at: Any) -> Any:
    """Load one element of an array."""
    return builder.load(builder.gep(start, [at]))


def load(builder: Any, start: Any, at: Any, n: int) -> Any:
    """Load a vector of n elements of an array, from element ``at`` on."""
    return builder.load(_vector(builder, start, at, n), align=_n_bytes(start.type.pointee))


def store(builder: Any, vector: Any, start: Any, at: Any) -> None:
    """Store a vector in an array, from element ``at`` on."""
    place = _vector(builder, start, at, vector.type.count)
    builder.store(vector, place, align=_n_bytes(vector.type.element))


def add_lanes_before(builder: Any, vector: Any) -> Any:
    """Add to every lane of a vector of floats all lanes before it.

    In runs of 2, 4, 8, ... lanes, the upper half of a run adds the last lane of its lower half.
    Shifts by 1, 2, 4, ... would do as well, but shifting in zeros is slow on some machines.
    """
    n, half = vector.type.count, 1
    while half < n:
        upper = [lane // half % 2 for lane in range(n)]
        source = [lane // half * half - 1 if upper[lane] else lane for lane in range(n)]
        order = ir.Constant(ir.VectorType(INT, n), source)
        moved = builder.shuffle_vector(vector, vector, order)
        taken = ir.Constant(vector.type, [float(here) for here in upper])
        vector = builder.fadd(vector, builder.fmul(moved, taken))
        half *= 2
    return vector


def _vector(builder: Any, start: Any, at: Any, n: int) -> Any:
    kind = ir.VectorType(start.type.pointee, n)
    return builder.bitcast(builder.gep(start, [at]), kind.as_pointer())


def _n_bytes(kind: Any) -> int:
    if isinstance(kind, ir.IntType):
        return kind.width // 8
    return 8 if isinstance(kind, ir.DoubleType) else 4
