# SPDX-License-Identifier: BSD-3-Clause
"""Figures are written to files as HTML, SVG and PNG."""

import logging
import re
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

from discan import InputError, StorageError, plot
from discan.plot import export

needs_browser = pytest.mark.skipif(
    export.browser() is None, reason="neither Chrome nor Chromium is installed"
)


def test_save(tmp_path, shares, names):
    figure = plot.membership(shares, names)
    path = plot.save(figure, tmp_path / "figure.svg")
    assert path.read_text("utf-8") == plot.to_svg(figure)
    page = plot.save(figure, tmp_path / "figure.HTML").read_text("utf-8")
    assert "<title>Components of each document</title>" in page
    assert 'aria-label="Stacked bars' in page
    assert [entry.name for entry in sorted(tmp_path.iterdir())] == ["figure.HTML", "figure.svg"]
    with pytest.raises(InputError, match=r"must end in \.html, \.svg, \.pdf, \.png"):
        plot.save(figure, tmp_path / "figure.jpg")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(StorageError):
        plot.save(figure, tmp_path / "folder.svg")


def test_pdf(tmp_path, shares, monkeypatch, caplog):
    """Letters that Helvetica lacks need a browser, or become question marks, which is said."""
    monkeypatch.setattr(export, "browser", lambda: None)
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)
    latin = plot.membership(shares, ["Zoë", "Ann", "Bob", "Cy"])
    assert plot.save(latin, tmp_path / "latin.pdf").read_bytes().startswith(b"%PDF-1.4")
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "discan"):
        plot.save(plot.membership(shares, ["Анна", "Ann", "Bob", "Cy"]), tmp_path / "other.pdf")
    assert "3 letters (А а н) are not in the font" in caplog.text


@needs_browser
def test_pdf_by_a_browser(tmp_path, shares):
    figure = plot.membership(shares, ["Анна", "Ann", "Bob", "Cy"])
    data = plot.save(figure, tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in data  # its fonts are inside
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    size = float(box[1]) / 0.75, float(box[2]) / 0.75
    assert size == pytest.approx((figure.layout.width, figure.layout.height), abs=2)
    assert data.count(b"/Type /Page\n") == 1


def test_png_without_a_browser(tmp_path, monkeypatch, shares):
    monkeypatch.setattr(export, "browser", lambda: None)
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(InputError, match="Chrome or Chromium"):
        plot.save(plot.membership(shares), tmp_path / "figure.png")
    assert not list(tmp_path.iterdir())


def test_png_by_cairosvg(tmp_path, monkeypatch, shares):
    class Cairo:
        @staticmethod
        def svg2png(bytestring, scale):
            return b"picture %d" % scale

    monkeypatch.setattr(export, "browser", lambda: None)
    monkeypatch.setitem(sys.modules, "cairosvg", Cairo)
    path = plot.save(plot.membership(shares), tmp_path / "figure.png", scale=3)
    assert path.read_bytes() == b"picture 3"


def test_browser_can_be_named(tmp_path, monkeypatch, shares):
    program = tmp_path / "my-chrome"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(program))
    assert export.browser() == str(program)
    with pytest.raises(InputError, match="drew nothing \\(exit code 3\\)"):
        plot.save(plot.membership(shares), tmp_path / "figure.png")


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
def test_every_kind_in_a_browser(figures, tmp_path):
    """Plotly draws every mark of every figure, and nothing is said on the console."""
    drawn = figures
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
        "sizes": (r'<g class="point"', 2), "words": (r'<g class="point"', 4),
        "answers": (r'<g class="point"', 4), "labels": (r'<g class="point"', 6),
        "time": (r'class="js-line"', 3),
    }  # fmt: skip
    for kind, (mark, n) in marks.items():
        assert len(re.findall(mark, sections[kind])) >= n, kind
        assert drawn[kind].layout.title.text.split("<br>")[0] in sections[kind]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda shares: plot.save(plot.membership(shares), "x.png", scale=0), "scale=0"),
        (lambda shares: plot.save("figure", "x.html"), "Plotly figure"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message, refused, shares):
    refused(lambda: call(shares), message)
