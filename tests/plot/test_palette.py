# SPDX-License-Identifier: BSD-3-Clause
"""Colours: told apart by the colour-blind, and visible on white."""

import numpy as np

from discan import plot
from discan.plot.palette import DIVERGING, OTHERS, PALETTE, blend, ink_on, spectrum


def linear_levels(colours):
    levels = np.array([[int(c[n : n + 2], 16) / 255 for n in (1, 3, 5)] for c in colours])
    return np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)


def contrast(colours):
    """Contrast with white, as the Web Content Accessibility Guidelines define it."""
    return 1.05 / (linear_levels(colours) @ [0.2126, 0.7152, 0.0722] + 0.05)


def test_colours():
    assert plot.colours(3) == ["#0072b2", "#e08c00", "#009e73"]
    many = plot.colours(48)
    assert len(set(many)) == 48
    assert tuple(many[:24]) == PALETTE
    assert plot.colours(0) == []


def test_spectrum():
    assert spectrum(1) == ["#174f8c"]
    assert spectrum(2) == ["#174f8c", "#be4e1a"]
    assert len(set(spectrum(10))) == 10


def test_colours_are_told_apart_by_the_colour_blind():
    """Distances in CIELAB under Machado's simulation of missing red and green cones."""
    red = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
           [-0.003882, -0.048116, 1.051998]]  # fmt: skip
    green = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
             [-0.01182, 0.04294, 0.968881]]  # fmt: skip
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    linear = linear_levels(PALETTE)
    for simulation in (np.eye(3), np.array(red), np.array(green)):
        xyz = np.clip(linear @ simulation.T, 0, 1) @ to_xyz.T / [0.9505, 1, 1.089]
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        lab = np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]),
                               200 * (f[:, 1] - f[:, 2])])  # fmt: skip
        apart = np.linalg.norm(lab[:, None] - lab[None, :], axis=2)
        apart[np.diag_indices(len(PALETTE))] = np.inf
        assert apart[:12, :12].min() > 15
        assert apart.min() > 7


def test_colours_are_visible_on_white():
    assert contrast(plot.colours(48)).min() > 2.6
    assert contrast([OTHERS])[0] > 2


def test_the_diverging_scale():
    assert blend(DIVERGING, 0.5) == "#f3f3f3"
    ends = [blend(DIVERGING, 0), blend(DIVERGING, 1)]
    assert contrast(ends).min() > 6
    assert (contrast([blend(DIVERGING, part) for part in np.linspace(0, 0.5, 9)])[:-1] > 1.1).all()


def test_ink_on_a_colour():
    assert ink_on("#0a2a52") == "#fff"
    assert ink_on("#f4f6f9") == "#111"


def test_bad_input_is_refused(refused):
    refused(lambda: plot.colours(-1), "n=-1")
