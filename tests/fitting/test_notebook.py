# SPDX-License-Identifier: BSD-3-Clause
"""In a notebook, fits and corpora show themselves without scripts; names stay text."""

import re

import numpy as np
import pytest
import sklearn

import discan

NASTY = ["<script>x</script>", '"onload="x', "a\u2028b\u202e", "plain"]


@pytest.fixture(scope="module")
def corpus():
    X = np.kron(np.eye(2, dtype=int), np.full((5, 2), 3))
    return discan.Corpus(
        X, word_names=NASTY, metadata={"kind": NASTY[:2] * 5, "year": np.arange(10.0)},
        nouns=discan.data.nouns.TEXT,
    )  # fmt: skip


@pytest.fixture(scope="module")
def fitted(corpus):
    return discan.LDA(2, algorithm="map", max_iter=20, random_state=0).fit(corpus)


def checked(text):
    """Return the words of a piece of HTML that is safe and whole."""
    assert "<script" not in text
    assert not re.search(r"<[^>]* on\w+=", text)
    assert "\u202e" not in text
    for tag in ("table", "tr", "td", "p", "div", "svg"):
        assert len(re.findall(rf"<{tag}\b", text)) == text.count(f"</{tag}>"), tag
    return re.sub(r"<[^>]*>", " ", text)


def test_corpus(corpus):
    text = checked(corpus._repr_html_())
    assert "Corpus of 10 documents and 4 words" in text
    assert "60" in text
    assert "6 to 6, median 6" in text
    assert "&lt;script&gt;x&lt;/script&gt;" in text
    assert "0 to 9" in text


def test_fit(fitted):
    text = checked(fitted._repr_html_())
    assert "LDA: 2 topics of 10 documents and 4 words" in text
    assert "topic 1" in text
    assert "50.0&nbsp;%" in text
    assert "maximum-a-posteriori, " in text
    assert "Objective, from " in text
    assert fitted._repr_mimebundle_()["text/html"] == fitted._repr_html_()
    assert fitted._repr_mimebundle_()["text/plain"] == repr(fitted)


def test_before_a_fit_scikit_learn_shows_it():
    plain = discan.LDA(2)._repr_mimebundle_()["text/html"]
    assert "sk-top-container" in plain
    assert "sk-top-container" in discan.LDA(2)._repr_html_()
    given = discan.DCA.from_components(np.ones((2, 3)) / 3)
    assert "sk-top-container" in given._repr_html_()


def test_plain_text_is_a_choice(fitted):
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}


def test_many_components():
    X = np.random.default_rng(0).poisson(1.0, (60, 40))
    fit = discan.LDA(25, algorithm="map", max_iter=2, random_state=0).fit(X)
    assert "and 5 smaller components" in checked(fit._repr_html_())
