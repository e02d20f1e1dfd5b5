# SPDX-License-Identifier: BSD-3-Clause
"""The page about blocs is self-contained, and safe to open whatever the names are."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from discan import StorageError, plot
from discan.demos.senate_page import page
from discan.plot.page import write_page
from discan.readers.datasets import load_senate2005

NASTY = [
    "<script>window.__pwned=1</script>", '"><img src=x onerror=alert(1)>', "</svg></title><b>",
    "<!--", "' onload='x", "`${7*7}`", "a\u2028b", "javascript:alert(1)", "{{7*7}}{0}",
    "\u202eevil", "\x1b]0;x\x07", "&amp;lt;",
]  # fmt: skip
ELEMENTS = set(
    "html head meta title style body h1 h2 h3 h4 p span i b small br figure div figcaption article "
    "ul li table thead tbody tr th td footer svg line text g rect circle".split()
)


class Parsed(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.attributes, self.words, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_comment(self, data):
        raise AssertionError(f"comment {data!r}")

    def handle_data(self, data):
        self.words.append(data)


def check_page(text):
    parsed = Parsed(text)
    assert not parsed.open
    assert set(parsed.elements) <= ELEMENTS
    names = {name for _, name, _ in parsed.attributes}
    assert not {"src", "href", "srcset", "xlink:href", "action", "data"} & names
    assert not any(name.startswith("on") for name in names)
    policy = [value for tag, name, value in parsed.attributes if (tag, name) == ("meta", "content")]
    assert "default-src 'none'; style-src 'unsafe-inline'" in policy
    for _, name, value in parsed.attributes:
        if name == "style":
            assert re.fullmatch(r"[a-z-]+:[#\w.]+(;[a-z-]+:[#\w.]+)*", value)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search(r"https?:|//", text)
    return parsed


def test_page_is_self_contained(printed):
    parsed = check_page(printed[1])
    words = parsed.words
    for name in load_senate2005().corpus.document_names:
        assert words.count(name) >= 1


def test_page_escapes_names(blocs):
    def nasty(column):
        return np.array([NASTY[i % len(NASTY)] for i in range(len(column))])

    bad = replace(
        blocs,
        title=NASTY[0],
        description=NASTY[1],
        method=tuple(NASTY),
        members=nasty(blocs.members),
        parties=nasty(blocs.parties),
        votes={name: nasty(column) for name, column in blocs.votes.items()},
    )
    text = page(bad)
    parsed = check_page(text)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\u2028" not in text
    assert NASTY[0] in "".join(parsed.words)  # shown as text


def test_page_draws_every_member_and_vote(blocs):
    figure = plot.membership_squares(blocs.membership, blocs.members)
    text = page(blocs)
    assert text.count("<svg") == 1 + 4 * len(blocs.used)
    assert text.count("<circle") == 4 * len(blocs.used) ** 2
    both = page(blocs, figure)
    assert both.count("<svg") == text.count("<svg") + 1
    assert both.index('aria-label="Membership of every senator') < both.index("Shaded squares")


def test_page_is_written_whole_or_not(tmp_path):
    file = tmp_path / "page.html"
    assert write_page(file, "one") == file
    write_page(file, "two")
    assert file.read_text() == "two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(StorageError, match="absent"):
        write_page(tmp_path / "absent" / "page.html", "x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError):
        write_page(tmp_path / "folder", "x")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder", "page.html"]
