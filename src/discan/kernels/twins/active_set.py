# SPDX-License-Identifier: BSD-3-Clause
"""Twin of the scores at their fixed point."""

import numpy as np

from .documents import each_document
from .variational import FLOOR, mean_scores

__all__ = ["solve_scores"]


def solve_scores(
    indptr, words, counts, levels, shape, rate, weights, score_shape,
    geometric_mean, n_steps, tolerance,
):  # fmt: skip
    """Iterate scores to the fixed point of ``expect``; most steps update only active components.

    Returns the new score_shape (I, K).
    """
    score_shape = score_shape.astype(float)
    for i, w, n in each_document(indptr, words, counts):
        alpha, b, a, T = shape[levels[i]], rate[levels[i]], score_shape[i], weights[w].astype(float)
        n_full, n_few, left = 3, 6, n_steps
        while left > 0:
            for _ in range(min(n_full, left)):
                begun = a.copy()
                change = _step(T, n, alpha, b, a, 0.0, geometric_mean)
                left -= 1
            free = not geometric_mean and not alpha.any()
            growing = free & (a > (1 + 1e-5) * begun)
            if (change <= tolerance and not growing.any()) or left == 0:
                break
            vanishing = free & (a < 0.9 * begun) & (a * len(a) < 0.1 * a.sum())
            active = (_active(a, alpha, geometric_mean, tolerance) | growing) & ~vanishing
            a[vanishing] *= 1e-4
            rest = T[:, ~active] @ mean_scores(a[~active], b[~active], geometric_mean)
            part = a[active]
            given = T[:, active], n, alpha[active], b[active], part, rest
            if not free or active.sum() > 256:
                left -= _iterate_active(*given, geometric_mean, min(n_few, left), tolerance)
            else:
                left -= _iterate_newton(*given, min(n_few, left), tolerance)
            a[active] = part
            n_full, n_few = 1, 2 * n_few
    return score_shape


def _iterate_active(T, n, alpha, b, a, rest, geometric_mean, n_steps, tolerance):
    """Make steps in place, with an extrapolation before every third; return how many."""
    change, path = 1.0, []
    for step in range(n_steps):
        path = [a.copy()] if step % 3 == 0 else [*path, a.copy()]
        if len(path) == 3 and change < 0.01:
            first, bend = path[1] - path[0], path[2] - 2 * path[1] + path[0]
            squares, bends = first @ first, bend @ bend
            stride = max(1.0, np.sqrt(squares / bends)) if squares < 1e6 * bends else 1000.0
            a[:] = path[0] + stride * (2 * first + stride * bend)
            a[:] = np.maximum(a, alpha + 0.1 * (path[2] - alpha))
        last, change = change, _step(T, n, alpha, b, a, rest, geometric_mean)
        if change <= tolerance:
            return step + 1
        if len(path) == 3 and change > last:
            a[:], change = path[2], last
    return n_steps


def _iterate_newton(T, n, alpha, b, a, rest, n_steps, tolerance):
    """Make steps by Newton's method in the roots of a, in place; return how many. alpha is 0."""
    before, rise = None, 0.0  # where the last step began, and the slope along it there
    for step in range(n_steps):
        begun = a.copy()
        change = _step(T, n, alpha, b, a, rest, False)
        if change <= tolerance:
            return step + 1
        slope = a / begun - 1
        if rise > 0 and slope @ (begun - before) < -0.5 * rise:
            part = rise / (rise - slope @ (begun - before))
            a[:], rise = before + part * (begun - before), 0.0
            continue
        rise = 0.0
        if change < 0.01 and step + 1 < n_steps:
            norm = T @ (begun / b) + rest
            weights = np.divide(n, norm**2, out=np.zeros(norm.shape), where=norm > 0)
            X, y = T * (np.sqrt(begun) / b), np.sqrt(begun)
            diagonal = np.maximum(-0.5 * slope, 0) + 1e-6
            move = np.linalg.solve((X.T * weights) @ X + np.diag(diagonal), 0.5 * y * slope)
            ahead = np.where(move > 0, begun + 2 * y * move, np.maximum(y + move, 0) ** 2)
            a[:] = np.maximum(ahead, 0.01 * a)
            before, rise = begun, slope @ (a - begun)
    return n_steps


def _step(T, n, alpha, b, a, rest, geometric_mean):
    """Make one step of a in place; return the moved fraction of its total."""
    scores = mean_scores(a, b, geometric_mean)
    norm = T @ scores + rest
    ratios = np.divide(n, norm, out=np.zeros(norm.shape), where=norm > 0)
    new = alpha + scores * (ratios @ T)
    change = np.abs(new - a).sum() / max(new.sum(), FLOOR)
    a[:] = new
    return change


def _active(a, alpha, geometric_mean, tolerance):
    """Components whose update depends on their own a, and whose count is above the tolerance."""
    count = a - alpha
    bend = 1.0 + 1.0 / a if geometric_mean else 1.0
    return (count * bend > 0.05 * a) & (count * len(a) > tolerance * a.sum())
