# SPDX-License-Identifier: BSD-3-Clause
"""The page's script ranks as NumPy does; run by Node where it is installed."""

import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from unpacking import loadings_of, overall_of, shares_of, unpacked

import discan
from discan.explorer.page import SCRIPTS

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
SCRIPT = files("discan.explorer").joinpath("script")


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    """Ask the part of the script that answers questions; the answer is read from JSON."""
    folder = tmp_path_factory.mktemp("node")

    def ask(page, question):
        (folder / "page.html").write_text(page.html, "utf-8")
        code = (
            SCRIPT.joinpath("data.js").read_text("utf-8")
            + "\nconst page = require('fs').readFileSync('page.html', 'utf8');\n"
            + 'const data = page.match(/id="data">([^<]*)</)[1];\n'
            + "(async () => { const model = readModel(await unpack(data));\n"
            + f"console.log(JSON.stringify({question})); }})();\n"
        )
        (folder / "ask.cjs").write_text(code, "utf-8")
        done = subprocess.run(
            ["node", "ask.cjs"], cwd=folder, capture_output=True, text=True, check=True, timeout=60
        )
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="module")
def pages(words, corpus, votes, ballots):
    """Pages with all components of a document and of a word, and with some of them."""
    rng = np.random.default_rng(5)
    many = rng.poisson(np.kron(np.eye(30), np.full((6, 3), 3.0)) + 0.02)
    fit = discan.LDA(30, algorithm="map", max_iter=15, random_state=0, progress=False).fit(many)
    return {
        "text": discan.explore(words, corpus),
        "votes": discan.explore(votes, ballots),
        "many": discan.explore(fit),
    }


@pytest.mark.parametrize("name", SCRIPTS)
def test_syntax(name, tmp_path):
    subprocess.run(["node", "--check", str(SCRIPT.joinpath(f"{name}.js"))], check=True, timeout=60)


def test_syntax_of_all_together(tmp_path):
    """Names may be defined once only."""
    text = "".join(SCRIPT.joinpath(f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    (tmp_path / "all.js").write_text(f'"use strict";\n{text}', "utf-8")
    subprocess.run(["node", "--check", str(tmp_path / "all.js")], check=True, timeout=60)


@pytest.mark.parametrize("kind", ["text", "votes", "many"])
def test_search_is_numpys(kind, node, pages):
    found = unpacked(pages[kind].html)
    shares, loadings, overall = shares_of(found), loadings_of(found), overall_of(found)
    left = np.maximum(1 - shares.sum(axis=1), 0) * (found.header["perDocument"] < shares.shape[1])
    query = [1, 4]
    chances = shares @ loadings[query].T + left[:, None] * overall[query]
    value = np.log(0.999 * chances + 0.001 * overall[query]).sum(axis=1)
    order = np.lexsort((np.arange(len(value)), -value))[:10]
    hits = node(pages[kind], f"model.search({query}, 10)")
    np.testing.assert_allclose([hit["value"] for hit in hits], value[order], rtol=1e-9)
    assert [hit["i"] for hit in hits] == order.tolist()


@pytest.mark.parametrize("kind", ["text", "votes", "many"])
def test_similar_is_numpys(kind, node, pages):
    shares = shares_of(unpacked(pages[kind].html))
    alike = np.sqrt(shares) @ np.sqrt(shares[3])
    alike[3] = -1
    order = np.lexsort((np.arange(len(alike)), -alike))[:8]
    hits = node(pages[kind], "model.similar(3, 8)")
    distances = np.sqrt(np.maximum(1 - alike[order], 0))
    np.testing.assert_allclose([hit["distance"] for hit in hits], distances, atol=1e-7)


def test_components_of_words(node, pages, words):
    fit = words.fit_
    expected = fit.sizes * fit.components[:, 2] * fit.components[:, 5]
    found = node(pages["text"], "model.componentsOf([2, 5])")
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=2e-3, atol=1e-6)


def test_typical_and_relevant(node, pages, words):
    shares = words.fit_.proportions[:, 1]
    typical = node(pages["text"], "model.typical(1, 5)")
    assert set(np.round(shares[typical], 3)) == set(np.sort(np.round(shares, 3))[::-1][:5])
    row = words.fit_.components[1]
    listed = node(pages["text"], "model.relevant(1, 1, 5).map((row) => row.word)")
    assert listed == np.argsort(-row, kind="stable")[:5].tolist()


def test_missing_answers_are_predicted(node, pages, votes, ballots):
    found = node(pages["votes"], "model.open(3)")
    assert [row["group"] for row in found] == [2, 3]
    expected = votes.fit_.proportions[3] @ votes.fit_.components
    for row in found:
        pair = expected[2 * row["group"] : 2 * row["group"] + 2]
        assert row["chance"] == pytest.approx(pair.max(), rel=1e-3)
        assert row["word"] == 2 * row["group"] + pair.argmax()
    assert node(pages["votes"], "model.open(4)") == []


def test_words_of_a_text_are_found(node):
    fit = discan.LDA(2, max_iter=5, random_state=0, progress=False).fit(
        discan.Corpus(np.eye(4, dtype=int) * 5, word_names=["law", "don't", "Été", "constructor"])
    )
    page = discan.explore(fit)
    tokens = ["Law", "LAW'S", "Don\u2019t", "Été", "constructor", "toString", "x"]
    found = node(page, f"{json.dumps(tokens)}.map((token) => model.find(token))")
    assert found == [0, 0, 1, 2, 3, -1, -1]
