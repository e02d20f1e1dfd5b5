# SPDX-License-Identifier: BSD-3-Clause
"""Secant pairs of a fixed-point iteration: their inner products, and steps that they give."""

from .compile import REORDER, kernel, part

__all__ = ["add_pair", "jump"]

_AT_ONCE = 512  # elements that stay in the cache while all pairs are read


@kernel()
def add_pair(
    begun, reached, base, residual, slots, n_slots, slot, first, last, steps, bends, out_products
):
    """Write the pair of a new point, and add its inner products with all pairs.

    Same as twins.secants.add_pair. All points are arrays (N,), of which elements ``first`` to
    ``last`` - 1 are worked on; pairs are rows of ``steps`` and ``bends`` (M, N). With the residual
    r = reached - begun at the new point, the pair is

        step = begun - base,   bend = residual - r,

    written to row ``slot``. ``out_products`` (4, M) gets, for each of the first ``n_slots`` rows
    named in ``slots``, the products step . bend_new, bend . bend_new, step . r and bend . r, in
    double precision.
    """
    for start in range(first, last, _AT_ONCE):
        stop = min(start + _AT_ONCE, last)
        for e in range(start, stop):
            steps[slot, e] = begun[e] - base[e]
            bends[slot, e] = residual[e] - (reached[e] - begun[e])
        for m in range(n_slots):
            _add_products(begun, reached, steps, bends, slots[m], slot, start, stop, out_products)


@part(fastmath=REORDER)
def _add_products(begun, reached, steps, bends, row, new, first, last, out_products):
    step_bend = bend_bend = step_residual = bend_residual = 0.0
    for e in range(first, last):
        step, bend, new_bend = float(steps[row, e]), float(bends[row, e]), float(bends[new, e])
        residual = float(reached[e]) - float(begun[e])
        step_bend += step * new_bend
        bend_bend += bend * new_bend
        step_residual += step * residual
        bend_residual += bend * residual
    out_products[0, row] += step_bend
    out_products[1, row] += bend_bend
    out_products[2, row] += step_residual
    out_products[3, row] += bend_residual


@kernel()
def jump(
    base, residual, slots, n_slots, steps, bends, of_steps, of_bends, scale, least, first, last,
    out_point,
):  # fmt: skip
    """Step from ``base`` by a combination of its residual and of pairs.

    Same as twins.secants.jump. The new point is

        base + scale (residual + sum_m of_bends_m bend_m) + sum_m of_steps_m step_m,

    for elements ``first`` to ``last`` - 1. Each keeps its sign, but none is closer to zero than
    ``least`` times that of base + residual.
    """
    real = base.dtype.type
    for start in range(first, last, _AT_ONCE):
        stop = min(start + _AT_ONCE, last)
        for e in range(start, stop):
            out_point[e] = base[e] + real(scale) * residual[e]
        for m in range(n_slots):
            row = slots[m]
            a, b = real(of_steps[m]), real(scale * of_bends[m])
            for e in range(start, stop):
                out_point[e] += a * steps[row, e] + b * bends[row, e]
        for e in range(start, stop):
            nearest = real(least) * abs(base[e] + residual[e])
            if abs(out_point[e]) < nearest:
                out_point[e] = nearest if out_point[e] >= 0.0 else -nearest
