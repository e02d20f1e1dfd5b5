# SPDX-License-Identifier: BSD-3-Clause
"""The parts that are written in LLVM's instructions, in NumPy, for runs without a compiler.

With NUMBA_DISABLE_JIT=1 kernels are plain Python, so that debuggers and coverage tools see their
lines. These functions have the names and arguments of the compiled parts, add in the same order,
and raise an IndexError where those would read or write outside of an array.
"""

import numpy as np

__all__ = [
    "count_at", "draw_component", "draw_listed", "fetch", "high_start", "lowest_bit",
    "nonzero_bits", "sum_weights",
]  # fmt: skip

_SUMS, _DRAWS, _BITS = 8, 16, 64  # elements of a vector in weighted_sums, weighted_draws, nonzeros


def fetch(array, offset):
    """Do nothing: fetching into a cache changes no result."""


def sum_weights(loadings, row, tail, tail_start, scores, ends, through):
    """Sum the weights of a word's components by lanes; see ``weighted_sums.sum_weights``."""
    n_components = loadings.shape[1]
    steps = -(-n_components // _SUMS)
    offset = int(row) * n_components
    weights = _run(loadings, tail, offset, int(tail_start), steps * _SUMS).astype(np.float64)
    products = (weights * _flat(scores, 0, steps * _SUMS)).reshape(steps, _SUMS)
    sums = np.cumsum(products, axis=0)
    _flat(ends, _SUMS, steps * _SUMS)[:] = sums.reshape(-1)
    through[:] = _add_lanes_before(sums[-1])
    return through[-1]


def draw_component(
    slot, weights, factors, first_factor, counts, offset, highs, high_offset, tail, tail_start,
    prior, n_steps, old, own, at, late, late_weights, ends,
):  # fmt: skip
    """Draw a component by its weight; see ``weighted_draws.draw_component``."""
    width = int(n_steps) * _DRAWS
    count = _run(counts, tail, int(offset), int(tail_start), width).astype(np.float32)
    if highs is not None:
        count = count + _flat(highs, int(high_offset), width)
    row = _flat(weights, int(slot) * width, width)
    row[:] = _with_changes(row, np.arange(width), late, late_weights)
    products = row * _flat(factors, int(first_factor), width) * (count + np.float32(prior))
    products[np.arange(width) == int(old)] = 0.0
    sums = np.cumsum(products.reshape(-1, _DRAWS), axis=0, dtype=np.float32)
    _flat(ends, int(slot) * width, width)[:] = sums.reshape(-1)
    through = _add_lanes_before(sums[-1])
    goal = np.float32(at) * (through[-1] + np.float32(own)) - np.float32(own)
    return int(old) if goal < 0.0 else _place(sums, through, goal)


def high_start(high_first, word):
    """Return where the high parts of a word's counts begin; 0 if no count has any."""
    return 0 if high_first is None else int(high_first[word])


def count_at(counts, offset, highs, high_offset):
    """Read one count as ``draw_component`` does."""
    count = np.float32(counts[int(offset)])
    return count if highs is None else count + highs[int(high_offset)]


def draw_listed(
    slot, weights, components, fractions, offset, n_steps, old, own, norm, prior, rest, at, late,
    late_weights, ends,
):  # fmt: skip
    """Draw a place in a list by its weight; see ``weighted_draws.draw_listed``."""
    width = int(n_steps) * _DRAWS
    listed = _flat(components, int(offset), width).astype(np.int64)
    fraction = _flat(fractions, int(offset), width)
    weight = _with_changes(weights[slot][listed], listed, late, late_weights)
    itself = listed == int(old)
    products = np.where(itself, np.float32(0.0), weight * fraction)
    kept = np.where(itself, fraction, np.float32(0.0)).reshape(-1, _DRAWS)
    sums = np.cumsum(products.reshape(-1, _DRAWS), axis=0, dtype=np.float32)
    nothing = np.zeros(_DRAWS, dtype=np.float32)
    last = sums[-1] if width else nothing
    _flat(ends, int(slot) * ends.shape[1], width)[:] = sums.reshape(-1)
    found = _add_lanes_before(np.cumsum(kept, axis=0, dtype=np.float32)[-1] if width else nothing)
    count = np.rint(found[-1] * np.float32(norm))
    own = np.float32(own) * (np.float32(prior) + (count - np.float32(1.0)))
    through = _add_lanes_before(last)
    total = through[-1] + own + np.float32(rest)
    goal = np.float32(at) * total - own
    place = -1 if goal < 0.0 else _place(sums, through, goal)
    return place, goal - through[-1]


def nonzero_bits(counts, start):
    """Set the bits of those of 64 counts from the flat element ``start`` on that are not 0."""
    places = np.flatnonzero(_flat(counts, int(start), _BITS))
    return np.uint64(sum(1 << place for place in places.tolist()))


def lowest_bit(bits):
    """Place of the lowest bit that is set."""
    return np.uint64((int(bits) & -int(bits)).bit_length() - 1)


def _flat(array, start, size):
    """Return a run of an array's flat elements, which must all exist."""
    flat = array.reshape(-1)
    if start < 0 or start + size > len(flat):
        raise IndexError(f"elements {start} to {start + size} of {len(flat)}")
    return flat[start : start + size]


def _run(array, tail, offset, tail_start, size):
    """Return a run of an array's flat elements, those at its end from the padded copy."""
    if offset < tail_start:
        return _flat(array, offset, size)
    return _flat(tail, offset - tail_start, size)


def _with_changes(weights, components, late, late_weights):
    """Return the weights with those that are not yet stored."""
    for component, weight in zip(late, late_weights, strict=True):
        weights = np.where(components == int(component), np.float32(weight), weights)
    return weights


def _add_lanes_before(lanes):
    """Add to every lane all lanes before it, in the order of ``llvm.add_lanes_before``."""
    half, lanes = 1, lanes.copy()
    while half < len(lanes):
        lane = np.arange(len(lanes))
        upper = lane // half % 2 == 1
        moved = lanes[np.where(upper, lane // half * half - 1, lane)]
        lanes = np.where(upper, lanes + moved, lanes)
        half *= 2
    return lanes


def _place(sums, through, goal):
    """Find where the goal falls, lane by lane."""
    lane = min(int((through <= goal).sum()), len(through) - 1)
    last = sums[-1] if len(sums) else np.zeros_like(through)
    left = goal - (through[lane] - last[lane])
    step = int((sums[:-1, lane] <= left).sum())
    return step * len(through) + lane
