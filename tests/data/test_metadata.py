# SPDX-License-Identifier: BSD-3-Clause
"""Columns that describe documents are read, kept with the documents, and stored."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discan
from discan.data.align import align
from discan.data.metadata import decode_about, encode_about, read_metadata
from discan.data.nouns import Nouns
from discan.data.storage import read_file, write_file
from discan.data.store import load_corpus, save_corpus
from discan.errors import InputError, ModelFileError

ABOUT = {
    "metadata": {"party": ["R", None, "D"], "age": [61, np.nan, 45.5]},
    "nouns": Nouns("senator", "vote", "bloc"),
    "reading": {"format": "categorical", "options": {"missing": ["", "NA"]}},
}


def corpus(**changes):
    counts = [[1, 0, 2], [0, 3, 1], [4, 1, 0]]
    names = {"word_names": [*"abc"], "document_names": [*"xyz"]}
    return discan.Corpus(counts, **{**names, **ABOUT, **changes})


def is_about(found, rows):
    """The metadata of some rows, and the nouns and the reading, are those of the corpus."""
    assert found.metadata["party"].tolist() == [ABOUT["metadata"]["party"][i] for i in rows]
    assert np.array_equal(
        found.metadata["age"], [ABOUT["metadata"]["age"][i] for i in rows], equal_nan=True
    )
    assert found.nouns == ABOUT["nouns"]
    assert found.reading == ABOUT["reading"]
    return True


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 2, 3], [1.0, 2.0, 3.0]),
        (np.array([1, 2, 3], dtype=np.uint8), [1.0, 2.0, 3.0]),
        ([True, False, None], ["True", "False", None]),
        (["a", "", None], ["a", None, None]),
        (["a", 2, float("nan")], ["a", "2", None]),
        (np.array(["b", "c", "d"]), ["b", "c", "d"]),
        ((datetime.date(2005, 1, 31), None, datetime.date(1999, 12, 1)),
         ["2005-01-31", None, "1999-12-01"]),
        (np.array(["2005-01-31", "NaT", "2005-01-31T12:00"], dtype="datetime64[s]"),
         ["2005-01-31", None, "2005-01-31T12:00:00"]),
        (pd.Series(["x", pd.NA, "y"], dtype="string"), ["x", None, "y"]),
        (pd.Series(["x", None, "y"], dtype="category"), ["x", None, "y"]),
        (pd.to_datetime(pd.Series(["2005-01-31", None, "2006-02-01"])),
         ["2005-01-31", None, "2006-02-01"]),
        (pl.Series(["x", None, "y"]), ["x", None, "y"]),
    ],
)  # fmt: skip
def test_columns(given, expected):
    column = read_metadata({"c": given}, 3)["c"]
    assert column.tolist() == expected
    assert column.dtype == (np.float64 if isinstance(expected[0], float) else object)


def test_missing_numbers_are_nan():
    for given in ([1, None, 2.5], pd.Series([1, None, 2.5]), pl.Series([1.0, None, 2.5])):
        column = read_metadata({"c": given}, 3)["c"]
        assert np.array_equal(column, [1, np.nan, 2.5], equal_nan=True)


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_of_metadata(library):
    found = read_metadata(library.DataFrame({"party": ["R", "D"], "age": [61, 45]}), 2)
    assert found["party"].tolist() == ["R", "D"]
    assert found["age"].tolist() == [61.0, 45.0]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"c": ["a"]}, r"column 'c' has shape \(1,\), expected \(3,\)"),
        ({"c": "abc"}, "must be a sequence"),
        ({"c": 3}, "must be a sequence"),
        ({"c": np.zeros((3, 2))}, "has shape"),
        ([1, 2, 3], "pass a data frame, or a dict"),
    ],
)
def test_wrong_metadata(given, problem):
    with pytest.raises(InputError, match=problem):
        corpus(metadata=given)


def test_a_corpus_keeps_what_is_known_about_it():
    whole = corpus()
    assert is_about(whole, range(3))
    assert is_about(whole.select([2, 0]), [2, 0])
    assert is_about(whole.with_counts(whole.counts), range(3))
    assert is_about(align(whole, corpus().layout), range(3))
    other = discan.Corpus([[1, 1]], word_names=["c", "a"]).layout
    assert is_about(align(whole, other), range(3))
    assert whole.digest == corpus(metadata=None, nouns=None, reading=None).digest
    for part in (*discan.split_tokens(whole), *discan.split_entries(whole), *discan.thin(whole)):
        assert is_about(part, range(3))
    train, test = discan.split_documents(whole)
    for part in (train, test):
        assert is_about(part, ["xyz".index(name) for name in part.document_names])


def test_described():
    changed = corpus().described(nouns=Nouns("judge"), metadata={"court": ["a", "b", "c"]})
    assert changed.nouns.document == "judge"
    assert list(changed.metadata) == ["court"]
    assert changed.reading == ABOUT["reading"]
    assert changed.document_names == tuple("xyz")
    assert changed.digest == corpus().digest
    with pytest.raises(InputError, match="has shape"):
        corpus().described(metadata={"court": ["a"]})


def test_defaults():
    plain = discan.Corpus([[1, 2]])
    assert (plain.metadata, plain.nouns, plain.reading) == ({}, Nouns(), {})


def test_stored(tmp_path):
    save_corpus(corpus(), tmp_path / "c.discan")
    assert is_about(load_corpus(tmp_path / "c.discan"), range(3))


def test_an_older_file_has_the_defaults(tmp_path):
    path = tmp_path / "c.discan"
    save_corpus(corpus(), path)
    header, arrays = read_file(path, "corpus")
    kept = {k: v for k, v in header.items() if k.endswith("_names")}
    write_file(path, "corpus", kept, {k: v for k, v in arrays.items() if "metadata" not in k})
    found = load_corpus(path)
    assert (found.metadata, found.nouns, found.reading) == ({}, Nouns(), {})


@pytest.mark.parametrize(
    "wrong",
    [
        {"metadata": [{"name": "a", "array": "absent"}]},
        {"metadata": [{"name": "a", "values": ["too", "few"]}]},
        {"metadata": "text"},
        {"nouns": ["a", "b", "c", "d"]},
        {"reading": 3},
    ],
)
def test_a_damaged_file(tmp_path, wrong):
    path = tmp_path / "c.discan"
    save_corpus(corpus(metadata=None), path)
    header, arrays = read_file(path, "corpus")
    names = {k: v for k, v in header.items() if k.endswith("_names")}
    write_file(path, "corpus", names | wrong, arrays)
    with pytest.raises(ModelFileError, match="invalid"):
        load_corpus(path)


def test_encoding_is_json():
    arrays = {}
    header = json.loads(json.dumps(encode_about(corpus(), arrays)))
    assert list(arrays) == ["metadata.1"]
    found = decode_about(header, arrays, 3)
    assert is_about(corpus().described(**found), range(3))
    header["metadata"].append({"name": "more", "values": ["one"]})
    with pytest.raises(ModelFileError, match="1 values for 3 documents"):
        decode_about(header, arrays, 3)
