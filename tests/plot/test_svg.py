# SPDX-License-Identifier: BSD-3-Clause
"""Plain SVG: every kind of figure is drawn, or refused."""

import xml.etree.ElementTree as ElementTree

import pytest

from discan import InputError, plot
from discan.plot.palette import PALETTE
from discan.plot.svg import inline

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_of_every_kind(figures):
    marks = {
        "membership": ("rect", 11 + 3), "squares": ("rect", 12), "structure": ("path", 3),
        "heatmap of text": ("rect", 8), "heatmap of votes": ("rect", 12), "trace": ("circle", 4),
        "quality": ("circle", 6 + 3 + 2), "map": ("circle", 3), "sizes": ("rect", 2),
        "words": ("rect", 4), "answers": ("rect", 4), "labels": ("rect", 6), "time": ("circle", 6),
        "tree": ("circle", 2 + 1), "effects": ("circle", 6),
    }  # fmt: skip
    for kind, figure in figures.items():
        text = plot.to_svg(figure)
        assert text == plot.to_svg(figure)
        root = ElementTree.fromstring(text)
        assert root.get("role") == "img"
        assert float(root.get("width")) == figure.layout.width
        assert root.findtext(f"{SVG}title") == figure.layout.title.text.replace("<br>", " ")
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


def test_words_of_ones_own(texts, votes, shares, fruit):
    words = {"title": "This", "subtitle": "and that"}
    made = [
        plot.membership(shares, **words), plot.membership_squares(shares, **words),
        plot.structure(shares, **words), plot.heatmap(texts, **words), plot.heatmap(votes, **words),
        plot.component_map(fruit, **words), plot.trace(votes, **words),
        plot.quality({2: 1.0}, **words), plot.sizes(texts, **words), plot.top_words(texts, **words),
        plot.by_label(shares, list("abab"), **words), plot.over_time(shares, [1, 2, 3, 4], **words),
    ]  # fmt: skip
    for figure in made:
        text = plot.to_svg(figure)
        assert ">This</text>" in text
        assert ">and that</text>" in text


def test_svg_places():
    figure = plot.membership([[0.25, 0.75]], ["only"])
    root = ElementTree.fromstring(plot.to_svg(figure))
    below, above = (group.find(f"{SVG}rect") for group in root.findall(f".//{SVG}g[@class='bar']"))
    tall = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    assert float(above.get("height")) == pytest.approx(tall / 4, abs=0.01)
    assert float(below.get("height")) == pytest.approx(3 * tall / 4, abs=0.01)
    top = float(above.get("y"))
    assert top == pytest.approx(figure.layout.margin.t, abs=0.01)
    assert float(below.get("y")) == pytest.approx(top + tall / 4, abs=0.01)
    assert above.get("fill") == PALETTE[0]  # the first component is on top, as in the legend
    assert above.findtext(f"{SVG}title") == "only\ncomponent 1: 25.0 %"


def test_svg_follows_changes(shares):
    figure = plot.membership(shares)
    figure.update_layout(title_text="A <b>new</b> title", width=900)
    figure.update_traces(marker_color="rgb(1, 2, 3)")
    text = plot.to_svg(figure)
    assert ">A new title<" in text
    assert 'fill="rgb(1, 2, 3)"' in text
    assert 'width="900"' in text


def test_svg_shows_names_as_text(shares, names):
    root = ElementTree.fromstring(plot.to_svg(plot.membership(shares, names)))
    shown = [element.text for element in root.iter(f"{SVG}text")]
    assert "Cy & <b>Co</b>" in shown
    assert "D\ufffd[31m\ufffd" in shown
    dark = plot.membership(shares)
    dark.layout.meta = {"description": "</desc><script>x</script>"}
    assert "<script" not in plot.to_svg(dark)


def test_svg_refuses_what_it_cannot_draw(shares):
    from plotly import graph_objects

    refused = [
        graph_objects.Figure(graph_objects.Bar(x=[1], y=[2])),
        plot.membership(shares).add_trace({"type": "pie", "values": [1]}),
        plot.membership(shares).update_layout(barmode="group"),
        plot.membership(shares).update_yaxes(type="log"),
        plot.trace([1.0, 2.0]).add_shape({"type": "rect", "x0": 0, "x1": 1, "y0": 0, "y1": 1}),
    ]
    for figure in refused:
        with pytest.raises(InputError, match="write_html"):
            plot.to_svg(figure)
    with pytest.raises(InputError, match="Plotly figure"):
        plot.to_svg("a figure")


def test_inline_svg_for_a_page(shares, names):
    figure = plot.membership(shares, names)
    root = ElementTree.fromstring(inline(figure))
    assert root.tag == "svg"  # HTML needs no namespace
    assert root.get("aria-label") == figure.layout.meta["description"]
    whole = ElementTree.fromstring(plot.to_svg(figure))
    for element in ("rect", "text"):
        here, there = (
            len([found for found in tree.iter() if found.tag.endswith(element)])
            for tree in (root, whole)
        )
        frame = 2 if element == "rect" else 0  # the paper and the clip path
        assert here == there - frame
    assert not [found for found in root.iter() if "id" in found.attrib]  # a page has several


def test_letters_on_markers_and_colours_of_ticks():
    axis = {"range": [0, 1], "tickvals": [0.5], "ticktext": ["red"]}
    red = {**axis, "ticktext": ['<span style="color:#ff0000">a &lt; b</span>']}
    dots = {
        "type": "scatter", "mode": "markers+text", "x": [0.2, 0.7], "y": [0.5, 0.5],
        "text": ["A", "B"], "textposition": "middle center",
        "textfont": {"color": ["#111", "#222"]},
        "marker": {"color": ["#aaa", "#bbb"], "line": {"color": "#000", "width": [0, 2]}},
    }  # fmt: skip
    layout = {"width": 100, "height": 50, "margin": {"l": 0, "r": 0, "t": 0, "b": 0}}
    figure = {"data": [dots], "layout": {**layout, "xaxis": red, "yaxis": axis}}
    root = ElementTree.fromstring(inline(figure))
    assert [circle.get("stroke-width") for circle in root.iter("circle")] == [None, "2"]
    texts = {text.text: text for text in root.iter("text")}
    assert texts["a < b"].get("fill") == "#ff0000"
    assert texts["red"].get("fill") == "#222222"
    assert texts["B"].get("fill") == "#222"
    assert texts["B"].get("pointer-events") == "none"  # the pointer finds the marker
    dots["textposition"] = "top center"
    with pytest.raises(InputError, match="text above or below"):
        inline(figure)
    red["ticktext"] = ['<span style="color:url(x)">a</span>']
    dots["textposition"] = "middle center"
    with pytest.raises(InputError, match="not a colour"):
        inline(figure)
