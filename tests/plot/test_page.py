# SPDX-License-Identifier: BSD-3-Clause
"""Pages: small, responsive, with text that stays text, and a script that the page allows."""

import base64
import hashlib
import json
import re
import subprocess

import numpy as np
import pytest

from discan import plot
from discan.plot import export
from discan.plot.page import figure_page, figure_part, whole_page

HOSTILE = ['</script><script>document.title="x"</script>', '"><img src=x onerror=alert(1)>', "a&b",
           "\u202egnp\u2028'"]  # fmt: skip


def test_a_page_is_small_and_fetches_nothing(figures):
    for kind, figure in figures.items():
        page = figure_page(figure)
        assert len(page) < 40_000, kind
        assert not re.search(r"(src|href)=", page)
        assert "viewport" in page
        assert figure.layout.title.text.replace("<br>", " ") in page


def test_the_policy_allows_our_script_alone(shares):
    page = figure_page(plot.membership(shares))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )


def test_hostile_names_stay_text(shares):
    made = [
        plot.membership(shares, HOSTILE, component_names=HOSTILE[:3]),
        plot.structure(shares, HOSTILE, names=HOSTILE, component_names=HOSTILE[1:]),
        plot.by_label(shares, HOSTILE, title="<script>"),
    ]
    for figure in made:
        page = figure_page(figure)
        assert page.count("<script>") == 1
        assert "<img" not in page
        assert "\u202e" not in page


def test_titles_and_legends_are_text_of_the_page(shares):
    page = figure_page(plot.membership(shares, component_names=["x", "y", "z"]))
    assert re.search(r"<h1>Components of each document</h1>", page)
    assert re.findall(r'data-key="(\d)"', page) == ["0", "1", "2"]
    assert "<text" not in page.split('<div class="plot">')[0]
    assert page.count(">x<") == 1  # in the legend, not in the drawing
    part = figure_part(plot.membership(shares), "m", "a caption", legend=False)
    assert "<h1>" not in part
    assert "<figcaption>a caption</figcaption>" in part
    assert "data-key" not in part


def test_identifiers_differ_on_a_page(shares, texts):
    parts = [figure_part(plot.trace(texts), "a"), figure_part(plot.heatmap(texts), "b")]
    found = re.findall(r' id="([^"]+)"', "".join(parts))
    assert len(found) == len(set(found)) >= 2


PROBE = """<script>
addEventListener("load", () => {
  const found = {};
  const svg = document.querySelector(".plot svg").getBoundingClientRect();
  found.svg = [svg.left, svg.width, svg.height];
  found.window = [document.documentElement.clientWidth, document.documentElement.scrollWidth];
  found.key = document.querySelector(".key").getBoundingClientRect().height;
  const strip = document.querySelector(".columns");
  const box = strip.getBoundingClientRect();
  const at = (part) => {
    strip.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientY: box.top + 5,
      clientX: box.left + part * box.width}));
    return document.getElementById("tip").textContent;
  };
  found.tips = [at(0.01), at(0.99)];
  document.querySelector("button.key").click();
  found.faint = document.querySelectorAll("svg .faint").length;
  document.querySelector("button.key").click();
  found.after = document.querySelectorAll("svg .faint").length;
  document.title = JSON.stringify(found);
});
</script>"""


@pytest.mark.skipif(export.browser() is None, reason="neither Chrome nor Chromium is installed")
@pytest.mark.parametrize("width", [500, 1400])
def test_in_a_browser(tmp_path, width):
    """The drawing fills the window or scrolls inside it; the script shows texts and components."""
    shares = np.random.default_rng(0).dirichlet([0.3] * 3, 50)
    page = figure_page(plot.structure(shares, np.repeat(["left", "right"], 25), order="given"))
    probed = re.sub(r"<meta http-equiv[^>]*>", "", page).replace("</body>", f"{PROBE}</body>")
    file = tmp_path / "page.html"
    file.write_text(probed, "utf-8")
    done = subprocess.run(
        [export.browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path}/profile", f"--window-size={width},900",
         "--virtual-time-budget=5000", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    import html

    found = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", done.stdout)[1]))
    left, wide, _ = found["svg"]
    inner, scrolled = found["window"]
    assert scrolled <= inner  # the page itself does not scroll sideways
    if width == 1400:
        assert wide > 0.9 * inner
        assert abs(left - (inner - left - wide)) < 3  # in the middle
    else:
        assert wide > inner  # legible: the figure scrolls inside the page
    assert found["tips"][0].startswith("document 0, left\ncomponent ")
    assert found["tips"][1].startswith("document 49, right\n")
    assert found["faint"] == 2
    assert found["after"] == 0


def test_a_page_of_ones_own():
    page = whole_page("A <title>", "<p>body</p>", "p{color:red}")
    assert "<title>A &lt;title&gt;</title>" in page
    assert "p{color:red}</style>" in page
