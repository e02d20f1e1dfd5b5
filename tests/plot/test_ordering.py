# SPDX-License-Identifier: BSD-3-Clause
"""Orders of documents, and groups by labels of one or two levels."""

from dataclasses import replace

import numpy as np
import pytest

from discan.plot.inputs import documents_of
from discan.plot.ordering import MISSING, as_text, by_group, grouping, label_columns, ordered


@pytest.fixture
def documents(shares):
    """Four documents with three columns of metadata."""
    found = documents_of(shares, ["doc 10", "doc 9", "Ann", "bob"])
    party = np.array(["R", None, "D", "R"], dtype=object)
    metadata = {"party": party, "age": np.array([3.0, np.nan, 1.0, 2.0]),
                "state": np.array(["b", "a", "a", "b"], dtype=object)}  # fmt: skip
    return replace(found, metadata=metadata)


@pytest.mark.parametrize(
    ("order", "expected"),
    [(None, [0, 1, 2, 3]), ("given", [0, 1, 2, 3]), ("name", [2, 3, 1, 0]), ("age", [2, 3, 0, 1]),
     ("party", [1, 2, 0, 3]), ([1, 0, 0, 2], [1, 2, 0, 3]), ("similar", [3, 0, 1, 2])],
)  # fmt: skip
def test_orders(documents, order, expected):
    assert list(ordered(documents, order)) == expected


def test_columns(documents):
    assert label_columns(documents, "party") == [("party", ["R", MISSING, "D", "R"])]
    assert label_columns(documents, list("wxyz")) == [("", list("wxyz"))]
    two = label_columns(documents, ["state", "party"])
    assert [name for name, _ in two] == ["state", "party"]
    mixed = label_columns(documents, ["state", np.array(list("wxyz"))])
    assert mixed[1] == ("", list("wxyz"))
    assert as_text(documents.metadata["age"]) == ["3", MISSING, "1", "2"]


def test_groups(documents, shares):
    groups = grouping(documents, "state", "name")
    assert groups.titles == ["a", "b"]
    assert list(groups.group) == [1, 0, 0, 1]
    assert list(groups.sizes) == [2, 2]
    np.testing.assert_allclose(groups.means(shares)[0], shares[[1, 2]].mean(axis=0))
    both = grouping(documents, ["state", "party"], "name")
    assert list(zip(both.outer, both.titles, strict=True)) == [
        ("a", MISSING), ("a", "D"), ("b", "R"),
    ]  # fmt: skip
    by_age = grouping(documents, "party", "age")
    assert by_age.titles == ["D", "R", MISSING]


def test_a_component_that_all_have_does_not_decide():
    common = np.array([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4], [0.7, 0.3, 0.0], [0.5, 0.0, 0.5]])
    found = documents_of(common)
    groups = grouping(found, list("abcd"))
    assert groups.titles == ["a", "c", "d", "b"]
    assert list(by_group(common, np.array([0, 1, 0, 1]))) == [0, 2, 3, 1]


def test_bad_input_is_refused(refused, documents):
    refused(lambda: grouping(documents, "sex"), "labels='sex' is not a column; use one of 'party'")
    refused(lambda: ordered(documents, "sex"), "order='sex'; use one of 'similar'")
    refused(lambda: ordered(documents, [1, 2]), "4 numbers")
