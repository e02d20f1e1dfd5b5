# SPDX-License-Identifier: BSD-3-Clause
"""Figures take a fit, the estimator that holds it, or arrays, and show the same."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from discan import plot
from discan.plot.inputs import components_of, fit_of, numbered


@pytest.fixture
def fit(texts):
    """A fit, apart from its estimator."""
    return texts.fit_


def test_a_fit_and_its_estimator_show_the_same(texts, fit):
    holder = SimpleNamespace(fit_=fit)
    names = ["a", "b"]
    for draw in (plot.membership, plot.structure, plot.heatmap, plot.component_map):
        expected = plot.to_svg(draw(texts, components=names))
        assert plot.to_svg(draw(fit, components=names)) == expected
        assert plot.to_svg(draw(holder, components=names)) == expected
    assert plot.to_svg(plot.trace(fit)) == plot.to_svg(plot.trace(texts))


def test_cycles_that_gave_draws_are_settings_of_a_fit(votes, fit):
    assert {"burn_in", "thin"} <= votes.settings_.keys()
    assert not {"burn_in", "thin"} & fit.settings.keys()
    shown = replace(fit, trace=votes.trace_, settings={"burn_in": 10, "thin": 2})
    assert plot.to_svg(plot.trace(shown)) == plot.to_svg(plot.trace(votes))


def test_components_of_a_fit_have_numbers_for_names(fit):
    assert components_of(fit, None, None, None, None).names == ["component 0", "component 1"]
    assert plot.membership(fit).data[0].name.startswith("component 0: ")


def test_arrays_are_no_fit(shares):
    assert fit_of(shares) is None
    assert fit_of(shares.tolist()) is None


def test_numbered():
    names, numbers = numbered(["b", "a", "b"])
    assert names == ["b", "a"]
    np.testing.assert_array_equal(numbers, [0, 1, 0])
