# SPDX-License-Identifier: BSD-3-Clause
"""Reports are one safe file, say what is true, and cover every kind of data."""

import re
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import discan
from discan import InputError
from discan.plot import export

SECTIONS = ["sizes", "documents", "components", "map", "sure", "done"]
ELEMENTS = set(
    "html head meta title style body h1 h2 h3 h4 p span i b small nav a section figure div "
    "figcaption article ul li table thead tbody tr th td svg line text g rect circle path script "
    "button clippath lineargradient stop".split()
)


class Parsed(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.attributes, self.words, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag != "meta":
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

    @property
    def text(self):
        return " ".join(" ".join(self.words).replace("\u00a0", " ").split())


def test_every_kind_is_safe_and_whole(fits):
    for kind, fit in fits.items():
        page = discan.report(fit)
        parsed = Parsed(page)
        assert not parsed.open
        assert set(parsed.elements) <= ELEMENTS, kind
        assert parsed.elements.count("script") == 1
        names = {name for _, name, _ in parsed.attributes}
        assert not {"src", "srcset", "xlink:href", "action"} & names
        assert not any(name.startswith("on") for name in names)
        links = [value for _, name, value in parsed.attributes if name == "href"]
        targets = [value for _, name, value in parsed.attributes if name == "id"]
        assert {link.removeprefix("#") for link in links} <= set(targets)
        assert len(set(targets)) == len(targets)  # of sections and of drawings
        wanted = [s for s in SECTIONS if s != "map" or kind != "single"]
        assert [link.removeprefix("#") for link in links if link[1:] in SECTIONS] == wanted
        assert "script-src 'sha256-" in page
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert page == discan.report(fit)  # the same bytes each time
        assert "nan" not in re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL).split()


def test_words(fits):
    text = Parsed(discan.report(fits["text"])).text
    sizes = fits["text"].fit_.sizes
    assert "60 documents, 1,2" in text
    assert "explained by 3 topics." in text
    assert f"{100 * sizes[0]:.1f} %" in text
    assert "By section" in text
    assert "By id" not in text  # every document has its own
    assert "Over time" in text
    assert "Words that set it apart" in text
    assert "maximum a posteriori" in text
    assert "variational, collapsed and gibbs give standard deviations" in text
    assert "Largest mean share by section: s " in text
    assert "Where they differ most" not in text


def test_answers(fits):
    text = Parsed(discan.report(fits["votes"])).text
    assert "50 members, 8 votes, 400 answers in all, explained by 2 blocs." in text
    assert "By party" in text
    assert "Where they differ most" in text
    assert re.search(r"yea 9\d % others \d+ %", text)
    assert "Typical members" in text
    assert "posterior standard deviation" in text
    deviation = np.sqrt(np.mean(np.square(fits["votes"].fit_.scores_sd)))
    assert f"known to within {100 * deviation:.1f} %" in text
    assert "each member has shares of the blocs, which sum to one" in text


def test_amounts_and_absence(fits):
    text = Parsed(discan.report(fits["cells"])).text
    assert "its amounts say how much of each" in text
    assert "each cell has an amount of each component" in text
    assert "cell 0" in text or "cell 1" in text
    absent = Parsed(discan.report(fits["absent"])).text
    assert "a component may be absent from a cell" in absent


def test_new_documents(fits, words):
    rng = np.random.default_rng(3)
    new = discan.Corpus(
        rng.poisson(np.kron(np.eye(3), np.full((4, 10), 2.0)) + 0.05),
        word_names=words.fit_.layout.word_names, metadata={"kind": ["a", "b"] * 6},
    )  # fmt: skip
    text = Parsed(discan.report(words, new, title="New texts")).text
    assert text.startswith("New texts")
    assert "12 documents, " in text
    assert "They are new: the model was fitted to others." in text
    assert "By kind" in text
    found = re.findall(r"is (?:as hard to guess as )?one of ([\d.]+\d)", text)
    ours, plain = map(float, found)
    assert ours == pytest.approx(np.exp(-words.score(new)), rel=1e-3)
    assert ours < plain <= 31
    as_array = Parsed(discan.report(words, new.to_csr())).text
    assert "12 documents, " in as_array


def test_labels_are_chosen(fits, words):
    text = Parsed(discan.report(words, labels="date")).text
    assert "By date" in text
    assert "By section" not in text
    with pytest.raises(InputError, match="labels='sex' is not a column; use one of 'section'"):
        discan.report(words, labels=["sex"])


def test_names_of_components_are_used(words):
    fit = words.fit_.named({1: "<b>law</b>"})
    assert "<b>law</b>" in Parsed(discan.report(fit)).text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.ones((2, 2)), "needs a fit or a fitted estimator"),
        (discan.DCA.from_components(np.ones((2, 3)) / 3), "no documents to describe; give data"),
    ],
)
def test_bad_input_is_refused(source, message):
    with pytest.raises(InputError, match=message):
        discan.report(source)
    with pytest.raises(InputError, match="n_words=0"):
        discan.report(source, n_words=0)


@pytest.mark.skipif(export.browser() is None, reason="neither Chrome nor Chromium is installed")
def test_in_a_browser(fits, tmp_path):
    """The script runs under the page's own policy; hostile names run nothing."""
    file = tmp_path / "report.html"
    file.write_text(discan.report(fits["text"]), "utf-8")
    done = subprocess.run(
        [export.browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path}/profile", "--enable-logging=stderr", "--v=0",
         "--virtual-time-budget=5000", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr  # nothing was refused, nothing failed
    body = done.stdout
    svgs = re.findall(r"<svg.*?</svg>", body, re.DOTALL)
    assert len(svgs) >= 5
    assert not any("<title>" in svg for svg in svgs)  # the script has taken them over
    assert 'data-tips="' not in body
