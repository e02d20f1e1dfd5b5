# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are written block by block: the same file whatever the blocks, or none."""

import csv

import numpy as np
import pytest

from discan.data import tables
from discan.data.tables import Rows, write_rows
from discan.errors import InputError, StorageError

NAMES = np.array(["a", "=b", "ü", 'd"', "e", "f", "g"], dtype=object)
TEXT = np.array(["x", None, "y", "z", "", "w", "v"], dtype=object)
NUMBER = np.array([1.0, np.nan, 2.5, 1e300, -3.0, 0.0, 7.0])
VALUES = np.random.default_rng(0).random((7, 3))


def blocks(*ends):
    starts = [0, *ends]
    for start, stop in zip(starts, [*ends, 7], strict=True):
        rows = slice(start, stop)
        yield Rows([NAMES[rows], TEXT[rows], NUMBER[rows]], VALUES[rows])


def written(path, *ends, endless=False):
    write_rows(path, ["name", "text", "number"], ["A", "B", "C"], 7, blocks(*ends))
    return path.read_bytes()


@pytest.mark.parametrize("ending", tables.ENDINGS)
def test_the_file_does_not_depend_on_the_blocks(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(tables, "VALUES_AT_ONCE", 9)  # three rows of Parquet at once
    whole = written(tmp_path / f"a{ending}")
    assert written(tmp_path / f"b{ending}", 1, 2, 6) == whole
    assert written(tmp_path / f"c{ending}", 5) == whole


def test_csv(tmp_path):
    text = written(tmp_path / "a.csv", 3).decode()
    titles, *rows = csv.reader(text.splitlines())
    assert titles == ["name", "text", "number", "A", "B", "C"]
    assert rows[1][:3] == ["'=b", "", ""]  # no formula; both are missing
    assert rows[2][:3] == ["ü", "y", "2.5"]
    assert rows[0][2] == "1"
    np.testing.assert_array_equal([[float(x) for x in row[3:]] for row in rows], VALUES)


def test_npy(tmp_path):
    written(tmp_path / "a.npy", 2, 4)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy", allow_pickle=False), VALUES)


def test_parquet(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(tables, "VALUES_AT_ONCE", 9)
    written(tmp_path / "a.parquet", 2)
    file = parquet.ParquetFile(tmp_path / "a.parquet")
    assert file.num_row_groups == 3
    table = file.read()
    assert table.column("name").to_pylist() == NAMES.tolist()
    assert table.column("text").to_pylist() == TEXT.tolist()
    expected = [None if x != x else x for x in NUMBER.tolist()]
    assert table.column("number").to_pylist() == expected
    np.testing.assert_array_equal(np.column_stack([table.column(c) for c in "ABC"]), VALUES)


def test_titles_of_parquet_are_distinct(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    block = Rows([NAMES, TEXT], VALUES)
    write_rows(tmp_path / "a.parquet", ["x", "y"], ["x", "x", "y"], 7, [block])
    names = parquet.read_schema(tmp_path / "a.parquet").names
    assert names == ["x", "y", "x (2)", "x (3)", "y (2)"]


@pytest.mark.parametrize("ending", tables.ENDINGS)
def test_all_or_nothing(tmp_path, ending):
    path = tmp_path / f"a{ending}"

    def failing():
        yield from blocks(3)
        raise InputError("stop")

    with pytest.raises(InputError, match="stop"):
        write_rows(path, ["name", "text", "number"], ["A", "B", "C"], 7, failing())
    assert list(tmp_path.iterdir()) == []
    before = written(path)
    with pytest.raises(InputError, match="stop"):
        write_rows(path, ["name", "text", "number"], ["A", "B", "C"], 7, failing())
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.csv, \.parquet or \.npy"):
        written(tmp_path / "a.xlsx")
    (tmp_path / "f.csv").mkdir()
    with pytest.raises(StorageError, match="folder"):
        written(tmp_path / "f.csv")
