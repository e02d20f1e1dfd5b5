# SPDX-License-Identifier: BSD-3-Clause
"""Figures show the right numbers in the right order, and are drawn by Plotly and by ourselves."""

import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np
import pandas
import pytest
from scipy.spatial.distance import jensenshannon

import discan
from discan import InputError, StorageError, plot
from discan.plot import export
from discan.plot.component_map import distances, scaling
from discan.plot.heatmap import distinctive_groups
from discan.plot.inputs import components_of
from discan.plot.theme import PALETTE, label, linear_ticks, number_ticks

SVG = "{http://www.w3.org/2000/svg}"
SHARES = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.9, 0.1, 0.0]])
NAMES = ["Ann", "Bob", "Cy & <b>Co</b>", "D\x1b[31m\u202e"]
WORDS = ["apple", "pear", "plum", "boat", "ship", "sail"]
FRUIT = np.array([[5, 3, 2, 0, 0, 0], [0, 0, 0, 4, 4, 2], [1, 1, 1, 1, 1, 1]]) / [[10], [10], [6]]

needs_browser = pytest.mark.skipif(
    export.browser() is None, reason="neither Chrome nor Chromium is installed"
)


@pytest.fixture(scope="module")
def texts():
    """A fit to text by optimisation, names known."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(30, FRUIT[rng.integers(0, 2, 40)])
    corpus = discan.Corpus(counts, document_names=[f"text {i}" for i in range(40)],
                           word_names=WORDS)  # fmt: skip
    return discan.LDA(2, alpha=0.1, max_iter=30, random_state=0, progress=False).fit(corpus)


@pytest.fixture(scope="module")
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


def figures(texts, votes):
    """One of every kind."""
    return {
        "membership": plot.membership(SHARES, NAMES),
        "squares": plot.membership_squares(SHARES, NAMES, ["D", "R", "D", "R"], order=range(4)),
        "structure": plot.structure(SHARES, ["a", "b", "a", "b"], names=NAMES),
        "heatmap of text": plot.heatmap(texts, n_words=2),
        "heatmap of votes": plot.heatmap(votes),
        "trace": plot.trace(votes),
        "quality": plot.quality({2: [1.0, 1.1], 3: [2.0, 2.1], 4: [2.02, 2.11]}),
        "map": plot.component_map(FRUIT, words=WORDS, sizes=[1, 2, 1]),
    }


# ---- documents ----


def test_membership():
    figure = plot.membership(SHARES, NAMES, components=["x", "y", "z"])
    assert [trace.name for trace in figure.data] == ["x", "y", "z"]
    for k, trace in enumerate(figure.data):
        np.testing.assert_allclose(trace.y, SHARES[:, k])
        np.testing.assert_array_equal(trace.x, range(4))
    assert figure.layout.barmode == "stack"
    assert list(figure.layout.xaxis.ticktext) == [
        "Ann", "Bob", "Cy &amp; &lt;b&gt;Co&lt;/b&gt;", "D\ufffd[31m\ufffd",
    ]  # fmt: skip
    assert figure.data[1].hovertext[0] == "Ann<br>y: 20.0%"


def test_membership_in_order():
    by_number = plot.membership(SHARES, order=[3, 1, 2, 0])
    np.testing.assert_allclose(by_number.data[0].y, SHARES[[3, 1, 2, 0], 0])
    # component 0 is the largest, so its documents come first, the purest of them in front
    similar = plot.membership(SHARES, order="similar")
    np.testing.assert_allclose(similar.data[0].y, SHARES[[3, 0, 1, 2], 0])


def test_membership_of_amounts_frames_and_estimators(texts):
    amounts = plot.membership(SHARES * [[10], [1], [3], [0.1]])
    np.testing.assert_allclose(amounts.data[2].y, SHARES[:, 2])
    frame = pandas.DataFrame(SHARES, index=NAMES, columns=["x", "y", "z"])
    given = plot.membership(frame)
    assert [trace.name for trace in given.data] == ["x", "y", "z"]
    assert given.layout.xaxis.ticktext[0] == "Ann"
    fitted = plot.membership(texts)
    np.testing.assert_allclose(fitted.data[1].y, texts.proportions_[:, 1])
    assert fitted.layout.xaxis.ticktext[39] == "text 39"
    words = {trace.name.partition(": ")[2].split(", ")[0] for trace in fitted.data}
    assert words <= {"apple", "boat", "ship"}
    assert len(words) == 2


def test_squares():
    figure = plot.membership_squares(
        SHARES, ["a", "b", "c", "d"], ["R", "D", "R", "D"], order=[4, 1, 2, 3]
    )
    assert len(figure.data) == 2
    np.testing.assert_allclose(figure.data[0].z, SHARES[[1, 3]].T)  # D holds the first, b
    np.testing.assert_allclose(figure.data[1].z, SHARES[[2, 0]].T)
    assert list(figure.layout.xaxis.ticktext) == ["b", "d"]
    assert list(figure.layout.xaxis2.ticktext) == ["c", "a"]
    assert [note.text for note in figure.layout.annotations[1:]] == ["D", "R"]
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]
    first, second = figure.layout.yaxis.range
    assert first > second  # the first component on top


def test_squares_go_on_below():
    figure = plot.membership_squares(np.ones((100, 2)), rows=["a"] * 95 + ["b"] * 5)
    assert [np.shape(trace.z) for trace in figure.data] == [(2, 80), (2, 15), (2, 5)]
    assert [note.text for note in figure.layout.annotations[1:]] == ["a", "b"]
    assert figure.layout.xaxis2.ticktext[0] == "document 80"


def test_words_of_ones_own(texts, votes):
    words = {"title": "This", "subtitle": "and that"}
    made = [
        plot.membership(SHARES, **words), plot.membership_squares(SHARES, **words),
        plot.structure(SHARES, **words), plot.heatmap(texts, **words), plot.heatmap(votes, **words),
        plot.component_map(FRUIT, **words), plot.trace(votes, **words),
        plot.quality({2: 1.0}, **words),
    ]  # fmt: skip
    for figure in made:
        text = plot.to_svg(figure)
        assert ">This</text>" in text
        assert ">and that</text>" in text


def test_structure():
    figure = plot.structure(SHARES, ["a", "b", "a", "b"], names=list("wxyz"))
    assert list(figure.layout.xaxis.ticktext) == ["a", "b"]
    np.testing.assert_allclose(figure.layout.xaxis.tickvals, [1, 3])
    assert [shape.x0 for shape in figure.layout.shapes] == [2]
    # inside a: w (0.7 of component 0), then y; inside b: z, then x, for component 0 leads there
    order = [0, 2, 3, 1]
    assert [text.split(",")[0] for text in figure.data[-1].hovertext] == ["w", "y", "z", "x"]
    bottom = np.zeros(4)
    for k in range(3):
        x, y = figure.data[k].x, figure.data[k].y
        np.testing.assert_array_equal(x, [0, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 2, 2, 1, 1, 0])
        np.testing.assert_allclose(y[:8:2], bottom + SHARES[order, k], atol=1e-5)
        np.testing.assert_allclose(y[:7:-1][::2], bottom, atol=1e-5)
        bottom = bottom + SHARES[order, k]
    unsorted = plot.structure(SHARES, ["a", "b", "a", "b"], sort=False)
    assert unsorted.data[-1].hovertext[2].startswith("individual 1, b")


def test_structure_of_thousands_has_few_traces():
    shares = np.random.default_rng(0).dirichlet([0.2] * 4, 5000)
    figure = plot.structure(shares)
    assert len(figure.data) == 5
    main = shares.argmax(axis=1)
    largest = np.argsort(-shares.sum(axis=0))
    first = [int(re.match(r"individual (\d+)", t)[1]) for t in figure.data[-1].hovertext]
    assert sorted(first) == list(range(5000))
    assert list(dict.fromkeys(main[first])) == list(largest)
    root = ElementTree.fromstring(plot.to_svg(figure))
    assert len(root.findall(f".//{SVG}path")) == 4


# ---- components ----


def test_heatmap_of_text():
    figure = plot.heatmap(FRUIT[:2], words=WORDS, sizes=[3, 1], n_words=2)
    assert list(figure.layout.yaxis.ticktext) == ["apple", "pear", "boat", "ship"]
    np.testing.assert_allclose(figure.data[0].z, [[1, 0], [1, 0], [0, 1], [0, 1]])
    shared = plot.heatmap([[0.5, 0.5], [1.0, 0.0]], words=["a", "b"], sizes=[1, 1], n_words=1)
    np.testing.assert_allclose(shared.data[0].z, [[1 / 3, 2 / 3]])


def test_heatmap_of_groups(votes):
    figure = plot.heatmap(votes)
    names = list(figure.layout.yaxis.ticktext)
    # of two answers the first, of three all
    assert sorted(names) == [
        "question: a", "question: b", "question: c", "vote 0: yea", "vote 1: yea", "vote 2: yea",
    ]  # fmt: skip
    assert set(names[:2]) == {"vote 0: yea", "vote 2: yea"}  # where the camps differ most
    row = names.index("vote 2: yea")
    np.testing.assert_allclose(figure.data[0].z[row], votes.components_[:, 4])
    assert len(plot.heatmap(votes, n_groups=1).data[0].z) == 1
    chosen = plot.heatmap(votes, group=["vote 1", 0])
    assert list(chosen.layout.yaxis.ticktext) == ["vote 1: yea", "vote 0: yea"]
    two = plot.heatmap(votes, group="question", n_words=2).layout.yaxis.ticktext
    assert len(two) == 2
    assert all(name.startswith("question: ") for name in two)


def test_components_of_another_library():
    from sklearn.decomposition import NMF

    counts = np.random.default_rng(0).poisson(3.0, (20, 6))
    theirs = NMF(2, random_state=0).fit(counts)
    figure = plot.heatmap(theirs, words=WORDS, n_words=2)
    assert list(figure.layout.xaxis.ticktext) == ["nmf0", "nmf1"]
    assert set(figure.layout.yaxis.ticktext) <= set(WORDS)


def test_distinctive_groups():
    components = components_of(
        [[0.5, 0.5, 0.9, 0.1, 0.6, 0.4], [0.5, 0.5, 0.1, 0.9, 0.4, 0.6]],
        None, None, None, [0, 0, 1, 1, 2, 2],
    )  # fmt: skip
    assert list(distinctive_groups(components)) == [1, 2, 0]


def test_distances_and_scaling():
    components = components_of(FRUIT, None, None, None, None)
    expected = [[jensenshannon(a, b, base=2) for b in FRUIT] for a in FRUIT]
    np.testing.assert_allclose(distances(components), expected, atol=1e-7)
    hellinger = distances(components, "hellinger")
    np.testing.assert_allclose(hellinger[0, 1], 1.0)
    place, kept = scaling(hellinger)
    between = np.linalg.norm(place[:, None] - place[None, :], axis=2)
    np.testing.assert_allclose(between, hellinger, atol=1e-7)  # three points fit on a plane
    assert kept == pytest.approx(1.0)
    assert scaling(np.zeros((1, 1)))[0].tolist() == [[0, 0]]


def test_component_map():
    figure = plot.component_map(FRUIT, words=WORDS, sizes=[1, 4, 0], components=["x", "y", "z"])
    circles = figure.data[0]
    assert circles.marker.size[1] == pytest.approx(2 * circles.marker.size[0])  # area by share
    assert circles.marker.size[2] > 0  # an empty one can still be seen
    notes = [note.text for note in figure.layout.annotations]
    assert "x<br>apple, pear, plum" in notes
    wide, tall = (
        abs(np.diff(axis.range)[0]) for axis in (figure.layout.xaxis, figure.layout.yaxis)
    )
    margin, layout = figure.layout.margin, figure.layout
    across, up = layout.width - margin.l - margin.r, layout.height - margin.t - margin.b
    assert wide / across == pytest.approx(tall / up, rel=1e-6)  # the same scale either way
    for n in (1, 2):
        assert len(plot.component_map(FRUIT[:n]).data[0].x) == n


# ---- fits ----


def test_trace(votes, texts):
    figure = plot.trace(votes)
    line, draws = figure.data
    np.testing.assert_array_equal(line.x, range(1, 19))
    np.testing.assert_allclose(line.y, votes.trace_["objective"])
    np.testing.assert_array_equal(draws.x, [12, 14, 16, 18])
    assert figure.layout.shapes[0].x0 == 12
    assert len(plot.trace(texts).data) == 1  # no draws
    late = plot.trace(votes, against="seconds", skip=4)
    np.testing.assert_allclose(late.data[0].x, votes.trace_["seconds"][4:])
    both = plot.trace([votes, texts.trace_, [1.0, 2.0]], names=["a", "b", "c"])
    assert [trace.name for trace in both.data if trace.mode == "lines"] == ["a", "b", "c"]


def test_quality():
    table = {3: [2.0, 2.2], 2: [1.0, 1.1], 5: [2.1, 2.25]}
    figure = plot.quality(table)
    mean = figure.data[1]
    np.testing.assert_array_equal(mean.x, [2, 3, 5])
    np.testing.assert_allclose(mean.y, [1.05, 2.1, 2.175])
    np.testing.assert_allclose(mean.error_y.array, [0.05, 0.1, 0.075])
    assert figure.layout.meta["best"] == 5
    assert figure.layout.meta["one_standard_error"] == 3
    frame = pandas.DataFrame(list(table.values()), index=list(table))
    np.testing.assert_allclose(plot.quality(frame).data[1].y, mean.y)
    perplexity = plot.quality({k: np.negative(v) for k, v in table.items()}, higher_is_better=False)
    assert perplexity.layout.meta["one_standard_error"] == 3
    single = plot.quality({2: 1.0, 3: 2.0})
    assert single.layout.meta["one_standard_error"] is None
    assert single.layout.meta["best"] == 3


def test_quality_of_a_grid_search():
    from sklearn.model_selection import GridSearchCV

    counts = np.random.default_rng(0).poisson(2.0, (24, 6))
    estimator = discan.LDA(max_iter=3, random_state=0, progress=False)
    search = GridSearchCV(estimator, {"n_components": [1, 2]}, cv=3).fit(counts)
    figure = plot.quality(search.cv_results_)
    np.testing.assert_allclose(figure.data[1].y, search.cv_results_["mean_test_score"])
    assert figure.layout.meta["best"] == search.best_params_["n_components"]


# ---- looks ----


def test_colours():
    assert plot.colours(3) == ["#0072b2", "#e69f00", "#009e73"]
    many = plot.colours(36)
    assert len(set(many)) == 36
    assert tuple(many[:12]) == PALETTE
    assert plot.colours(0) == []


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


def test_ticks_and_labels():
    np.testing.assert_allclose(linear_ticks(-0.3, 1.02), [-0.25, 0, 0.25, 0.5, 0.75, 1])
    assert number_ticks(-0.3, 1.02)["ticktext"][0] == "-0.25"
    assert number_ticks(-2, 9)["ticktext"][:2] == ["-2", "0"]
    assert number_ticks(10000, 30000)["ticktext"][1] == "15,000"
    np.testing.assert_allclose(linear_ticks(2.0, 2.0), [2.0])
    assert label("a<b>\n c") == "a&lt;b&gt; c"
    assert label("abcdefghij", 5) == "abcd…"
    assert label("train/one/12345", 9, keep_end=True) == "tr…/12345"


# ---- plain SVG ----


def test_svg_of_every_kind(texts, votes):
    marks = {
        "membership": ("rect", 11 + 3), "squares": ("rect", 12), "structure": ("path", 3),
        "heatmap of text": ("rect", 8), "heatmap of votes": ("rect", 12), "trace": ("circle", 4),
        "quality": ("circle", 6 + 3 + 2), "map": ("circle", 3),
    }  # fmt: skip
    for kind, figure in figures(texts, votes).items():
        text = plot.to_svg(figure)
        assert text == plot.to_svg(figure)
        root = ElementTree.fromstring(text)
        assert root.get("role") == "img"
        assert float(root.get("width")) == figure.layout.width
        assert root.findtext(f"{SVG}title") == figure.layout.title.text
        assert len(root.findtext(f"{SVG}desc")) > 30
        element, n = marks[kind]
        drawn = sum(len(group.findall(f".//{SVG}{element}")) for group in root.findall(f"{SVG}g"))
        legend = len(root.findall(f"{SVG}{element}"))
        frame = {"rect": 1, "circle": 0, "path": 0}[element]  # the paper
        assert drawn + (legend - frame if kind == "membership" else 0) == n, kind
        for element in root.iter():
            values = " ".join(element.attrib.values())
            assert "nan" not in values
            assert "inf" not in values
            assert not any(name.startswith("on") or "href" in name for name in element.attrib)


def test_svg_places():
    figure = plot.membership([[0.25, 0.75]], ["only"])
    root = ElementTree.fromstring(plot.to_svg(figure))
    below, above = (group.find(f"{SVG}rect") for group in root.findall(f".//{SVG}g[@class='bar']"))
    tall = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    assert float(below.get("height")) == pytest.approx(tall / 4, abs=0.01)
    assert float(above.get("height")) == pytest.approx(3 * tall / 4, abs=0.01)
    top = float(above.get("y"))
    assert top == pytest.approx(figure.layout.margin.t, abs=0.01)
    assert float(below.get("y")) == pytest.approx(top + 3 * tall / 4, abs=0.01)
    assert below.get("fill") == PALETTE[0]
    assert below.findtext(f"{SVG}title") == "only\ncomponent 0: 25.0%"


def test_svg_follows_changes():
    figure = plot.membership(SHARES)
    figure.update_layout(title_text="A <b>new</b> title", width=900)
    figure.update_traces(marker_color="rgb(1, 2, 3)")
    text = plot.to_svg(figure)
    assert ">A new title<" in text
    assert 'fill="rgb(1, 2, 3)"' in text
    assert 'width="900"' in text


def test_svg_shows_names_as_text():
    root = ElementTree.fromstring(plot.to_svg(plot.membership(SHARES, NAMES)))
    shown = [element.text for element in root.iter(f"{SVG}text")]
    assert "Cy & <b>Co</b>" in shown
    assert "D\ufffd[31m\ufffd" in shown
    dark = plot.membership(SHARES)
    dark.layout.meta = {"description": "</desc><script>x</script>"}
    assert "<script" not in plot.to_svg(dark)


def test_svg_refuses_what_it_cannot_draw():
    from plotly import graph_objects

    refused = [
        graph_objects.Figure(graph_objects.Bar(x=[1], y=[2])),
        plot.membership(SHARES).add_trace({"type": "pie", "values": [1]}),
        plot.membership(SHARES).update_layout(barmode="group"),
        plot.membership(SHARES).update_yaxes(type="log"),
        plot.trace([1.0, 2.0]).add_shape({"type": "rect", "x0": 0, "x1": 1, "y0": 0, "y1": 1}),
    ]
    for figure in refused:
        with pytest.raises(InputError, match=r"save it as \.html"):
            plot.to_svg(figure)
    with pytest.raises(InputError, match="Plotly figure"):
        plot.to_svg("a figure")


# ---- files ----


def test_save(tmp_path):
    figure = plot.membership(SHARES, NAMES)
    path = plot.save(figure, tmp_path / "figure.svg")
    assert path.read_text("utf-8") == plot.to_svg(figure)
    page = plot.save(figure, tmp_path / "figure.HTML").read_text("utf-8")
    assert "<title>Membership of each document</title>" in page
    assert 'aria-label="Stacked bars' in page
    assert not re.search(r"<script[^>]+src=", page)  # nothing is fetched
    assert [entry.name for entry in sorted(tmp_path.iterdir())] == ["figure.HTML", "figure.svg"]
    with pytest.raises(InputError, match=r"must end in \.html, \.svg, \.png"):
        plot.save(figure, tmp_path / "figure.pdf")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(StorageError):
        plot.save(figure, tmp_path / "folder.svg")


def test_png_without_a_browser(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "browser", lambda: None)
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(InputError, match="Chrome or Chromium"):
        plot.save(plot.membership(SHARES), tmp_path / "figure.png")
    assert not list(tmp_path.iterdir())


def test_png_by_cairosvg(tmp_path, monkeypatch):
    class Cairo:
        @staticmethod
        def svg2png(bytestring, scale):
            return b"picture %d" % scale

    monkeypatch.setattr(export, "browser", lambda: None)
    monkeypatch.setitem(sys.modules, "cairosvg", Cairo)
    path = plot.save(plot.membership(SHARES), tmp_path / "figure.png", scale=3)
    assert path.read_bytes() == b"picture 3"


def test_browser_can_be_named(tmp_path, monkeypatch):
    program = tmp_path / "my-chrome"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(program))
    assert export.browser() == str(program)
    with pytest.raises(InputError, match="drew nothing \\(exit code 3\\)"):
        plot.save(plot.membership(SHARES), tmp_path / "figure.png")


def pixels(data):
    """Decode a PNG of 8-bit colours, (height, width, channels)."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            wide, tall, depth, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    assert depth == 8
    n = {2: 3, 6: 4}[colour]
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(tall, 1 + wide * n)
    picture = np.zeros((tall, wide, n), dtype=np.int64)
    above = np.zeros((wide, n), dtype=np.int64)
    for y, row in enumerate(rows):
        line = row[1:].astype(np.int64).reshape(wide, n)
        if row[0] == 2:
            line = (line + above) % 256
        elif row[0]:
            left, corner = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
            for x in range(wide):
                guess = left
                if row[0] == 3:
                    guess = (left + above[x]) // 2
                elif row[0] == 4:
                    p = left + above[x] - corner
                    a, b, c = abs(p - left), abs(p - above[x]), abs(p - corner)
                    guess = np.where((a <= b) & (a <= c), left, np.where(b <= c, above[x], corner))
                line[x] = left = (line[x] + guess) % 256
                corner = above[x]
        picture[y] = above = line
    return picture


@needs_browser
def test_png_shows_the_colours(tmp_path):
    figure = plot.membership([[0.5, 0.5], [0.5, 0.5]])
    path = plot.save(figure, tmp_path / "figure.png", scale=0.5)
    picture = pixels(path.read_bytes())[..., :3]
    assert abs(picture.shape[0] - figure.layout.height / 2) <= 1
    assert abs(picture.shape[1] - figure.layout.width / 2) <= 1
    for colour in plot.colours(2):
        wanted = [int(colour[n : n + 2], 16) for n in (1, 3, 5)]
        share = (np.abs(picture - wanted).max(axis=2) <= 2).mean()
        assert 0.04 < share < 0.3  # half of the bars each


@needs_browser
def test_every_kind_in_a_browser(texts, votes, tmp_path):
    """Plotly draws every mark of every figure, and nothing is said on the console."""
    drawn = figures(texts, votes)
    parts = [
        f"<section>{figure.to_html(full_html=False, include_plotlyjs=n == 0)}</section>"
        for n, figure in enumerate(drawn.values())
    ]
    page = tmp_path / "page.html"
    page.write_text(f'<meta charset="utf-8">{"".join(parts)}', "utf-8")
    done = subprocess.run(
        [export.browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", f"--user-data-dir={tmp_path}/profile", "--virtual-time-budget=20000",
         "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    sections = dict(zip(drawn, done.stdout.split("<section>")[1:], strict=True))
    marks = {
        "membership": (r'<g class="point"', 12), "squares": (r"<image", 2),
        "structure": (r'class="js-fill"', 3), "heatmap of text": (r"<image", 1),
        "heatmap of votes": (r"<image", 1), "trace": (r'<path class="point', 4),
        "quality": (r'class="yerror"', 3), "map": (r'<path class="point', 3),
    }  # fmt: skip
    for kind, (mark, n) in marks.items():
        assert len(re.findall(mark, sections[kind])) >= n, kind
        assert drawn[kind].layout.title.text in sections[kind]


# ---- doors ----


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.membership("x"), "proportions='x'"),
        (lambda: plot.membership([1.0, 2.0]), "shape"),
        (lambda: plot.membership(np.empty((0, 2))), "shape"),
        (lambda: plot.membership([[0.5, np.nan]]), r"proportions\[0, 1\] = nan"),
        (lambda: plot.membership([[0.5, -1]]), "not negative"),
        (lambda: plot.membership([[1, 0], [0, 0]]), "row 1 of proportions is all zero"),
        (lambda: plot.membership(SHARES, ["a"]), "names must be 4 labels"),
        (lambda: plot.membership(SHARES, "abcd"), "names must be 4 labels"),
        (lambda: plot.membership(SHARES, order="size"), "order='size'"),
        (lambda: plot.membership(SHARES, order=[1, 2]), "4 numbers"),
        (lambda: plot.membership(SHARES, components=["a"]), "components must be 3 labels"),
        (lambda: plot.membership(np.ones((1001, 2))), "use plot.structure"),
        (lambda: plot.membership_squares(np.ones((1001, 2))), "use plot.structure"),
        (lambda: plot.membership(discan.LDA(2)), "no training documents"),
        (lambda: plot.structure(SHARES, ["a"]), "groups must be 4 labels"),
        (lambda: plot.membership_squares(SHARES, rows=["a"]), "rows must be 4 labels"),
        (lambda: plot.heatmap(discan.LDA(2)), "not fitted"),
        (lambda: plot.heatmap(FRUIT, "vote"), "not in groups"),
        (lambda: plot.heatmap(FRUIT, words=["a"]), "words must be 6 labels"),
        (lambda: plot.heatmap(FRUIT, sizes=[1]), "sizes must be 3 numbers"),
        (lambda: plot.heatmap(FRUIT, sizes=[0, 0, 0]), "sizes are all zero"),
        (lambda: plot.heatmap(FRUIT, n_words=0), "n_words=0"),
        (lambda: plot.heatmap(FRUIT, 9, groups=[0, 0, 0, 1, 1, 1]), "component 0 is all zero"),
        (lambda: plot.heatmap(FRUIT[2:], 9, groups=[0, 0, 0, 1, 1, 1]), "group=9 is not known"),
        (lambda: plot.heatmap(FRUIT[2:], [], groups=[0, 0, 0, 1, 1, 1]), "empty list"),
        (lambda: plot.component_map(FRUIT, distance="euclid"), "distance='euclid'"),
        (lambda: plot.trace(discan.LDA(2)), "no trace"),
        (lambda: plot.trace([]), "nothing to draw"),
        (lambda: plot.trace([1.0, np.inf]), "finite numbers"),
        (lambda: plot.trace([1.0], against="seconds"), "no seconds"),
        (lambda: plot.trace([1.0], against="time"), "against='time'"),
        (lambda: plot.trace([1.0, 2.0], skip=2), "leaves nothing"),
        (lambda: plot.quality({}), "no scores"),
        (lambda: plot.quality([1, 2]), "no scores"),
        (lambda: plot.quality({0: 1.0}), "K=0"),
        (lambda: plot.quality({"many": 1.0}), "K='many'"),
        (lambda: plot.quality({2: [np.nan]}), "scores of K=2"),
        (lambda: plot.quality({"split0_test_score": [1.0]}), "did not vary n_components"),
        (lambda: plot.colours(-1), "n=-1"),
        (lambda: plot.save(plot.membership(SHARES), "x.png", scale=0), "scale=0"),
        (lambda: plot.save("figure", "x.html"), "Plotly figure"),
    ],
)  # fmt: skip
def test_bad_input_is_told_in_a_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_without_plotly(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(InputError, match="pip install plotly"):
        plot.membership(SHARES)
