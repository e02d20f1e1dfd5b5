# SPDX-License-Identifier: BSD-3-Clause
"""Rows of tables: wrong tables are refused with the line, Parquet is read as text."""

import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discan.readers import Source, guess, read

SURVEY = "id,colour,size\np1,red,10\np2,blue,9\np3,,10\np4,red,NA\n"


@pytest.mark.parametrize(
    ("format", "text", "match"),
    [
        ("long", "", "empty"),
        ("long", "document,word,count\n", "no rows"),
        ("long", "a\nb\n", "single column"),
        ("long", "document,word,count\na,x\n", "line 2: 2 cells, expected 3"),
        ("long", "document,word,count\na,,1\n", "line 2: an empty word"),
        ("long", "document,word,count\n,x,1\n", "line 2: an empty document"),
        ("long", b"document,word,count\na,\xff,1\n", "line 2: byte 2 is not UTF-8"),
        ("long", 'document,word,count\na,"x"y,1\n', "line 2"),
        ("wide", "", "empty"),
        ("wide", "name,x\n", "no rows"),
        ("wide", "name,x\na,1\nb,1,2\n", "line 3: 3 cells, expected 2"),
        ("wide", "a\nb\nc\n", "line 1|line 2"),
        ("categorical", "", "empty"),
        ("categorical", "q1,q2\n\n", "no rows"),
        ("categorical", "q1,q2\nyes,no\nyes\n", "line 3: 1 cells, expected 2"),
        ("categorical", "q1,q2\nNA,\nNA,?\n", "every cell is missing"),
        ("categorical", "q1,q2\nyes," + "n" * 200_000 + "\n", "line 2: field larger"),
    ],
)
def test_bad_table(tmp_path, format, text, match, write, fails):
    fails(write(tmp_path / "x.csv", text), match, format)


def test_odd_options(tmp_path, write, fails):
    path = write(tmp_path / "x.csv", SURVEY)
    fails(path, "delimiter=", "categorical", delimiter="::")
    fails(path, "alleles=", "categorical", alleles="")
    fails(tmp_path, "is a folder", "long")
    fails(path, "has no option", "long", id_column=3)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.one_of(st.binary(max_size=80), st.text('a1,";\n\t NA/', max_size=60)))
@pytest.mark.parametrize("format", ["long", "wide", "categorical", None])
def test_any_bytes(tmp_path, format, content, write, survives):
    path = write(tmp_path / "x.csv", content)
    survives(path, format)


def test_parquet(tmp_path, write, fails, dense, survives):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    triples = {"doc": ["a", "a", "b"], "word": ["x", "y", "x"], "count": [1, 2, 3]}
    parquet.write_table(pyarrow.table(triples), path)
    assert guess(Source(path)) == "long"
    assert dense(read(path)) == [[1, 2], [3, 0]]
    parquet.write_table(pyarrow.table({"q1": ["yes", None, "no"], "q2": [1, 2, 2]}), path)
    corpus = read(path, "categorical", id_column=False)
    assert corpus.layout.word_names == ("q1=no", "q1=yes", "q2=1", "q2=2")
    assert corpus.exposures.tolist() == [[1, 1], [0, 1], [1, 1]]
    parquet.write_table(pyarrow.table({"x": [1.0, 0.0], "y": [2.0, float("nan")]}), path)
    fails(path, "count 'nan' is not finite", "wide")
    good = path.read_bytes()
    for cut in (0, 20, len(good) - 3):
        fails(write(path, good[:cut]), "Parquet|empty", "wide")
    for at in range(4, len(good), 7):
        damaged = bytearray(good)
        damaged[at] ^= 0x55
        survives(write(path, bytes(damaged)), "wide")


def test_parquet_without_a_library(tmp_path, monkeypatch, write, fails):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    fails(write(tmp_path / "x.parquet", b"PAR1"), "pip install pyarrow", "wide")
