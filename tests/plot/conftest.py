# SPDX-License-Identifier: BSD-3-Clause
"""Data and fits that the tests of figures share."""

import numpy as np
import pytest

import discan
from discan import InputError, plot
from discan.plot.drawing import draw
from discan.plot.lettering import plain_width
from discan.plot.scene import Layer, Text


@pytest.fixture(scope="session")
def shares():
    return np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.9, 0.1, 0.0]])


@pytest.fixture(scope="session")
def names():
    return ["Ann", "Bob", "Cy & <b>Co</b>", "D\x1b[31m\u202e"]


@pytest.fixture(scope="session")
def words():
    return ["apple", "pear", "plum", "boat", "ship", "sail"]


@pytest.fixture(scope="session")
def fruit():
    counts = np.array([[5, 3, 2, 0, 0, 0], [0, 0, 0, 4, 4, 2], [1, 1, 1, 1, 1, 1]])
    return counts / counts.sum(axis=1, keepdims=True)


@pytest.fixture(scope="session")
def texts(words, fruit):
    """A fit to text by optimisation, names known."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(30, fruit[rng.integers(0, 2, 40)])
    corpus = discan.Corpus(counts, document_names=[f"text {i}" for i in range(40)],
                           word_names=words)  # fmt: skip
    return discan.LDA(
        2, algorithm="map", alpha=0.1, max_iter=30, random_state=0, progress=False
    ).fit(corpus)


@pytest.fixture(scope="session")
def votes():
    """A fit to votes by sampling: three votes of two answers, one of three."""
    rng = np.random.default_rng(1)
    left = rng.random(60) < 0.5
    columns = []
    for chance, other in ((1.0, 0.0), (0.5, 0.5), (0.05, 0.95)):
        yea = rng.random(60) < np.where(left, chance, other)
        columns += [yea, ~yea]
    third = rng.integers(0, 3, 60)
    columns += [third == answer for answer in range(3)]
    corpus = discan.Corpus(
        np.column_stack(columns).astype(int),
        groups=[0, 0, 1, 1, 2, 2, 3, 3, 3],
        word_names=[f"vote {g}: {a}" for g in range(3) for a in ("yea", "nay")] + list("abc"),
        group_names=["vote 0", "vote 1", "vote 2", "question"],
    )
    sampler = discan.Collapsed(burn_in=10, n_draws=4, thin=2)
    camps = np.array([[0.9, 0.1, 0.5, 0.5, 0.1, 0.9], [0.1, 0.9, 0.5, 0.5, 0.9, 0.1]])
    start = np.hstack([camps, np.full((2, 3), 1 / 3)])  # a chain so short must begin well
    return discan.MPCA(
        2, algorithm=sampler, alpha=0.1, init=start, random_state=0, progress=False
    ).fit(corpus)


@pytest.fixture(scope="session")
def figures(texts, votes, shares, names, words, fruit):
    """One of every kind."""
    return {
        "membership": plot.membership(shares, names),
        "squares": plot.membership_squares(shares, names, ["D", "R", "D", "R"], order=range(4)),
        "structure": plot.structure(shares, ["a", "b", "a", "b"], names=names),
        "heatmap of text": plot.heatmap(texts, n_words=2),
        "heatmap of votes": plot.heatmap(votes),
        "trace": plot.trace(votes),
        "quality": plot.quality({2: [1.0, 1.1], 3: [2.0, 2.1], 4: [2.02, 2.11]}),
        "map": plot.component_map(fruit, words=words, sizes=[1, 2, 1]),
        "sizes": plot.sizes(texts),
        "words": plot.top_words(texts, n_words=2),
        "answers": plot.top_words(votes, n_words=2),
        "tree": plot.tree(votes, cut=1),
        "effects": plot.effects(votes, list("abc") * 20),
        "labels": plot.by_label(shares, ["a", "b", "a", "b"]),
        "time": plot.over_time(shares, [2001, 2001, 2002, 2002]),
    }


@pytest.fixture
def refused():
    """Check that a call is refused, with a message of one line."""

    def check(call, message):
        with pytest.raises(InputError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)

    return check


@pytest.fixture(scope="session")
def overlapping():
    """Return the pairs of texts of a figure that cover each other, and texts beyond its edges."""

    def find(figure):
        scene = draw(figure)
        boxes = list(text_boxes(scene.shapes))
        found = [
            (a[0], b[0])
            for n, a in enumerate(boxes)
            for b in boxes[n + 1 :]
            if all(min(a[1][i + 2], b[1][i + 2]) - max(a[1][i], b[1][i]) > 0.5 for i in (0, 1))
        ]
        edges = (-0.5, -0.5, scene.width + 0.5, scene.height + 0.5)
        return found + [
            (text, "the edge")
            for text, box in boxes
            if min(box[:2]) < edges[0] or box[2] > edges[2] or box[3] > edges[3]
        ]

    return find


def text_boxes(shapes):
    """Texts of a scene, each with left, top, right and foot."""
    for shape in shapes:
        if isinstance(shape, Layer):
            yield from text_boxes(shape.shapes)
        elif isinstance(shape, Text):
            wide = plain_width(shape.text, shape.size, shape.weight == "bold")
            back = {"start": 0, "middle": 0.5, "end": 1}[shape.anchor] * wide
            above, below = 0.74 * shape.size, 0.2 * shape.size
            if shape.turn == -90:
                box = (shape.x - above, shape.y + back - wide, shape.x + below, shape.y + back)
            else:
                assert shape.turn == 0
                box = (shape.x - back, shape.y - above, shape.x - back + wide, shape.y + below)
            yield shape.text, box
