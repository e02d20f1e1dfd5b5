# SPDX-License-Identifier: BSD-3-Clause
"""Top words: a chart per component, with what sets it apart."""

import numpy as np

from discan import plot


def test_words(words, fruit):
    figure = plot.top_words(fruit[:2], words=words, sizes=[1, 3], n_words=2)
    assert list(figure.layout.yaxis.ticktext) == ["apple", "pear"]
    assert list(figure.layout.yaxis2.ticktext) == ["boat", "ship"]
    bars, lines = figure.data[:2]
    np.testing.assert_allclose(bars.x, [0.5, 0.3])
    np.testing.assert_allclose(lines.x[::3], [0.125, 0.075])  # in all the data
    heads = [note.text for note in figure.layout.annotations[1:]]
    assert heads == ["component 1, 25.0 %", "component 2, 75.0 %"]


def test_answers(votes):
    figure = plot.top_words(votes, n_words=2)
    shown = [set(figure.layout[f"yaxis{n}"].ticktext) for n in ("", 2)]
    assert {"vote 0: yea", "vote 2: nay"} in shown
    assert {"vote 0: nay", "vote 2: yea"} in shown
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range  # probabilities: one scale


def test_labels_do_not_overlap(overlapping):
    rng = np.random.default_rng(0)
    figure = plot.top_words(rng.dirichlet([0.02] * 400, 30), sizes=range(1, 31))
    assert overlapping(figure) == []
    assert figure.layout.width < 1300
    some = plot.top_words(rng.dirichlet([0.02] * 400, 30), components=[1, 7])
    assert len(some.data) == 4
    long = [f"a rather long question, number {j // 2}, about the world" for j in range(40)]
    names = [f"{q}={a}" for q, a in zip(long, ["yes, of course", "no"] * 20, strict=True)]
    asked = plot.top_words(rng.dirichlet([1] * 40, 5), words=names, groups=long)
    assert overlapping(asked) == []
