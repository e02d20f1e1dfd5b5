# SPDX-License-Identifier: BSD-3-Clause
"""The explorer's page is one safe file, the same each time, and holds what the fit says."""

import re
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from unpacking import loadings_of, overall_of, shares_of, unpacked

import discan
from discan import InputError
from discan.evaluation.quality import quality
from discan.explorer.page import SCRIPTS
from discan.plot import export


class Parsed(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.names, self.comments = [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.names |= {name for name, _ in attributes}

    def handle_comment(self, data):
        self.comments.append(data)


@pytest.fixture(scope="module")
def text_page(words, corpus):
    return discan.explore(words, corpus)


@pytest.fixture(scope="module")
def vote_page(votes, ballots):
    return discan.explore(votes, ballots, title=" </title><script>x</script> & ")


def test_hostile_names_are_inert(text_page, vote_page):
    for page in (text_page.html, vote_page.html):
        parsed = Parsed(page)
        assert parsed.elements.count("script") == 2  # the data and the script
        assert not parsed.comments
        assert not {"src", "srcset", "href", "style", "action"} & parsed.names
        assert not any(name.startswith("on") for name in parsed.names)
        assert "__pwned" not in page
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy
        assert "\u202e" not in page
    assert "<h1> &lt;/title&gt;&lt;script&gt;x&lt;/script&gt; &amp; </h1>" in vote_page.html
    script = re.search(r"<script>(.*?)</script>", text_page.html, re.DOTALL)[1]
    unsafe = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|fetch\("
    assert not re.search(unsafe, script)


def test_the_same_bytes(text_page, words, corpus):
    assert discan.explore(words, corpus).html == text_page.html


def test_names_lose_what_is_not_text(text_page):
    found = unpacked(text_page.html)
    names = "".join([*found.names, *found.words, *found.label0, *found.fact0])
    assert not re.search("[\x00-\x1f\u2028\u2029\u202e]", names)
    assert found.names[12] == "d 12 line one\ufffdtwo three"
    assert "</script>" in found.names[0]
    assert found.texts[1].count("\v") == 1  # its two lines


def test_shares_and_words_come_back(text_page, words, corpus):
    found, fit = unpacked(text_page.html), words.fit_
    np.testing.assert_allclose(shares_of(found), fit.proportions, atol=1e-5)
    np.testing.assert_allclose(loadings_of(found), fit.components.T, rtol=3e-4, atol=1e-13)
    np.testing.assert_allclose(overall_of(found), fit.sizes @ fit.components, rtol=3e-4)
    np.testing.assert_allclose(found.length, corpus.lengths)
    sizes = [component["size"] for component in found.header["components"]]
    np.testing.assert_allclose(sizes, fit.sizes)
    assert [c["number"] for c in found.header["components"]] == [1, 2, 3, 4]
    judged = quality(fit, corpus)
    for component, q in zip(found.header["components"], judged, strict=True):
        assert component["exclusivity"] == pytest.approx(q.exclusivity, abs=1e-4)
        assert component["coherence"] == pytest.approx(q.npmi, abs=1e-4)
    assert found.header["documents"] == 60
    assert np.isnan(found.likelihood[7])
    expected = np.log(fit.proportions @ fit.components)
    counts = corpus.to_csr().toarray()
    known = np.flatnonzero(corpus.lengths)
    per_token = (counts * expected).sum(axis=1)[known] / corpus.lengths[known]
    np.testing.assert_allclose(found.likelihood[known], per_token, rtol=1e-5)


def test_lists_hold_the_best_words_at_every_weight(text_page, words):
    found, fit = unpacked(text_page.html), words.fit_
    overall = fit.sizes @ fit.components
    for k in range(4):
        row = fit.components[k]
        listed = set(found.listWord[found.listStart[k] : found.listStart[k + 1]].tolist())
        totals = fit.component_counts.sum(axis=0)
        good = np.flatnonzero(row * totals[k] >= 3)
        for weight in (0.0, 0.5, 1.0):
            key = weight * np.log(row) + (1 - weight) * np.log(row / overall)
            best = good[np.argsort(-key[good], kind="stable")[:30]]
            assert set(best.tolist()) <= listed


def test_labels_and_time(text_page, words):
    found, fit = unpacked(text_page.html), words.fit_
    section, date = found.header["columns"]
    assert not section["time"]
    assert date["time"]
    assert found.header["facts"] == ["id"]
    means = found.labelMean0.reshape(3, 4)
    shares = fit.proportions
    titles = [str(value) for value in fit.metadata["section"]]
    for g, name in enumerate(sorted(set(titles))):
        mine = np.array([title == name for title in titles])
        np.testing.assert_allclose(means[g], shares[mine].mean(axis=0), rtol=1e-5)
        error = shares[mine].std(axis=0, ddof=1) / np.sqrt(mine.sum())
        np.testing.assert_allclose(found.labelError0.reshape(3, 4)[g], error, rtol=1e-4)
    assert (found.label1[0], found.label1[-1]) == ("1990 Q1", "2001 Q1")
    assert date["sizes"] == [5, 0, 0, 0] * 11 + [5]


def test_votes(vote_page, votes, ballots):
    found, fit = unpacked(vote_page.html), votes.fit_
    assert found.header["grouped"]
    assert found.header["complete"]
    assert found.words[:2] == ["yea", "nay"]
    assert found.header["nouns"]["components"] == "blocs"
    np.testing.assert_array_equal(found.entryStart, ballots.indptr)
    np.testing.assert_array_equal(found.entryWord, ballots.words)
    deviations = np.take_along_axis(fit.scores_sd, found.top.reshape(50, 2).astype(int), axis=1)
    np.testing.assert_allclose(found.sd.reshape(50, 2) / 65535, deviations, atol=1e-5)
    assert len(found.listSd) == len(found.listWord)


def test_new_documents(words, corpus):
    new = corpus.select(slice(0, 30)).described(
        document_names=tuple(f"n{i}" for i in range(30)), metadata={}
    )
    found = unpacked(discan.explore(words, new).html)
    assert found.header["shown"] == 30
    assert not found.header["seen"]
    assert found.header["score"]["model"] == pytest.approx(words.score(new))
    np.testing.assert_allclose(shares_of(found), words.transform(new), atol=1e-5)


def test_texts_labels_and_places_are_given(words):
    frame = pd.DataFrame({"kind": ["a", "b"] * 30})
    places = np.arange(120.0).reshape(60, 2)
    page = discan.explore(
        words, texts=[f"text {i}" for i in range(60)], documents=frame, labels="kind", places=places
    )
    found = unpacked(page.html)
    assert found.texts[59] == "text 59"
    assert found.header["columns"][0]["name"] == "kind"
    assert found.code0.tolist() == [1, 2] * 30
    np.testing.assert_array_equal(found.own, places.ravel())
    assert "texts" not in unpacked(discan.explore(words, text=False).html).header["arrays"]


def test_a_page_keeps_within_its_size(words, corpus, caplog):
    whole = discan.explore(words, corpus)
    assert whole.left_out == ""
    bare = len(discan.explore(words, text=False).html)
    limit = (bare + len(whole.html)) // 2
    with caplog.at_level("INFO", logger="discan"):
        less = discan.explore(words, corpus, max_size=limit)
    assert len(less.html) <= limit
    assert less.left_out
    assert less.left_out in caplog.text
    assert unpacked(less.html).header["leftOut"] == less.left_out
    caplog.clear()
    with caplog.at_level("WARNING", logger="discan"):
        least = discan.explore(words, corpus, max_size=1)
    assert "more than was asked for" in caplog.text
    found = unpacked(least.html)
    sizes = [component["size"] for component in found.header["components"]]
    np.testing.assert_allclose(sizes, words.fit_.sizes)  # totals stay exact


def test_a_sample_keeps_typical_documents():
    rng = np.random.default_rng(0)
    X = rng.poisson(np.kron(np.eye(2), np.full((1500, 4), 2.0)) + 0.1)
    fit = discan.LDA(2, max_iter=10, random_state=0, progress=False).fit(X)
    size = len(discan.explore(fit).html)
    page = discan.explore(fit, max_size=size - 9000)
    found = unpacked(page.html)
    assert found.header["shown"] < found.header["documents"] == 3000
    assert "of 3,000 documents are kept" in page.left_out
    for k in range(2):
        shares = fit.fit_.proportions[:, k]
        assert shares_of(found)[:, k].max() == pytest.approx(shares.max(), abs=0.01)


@pytest.mark.parametrize(
    ("n_components", "X"),
    [(1, np.full((3, 4), 2)), (3, np.full((1, 5), 3)), (2, np.eye(2, dtype=int) * 9)],
    ids=["one component", "one document", "no names"],
)
def test_small_data(n_components, X):
    fit = discan.LDA(n_components, max_iter=3, random_state=0, progress=False).fit(X)
    found = unpacked(discan.explore(fit, X).html)
    assert found.header["shown"] == len(X)
    assert len(found.header["components"]) == n_components


def test_other_models():
    rng = np.random.default_rng(2)
    cells = discan.Corpus(rng.poisson(2.0, (30, 12)))
    fit = discan.ConditionalGaP(2, max_iter=5, random_state=0, progress=False).fit(cells)
    found = unpacked(discan.explore(fit, cells).html)
    assert "sd" not in found.header["arrays"]
    absent = np.take_along_axis(fit.absent_, found.top.reshape(30, 2).astype(int), axis=1)
    np.testing.assert_allclose(found.absent.reshape(30, 2) / 65535, absent, atol=1e-5)


def test_components_that_were_given(corpus):
    fit = discan.DCA.from_components(np.ones((2, 30)) + np.arange(60).reshape(2, 30))
    found = unpacked(discan.explore(fit, corpus.to_csr()).html)
    assert found.header["shown"] == 60
    assert "exclusivity" not in found.header["components"][0]
    assert found.header["trace"] == []


def test_frames_of_answers():
    frame = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v"] * 10})
    fit = discan.LDA(2, max_iter=5, random_state=0, progress=False).fit(frame)
    found = unpacked(discan.explore(fit, frame).html)
    assert found.header["complete"]
    assert found.header["seen"]


def test_twins_are_said():
    components = np.array([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    X = np.kron(np.eye(2, dtype=int), np.full((5, 2), 3))
    fit = discan.LDA(3, algorithm="map", init=components, max_iter=1, random_state=0).fit(X)
    warnings = " ".join(unpacked(discan.explore(fit).html).header["warnings"])
    assert "Nearly the same: " in warnings


def test_in_a_notebook(text_page, tmp_path):
    shown = text_page._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts allow-downloads"')
    assert shown.count("<") == 2  # the page itself is an attribute
    assert repr(text_page).startswith("<Explorer: Topics of 60 documents, ")
    assert text_page.save(tmp_path / "p.html").read_text("utf-8") == text_page.html
    with pytest.raises(InputError, match="must end in"):
        text_page.save(tmp_path / "p.pdf")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": "sex"}, "labels='sex' is not a column; use one of 'section'"),
        ({"texts": ["a"]}, "texts must be 60 labels"),
        ({"places": np.zeros((2, 2))}, r"places must be finite numbers of shape \(60, 2\)"),
        ({"documents": {"a": [1]}}, "metadata column 'a'"),
        ({"max_size": 0}, "max_size=0"),
    ],
)
def test_bad_input_is_refused(words, arguments, message):
    with pytest.raises(InputError, match=message):
        discan.explore(words, **arguments)


def test_only_fits_are_explored():
    with pytest.raises(InputError, match="needs a fit or a fitted estimator"):
        discan.explore(np.ones((2, 2)))
    with pytest.raises(InputError, match="no documents to describe; give data"):
        discan.explore(discan.DCA.from_components(np.ones((2, 3)) / 3))


def test_every_script_is_used():
    from importlib.resources import files

    there = {f.name for f in files("discan.explorer").joinpath("script").iterdir()}
    assert there == {f"{name}.js" for name in SCRIPTS}


@pytest.mark.skipif(export.browser() is None, reason="neither Chrome nor Chromium is installed")
@pytest.mark.parametrize("kind", ["text_page", "vote_page"])
def test_in_a_browser(kind, request, tmp_path):
    """The page builds itself under its own policy; hostile names stay text and run nothing."""
    page = request.getfixturevalue(kind)
    file = page.save(tmp_path / "page.html")
    for pane in ("component", "documents", "map", "labels", "search", "diagnostics"):
        done = subprocess.run(
            [export.browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             f"--user-data-dir={tmp_path}/profile", "--enable-logging=stderr", "--v=0",
             "--virtual-time-budget=5000", "--dump-dom", f"{file.as_uri()}#pane={pane}&d=2&q=1.2"],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        assert "CONSOLE" not in done.stderr, pane  # nothing was refused, nothing failed
        assert 'data-ready="yes"' in done.stdout
        assert "&lt;img src=x onerror=window.__pwned=1&gt;" in done.stdout  # as text
        assert "<img" not in done.stdout
        assert done.stdout.count("<script") == 1


def test_large_data_keep_some_answers(votes, ballots, monkeypatch):
    monkeypatch.setattr("discan.explorer.detail.MOST_ENTRIES", 100)
    monkeypatch.setattr("discan.explorer.detail.SOME_ENTRIES", 3)
    page = discan.explore(votes, ballots)
    assert page.left_out == "3 votes of each member are kept"
    found = unpacked(page.html)
    assert not found.header["complete"]
    assert np.diff(found.entryStart).tolist() == [3] * 50
    chances = votes.fit_.proportions @ votes.fit_.components
    given = ballots.to_csr().toarray()[0] > 0
    rarest = np.sort(np.flatnonzero(given)[np.argsort(chances[0][given], kind="stable")[:3]])
    assert found.entryWord[:3].tolist() == rarest.tolist()  # against the odds
