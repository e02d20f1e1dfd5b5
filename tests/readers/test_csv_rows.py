# SPDX-License-Identifier: BSD-3-Clause
"""Rows of tables: wrong tables are refused with the line, Parquet is read as text."""

import csv
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discan.errors import LimitError
from discan.readers import Source, guess, read
from discan.readers.csv_rows import BATCH_BYTES, csv_rows, table_rows

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
        ("long", 'document,word,count\na,"x"y,1\n', "line 2"),
        ("wide", "", "empty"),
        ("wide", "name,x\n", "no rows"),
        ("wide", "name,x\na,1\nb,1,2\n", "line 3: 3 cells, expected 2"),
        ("wide", "a\nb\nc\n", "no columns of counts"),
        ("wide", "name,x,y\na,1,0\nb,x,0\nc,1,2\nd,0,1\n", "line 3: count 'x' is not a number"),
        ("categorical", "", "empty"),
        ("categorical", "q1,q2\n\n", "no rows"),
        ("categorical", "q1,q2\nyes,no\nyes\n", "line 3: 1 cells, expected 2"),
        ("categorical", "q1,q2\nNA,\nNA,?\n", "every cell is missing"),
    ],
)
def test_bad_table(tmp_path, format, text, match, write, fails):
    fails(write(tmp_path / "x.csv", text), match, format)


def test_large_cells(tmp_path, write):
    before = csv.field_size_limit()
    path = write(tmp_path / "x.csv", "q1,q2\nyes," + "n" * 200_000 + "\n")
    corpus = read(path, "categorical", id_column=False)
    assert len(corpus.layout.word_names[1]) == 200_003
    assert csv.field_size_limit() == before


def test_lines_that_are_not_utf8_are_read_with_a_remark(tmp_path, write, remarks):
    text = "document,word,count\na,M\xfcller,1\nb,na\xefve,2\n".encode("latin-1")
    assert read(write(tmp_path / "x.csv", text)).layout.word_names == ("M\xfcller", "na\xefve")
    assert "2 lines are not UTF-8 and were read as Windows-1252" in remarks()


def test_a_delimiter_is_told_where_cells_hold_others(tmp_path, write):
    text = 'id;note\n1;"a, b, c"\n2;"d,\ne, f"\n3;"g, h"\n'
    rows = list(csv_rows(Source(write(tmp_path / "x.csv", text))))
    assert [row for _, row in rows][2] == ["2", "d,\ne, f"]


def test_odd_options(tmp_path, write, fails):
    path = write(tmp_path / "x.csv", SURVEY)
    fails(path, "delimiter=", "categorical", delimiter=":::")
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


def test_the_index_of_a_shuffled_frame_is_no_column(tmp_path):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": list("aab"), "item": list("xyx"), "plays": [1, 2, 3]})
    frame["day"] = 1
    frame.iloc[[2, 0, 1]].to_parquet(tmp_path / "x.parquet")
    corpus = read(tmp_path / "x.parquet")
    assert corpus.document_names == ("b", "a")
    assert corpus.word_totals.tolist() == [4, 2]


def test_parquet_without_a_library(tmp_path, monkeypatch, write, fails):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    fails(write(tmp_path / "x.parquet", b"PAR1"), "pip install pyarrow", "wide")


def test_one_long_text_in_many_rows_of_parquet(tmp_path, fails):
    """It is stored once: 10 kB that unpack to 200 MB."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    texts = pyarrow.DictionaryArray.from_arrays(np.zeros(2000, "i4"), ["word " * 20_000])
    parquet.write_table(pyarrow.table({"text": texts}), path, store_schema=False)
    assert path.stat().st_size < 20_000
    pool = pyarrow.default_memory_pool()
    before = pool.bytes_allocated()
    rows = table_rows(Source(path, 2**24))
    assert next(rows) == (0, ["text"])
    assert next(rows)[1][0].startswith("word word")
    assert pool.bytes_allocated() - before < 2 * BATCH_BYTES
    fails(path, "unpacks to more than", kind=LimitError, max_unpacked=2**24)


def test_long_lists_of_parquet(tmp_path, fails):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    lists = pyarrow.array([[7] * 100_000, [8]])
    parquet.write_table(pyarrow.table({"text": ["a b", "c"], "tags": lists}), path)
    assert path.stat().st_size < 5000
    fails(path, "unpacks to more than", kind=LimitError, max_unpacked=2**20)
