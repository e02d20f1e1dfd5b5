# SPDX-License-Identifier: BSD-3-Clause
"""The documentation site: it builds without a warning, is complete, and fetches nothing."""

import html
import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import typer
from site_parts import part

import discan
from discan.cli.app import COMMANDS, app
from discan.plot import export

ROOT = Path(__file__).parents[1]
PACKAGES = ("mkdocs", "material", "mkdocstrings_handlers.python")


def test_every_command_and_option_is_in_the_reference():
    page = part("commands").commands_page()
    commands = typer.main.get_command(app).commands
    assert len(commands) == len(COMMANDS)
    for name, command in commands.items():
        section = page.split(f"## discan {name}\n")[1].split("\n## ")[0]
        assert f"$ discan {name} " in section
        assert "[b]" not in section
        for param in command.params:
            if param.param_type_name == "option" and not param.hidden:
                assert all(f"`{flag}" in section for flag in param.opts), (name, param.name)


def test_every_public_name_is_in_the_reference():
    pages = part("reference").reference_pages()
    text = "\n".join(page for _, page in pages.values())
    listed = set(re.findall(r"^::: [\w.]+\.(\w+)$", text, re.MULTILINE))
    assert set(discan.__all__) <= listed
    assert set(discan.plot.__all__) <= listed
    assert set(discan.search.__all__) <= listed


def test_every_figure_is_in_the_gallery():
    gallery = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    drawn = set(re.findall(r"plot\.(\w+)\(", gallery))
    assert drawn >= set(discan.plot.__all__) - {"to_svg"}


class Fetched(HTMLParser):
    """Addresses that a page makes a browser fetch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.found.append(given.get("src") or "")
        if tag == "link" and given.get("rel") != "canonical":
            self.found.append(given.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does."""
    for name in PACKAGES:
        if importlib.util.find_spec(name.split(".")[0]) is None:
            pytest.skip(f"needs {name}: pip install discan[docs]")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", folder],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_is_complete(site):
    made = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    docs = ROOT / "docs"
    pages = {str(path.relative_to(docs).with_suffix(".html")) for path in docs.rglob("*.md")}
    assert pages <= made
    assert {"reference/commands.html", "reference/estimators.html", "contributing.html"} <= made


def test_the_site_fetches_nothing_from_elsewhere(site):
    for path in site.rglob("*.html"):
        reader = Fetched()
        reader.feed(path.read_text("utf-8"))
        assert [a for a in reader.found if re.match(r"(https?:)?//", a)] == [], path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//", path.read_text("utf-8")), path


def test_the_reference_tells_parameters(site):
    text = (site / "reference" / "estimators.html").read_text("utf-8")
    for name in ("dca.DCA", "presets.LDA", "presets.ConditionalGaP", "classifier.DCAClassifier"):
        assert f'id="discan.estimators.{name}"' in text
    assert "Here the default is" in text  # docstrings of presets are put together at import
    assert text.count("Dirichlet prior of the loadings") >= 5


def test_no_paragraph_swallows_a_list(site):
    """What follows a formula inside a list must be indented by four spaces."""
    swallowed = re.compile(r"<p>(?:(?!</p>).)*?\n(?:- |\* )(?:(?!</p>).){0,60}", re.DOTALL)
    found = {path.name: swallowed.findall(path.read_text("utf-8")) for path in site.rglob("*.html")}
    assert {name: texts for name, texts in found.items() if texts} == {}


# Opens every page in a frame of this width, and says how wide each wants to be.
PROBE = """<body><script>
const pages = PAGES, found = {};
function next(i) {
  if (i === pages.length) { document.title = JSON.stringify(found); return; }
  const frame = document.createElement("iframe");
  frame.style.width = "WIDTHpx";
  frame.onload = () => {
    found[pages[i]] = frame.contentDocument.documentElement.scrollWidth;
    frame.remove();
    next(i + 1);
  };
  frame.src = pages[i];
  document.body.append(frame);
}
next(0);
</script>"""


def opened(address, folder, *options):
    """Open a page in a browser, and return what has become of it."""
    if export.browser() is None:
        pytest.skip("neither Chrome nor Chromium is installed")
    done = subprocess.run(
        [export.browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={folder}/profile", "--window-size=1500,900", *options,
         "--virtual-time-budget=60000", "--dump-dom", address],
        capture_output=True, text=True, timeout=200, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("width", [360, 1400])
def test_no_page_scrolls_sideways(site, tmp_path, width):
    pages = sorted(str(p.relative_to(site)) for p in site.rglob("*.html") if p.stem != "404")
    probe = site / f"probe-{width}.html"
    probe.write_text(PROBE.replace("PAGES", json.dumps(pages)).replace("WIDTH", str(width)))
    text = opened(probe.as_uri(), tmp_path, "--allow-file-access-from-files")
    probe.unlink()
    found = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", text)[1]))
    assert len(found) == len(pages) > 50
    assert {page: wide for page, wide in found.items() if wide > width} == {}


def test_search_works_on_pages_opened_from_disk(site, tmp_path):
    page = opened(f"{(site / 'tutorials' / 'votes.html').as_uri()}?q=senate", tmp_path)
    assert re.search(r"\d+ matching documents", page)


def test_formulas_are_set():
    typeset = part("formulas").typeset
    assert typeset("<p>gamma_j + alpha</p>") == "<p>γ<sub>j</sub> + α</p>"
    assert typeset("<p>beta in <code>alpha_k</code></p>") == "<p>β in <code>alpha_k</code></p>"
    assert "gamma density" in typeset("<p>a gamma density</p>")
    assert typeset("<pre><code>prod_jk theta_jk^v_jk</code></pre>") == (
        "<pre><code>Π<sub>jk</sub> θ<sub>jk</sub><sup>v<sub>jk</sub></sup></code></pre>"
    )
    assert typeset("<p>theta_{x_t, z_t}</p>") == "<p>θ<sub>x<sub>t</sub>, z<sub>t</sub></sub></p>"
    assert typeset("<h2>alpha</h2>") == "<h2>alpha</h2>"
