# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of figures: no text covers another, whatever the names are; a page leaves titles out."""

import numpy as np
import pytest

import discan
from discan import plot
from discan.data.nouns import TEXT
from discan.plot.drawing import draw
from discan.plot.scene import Columns, Layer, Text

LONG = "a name that is much longer than anyone would expect of a component"
METADATA = {
    "kind": [f"{LONG} {n % 3}" for n in range(40)],
    "place": [f"p{n % 13}" for n in range(40)],
    "date": [f"2001-{1 + n % 12:02}-11" for n in range(40)],
}


@pytest.fixture(scope="module", params=[1, 2, 7, 25], ids=lambda k: f"{k} components")
def fit(request):
    """A fit whose components, words and documents have long names."""
    rng = np.random.default_rng(0)
    corpus = discan.Corpus(
        rng.poisson(0.6, (40, 60)), word_names=[f"word{j} {'x' * (j % 30)}" for j in range(60)],
        document_names=[f"{LONG}/{n}" for n in range(40)], nouns=TEXT, metadata=METADATA,
    )  # fmt: skip
    found = discan.LDA(request.param, max_iter=3, random_state=0, progress=False).fit(corpus)
    return found.name_components([f"{LONG} {k}" for k in range(request.param)])


@pytest.fixture(scope="module", params=[2, 5], ids=lambda n: f"{n} answers")
def survey(request):
    """A fit to answers with long names."""
    rng = np.random.default_rng(0)
    questions = np.repeat([f"{LONG}, question {g}" for g in range(30)], request.param)
    corpus = discan.Corpus(
        rng.poisson(0.6, (40, len(questions))), groups=questions, metadata=METADATA,
        word_names=[f"{q}={LONG} {n}" for n, q in enumerate(questions)],
    )  # fmt: skip
    found = discan.MPCA(6, max_iter=3, random_state=0, progress=False).fit(corpus)
    return found.name_components([f"{LONG} {k}" for k in range(6)])


def drawn(fit):
    return {
        "sizes": plot.sizes(fit), "words": plot.top_words(fit), "map": plot.component_map(fit),
        "heatmap": plot.heatmap(fit), "structure": plot.structure(fit),
        "by kind": plot.structure(fit, "kind"), "by both": plot.structure(fit, ["kind", "place"]),
        "membership": plot.membership(fit, order="similar"), "trace": plot.trace(fit),
        "squares": plot.membership_squares(fit, labels="kind"),
        "labels": plot.by_label(fit, "kind"), "time": plot.over_time(fit, "date"),
    }  # fmt: skip


def test_no_text_covers_another(fit, overlapping):
    for kind, figure in drawn(fit).items():
        assert overlapping(figure) == [], kind


def test_no_answer_covers_another(survey, overlapping):
    for kind, figure in drawn(survey).items():
        assert overlapping(figure) == [], kind


def texts(shapes):
    for shape in shapes:
        if isinstance(shape, Layer):
            yield from texts(shape.shapes)
        elif isinstance(shape, Text):
            yield shape.text


def test_a_page_leaves_titles_and_legends_out(shares):
    figure = plot.structure(shares, list("abab"))
    whole, bare = draw(figure), draw(figure, plot_only=True)
    assert {"component 1", whole.title, whole.subtitle} <= set(texts(whole.shapes))
    assert not {"component 1", whole.title, whole.subtitle} & set(texts(bare.shapes))
    assert (bare.title, bare.subtitle) == (whole.title, whole.subtitle)
    assert [key.name for key in bare.legend] == ["component 1", "component 2", "component 3"]
    assert [key.part for key in bare.legend] == [0, 1, 2]
    assert bare.width < whole.width
    assert bare.height < whole.height


def test_strips_for_the_pointer(shares):
    scene = draw(plot.structure(shares, list("abab"), names=list("wxyz"), order="name"))
    (panel,) = [shape for shape in scene.shapes if isinstance(shape, Layer)]
    (strips,) = [shape for shape in panel.shapes if isinstance(shape, Columns)]
    assert len(strips.edges) == 5
    assert strips.edges[0] == pytest.approx(strips.frame[0])
    assert [tip.split("\n")[0] for tip in strips.tips] == ["y, a", "w, a", "x, b", "z, b"]
