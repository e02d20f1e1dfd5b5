# SPDX-License-Identifier: BSD-3-Clause
"""Place labels so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discan.typing import Array

__all__ = ["Place", "around", "spread"]

Frame = tuple[float, float, float, float]  # left, low, right, high; y grows upwards

ANGLES = np.deg2rad([-90, 90, 0, 180, -60, 60, -120, 120, -30, 30, -150, 150])
STEPS = (0.0, 6.0, 14.0, 24.0, 36.0, 50.0, 66.0, 84.0, 104.0, 128.0, 156.0)
LEADER = 10.0  # pixels: a label further away gets a line


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
    points: Array, across: Array, sizes: Sequence[tuple[float, float]], bounds: Frame
) -> list[Place | None]:
    """Place a label inside, beside or near each disc, larger discs first.

    A label covers no disc, no other label and no line; a line covers no label. None means that
    there is no such place within the bounds.

    Parameters
    ----------
    points : (N, 2) array
        Middles of the discs.
    across : (N,) array
        Diameters.
    sizes : (N,) pairs
        Width and height of each label.
    bounds : Frame
    """
    discs = [(x - d / 2, y - d / 2, x + d / 2, y + d / 2)
             for (x, y), d in zip(points, across, strict=True)]  # fmt: skip
    taken: list[Frame] = []
    lines: list[Frame] = []
    result: list[Place | None] = [None] * len(across)
    for k in np.argsort(-np.asarray(across), kind="stable"):
        found = _inside(k, points, across, sizes[k], discs, taken, lines)
        found = found or _beside(k, points, across, sizes[k], discs, taken, lines, bounds)
        if found is not None:
            result[k] = found
            taken.append(_frame(found.x, found.y, sizes[k]))
            if found.leader is not None:
                lines.append(found.leader)
    return result


# ---- details ----


def _inside(
    k: int, points: Array, across: Array, size: tuple[float, float], discs: list[Frame],
    taken: list[Frame], lines: list[Frame],
) -> Place | None:  # fmt: skip
    """Place a label in the middle of its disc, if it fits and no smaller disc lies there."""
    x, y = map(float, points[k])
    if np.hypot(*size) > across[k] - 4:
        return None
    frame = _frame(x, y, size)
    smaller = [d for n, d in enumerate(discs) if n != k]
    if any(_overlap(frame, other) for other in (*taken, *smaller)):
        return None
    return None if any(_crosses(line, frame) for line in lines) else Place(x, y, inside=True)


def _beside(
    k: int, points: Array, across: Array, size: tuple[float, float], discs: list[Frame],
    taken: list[Frame], lines: list[Frame], bounds: Frame,
) -> Place | None:  # fmt: skip
    """Find the nearest free place around a disc."""
    x, y = map(float, points[k])
    radius = float(across[k]) / 2
    wide, tall = size
    for step in STEPS:
        for angle in ANGLES:
            c, s = float(np.cos(angle)), float(np.sin(angle))
            far = radius + 3 + step
            # the near edge of the label, not its middle, is this far away
            middle = (x + far * c + _reach(c) * wide / 2, y + far * s + _reach(s) * tall / 2)
            frame = _frame(*middle, size)
            inside = (bounds[0] <= frame[0] and frame[2] <= bounds[2]
                      and bounds[1] <= frame[1] and frame[3] <= bounds[3])  # fmt: skip
            if not inside or any(_overlap(frame, other) for other in (*taken, *discs)):
                continue
            if any(_crosses(line, frame) for line in lines):
                continue
            leader = None
            if step >= LEADER:
                end = (min(max(x, frame[0]), frame[2]), min(max(y, frame[1]), frame[3]))
                leader = (x + radius * c, y + radius * s, *end)
                if any(_crosses(leader, other) for other in taken):
                    continue
                if any(_meet(leader, other) for other in lines):
                    continue
            return Place(*middle, leader=leader)
    return None


def _reach(part: float) -> float:
    """Return -1, 0 or 1: on which side of a point a label lies in a direction."""
    return float(np.sign(part)) * min(1.0, 2.0 * abs(part))


def _frame(x: float, y: float, size: tuple[float, float]) -> Frame:
    return (x - size[0] / 2, y - size[1] / 2, x + size[0] / 2, y + size[1] / 2)


def _overlap(a: Frame, b: Frame) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


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

    return (side(a, b[0], b[1]) > 0) != (side(a, b[2], b[3]) > 0) and (
        side(b, a[0], a[1]) > 0
    ) != (side(b, a[2], a[3]) > 0)
