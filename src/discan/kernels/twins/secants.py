# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the secant pairs."""

import numpy as np

__all__ = ["add_pair", "jump"]


def add_pair(begun, reached, base, residual, slots, n_slots, slot, first, last, steps, bends):
    """Return steps and bends (M, N) with the new pair, and products (4, M) with all pairs."""
    steps, bends, part = steps.copy(), bends.copy(), slice(first, last)
    new = (reached - begun)[part]
    steps[slot, part], bends[slot, part] = (begun - base)[part], residual[part] - new
    products, rows = np.zeros((4, len(steps))), slots[:n_slots]
    a, b = steps[rows, part], bends[rows, part]
    products[:, rows] = [a @ bends[slot, part], b @ bends[slot, part], a @ new, b @ new]
    return steps, bends, products


def jump(base, residual, slots, n_slots, steps, bends, of_steps, of_bends, scale, least):
    """Return the new point (N,)."""
    rows = slots[:n_slots]
    bent = residual + of_bends[:n_slots] @ bends[rows]
    point = base + scale * bent + of_steps[:n_slots] @ steps[rows]
    nearest = least * np.abs(base + residual)
    return np.where(np.abs(point) < nearest, np.where(point >= 0.0, nearest, -nearest), point)
