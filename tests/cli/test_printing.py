# SPDX-License-Identifier: BSD-3-Clause
"""What is printed is safe in a terminal, in a spreadsheet and in a parser, and nothing is cut."""

import csv
import io
import json
import logging
import re
import sys

import numpy as np
import pytest

from discan import DCA, Corpus
from discan.cli.printing import Style, emit, emit_record, listing, plain, safe_cell, to_csv, to_json
from discan.data.align import align
from discan.errors import InputError

ESC = "\x1b]0;x\x07"
NASTY = [
    ESC,
    "a\nb",
    "a\x9bb",
    "\u202eevil",
    "\u2028",
    "\ud800",
    "[bold]x[/bold]",
    '"',
    "a,b",
    "é",
    "𝒳",
]


@pytest.mark.parametrize("text", [ESC, "\x9b31m", "\u202e", "\r", "\n", "\u2028", "\ud800"])
def test_plain_shows_what_a_terminal_would_obey(text):
    assert plain(text).isprintable()
    assert plain("word é 𝒳") == "word é 𝒳"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx"])
def test_formulas_are_guarded(text):
    assert safe_cell(text) == "'" + text
    [row] = list(csv.reader(io.StringIO(to_csv([text], []), newline=""), strict=True))
    assert row == ["'" + text]
    assert safe_cell(-1.5) == -1.5


def test_csv_is_parsed_back():
    rows = [[name, 0.1, 3] for name in NASTY if name != "\ud800"]
    found = list(csv.reader(io.StringIO(to_csv(["name", "x", "n"], rows)), strict=True))
    assert found == [["name", "x", "n"], *[[name, "0.1", "3"] for name, *_ in rows]]


def test_json_is_parsed_back_and_holds_no_control_characters():
    value = {name: [name, np.float64(0.5), np.int64(3), True, None] for name in NASTY}
    text = to_json(value)
    assert json.loads(text) == {name: [name, 0.5, 3, True, None] for name in NASTY}
    assert all(c.isprintable() or c == "\n" for c in text)
    assert json.loads(to_json([float("nan"), float("inf"), np.array([1, 2])])) == [
        None, None, [1, 2],
    ]  # fmt: skip


@pytest.mark.parametrize("style", list(Style))
def test_tables_hold_everything(capsys, style):
    long = "w" * 500
    emit(style, ("name", "value"), [(long, 1.0), ("[red]x", 2.0), (ESC, 12345.0)])
    out = capsys.readouterr().out
    assert long in out
    assert "[red]x" in out
    assert ("\x1b" in out) == (style is Style.CSV)  # CSV in a pipe is data
    emit_record(style, {"n": 1234567, "flag": True, "none": None, "list": ["a", "b"]})
    assert {"table": "1,234,567", "json": "1234567", "csv": "1234567"}[style] in (
        capsys.readouterr().out
    )


def test_empty_tables(capsys):
    emit(Style.TABLE, ("name", "value"), [])
    assert capsys.readouterr().out == "name  value\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("columns", [40, 80])
def test_tables_fit_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", stream := Terminal())
    emit(Style.TABLE, ("name", "value"), [("word " * 40, 1.0)])
    lines = re.sub(r"\x1b\[\d+m", "", stream.getvalue()).splitlines()
    assert max(map(len, lines)) <= columns
    assert sum(line.count("word") for line in lines) == 40


def test_names_in_a_terminal_are_not_markup(monkeypatch):
    monkeypatch.setattr(sys, "stdout", stream := Terminal())
    emit(Style.TABLE, ("name", "[b]value[/b]"), [("[red]x[/red] :cat:", 1.0)])
    assert "[red]x[/red] :cat:" in stream.getvalue()
    assert "[b]value[/b]" in stream.getvalue()


def test_csv_in_a_terminal_is_escaped(monkeypatch):
    monkeypatch.setattr(sys, "stdout", stream := Terminal())
    emit(Style.CSV, ("name",), [(ESC,)])
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("width", [None, 40, 80])
def test_listing_wraps_between_items_and_cuts_nothing(width):
    short = [f"item number {n}" for n in range(30)]
    long = ["a name that is as long as the question of a roll call: yea"] * 3
    text = listing("title", {"short": short, "long": long, "none": []}, width)
    words = text.replace(",", "").split()
    assert words.count("item") == 30
    assert words.count("call:") == 3
    assert "none" not in words
    lines = text.splitlines()
    if width is None:
        assert len(lines) == 1 + 1 + 3
    else:
        assert max(map(len, lines)) <= width
        assert all(line.rstrip(",").split()[-1].isdigit() for line in lines[1:-6])


# ---- summaries ----


def votes():
    """Twenty people, two parties; question 0 is where everyone agrees."""
    party = np.repeat([0, 1], 10)
    answers = np.stack([np.zeros(20, int), party, 1 - party], axis=1)
    table = np.zeros((20, 6), int)
    for q in range(3):
        table[np.arange(20), 2 * q + answers[:, q]] = 1
    return Corpus(
        table,
        groups=np.repeat(np.arange(3), 2),
        word_names=[f"{q}={a}" for q in range(3) for a in ("yea", "nay")],
        group_names=["0 To adjourn", "1 On the tax", "2 On the war"],
        document_names=[f"person {i}" for i in range(20)],
    )


def test_answers_that_set_a_component_apart_come_first():
    estimator = DCA(2, alpha=0.1, random_state=0, max_iter=50).fit(votes())
    for component in estimator.fit_.summary(2, 3):
        assert {word.name.partition(" ")[0] for word in component.distinctive} == {"1", "2"}
        assert all(word.probability > 0.5 and word.lift > 1.5 for word in component.distinctive)
        assert "On the" in component.distinctive[0].name
        assert component.distinctive[0].name.endswith(("=yea", "=nay"))
        assert len(component.documents) == 3
        assert json.loads(to_json(component.as_dict()))["by_lift"][0]["lift"] > 1.5


def test_a_model_without_documents_says_so():
    with pytest.raises(InputError, match="no training documents"):
        DCA.from_components(np.eye(2)).fit_.summary()


# ---- new data in the columns of the model ----


def test_align_matches_words_and_groups_by_name():
    corpus = votes()
    order = [4, 5, 0, 1, 2, 3]  # the questions in another order, one answer of which is new
    names = [corpus.layout.word_names[j] for j in order]
    table = np.eye(6, dtype=int)[[0, 2, 4]] + np.eye(6, dtype=int)[[2, 4, 0]]
    other = Corpus(
        table,
        groups=[0, 0, 1, 1, 2, 2],
        word_names=[*names[:-1], "1=present"],
        group_names=["2 On the war", "0 To adjourn", "1 On the tax"],
        exposures=[[1, 1, 0], [0, 1, 1], [1, 0, 1]],
    )
    found = align(other, corpus.layout)
    assert found.layout.word_names == corpus.layout.word_names
    np.testing.assert_array_equal(found.exposures, [[1, 0, 1], [1, 1, 0], [0, 1, 1]])
    np.testing.assert_array_equal(
        dense(found),
        [[1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0]],
    )


def dense(corpus):
    result = np.zeros((corpus.n_documents, corpus.n_words), int)
    rows = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
    result[rows, corpus.words] = corpus.counts
    return result


def test_align_does_not_count_what_the_model_cannot_know(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)  # the command line's is off
    caplog.set_level(logging.WARNING, "discan")
    corpus = votes()
    other = Corpus(
        [[1, 1], [0, 1]], groups=[0, 1], word_names=["1=present", "2=nay"],
        group_names=["1 On the tax", "2 On the war"], exposures=[[1, 1], [1, 1]],
    )  # fmt: skip
    found = align(other, corpus.layout)
    assert "33.3 % of the tokens are words that the model never saw" in caplog.text
    np.testing.assert_array_equal(found.exposures, [[0, 0, 1], [0, 1, 1]])
    np.testing.assert_array_equal(dense(found)[:, 5], [1, 1])
    with pytest.raises(InputError, match=r"33\.33 % of the tokens"):
        align(other, corpus.layout, max_unseen=0.2)
    with pytest.raises(InputError, match="right model"):
        align(Corpus([[1]], word_names=["unheard"]), corpus.layout)
    with pytest.raises(InputError, match="3 columns and the model 6"):
        align(Corpus([[1, 1, 1]]), corpus.layout)
