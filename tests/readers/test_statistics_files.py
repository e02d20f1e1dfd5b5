# SPDX-License-Identifier: BSD-3-Clause
"""Surveys of Stata and SPSS are read with their labels, or refused with what to do."""

import importlib.util

import pytest

from discan.readers import Source, guess, read


def _frame(pandas):
    answers = pandas.Categorical(["agree", "disagree", None, "agree"] * 5)
    return pandas.DataFrame(
        {"id": range(20), "q1": answers, "q2": [1.0, 2.0, float("nan"), 1.0] * 5, "w": 0.5}
    )


def test_stata(tmp_path, write, fails):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "x.dta"
    _frame(pandas).to_stata(path, write_index=False)
    corpus = read(path)
    assert corpus.word_names == ("q1=agree", "q1=disagree", "q2=1", "q2=2")
    assert corpus.n_tokens == 30
    assert corpus.document_names[3] == "3"
    assert read(path, answers="q2").word_names == ("q2=1", "q2=2")
    assert read(path, like=corpus).n_tokens == 30
    path.write_bytes(path.read_bytes()[:200])
    fails(path, "cannot be read by pandas")


def test_spss(tmp_path, write, fails, monkeypatch):
    path = write(tmp_path / "x.sav", b"$FL2@(#) SPSS DATA FILE" + bytes(200))
    assert guess(Source(path)) == "spss"
    assert guess(Source(path.rename(tmp_path / "x.bin"))) == "spss"
    path = tmp_path / "x.bin"
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pyreadstat" else found(name)
    )
    fails(path, "needs the package pyreadstat: pip install pyreadstat; or save it as CSV")
    monkeypatch.undo()
    if found("pyreadstat") and found("pandas"):
        fails(path, "cannot be read by pandas")
