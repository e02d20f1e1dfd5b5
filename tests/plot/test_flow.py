# SPDX-License-Identifier: BSD-3-Clause
"""Flow: columns of components, bands between them, colours that follow."""

import numpy as np
import pytest

import discan
from discan import plot

RNG = np.random.default_rng(0)
TOPICS = np.full((4, 40), 1e-3)
for k in range(4):
    TOPICS[k, 10 * k : 10 * k + 10] = 1.0
COUNTS = RNG.multinomial(50, RNG.dirichlet([0.1] * 4, 100) @ (TOPICS / TOPICS.sum(1)[:, None]))


def fitted(init):
    options = {"algorithm": "map", "alpha": 0.1, "max_iter": 1, "progress": False}
    return discan.LDA(len(init), init=init, random_state=0, **options).fit(COUNTS)


@pytest.fixture(scope="module")
def fits():
    return [fitted(np.vstack([TOPICS[0] + TOPICS[1], TOPICS[2:]])), fitted(TOPICS)]


def bars(figure):
    return [trace for trace in figure.data if trace.type == "bar" and trace.hovertext is not None]


def bands(figure):
    return [trace for trace in figure.data if trace.type == "scatter"]


def test_heights_are_sizes(fits):
    drawn = bars(plot.flow(fits))
    for n, fit in enumerate(fits):
        x = sorted({float(x) for trace in drawn for x in trace.x})[n]
        heights = [y for trace in drawn for at, y in zip(trace.x, trace.y, strict=True) if at == x]
        np.testing.assert_allclose(sorted(heights), sorted(fit.sizes_))


def test_a_split_has_two_bands_and_the_larger_part_keeps_the_colour(fits):
    figure = plot.flow(fits)
    wide = [band for band in bands(figure) if np.ptp(band.y[[0, -1]]) > 0.05]
    assert len(wide) == 4
    paints = [
        {name.split("<br>")[0]: colour for trace in bars(figure)
         for name, colour in zip(trace.hovertext, trace.marker.color, strict=True)
         if name.startswith(f"K = {k}")}
        for k in (3, 4)
    ]  # fmt: skip
    shared = set(paints[0].values()) & set(paints[1].values())
    assert len(shared) == 3
    assert len(set(paints[1].values())) == 4


def test_titles(fits):
    assert plot.flow(fits).layout.meta["columns"] == ["K = 3", "K = 4"]
    assert plot.flow([fits[0]] * 2).layout.meta["columns"] == ["fit 1", "fit 2"]
    chains = plot.flow([fits[0]] * 2, titles=["chain 1", "chain 2"])
    assert chains.layout.meta["columns"] == ["chain 1", "chain 2"]


def test_bands_have_texts_for_the_pointer_on_a_page(fits, tmp_path):
    path = plot.save(plot.flow(fits), tmp_path / "flow.html")
    page = path.read_text("utf-8")
    assert "of all counts in both" in page
    assert plot.save(plot.flow(fits), tmp_path / "flow.pdf").stat().st_size > 1000


def test_no_text_covers_another(fits, overlapping):
    assert overlapping(plot.flow(fits)) == []


def test_refusals(fits, refused):
    refused(lambda: plot.flow(fits[:1]), "at least two fits")
    refused(lambda: plot.flow([fits[0], COUNTS]), "must be a fit")
    refused(lambda: plot.flow(fits, titles=["one"]), "titles")
