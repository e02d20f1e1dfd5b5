# SPDX-License-Identifier: BSD-3-Clause
"""Place labels so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discan.typing import Array

__all__ = ["Place", "around", "spread"]

Frame = tuple[float, float, float, float]  # left, low, right, high; y grows upwards

ANGLES = np.deg2rad([-90, 90, 0, 180, -60, 60, -120, 120, -30, 30, -150, 150, -75, 75, -105, 105])
WAYS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
TOWARDS = np.sign(WAYS) * np.minimum(1.0, 2.0 * np.abs(WAYS))  # on which side a label lies
STEPS = (0, 6, 14, 24, 36, 50, 66, 84, 104, 128, 156, 190, 230, 280, 340, 410, 490)  # pixels
ATTEMPTS = 10
LEADER = 5.0  # pixels: a label further away gets a line


@dataclass(frozen=True, slots=True)
class Place:
    """Where a label stands: its middle, and the line that leads to it, if it has one."""

    x: float
    y: float
    inside: bool = False
    leader: Frame | None = None


def spread(places: Array, widths: Array, low: float, high: float) -> Array:
    """Move labels on a line apart, as little as possible, their order unchanged.

    Least squares under the condition that neighbours do not overlap; if there is not enough space
    between ``low`` and ``high``, the labels begin at ``low`` and reach beyond ``high``.

    Parameters
    ----------
    places : (N,) ascending array
        Middles that the labels should have.
    widths : (N,) array

    Returns
    -------
    (N,) array of middles
    """
    widths = np.asarray(widths, dtype=np.float64)
    offsets = np.concatenate(([0.0], np.cumsum((widths[1:] + widths[:-1]) / 2)))
    blocks: list[list[float]] = []  # sum and number of the wanted places of each block
    for wanted in np.asarray(places, dtype=np.float64) - offsets:
        blocks.append([wanted, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, n = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += n
    moved = np.repeat([total / n for total, n in blocks], [int(n) for _, n in blocks])
    first, last = low + widths[0] / 2, high - widths[-1] / 2 - offsets[-1]
    return np.asarray(np.clip(moved, first, max(first, last)) + offsets)


def around(
    points: Array, across: Array, sizes: Sequence[tuple[float, float]], bounds: Frame,
    furthest: float = STEPS[-1],
) -> list[Place | None]:  # fmt: skip
    """Place a label inside, beside or near each disc, larger discs first.

    A label covers no disc, no other label and no line; a line covers no label, and crosses another
    line only if it must. None means that there is no such place within the bounds.

    Parameters
    ----------
    points : (N, 2) array
        Middles of the discs.
    across : (N,) array
        Diameters.
    sizes : (N,) pairs
        Width and height of each label.
    bounds : Frame
    furthest : float
        Largest distance of a label from its disc.
    """
    order = [int(k) for k in np.argsort(-np.asarray(across), kind="stable")]
    best: list[Place | None] = []
    fewest = len(order) + 1
    for _ in range(ATTEMPTS):
        found = _in_turn(order, points, across, sizes, bounds, furthest)
        without = [k for k in order if found[k] is None]
        if len(without) < fewest:
            best, fewest = found, len(without)
        if not without:
            break
        order = [*without, *(k for k in order if found[k] is not None)]  # placed first
    return best


# ---- details ----


def _in_turn(
    order: list[int], points: Array, across: Array, sizes: Sequence[tuple[float, float]],
    bounds: Frame, furthest: float,
) -> list[Place | None]:  # fmt: skip
    """Let one label after the other take the best place that is left."""
    radius = np.asarray(across)[:, None] / 2
    discs = np.hstack([points - radius, points + radius])
    taken: list[Frame] = []
    lines: list[Frame] = []
    result: list[Place | None] = [None] * len(points)
    for k in order:
        size = sizes[k]
        near = (float(points[k, 0]), float(points[k, 1]), float(across[k]) / 2)
        others = np.vstack([np.delete(discs, k, axis=0), np.reshape(taken, (-1, 4))])
        found = _inside(near, size, others, lines)
        everything = np.vstack([discs[k], others])
        found = found or _beside(near, size, everything, taken, lines, bounds, furthest)
        if found is not None:
            result[k] = found
            taken.append(_frame(found.x, found.y, size))
            if found.leader is not None:
                lines.append(found.leader)
    return result


def _inside(
    near: tuple[float, float, float], size: tuple[float, float], others: Array, lines: list[Frame]
) -> Place | None:
    """Place a label in the middle of its disc, if it fits and nothing else lies there."""
    x, y, radius = near
    frame = _frame(x, y, size)
    if np.hypot(*size) > 2 * radius - 4 or _covers(np.array([frame]), others)[0]:
        return None
    return None if any(_crosses(line, frame) for line in lines) else Place(x, y, inside=True)


def _beside(
    near: tuple[float, float, float], size: tuple[float, float], others: Array,
    taken: list[Frame], lines: list[Frame], bounds: Frame, furthest: float,
) -> Place | None:  # fmt: skip
    """Find the nearest free place around a disc."""
    x, y, radius = near
    half = np.array(size) / 2
    crossing = None  # the first place whose line crosses another
    for step in STEPS:
        if step > furthest:
            break
        # the near edge of the label, not its middle, is this far away
        middles = np.array([x, y]) + (radius + 3 + step) * WAYS + TOWARDS * half
        frames = np.hstack([middles - half, middles + half])
        free = (frames[:, :2] >= bounds[:2]).all(axis=1) & (frames[:, 2:] <= bounds[2:]).all(axis=1)
        for n in np.flatnonzero(free & ~_covers(frames, others)):
            left, low, right, high = map(float, frames[n])
            if any(_crosses(line, (left, low, right, high)) for line in lines):
                continue
            middle = float(middles[n, 0]), float(middles[n, 1])
            if step < LEADER:
                return Place(*middle)
            end = min(max(x, left), right), min(max(y, low), high)
            leader = (x + radius * float(WAYS[n, 0]), y + radius * float(WAYS[n, 1]), *end)
            if any(_crosses(leader, other) for other in taken):
                continue
            if not any(_meet(leader, other) for other in lines):
                return Place(*middle, leader=leader)
            crossing = crossing or Place(*middle, leader=leader)
    return crossing


def _frame(x: float, y: float, size: tuple[float, float]) -> Frame:
    return (x - size[0] / 2, y - size[1] / 2, x + size[0] / 2, y + size[1] / 2)


def _covers(frames: Array, others: Array) -> Array:
    """Tell which of the frames (n, 4) overlap any of the others (m, 4)."""
    low = np.maximum(frames[:, None, :2], others[None, :, :2])
    high = np.minimum(frames[:, None, 2:], others[None, :, 2:])
    return np.asarray(np.any(np.all(low < high, axis=2), axis=1))


def _crosses(line: Frame, frame: Frame) -> bool:
    """Tell whether a line goes through a frame (Liang and Barsky's clipping)."""
    x, y, dx, dy = line[0], line[1], line[2] - line[0], line[3] - line[1]
    first, last = 0.0, 1.0
    for step, room in ((-dx, x - frame[0]), (dx, frame[2] - x), (-dy, y - frame[1]),
                       (dy, frame[3] - y)):  # fmt: skip
        if step == 0:
            if room <= 0:
                return False
        elif step < 0:
            first = max(first, room / step)
        else:
            last = min(last, room / step)
    return first < last


def _meet(a: Frame, b: Frame) -> bool:
    """Tell whether two lines cross."""

    def side(line: Frame, x: float, y: float) -> float:
        return (line[2] - line[0]) * (y - line[1]) - (line[3] - line[1]) * (x - line[0])

    return (side(a, b[0], b[1]) > 0) != (side(a, b[2], b[3]) > 0) and (side(b, a[0], a[1]) > 0) != (
        side(b, a[2], a[3]) > 0
    )
