# SPDX-License-Identifier: BSD-3-Clause
"""Colours, ticks and labels."""

import sys

import numpy as np
import pytest

from discan import InputError, plot
from discan.plot.theme import PALETTE, clean, label, linear_ticks, number_ticks, spectrum


def test_colours():
    assert plot.colours(3) == ["#0072b2", "#e69f00", "#009e73"]
    many = plot.colours(36)
    assert len(set(many)) == 36
    assert tuple(many[:12]) == PALETTE
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
    levels = np.array([[int(c[n : n + 2], 16) / 255 for n in (1, 3, 5)] for c in PALETTE])
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    for simulation in (np.eye(3), np.array(red), np.array(green)):
        xyz = np.clip(linear @ simulation.T, 0, 1) @ to_xyz.T / [0.9505, 1, 1.089]
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        lab = np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]),
                               200 * (f[:, 1] - f[:, 2])])  # fmt: skip
        apart = np.linalg.norm(lab[:, None] - lab[None, :], axis=2)
        assert apart[~np.eye(len(PALETTE), dtype=bool)].min() > 12


def test_clean_text():
    assert clean("a\x1b[31mb\u202e\n") == "a\ufffd[31mb\ufffd\n"


def test_ticks_and_labels():
    np.testing.assert_allclose(linear_ticks(-0.3, 1.02), [-0.25, 0, 0.25, 0.5, 0.75, 1])
    assert number_ticks(-0.3, 1.02)["ticktext"][0] == "-0.25"
    assert number_ticks(-2, 9)["ticktext"][:2] == ["-2", "0"]
    assert number_ticks(10000, 30000)["ticktext"][1] == "15,000"
    np.testing.assert_allclose(linear_ticks(2.0, 2.0), [2.0])
    assert label("a<b>\n c") == "a&lt;b&gt; c"
    assert label("abcdefghij", 5) == "abcd…"
    assert label("train/one/12345", 9, keep_end=True) == "tr…/12345"


def test_without_plotly(monkeypatch, shares):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(InputError, match="pip install plotly"):
        plot.membership(shares)


def test_bad_input_is_refused(refused):
    refused(lambda: plot.colours(-1), "n=-1")
