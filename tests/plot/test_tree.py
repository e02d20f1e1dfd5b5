# SPDX-License-Identifier: BSD-3-Clause
"""The tree: leaves in order, branches join at their distance, a cut has colours."""

import numpy as np
import pytest

import discan
from discan import plot


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (40, 12)) + np.kron(np.eye(4, dtype=int), np.full((10, 3), 6))
    corpus = discan.Corpus(counts, word_names=[f"w{j}" for j in range(12)])
    return discan.LDA(4, algorithm="map", alpha=0.1, max_iter=20, random_state=0,
                      progress=False).fit(corpus)  # fmt: skip


def test_branches(fit, overlapping):
    tree = fit.tree()
    figure = plot.tree(fit)
    *branches, leaves, joints = figure.data
    assert [max(branch.x) for branch in branches] == pytest.approx(tree.merges[:, 2].tolist())
    assert list(joints.x) == pytest.approx(tree.merges[:, 2].tolist())
    assert [text.split(":")[0] for text in figure.layout.yaxis.ticktext] == [
        fit.component_names_[k] for k in tree.order
    ]
    assert len(set(leaves.marker.color)) == 4
    assert overlapping(figure) == []
    assert "merged at" in plot.to_svg(figure)


def test_a_cut_has_colours(fit):
    figure = plot.tree(fit.tree(linkage="ward"), cut=2)
    colours = figure.data[-2].marker.color
    groups = fit.tree(linkage="ward").groups(2)
    of = dict(zip(fit.tree(linkage="ward").order, colours, strict=True))
    assert [len({of[k] for k in group}) for group in groups] == [1, 1]
    assert len(set(colours)) == 2
    low, high = sorted(fit.tree(linkage="ward").merges[1:, 2])
    assert low < figure.layout.shapes[0].x0 < high
    assert "ward linkage" in figure.layout.xaxis.title.text
    by_height = plot.tree(fit, height=2.0)
    assert len(set(by_height.data[-2].marker.color)) == 1


def test_one_component_and_no_fit(refused):
    one = discan.LDA(1, max_iter=2, progress=False).fit(np.ones((3, 4), dtype=int))
    assert len(plot.tree(one, cut=1).data) == 2
    refused(lambda: plot.tree(np.eye(3)), "needs a fit")
