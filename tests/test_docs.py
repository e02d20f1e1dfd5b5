# SPDX-License-Identifier: BSD-3-Clause
"""Every Python block of the documentation runs."""

import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


def test_skeletons_have_the_real_signatures():
    namespace = run(ROOT / "docs" / "developer.md")
    for skeleton in (namespace["NewModel"], namespace["NewAlgorithm"]):
        base = skeleton.__base__
        assert not skeleton.__abstractmethods__
        for name in base.__abstractmethods__:
            ours, theirs = (inspect.signature(getattr(cls, name)) for cls in (skeleton, base))
            assert list(ours.parameters) == list(theirs.parameters), name
