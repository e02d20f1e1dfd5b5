# SPDX-License-Identifier: BSD-3-Clause
"""The command that writes tables for other programs."""

import csv

import numpy as np
import pytest

import discan


def read(path):
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream))
        return rows[0], rows[1:]
    table = pytest.importorskip("pyarrow.parquet").read_table(path)
    return table.column_names, list(zip(*table.to_pydict().values(), strict=True))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_tables(run, place, survey, tmp_path, format):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    _, err = run("export", place / "model", "-o", tmp_path / f"out.{format}", "--format", format)
    assert "20 rows" in err
    model = discan.load(place / "model")
    names, rows = read(tmp_path / f"out-documents.{format}")
    assert names[0] == "document"
    assert names[-2:] == list(model.component_names_)
    found = np.array([row[-2:] for row in rows], dtype=float)
    np.testing.assert_allclose(found, model.proportions_)
    names, rows = read(tmp_path / f"out-components.{format}")
    assert [row[0] for row in rows] == list(model.fit_.layout.word_names)
    np.testing.assert_allclose(
        np.array([row[1:] for row in rows], dtype=float), model.components_.T
    )
    run("export", survey / "m.discan", "-o", tmp_path / "s", "--format", format, "-q")
    names, rows = read(tmp_path / f"s-components.{format}")
    assert names[:2] == ["answer", "group"]
    assert rows[0][1] == "vote"


def test_a_model_without_documents(run, tmp_path):
    given = discan.DCA.from_components([[0.5, 0.5], [0.1, 0.9]])
    given.save(tmp_path / "given.discan")
    run("export", tmp_path / "given.discan", "-o", tmp_path / "g", "--format", "csv")
    assert (tmp_path / "g-components.csv").exists()
    assert not (tmp_path / "g-documents.csv").exists()


def test_unknown_format(run):
    assert "use one of admixture, csv" in run("export", "x", "-o", "y", "--format", "z", code=2)[1]
