# SPDX-License-Identifier: BSD-3-Clause
"""Figures take a fit, the estimator that holds it, or arrays, and show the same."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from discan import plot
from discan.plot.inputs import components_of, fit_of
from discan.plot.palette import OTHERS


@pytest.fixture
def fit(texts):
    """A fit, apart from its estimator."""
    return texts.fit_


def test_a_fit_and_its_estimator_show_the_same(texts, fit):
    holder = SimpleNamespace(fit_=fit)
    names = ["a", "b"]
    for draw in (plot.membership, plot.structure, plot.heatmap, plot.component_map):
        expected = plot.to_svg(draw(texts, component_names=names))
        assert plot.to_svg(draw(fit, component_names=names)) == expected
        assert plot.to_svg(draw(holder, component_names=names)) == expected
    assert plot.to_svg(plot.trace(fit)) == plot.to_svg(plot.trace(texts))


def test_cycles_that_gave_draws_are_settings_of_a_fit(votes, fit):
    assert {"burn_in", "thin"} <= votes.settings_.keys()
    assert not {"burn_in", "thin"} & fit.settings.keys()
    shown = replace(fit, trace=votes.trace_, settings={"burn_in": 10, "thin": 2})
    assert plot.to_svg(plot.trace(shown)) == plot.to_svg(plot.trace(votes))


def test_components_of_a_fit_are_numbered_from_1_and_sorted_by_size(fit):
    found = components_of(fit)
    assert sorted(found.names) == ["component 1", "component 2"]
    assert found.sizes[0] >= found.sizes[1]
    assert plot.membership(fit).data[-1].name.startswith(f"{found.names[0]}: ")


def test_arrays_are_no_fit(shares):
    assert fit_of(shares) is None
    assert fit_of(shares.tolist()) is None


def test_some_components(shares, texts):
    """Those that were not asked for are one grey part; a component keeps its colour."""
    figure = plot.membership(shares, components=[3, "component 1"])
    others, third, first = figure.data
    assert (first.name, third.name, others.name) == ("component 1", "component 3", "1 others")
    np.testing.assert_allclose(others.y, shares[:, 1])
    whole = {trace.name: trace.marker.color for trace in plot.membership(shares).data}
    assert third.marker.color == whole["component 3"]
    assert others.marker.color == OTHERS
    assert "2 of 3 components" in figure.layout.annotations[0].text
    every = plot.component_map(texts).data[0]
    last = plot.component_map(texts, components=2).data[0]
    colours = dict(zip(every.meta["component"], every.marker.color, strict=True))
    assert last.marker.color[0] == colours[1]


def test_telling_words(words):
    """Common words of all components tell nothing; of a question, one answer is enough."""
    common = components_of([[0.6, 0.3, 0.1, 0, 0, 0], [0.6, 0, 0, 0.3, 0.1, 0]], words=words)
    assert [common.word(j) for j in common.telling(0, 3)] == ["pear", "plum"]
    assert common.key(1, 2) == "component 2: boat, ship"
    asked = components_of(
        [[0.9, 0.1, 0.5, 0.4, 0.1], [0.1, 0.9, 0.2, 0.2, 0.6]],
        words=["p=yes", "p=no", "q=a", "q=b", "q=c"], groups=["p", "p", "q", "q", "q"],
    )  # fmt: skip
    assert [asked.word(j) for j in asked.telling(0, 5)] == ["p=yes", "q=a"]
    assert [asked.word(j) for j in asked.telling(1, 1)] == ["p=no"]
    assert asked.answer(4) == "c"
    assert asked.key(0) == "component 1"
    alone = components_of([[0.2, 0.5, 0.3]])
    assert alone.telling(0, 2) == [1, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda shares: plot.membership(shares, components=[4]), "no component 4; .* from 1 to 3"),
        (lambda shares: plot.membership(shares, components="x"), "no component 'x'"),
        (lambda shares: plot.membership(shares, components=[]), "empty list"),
        (lambda shares: plot.membership(shares, components=[True]), "no component True"),
    ],
)
def test_bad_input_is_refused(call, message, refused, shares):
    refused(lambda: call(shares), message)
