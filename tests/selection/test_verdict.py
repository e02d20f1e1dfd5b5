# SPDX-License-Identifier: BSD-3-Clause
"""The words follow the numbers."""

import numpy as np
import pytest

from discan.data.nouns import VOTES
from discan.selection.jobs import Setting
from discan.selection.measures import Measured
from discan.selection.verdict import verdict_on


def judged(bits, error, sizes=None, stable=0.95, baseline=2.0, starts=0.001, converged=1.0):
    """Judge settings whose differences from the best have this standard error."""
    bits = np.array(bits, float)
    sizes = sizes or range(2, 2 + len(bits))
    settings = tuple(Setting(f"K{k}", {"n_components": k}) for k in sizes)
    tokens = np.ones(100)
    # half of the documents above, half below: paired differences have the error that is asked for
    sign = np.where(np.arange(100) % 2, 1.0, -1.0) * error * np.sqrt(99)
    loss = (
        bits[:, None] + np.where(np.arange(len(bits)) == np.argmin(bits), 0.0, 1.0)[:, None] * sign
    )
    measured = Measured(
        settings, bits, np.full(len(bits), error), np.full(len(bits), starts), baseline, 100.0,
        loss, tokens, np.zeros(len(bits)),
    )  # fmt: skip
    np.testing.assert_allclose(np.delete(measured.gap_error, measured.best), error)
    return verdict_on(measured, np.full(len(bits), stable), VOTES, converged)


def test_a_clear_minimum():
    found = judged([1.5, 1.0, 1.2, 1.3], 0.01)
    assert found[:3] == (3, 3, None)
    assert "K = 3 predicts best: 1.0000 bits per held-out vote." in found.text
    assert "No smaller K" in found.text
    assert "predict clearly worse" in found.text


def test_a_flat_curve():
    found = judged([1.5, 1.015, 1.005, 1.0, 1.03], 0.01)
    assert found[:3] == (5, 4, (3, 5))
    assert "smallest K within one standard error of it is 4" in found.text
    assert "flat from K = 3 to 5" in found.text
    assert "differ by at most 0.015" in found.text


def test_what_is_too_small_to_matter_is_flat():
    found = judged([1.5, 1.005, 1.0, 1.02], 1e-5)  # one hundredth of the gain of 1 bit
    assert found[:3] == (4, 4, (3, 4))


def test_the_flat_part_has_no_hole():
    found = judged([1.0, 1.1, 1.0001, 1.1], 0.01)
    assert found.flat is None
    assert found.best == found.smallest == 2
    found = judged([1.0001, 1.1, 1.0, 1.1], 0.01)
    assert found[:3] == (4, 2, None)


@pytest.mark.parametrize(
    ("bits", "error", "words"),
    [
        ([1.5, 1.3, 1.0], 0.01, "4 is the largest K that was tried: try larger"),
        ([1.5, 1.001, 1.0], 0.01, "may go on beyond 4"),
        ([1.0, 1.3, 1.5], 0.01, "2 is the smallest K that was tried"),
    ],
)
def test_answers_at_the_edge(bits, error, words):
    assert words in judged(bits, error).text


def test_no_components():
    found = judged([1.995, 1.99, 1.994], 0.01)
    assert "there may be no components in these data" in found.text


def test_how_far_starts_disagree():
    text = judged([1.5, 1.001, 1.0], 0.01, starts=0.02, stable=0.5).text
    assert "from other starts differ by 0.02" in text
    assert "more than the K of the flat part do" in text
    assert "components are alike (similarity 0.50" in text
    assert "components are the same" in judged([1.5, 1.0], 0.01).text
    assert "not known" in judged([1.5, 1.0], 0.01, starts=np.nan).text


def test_unfinished_fits_are_said():
    assert "20 % of them had converged" in judged([1.5, 1.0], 0.01, converged=0.2).text


def test_nothing_is_called_optimal():
    for bits in ([1.5, 1.0, 1.2], [1.0], [1.001, 1.0]):
        assert "optimal" not in judged(bits, 0.01).text


def test_a_single_size():
    found = judged([1.0], 0.01)
    assert found[:3] == (2, 2, None)
    assert "smaller" not in found.text


def test_a_size_beyond_a_hole_is_not_called_worse():
    found = judged([1.0, 1.2, 1.3, 1.005], 0.01)
    assert found[:3] == (2, 2, None)
    assert "K = 5 is not clearly worse either" in found.text
    assert "All other K" not in found.text
