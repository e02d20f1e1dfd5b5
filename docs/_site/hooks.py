# SPDX-License-Identifier: BSD-3-Clause
"""What MkDocs calls while it builds the site: made pages, and pages from the top folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commands import commands_page
from formulas import typeset
from mkdocs.structure.files import File, Files
from reference import reference_pages

ROOT = Path(__file__).parents[2]
# Files of the top folder that are pages of the site, too.
TOP = {
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
}
# Where pages of a folder belong.
SECTIONS = {
    "": "Guides", "tutorials": "Tutorials", "coming-from": "Coming from", "results": "Results",
}  # fmt: skip
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Complete the navigation by pages that are made, and by pages that nobody placed."""
    docs = Path(config.docs_dir)
    pages = reference_pages()
    reference = [{"Commands": "reference/commands.md"}]
    reference += [{title: f"reference/{page}.md"} for page, (title, _) in pages.items()]
    for entry in config.nav:
        if "Reference" in entry:
            entry["Reference"] = reference
    listed = set(_pages(config.nav))
    found = (page.relative_to(docs).as_posix() for page in sorted(docs.rglob("*.md")))
    for name in found:
        if name not in listed:  # a page that nobody placed goes to the end of its section
            title = SECTIONS[posixpath.dirname(name)]
            next(entry for entry in config.nav if title in entry)[title].append(name)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made."""
    made = {"reference/commands.md": commands_page()}
    made |= {f"reference/{page}.md": text for page, (_, text) in reference_pages().items()}
    for source, target in TOP.items():
        made[target] = moved((ROOT / source).read_text("utf-8"), "", "")
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links out of the documents' folder to the pages that hold these files."""
    if page.file.src_uri == "index.md":
        page.meta["hide"] = ["navigation", "toc"]  # the start page shows the way itself
    return moved(markdown, posixpath.dirname(page.file.src_uri), "docs")


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Set the formulas of the theory."""
    return typeset(html) if page.file.src_uri == "theory.md" else html


def on_post_build(config: Any) -> None:
    """Write the index of the search as a script, too: pages opened from disk may fetch no data."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text("utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", "utf-8")


def moved(markdown: str, folder: str, root: str) -> str:
    """Rewrite links of a page.

    Parameters
    ----------
    markdown : str
    folder : str
        Folder of the page in the site.
    root : str
        Folder of the site in the repository; "" for a page that was written for the top folder.
    """

    def rewritten(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        path = posixpath.normpath(posixpath.join(root, folder, target))
        page = TOP.get(path)
        if page is None and not root and path.startswith("docs/"):
            page = path.removeprefix("docs/")
        if page is None:
            return found[0]
        return f"]({posixpath.relpath(page, folder or '.')}{anchor})"

    return _LINK.sub(rewritten, markdown)


def _pages(nav: Any) -> Iterator[str]:
    """Iterate over the pages of a navigation."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _pages(entry)
