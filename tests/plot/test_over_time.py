# SPDX-License-Identifier: BSD-3-Clause
"""Over time: a chart per component, periods without documents left open."""

import numpy as np
import pytest

import discan
from discan import plot


def test_years(shares):
    figure = plot.over_time(shares, [2001, 2003, 2003, 2003])
    line = figure.data[1]
    np.testing.assert_allclose(line.y, [0.7, np.nan, shares[1:, 0].mean()])
    assert list(figure.layout.xaxis.ticktext) == ["2001", "2002", "2003"]
    error = shares[1:, 0].std(ddof=1) / np.sqrt(3)
    band = figure.data[0]
    assert np.max(band.y) == pytest.approx(max(0.7, shares[1:, 0].mean() + error))
    assert figure.data[2].hovertext[1] == "2002, 0 documents"
    assert len([trace for trace in figure.data if trace.opacity == 0]) == 3


def test_dates_of_a_fit(overlapping):
    rng = np.random.default_rng(0)
    dates = [f"{2000 + n % 7}-{1 + n % 12:02}-11" for n in range(60)] + [None]
    corpus = discan.Corpus(rng.poisson(1.0, (61, 12)), metadata={"date": dates})
    fit = discan.LDA(4, max_iter=3, random_state=0, progress=False).fit(corpus)
    figure = plot.over_time(fit, "date")
    assert "of each quarter" in figure.layout.annotations[0].text
    assert "1 documents without a date" in figure.layout.annotations[0].text
    assert overlapping(figure) == []
    some = plot.over_time(fit, "date", components=[2])
    assert len(some.data) == 3


@pytest.mark.parametrize(
    ("time", "message"),
    [(["x", "y", "z", "w"], "no dates that can be read, e.g. 'x'"), ([1, 2], "4 dates or numbers"),
     ("when", "no column 'when'")],
)  # fmt: skip
def test_bad_input_is_refused(refused, shares, time, message):
    refused(lambda: plot.over_time(shares, time), message)


def test_periods_between_empty_ones_are_seen():
    """A month of documents every few weeks has no neighbour to draw a line to."""
    dates = [f"2020-{1 + i % 12:02d}-03" for i in range(48)]
    shares = np.random.default_rng(0).dirichlet([1.0, 1.0], 48)
    figure = plot.over_time(shares, dates)
    line = figure.data[1]
    assert "nan" not in plot.to_svg(figure)
    assert len(line.y) > 24
    assert line.mode == "lines+markers"
