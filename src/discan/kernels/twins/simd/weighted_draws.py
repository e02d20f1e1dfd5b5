# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the draws of one of many components."""

import numpy as np

__all__ = ["LANES", "draw_component", "draw_listed"]

LANES = 16  # vector elements: places that are added up side by side


def draw_component(weights, old, own, at):
    """Draw k by weights; ``old``, whose weight is ``own`` instead, comes first."""
    order = [k for k in _by_lanes(weights) if k != old]
    return [old, *order][_draw(at, [own, *weights[order]])]


def draw_listed(weights, spread, components, old, own, at):
    """Draw k by weights of listed components and, after them, by what is spread over all."""
    listed = [components[place] for place in _by_lanes(components)]
    listed = [k for k in listed if k != old]
    others = [k for k in range(len(weights)) if k != old]
    return [old, *listed, *others][_draw(at, [own, *weights[listed], *spread[others]])]


def _draw(at, weights):
    """Find where a share ``at`` of all weights falls."""
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends[:-1], at * ends[-1], side="right"))


def _by_lanes(weights):
    """Give the places in the order in which they are drawn from: lane after lane of sixteen."""
    return sorted(range(len(weights)), key=lambda place: (place % LANES, place))
