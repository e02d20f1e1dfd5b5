# SPDX-License-Identifier: BSD-3-Clause
"""Text of figures: safe, short, and as wide as said."""

import pytest

from discan.plot.lettering import (
    an,
    clean,
    label,
    lines_of,
    percent,
    plain_width,
    text_width,
    wrapped,
)


def test_clean_text():
    assert clean("a\x1b[31mb\u202e\n") == "a\ufffd[31mb\ufffd\n"


def test_articles():
    assert an("individual") == "an individual"
    assert an("cell") == "a cell"
    assert an("user") == "a user"


def test_labels():
    assert label("a<b>\n c") == "a&lt;b&gt; c"
    assert label("abcdefghij", 5) == "abcd…"
    assert label("train/one/12345", 9, keep_end=True) == "tr…/12345"
    assert lines_of("a &lt; b<br><i>c</i>") == ["a < b", "c"]


def test_widths_are_those_of_helvetica():
    assert plain_width("Wide.", 1000) == 944 + 222 + 556 + 556 + 278
    assert plain_width("Wide.", 500, bold=True) == (944 + 278 + 611 + 556 + 278) / 2
    assert plain_width("é", 1000) == plain_width("e", 1000)
    assert plain_width("e\u0301", 1000) == plain_width("e", 1000)
    assert plain_width("汉", 1000) == 1000
    assert text_width("a &amp; <b>b</b>", 12) == plain_width("a & b", 12)
    assert plain_width("", 12) == 0


def test_wrapped():
    lines = wrapped("one two three four", 10, 50)
    assert " ".join(lines) == "one two three four"
    assert max(plain_width(line, 10) for line in lines) <= 50
    assert len(lines) == 2
    assert wrapped("incomprehensibilities", 10, 5) == ["incomprehensibilities"]


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.25, "25.0 %"), (1, "100.0 %"), (0, "0.0 %"), (0.0004, "0.04 %"), (0.00123, "0.1 %")],
)
def test_percent(part, text):
    assert percent(part) == text
