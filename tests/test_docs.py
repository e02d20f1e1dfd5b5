# SPDX-License-Identifier: BSD-3-Clause
"""Every Python block of the documentation runs, its links and citations lead somewhere."""

import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = r"\d+(?:\.\d+)?"
# a comment cites one section of the theory, several after commas, or a range
CITATION = re.compile(rf"\b(?:theory|spec)\s+({SECTION}(?:(?:,\s|-)\d+\.\d+)*)", re.IGNORECASE)
SOURCES = [path for folder in ("src", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]


def run(path):
    """Execute the blocks of a page one after the other, and return their names."""
    text = path.read_text("utf-8")
    namespace = {}
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(1))
        # blank lines in front, so that an error names the line of the page
        code = compile("\n" * line + match.group(1), str(path), "exec")
        exec(code, namespace)
    return namespace


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_blocks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some blocks write files
    run(path)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", path.read_text("utf-8")):
        page = path.parent / target if target else path
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
    namespace = run(ROOT / "docs" / "developer.md")
    for skeleton in (namespace["NewModel"], namespace["NewAlgorithm"]):
        base = skeleton.__base__
        assert not skeleton.__abstractmethods__
        for name in base.__abstractmethods__:
            ours, theirs = (inspect.signature(getattr(cls, name)) for cls in (skeleton, base))
            assert list(ours.parameters) == list(theirs.parameters), name


def test_promises_name_tests_that_exist():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 60
    for path, test in named:
        assert (ROOT / path).is_file(), path
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8") or not test, test
    rows = [line for line in text.splitlines() if line.startswith("| ") and "promise" not in line]
    assert all("`tests/" in row for row in rows)
