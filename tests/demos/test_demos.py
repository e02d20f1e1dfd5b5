# SPDX-License-Identifier: BSD-3-Clause
"""The demos show every senator, are honest about blocs, and write pages that are safe to open."""

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from discan import InputError, StorageError, demos
from discan.demos.senate_page import page, write_page
from discan.demos.terminal import Terminal, clean, colours, shade
from discan.readers.datasets import Dataset, load_senate2005

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
        if tag not in ("meta", "br", "line", "rect", "circle"):
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


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    stream, file = io.StringIO(), tmp_path_factory.mktemp("demo") / "senate.html"
    path = demos.senate(file, stream=stream, width=80)
    assert path == file
    return stream.getvalue(), file.read_text("utf-8")


@pytest.fixture(scope="module")
def blocs():
    return demos.find_blocs(load_senate2005(), n_components=3, n_chains=2)


# ---- the Senate ----


def test_every_senator_once(printed):
    rows = printed[0].partition("Every senator")[2].partition("Whose outcome")[0]
    for name in load_senate2005().corpus.document_names:
        assert rows.count(name) == 1, name


def test_plain_in_a_pipe(printed):
    assert "\x1b" not in printed[0]
    body = [line for line in printed[0].splitlines() if "picture" not in line]
    assert max(map(len, body)) <= 80


def test_wings(printed):
    rows = printed[0].partition("Every senator")[2]
    names = re.findall(r"[A-Z]\w+ \([DRI]-[A-Z]{2}\)", rows.partition("Whose")[0])
    first, second = names[0::2], names[1::2]
    order = first + second
    assert order[0].endswith("D-MA)")
    assert sum("(D-" in name for name in order[:44]) >= 42
    assert all("(R-" in name for name in order[-40:])


def test_blocs_are_as_history_says(printed):
    table = printed[0].partition("Votes that set")[0]
    assert "Snowe (R-ME), Collins (R-ME)" in table or "Collins (R-ME), Snowe (R-ME)" in table
    outcome = printed[0].partition("Whose outcome")[2]
    shares = [int(share) for share in re.findall(r"^ +[A-E] +\d+% +(\d+)%", outcome, re.MULTILINE)]
    assert shares
    assert shares[-1] == max(shares) > 50  # the majority's bloc


def test_numbers_add_up(blocs):
    np.testing.assert_allclose(blocs.membership.sum(axis=1), 1.0)
    np.testing.assert_allclose(blocs.outcome.sum(), 1.0)
    assert sorted(blocs.order) == list(range(100))
    assert blocs.yea.shape == (366, 3)
    assert ((blocs.seen >= 1) & (blocs.seen <= 2)).all()
    assert 0.5 < blocs.explained < 0.7
    places = [np.flatnonzero(blocs.order == blocs.typical(k, 1)[0])[0] for k in blocs.used]
    assert places == sorted(places)


def test_votes_that_set_apart(blocs):
    for k in blocs.used:
        g = blocs.apart(k, 1)[0]
        others = [blocs.yea[g, other] for other in blocs.used if other != k]
        assert not min(others) <= blocs.yea[g, k] <= max(others)


def test_same_seed_same_blocs():
    data = load_senate2005()
    first, second = (demos.find_blocs(data, 2, n_chains=1, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.membership, second.membership)
    np.testing.assert_array_equal(first.outcome, second.outcome)


def test_refusals():
    data = load_senate2005()
    with pytest.raises(InputError, match="n_chains"):
        demos.find_blocs(data, n_chains=0)
    text = Dataset(data.corpus.select([0]), data.document_table, {"agreed": np.ones(3, bool)})
    text.corpus.layout = replace(text.corpus.layout, n_groups=1)
    with pytest.raises(InputError, match="yea and nay"):
        demos.find_blocs(text)


# ---- the page ----


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


# ---- text ----


def test_text():
    stream = io.StringIO()
    estimator = demos.text(n_components=4, n_words=5, stream=stream, width=72)
    text = stream.getvalue()
    assert text.count("by lift") == 4
    assert text.count("of the tokens") == 4
    assert max(map(len, text.splitlines())) <= 72
    assert estimator.components_.shape[0] == 4
    sizes = [int(size) for size in re.findall(r"(\d+)% of the tokens", text)]
    assert 97 <= sum(sizes) <= 103
    assert sizes == sorted(sizes, reverse=True)


# ---- details ----


def test_shades():
    assert [shade(share) for share in (0, 0.12, 0.13, 0.5, 0.86, 0.88, 1)] == list("  ░▒▓██")
    assert colours(1) == ["#174f8c"]
    assert colours(2) == ["#174f8c", "#be4e1a"]
    assert len(set(colours(10))) == 10
    assert clean("a\x1b[31mb\u202e\n") == "a\ufffd[31mb\ufffd\n"


def test_ascii_stream():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console = Terminal(stream, 40)
    console.print("░▒▓█ … é")
    stream.flush()
    assert raw.getvalue() == b".+*# ... ?\n"
