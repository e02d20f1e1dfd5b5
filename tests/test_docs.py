# SPDX-License-Identifier: BSD-3-Clause
"""Every Python block of the documentation runs, its links and citations lead somewhere."""

import inspect
import platform
import re
from pathlib import Path

import pytest
from site_parts import part

from discan.algorithms import Algorithm

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
blocks = part("blocks")

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
MADE = ("reference/", "contributing.md", "security.md", "changes.md")  # pages of the site alone
SECTION = r"\d+(?:\.\d+)?"
# a comment cites one section of the theory, several after commas, or a range
CITATION = re.compile(rf"\b(?:theory|spec)\s+({SECTION}(?:(?:,\s|-)\d+\.\d+)*)", re.IGNORECASE)
SOURCES = [path for folder in ("src", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
CODE = [path for path in PAGES if any(blocks.blocks(path.read_text("utf-8"), path))]
# where the output that the pages show was made: chains differ on other kinds of processors
SHOWN_ON = platform.system() == "Linux" and platform.machine() == "x86_64"


def varies(path):
    """Tell whether a page shows docstrings of the running Python, which differ from another's."""
    return re.search(r"load_docstrings|dataset:docstrings", path.read_text("utf-8")) is not None


def name_of(path):
    return str(path.relative_to(ROOT)).removeprefix("docs/")


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_code_blocks_run(path, tmp_path, monkeypatch):
    """Every block runs, prints what the page shows, and draws the figures of the page."""
    monkeypatch.chdir(tmp_path)  # some blocks write files
    monkeypatch.setenv("COLUMNS", "100")
    _, printed = blocks.run(path)
    for block, out in printed:
        shown = block.code if block.language == "console" else block.output
        if out is None or shown is None or not SHOWN_ON or varies(path):
            continue
        assert blocks.same(shown, out), f"line {block.line}: the page does not show\n{out}"
    left_out = [block for block, out in printed if out is None and block.needs]
    for name in blocks.figures(path.read_text("utf-8")):
        assert (tmp_path / name).is_file(), f"no block draws {name}"
    if left_out:
        told = [f"the block at line {block.line} {block.missing}" for block in left_out]
        pytest.skip("; ".join(told) + "; all others ran")


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_blocks_that_do_not_run_say_why(path):
    text = path.read_text("utf-8")
    assert not re.findall(r"^```(?:py|Python)$", text, re.MULTILINE)
    for block in blocks.blocks(text, path):
        assert not block.refused or len(block.refused) > 15


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_block_is_closed(path):
    """A fence that is missing turns the rest of a page inside out."""
    text = path.read_text("utf-8")
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) % 2 == 0
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^.+\n#+ .*", prose, re.MULTILINE) == []  # a blank line before a heading


def test_every_figure_is_shown():
    shown = {name for path in PAGES for name in blocks.figures(path.read_text("utf-8"))}
    assert {path.name for path in (DOCS / "figures").iterdir()} == shown


def test_numbers_beside_the_paper_are_those_of_the_results():
    """The tables of classification are copied from pages that examples write."""
    text = (DOCS / "paper.md").read_text("utf-8").split("## Classification")[1].split("```")[0]
    for page, cell in (
        ("reuters", r"[\d.]+ \([\d.]+/[\d.]+\)"),
        ("newsgroups", r"[\d.]+ ± [\d.]+"),
    ):
        result = (DOCS / "results" / f"{page}.md").read_text("utf-8")
        copied = re.findall(cell, text)
        assert len(copied) >= 5
        assert [number for number in copied if number not in result] == []


def test_outputs_are_compared():
    assert blocks.same("a 1.00 in 3.1 s", "a 1.01 in 9 s")
    assert not blocks.same("a 1.00", "a 1.10")
    assert not blocks.same("a 1.00", "b 1.00")
    assert not blocks.same("a 1 2", "a 1")
    assert blocks.same("a (5%)", "a (6%)")


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", path.read_text("utf-8")):
        page = (path.parent / target if target else path).resolve()
        if DOCS in page.parents and str(page.relative_to(DOCS)).startswith(MADE):
            continue  # the build of the site checks these
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), f"{target}#{anchor}"


def anchors(page):
    """Names of the headings of a page, as links give them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_cited_sections_of_the_theory_exist():
    theory = (ROOT / "docs" / "theory.md").read_text("utf-8")
    sections = re.findall(rf"^#+ ({SECTION}) \w", theory, re.MULTILINE)
    assert len(sections) == len(set(sections))
    cited = [
        (number, path.name)
        for path in SOURCES
        for citation in CITATION.findall(path.read_text("utf-8"))
        for number in re.findall(SECTION, citation)
    ]
    assert cited
    assert [pair for pair in cited if pair[0] not in sections] == []


def test_skeletons_have_the_real_signatures():
    namespace, _ = blocks.run(ROOT / "docs" / "developer.md")
    for skeleton in (namespace["NewModel"], namespace["NewAlgorithm"]):
        base = skeleton.__base__
        assert not skeleton.__abstractmethods__
        for name in base.__abstractmethods__:
            ours, theirs = (inspect.signature(getattr(cls, name)) for cls in (skeleton, base))
            assert list(ours.parameters) == list(theirs.parameters), name


def test_the_developer_guide_names_what_exists():
    """Every file, class, function and word of code that it mentions is in the tree."""
    source = ROOT / "src" / "discan"
    text = (ROOT / "docs" / "developer.md").read_text("utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    files = [path for folder in (source, ROOT / "tests") for path in folder.rglob("*")]
    known = {path.stem for path in files}
    for path in files:
        if path.suffix in (".py", ".js"):
            known |= set(re.findall(r"\w+", path.read_text("utf-8")))
    mentioned = set(re.findall(r"`([^`\n]+)`", text))
    assert len(mentioned) > 100
    for name in mentioned:
        if re.fullmatch(r"[\w.]+(/[\w.]*)+", name):
            places = [base / name for base in (ROOT, source, source / "kernels", ROOT / "docs")]
            assert any(p.exists() or p.with_suffix(".py").exists() for p in places), name
        else:
            assert set(re.findall(r"[A-Za-z_]\w+", name)) <= known, name


def test_contributing_has_every_part_and_every_verb():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    tree = text.partition("src/discan/\n")[2].partition("```")[0]
    parts = {path.parent.name for path in (ROOT / "src" / "discan").glob("*/__init__.py")}
    assert set(re.findall(r"^  (\w+)/ ", tree, re.MULTILINE)) == parts
    verbs = re.findall(r"^ +\| `(\w+)` \|", text, re.MULTILINE)
    public = {name for name, value in vars(Algorithm).items() if callable(value)}
    assert set(verbs) == {name for name in public if not name.startswith("_")}


def test_promises_name_tests_that_exist():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 60
    for path, test in named:
        assert (ROOT / path).is_file(), path
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8") or not test, test
    rows = [line for line in text.splitlines() if line.startswith("| ") and "promise" not in line]
    assert all("`tests/" in row for row in rows)
