# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the draws of one of many components."""

import numpy as np

__all__ = ["LANES", "draw_component", "draw_listed"]

LANES = 16  # elements of a vector


def draw_component(weights, old, own, at):
    """Draw k by weights; ``old``, whose weight is ``own`` instead, is first in the order."""
    order = [k for k in _by_lanes(weights) if k != old]
    return [old, *order][_draw(at, [own, *weights[order]])]


def draw_listed(weights, rest, components, old, own, at):
    """Draw k by the weights of listed components and, after them, by ``rest`` of all components."""
    listed = [components[place] for place in _by_lanes(components)]
    listed = [k for k in listed if k != old]
    others = [k for k in range(len(weights)) if k != old]
    return [old, *listed, *others][_draw(at, [own, *weights[listed], *rest[others]])]


def _draw(at, weights):
    """Find where the fraction ``at`` of the sum of weights falls."""
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends[:-1], at * ends[-1], side="right"))


def _by_lanes(weights):
    """Places in the order of the draw: lane by lane."""
    return sorted(range(len(weights)), key=lambda place: (place % LANES, place))
