# SPDX-License-Identifier: BSD-3-Clause
"""Columns of text: cleaned, told apart by content, and kept as metadata."""

import numpy as np
import pytest

from discan.data.bins import bin_names, quantile_edges
from discan.data.columns import MISSING, Codes, clean, near_duplicates, number, unique_titles
from discan.data.dates import iso_dates


def column(cells, missing=MISSING, merge=False, title="c"):
    codes = Codes()
    numbers = np.array([codes[cell] for cell in cells], dtype=np.int32)
    return clean(title, numbers, list(codes), missing, merge)


def cells_of(found):
    return [found.values[code] if code >= 0 else None for code in found.codes]


def test_cells_are_trimmed_and_missing_marks_found_in_any_case():
    found, marks = column(["Male ", " Male", "n/a", "N/A", "", " ", "Na", "?", "No answer"])
    assert cells_of(found) == ["Male", "Male", *[None] * 6, "No answer"]
    assert marks == {"n/a": 1, "N/A": 1, "Na": 1, "?": 1}
    found, marks = column(["red", "RED", "NA"], missing=["Red"])
    assert cells_of(found) == [None, None, "NA"]
    assert marks == {"red": 1, "RED": 1}


def test_whole_numbers_have_one_spelling():
    found, _ = column(["1", "1.0", "2.00", "2.5", "1.10", "v1.0"])
    assert cells_of(found) == ["1", "1", "2", "2.5", "1.10", "v1.0"]


def test_dates_in_several_formats():
    mixed = ["23.07.2021", "2020-01-31", "28/02/19", "Apr 03, 2020"]
    assert iso_dates(mixed) == ["2021-07-23", "2020-01-31", "2019-02-28", "2020-04-03"]
    assert iso_dates([*mixed[:2], "02/03/19"]) is None  # day or month?
    assert iso_dates([*mixed, "soon, 2020"]) is None


def test_decimal_commas():
    assert column(["0,75", "1", "-2,5"])[0].numbers.tolist() == [0.75, 1.0, -2.5]
    assert column(["0,750", "1,250"])[0].numbers.tolist() == [0.75, 1.25]
    assert column(["1,250", "2,000"])[0].numbers is None  # thousands?
    assert column(["1,2", "1,2,3"])[0].numbers is None
    assert column(["1", "2"])[0].numbers.tolist() == [1.0, 2.0]


def test_values_that_differ_in_case_and_punctuation_are_joined_on_request():
    found, _ = column(["Agree", "agree.", "Agree", "B+", "B", "new york", "New-York"], merge=True)
    assert cells_of(found) == ["Agree", "Agree", "Agree", "B+", "B", "new york", "new york"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["M", "Male", "male", "F", "Female"], [["F", "Female"], ["M", "Male", "male"]]),
        (["Femal", "Female", "f"], [["Femal", "Female", "f"]]),
        (["Yes", "yes.", "No", "N"], [["N", "No"], ["Yes", "yes."]]),
        (["A", "B", "AB", "0"], []),
        (["B", "B+", "B-"], [["B", "B-"]]),
        (["agree", "disagree", "neutral"], []),
        (["north", "south", "east", "west"], []),
        (["1", "2", "3"], []),
        (["Strongly agree", "Strongly  Agree"], [["Strongly  Agree", "Strongly agree"]]),
    ],
)
def test_near_duplicates(cells, expected):
    assert near_duplicates(column(cells)[0]) == expected


def test_titles_are_made_unique():
    assert unique_titles(["a", "a", "b"]) == (["a", "a.1", "b"], ["a.1"])
    assert unique_titles(["a", "a", "a.1", "a"]) == (["a", "a.2", "a.1", "a.3"], ["a.2", "a.3"])
    assert unique_titles(["", "x", ""]) == (["column 1", "x", "column 3"], ["column 1", "column 3"])


def test_dates_of_eight_digits_need_a_title():
    dates = column(["20160106", "20161231", ""], title="publish_date")[0].as_metadata()
    assert dates.tolist() == ["2016-01-06", "2016-12-31", None]
    assert column(["20160106", "20160106"], title="n")[0].as_metadata().tolist() == [20160106.0] * 2


def test_years_are_numbers_even_if_all_differ_and_other_counts_are_names():
    assert column(["1999", "2000"], title="Year")[0].as_metadata().tolist() == [1999.0, 2000.0]
    assert column(["1999", "2000"], title="id")[0].as_metadata().tolist() == ["1999", "2000"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2", "2", "NA"], [1.0, 2.0, 2.0, np.nan]),
        (["1.5", "2", "3", "4"], [1.5, 2.0, 3.0, 4.0]),
        (["1", "2", "3"], ["1", "2", "3"]),  # names of the rows
        (["01234", "00017", "01234"], ["01234", "00017", "01234"]),  # codes
        (
            ["5/1/2020", "31/1/2020", "", "5/1/2020"],
            ["2020-01-05", "2020-01-31", None, "2020-01-05"],
        ),
        (["x", "", "y"], ["x", None, "y"]),
    ],
)
def test_metadata_of_a_column(cells, expected):
    found = column(cells)[0].as_metadata()
    if isinstance(expected[0], float):
        assert found.dtype == np.float64
        assert np.array_equal(found, expected, equal_nan=True)
    else:
        assert found.dtype == object
        assert found.tolist() == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2016-01-05", "2016-12-31"], ["2016-01-05", "2016-12-31"]),
        (["2016/1/5", "2016/12/31"], ["2016-01-05", "2016-12-31"]),
        (["05.01.2016", "31.12.2016"], ["2016-01-05", "2016-12-31"]),
        (["12/31/2016", "1/5/2016"], ["2016-12-31", "2016-01-05"]),
        (["31/12/2016", "5/1/2016"], ["2016-12-31", "2016-01-05"]),
        (["1/5/2016", "2/6/2016"], None),  # day or month first?
        (["Jan 5, 2016", "Dec 31, 2016"], ["2016-01-05", "2016-12-31"]),
        (["5 January 2016", "31 December 2016"], ["2016-01-05", "2016-12-31"]),
        (["05-Jan-16"], ["2016-01-05"]),
        (["2016-01-05 10:22", "2016-01-06 23:00:01"],
         ["2016-01-05T10:22:00", "2016-01-06T23:00:01"]),
        (["2016-01-05T10:22:01Z"], ["2016-01-05T10:22:01"]),
        (["2016/01/05 1:05:00 PM GMT+2", "2016/01/05 12:05:00 AM GMT+2"],
         ["2016-01-05T13:05:00", "2016-01-05T00:05:00"]),
        (["2016-01", "2016-02"], ["2016-01", "2016-02"]),
        (["Wednesday, January 6, 2016"], ["2016-01-06"]),
        (["Wed, 06 Jan 2016 10:00:00 GMT"], ["2016-01-06T10:00:00"]),
        (["20160106", "20161231"], ["2016-01-06", "2016-12-31"]),
        (["12345678"], None),
        (["129/155", "131/155"], None),
        (["2016-01-05", "later"], None),
        (["2016-13-45"], None),
        ([], None),
    ],
)  # fmt: skip
def test_dates(texts, expected):
    assert iso_dates(texts) == expected


def test_numbers():
    assert number("1.5") == 1.5
    assert number("1_0") is None
    assert number("x") is None


def test_bins_hold_about_as_many_rows_each():
    values = np.arange(18.0, 90.0)
    counts = np.ones(72)
    edges = quantile_edges(values, counts, 4)
    assert edges == [36.0, 54.0, 72.0]
    assert bin_names(edges, True) == ["<36", "36-53", "54-71", "72+"]
    assert bin_names([0.5, 1.25], False) == ["<0.5", "0.5 to 1.25", "1.25+"]
    assert quantile_edges(np.array([1.0, 2.0]), np.array([99.0, 1.0]), 5) == [2.0]
    assert quantile_edges(np.array([7.0]), np.array([3.0]), 5) == []
