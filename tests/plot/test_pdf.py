# SPDX-License-Identifier: BSD-3-Clause
"""PDF: the same shapes as in the SVG, in a file that follows the format."""

import re
import shutil
import subprocess
import zlib

import numpy as np
import pytest

from discan import InputError, plot
from discan.plot.drawing import draw
from discan.plot.pdf import foreign_letters, scene_pdf


def content(data):
    """The operators of the page."""
    packed = re.search(rb"stream\n(.*)\nendstream", data, re.DOTALL)[1]
    return zlib.decompress(packed).decode("latin-1")


def test_every_kind(figures):
    for kind, figure in figures.items():
        data = scene_pdf(draw(figure))
        assert data == scene_pdf(draw(figure))
        start = int(re.search(rb"startxref\n(\d+)\n%%EOF\n$", data)[1])
        assert data[start : start + 5] == b"xref\n"
        places = [int(n) for n in re.findall(rb"(\d{10}) 00000 n", data)]
        for number, place in enumerate(places, start=1):
            assert data[place:].startswith(b"%d 0 obj" % number), kind
        text = content(data)
        assert text.count("q\n") == text.count("\nQ")
        assert "nan" not in text
        assert "inf" not in text


def test_places_and_colours():
    figure = plot.membership([[0.25, 0.75]], ["only (one)"])
    text = content(scene_pdf(draw(figure)))
    boxes = re.findall(r"([\d.]+) ([\d.]+) ([\d.]+)? ?rg\n([\d. ]+) re f", text)
    tall = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    heights = [float(box[3].split()[3]) for box in boxes]
    assert tall / 4 in heights
    assert 3 * tall / 4 in heights
    assert r"(only \050one\051) Tj" in text
    blue = " ".join(f"{int('0072b2'[n : n + 2], 16) / 255:.3f}".rstrip("0").rstrip(".") or "0"
                    for n in (0, 2, 4))  # fmt: skip
    assert f"{blue} rg" in text


def test_letters():
    scene = draw(plot.membership(np.ones((4, 2)), ["Zoë − č", "日本", "a", "b"]))
    assert foreign_letters(scene) == "č日本"
    text = content(scene_pdf(scene))
    assert r"(Zo\353 \226 c) Tj" in text
    assert "(??) Tj" in text


def test_colours_that_a_pdf_cannot_have(shares):
    figure = plot.membership(shares).update_traces(marker_color="teal")
    with pytest.raises(InputError, match="'teal' is not a colour of the form #rrggbb"):
        scene_pdf(draw(figure))
    figure.update_traces(marker_color="rgb(1, 2, 3)")
    assert "0.004 0.008 0.012 rg" in content(scene_pdf(draw(figure)))


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not installed")
def test_another_program_reads_it(tmp_path, shares):
    figure = plot.structure(shares, ["north", "south", "north", "south"])
    path = plot.save(figure, tmp_path / "figure.pdf")
    done = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    for word in ("Components of the documents", "north", "component 3", "100 %"):
        assert word in done.stdout
