# SPDX-License-Identifier: BSD-3-Clause
"""Frames of answers are read as they are: pandas, polars, Arrow, DuckDB."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV

import discan
from discan.data.frames import holds_text
from discan.errors import InputError

pa = pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
N = 60
ANSWERS = {
    "meal": [("meat", "fish", None)[n] for n in RNG.integers(0, 3, N)],
    "car": [("yes", "no")[n] for n in RNG.integers(0, 2, N)],
    "age": RNG.integers(18, 80, N).tolist(),
    "rating": [None if n == 0 else int(n) for n in RNG.integers(0, 6, N)],
}


class Stream:
    """An object that gives an Arrow stream and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def categories():
    frame = pd.DataFrame(ANSWERS)
    return frame.assign(
        meal=frame["meal"].astype("category"), rating=frame["rating"].astype("Int8")
    )


KINDS = {
    "pandas": lambda: pd.DataFrame(ANSWERS),
    "categories": categories,
    "polars": lambda: pl.DataFrame(ANSWERS),
    "arrow": lambda: pa.table(ANSWERS),
    "stream": lambda: Stream(pa.table(ANSWERS)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_is_read_alike(kind):
    corpus = discan.read(KINDS[kind]())
    expected = discan.read(pd.DataFrame(ANSWERS))
    assert corpus.digest == expected.digest
    assert corpus.layout.word_names == (
        "meal=fish", "meal=meat", "car=no", "car=yes",
        "rating=1", "rating=2", "rating=3", "rating=4", "rating=5",
    )  # fmt: skip
    assert corpus.layout.group_names == ("meal", "car", "rating")
    seen = np.array([[v is not None for v in ANSWERS[t]] for t in ("meal", "car", "rating")]).T
    assert np.array_equal(corpus.exposures, seen)
    assert corpus.metadata["age"].tolist() == ANSWERS["age"]
    table = corpus.to_csr().toarray()
    assert table[:, 1].tolist() == [v == "meat" for v in ANSWERS["meal"]]


@pytest.mark.parametrize("kind", KINDS)
def test_estimators_take_answers(kind):
    frame = KINDS[kind]()
    estimator = discan.MPCA(2, random_state=0, max_iter=10).fit(frame)
    whole = estimator.transform(frame)
    assert whole.shape == (N, 2)
    few = pd.DataFrame(ANSWERS)[5:8].drop(columns=["age"])
    few["car"] = "yes"  # a single answer, and another order of columns
    few = few[["rating", "car", "meal"]]
    assert estimator.transform(few).shape == (3, 2)
    known = pd.DataFrame(ANSWERS)[5:8]
    np.testing.assert_array_equal(estimator.transform(known), whole[5:8])
    assert set(estimator.predict_group(frame, "car")) <= {"car=yes", "car=no"}


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    survey = pa.table(ANSWERS)  # noqa: F841 - named in the query
    relation = duckdb.sql("select * from survey")
    assert discan.read(relation).digest == discan.read(pd.DataFrame(ANSWERS)).digest


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "stream"])
def test_impute_fills_the_missing_cells_of_a_frame(kind):
    frame = KINDS[kind]()
    filled = discan.MPCA(2, random_state=0, max_iter=10).fit(frame).impute(frame)
    assert type(filled) is type(frame)
    columns = filled.to_pydict() if kind == "arrow" else {c: list(filled[c]) for c in ANSWERS}
    for title, before in ANSWERS.items():
        for old, new in zip(before, columns[title], strict=True):
            assert new == old or old is None
            assert new is not None
    assert set(columns["meal"]) == {"meat", "fish"}
    assert {type(v).__name__ for v in columns["rating"]} <= {"int", "int8", "int64", "float"}


def test_the_index_names_the_rows_and_options_are_those_of_tables():
    frame = pd.DataFrame(ANSWERS, index=[f"p{i}" for i in range(N)])
    corpus = discan.read(frame, bins=3, metadata=["car"])
    assert corpus.document_names[:2] == ("p0", "p1")
    assert corpus.layout.group_names == ("meal", "age", "rating")
    assert set(corpus.metadata) == {"car", "age"}
    with pytest.raises(InputError, match="without an option 'colour'"):
        discan.read(frame, colour=1)
    with pytest.raises(InputError, match="is empty"):
        discan.read(pd.DataFrame({"a": []}))


def test_a_frame_of_counts_with_columns_that_describe_rows(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)
    caplog.set_level(logging.INFO, "discan")
    counts = RNG.poisson(0.3, (40, 12))
    frame = pd.DataFrame(counts, columns=[f"w{j}" for j in range(12)])
    frame.insert(0, "author", ["a", "b"] * 20)
    estimator = discan.LDA(2, random_state=0, max_iter=5).fit(frame)
    assert estimator.components_.shape == (2, 12)
    assert estimator.fit_.metadata["author"][:2].tolist() == ["a", "b"]
    assert "kept as metadata, not counted: 'author'" in caplog.text
    np.testing.assert_array_equal(estimator.transform(frame), estimator.transform(counts))
    plain = discan.LDA(2, random_state=0, max_iter=5).fit(counts)
    np.testing.assert_array_equal(plain.components_, estimator.components_)


def test_numbers_are_counts_as_before():
    frame = pd.DataFrame({"a": [1, 0], "b": [2.0, 3.0], "c": [True, False]})
    assert not holds_text(frame)
    assert discan.LDA(1, max_iter=2).fit(frame).n_features_in_ == 3
    assert not holds_text(pl.DataFrame({"a": [1, 0], "b": [True, False]}))
    assert discan.read(frame).n_words == 3


def test_cross_validation_and_classifiers_take_answers():
    frame = pd.DataFrame(ANSWERS)
    search = GridSearchCV(
        discan.MPCA(max_iter=3, random_state=0), {"n_components": [1, 2]}, cv=3, error_score="raise"
    )
    assert np.isfinite(search.fit(frame).cv_results_["mean_test_score"]).all()
    classifier = discan.DCAClassifier(2, max_iter=5, random_state=0)
    classifier.fit(frame.drop(columns="car"), frame["car"])
    assert set(classifier.predict(frame.drop(columns="car"))) <= {"yes", "no"}


def test_groups_are_the_questions():
    with pytest.raises(InputError, match="leave out groups"):
        discan.MPCA(2, groups=[0] * 9).fit(pd.DataFrame(ANSWERS))


# ---- frames that are no answers ----


def plays():
    return pd.DataFrame(
        {
            "user_id": ["u1", "u1", "u2", "u2"],
            "item": [7, 8, 7, 7],
            "plays": [2, 1, 3, 1],
            "day": pd.to_datetime(["2024-01-01"] * 4),
        }
    )


def test_a_frame_of_triples(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)
    with caplog.at_level(logging.WARNING, "discan"):
        discan.read(plays())
    assert "each row seems to count 'item' of 'user_id'" in caplog.text
    assert "format='long'" in caplog.text
    corpus = discan.read(plays(), format="long")
    assert corpus.document_names == ("u1", "u2")
    assert corpus.layout.word_names == ("7", "8")
    assert corpus.to_csr().toarray().tolist() == [[2, 1], [4, 0]]
    assert discan.read(plays()[:1], like=corpus).to_csr().toarray().tolist() == [[2, 0]]


def test_a_frame_of_texts(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("discan"), "propagate", True)
    texts = ["the cat sat on the mat, and a dog too", None, "a dog; and\na cat, or so it is"] * 8
    frame = pd.DataFrame({"text": [f"{t} {n}" if t else t for n, t in enumerate(texts)], "n": 1})
    with caplog.at_level(logging.WARNING, "discan"):
        discan.read(frame.assign(place=["Bonn", "Rome"] * 12))
    assert "column 'text' holds texts" in caplog.text
    corpus = discan.read(frame, format="texts", max_df=1.0, stop_words="none")
    assert corpus.n_documents == 24
    assert {"cat", "dog", "mat"} <= set(corpus.layout.word_names)


def test_formats_that_no_frame_has():
    with pytest.raises(InputError, match="no format of a data frame"):
        discan.read(plays(), format="vcf")


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_texts_are_no_counts(kind):
    with pytest.raises(InputError, match="CountVectorizer"):
        discan.LDA(2).fit(kind(["the cat", "the dog"]))


def test_a_frame_of_counts_of_alleles_keeps_its_names():
    frame = pd.DataFrame({"rs1": [0, 2], "rs2": [1, None]}, index=["ann", "bob"])
    corpus = discan.read(frame, "dosages")
    assert corpus.document_names == ("ann", "bob")
    assert corpus.to_csr().toarray().tolist() == [[0, 2, 1, 1], [2, 0, 0, 0]]
